//! The access service of a data directory that no server uses.

use std::{fmt, fs, path::Path, time::SystemTime};

use anyhow::{Context as _, anyhow};
use turnstile_access::{Access, Answer, Command, Query};
use turnstile_chassis::{Operations, Refuse as _, Source};
use turnstile_embedded::{BackendOpenError, Durability, Embedded, Options};
use turnstile_types::{Author, DoorKind, Origin, Outcome, Principal, Timestamp};

use super::{AccessReply, NamedFields};
use crate::exit::Coded;

/// A data directory that this process has opened.
#[derive(Debug)]
pub(crate) struct StoppedDirectory {
    embedded: Embedded,
    path: String,
}

impl StoppedDirectory {
    /// Opens a directory that a server has used, or that was made by `init`.
    ///
    /// # Errors
    /// There is none, or it is in use, damaged or of a newer version.
    pub(crate) fn open(path: &Path) -> anyhow::Result<Self> {
        // A mistyped name must not make a directory.
        if !fs::exists(path.join("id.key")).unwrap_or(false) {
            let told = format!(
                "{} is no data directory; `turnstile init DIR` makes one",
                path.display()
            );
            return Err(Coded::usage(told).into());
        }
        Self::make(path)
    }

    /// The same; the directory is made if it is not there.
    ///
    /// # Errors
    /// As of [`open`](Self::open).
    pub(crate) fn make(path: &Path) -> anyhow::Result<Self> {
        let shown = path.display().to_string();
        let opened = Embedded::open(Some(path), Options::with(Durability::Sync));
        let (embedded, _) = opened.map_err(|error| unopened(&shown, error))?;
        if embedded.sequencer().state().shared().is_some() {
            // What is written here alone, no other node would know of.
            return Err(Coded::usage(format!(
                "{shown} is a node's copy of a shared log: ask a node of the cluster that runs"
            ))
            .into());
        }
        Ok(Self {
            embedded,
            path: shown,
        })
    }

    /// Whether this directory asks for a key.
    pub(crate) fn is_guarded(&self) -> bool {
        self.embedded.machine::<Access>().is_guarded()
    }

    /// Asks for an operation by its word. What is done is on the disk when this returns.
    ///
    /// # Errors
    /// The request is none, or the disk failed.
    pub(super) fn ask(
        &mut self,
        word: &str,
        fields: &NamedFields<'_>,
    ) -> anyhow::Result<AccessReply> {
        let (now, local) = (now()?, Principal::local());
        let mut source = NamedSource {
            fields,
            fault: None,
        };
        if let Some(place) = place::<Command>(word) {
            let command = Command::read(place, &mut source, ());
            let command = source.whole(word, command)?;
            return self.execute(now, &local, &command);
        }
        let place = place::<Query>(word).ok_or_else(|| anyhow!("no operation access.{word}"))?;
        let query = Query::read(place, &mut source, ());
        let query = source.whole(word, query)?;
        Ok(match self.embedded.query::<Access>(now, &local, &query) {
            Answer::Refused(refusal) => AccessReply::Refused(refusal.meaning().code.to_owned()),
            answer => AccessReply::Done(serde_json::from_str(&turnstile_json::object(&answer))?),
        })
    }

    fn execute(
        &mut self,
        now: Timestamp,
        local: &Principal,
        command: &Command,
    ) -> anyhow::Result<AccessReply> {
        let author = Author {
            principal: local,
            origin: &Origin::without_address(DoorKind::Directory),
        };
        let executed = self
            .embedded
            .execute::<Access>(now, author, None, command, None);
        let reply = executed.map_err(|error| anyhow!("{}: {error}", self.path))?;
        let committed = self.embedded.commit();
        committed.map_err(|error| anyhow!("{}: {error}", self.path))?;
        Ok(match reply.outcome {
            Outcome::Done(done) => {
                AccessReply::Done(serde_json::from_str(&turnstile_json::object(&done))?)
            }
            Outcome::Refused(refusal) => AccessReply::Refused(refusal.meaning().code.to_owned()),
        })
    }

