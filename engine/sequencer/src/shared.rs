//! The place of a state in a log that several servers share.

use turnstile_record::{EntryHead, Record};
#[cfg(feature = "sabotage")]
use turnstile_types::Timestamp;
use turnstile_types::{Effect, Malformed, Name, Position, Reader, put_bytes, put_u8, put_u64};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::runs::Runs;

/// The first byte of the engine's record before those of an entry. A record without bytes is a tick.
const ENTERED: u8 = 1;

/// A planted bug in how entries are applied.
#[cfg(feature = "sabotage")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EntrySabotage {
    #[default]
    None,
    /// Entries are decided though rights have changed.
    IgnoreEpochs,
    /// Entries are decided again.
    IgnoreRepetitions,
    /// Entries may be missing.
    IgnoreGaps,
    /// Time is not that of the entry.
    LocalClock(Timestamp),
}

/// The place of a state in a log that several servers share. Equal on all of them behind the same entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SharedPlace {
    /// The number of the last entry in the shared log. Numbers grow by one.
    pub sequence: u64,
    /// The last record that changed rights; zero before the first.
    pub epoch: Position,
    /// The installation that all its servers are of: that of the first entry.
    pub installation: u64,
    /// A hash over all records since the first entry and what they came to. Servers that disagree on
    /// it have decided differently.
    pub chain: u64,
    /// Which entries of which server were applied.
    pub(crate) runs: Runs,
}

impl SharedPlace {
    /// The last run of a server that the entries so far know of.
    #[must_use]
    pub fn incarnation(&self, node: &Name) -> Option<u64> {
        self.runs.incarnation(node)
    }

    /// What the engine's record says before the records of an entry: its number, and whose it is if that
    /// is to be noted.
    pub(crate) fn mark(&self, noted: Option<&EntryHead>) -> Vec<u8> {
        let mut payload = Vec::with_capacity(48);
        put_u8(&mut payload, ENTERED);
        put_u64(&mut payload, self.sequence);
        put_u64(&mut payload, self.installation);
        if let Some(head) = noted {
            put_bytes(&mut payload, head.node.as_bytes());
            put_u64(&mut payload, head.incarnation);
            put_u64(&mut payload, head.number);
        }
        payload
    }

    /// The place behind such a record; nothing behind a tick.
    pub(crate) fn behind(place: Option<Self>, payload: &[u8]) -> Result<Option<Self>, Malformed> {
        if payload.is_empty() {
            return Ok(place);
        }
        let mut reader = Reader::new(payload);
        if reader.u8("kind of an engine's record")? != ENTERED {
            return Err(Malformed {
                field: "kind of an engine's record",
            });
        }
        let mut behind = Self {
            sequence: reader.u64("number of an entry")?,
            installation: reader.u64("installation")?,
            ..place.unwrap_or_default()
        };
        if !reader.is_empty() {
            let node = reader.name("name of a server")?;
            let incarnation = reader.u64("incarnation")?;
            let number = reader.u64("number of an entry")?;
            behind.runs.note(node, incarnation, number);
        }
        reader.finish("end of an engine's record")?;
        Ok(Some(behind))
    }

    /// Takes note of a record of an entry, and of what it came to.
    pub(crate) fn note(&mut self, record: &Record<'_>, effect: Effect) {
        let effect = match effect {
            Effect::Done => 1,
            Effect::Refused => 2,
            Effect::Pending => 3,
        };
        let content = xxh3_64_with_seed(record.payload, self.chain);
        self.chain = content
            .wrapping_add(record.position.0 << 16)
            .wrapping_add(u64::from(record.service) << 8)
            .wrapping_add(effect);
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        put_u64(&mut bytes, self.sequence);
        put_u64(&mut bytes, self.epoch.0);
        put_u64(&mut bytes, self.installation);
        put_u64(&mut bytes, self.chain);
        self.runs.put(&mut bytes);
        bytes
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(Self {
            sequence: reader.u64("number of an entry")?,
            epoch: Position(reader.u64("position of a change of rights")?),
            installation: reader.u64("installation")?,
            chain: reader.u64("hash over all records")?,
            runs: Runs::read(reader)?,
        })
    }
}
