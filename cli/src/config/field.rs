//! The names of the values, in each layer.

/// One value of the configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    Data,
    Durability,
    SegmentBytes,
    SnapshotRecords,
    Resp,
    Http,
    Xml,
    Travel,
    Desk,
    GamesArena,
    GamesScores,
    HttpOrigins,
    Connections,
    Players,
    OutputBytes,
    RequestMs,
    KeyBytes,
    SlowCommandUs,
    BusyPollUs,
    Verhoeff,
    RoomsBackend,
    ExchangeBackend,
    ReplyLengthLine,
    LenientAccounts,
    SelfMatch,
    BillTotal,
    Role,
    LifetimeMs,
    WaitMs,
    FaultPoints,
    Flights,
    Cars,
    Rooms,
    Customers,
    MoveMs,
    GraceMs,
    ClaimMs,
    Scores,
    ScoresWire,
    LogLevel,
    LogFormat,
}

/// How the file writes a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Boolean,
    Integer,
    /// Strings, whose texts stand between commas in the other layers.
    List,
}

impl Field {
    /// All of them, in the order of the printed file: sections stay together.
    pub(super) const ALL: [Self; 41] = [
        Self::Data,
        Self::Durability,
        Self::SegmentBytes,
        Self::SnapshotRecords,
        Self::Resp,
        Self::Http,
        Self::Xml,
        Self::Travel,
        Self::Desk,
        Self::GamesArena,
        Self::GamesScores,
        Self::HttpOrigins,
        Self::Connections,
        Self::Players,
        Self::OutputBytes,
        Self::RequestMs,
        Self::KeyBytes,
        Self::SlowCommandUs,
        Self::BusyPollUs,
        Self::Verhoeff,
        Self::RoomsBackend,
        Self::ExchangeBackend,
        Self::ReplyLengthLine,
        Self::LenientAccounts,
        Self::SelfMatch,
        Self::BillTotal,
        Self::Role,
        Self::LifetimeMs,
        Self::WaitMs,
        Self::FaultPoints,
        Self::Flights,
        Self::Cars,
        Self::Rooms,
        Self::Customers,
        Self::MoveMs,
        Self::GraceMs,
        Self::ClaimMs,
        Self::Scores,
        Self::ScoresWire,
        Self::LogLevel,
        Self::LogFormat,
    ];