    /// Closes the directory.
    ///
    /// # Errors
    /// The disk failed.
    pub(crate) fn close(self) -> anyhow::Result<()> {
        self.embedded
            .close()
            .map_err(|error| anyhow!("{}: {error}", self.path))
    }
}

/// Why a data directory could not be opened.
pub(crate) fn unopened(path: &str, error: BackendOpenError) -> anyhow::Error {
    if error.is_newer() {
        return Coded::usage(format!("{path}: {error}")).into();
    }
    anyhow::Error::from(error).context(path.to_owned())
}

/// Now, in the time of records.
pub(crate) fn now() -> anyhow::Result<Timestamp> {
    let since = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .context("the clock stands before 1970")?;
    Ok(Timestamp(u64::try_from(since.as_millis())?))
}

/// Where an operation of this word is among all of its kind.
fn place<'a, T: Operations<'a>>(word: &str) -> Option<usize> {
    let found = T::operations().into_iter();
    found
        .filter(|operation| operation.word == word)
        .map(|operation| operation.place)
        .next()
}

/// The fields of a request, by their names.
struct NamedSource<'a> {
    fields: &'a NamedFields<'a>,
    fault: Option<String>,
}

impl<'a> NamedSource<'a> {
    fn value(&self, name: &str) -> Option<&'a [u8]> {
        let mut fields = self.fields.iter();
        let found = fields.find(|(field, _)| *field == name);
        found.map(|(_, value)| value.as_bytes())
    }

    fn take<T, E: fmt::Display>(
        &mut self,
        name: &'static str,
        value: &'a [u8],
        read: impl FnOnce(&'a [u8]) -> Result<T, E>,
    ) -> Option<T> {
        match read(value) {
            Ok(value) => Some(value),
            Err(invalid) => {
                self.invalid(name, invalid);
                None
            }
        }
    }

    /// What was read, unless something was wrong.
    fn whole<T>(self, word: &str, read: Option<T>) -> anyhow::Result<T> {
        match (read, self.fault) {
            (Some(read), None) => Ok(read),
            (_, fault) => {
                let fault = fault.unwrap_or_else(|| "it cannot be read".to_owned());
                Err(Coded::usage(format!("access.{word}: {fault}")).into())
            }
        }
    }
}

impl<'a> Source<'a> for NamedSource<'a> {
    fn required<T, E: fmt::Display>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&'a [u8]) -> Result<T, E>,
    ) -> Option<T> {
        let Some(value) = self.value(name) else {
            self.invalid(name, "it is missing");
            return None;
        };
        self.take(name, value, read)
    }

    fn required_or<T, E: fmt::Display>(
        &mut self,
        name: &'static str,
        none: &'static str,
        read: impl FnOnce(&'a [u8]) -> Result<T, E>,
    ) -> Option<Option<T>> {
        match self.value(name) {
            Some(value) if value == none.as_bytes() => Some(None),
            _ => self.required(name, read).map(Some),
        }
    }

    fn optional<T, E: fmt::Display>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&'a [u8]) -> Result<T, E>,
    ) -> Option<Option<T>> {
        match self.value(name) {
            Some(value) => self.take(name, value, read).map(Some),
            None => Some(None),
        }
    }

    fn flag(&mut self, name: &'static str) -> Option<bool> {
        Some(self.value(name).is_some_and(|value| value == b"true"))
    }

    fn repeated<T, E: fmt::Display>(
        &mut self,
        name: &'static str,
        mut read: impl FnMut(&'a [u8]) -> Result<T, E>,
    ) -> Option<Vec<T>> {
        let fields: &'a NamedFields<'a> = self.fields;
        let named = fields.iter().filter(|(field, _)| *field == name);
        named
            .map(|(_, value)| self.take(name, value.as_bytes(), &mut read))
            .collect()
    }

    /// Only the first fault is kept.
    fn invalid(&mut self, name: &'static str, reason: impl fmt::Display) {
        self.fault
            .get_or_insert_with(|| format!("{name}: {reason}"));
    }
}
