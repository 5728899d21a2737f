//! The judge: what was promised, and whether the server keeps it after each recovery.

use std::collections::{BTreeMap, BTreeSet};

use turnstile_embedded::Services;
use turnstile_record::{Record, SERVICE_ENGINE};
use turnstile_sequencer::{ExecuteError, KEY_MS};
use turnstile_travel::{Done, EventKind, LateAnswer, Outcome, Travel, Xid};
use turnstile_types::{
    Context, Key, Machine, Machines, Origin, Position, Principal, Timestamp, hash_of,
};

use crate::{
    services::{Followers, Happenings, RulesModels, SimulatedAnswer, origin_of},
    violation::{Judged, Violation, violation},
};

/// One record that the sequencer took, as the simulated clients saw it.
#[derive(Clone, Debug)]
pub(crate) struct TakenRecord {
    pub(crate) time: Timestamp,
    pub(crate) key: Option<String>,
    pub(crate) service: u8,
    /// The command's bytes; none for a tick.
    pub(crate) payload: Vec<u8>,
    /// The bytes of what was answered; none for a tick.
    pub(crate) outcome: Vec<u8>,
}

impl TakenRecord {
    /// The number of the service, and the bytes of the command and its outcome there.
    fn asked(&self) -> (u8, &[u8], &[u8]) {
        (self.service, &self.payload, &self.outcome)
    }

    /// Where it came from.
    fn origin(&self) -> Origin<'_> {
        let key = self.key.as_ref();
        let key = key.map(|key| Key::parse(key.as_bytes()).expect("it was a key"));
        if self.service == SERVICE_ENGINE {
            Origin::SERVER
        } else {
            origin_of(key)
        }
    }

    /// What travel has answered.
    fn of_travel(&self) -> Option<Outcome> {
        let outcome = || Travel::decode_outcome(&self.outcome).expect("the machine made it");
        (self.service == Travel::SERVICE).then(outcome)
    }

    /// Whether it was told to wait.
    fn has_waited(&self) -> bool {
        matches!(self.of_travel(), Some(Outcome::Waiting { .. }))
    }

    /// The bytes of its answer, or of what it was answered after it had waited.
    fn final_outcome(&self, travel: &Travel) -> Vec<u8> {
        if let Some(Outcome::Waiting { ticket }) = self.of_travel()
            && let LateAnswer::Given(outcome) = travel.late_answer(ticket)
        {
            let mut bytes = Vec::new();
            Travel::encode_outcome(&outcome, &mut bytes);
            return bytes;
        }
        self.outcome.clone()
    }

    /// Whether the answer must never be taken back.
    fn is_promise(&self) -> bool {
        let of_travel = self.of_travel();
        self.service != SERVICE_ENGINE
            && (self.key.is_some() || of_travel.is_none_or(|outcome| is_promise(&outcome)))
    }
}

/// Whether travel has promised something by this answer, as a client sees it.
const fn is_promise(outcome: &Outcome) -> bool {
    matches!(
        outcome,
        Outcome::Done(
            Done::Committed
                | Done::Booked { .. }
                | Done::Confirmed
                | Done::Cancelled
                | Done::Configured
                | Done::Recovered
        )
    )
}

/// How many records there are up to this position.
fn index(last: Position) -> usize {
    usize::try_from(last.0).expect("as many as were taken")
}

/// Keeps everything that was taken, in order of position, and how much of it was acknowledged.
#[derive(Debug, Default)]
pub(crate) struct Judge {
    taken: Vec<TakenRecord>,
    /// How many of them were acknowledged.
    acknowledged: usize,
    /// How many of them were told of; the last ones perhaps not acknowledged.
    told: usize,
    /// So many must stay, for something that was told of them is a promise.
    promised: usize,
    /// Xids that were told.
    xids: BTreeSet<Xid>,
    /// How many were acknowledged before the last group: what even damage to the disk must leave.
    undamaged: usize,
    /// Ranges of positions, from exclusive to inclusive, that are atomic.
    batches: Vec<(usize, usize)>,
    /// The latest record of each key.
    keys: BTreeMap<String, usize>,
    followers: Followers,
}

impl Judge {
    /// How many records were taken.
    pub(crate) const fn len(&self) -> usize {
        self.taken.len()
    }

    /// Something with a key that was taken once, to be asked again.
    pub(crate) fn keyed(&self, choice: u64) -> Option<(&str, &TakenRecord)> {
        let choice = usize::try_from(choice).unwrap_or(0) % self.keys.len().max(1);
        let (key, at) = self.keys.iter().nth(choice)?;
        Some((key, &self.taken[*at]))
    }

