//! What the sessions and the loop tell each other of lines.

use turnstile_parcels::Message;
use turnstile_travel::{Desk, Desks, PerDesk};

/// What a desk is told besides parcels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DeskMessage {
    FaultPoint { mode: u8 },
    Shutdown,
}

/// A fault point on its way to a desk.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dispatched {
    desk: Desk,
    connection: u64,
    number: u64,
}

impl Dispatched {
    pub(crate) const fn desk(self) -> Desk {
        self.desk
    }
}

/// What has become of a fault point that was sent to a desk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// The desk has not said that it has it.
    Open,
    Kept,
    /// The desk has it and cannot keep it over its end.
    Unkept,
    /// The connection ended before the desk said anything.
    Lost,
}

/// The fault points that went over one line.
#[derive(Debug, Default)]
struct FaultPointsSent {
    /// How many connections the line has had.
    connection: u64,
    /// How many were sent on the last of them.
    sent: u64,
    /// What the desk has said of the first of these.
    answers: Vec<bool>,
}

/// Who is on the line, and what is to be said to desks at the end of the turn.
#[derive(Debug, Default)]
pub(crate) struct Switchboard {
    /// The peers that are connected and have said hello, by the desk of their line.
    connected: Desks,
    /// Those whose process has fault points.
    faulty: Desks,
    sent: PerDesk<FaultPointsSent>,
    words: Vec<(Desk, DeskMessage)>,
    /// Why each was refused last, or refuses us, since it was connected.
    refusals: PerDesk<Option<String>>,
}

impl Switchboard {
    pub(crate) const fn is_connected(&self, desk: Desk) -> bool {
        self.connected.contains(desk)
    }

    pub(crate) const fn has_fault_points(&self, desk: Desk) -> bool {
        self.connected.contains(desk) && self.faulty.contains(desk)
    }

    /// The line of a desk is refused; answers whether that is new. It is dialed again and again.
    pub(crate) fn refuse(&mut self, desk: Desk, why: &str) -> bool {
        let last = self.refusals.at_mut(desk);
        let is_new = last.as_deref() != Some(why);
        if is_new {
            *last = Some(why.to_owned());
        }
        is_new
    }

    pub(crate) fn connect(&mut self, desk: Desk, fault_points: bool) {
        self.disconnect(desk);
        self.connected.insert(desk);
        *self.refusals.at_mut(desk) = None;
        if fault_points {
            self.faulty.insert(desk);
        } else {
            self.faulty.remove(desk);
        }
    }

    pub(crate) fn disconnect(&mut self, desk: Desk) {
        self.connected.remove(desk);
        let sent = self.sent.at_mut(desk);
        *sent = FaultPointsSent {
            connection: sent.connection + 1,
            ..FaultPointsSent::default()
        };
    }

    /// Sends a desk that is connected a fault point, before any later parcel.
    pub(crate) fn dispatch(&mut self, desk: Desk, mode: u8) -> Dispatched {
        self.say(desk, DeskMessage::FaultPoint { mode });
        let sent = self.sent.at_mut(desk);
        sent.sent += 1;
        Dispatched {
            desk,
            connection: sent.connection,
            number: sent.sent,
        }
    }

    /// The desk says that it has the next fault point; answers whether one was under way to it.
    pub(crate) fn note_armed(&mut self, desk: Desk, is_kept: bool) -> bool {
        let sent = self.sent.at_mut(desk);
        let known = u64::try_from(sent.answers.len()).expect("a count fits 64 bits");
        let is_expected = known < sent.sent;
        if is_expected {
            sent.answers.push(is_kept);
        }
        is_expected
    }

    pub(crate) fn fate(&self, dispatched: Dispatched) -> Fate {
        let sent = self.sent.at(dispatched.desk);
        if sent.connection != dispatched.connection {
            return Fate::Lost;
        }
        let place = usize::try_from(dispatched.number - 1).expect("a count fits");
        match sent.answers.get(place) {
            None => Fate::Open,
            Some(true) => Fate::Kept,
            Some(false) => Fate::Unkept,
        }
    }

    /// Says something to a desk, if it is connected; before any later parcel.
    pub(crate) fn say(&mut self, desk: Desk, word: DeskMessage) {
        if self.is_connected(desk) {
            self.words.push((desk, word));
        }
    }

    /// Says it to every desk that is connected.
    pub(crate) fn say_to_all(&mut self, word: DeskMessage) {
        for desk in self.connected.iter() {
            self.words.push((desk, word));
        }
    }

    pub(crate) fn take_words(&mut self) -> Vec<(Desk, DeskMessage)> {
        std::mem::take(&mut self.words)
    }
}

impl From<DeskMessage> for Message<'_> {
    fn from(word: DeskMessage) -> Self {
        match word {
            DeskMessage::FaultPoint { mode } => Self::FaultPoint { mode },
            DeskMessage::Shutdown => Self::Shutdown,
        }
    }
}
