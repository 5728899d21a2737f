//! The place of a state in a log that several servers share.

use turnstile_record::Record;
use turnstile_types::{Effect, Malformed, Position, Reader, put_u8, put_u64};
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// The first byte of the engine's record before those of an entry. A record without bytes is a tick.
const ENTERED: u8 = 1;

/// The place of a state in a log that several servers share. Equal on all of them behind the same entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
}

impl SharedPlace {
    /// What the engine's record says before the records of an entry.
    pub(crate) fn mark(&self) -> Vec<u8> {
        let mut payload = Vec::with_capacity(17);
        put_u8(&mut payload, ENTERED);
        put_u64(&mut payload, self.sequence);
        put_u64(&mut payload, self.installation);
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
        let behind = Self {
            sequence: reader.u64("number of an entry")?,
            installation: reader.u64("installation")?,
            ..place.unwrap_or_default()
        };
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
        let mut bytes = Vec::with_capacity(32);
        put_u64(&mut bytes, self.sequence);
        put_u64(&mut bytes, self.epoch.0);
        put_u64(&mut bytes, self.installation);
        put_u64(&mut bytes, self.chain);
        bytes
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(Self {
            sequence: reader.u64("number of an entry")?,
            epoch: Position(reader.u64("position of a change of rights")?),
            installation: reader.u64("installation")?,
            chain: reader.u64("hash over all records")?,
        })
    }
}
