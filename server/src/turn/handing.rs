//! The end of a turn: groups go to the disk, and what they owe goes to those who wait for it.

use std::mem;

use super::{Broken, FastLoop};
use crate::{asked::Waiting, connection::Connection, engine::Step, limits::TURN_REQUESTS};

impl FastLoop {
    /// Sends the groups on their way, and what they owe when they are durable.
    pub(super) fn hand_over(&mut self) -> Result<(), Broken> {
        let has_landed = self.engine.take_landed().map_err(Broken::Commit)?;
        if self.engine.is_under_way() {
            return Ok(());
        }
        if has_landed {
            self.settle_up(Connection::release_sealed);
        }
        // After a landing, those who were answered are about to ask again.
        let is_calm = !has_landed && self.ready.is_empty();
        let is_crowded = self.open.requests >= TURN_REQUESTS;
        match self.engine.step(is_calm || is_crowded) {
            Step::Grow => {}
            Step::Submit => {
                self.seal();
                self.engine.submit().map_err(Broken::Commit)?;
                self.close_group();
                self.looks = 0;
            }
            Step::Commit => {
                self.engine.commit().map_err(Broken::Commit)?;
                self.close_group();
                self.settle_up(Connection::release);
            }
        }
        Ok(())
    }

    /// Marks where the answers of the open group end.
    fn seal(&mut self) {
        for &place in &self.open.places {
            if let Some(connection) = self.connections.get_mut(place) {
                connection.seal();
            }
        }
    }

    /// What the open group owes waits from now on for its landing, with its news.
    fn close_group(&mut self) {
        assert!(
            self.under_way.is_empty(),
            "the group before has its answers"
        );
        mem::swap(&mut self.under_way, &mut self.open);
        let is_followed = self.is_exchange_followed();
        self.engine
            .gather_news(&mut self.under_way.news, is_followed);
    }

    /// Pays what the closed group owes, now that it is durable: answers first, then its news.
    fn settle_up(&mut self, release: fn(&mut Connection)) {
        let mut closed = mem::take(&mut self.under_way);
        for &place in &closed.places {
            if let Some(connection) = self.connections.get_mut(place) {
                release(connection);
            }
        }
        self.send(&mut closed.places);
        if !closed.waiting.is_empty() {
            closed.waiting.drain(..).for_each(Waiting::answer);
            self.inbox.note_answered();
        }
        Self::note_resolved(&closed.news);
        self.answer_late(&closed.news);
        self.publish(&mut closed.news, false);
        closed.requests = 0;
        self.under_way = closed;
    }
}
