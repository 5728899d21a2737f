//! Which entries of which server were applied: the brokers drop repetitions for two minutes only, and an
//! entry may be sent again later than that.

use turnstile_record::{ENTRIES_AHEAD_MAX, EntryHead};
use turnstile_types::{Malformed, Name, Reader, Timestamp, put_bytes, put_u16, put_u64};

/// A server that nobody heard for so many entries, and for [`SILENCE_MS`], counts as gone for good: what it
/// cannot read may be written. A server that lives speaks after a quarter of them.
const SILENCE_ENTRIES: u64 = 4 * 1_024;

/// See [`SILENCE_ENTRIES`]: an hour, in milliseconds.
const SILENCE_MS: u64 = 3_600_000;

/// Servers whose runs are known. Of more, the one that was heard longest ago is forgotten.
const SERVERS_MAX: usize = 64;

/// The first version of entries by which that one is forgotten. An entry of an earlier version has the server
/// forgotten whose run began first, as programs do that read no newer one.
const FORGETS_SILENT_SINCE: u16 = 3;

/// The last run of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ServerProgress {
    node: Name,
    incarnation: u64,
    /// The highest number of an entry.
    highest: u64,
    /// Which of the numbers before the highest were there: bit 0 is the one right before it.
    before: u64,
    /// The newest version of entries that it reads, as far as it has said.
    reads: u16,
    /// The last entry that it has said to have applied.
    applied: u64,
    /// Its last entry: the number in the log, and the time.
    heard: (u64, Timestamp),
}

/// An entry of a server, as far as [`Runs`] take note of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HeardEntry {
    pub(crate) node: Name,
    pub(crate) incarnation: u64,
    pub(crate) number: u64,
    /// The version in which it is written.
    pub(crate) version: u16,
    pub(crate) reads: u16,
    /// The last entry that the server had applied.
    pub(crate) applied: u64,
    /// Its number in the log, and its time.
    pub(crate) at: (u64, Timestamp),
}

/// What is known of a server from the entries of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownServer {
    pub node: Name,
    /// The number of its last run.
    pub incarnation: u64,
    /// The newest version of entries that it reads, as far as it has said.
    pub reads: u16,
    /// The number in the log of its last entry, and the time of that.
    pub heard: (u64, Timestamp),
}

/// The last run of each server, by their names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Runs(Vec<ServerProgress>);

impl Runs {
    /// Whether this entry is neither a repetition nor one of a run that is over.
    pub(crate) fn takes(&self, head: &EntryHead) -> bool {
        let Ok(at) = self.place(&head.node) else {
            return true;
        };
        let Some(run) = self.0.get(at) else {
            return true;
        };
        if head.incarnation != run.incarnation {
            return head.incarnation > run.incarnation;
        }
        match run.highest.checked_sub(head.number) {
            None => true,
            Some(0) => false,
            Some(age) => age <= ENTRIES_AHEAD_MAX && run.before >> (age - 1) & 1 == 0,
        }
    }

    /// Takes note of an entry that [is taken](Self::takes).
    pub(crate) fn note(&mut self, entry: &HeardEntry) {
        let HeardEntry {
            node,
            incarnation,
            number,
            version,
            reads,
            applied,
            at: heard,
        } = *entry;
        let begun = ServerProgress {
            node,
            incarnation,
            highest: number,
            before: 0,
            reads,
            applied,
            heard,
        };
        match self.place(&node) {
            Err(at) => {
                self.0.insert(at, begun);
                self.forget_one(version);
            }
            Ok(at) => {
                let Some(run) = self.0.get_mut(at) else {
                    return;
                };
                if run.incarnation == incarnation {
                    run.note(number);
                    run.reads = run.reads.max(reads);
                    // Entries of one run may come in another order than they were proposed in.
                    run.applied = run.applied.max(applied);
                    run.heard = heard;
                } else {
                    *run = begun;
                }
            }
        }
    }

    /// The last run of a server, if it is known.
    pub(crate) fn incarnation(&self, node: &Name) -> Option<u64> {
        let at = self.place(node).ok()?;
        self.0.get(at).map(|run| run.incarnation)
    }

    /// The least that a server has said to have applied, of those that were heard `since` then.
    pub(crate) fn least_applied(&self, since: Timestamp) -> Option<u64> {
        let heard = self.0.iter().filter(|run| run.heard.1 >= since);
        heard.map(|run| run.applied).min()
    }

    /// Takes note of what the last run of a server reads.
    pub(crate) fn announce(&mut self, node: &Name, reads: u16) {
        let at = self.place(node);
        if let Some(run) = at.ok().and_then(|at| self.0.get_mut(at)) {
            run.reads = run.reads.max(reads);
        }
    }

