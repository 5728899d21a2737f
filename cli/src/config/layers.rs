//! The layers, put over each other.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use super::{
    Flags, LogFlags,
    field::{Field, Kind, PREFIX, suggestion},
    file,
};
use crate::exit::Coded;

/// The variable that other Rust programs read for the same purpose as `log.level`.
const RUST_LOG: &str = "RUST_LOG";

/// Where the XML door listens in `dev`. `serve` opens it only when told to: its wire knows no
/// authentication, and anybody may create accounts with any balance.
const XML: &str = "127.0.0.1:12345";

/// The same for the door of travel, where anybody may stop the server.
const TRAVEL: &str = "127.0.0.1:12346";

/// The same for the doors of games, where anybody is who they say: the ports of the ancestor.
const GAMES_ARENA: &str = "127.0.0.1:21282";
const GAMES_SCORES: &str = "127.0.0.1:21538";

/// What two configurations differ in, by the paths of the fields.
#[derive(Debug)]
pub(crate) struct Changes {
    pub(crate) live: Vec<String>,
    pub(crate) fixed: Vec<String>,
}

/// For each field its topmost text so far.
#[derive(Debug)]
pub(crate) struct Layers {
    settings: [Option<Setting>; Field::ALL.len()],
}

#[derive(Debug)]
struct Setting {
    text: String,
    origin: Origin,
}

/// Where a value came from.
#[derive(Debug)]
enum Origin {
    Default,
    File { path: PathBuf, line: usize },
    Environment(String),
    Flag(&'static str),
}

impl Layers {
    pub(crate) fn defaults() -> Self {
        Self {
            settings: Field::ALL.map(|field| {
                field.default().map(|text| Setting {
                    text: text.to_owned(),
                    origin: Origin::Default,
                })
            }),
        }
    }

    /// For commands that need no configuration: the defaults, and what `RUST_LOG` and the flags say
    /// about logging. A setting for `serve` that was forgotten in a shell must not move them.
    pub(crate) fn about_logging(log: &LogFlags) -> Self {
        let mut layers = Self::defaults();
        if let Some(directives) = std::env::var_os(RUST_LOG) {
            let text = directives.to_string_lossy().into_owned();
            layers.put(
                Field::LogLevel,
                Some(text),
                Origin::Environment(RUST_LOG.to_owned()),
            );
        }
        layers.log_flags(log)
    }

    /// For `dev`, which opens every door.
    pub(crate) fn with_every_door(mut self) -> Self {
        for (field, address) in [
            (Field::Xml, XML),
            (Field::Travel, TRAVEL),
            (Field::GamesArena, GAMES_ARENA),
            (Field::GamesScores, GAMES_SCORES),
        ] {
            self.put(field, Some(address.to_owned()), Origin::Default);
        }
        self
    }

    /// # Errors
    /// The file cannot be read, or holds something unknown.
    pub(crate) fn file(mut self, path: &Path) -> Result<Self, Coded> {
        for entry in file::read(path)? {
            let origin = Origin::File {
                path: path.to_owned(),
                line: entry.line,
            };
            self.put(entry.field, Some(entry.text), origin);
        }
        Ok(self)
    }

    /// Takes what is meant for us from the environment. `RUST_LOG` counts less than our own.
    ///
    /// # Errors
    /// A variable begins with `TURNSTILE__` and means nothing.
    pub(crate) fn environment(
        mut self,
        variables: impl Iterator<Item = (String, String)>,
    ) -> Result<Self, Coded> {
        let mut variables: Vec<(String, String)> = variables
            .filter(|(name, _)| name == RUST_LOG || name.starts_with(PREFIX))
            .collect();
        variables.sort();
        for (name, text) in variables {
            let field = if name == RUST_LOG {
                Some(&Field::LogLevel)
            } else {
                Field::ALL.iter().find(|field| field.variable() == name)
            };
            let Some(&field) = field else {
                let known = Field::ALL.map(Field::variable);
                let advice = suggestion(&name, known.iter().map(String::as_str));
                return Err(Coded::usage(format!(
                    "unknown variable `{name}` in the environment{advice}"
                )));
            };
            self.put(field, Some(text), Origin::Environment(name));
        }
        Ok(self)
    }

