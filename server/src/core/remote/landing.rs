//! Answers that have come from where requests are decided.

use turnstile_chassis::Cursor;
use turnstile_contract::{Failure, Reply, Request, Service};
use turnstile_types::{PartitionNumber, Position};

use super::{Commander, Housed, Questioner, RequestOrigin};
use crate::{
    core::{gate::Undecided, request_log::SentNotes},
    counters::TimedRequests,
    registry::Registered,
};

/// What a database has answered.
pub(crate) enum Landing<M: Service> {
    Commands(Vec<Decided<M>>, Commander<M>),
    Queries(Vec<Result<M::Answer, Failure>>, Questioner<M>),
}

impl<M: Service> Landing<M> {
    /// Whether somebody at the gate waits for it.
    pub(crate) const fn is_asked(&self) -> bool {
        self.connection().is_none()
    }

    /// The connection that asked, and its client.
    pub(crate) const fn connection(&self) -> Option<(usize, u64)> {
        match self {
            Self::Commands(_, caller) => caller.who.connection(),
            Self::Queries(_, caller) => caller.who.connection(),
        }
    }

    /// Answers whoever asked at the gate, if anybody did.
    pub(crate) fn answer(self) {
        match self {
            Self::Commands(decided, caller) => {
                if let RequestOrigin::Asked(reply) = caller.who {
                    let result = decided.into_iter().next().map(|(_, result)| result);
                    let result = result.expect("who asks at the gate asks for one command");
                    drop(reply.send(result.map_err(Undecided::Backend)));
                }
            }
            Self::Queries(answers, caller) => {
                if let RequestOrigin::Asked((reply, position)) = caller.who {
                    let answer = answers.into_iter().next();
                    let answer = answer.expect("who asks at the gate asks one query");
                    let answer = answer.map_err(Undecided::Backend);
                    drop(reply.send(answer.map(|answer| (position, answer))));
                }
            }
        }
    }

    /// The partition that was asked.
    pub(crate) const fn partition(&self) -> PartitionNumber {
        match self {
            Self::Commands(_, caller) => caller.partition,
            Self::Queries(_, caller) => caller.partition,
        }
    }

    pub(super) const fn gathering(&self) -> Option<u64> {
        match self {
            Self::Commands(_, caller) => caller.who.gathering(),
            Self::Queries(_, caller) => caller.who.gathering(),
        }
    }

    /// What is to be said about the requests that it answers.
    pub(crate) fn take_noted(&mut self) -> Option<Box<SentNotes>> {
        match self {
            Self::Commands(_, caller) => caller.noted.take(),
            Self::Queries(_, caller) => caller.noted.take(),
        }
    }

    /// What came of its requests: a word, and the position of a command.
    pub(crate) fn outcomes(&self) -> Vec<(&'static str, Option<Position>)>
    where
        M: Registered,
    {
        match self {
            Self::Commands(decided, _) => {
                let results = decided.iter().map(|(_, result)| result.as_ref());
                let word = |reply: &Reply<M>| {
                    let word = M::OUTCOMES.get(M::outcome_place(&reply.outcome));
                    (word.copied().unwrap_or_default(), Some(reply.position))
                };
                let outcomes = results
                    .map(|result| result.map_or_else(|failure| (failure.code(), None), word));
                outcomes.collect()
            }
            Self::Queries(answers, _) => {
                let word = |answer: &Result<_, Failure>| match answer {
                    Ok(_) => "ok",
                    Err(failure) => failure.code(),
                };
                answers.iter().map(|answer| (word(answer), None)).collect()
            }
        }
    }

    /// The requests that it answers.
    pub(crate) const fn timed(&self) -> &TimedRequests {
        match self {
            Self::Commands(_, caller) => &caller.timed,
            Self::Queries(_, caller) => &caller.timed,
        }
    }
}

impl<M: Housed> Landing<M> {
    /// Adds the answer of another partition to the same query.
    pub(super) fn add(&mut self, part: Self) {
        let (Self::Queries(sum, _), Self::Queries(parts, _)) = (self, part) else {
            return;
        };
        if sum.is_empty() {
            *sum = parts;
            return;
        }
        for (sum, part) in sum.iter_mut().zip(parts) {
            match (&mut *sum, part) {
                (Ok(sum), Ok(part)) => M::add_answer(sum, &part),
                (Ok(_), Err(failure)) => *sum = Err(failure),
                (Err(_), _) => {}
            }
        }
    }

    /// Has the answers to pages say where the next page begins over so many partitions: behind the last
    /// page of one begins the next.
    pub(crate) fn turn_pages(&mut self, count: u8) {
        let Self::Queries(answers, caller) = self else {
            return;
        };
        if !caller.is_page {
            return;
        }
        let here = caller.partition;
        let after = PartitionNumber::new(here.get() + 1).filter(|after| after.get() < count);
        for answer in answers.iter_mut().flatten() {
            if let Some(next) = M::next_of(answer) {
                *next = match *next {
                    Some(inside) => Some(Cursor::within(here, Some(inside))),
                    None => after.map(|after| Cursor::within(after, None)),
                };
            }
        }
    }
}

/// A command, and what the database made of it.
pub(crate) type Decided<M> = (Request, Result<Reply<M>, Failure>);
