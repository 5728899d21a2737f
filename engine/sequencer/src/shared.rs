//! The place of a state in a log that several servers share.

use turnstile_record::{EntryHead, Record, announced};
use turnstile_types::{
    Effect, Malformed, Name, Position, Reader, Timestamp, put_bytes, put_u8, put_u16, put_u64,
};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::{
    runs::{HeardEntry, KnownServer, Runs},
    store::{HEEDS_TURNS_SINCE, OrderedSnapshots, SnapshotStep},
};

/// The first byte of the engine's record before those of an entry. A record without bytes is a tick.
const ENTERED: u8 = 1;

/// The first version whose servers read records about snapshots in the store.
const SNAPSHOT_STEPS_SINCE: u16 = 2;

/// The first version of entries whose record of the engine says in which version they are written.
const NOTES_VERSION_SINCE: u16 = 3;

/// The first byte of the engine's record by which a directory becomes one of its own again.
const LEFT: u8 = 5;

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
    /// The snapshots in the store of the log.
    pub snapshots: OrderedSnapshots,
    /// The newest version of entries and records that may be written. It never falls: a server that reads
    /// less and comes later stops.
    pub(crate) version: u16,
    /// Which entries of which server were applied.
    pub(crate) runs: Runs,
}

/// What the record before those of an entry says of its server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotedEntry {
    /// The server that proposed it.
    pub node: Name,
    /// The number of that server's run.
    pub incarnation: u64,
    /// The number of the entry in that run.
    pub number: u64,
    /// The last entry that the server had applied.
    pub applied: u64,
    /// The newest version of entries that the server reads.
    pub reads: u16,
    /// The version in which it is written.
    pub version: u16,
}

/// What a record of the engine itself says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EngineRecord {
    /// What is due at its time happens.
    Tick,
    /// The records of an entry of a shared log follow.
    Entry {
        /// The number of the entry in the log.
        sequence: u64,
        installation: u64,
        /// Whose it is, if that was noted.
        noted: Option<NotedEntry>,
    },
    /// The journal is a copy of a shared log no more.
    Left,
    /// A step of a snapshot in the store of a shared log.
    Snapshot(SnapshotStep),
}

impl EngineRecord {
    /// Reads the payload of such a record.
    ///
    /// # Errors
    /// It is none.
    pub fn read(payload: &[u8]) -> Result<Self, Malformed> {
        match payload.first() {
            None => Ok(Self::Tick),
            Some(&ENTERED) => Self::read_entry(payload),
            Some(&LEFT) if payload.len() == 1 => Ok(Self::Left),
            Some(_) => SnapshotStep::parse(payload).map(Self::Snapshot),
        }
    }

    fn read_entry(payload: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(payload);
        reader.u8("kind of an engine's record")?;
        let sequence = reader.u64("number of an entry")?;
        let installation = reader.u64("installation")?;
        let mut noted = None;
        if !reader.is_empty() {
            let node = reader.name("name of a server")?;
            let incarnation = reader.u64("incarnation")?;
            let number = reader.u64("number of an entry")?;
            // An earlier version did not note it.
            let applied = if reader.is_empty() {
                0
            } else {
                reader.u64("last entry applied")?
            };
            let (reads, is_said) = if reader.is_empty() {
                (1, false)
            } else {
                (reader.u16("version that is read")?, true)
            };
            let version = if reader.is_empty() {
                1 + u16::from(is_said)
            } else {
                reader.u16("version of an entry")?
            };
            noted = Some(NotedEntry {
                node,
                incarnation,
                number,
                applied,
                reads,
                version,
            });
        }
        reader.finish("end of an engine's record")?;
        Ok(Self::Entry {
            sequence,
            installation,
            noted,
        })
    }
}

impl NotedEntry {
    fn heard(&self, at: (u64, Timestamp)) -> HeardEntry {
        let Self {
            node,
            incarnation,
            number,
            applied,
            reads,
            version,
        } = *self;
        HeardEntry {
            node,
            incarnation,
            number,
            version,
            reads,
            applied,
            at,
        }
    }
}

impl SharedPlace {
    /// The last run of a server that the entries so far know of.
    #[must_use]
    pub fn incarnation(&self, node: &Name) -> Option<u64> {
        self.runs.incarnation(node)
    }

    /// The least that a server has said to have applied, of those that were heard `since` then.
    #[must_use]
    pub fn least_applied(&self, since: Timestamp) -> Option<u64> {
        self.runs.least_applied(since)
    }

    /// What the record says that ends the copy of a log.
    pub(crate) fn farewell() -> Vec<u8> {
        vec![LEFT]
    }

    /// The newest version of entries, and of kinds of records, that may be written: all servers of the log
    /// read it. At least 1.
    #[must_use]
    pub fn version(&self) -> u16 {
        self.version.max(1)
    }

