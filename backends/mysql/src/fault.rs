//! Failures of the connection and of the database.

use mysql_async::Error;
use turnstile_contract::{Failure, Unready};

use crate::fields::Strange;

/// Why the database did not answer what was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The connection is gone, or was never there.
    Lost(String),
    /// Two transactions waited for each other, and this one was chosen to end.
    Deadlock(String),
    /// Somebody else had a lock for too long, or wrote beside the lock.
    Contended(String),
    /// It takes nothing at the moment: read-only, full, shutting down, or not letting us in.
    Refused(String),
    /// It answered what it never should.
    Broken(String),
}

impl Fault {
    pub(crate) fn reason(&self) -> &str {
        let (Self::Lost(reason)
        | Self::Deadlock(reason)
        | Self::Contended(reason)
        | Self::Refused(reason)
        | Self::Broken(reason)) = self;
        reason
    }

    /// The failure for a command of which nothing was done.
    pub(crate) fn undone(&self) -> Failure {
        let reason = self.reason().to_owned();
        match self {
            Self::Broken(_) => Failure::Broken { reason },
            _ => Failure::Unavailable { reason },
        }
    }

    pub(crate) fn timed_out(what: &str) -> Self {
        Self::Lost(format!("{what} took too long"))
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        let Error::Server(error) = error else {
            return Self::Lost(error.to_string());
        };
        let reason = format!("{} ({})", error.message, error.code);
        match error.code {
            // Shutting down, killed, or no answer on the wire.
            1053 | 1077..=1079 | 1152..=1161 | 1184 | 1927 => Self::Lost(reason),
            1213 => Self::Deadlock(reason),
            // A lock wait that took too long, a row changed since it was read, a duplicate.
            1020 | 1062 | 1205 | 1586 => Self::Contended(reason),
            // No room for a file or a table, out of memory, too many connections, interrupted, read-only.
            3 | 20 | 1021 | 1026 | 1030 | 1037 | 1038 | 1040 | 1041 | 1114 | 1135 | 1180 | 1203
            | 1226 | 1290 | 1317 | 1696 | 1792 | 1836 | 1969 | 3024 => Self::Refused(reason),
            // Not let in, or not to this table.
            1044 | 1045 | 1049 | 1129 | 1130 | 1142 | 1143 | 1227 | 1698 => Self::Refused(reason),
            _ => Self::Broken(reason),
        }
    }
}

impl From<Fault> for Unready {
    fn from(fault: Fault) -> Self {
        let reason = fault.reason().to_owned();
        match fault {
            Fault::Broken(_) => Self::Unusable(reason),
            _ => Self::Unavailable(reason),
        }
    }
}

impl From<Strange> for Fault {
    fn from(strange: Strange) -> Self {
        Self::Broken(strange.to_string())
    }
}

#[cfg(test)]
mod tests {
    use mysql_async::ServerError;

    use super::*;

    fn fault(code: u16) -> Fault {
        Fault::from(Error::Server(ServerError {
            code,
            message: "so it says".into(),
            state: "HY000".into(),
        }))
    }

    /// An error on writing a file (3, 20, 1026), as of a full folder for temporary tables, was taken for
    /// a fault of ours.
    #[test]
    fn whatever_the_database_says_of_its_disk_passes() {
        for code in [3, 20, 1021, 1026, 1030, 1114] {
            let reason = format!("so it says ({code})");
            assert_eq!(fault(code).undone(), Failure::Unavailable { reason });
        }
    }
}
