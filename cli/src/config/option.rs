//! What is declared about one option, and the names that follow from it.

use super::Config;

/// One option of the configuration.
#[derive(Debug)]
pub(super) struct Declaration {
    /// Section and key of the file, `section.key`. The name of the variable follows from it.
    pub(super) path: &'static str,
    /// Without the dashes.
    pub(super) flag: &'static str,
    /// The values or the unit, as the help shows them behind the flag.
    pub(super) value: &'static str,
    /// What the option does, without its default.
    pub(super) help: &'static str,
    pub(super) kind: Kind,
    pub(super) default: Option<&'static str>,
    /// The default of `dev`, where it differs.
    pub(super) dev: Option<&'static str>,
    /// A variable of other programs for the same purpose. It counts less than our own.
    pub(super) foreign_variable: Option<&'static str>,
    /// Whether a reload makes a running server take a new value.
    pub(super) is_live: bool,
    /// Whether every command takes the flag, not only those that start a server.
    pub(super) is_global: bool,
    /// A value that changes the configuration.
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "tests set every option to its example")
    )]
    pub(super) example: &'static str,
    /// Checks a text and sets what it means, or answers what is wrong with it.
    pub(super) set: fn(&mut Config, &str) -> Result<(), String>,
}

/// What most options are.
pub(super) const TEXT: Declaration = Declaration {
    path: "",
    flag: "",
    value: "",
    help: "",
    kind: Kind::Text,
    default: None,
    dev: None,
    foreign_variable: None,
    is_live: false,
    is_global: false,
    example: "",
    set: |_config, _text| Ok(()),
};

pub(super) const INTEGER: Declaration = Declaration {
    kind: Kind::Integer,
    ..TEXT
};

pub(super) const LIST: Declaration = Declaration {
    kind: Kind::List,
    ..TEXT
};

/// A file in PEM.
pub(super) const PEM: Declaration = Declaration {
    value: "FILE",
    example: "/a.pem",
    ..TEXT
};

/// A time in milliseconds.
pub(super) const MILLISECONDS: Declaration = Declaration {
    value: "MS",
    ..INTEGER
};

/// A size in bytes.
pub(super) const BYTES: Declaration = Declaration {
    value: "BYTES",
    ..INTEGER
};

/// How many of something.
pub(super) const NUMBER: Declaration = Declaration {
    value: "NUMBER",
    ..INTEGER
};

/// An address of another process.
pub(super) const ADDRESS: Declaration = Declaration {
    value: "ADDR",
    example: "127.0.0.1:1",
    ..TEXT
};

/// An address where a door listens.
pub(super) const DOOR: Declaration = Declaration {
    value: "ADDR|off",
    ..ADDRESS
};

/// The principal of all who come to a door where they cannot log in.
pub(super) const PRINCIPAL: Declaration = Declaration {
    value: "NAME",
    example: "market",
    ..TEXT
};

pub(super) const BOOLEAN: Declaration = Declaration {
    value: "true|false",
    kind: Kind::Boolean,
    default: Some("false"),
    example: "true",
    ..TEXT
};

/// How the file writes a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Boolean,
    Integer,
    /// Strings, whose texts stand between commas in the other layers.
    List,
}

/// What all variables of the environment that are meant for us begin with.
pub(super) const PREFIX: &str = "TURNSTILE__";

impl Declaration {
    pub(super) fn section(&self) -> &'static str {
        self.split().0
    }

    pub(super) fn key(&self) -> &'static str {
        self.split().1
    }

    fn split(&self) -> (&'static str, &'static str) {
        let parts = self.path.rsplit_once('.');
        parts.expect("a path is a section and a key")
    }

    /// `TURNSTILE__SECTION__KEY`.
    pub(super) fn variable(&self) -> String {
        format!("{PREFIX}{}", self.path.replace('.', "__")).to_uppercase()
    }

    /// The help with the defaults.
    pub(super) fn full_help(&self) -> String {
        let help = self.help;
        match (self.default, self.dev) {
            (None | Some(""), _) => help.to_owned(),
            (Some(default), None) => format!("{help} [default: {default}]"),
            (Some(default), Some(dev)) => format!("{help} [default: {default}; dev: {dev}]"),
        }
    }
}

/// The texts of a list.
pub(super) fn listed(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|one| !one.is_empty())
}

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
