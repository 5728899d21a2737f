//! The layers of a configuration, put over each other.

use std::{
    borrow::Cow,
    fmt,
    path::{Path, PathBuf},
};

use super::{
    Config, Flags, LogFlags, file,
    option::{Declaration, Kind, PREFIX, listed, suggestion},
    options::OPTIONS,
};
use crate::exit::Coded;

/// What two configurations differ in, by the paths of the options.
#[derive(Debug)]
pub(crate) struct Changes {
    pub(crate) live: Vec<&'static str>,
    pub(crate) fixed: Vec<&'static str>,
}

/// The topmost text so far for each of [`OPTIONS`], in their order.
#[derive(Debug)]
pub(crate) struct Layers {
    settings: Vec<Option<Setting>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Setting {
    text: String,
    origin: ValueOrigin,
}

/// Where a value came from.
#[derive(Clone, Debug, PartialEq, Eq)]
enum ValueOrigin {
    Default,
    File { path: PathBuf, line: usize },
    Environment(String),
    Flag(&'static str),
}

impl Layers {
    pub(crate) fn defaults() -> Self {
        let defaults = OPTIONS.iter().map(|option| {
            option.default.map(|text| Setting {
                text: text.to_owned(),
                origin: ValueOrigin::Default,
            })
        });
        Self {
            settings: defaults.collect(),
        }
    }

    /// For commands that need no configuration: the defaults, and what `RUST_LOG` and the flags say
    /// about logging. A setting for `serve` that was forgotten in a shell must not move them.
    pub(crate) fn about_logging(log: &LogFlags) -> Self {
        let mut layers = Self::defaults();
        for option in OPTIONS {
            let Some(name) = option.foreign_variable else {
                continue;
            };
            if let Some(text) = std::env::var_os(name) {
                let text = text.to_string_lossy().into_owned();
                layers.put(option, text, ValueOrigin::Environment(name.to_owned()));
            }
        }
        layers.given(&log.0)
    }

    /// For `dev`, which opens every door.
    pub(crate) fn of_dev(mut self) -> Self {
        for option in OPTIONS {
            if let Some(text) = option.dev {
                self.put(option, text.to_owned(), ValueOrigin::Default);
            }
        }
        self
    }

    /// # Errors
    /// The file cannot be read, or holds something unknown.
    pub(crate) fn file(mut self, path: &Path) -> Result<Self, Coded> {
        for entry in file::read(path)? {
            let origin = ValueOrigin::File {
                path: path.to_owned(),
                line: entry.line,
            };
            self.put(entry.option, entry.text, origin);
        }
        Ok(self)
    }

    /// Takes what is meant for us from the environment. Variables of other programs count less than our
    /// own.
    ///
    /// # Errors
    /// A variable begins with `TURNSTILE__` and means nothing.
    pub(crate) fn environment(
        mut self,
        variables: impl Iterator<Item = (String, String)>,
    ) -> Result<Self, Coded> {
        let is_foreign = |option: &&Declaration, name: &str| option.foreign_variable == Some(name);
        let mut own = Vec::new();
        for (name, text) in variables {
            if name.starts_with(PREFIX) {
                own.push((name, text));
            } else if let Some(option) = OPTIONS.iter().find(|option| is_foreign(option, &name)) {
                self.put(option, text, ValueOrigin::Environment(name));
            }
        }
        own.sort();
        for (name, text) in own {
            let Some(option) = OPTIONS.iter().find(|option| option.variable() == name) else {
                let known: Vec<String> = OPTIONS.iter().map(Declaration::variable).collect();
                let advice = suggestion(&name, known.iter().map(String::as_str));
                return Err(Coded::usage(format!(
                    "unknown variable `{name}` in the environment{advice}"
                )));
            };
            self.put(option, text, ValueOrigin::Environment(name));
        }
        Ok(self)
    }

    pub(crate) fn flags(self, flags: &Flags, log: &LogFlags) -> Self {
        self.given(&flags.0).given(&log.0)
    }

    fn given(mut self, flags: &[(&'static Declaration, String)]) -> Self {
        for (option, text) in flags {
            self.put(option, text.clone(), ValueOrigin::Flag(option.flag));
        }
        self
    }

    fn put(&mut self, option: &Declaration, text: String, origin: ValueOrigin) {
        let mut places = OPTIONS.iter().zip(&mut self.settings);
        let place = places.find(|(other, _)| other.path == option.path);
        let (_, setting) = place.expect("an option is in the table");
        *setting = Some(Setting { text, origin });
    }

    /// Each option with its text and the origin of that, if it has one.
    fn each(&self) -> impl Iterator<Item = (&'static Declaration, Option<&Setting>)> {
        OPTIONS.iter().zip(self.settings.iter().map(Option::as_ref))
    }

    /// The options whose texts differ from those of `other`: those that a running server takes over, and
    /// those that need a restart.
    pub(crate) fn changes(&self, other: &Self) -> Changes {
        let mut changes = Changes {
            live: Vec::new(),
            fixed: Vec::new(),
        };
        for ((option, ours), (_, theirs)) in self.each().zip(other.each()) {
            if ours.map(|one| &one.text) == theirs.map(|one| &one.text) {
                continue;
            }
            let kind = if option.is_live {
                &mut changes.live
            } else {
                &mut changes.fixed
            };
            kind.push(option.path);
        }
        changes
    }

    /// Sets every value.
    ///
    /// # Errors
    /// A text is not what its option needs; says whose text it is.
    pub(super) fn apply(&self, config: &mut Config) -> Result<(), Coded> {
        for (option, setting) in self.each() {
            let Some(Setting { text, origin }) = setting else {
                continue;
            };
            (option.set)(config, text).map_err(|reason| {
                let path = option.path;
                let text = without_login(text);
                Coded::usage(format!(
                    "{origin}: invalid value `{text}` for {path}: {reason}"
                ))
            })?;
        }
        Ok(())
    }
}

/// A text as errors show it, which stand in logs and answers: who logs in by a URL, and with which password, is
/// left out.
fn without_login(text: &str) -> Cow<'_, str> {
    let Some((login, host)) = text.rsplit_once('@') else {
        return Cow::Borrowed(text);
    };
    let scheme = login.split_once("://").map_or("", |(scheme, _)| scheme);
    Cow::Owned(format!("{scheme}://***@{host}"))
}

/// The effective file: what is printed can be read again and means the same.
impl fmt::Display for Layers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut section = "";
        for (option, setting) in self.each() {
            if option.section() != section {
                let gap = if section.is_empty() { "" } else { "\n" };
                section = option.section();
                writeln!(f, "{gap}[{section}]")?;
            }
            match setting {
                None => writeln!(f, "# {} is not set", option.key())?,
                Some(Setting { text, origin }) => {
                    let value = match option.kind {
                        Kind::Text => toml::Value::from(text.as_str()).to_string(),
                        Kind::Boolean | Kind::Integer => text.clone(),
                        Kind::List => {
                            toml::Value::from(listed(text).collect::<Vec<_>>()).to_string()
                        }
                    };
                    writeln!(
                        f,
                        "{:<42} # {origin}",
                        format!("{} = {value}", option.key())
                    )?;
                }
            }
        }
        Ok(())
    }
}

impl fmt::Display for ValueOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => write!(f, "default"),
            Self::File { path, line } => write!(f, "{}:{line}", path.display()),
            Self::Environment(name) => write!(f, "environment {name}"),
            Self::Flag(flag) => write!(f, "flag --{flag}"),
        }
    }
}
