//! Requests that a server passes on to another one, which holds what they are about.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use turnstile_types::{PartitionNumber, Timestamp};

/// The bounds of what a server passes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RelayLimits {
    /// Requests that wait for answers.
    pub waiting: usize,
    /// After how long a request that may be repeated is sent once more, in milliseconds.
    pub again_ms: u64,
    /// How long somebody waits for an answer, in milliseconds: longer than the server that decides it, so
    /// that its answer is heard.
    pub patience_ms: u64,
}

impl RelayLimits {
    /// The log may need 10 s to find another leader, so that a repetition before means a server that has
    /// gone.
    pub const USUAL: Self = Self {
        waiting: 16_384,
        again_ms: 4_000,
        patience_ms: 18_000,
    };
}

/// A request that is to be carried to a server that holds a partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RelayedMessage {
    /// Its number in this run of the server, by which its answer is known. A repetition keeps it.
    pub number: u64,
    pub to: PartitionNumber,
    pub bytes: Arc<[u8]>,
}

/// Somebody who waits for an answer, and what was sent.
#[derive(Debug)]
struct WaitingRelay<T> {
    caller: T,
    message: RelayedMessage,
    may_repeat: bool,
    /// How often it was sent.
    sent: u32,
    until: Timestamp,
    /// When something is to be done about it.
    moment: Timestamp,
}

/// An answer, and who waits for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnsweredRelay<T> {
    pub caller: T,
    /// Whether the request was sent more than once: that one server has done nothing says nothing then of
    /// another that got it.
    pub was_repeated: bool,
}

/// What is due.
#[derive(Debug)]
pub struct DueRelays<T> {
    /// What is to be sent once more.
    pub again: Vec<RelayedMessage>,
    /// Who waits no longer. Somebody may have got what they asked for, and may do it later.
    pub ended: Vec<T>,
}

/// What a server has passed on to others, and who waits for their answers. No I/O happens here.
///
/// Each caller gets one answer, whatever becomes of repetitions. Only what does nothing when it is done
/// again is repeated: queries, and commands under keys. A server that gets such a request decides it, or says
/// that it does not hold the partition; it never passes it on.
#[derive(Debug)]
pub struct RequestRelay<T> {
    limits: RelayLimits,
    last: u64,
    waiting: BTreeMap<u64, WaitingRelay<T>>,
    moments: BTreeSet<(Timestamp, u64)>,
}

impl<T> RequestRelay<T> {
    #[must_use]
    pub const fn new(limits: RelayLimits) -> Self {
        Self {
            limits,
            last: 0,
            waiting: BTreeMap::new(),
            moments: BTreeSet::new(),
        }
    }

    /// The number of the next request.
    #[must_use]
    pub const fn next_number(&self) -> u64 {
        self.last + 1
    }

    /// Has somebody wait for the answer to the request of the [next number](Self::next_number), which is sent
    /// to a server that holds this partition.
    ///
    /// # Errors
    /// Too many wait: nothing was done.
    pub fn ask(
        &mut self,
        now: Timestamp,
        (to, bytes): (PartitionNumber, Vec<u8>),
        may_repeat: bool,
        caller: T,
    ) -> Result<RelayedMessage, T> {
        if self.waiting.len() >= self.limits.waiting {
            return Err(caller);
        }
        self.last += 1;
        let message = RelayedMessage {
            number: self.last,
            to,
            bytes: bytes.into(),
        };
        let until = Timestamp(now.0 + self.limits.patience_ms);
        let mut waiting = WaitingRelay {
            caller,
            message: message.clone(),
            may_repeat,
            sent: 1,
            until,
            moment: until,
        };
        self.appoint(now, &mut waiting);
        self.waiting.insert(message.number, waiting);
        Ok(message)
    }

    /// Says when something is to be done about a request.
    fn appoint(&mut self, now: Timestamp, waiting: &mut WaitingRelay<T>) {
        let again = Timestamp(now.0 + self.limits.again_ms);
        waiting.moment = if waiting.may_repeat {
            again.min(waiting.until)
        } else {
            waiting.until
        };
        let number = waiting.message.number;
        self.moments.insert((waiting.moment, number));
    }

    fn take(&mut self, number: u64) -> Option<WaitingRelay<T>> {
        let waiting = self.waiting.remove(&number)?;
        self.moments.remove(&(waiting.moment, number));
        Some(waiting)
    }

