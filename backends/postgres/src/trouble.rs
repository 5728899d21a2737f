//! Classifies failures of a statement by what they mean for a command.

use tokio_postgres::{
    Error,
    error::{DbError, Severity, SqlState},
};
use turnstile_contract::{Failure, Unready};

/// Why a statement gave nothing. In all cases but `Lost` it did nothing.
#[derive(Debug)]
pub(crate) enum StatementFailure {
    /// Another transaction came first; it may be tried again at once.
    Conflict,
    Deadlock,
    /// The database takes no statement, or not this one now.
    Unavailable(String),
    /// The connection ended on the way: the statement was done or not.
    Lost(String),
    /// The database refused what it should have taken, or gave what cannot be.
    Broken(String),
}

const SILENT: &str = "the database does not answer";

impl StatementFailure {
    /// A database that has taken nothing yet, and does not answer.
    pub(crate) fn silent() -> Self {
        Self::Unavailable(SILENT.to_owned())
    }

    /// A database that does not answer what it may have taken.
    pub(crate) fn silent_later() -> Self {
        Self::Lost(SILENT.to_owned())
    }

    /// The trouble of asking for a connection, when nothing has been sent yet.
    pub(crate) fn connecting(error: &Error) -> Self {
        match Self::from(error) {
            Self::Lost(reason) | Self::Broken(reason) => Self::Unavailable(reason),
            other => other,
        }
    }
}

impl From<&Error> for StatementFailure {
    fn from(error: &Error) -> Self {
        match error.as_db_error() {
            Some(answer) => of_answer(answer),
            None if error.is_closed() => Self::Lost("the connection ended".to_owned()),
            None => Self::Broken(with_causes(error)),
        }
    }
}

impl From<Error> for StatementFailure {
    fn from(error: Error) -> Self {
        Self::from(&error)
    }
}

impl From<StatementFailure> for Failure {
    fn from(trouble: StatementFailure) -> Self {
        match trouble {
            StatementFailure::Conflict | StatementFailure::Deadlock => Self::Unavailable {
                reason: "other transactions came first at every try".to_owned(),
            },
            StatementFailure::Unavailable(reason) => Self::Unavailable { reason },
            StatementFailure::Lost(reason) => Self::Unknown { reason },
            StatementFailure::Broken(reason) => Self::Broken { reason },
        }
    }
}

impl From<StatementFailure> for Unready {
    fn from(trouble: StatementFailure) -> Self {
        match trouble {
            StatementFailure::Broken(reason) => Self::Unusable(reason),
            StatementFailure::Unavailable(reason) | StatementFailure::Lost(reason) => {
                Self::Unavailable(reason)
            }
            StatementFailure::Conflict | StatementFailure::Deadlock => {
                Self::Unavailable("another server is changing its tables".to_owned())
            }
        }
    }
}

fn of_answer(answer: &DbError) -> StatementFailure {
    let code = answer.code();
    let said = format!("{} ({})", answer.message(), code.code());
    // Such an answer closes the connection; whether the statement was done before is not said.
    if matches!(
        answer.parsed_severity(),
        Some(Severity::Fatal | Severity::Panic)
    ) {
        return StatementFailure::Lost(said);
    }
    if *code == SqlState::T_R_DEADLOCK_DETECTED {
        return StatementFailure::Deadlock;
    }
    if *code == SqlState::T_R_SERIALIZATION_FAILURE || *code == SqlState::UNIQUE_VIOLATION {
        return StatementFailure::Conflict;
    }
    let waits = [
        SqlState::READ_ONLY_SQL_TRANSACTION,
        SqlState::LOCK_NOT_AVAILABLE,
        SqlState::QUERY_CANCELED,
        SqlState::IO_ERROR,
    ];
    // Classes: no connection, out of disk or memory, an operator came between.
    let classes = ["08", "53", "57"];
    if waits.contains(code) || classes.iter().any(|class| code.code().starts_with(class)) {
        return StatementFailure::Unavailable(said);
    }
    StatementFailure::Broken(said)
}

/// An error with what it is made of: the outer one often says least.
fn with_causes(error: &Error) -> String {
    let mut said = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        said = format!("{said}: {inner}");
        cause = inner.source();
    }
    said
}
