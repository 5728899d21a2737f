//! The lock between servers and copies: a state is not copied while a server uses it, and not served
//! while it is copied.

use std::{fmt, time::Duration};

use tokio::time::{Instant, sleep};

/// How long somebody waits for others to be gone: longer than a database takes to notice that a process
/// has ended, shorter than who is refused gets impatient.
const PATIENCE: Duration = Duration::from_secs(2);

/// The pause between two looks.
const PAUSE: Duration = Duration::from_millis(50);

/// What somebody does at a place. Those who serve keep out those who copy, and the other way round; of
/// those who copy there is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PresenceRole {
    Serving,
    Copying,
}

/// Others who are at a place, as long as their connections are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Others {
    pub role: PresenceRole,
    /// How many there are, where that is not the number of names.
    count: usize,
    /// What the place knows of each, such as its address.
    names: Vec<String>,
}

impl Others {
    /// Those with these names.
    #[must_use]
    pub const fn named(role: PresenceRole, names: Vec<String>) -> Self {
        let count = names.len();
        Self { role, count, names }
    }

    /// So many, of some of whom the names are known.
    #[must_use]
    pub const fn counted(role: PresenceRole, count: usize, names: Vec<String>) -> Self {
        Self { role, count, names }
    }
}

impl fmt::Display for Others {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.names.join(", ");
        match (self.role, self.count) {
            (PresenceRole::Serving, 1) => {
                write!(f, "a server is connected ({names}): stop it first")
            }
            (PresenceRole::Serving, count) => {
                write!(
                    f,
                    "{count} servers are connected ({names}): stop them first"
                )
            }
            (PresenceRole::Copying, _) => {
                write!(f, "its rooms are being copied ({names}): wait for the end")
            }
        }
    }
}

/// A wait for others to be gone.
#[derive(Debug)]
pub struct Patience {
    end: Instant,
}

impl Patience {
    /// Begins to wait.
    #[must_use]
    pub fn begin() -> Self {
        let end = Instant::now() + PATIENCE;
        Self { end }
    }

    /// Makes a pause before another look, unless the time is over: then it says so at once.
    pub async fn goes_on(&self) -> bool {
        if Instant::now() >= self.end {
            return false;
        }
        sleep(PAUSE).await;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_who_are_there_are_counted_and_named() {
        let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        let rows = [
            (
                Others::named(PresenceRole::Serving, names(&["a"])),
                "a server is connected (a): stop it first",
            ),
            (
                Others::counted(PresenceRole::Serving, 3, names(&["a", "b"])),
                "3 servers are connected (a, b): stop them first",
            ),
            (
                Others::named(PresenceRole::Copying, names(&["c"])),
                "its rooms are being copied (c): wait for the end",
            ),
        ];
        for (others, said) in rows {
            assert_eq!(others.to_string(), said);
        }
    }
}
