//! The message channel between a coordinator and a desk in another process.

use std::collections::VecDeque;

use turnstile_chassis::Bytes;
use turnstile_types::Timestamp;

use crate::{Desk, Report, Request, limits, message::Message};

/// What travels between two processes, as often as it takes.
#[derive(Clone, Debug, PartialEq, Eq, Bytes)]
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
#[derive(Clone, Debug, PartialEq, Eq, Bytes)]
pub enum Body {
    #[byte(0x01)]
    Request(Option<Request>),
    #[byte(0x02)]
    Report(Option<Report>),
}

impl Parcel {
    /// Whether it must not be sent before the open group is durable. What a desk reports need not
    /// wait for the promises of others: if a crash takes their group, it takes this desk's life, and
    /// with it the transaction of which it reports. A request may be about an xid that such a group
    /// promises.
    #[must_use]
    pub fn waits_for_its_group(&self) -> bool {
        self.is_firm() || matches!(self.body, Body::Request(_))
    }

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

fn is_firm(number: u64, message: &impl Message) -> bool {
    number == 1 || message.is_firm()
}

/// One end of the line. What is sent is kept until the peer has taken it; what comes is taken
/// once and in order, whatever the network does.
///
/// A life is a start of a process at this end. Numbers begin anew when either end begins a new
/// life, and what was under way then is forgotten here: those who use the channel know what to
/// say again.
#[derive(Clone, Debug, PartialEq, Eq, Bytes)]
pub(crate) struct Channel<M> {
    pub(crate) life: u64,
    pub(crate) peer_life: u64,
    pub(crate) received: u64,
    pub(crate) sent: u64,
    pub(crate) unacknowledged: VecDeque<M>,
    /// What nobody waits for: it goes with the next firm message, and so with a sync that is needed
    /// anyway.
    pub(crate) postponed: Vec<M>,
    /// When it goes at the latest, if there is something.
    pub(crate) due: Option<Timestamp>,
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
            postponed: Vec::new(),
            due: None,
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

    /// Puts a message on the line, and what was postponed behind a firm one. Says whether its parcel
    /// will be firm.
    pub(crate) fn send(&mut self, message: M) -> bool {
        let firm = is_firm(self.sent + 1, &message);
        self.put(message);
        if firm {
            self.hurry();
        }
        firm
    }

    /// Keeps a message until a firm one goes, until that instant, or until there are too many. Says
    /// whether something firm goes now.
    pub(crate) fn postpone(&mut self, message: M, due: Timestamp) -> bool {
        self.postponed.push(message);
        self.due.get_or_insert(due);
        self.postponed.len() >= limits::POSTPONED_MAX && self.hurry()
    }

    /// Puts on the line what was postponed. Says whether a parcel of it will be firm.
    pub(crate) fn hurry(&mut self) -> bool {
        self.due = None;
        let mut firm = false;
        for message in std::mem::take(&mut self.postponed) {
            firm |= is_firm(self.sent + 1, &message);
            self.put(message);
        }
        firm
    }

    fn put(&mut self, message: M) {
        self.sent += 1;
        self.unacknowledged.push_back(message);
    }

    /// Whether everything that was to be said has been taken.
    pub(crate) fn is_at_rest(&self) -> bool {
        self.unacknowledged.is_empty() && self.postponed.is_empty()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Say, Vote, Xid};

    const DUE: Timestamp = Timestamp(100);

    fn report(xid: u64, say: Say) -> Report {
        Report { xid: Xid(xid), say }
    }

    fn ended(xid: u64) -> Report {
        report(xid, Say::Ended { committed: true })
    }

    /// A line in use, on which this many reports are postponed.
    fn postponing(count: u64) -> Channel<Report> {
        let mut line = Channel::new();
        line.send(report(0, Say::Gone));
        for xid in 1..=count {
            assert!(!line.postpone(ended(xid), Timestamp(DUE.0 + xid - 1)));
        }
        line
    }

    /// The transactions of which the line says something, in order.
    fn said(line: &Channel<Report>) -> Vec<u64> {
        let said = line.unacknowledged.iter();
        said.map(|report| report.xid.0).collect()
    }

    #[test]
    fn what_is_postponed_goes_behind_the_next_firm_message_only() {
        let mut line = postponing(2);
        assert!(!line.send(report(8, Say::Gone)));
        assert_eq!((said(&line), line.due), (vec![0, 8], Some(DUE)));
        assert!(line.send(report(9, Say::Voted(Vote::Yes))));
        assert_eq!((said(&line), line.due), (vec![0, 8, 9, 1, 2], None));
    }

    #[test]
    fn what_is_postponed_goes_when_there_is_too_much_of_it_and_when_it_is_hurried() {
        let last = u64::try_from(limits::POSTPONED_MAX).unwrap();
        let mut line = postponing(last - 1);
        assert!(!line.is_at_rest());
        assert!(line.postpone(ended(last), DUE));
        assert_eq!(said(&line), (0..=last).collect::<Vec<_>>());
        let mut line = postponing(1);
        assert!(line.hurry());
        assert_eq!((said(&line), line.due), (vec![0, 1], None));
        assert!(!line.hurry(), "nothing is left");
    }

    #[test]
    fn a_new_life_forgets_what_was_postponed() {
        let mut line = postponing(1);
        assert!(line.meets(1));
        assert_eq!((line.is_at_rest(), line.due), (true, None));
        let mut line = postponing(1);
        line.renew();
        assert_eq!((line.is_at_rest(), line.due), (true, None));
    }
}