    /// Notes a record that was taken at the next position.
    pub(crate) fn take(&mut self, taken: TakenRecord) {
        if let Some(key) = &taken.key {
            self.keys.insert(key.clone(), self.taken.len());
        }
        self.taken.push(taken);
    }

    /// Notes that everything taken after the first `from` records is atomic across a crash.
    pub(crate) fn batch(&mut self, from: usize) {
        self.batches.push((from, self.taken.len()));
    }

    /// Notes that everything up to this position was acknowledged, with its late answers.
    pub(crate) fn acknowledge(&mut self, last: Position, happened: &Happenings) -> Judged {
        self.tell(last, happened)?;
        let last = index(last);
        if last > self.acknowledged {
            self.undamaged = self.acknowledged;
            self.acknowledged = last;
        }
        Ok(())
    }

    /// Notes that everything up to this position was answered, also what is not durable, and that
    /// these late answers were given.
    pub(crate) fn tell(&mut self, last: Position, happened: &Happenings) -> Judged {
        for event in &happened.travel {
            if matches!(&event.kind, EventKind::Answered { outcome, .. } if is_promise(outcome)) {
                self.promised = self.promised.max(index(event.position));
            }
        }
        for at in self.told..index(last) {
            let taken = &self.taken[at];
            if taken.is_promise() {
                self.promised = self.promised.max(at + 1);
            }
            if let Some(Outcome::Done(Done::Started { xid })) = taken.of_travel()
                && !self.xids.insert(xid)
            {
                return violation(format!("{xid} was told once more"));
            }
        }
        self.told = self.told.max(index(last));
        Ok(())
    }

