//! What the sessions and the loop tell each other of lines.

use turnstile_parcels::Message;
use turnstile_travel::{Desk, Desks, PerDesk};

/// What a desk is told besides parcels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    FaultPoint { mode: u8 },
    Shutdown,
}

/// Who is on the line, and what is to be said to desks at the end of the turn.
#[derive(Debug, Default)]
pub(crate) struct Switchboard {
    /// The peers that are connected and have said hello, by the desk of their line.
    connected: Desks,
    /// Those whose process has fault points.
    faulty: Desks,
    words: Vec<(Desk, Word)>,
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
        self.connected.insert(desk);
        *self.refusals.at_mut(desk) = None;
        if fault_points {
            self.faulty.insert(desk);
        } else {
            self.faulty.remove(desk);
        }
    }

    pub(crate) const fn disconnect(&mut self, desk: Desk) {
        self.connected.remove(desk);
    }

    /// Says something to a desk, if it is connected; before any later parcel.
    pub(crate) fn say(&mut self, desk: Desk, word: Word) {
        if self.is_connected(desk) {
            self.words.push((desk, word));
        }
    }

    /// Says it to every desk that is connected.
    pub(crate) fn say_to_all(&mut self, word: Word) {
        for desk in self.connected.iter() {
            self.words.push((desk, word));
        }
    }

    pub(crate) fn take_words(&mut self) -> Vec<(Desk, Word)> {
        std::mem::take(&mut self.words)
    }
}

impl From<Word> for Message<'_> {
    fn from(word: Word) -> Self {
        match word {
            Word::FaultPoint { mode } => Self::FaultPoint { mode },
            Word::Shutdown => Self::Shutdown,
        }
    }
}
