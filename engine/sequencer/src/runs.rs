//! Which entries of which server were applied: the brokers drop repetitions for two minutes only, and an
//! entry may be sent again later than that.

use turnstile_record::{ENTRIES_AHEAD_MAX, EntryHead};
use turnstile_types::{Malformed, Name, Reader, put_bytes, put_u64};

/// Servers whose runs are known. Of more, the one whose run began first is forgotten.
const SERVERS_MAX: usize = 64;

/// The last run of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ServerProgress {
    node: Name,
    incarnation: u64,
    /// The highest number of an entry.
    highest: u64,
    /// Which of the numbers before the highest were there: bit 0 is the one right before it.
    before: u64,
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
    pub(crate) fn note(&mut self, node: Name, incarnation: u64, number: u64) {
        let begun = ServerProgress {
            node,
            incarnation,
            highest: number,
            before: 0,
        };
        match self.place(&node) {
            Err(at) => {
                self.0.insert(at, begun);
                self.forget_one();
            }
            Ok(at) => {
                let Some(run) = self.0.get_mut(at) else {
                    return;
                };
                if run.incarnation == incarnation {
                    run.note(number);
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

    fn place(&self, node: &Name) -> Result<usize, usize> {
        self.0.binary_search_by(|run| run.node.cmp(node))
    }

    fn forget_one(&mut self) {
        if self.0.len() <= SERVERS_MAX {
            return;
        }
        let runs = self.0.iter().enumerate();
        let oldest = runs.min_by_key(|(_, run)| (run.incarnation, run.node));
        if let Some((at, _)) = oldest {
            self.0.remove(at);
        }
    }

    pub(crate) fn put(&self, out: &mut Vec<u8>) {
        put_u64(out, self.0.len() as u64);
        for run in &self.0 {
            put_bytes(out, run.node.as_bytes());
            for number in [run.incarnation, run.highest, run.before] {
                put_u64(out, number);
            }
        }
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        let count = reader.u64("number of servers")?;
        if count > SERVERS_MAX as u64 {
            return Err(Malformed {
                field: "number of servers",
            });
        }
        let read_one = |_| {
            Ok(ServerProgress {
                node: reader.name("name of a server")?,
                incarnation: reader.u64("incarnation")?,
                highest: reader.u64("number of an entry")?,
                before: reader.u64("numbers before an entry")?,
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
                    runs.note(head.node, incarnation, number);
                }
                let mut bytes = Vec::new();
                runs.put(&mut bytes);
                prop_assert_eq!(Runs::read(&mut Reader::new(&bytes)).unwrap(), runs.clone());
            }
        }
    }

    #[test]
    fn of_too_many_servers_the_oldest_run_is_forgotten() {
        let mut runs = Runs::default();
        let name = |number: usize| Name::parse(format!("n{number}").as_bytes()).unwrap();
        for number in 0..=SERVERS_MAX {
            runs.note(name(number), 1_000 - number as u64, 1);
        }
        assert_eq!(runs.0.len(), SERVERS_MAX);
        assert_eq!(runs.incarnation(&name(SERVERS_MAX)), None);
        assert_eq!(runs.incarnation(&name(0)), Some(1_000));
    }
}
