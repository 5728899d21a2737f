//! The line between a coordinator and a desk that live in two processes.

use std::collections::VecDeque;

use crate::{Desk, Report, Request, limits};

/// What travels between two processes, as often as it takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parcel {
    /// The desk from which or to which it goes.
    pub desk: Desk,
    /// The sender's life.
    pub life: u64,
    /// The receiver's life as the sender knows it; 0: not at all.
    pub peer_life: u64,
    /// The number of what it holds, from 1 within both lives; 0 when it holds nothing.
    pub number: u64,
    /// How many of the receiver's parcels the sender has taken, within both lives.
    pub received: u64,
    pub body: Body,
}

/// What is in a parcel, by the direction in which it goes. None: only a greeting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    Request(Option<Request>),
    Report(Option<Report>),
}

impl Parcel {
    /// Whether it must be durable before it is sent: the first of a life always is.
    #[must_use]
    pub fn is_firm(&self) -> bool {
        match &self.body {
            Body::Request(Some(request)) => is_firm(self.number, request),
            Body::Report(Some(report)) => is_firm(self.number, report),
            Body::Request(None) | Body::Report(None) => true,
        }
    }
}

/// What a coordinator or a desk says.
pub(crate) trait Message: Clone {
    /// Whether it must be durable before it is sent.
    fn is_firm(&self) -> bool;
}

fn is_firm(number: u64, message: &impl Message) -> bool {
    number == 1 || message.is_firm()
}

/// One end of the line. What is sent is kept until the peer has taken it; what comes is taken
/// once and in order, whatever the network does.
///
/// A life is a start of a process at this end. Numbers begin anew when either end begins a new
/// life, and what was under way then is forgotten here: those who use the channel know what to
/// say again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Channel<M> {
    pub(crate) life: u64,
    pub(crate) peer_life: u64,
    pub(crate) received: u64,
    pub(crate) sent: u64,
    pub(crate) unacknowledged: VecDeque<M>,
}

/// What is to be done with a parcel that came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// It is late, doubled, ahead of others, or for a life that is over.
    Drop,
    /// It is the next.
    Take,
}

impl<M: Message> Channel<M> {
    pub(crate) const fn new() -> Self {
        Self {
            life: 0,
            peer_life: 0,
            received: 0,
            sent: 0,
            unacknowledged: VecDeque::new(),
        }
    }

    /// Begins a new life of this end.
    pub(crate) fn renew(&mut self) {
        *self = Self {
            life: self.life + 1,
            peer_life: self.peer_life,
            ..Self::new()
        };
    }

    /// Whether the peer was not known to live this life. Then whatever is under way is forgotten,
    /// and what must be said again has to be said again.
    pub(crate) fn meets(&mut self, life: u64) -> bool {
        if life <= self.peer_life {
            return false;
        }
        *self = Self {
            life: self.life,
            peer_life: life,
            ..Self::new()
        };
        true
    }

    /// Puts a message on the line. Says whether its parcel will be firm.
    pub(crate) fn send(&mut self, message: M) -> bool {
        self.sent += 1;
        let firm = is_firm(self.sent, &message);
        self.unacknowledged.push_back(message);
        firm
    }

    pub(crate) fn is_full(&self) -> bool {
        self.unacknowledged.len() >= limits::PARCELS_MAX
    }

    /// Takes note of a parcel's numbers.
    pub(crate) fn arrives(&mut self, parcel: &Parcel) -> Arrival {
        if parcel.life != self.peer_life || parcel.peer_life != self.life {
            return Arrival::Drop;
        }
        while self.first() <= parcel.received && self.unacknowledged.pop_front().is_some() {}
        if parcel.number != self.received + 1 {
            return Arrival::Drop;
        }
        self.received += 1;
        Arrival::Take
    }

    /// The number of the first message that is kept.
    fn first(&self) -> u64 {
        let kept = u64::try_from(self.unacknowledged.len()).expect("a count fits 64 bits");
        self.sent + 1 - kept
    }

    /// What is to be sent after the parcel of this number: 0 for everything that is not
    /// acknowledged.
    pub(crate) fn parcels(
        &self,
        desk: Desk,
        after: u64,
        body: impl Fn(Option<M>) -> Body,
    ) -> impl Iterator<Item = Parcel> {
        let first = self.first().max(after.min(self.sent) + 1);
        let known = usize::try_from(first - self.first()).expect("a count of kept messages");
        let fresh = (first..).zip(self.unacknowledged.iter().skip(known));
        fresh.map(move |(number, message)| self.parcel(desk, number, body(Some(message.clone()))))
    }

    /// A parcel that only tells this end's life and what it has taken.
    pub(crate) const fn parcel(&self, desk: Desk, number: u64, body: Body) -> Parcel {
        Parcel {
            desk,
            life: self.life,
            peer_life: self.peer_life,
            number,
            received: self.received,
            body,
        }
    }
}