    /// Whether records about snapshots in the store may be written.
    #[must_use]
    pub fn takes_snapshot_steps(&self) -> bool {
        self.version() >= SNAPSHOT_STEPS_SINCE
    }

    /// Whether the snapshot behind this entry can no more be one that is kept: another has the turn.
    #[must_use]
    pub fn has_lost_turn(&self, sequence: u64) -> bool {
        self.version() >= HEEDS_TURNS_SINCE && !self.snapshots.has_turn(sequence)
    }

    /// Whether the snapshot behind this entry is of no use in the store, now and later. To be asked behind
    /// the entry that claims the next one, by its server.
    #[must_use]
    pub fn is_leftover(&self, sequence: u64) -> bool {
        self.version() >= HEEDS_TURNS_SINCE && self.snapshots.is_leftover(sequence)
    }

    /// What a run of a server reads, as far as the entries so far say; nothing if no entry of that run was
    /// applied.
    #[must_use]
    pub fn reads(&self, node: &Name, incarnation: u64) -> Option<u16> {
        let mut servers = self.servers();
        let known = servers.find(|known| known.node == *node && known.incarnation == incarnation);
        known.map(|known| known.reads)
    }

    /// What is known of each server, by their names.
    pub fn servers(&self) -> impl Iterator<Item = KnownServer> {
        self.runs.servers()
    }

    /// Takes note of the last entry, and of whose it is.
    pub(crate) fn hear(&mut self, entry: &HeardEntry) {
        self.runs.note(entry);
        self.raise(entry.at);
    }

    /// A server has said what it reads.
    fn announce(&mut self, node: &Name, reads: u16, time: Timestamp) {
        self.runs.announce(node, reads);
        self.raise((self.sequence, time));
    }

    fn raise(&mut self, at: (u64, Timestamp)) {
        let least = self.runs.least(at);
        self.version = self.version.max(least.unwrap_or_default());
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
            put_u64(&mut payload, head.applied.0);
            if head.version > 1 {
                put_u16(&mut payload, head.reads);
            }
            if head.version >= NOTES_VERSION_SINCE {
                put_u16(&mut payload, head.version);
            }
        }
        payload
    }

    /// Takes note of a record of the engine: the beginning of an entry, whose is kept, what its server says
    /// of itself and of snapshots, a tick, or the end of a copy.
    pub(crate) fn heed(
        (place, entry_of): (&mut Option<Self>, &mut Option<Name>),
        record: &Record<'_>,
    ) -> Result<(), Malformed> {
        let time = record.time;
        match (EngineRecord::read(record.payload)?, &mut *place) {
            (EngineRecord::Tick, None) => {}
            (EngineRecord::Tick, Some(place)) => {
                if let (Some(node), Some(reads)) = (entry_of, announced(record)) {
                    place.announce(node, reads, time);
                }
            }
            (
                EngineRecord::Entry {
                    sequence,
                    installation,
                    noted,
                },
                place,
            ) => {
                let behind = place.get_or_insert_default();
                (behind.sequence, behind.installation) = (sequence, installation);
                if let Some(noted) = &noted {
                    behind.hear(&noted.heard((sequence, time)));
                }
                *entry_of = noted.map(|noted| noted.node);
            }
            (EngineRecord::Left, Some(_)) => *place = None,
            (EngineRecord::Snapshot(step), Some(place)) => {
                let version = place.version();
                place.snapshots.take(&step, (place.sequence, time), version);
            }
            (EngineRecord::Left | EngineRecord::Snapshot(_), None) => {
                return Err(Malformed {
                    field: "kind of an engine's record",
                });
            }
        }
        Ok(())
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
        self.snapshots.put(&mut bytes);
        put_u16(&mut bytes, self.version);
        self.runs.put(&mut bytes);
        bytes
    }

    /// Reads what [`bytes`](Self::bytes) wrote, or what servers wrote that announced nothing and knew of no
    /// store: `time` is then that of the state.
    pub(crate) fn read(
        reader: &mut Reader<'_>,
        announces_nothing: Option<Timestamp>,
    ) -> Result<Self, Malformed> {
        let sequence = reader.u64("number of an entry")?;
        Ok(Self {
            sequence,
            epoch: Position(reader.u64("position of a change of rights")?),
            installation: reader.u64("installation")?,
            chain: reader.u64("hash over all records")?,
            snapshots: match announces_nothing {
                Some(_) => OrderedSnapshots::default(),
                None => OrderedSnapshots::read(reader)?,
            },
            version: match announces_nothing {
                Some(_) => 1,
                None => reader.u16("version that may be written")?,
            },
            runs: Runs::read(reader, announces_nothing.map(|time| (sequence, time)))?,
        })
    }
}
