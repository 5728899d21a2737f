//! The judge: what was promised, and whether the server keeps it after each recovery.

use std::{collections::BTreeMap, fmt};

use turnstile_record::Record;
use turnstile_rooms::{Outcome, Rooms};
use turnstile_sequencer::{ExecuteError, KEY_MS, Reply};
use turnstile_types::{Context, Machine, Position, Principal, Timestamp, hash_of};

use crate::occupancy::Occupancy;

/// A promise that was broken, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation(pub String);

/// One record that the sequencer took, as the simulated clients saw it.
#[derive(Clone, Debug)]
pub(crate) struct Taken {
    pub(crate) time: Timestamp,
    pub(crate) key: Option<String>,
    /// The command's bytes; nothing for a tick.
    pub(crate) command: Option<Vec<u8>>,
    /// The answer; nothing for a tick.
    pub(crate) outcome: Option<Outcome>,
}

/// Keeps everything that was taken, in order of position, and how much of it was acknowledged.
#[derive(Debug, Default)]
pub(crate) struct Judge {
    taken: Vec<Taken>,
    /// How many of them were acknowledged.
    acknowledged: usize,
    /// How many were acknowledged before the last group: what even damage to the disk must leave.
    undamaged: usize,
    /// Ranges of positions, from exclusive to inclusive, that are atomic.
    batches: Vec<(usize, usize)>,
    /// The latest record of each key.
    keys: BTreeMap<String, usize>,
}

type Judged = Result<(), Violation>;

fn violation(text: impl Into<String>) -> Judged {
    Err(Violation(text.into()))
}

impl Judge {
    /// How many records were taken.
    pub(crate) const fn len(&self) -> usize {
        self.taken.len()
    }

    /// Something with a key that was taken once, to be asked again.
    pub(crate) fn keyed(&self, choice: u64) -> Option<(&str, &[u8])> {
        let choice = usize::try_from(choice).unwrap_or(0) % self.keys.len().max(1);
        let (key, at) = self.keys.iter().nth(choice)?;
        Some((key, self.taken[*at].command.as_deref()?))
    }

    /// Notes a record that was taken at the next position.
    pub(crate) fn take(&mut self, taken: Taken) {
        if let Some(key) = &taken.key {
            self.keys.insert(key.clone(), self.taken.len());
        }
        self.taken.push(taken);
    }

    /// Notes that everything taken after the first `from` records is atomic across a crash.
    pub(crate) fn batch(&mut self, from: usize) {
        self.batches.push((from, self.taken.len()));
    }

    /// Notes that everything up to this position was acknowledged.
    pub(crate) fn acknowledge(&mut self, last: Position) {
        let last = usize::try_from(last.0).expect("as many as were taken");
        if last > self.acknowledged {
            self.undamaged = self.acknowledged;
            self.acknowledged = last;
        }
    }

    /// Judges the answer to a command under a key that may have been used before.
    ///
    /// Says whether the command was taken anew.
    pub(crate) fn keyed_answer(
        &self,
        time: Timestamp,
        key: &str,
        command: &[u8],
        answer: &Result<Reply<Outcome>, ExecuteError>,
    ) -> Result<bool, Violation> {
        let remembered = self.keys.get(key).map(|&at| (at, &self.taken[at]));
        let first = remembered.filter(|(_at, first)| time.ms_since(first.time) < KEY_MS);
        let expected = match (first, answer) {
            (None, Ok(reply)) => !reply.replayed,
            (None, Err(_)) => false,
            (Some((at, first)), Ok(reply)) => {
                reply.replayed
                    && reply.position.0 == at as u64 + 1
                    && Some(reply.outcome) == first.outcome
                    && first.command.as_deref() == Some(command)
            }
            (Some((at, first)), Err(ExecuteError::KeyReused { first: position })) => {
                position.0 == at as u64 + 1 && first.command.as_deref() != Some(command)
            }
            (Some(_), Err(_)) => false,
        };
        if expected {
            Ok(first.is_none())
        } else {
            Err(Violation(format!(
                "key {key}, first used for {first:?}, was answered {answer:?}"
            )))
        }
    }

    /// Judges where a recovery ended. From then on, what was recovered is promised again.
    pub(crate) fn recovered(&mut self, last: Position, is_damaged: bool) -> Judged {
        let last = usize::try_from(last.0).unwrap_or(usize::MAX);
        let least = if is_damaged {
            self.undamaged
        } else {
            self.acknowledged
        };
        if last < least {
            let acknowledged = self.acknowledged;
            return violation(format!(
                "position {acknowledged} was acknowledged, {last} is the last"
            ));
        }
        if last > self.taken.len() {
            let taken = self.taken.len();
            return violation(format!("{taken} records were taken, {last} are there"));
        }
        if let Some(batch) = self
            .batches
            .iter()
            .find(|(from, to)| *from < last && last < *to)
        {
            return violation(format!(
                "{last} records are there: the middle of batch {batch:?}"
            ));
        }
        self.taken.truncate(last);
        self.keys.clear();
        for (at, taken) in self.taken.iter().enumerate() {
            if let Some(key) = &taken.key {
                self.keys.insert(key.clone(), at);
            }
        }
        self.batches.retain(|(_from, to)| *to <= last);
        self.acknowledged = last;
        self.undamaged = self.undamaged.min(last);
        Ok(())
    }

    /// Judges a record that the journal hands over.
    pub(crate) fn record(&self, record: &Record<'_>) -> Judged {
        let at = usize::try_from(record.position.0 - 1).unwrap_or(usize::MAX);
        let Some(taken) = self.taken.get(at) else {
            return violation(format!("{record:?} was never taken"));
        };
        let command = taken.command.as_deref().unwrap_or_default();
        let same = record.payload == command
            && record.key.map(|key| key.as_str()) == taken.key.as_deref()
            && record.time == taken.time
            && (record.service == Rooms::SERVICE) == taken.command.is_some();
        if same {
            Ok(())
        } else {
            violation(format!("{record:?} was taken as {taken:?}"))
        }
    }

    /// Judges a recovered machine: decided again in order of position, everything gives the answers
    /// that were given, an independent model finds nothing impossible in them, and the state is
    /// the same.
    pub(crate) fn machine(&self, recovered: &Rooms) -> Judged {
        let mut again = Rooms::empty();
        let mut occupancy = Occupancy::default();
        let principal = Principal::local();
        for (at, taken) in self.taken.iter().enumerate() {
            let position = Position(at as u64 + 1);
            let context = Context {
                position,
                now: taken.time,
                principal: &principal,
            };
            let (Some(bytes), Some(outcome)) = (&taken.command, &taken.outcome) else {
                again.tick(&context);
                occupancy.expire(taken.time);
                continue;
            };
            let command = Rooms::decode_command(bytes).expect("it was encoded by the traffic");
            let answer = again.apply(&context, &command);
            if answer != *outcome {
                return violation(format!(
                    "position {position}: {command:?} was answered {outcome:?}, then {answer:?}"
                ));
            }
            occupancy
                .show(taken.time, &command, outcome)
                .map_err(|what| Violation(format!("position {position}: {what}")))?;
        }
        if hash_of(&again) != hash_of(recovered) {
            return violation("the recovered state is another than that of its records");
        }
        let bookings = recovered.totals().bookings;
        if bookings != occupancy.bookings() as u64 {
            return violation(format!(
                "{bookings} bookings stand, not {}",
                occupancy.bookings()
            ));
        }
        recovered
            .check()
            .or_else(|violations| violation(violations.join("; ")))
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Violation {}
