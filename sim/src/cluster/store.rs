//! The object store beside the log, as unreliable as brokers and their disks make it.

use turnstile_embedded::{ArrivedSnapshot, Services};
use turnstile_journal::{FaultyDisk, MemoryLog, snapshot::Draft};
use turnstile_record::{EntryBuilder, EntryHead, SharedEntry};
use turnstile_replica::{JoinWish, StoredTitle};
use turnstile_seed::Random;
use turnstile_sequencer::{OrderedSnapshot, Sequencer, State};
use turnstile_types::{Name, Position, Timestamp, hash_of};

use crate::violation::Violation;

/// The log of this history, and one that had its name before.
pub(super) const LOG: u64 = 1;
const EARLIER_LOG: u64 = 2;

/// The secret of this history's installation, and that of another.
pub(super) const SECRET: u64 = 10;
const OTHER_SECRET: u64 = 20;

/// A snapshot as the store has it.
#[derive(Clone, Debug)]
pub(super) struct SimObject {
    pub(super) title: StoredTitle<u64>,
    bytes: Vec<u8>,
}

/// The snapshots in the store.
#[derive(Debug, Default)]
pub(super) struct SimStore {
    objects: Vec<SimObject>,
}

impl SimStore {
    /// Puts a snapshot behind an entry into the store and, unless that is left out, reads it back. It may
    /// be damaged on its way, or the brokers may not answer.
    pub(super) fn put(
        &mut self,
        random: &mut Random,
        (sequence, bytes): (u64, &[u8]),
        is_verified: bool,
    ) -> Option<OrderedSnapshot> {
        let mut stored = bytes.to_vec();
        match random.below(8) {
            0 => return None,
            1 => flip(random, &mut stored),
            // Half of it is there.
            2 => stored.truncate(stored.len() / 2),
            _ => {}
        }
        let is_same = stored == bytes;
        if is_same || !is_verified {
            let title = StoredTitle {
                sequence,
                log: LOG,
                secret: SECRET,
            };
            self.objects.retain(|object| object.title != title);
            let bytes = stored;
            self.objects.push(SimObject { title, bytes });
        }
        let digest = [u8::try_from(sequence % 256).unwrap_or(0); 32];
        (is_same || !is_verified).then_some(OrderedSnapshot {
            sequence,
            bytes: bytes.len() as u64,
            digest,
        })
    }

    /// Puts a sound snapshot there that is of another log, or of another installation.
    pub(super) fn plant_foreign(&mut self, random: &mut Random, last: u64) {
        let sequence = 1 + random.below(last + 1);
        let (log, secret) = match random.below(2) {
            0 => (EARLIER_LOG, SECRET),
            _ => (LOG, OTHER_SECRET),
        };
        let title = StoredTitle {
            sequence,
            log,
            secret,
        };
        let bytes = foreign_snapshot(sequence);
        self.objects.push(SimObject { title, bytes });
    }

    /// The snapshots of entries that are of no use go. Says how many there were.
    pub(super) fn forget(&mut self, is_useless: impl Fn(u64) -> bool) -> u64 {
        let before = self.objects.len();
        self.objects
            .retain(|object| !is_useless(object.title.sequence));
        (before - self.objects.len()) as u64
    }

    /// A bit of a snapshot flips, if another one remains that a new node can join from, also when entries
    /// are purged up to the older of the two newest: of two, one may rot.
    pub(super) fn rot(&mut self, random: &mut Random, first: u64) {
        if self.objects.is_empty() {
            return;
        }
        let ours = self.newest_first().into_iter().map(|object| object.title);
        let mut ours = ours.filter(|title| title.log == LOG && title.secret == SECRET);
        let first = ours.nth(1).map_or(first, |older| first.max(older.sequence));
        let at = random.below(self.objects.len() as u64);
        let at = usize::try_from(at).expect("an index");
        let whole = self.objects[at].clone();
        flip(random, &mut self.objects[at].bytes);
        if !self.has_one_for_a_new_node(first) {
            self.objects[at] = whole;
        }
    }

    /// Whether a node without anything can join by one of the snapshots.
    pub(super) fn has_one_for_a_new_node(&self, first: u64) -> bool {
        let wish = JoinWish {
            own: None,
            log: LOG,
            secret: SECRET,
            first,
            last: u64::MAX,
        };
        self.objects
            .iter()
            .any(|object| wish.judge(&object.title).is_ok() && object.read().is_ok())
    }

    /// The snapshots, the newest first.
    pub(super) fn newest_first(&self) -> Vec<SimObject> {
        let mut objects = self.objects.clone();
        objects.sort_by_key(|object| std::cmp::Reverse(object.title.sequence));
        objects
    }
}

impl SimObject {
    /// What it holds, if that is whole.
    pub(super) fn read(&self) -> Result<ArrivedSnapshot, Violation> {
        ArrivedSnapshot::parse(self.bytes.clone()).map_err(|error| Violation(error.to_string()))
    }
}

fn flip(random: &mut Random, bytes: &mut [u8]) {
    let bit = random.below(bytes.len() as u64 * 8);
    let at = usize::try_from(bit / 8).expect("an index");
    bytes[at] ^= 1 << (bit % 8);
}

/// The file of a snapshot of this state.
pub(super) fn file_of(disk: &FaultyDisk, journal: u64, state: &State<Services>) -> Vec<u8> {
    let (position, time) = (state.position(), state.time());
    let mut draft = Draft::begin(disk.clone(), journal, position, time);
    state.snapshot(&mut draft);
    let made = draft.finish(hash_of(state.machines()));
    made.expect("a sound disk takes every snapshot");
    disk.contents(&turnstile_journal::snapshot::name(position))
}

/// A snapshot of an empty log of somebody else, whose last entry has this number.
fn foreign_snapshot(sequence: u64) -> Vec<u8> {
    let mut other: Sequencer<Services, MemoryLog> =
        Sequencer::new(State::empty(), MemoryLog::new());
    let head = EntryHead {
        node: Name::parse(b"stranger").expect("a name"),
        incarnation: 1,
        number: 1,
        epoch: Position(0),
        installation: 4_711,
        applied: (0, 0),
        version: 1,
        reads: 1,
    };
    let bytes = EntryBuilder::default().finish(&head, Timestamp(1));
    let entry = SharedEntry::parse(&bytes).expect("it was built");
    let applied = other.apply_entry(sequence, &entry, None);
    applied.expect("it is the first entry");
    file_of(&FaultyDisk::new(1), 1, other.state())
}