    pub(super) const fn section(self) -> &'static str {
        match self {
            Self::Data | Self::Durability | Self::SegmentBytes | Self::SnapshotRecords => "storage",
            Self::Resp
            | Self::Http
            | Self::Xml
            | Self::Travel
            | Self::Desk
            | Self::GamesArena
            | Self::GamesScores => "doors",
            Self::HttpOrigins => "http",
            Self::Connections
            | Self::Players
            | Self::OutputBytes
            | Self::RequestMs
            | Self::KeyBytes
            | Self::SlowCommandUs
            | Self::BusyPollUs => "limits",
            Self::Verhoeff | Self::RoomsBackend => "rooms",
            Self::ExchangeBackend => "exchange",
            Self::ReplyLengthLine | Self::LenientAccounts | Self::SelfMatch => "xml",
            Self::BillTotal | Self::Role | Self::LifetimeMs | Self::WaitMs | Self::FaultPoints => {
                "travel"
            }
            Self::Flights | Self::Cars | Self::Rooms | Self::Customers => "travel.peers",
            Self::MoveMs | Self::GraceMs | Self::ClaimMs | Self::Scores | Self::ScoresWire => {
                "games"
            }
            Self::LogLevel | Self::LogFormat => "log",
        }
    }

    pub(super) const fn key(self) -> &'static str {
        match self {
            Self::Data => "data",
            Self::Durability => "durability",
            Self::SegmentBytes => "segment_bytes",
            Self::SnapshotRecords => "snapshot_records",
            Self::Resp => "resp",
            Self::Http => "http",
            Self::Xml => "xml",
            Self::Travel => "travel",
            Self::Desk => "desk",
            Self::GamesArena => "games_arena",
            Self::GamesScores => "games_scores",
            Self::HttpOrigins => "origins",
            Self::Connections => "connections",
            Self::Players => "players",
            Self::OutputBytes => "output_bytes",
            Self::RequestMs => "request_ms",
            Self::KeyBytes => "key_bytes",
            Self::SlowCommandUs => "slow_command_us",
            Self::BusyPollUs => "busy_poll_us",
            Self::Verhoeff => "verhoeff",
            Self::RoomsBackend | Self::ExchangeBackend => "backend",
            Self::ReplyLengthLine => "reply_length_line",
            Self::LenientAccounts => "lenient_accounts",
            Self::SelfMatch => "self_match",
            Self::BillTotal => "bill_total",
            Self::Role => "role",
            Self::LifetimeMs => "lifetime_ms",
            Self::WaitMs => "wait_ms",
            Self::FaultPoints => "fault_points",
            Self::Flights => "flights",
            Self::Cars => "cars",
            Self::Rooms => "rooms",
            Self::Customers => "customers",
            Self::MoveMs => "move_ms",
            Self::GraceMs => "grace_ms",
            Self::ClaimMs => "claim_ms",
            Self::Scores => "scores",
            Self::ScoresWire => "scores_wire",
            Self::LogLevel => "level",
            Self::LogFormat => "format",
        }
    }

    pub(super) const fn flag(self) -> &'static str {
        match self {
            Self::Data => "--data",
            Self::Durability => "--durability",
            Self::SegmentBytes => "--segment-bytes",
            Self::SnapshotRecords => "--snapshot-records",
            Self::Resp => "--resp",
            Self::Http => "--http",
            Self::Xml => "--xml",
            Self::Travel => "--travel",
            Self::Desk => "--desk",
            Self::GamesArena => "--games-arena",
            Self::GamesScores => "--games-scores",
            Self::HttpOrigins => "--http-origin",
            Self::Connections => "--limit-connections",
            Self::Players => "--limit-players",
            Self::OutputBytes => "--limit-output-bytes",
            Self::RequestMs => "--limit-request-ms",
            Self::KeyBytes => "--limit-key-bytes",
            Self::SlowCommandUs => "--slow-command-us",
            Self::BusyPollUs => "--busy-poll-us",
            Self::Verhoeff => "--verhoeff",
            Self::RoomsBackend => "--rooms-backend",
            Self::ExchangeBackend => "--exchange-backend",
            Self::ReplyLengthLine => "--xml-reply-length-line",
            Self::LenientAccounts => "--xml-lenient-accounts",
            Self::SelfMatch => "--xml-self-match",
            Self::BillTotal => "--travel-bill-total",
            Self::Role => "--role",
            Self::LifetimeMs => "--travel-lifetime-ms",
            Self::WaitMs => "--travel-wait-ms",
            Self::FaultPoints => "--travel-fault-points",
            Self::Flights => "--peer-flights",
            Self::Cars => "--peer-cars",
            Self::Rooms => "--peer-rooms",
            Self::Customers => "--peer-customers",
            Self::MoveMs => "--games-move-ms",
            Self::GraceMs => "--games-grace-ms",
            Self::ClaimMs => "--games-claim-ms",
            Self::Scores => "--scores",
            Self::ScoresWire => "--scores-wire",
            Self::LogLevel => "--log",
            Self::LogFormat => "--log-format",
        }
    }

    /// The value when no layer says one; a data directory, the door of a desk, the peers and the
    /// scores have none.
    pub(super) const fn default(self) -> Option<&'static str> {
        match self {
            Self::Data
            | Self::Desk
            | Self::Flights
            | Self::Cars
            | Self::Rooms
            | Self::Customers
            | Self::Scores => None,
            Self::RoomsBackend | Self::ExchangeBackend => Some("embedded"),
            Self::HttpOrigins => Some(""),
            Self::Role => Some("all"),
            Self::LifetimeMs => Some("15000"),
            Self::WaitMs => Some("10000"),
            Self::MoveMs => Some("300000"),
            Self::GraceMs => Some("60000"),
            Self::ClaimMs => Some("30000"),
            Self::ScoresWire => Some("numbered"),
            Self::Durability => Some("sync"),
            Self::Resp => Some("127.0.0.1:8479"),
            Self::Http => Some("127.0.0.1:8470"),
            Self::Xml | Self::Travel | Self::GamesArena | Self::GamesScores => Some("off"),
            Self::Connections => Some("16384"),
            Self::Players => Some("12288"),
            Self::OutputBytes => Some("1073741824"),
            Self::RequestMs => Some("30000"),
            Self::KeyBytes | Self::BusyPollUs => Some("0"),
            Self::SlowCommandUs => Some("10000"),
            Self::SegmentBytes => Some("67108864"),
            Self::SnapshotRecords => Some("4000000"),
            Self::Verhoeff
            | Self::ReplyLengthLine
            | Self::LenientAccounts
            | Self::SelfMatch
            | Self::BillTotal
            | Self::FaultPoints => Some("false"),
            Self::LogLevel => Some(crate::logging::LEVEL),
            Self::LogFormat => Some("text"),
        }
    }

    pub(super) const fn kind(self) -> Kind {
        match self {
            Self::Verhoeff
            | Self::ReplyLengthLine
            | Self::LenientAccounts
            | Self::SelfMatch
            | Self::BillTotal
            | Self::FaultPoints => Kind::Boolean,
            Self::SegmentBytes
            | Self::SnapshotRecords
            | Self::Connections
            | Self::Players
            | Self::OutputBytes
            | Self::RequestMs
            | Self::KeyBytes
            | Self::SlowCommandUs
            | Self::BusyPollUs
            | Self::LifetimeMs
            | Self::WaitMs
            | Self::MoveMs
            | Self::GraceMs
            | Self::ClaimMs => Kind::Integer,
            Self::HttpOrigins => Kind::List,
            Self::Data
            | Self::Durability
            | Self::Resp
            | Self::Http
            | Self::Xml
            | Self::Travel
            | Self::Desk
            | Self::GamesArena
            | Self::GamesScores
            | Self::RoomsBackend
            | Self::ExchangeBackend
            | Self::Role
            | Self::Flights
            | Self::Cars
            | Self::Rooms
            | Self::Customers
            | Self::Scores
            | Self::ScoresWire
            | Self::LogLevel
            | Self::LogFormat => Kind::Text,
        }
    }

    /// `section.key`.
    /// Whether a running server takes a new value over.
    pub(super) const fn is_live(self) -> bool {
        matches!(
            self,
            Self::LogLevel | Self::Connections | Self::RequestMs | Self::BusyPollUs
        )
    }

    pub(super) fn path(self) -> String {
        format!("{}.{}", self.section(), self.key())
    }

    /// `TURNSTILE__SECTION__KEY`.
    pub(super) fn variable(self) -> String {
        let section = self.section().replace('.', "__");
        format!("{PREFIX}{section}__{}", self.key()).to_uppercase()
    }
}