    /// An answer to the request of this number has come. Nobody waits for it if it has come before.
    pub fn answered(&mut self, number: u64) -> Option<AnsweredRelay<T>> {
        let waiting = self.take(number)?;
        Some(AnsweredRelay {
            caller: waiting.caller,
            was_repeated: waiting.sent > 1,
        })
    }

    /// Nobody has got the request of this number, this time: nothing was done for whoever waits for it. One that
    /// somebody may have got before waits on.
    pub fn missed(&mut self, number: u64) -> Option<T> {
        if self.waiting.get(&number)?.sent > 1 {
            return None;
        }
        Some(self.take(number)?.caller)
    }

    /// The partition that a request is for that somebody waits for.
    #[must_use]
    pub fn partition_of(&self, number: u64) -> Option<PartitionNumber> {
        Some(self.waiting.get(&number)?.message.to)
    }

    /// Who waits for the answer to a request.
    #[must_use]
    pub fn caller_of(&self, number: u64) -> Option<&T> {
        Some(&self.waiting.get(&number)?.caller)
    }

    /// What is to be sent once more, and who waits no longer.
    pub fn due(&mut self, now: Timestamp) -> DueRelays<T> {
        let mut due = DueRelays {
            again: Vec::new(),
            ended: Vec::new(),
        };
        while let Some(&(moment, number)) = self.moments.first() {
            if moment > now {
                break;
            }
            let Some(mut waiting) = self.take(number) else {
                self.moments.remove(&(moment, number));
                continue;
            };
            if now >= waiting.until {
                due.ended.push(waiting.caller);
                continue;
            }
            waiting.sent += 1;
            due.again.push(waiting.message.clone());
            self.appoint(now, &mut waiting);
            self.waiting.insert(number, waiting);
        }
        due
    }

    /// When something is due.
    #[must_use]
    pub fn deadline(&self) -> Option<Timestamp> {
        self.moments.first().map(|(moment, _)| *moment)
    }

    /// How many wait.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const B: PartitionNumber = match PartitionNumber::new(1) {
        Some(number) => number,
        None => PartitionNumber::FIRST,
    };

    fn relay() -> RequestRelay<&'static str> {
        RequestRelay::new(RelayLimits {
            waiting: 2,
            again_ms: 10,
            patience_ms: 25,
        })
    }

    fn ask(relay: &mut RequestRelay<&'static str>, may_repeat: bool, caller: &'static str) -> u64 {
        let asked = relay.ask(Timestamp(100), (B, b"bytes".to_vec()), may_repeat, caller);
        asked.unwrap().number
    }

    #[test]
    fn a_caller_gets_one_answer_also_to_what_was_repeated() {
        let mut relay = relay();
        let number = ask(&mut relay, true, "keyed");
        assert!(relay.due(Timestamp(109)).again.is_empty());
        let again = relay.due(Timestamp(110)).again;
        assert_eq!((again.len(), again[0].number), (1, number));
        let answered = relay.answered(number).unwrap();
        assert_eq!((answered.caller, answered.was_repeated), ("keyed", true));
        assert_eq!(relay.answered(number), None, "the second is nobody's");
        assert_eq!(relay.missed(number), None);
        assert_eq!((relay.waiting(), relay.deadline()), (0, None));
    }

    #[test]
    fn what_would_be_done_twice_is_not_repeated() {
        let mut relay = relay();
        let number = ask(&mut relay, false, "without a key");
        assert_eq!(relay.deadline(), Some(Timestamp(125)));
        assert!(relay.due(Timestamp(124)).again.is_empty());
        let due = relay.due(Timestamp(125));
        assert_eq!(due.ended, ["without a key"]);
        assert_eq!(relay.answered(number), None);
    }

    #[test]
    fn nobody_is_heard_at_once_unless_somebody_may_have_got_it() {
        let mut relay = relay();
        let number = ask(&mut relay, true, "one");
        assert_eq!(relay.missed(number), Some("one"));
        let number = ask(&mut relay, true, "two");
        assert_eq!(relay.due(Timestamp(110)).again.len(), 1);
        assert_eq!(relay.missed(number), None, "the first may be under way");
        assert_eq!(relay.due(Timestamp(120)).again.len(), 1);
        let due = relay.due(Timestamp(130));
        assert_eq!(due.ended, ["two"]);
    }

    #[test]
    fn only_so_many_wait() {
        let mut relay = relay();
        ask(&mut relay, true, "one");
        ask(&mut relay, true, "two");
        let refused = relay.ask(Timestamp(100), (B, Vec::new()), true, "three");
        assert_eq!(refused, Err("three"));
    }
}
