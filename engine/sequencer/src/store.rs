//! What the order of a shared log says of snapshots in its store: who makes the next one, and which
//! are done.

use turnstile_types::{Malformed, Name, Reader, Timestamp, put_bytes, put_u8, put_u64};

/// How long a claim holds, in milliseconds of logged time. A snapshot takes a minute for some
/// gigabytes; a server that has gone with its claim is waited for no longer than this.
pub const SNAPSHOT_CLAIM_MS: u64 = 15 * 60_000;

/// Snapshots that are kept in the store. With two, one may rot and nothing is lost.
const KEPT: usize = 2;

/// The first version of the order in which a snapshot counts only while its claim holds. So none that lost
/// its turn counts later, and who has the turn may remove it from the store.
pub(crate) const HEEDS_TURNS_SINCE: u16 = 3;

/// The first bytes of the engine's records that are in entries.
const CLAIMED: u8 = 2;
const DONE: u8 = 3;
const GIVEN_UP: u8 = 4;

/// A snapshot in the store that its maker has read back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OrderedSnapshot {
    /// The last entry that its state has.
    pub sequence: u64,
    /// Its length in the store.
    pub bytes: u64,
    /// The SHA-256 of its bytes.
    pub digest: [u8; 32],
}

/// A server makes the snapshot behind an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SnapshotClaim {
    pub node: Name,
    /// The number of that server's run.
    pub incarnation: u64,
    /// The entry that claimed it, behind which the snapshot is.
    pub sequence: u64,
    /// The logged time of that entry.
    pub since: Timestamp,
}

/// What a server says of snapshots, as a record of the engine in its entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SnapshotStep {
    /// It wants to make the snapshot behind this entry. `newest` is the last one that it knew, so that
    /// of several servers that want to at the same time one does.
    Claimed {
        node: Name,
        incarnation: u64,
        newest: u64,
    },
    Done(OrderedSnapshot),
    /// It does not make the snapshot that it has claimed by this entry.
    GivenUp {
        sequence: u64,
    },
}

/// Which snapshots are in the store, and who makes the next one. Equal on all servers behind the same
/// entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OrderedSnapshots {
    /// The newest first.
    kept: Vec<OrderedSnapshot>,
    claim: Option<SnapshotClaim>,
}

impl SnapshotStep {
    /// The payload of its record.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(96);
        match self {
            Self::Claimed {
                node,
                incarnation,
                newest,
            } => {
                put_u8(&mut bytes, CLAIMED);
                put_bytes(&mut bytes, node.as_bytes());
                put_u64(&mut bytes, *incarnation);
                put_u64(&mut bytes, *newest);
            }
            Self::Done(done) => {
                put_u8(&mut bytes, DONE);
                done.put(&mut bytes);
            }
            Self::GivenUp { sequence } => {
                put_u8(&mut bytes, GIVEN_UP);
                put_u64(&mut bytes, *sequence);
            }
        }
        bytes
    }

    /// Reads the payload of a record.
    pub(crate) fn parse(payload: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(payload);
        let step = match reader.u8("kind of an engine's record")? {
            CLAIMED => Self::Claimed {
                node: reader.name("name of a server")?,
                incarnation: reader.u64("incarnation")?,
                newest: reader.u64("number of an entry")?,
            },
            DONE => Self::Done(OrderedSnapshot::read(&mut reader)?),
            GIVEN_UP => Self::GivenUp {
                sequence: reader.u64("number of an entry")?,
            },
            _ => {
                return Err(Malformed {
                    field: "kind of an engine's record",
                });
            }
        };
        reader.finish("end of an engine's record")?;
        Ok(step)
    }
}

impl OrderedSnapshot {
    fn put(&self, out: &mut Vec<u8>) {
        put_u64(out, self.sequence);
        put_u64(out, self.bytes);
        out.extend_from_slice(&self.digest);
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        const DIGEST: &str = "digest of a snapshot";
        let (sequence, bytes) = (
            reader.u64("number of an entry")?,
            reader.u64("length of a snapshot")?,
        );
        let digest = reader.take(32, DIGEST)?.try_into();
        Ok(Self {
            sequence,
            bytes,
            digest: digest.map_err(|_length| Malformed { field: DIGEST })?,
        })
    }
}

impl OrderedSnapshots {
    /// The newest that is done.
    #[must_use]
    pub fn newest(&self) -> Option<&OrderedSnapshot> {
        self.kept.first()
    }

    /// The older of the two that are kept, once there are two: nothing before it is needed.
    #[must_use]
    pub fn older(&self) -> Option<&OrderedSnapshot> {
        self.kept.get(KEPT - 1)
    }