    /// Judges the answer to a command under a key that may have been used before, by whichever
    /// service: they share the keys. What was told to wait is answered as `travel` has answered since.
    ///
    /// Says whether the command is not known under this key.
    pub(crate) fn keyed_answer(
        &self,
        time: Timestamp,
        key: &str,
        (service, payload): (u8, &[u8]),
        answer: &SimulatedAnswer,
        travel: &Travel,
    ) -> Result<bool, Violation> {
        let remembered = self.keys.get(key).map(|&at| (at, &self.taken[at]));
        let age_of = |first: &TakenRecord| time.ms_since(first.time);
        let first = remembered.filter(|(_at, first)| age_of(first) < KEY_MS);
        let is_same =
            |first: &TakenRecord| (first.service, &first.payload[..]) == (service, payload);
        let expected = match (first, answer) {
            (None, Ok(reply)) if !reply.replayed => true,
            (None, Err(ExecuteError::KeysFull { .. })) => true,
            // An answer that came late is remembered for a day of its own.
            (None, Ok(_) | Err(ExecuteError::KeyReused { .. })) => {
                remembered.is_some_and(|(_at, first)| first.has_waited())
            }
            (None, Err(_)) => false,
            (Some((at, first)), Ok(reply)) => {
                reply.replayed
                    && reply.position.0 == at as u64 + 1
                    && reply.outcome == first.final_outcome(travel)
                    && is_same(first)
            }
            (Some((at, first)), Err(ExecuteError::KeyReused { first: position })) => {
                position.0 == at as u64 + 1 && !is_same(first)
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

    /// Shows the followers what a running server announces.
    pub(crate) fn announced(&mut self, events: Happenings) -> Judged {
        self.followers.hear(events)
    }

    /// Shows the followers what a recovery announces.
    pub(crate) fn announced_again(&mut self, events: Happenings) -> Judged {
        self.followers.hear_again(events)
    }

    /// Judges where a recovery ended. From then on, what was recovered is promised again. Answers how
    /// much was told and taken back.
    pub(crate) fn recovered(&mut self, last: Position, is_damaged: bool) -> Result<u64, Violation> {
        if is_damaged {
            self.followers.forget_after(last);
        }
        let last = index(last);
        self.examine_last(last, is_damaged)?;
        let taken_back = self.told.saturating_sub(last);
        (self.told, self.promised) = (last, self.promised.min(last));
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
        Ok(taken_back as u64)
    }

    /// Whether a recovery may end there.
    fn examine_last(&self, last: usize, is_damaged: bool) -> Judged {
        let (acknowledged, promised) = (self.acknowledged, self.promised);
        let least = if is_damaged {
            self.undamaged
        } else {
            acknowledged
        };
        if last < least {
            return violation(format!(
                "position {acknowledged} was acknowledged, {last} is the last"
            ));
        }
        if last < promised && !is_damaged {
            let answer = self.taken[promised - 1].of_travel();
            return violation(format!(
                "position {promised} was told, {last} is the last: {answer:?}"
            ));
        }
        if last > self.taken.len() {
            let taken = self.taken.len();
            return violation(format!("{taken} records were taken, {last} are there"));
        }
        let mut batches = self.batches.iter();
        match batches.find(|(from, to)| *from < last && last < *to) {
            Some(batch) => violation(format!(
                "{last} records are there: the middle of batch {batch:?}"
            )),
            None => Ok(()),
        }
    }

    /// Judges a record that the journal hands over.
    pub(crate) fn record(&self, record: &Record<'_>) -> Judged {
        let at = usize::try_from(record.position.0 - 1).unwrap_or(usize::MAX);
        let Some(taken) = self.taken.get(at) else {
            return violation(format!("{record:?} was never taken"));
        };
        let same = (record.service, record.payload) == (taken.service, &taken.payload[..])
            && record.key.map(|key| key.as_str()) == taken.key.as_deref()
            && record.time == taken.time
            && record.origin() == taken.origin();
        if same {
            Ok(())
        } else {
            violation(format!("{record:?} was taken as {taken:?}"))
        }
    }

    /// Judges recovered machines: decided again in order of position, everything gives the answers
    /// that were given, models find nothing impossible in them, the followers were told all that happened,
    /// and the state is the same.
    pub(crate) fn machines(&self, recovered: &Services) -> Judged {
        let mut again = Services::empty();
        let mut models = RulesModels::default();
        let mut happened = Happenings::default();
        let principal = Principal::local();
        for (at, taken) in self.taken.iter().enumerate() {
            let position = Position(at as u64 + 1);
            let context = Context {
                position,
                now: taken.time,
                principal: &principal,
            };
            let mut outcome = Vec::new();
            if taken.service == SERVICE_ENGINE {
                again.tick(&context);
            } else {
                let command = Services::read_record(taken.service, &taken.payload);
                let command = command.expect("it was encoded by the traffic");
                again.apply_record(&context, &command, Some(&mut outcome));
            }
            if outcome != taken.outcome {
                return violation(format!(
                    "position {position}: {taken:?} was answered {outcome:?} when decided again"
                ));
            }
            let events = Happenings::of(&mut again);
            models
                .show((position, taken.time), taken.asked(), &events)
                .map_err(|what| Violation(format!("position {position}: {what}")))?;
            happened.extend(events);
        }
        self.followers.compare(&happened)?;
        if hash_of(&again) != hash_of(recovered) {
            return violation("the recovered state is another than that of its records");
        }
        let now = self.taken.last().map_or(Timestamp(0), |taken| taken.time);
        models.agree(now, recovered)?;
        recovered
            .check()
            .or_else(|violations| violation(violations.join("; ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::services::Traffic;

    /// A judge who has seen the opening of a history, and the machines behind it.
    fn opening() -> (Judge, Services) {
        let (mut judge, mut services) = (Judge::default(), Services::empty());
        let principal = Principal::local();
        let time = Timestamp(1_000_000);
        for (position, request) in (1..).map(Position).zip(Traffic::opening()) {
            let (service, payload) = request.encode();
            let context = Context {
                position,
                now: time,
                principal: &principal,
            };
            let mut outcome = Vec::new();
            let command = Services::read_record(service, &payload);
            let command = command.expect("it was encoded by the traffic");
            services.apply_record(&context, &command, Some(&mut outcome));
            judge.take(TakenRecord {
                time,
                key: None,
                service,
                payload,
                outcome,
            });
        }
        let announced = judge.announced(Happenings::of(&mut services));
        assert_eq!(announced, Ok(()));
        (judge, services)
    }

    /// Every machine is judged so, whether a model knows its rules or not.
    #[test]
    fn an_answer_that_is_not_given_again_is_found_in_every_service() {
        let (judge, services) = opening();
        assert_eq!(judge.machines(&services), Ok(()));
        for at in 0..judge.len() {
            let (mut judge, services) = opening();
            judge.taken[at].outcome.reverse();
            judge.taken[at].outcome.push(0);
            let found = judge.machines(&services);
            let expected = format!("position {}: ", at + 1);
            let sentence = found.expect_err("a lie").0;
            assert!(sentence.starts_with(&expected), "{sentence}");
            assert!(sentence.ends_with("when decided again"), "{sentence}");
        }
    }
}