    /// The newest version that all servers read that count at this place of the log; nothing where none is
    /// known.
    pub(crate) fn least(&self, (sequence, now): (u64, Timestamp)) -> Option<u16> {
        let counts = |run: &&ServerProgress| {
            let (heard, at) = run.heard;
            sequence.saturating_sub(heard) <= SILENCE_ENTRIES || now.ms_since(at) <= SILENCE_MS
        };
        self.0.iter().filter(counts).map(|run| run.reads).min()
    }

    pub(crate) fn servers(&self) -> impl Iterator<Item = KnownServer> {
        self.0.iter().map(|run| KnownServer {
            node: run.node,
            incarnation: run.incarnation,
            reads: run.reads,
            heard: run.heard,
        })
    }

    fn place(&self, node: &Name) -> Result<usize, usize> {
        self.0.binary_search_by(|run| run.node.cmp(node))
    }

    fn forget_one(&mut self, version: u16) {
        if self.0.len() <= SERVERS_MAX {
            return;
        }
        let age = |run: &ServerProgress| {
            let (heard, _time) = run.heard;
            let is_by_silence = version >= FORGETS_SILENT_SINCE;
            (
                if is_by_silence {
                    heard
                } else {
                    run.incarnation
                },
                run.node,
            )
        };
        let runs = self.0.iter().enumerate();
        let oldest = runs.min_by_key(|(_, run)| age(run));
        if let Some((at, _)) = oldest {
            self.0.remove(at);
        }
    }

    pub(crate) fn put(&self, out: &mut Vec<u8>) {
        put_u64(out, self.0.len() as u64);
        for run in &self.0 {
            put_bytes(out, run.node.as_bytes());
            let (sequence, time) = run.heard;
            for number in [
                run.incarnation,
                run.highest,
                run.before,
                run.applied,
                time.0,
            ] {
                put_u64(out, number);
            }
            put_u16(out, run.reads);
            put_u64(out, sequence);
        }
    }

    /// `unheard` is when servers were heard last, in bytes of a version that does not say.
    pub(crate) fn read(
        reader: &mut Reader<'_>,
        unheard: Option<(u64, Timestamp)>,
    ) -> Result<Self, Malformed> {
        let count = reader.u64("number of servers")?;
        if count > SERVERS_MAX as u64 {
            return Err(Malformed {
                field: "number of servers",
            });
        }
        let read_one = |_| {
            let run = ServerProgress {
                node: reader.name("name of a server")?,
                incarnation: reader.u64("incarnation")?,
                highest: reader.u64("number of an entry")?,
                before: reader.u64("numbers before an entry")?,
                reads: 1,
                applied: 0,
                heard: unheard.unwrap_or_default(),
            };
            if unheard.is_some() {
                return Ok(run);
            }
            let applied = reader.u64("last entry applied")?;
            let time = Timestamp(reader.u64("time of an entry")?);
            Ok(ServerProgress {
                reads: reader.u16("version that is read")?,
                applied,
                heard: (reader.u64("last entry of a server")?, time),
                ..run
            })
        };
        (0..count).map(read_one).collect::<Result<_, _>>().map(Self)
    }
}