    /// Who makes the next one.
    #[must_use]
    pub const fn claim(&self) -> Option<&SnapshotClaim> {
        self.claim.as_ref()
    }

    /// The last entry of the newest snapshot; zero before the first.
    #[must_use]
    pub fn newest_sequence(&self) -> u64 {
        self.newest().map_or(0, |newest| newest.sequence)
    }

    /// Whether a claim of this run would hold at `now`.
    #[must_use]
    pub fn may_claim(&self, node: &Name, incarnation: u64, now: Timestamp) -> bool {
        self.claim.is_none_or(|claim| {
            let is_own_past = claim.node == *node && claim.incarnation < incarnation;
            is_own_past || now.ms_since(claim.since) >= SNAPSHOT_CLAIM_MS
        })
    }

    /// Whether the snapshot behind this entry has the turn.
    pub(crate) fn has_turn(&self, sequence: u64) -> bool {
        self.claim.is_some_and(|claim| claim.sequence == sequence)
    }

    /// Whether a snapshot in the store is of no use while the claim holds: it is neither kept, nor the
    /// beginning of the log, from which new nodes begin until two are kept.
    pub(crate) fn is_leftover(&self, sequence: u64) -> bool {
        let is_past = self.claim.is_some_and(|claim| sequence < claim.sequence);
        let is_kept = self.kept.iter().any(|kept| kept.sequence == sequence);
        let is_beginning = sequence == 0 && self.older().is_none();
        is_past && !is_kept && !is_beginning
    }

    /// Takes note of what an entry says, in an order of this version.
    pub(crate) fn take(
        &mut self,
        step: &SnapshotStep,
        (sequence, now): (u64, Timestamp),
        version: u16,
    ) {
        match *step {
            SnapshotStep::Claimed {
                node,
                incarnation,
                newest,
            } => {
                if newest == self.newest_sequence() && self.may_claim(&node, incarnation, now) {
                    self.claim = Some(SnapshotClaim {
                        node,
                        incarnation,
                        sequence,
                        since: now,
                    });
                }
            }
            SnapshotStep::Done(done) => {
                let counts = version < HEEDS_TURNS_SINCE || self.has_turn(done.sequence);
                if counts && done.sequence > self.newest_sequence() && done.sequence < sequence {
                    self.kept.insert(0, done);
                    self.kept.truncate(KEPT);
                }
                self.let_go(done.sequence);
            }
            SnapshotStep::GivenUp { sequence } => self.let_go(sequence),
        }
    }

    fn let_go(&mut self, sequence: u64) {
        if self.has_turn(sequence) {
            self.claim = None;
        }
    }