    pub(crate) fn flags(mut self, flags: Flags, log: &LogFlags) -> Self {
        let values = [
            (Field::Data, flags.data),
            (Field::Durability, flags.durability),
            (Field::SegmentBytes, flags.segment_bytes),
            (Field::SnapshotRecords, flags.snapshot_records),
            (Field::Resp, flags.resp),
            (Field::Http, flags.http),
            (Field::HttpOrigins, joined(&flags.http_origin)),
            (Field::Xml, flags.xml),
            (Field::Travel, flags.travel),
            (Field::Verhoeff, flags.verhoeff),
            (Field::RoomsBackend, flags.rooms_backend),
            (Field::ExchangeBackend, flags.exchange_backend),
            (Field::ReplyLengthLine, flags.xml_reply_length_line),
            (Field::LenientAccounts, flags.xml_lenient_accounts),
            (Field::SelfMatch, flags.xml_self_match),
            (Field::BillTotal, flags.travel_bill_total),
            (Field::Desk, flags.desk),
            (Field::GamesArena, flags.games_arena),
            (Field::GamesScores, flags.games_scores),
            (Field::Connections, flags.limit_connections),
            (Field::Players, flags.limit_players),
            (Field::OutputBytes, flags.limit_output_bytes),
            (Field::RequestMs, flags.limit_request_ms),
            (Field::KeyBytes, flags.limit_key_bytes),
            (Field::SlowCommandUs, flags.slow_command_us),
            (Field::BusyPollUs, flags.busy_poll_us),
            (Field::Role, flags.role),
            (Field::LifetimeMs, flags.travel_lifetime_ms),
            (Field::WaitMs, flags.travel_wait_ms),
            (Field::FaultPoints, flags.travel_fault_points),
            (Field::Flights, flags.peer_flights),
            (Field::Cars, flags.peer_cars),
            (Field::Rooms, flags.peer_rooms),
            (Field::Customers, flags.peer_customers),
            (Field::MoveMs, flags.games_move_ms),
            (Field::GraceMs, flags.games_grace_ms),
            (Field::ClaimMs, flags.games_claim_ms),
            (Field::Scores, flags.scores),
            (Field::ScoresWire, flags.scores_wire),
        ];
        for (field, text) in values {
            self.put(field, text, Origin::Flag(field.flag()));
        }
        self.log_flags(log)
    }

    fn log_flags(mut self, log: &LogFlags) -> Self {
        let values = [
            (Field::LogLevel, log.log.clone()),
            (Field::LogFormat, log.log_format.clone()),
        ];
        for (field, text) in values {
            self.put(field, text, Origin::Flag(field.flag()));
        }
        self
    }

    fn put(&mut self, field: Field, text: Option<String>, origin: Origin) {
        if let Some(text) = text {
            *self.slot(field) = Some(Setting { text, origin });
        }
    }

    const fn slot(&mut self, field: Field) -> &mut Option<Setting> {
        &mut self.settings[field as usize]
    }

    /// The paths of the fields whose texts differ from those of `other`: those that a running server can
    /// take over, and those that need a restart.
    pub(crate) fn changes(&self, other: &Self) -> Changes {
        let text = |layers: &Self, field: Field| {
            let setting = layers.settings[field as usize].as_ref();
            setting.map(|setting| setting.text.clone())
        };
        let fields = Field::ALL.into_iter();
        let changed = fields.filter(|&field| text(self, field) != text(other, field));
        let (live, fixed): (Vec<_>, Vec<_>) = changed.partition(|field| field.is_live());
        Changes {
            live: live.into_iter().map(Field::path).collect(),
            fixed: fixed.into_iter().map(Field::path).collect(),
        }
    }

    /// Takes over the fields with these paths.
    pub(crate) fn take_live(&mut self, mut other: Self, paths: &[String]) {
        for field in Field::ALL {
            if paths.contains(&field.path()) {
                *self.slot(field) = other.slot(field).take();
            }
        }
    }

    /// The parsed value of a field, or nothing when no layer has one.
    ///
    /// # Errors
    /// The text is not what the field needs; says whose text it is.
    pub(super) fn parse<T>(
        &self,
        field: Field,
        parse: impl FnOnce(&str) -> Result<T, String>,
    ) -> Result<Option<T>, Coded> {
        let Some(Setting { text, origin }) = &self.settings[field as usize] else {
            return Ok(None);
        };
        parse(text).map(Some).map_err(|reason| {
            Coded::usage(format!(
                "{origin}: `{text}` is no good as {}: {reason}",
                field.path()
            ))
        })
    }

    /// The same for a field that always has a value.
    pub(super) fn required<T>(
        &self,
        field: Field,
        parse: impl FnOnce(&str) -> Result<T, String>,
    ) -> Result<T, Coded> {
        self.parse(field, parse)
            .map(|value| value.expect("a field that is required has a default"))
    }
}

/// The one text of a flag that was given several times.
fn joined(texts: &[String]) -> Option<String> {
    (!texts.is_empty()).then(|| texts.join(","))
}

/// The texts of a list.
pub(super) fn listed(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|one| !one.is_empty())
}

/// The effective file: what is printed can be read again and means the same.
impl fmt::Display for Layers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut section = "";
        for (field, setting) in Field::ALL.into_iter().zip(&self.settings) {
            if field.section() != section {
                let gap = if section.is_empty() { "" } else { "\n" };
                section = field.section();
                writeln!(f, "{gap}[{section}]")?;
            }
            match setting {
                None => writeln!(f, "# {} is not set", field.key())?,
                Some(Setting { text, origin }) => {
                    let value = match field.kind() {
                        Kind::Text => toml::Value::from(text.as_str()).to_string(),
                        Kind::Boolean | Kind::Integer => text.clone(),
                        Kind::List => {
                            toml::Value::from(listed(text).collect::<Vec<_>>()).to_string()
                        }
                    };
                    writeln!(f, "{:<42} # {origin}", format!("{} = {value}", field.key()))?;
                }
            }
        }
        Ok(())
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => write!(f, "default"),
            Self::File { path, line } => write!(f, "{}:{line}", path.display()),
            Self::Environment(name) => write!(f, "environment {name}"),
            Self::Flag(flag) => write!(f, "flag {flag}"),
        }
    }
}