/// What every variable of the environment that is meant for us begins with.
pub(super) const PREFIX: &str = "TURNSTILE__";

/// How alike two names must be, from 0 to 1, for one to be meant by the other.
const LIKENESS_MIN: f64 = 0.6;

/// The likeliest of `names` that `typed` was meant to be, as the end of an error message.
pub(crate) fn suggestion<'a>(typed: &str, names: impl Iterator<Item = &'a str>) -> String {
    names
        .map(|name| (strsim::normalized_damerau_levenshtein(typed, name), name))
        .filter(|&(likeness, _)| likeness >= LIKENESS_MIN)
        .max_by(|left, right| left.0.total_cmp(&right.0))
        .map_or_else(String::new, |(_, name)| format!("; did you mean `{name}`?"))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::Field;

    #[test]
    fn the_help_of_each_option_names_its_default() {
        let mut program = crate::arguments::Arguments::command();
        program.build();
        let serve = program.find_subcommand("serve").unwrap();
        for field in Field::ALL {
            let Some(default) = field.default().filter(|default| !default.is_empty()) else {
                continue;
            };
            let flag = field.flag().trim_start_matches("--");
            let mut options = serve.get_arguments();
            let option = options.find(|option| option.get_long() == Some(flag));
            let help = option.and_then(clap::Arg::get_help).unwrap().to_string();
            let named = [
                format!("[default: {default}]"),
                format!("[default: {default};"),
            ];
            assert!(
                named.iter().any(|name| help.contains(name)),
                "{flag}: {help}"
            );
        }
    }
}