    pub(crate) fn put(&self, out: &mut Vec<u8>) {
        put_u8(out, u8::try_from(self.kept.len()).unwrap_or(u8::MAX));
        for done in &self.kept {
            done.put(out);
        }
        put_u8(out, u8::from(self.claim.is_some()));
        if let Some(claim) = &self.claim {
            put_bytes(out, claim.node.as_bytes());
            for number in [claim.incarnation, claim.sequence, claim.since.0] {
                put_u64(out, number);
            }
        }
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        let count = reader.u8("number of snapshots")?;
        if usize::from(count) > KEPT {
            return Err(Malformed {
                field: "number of snapshots",
            });
        }
        let kept = (0..count).map(|_| OrderedSnapshot::read(reader));
        let kept = kept.collect::<Result<_, _>>()?;
        let claim = match reader.u8("claim of a snapshot")? {
            0 => None,
            _ => Some(SnapshotClaim {
                node: reader.name("name of a server")?,
                incarnation: reader.u64("incarnation")?,
                sequence: reader.u64("number of an entry")?,
                since: Timestamp(reader.u64("time of a claim")?),
            }),
        };
        Ok(Self { kept, claim })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> Name {
        Name::parse(text.as_bytes()).expect("a name")
    }

    fn claimed(node: &str, incarnation: u64, newest: u64) -> SnapshotStep {
        SnapshotStep::Claimed {
            node: name(node),
            incarnation,
            newest,
        }
    }

    fn done(sequence: u64) -> SnapshotStep {
        SnapshotStep::Done(OrderedSnapshot {
            sequence,
            bytes: 7,
            digest: [9; 32],
        })
    }

    /// Steps as entries from 10 on, a second apart; who claims behind each, and what is kept.
    fn check(steps: &[(SnapshotStep, Option<u64>, &[u64])]) {
        let mut snapshots = OrderedSnapshots::default();
        for (number, (step, claim, kept)) in (10..).zip(steps) {
            let step = SnapshotStep::parse(&step.bytes()).expect("it was written");
            let at = (number, Timestamp(number * 1_000));
            snapshots.take(&step, at, HEEDS_TURNS_SINCE);
            let claimed = snapshots.claim().map(|claim| claim.sequence);
            let found: Vec<u64> = snapshots.kept.iter().map(|done| done.sequence).collect();
            assert_eq!((claimed, &found[..]), (*claim, *kept), "{step:?}");
            let mut bytes = Vec::new();
            snapshots.put(&mut bytes);
            let mut reader = Reader::new(&bytes);
            assert_eq!(OrderedSnapshots::read(&mut reader), Ok(snapshots.clone()));
            assert!(reader.is_empty());
        }
    }

    #[test]
    fn one_server_at_a_time_makes_a_snapshot_and_two_are_kept() {
        check(&[
            (claimed("n1", 1, 0), Some(10), &[]),
            (claimed("n2", 1, 0), Some(10), &[]),
            (claimed("n1", 1, 0), Some(10), &[]),
            // Its next run knows that the last one makes nothing any more.
            (claimed("n1", 2, 0), Some(13), &[]),
            (SnapshotStep::GivenUp { sequence: 10 }, Some(13), &[]),
            (SnapshotStep::GivenUp { sequence: 13 }, None, &[]),
            (claimed("n2", 1, 0), Some(16), &[]),
            (done(16), None, &[16]),
            // It did not know of that one when it asked.
            (claimed("n3", 1, 0), None, &[16]),
            (claimed("n3", 1, 16), Some(19), &[16]),
            (done(15), Some(19), &[16]),
            (done(19), None, &[19, 16]),
            (claimed("n3", 1, 19), Some(22), &[19, 16]),
            (done(22), None, &[22, 19]),
        ]);
    }

    #[test]
    fn a_claim_ends_after_its_time() {
        let mut snapshots = OrderedSnapshots::default();
        snapshots.take(&claimed("n1", 1, 0), (5, Timestamp(1_000)), 2);
        for (ms, holder) in [(SNAPSHOT_CLAIM_MS - 1, 5), (SNAPSHOT_CLAIM_MS, 6)] {
            snapshots.take(&claimed("n2", 1, 0), (6, Timestamp(1_000 + ms)), 2);
            assert_eq!(snapshots.claim().map(|claim| claim.sequence), Some(holder));
        }
    }

    #[test]
    fn a_snapshot_that_lost_its_turn_counts_no_more() {
        for (version, kept) in [
            (HEEDS_TURNS_SINCE - 1, &[5][..]),
            (HEEDS_TURNS_SINCE, &[][..]),
        ] {
            let mut snapshots = OrderedSnapshots::default();
            let late = 1_000 + SNAPSHOT_CLAIM_MS;
            for (step, at) in [
                (claimed("n1", 1, 0), (5, Timestamp(1_000))),
                (claimed("n2", 1, 0), (6, Timestamp(late))),
                (done(5), (7, Timestamp(late))),
            ] {
                snapshots.take(&step, at, version);
            }
            let found: Vec<u64> = snapshots.kept.iter().map(|done| done.sequence).collect();
            assert_eq!(found, kept, "version {version}");
            assert!(snapshots.has_turn(6));
        }
    }

    #[test]
    fn who_has_the_turn_knows_what_is_left_of_others() {
        let mut snapshots = OrderedSnapshots::default();
        let mut leftovers = |steps: &[(SnapshotStep, u64)]| -> Vec<u64> {
            for (step, sequence) in steps {
                let at = (*sequence, Timestamp(*sequence));
                snapshots.take(step, at, HEEDS_TURNS_SINCE);
            }
            let is_leftover = |sequence: &u64| snapshots.is_leftover(*sequence);
            (0..=30).filter(is_leftover).collect()
        };
        assert_eq!(leftovers(&[]), [0_u64; 0], "nobody has the turn");
        let first = leftovers(&[(claimed("n1", 1, 0), 3)]);
        assert_eq!(first, [1, 2], "the log begins with 0");
        let second = leftovers(&[(done(3), 4), (claimed("n1", 1, 3), 5)]);
        assert_eq!(second, [1, 2, 4]);
        let third = leftovers(&[(done(5), 6), (claimed("n1", 1, 5), 8)]);
        assert_eq!(third, [0, 1, 2, 4, 6, 7]);
    }

    #[test]
    fn a_payload_of_another_kind_is_refused() {
        for payload in [&b""[..], &[1], &[5], &[DONE, 1], &[GIVEN_UP]] {
            assert!(SnapshotStep::parse(payload).is_err(), "{payload:?}");
        }
        let longer = [&done(1).bytes()[..], &[0]].concat();
        assert!(SnapshotStep::parse(&longer).is_err());
    }
}
