//! Something played event by event, up to a crash or to a state.

use turnstile_travel::{Command, CustomerId, Outcome, Step, TransactionState, Xid, limits};
use turnstile_types::Machine;

use super::World;
use crate::processes::{clients::Waits, node::Node};

/// What is played event by event.
pub(in crate::processes) enum Play {
    /// The steps of a transaction, after its start.
    Steps(Vec<Step>),
    /// A trip in one command.
    Booking(&'static [&'static str]),
}

impl World {
    /// Plays something event by event: whatever arrives is taken at once, and the disk is
    /// waited for only where it must be. Before the event of this number a process crashes, and
    /// the client gives up. Says whether there were so many events.
    pub(in crate::processes) fn play_to_crash(
        &mut self,
        play: &Play,
        (event, node, kept): (usize, usize, bool),
    ) -> bool {
        let mut done = 0;
        for _ in 0..event {
            if !self.play_one(play, &mut done) {
                return false;
            }
        }
        let kept = |unsynced| if kept { unsynced } else { 0 };
        let last = self.nodes[node].crash(self.now, kept);
        if node == 0 {
            self.bookings.lose_after(last);
        }
        self.stories.extend(self.clients[0].hang_up());
        true
    }

    /// Plays the next event. Says whether there was one.
    fn play_one(&mut self, play: &Play, done: &mut usize) -> bool {
        self.moment += 1;
        if !self.network.is_empty() {
            let parcel = self.network.remove(0);
            let to = self.receiver(&parcel);
            self.nodes[to].apply(self.now, &Command::Deliver(parcel));
            self.flush(to);
        } else if let Some(waiting) = self.nodes.iter().position(Node::must_sync) {
            self.nodes[waiting].sync();
            self.flush(waiting);
        } else if self.clients[0].waits != Waits::Nothing || !self.bookings.are_told() {
            panic!("nothing happens any more");
        } else if self.ask_next(play, *done) {
            *done += 1;
        } else if !self.hurry() {
            return false;
        }
        self.bookings.look(&self.nodes[0].events, self.moment);
        true
    }

    /// Plays a booking until its transaction is in this state for the coordinator, with everything that
    /// must not wait said and nothing else.
    pub(in crate::processes) fn book_until(
        &mut self,
        items: &'static [&'static str],
        state: TransactionState,
    ) {
        let (play, mut done) = (Play::Booking(items), 0);
        while self.view(0, Xid(2)).is_none_or(|view| view.state != state) {
            assert!(self.play_one(&play, &mut done), "never {state:?}");
        }
    }

    /// What was told to those who booked.
    pub(in crate::processes) fn told_to_bookers(&self) -> Vec<Option<&Outcome>> {
        self.bookings.told()
    }

    /// How often a booking was decided that had been decided before a crash.
    pub(in crate::processes) fn found_again(&self) -> usize {
        self.bookings.found_again
    }

    /// Lets the time come for what somebody keeps back. Says whether there was something.
    fn hurry(&mut self) -> bool {
        let due = |node: &Node| Machine::next_deadline(&node.travel).map(|due| due.0);
        let soon = self.now + limits::POSTPONED_MS;
        let waiting = self.nodes.iter().filter_map(due).filter(|due| *due <= soon);
        let Some(due) = waiting.min() else {
            return false;
        };
        self.now = due;
        for node in 0..self.nodes.len() {
            self.nodes[node].tick(due);
            self.flush(node);
        }
        true
    }

    /// Asks for the next of what is played, after so many. Says whether there was something.
    fn ask_next(&mut self, play: &Play, done: usize) -> bool {
        let position = self.nodes[0].position() + 1;
        match play {
            Play::Booking(items) if done == 0 => self.book_for(CustomerId(0), items.to_vec()),
            Play::Steps(_) if done == 0 => self.ask_for(0, Step::Commit, position),
            Play::Steps(steps) if done <= steps.len() => {
                self.ask_for(0, steps[done - 1].clone(), position);
            }
            Play::Booking(_) | Play::Steps(_) => return false,
        }
        true
    }
}