impl ServerProgress {
    fn note(&mut self, number: u64) {
        match number.checked_sub(self.highest) {
            None => self.before |= 1 << (self.highest - number - 1),
            Some(0) => {}
            Some(step) => {
                let shifted = self.before.checked_shl(u32::try_from(step).unwrap_or(64));
                let itself = 1_u64.checked_shl(u32::try_from(step - 1).unwrap_or(64));
                self.before = shifted.unwrap_or(0) | itself.unwrap_or(0);
                self.highest = number;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;
    use turnstile_types::Position;

    use super::*;

    fn head(incarnation: u64, number: u64) -> EntryHead {
        EntryHead {
            node: Name::parse(b"n1").unwrap(),
            incarnation,
            number,
            epoch: Position(0),
            installation: 0,
            applied: (0, 0),
            version: 1,
            reads: 1,
        }
    }

    fn heard(node: Name, incarnation: u64, number: u64) -> HeardEntry {
        HeardEntry {
            node,
            incarnation,
            number,
            version: FORGETS_SILENT_SINCE,
            reads: 1,
            applied: 0,
            at: (number, Timestamp(number)),
        }
    }

    proptest! {
        /// A naive twin remembers every number of the last run.
        #[test]
        fn each_entry_of_the_last_run_is_taken_once(
            steps in prop::collection::vec((0_u64..3, 1_u64..160), 1..200),
        ) {
            let mut runs = Runs::default();
            let mut twin = (0, BTreeSet::new());
            for (incarnation, number) in steps {
                let head = head(incarnation, number);
                let highest = twin.1.last().copied().unwrap_or(0);
                let is_old = number + ENTRIES_AHEAD_MAX < highest;
                let expected = incarnation > twin.0
                    || incarnation == twin.0 && !twin.1.contains(&number) && !is_old;
                prop_assert_eq!(runs.takes(&head), expected || runs == Runs::default());
                if runs.takes(&head) {
                    if incarnation > twin.0 {
                        twin = (incarnation, BTreeSet::new());
                    }
                    twin.1.insert(number);
                    runs.note(&heard(head.node, incarnation, number));
                }
                let mut bytes = Vec::new();
                runs.put(&mut bytes);
                let read = Runs::read(&mut Reader::new(&bytes), None);
                prop_assert_eq!(read.unwrap(), runs.clone());
            }
        }
    }

    #[test]
    fn the_least_of_those_that_were_heard_of_late_counts() {
        let mut runs = Runs::default();
        let name = |text: &str| Name::parse(text.as_bytes()).unwrap();
        for (node, number, applied, time) in [
            ("n1", 1, 5, 100),
            ("n2", 1, 9, 200),
            ("n2", 2, 8, 210),
            ("n3", 1, 40, 220),
        ] {
            runs.note(&HeardEntry {
                applied,
                at: (number, Timestamp(time)),
                ..heard(name(node), 1, number)
            });
        }
        for (since, least) in [(0, Some(5)), (101, Some(9)), (211, Some(40)), (221, None)] {
            assert_eq!(runs.least_applied(Timestamp(since)), least, "since {since}");
        }
    }

    /// The server whose run began first may be the one that lives longest: it must stay known.
    #[test]
    fn of_too_many_servers_the_one_heard_longest_ago_is_forgotten() {
        let name = |number: u64| Name::parse(format!("n{number}").as_bytes()).unwrap();
        let count = SERVERS_MAX as u64;
        for (version, forgotten) in [(FORGETS_SILENT_SINCE - 1, 0), (FORGETS_SILENT_SINCE, 1)] {
            let mut runs = Runs::default();
            let mut hear = |number: u64, entry: u64, at: u64| {
                runs.note(&HeardEntry {
                    version,
                    at: (at, Timestamp(at)),
                    ..heard(name(number), 1_000 + number, entry)
                });
            };
            for number in 0..count {
                hear(number, 1, number);
            }
            hear(0, 2, count);
            hear(count, 1, count + 1);
            let known: Vec<u64> = (0..=count)
                .filter(|number| runs.incarnation(&name(*number)).is_some())
                .collect();
            let expected: Vec<u64> = (0..=count).filter(|number| *number != forgotten).collect();
            assert_eq!(known, expected, "version {version}");
        }
    }

    #[test]
    fn what_may_be_written_is_what_all_read_that_were_heard_lately() {
        let name = |text: &str| Name::parse(text.as_bytes()).unwrap();
        let mut runs = Runs::default();
        let hear = |runs: &mut Runs, node, (incarnation, number), reads, at| {
            runs.note(&HeardEntry {
                reads,
                at,
                ..heard(name(node), incarnation, number)
            });
            runs.least(at)
        };
        let hours = |count| Timestamp(count * SILENCE_MS);
        assert_eq!(hear(&mut runs, "n1", (1, 1), 3, (1, hours(1))), Some(3));
        assert_eq!(hear(&mut runs, "n2", (1, 1), 1, (2, hours(1))), Some(1));
        assert_eq!(hear(&mut runs, "n1", (1, 2), 1, (3, hours(1))), Some(1));
        let anew = hear(&mut runs, "n1", (2, 1), 2, (4, hours(1)));
        assert_eq!(anew, Some(1), "n2 still counts");
        // Neither many entries nor much time alone makes n2 count no more.
        let far = SILENCE_ENTRIES + 3;
        for (at, expected) in [
            ((far, hours(2)), 1),
            ((5, hours(9)), 1),
            ((far, hours(9)), 2),
        ] {
            let mut later = runs.clone();
            let least = hear(&mut later, "n1", (2, 2), 1, at);
            assert_eq!(least, Some(expected), "{at:?}");
            let (sequence, time) = at;
            let back = (sequence + 1, time);
            assert_eq!(
                hear(&mut later, "n2", (2, 1), 1, back),
                Some(1),
                "it is back"
            );
            later.announce(&name("n2"), 2);
            assert_eq!(later.least(back), Some(2));
        }
    }
}
