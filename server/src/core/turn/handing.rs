//! The end of a turn: groups go to the disk, and what they owe goes to those who wait for it.

use std::{mem, time::Instant};

use super::{Broken, FastLoop};
use crate::{
    core::{
        asked::Waiting, connection::Connection, conversation::DoorSet, engine::Step, owed::Owed,
    },
    limits::{GROWTH_MIN, GROWTH_PART, TURN_REQUESTS},
};

impl<D: DoorSet> FastLoop<D> {
    /// Sends the groups on their way, and what they owe when they are durable.
    pub(super) fn hand_over(&mut self) -> Result<(), Broken> {
        self.engine.stopwatch.hand_over(&mut self.open.served);
        self.engine.notes.hand_over(&mut self.open.notes);
        let has_landed = self.engine.take_landed().map_err(Broken::Commit)?;
        if self.engine.is_under_way() {
            return Ok(());
        }
        if has_landed {
            self.settle_up(Connection::release_sealed);
        }
        // After a landing, those who were answered are about to ask again. Who waits because others have
        // long queries is not about to join: the group does not wait for them.
        let was_cut = self.engine.time_slice.was_cut();
        let is_calm = !has_landed && (self.ready.is_empty() || was_cut);
        let is_crowded = self.open.requests >= TURN_REQUESTS;
        let grows = self.grows() && !was_cut;
        match self.engine.step(is_calm, is_crowded, grows) {
            Step::Grow => {}
            Step::Release => self.release(),
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

    /// Whether the open group is still worth another look for requests: by the last one it has grown
    /// by a good part. The clients whose answers were just sent ask again while the loop is at work,
    /// and each that joins this group spares the next one some of its write, its sync, and what it
    /// costs to wake those who wait for it.
    const fn grows(&mut self) -> bool {
        let joined = self.open.requests - self.open.looked_at;
        self.open.looked_at = self.open.requests;
        joined >= GROWTH_MIN && joined >= self.open.requests / GROWTH_PART
    }

    /// Pays what the open group owes though it is not durable, for it promises nothing.
    fn release(&mut self) {
        self.engine.release();
        let followed = self.followed();
        self.engine.gather_news(&mut self.open.news, followed);
        let open = mem::take(&mut self.open);
        let open = self.pay(open, Connection::release);
        let later = mem::replace(&mut self.open, open);
        self.open.places.extend(later.places);
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
        let followed = self.followed();
        self.engine.gather_news(&mut self.under_way.news, followed);
    }

    /// Pays what the closed group owes, now that it is durable: answers first, then its news.
    fn settle_up(&mut self, release: fn(&mut Connection<D::Session>)) {
        let closed = mem::take(&mut self.under_way);
        let mut closed = self.pay(closed, release);
        Self::note_resolved(&closed.news);
        self.publish(&mut closed.news, self.kept());
        (closed.requests, closed.looked_at, closed.looked_through) = (0, 0, 0);
        self.under_way = closed;
    }

    /// Gives everybody the answers that a group owes them. This is where all that is said leaves.
    fn pay(&mut self, mut owed: Owed, release: fn(&mut Connection<D::Session>)) -> Owed {
        let durable = (!owed.notes.is_empty()).then(Instant::now);
        for &place in &owed.places {
            if let Some(connection) = self.connections.get_mut(place) {
                release(connection);
            }
        }
        self.engine.fault_points.before_sending();
        // Late answers go first: what else leaves wakes other processes of travel, and they are waited
        // for no more. A process that is to end before it has told its client keeps the other order.
        let is_watched = self.engine.fault_points.is_armed();
        if !is_watched {
            self.tell_late(&mut owed);
        }
        self.send(&mut owed.places);
        if let Some(durable) = durable {
            owed.notes.end_asks(durable);
        }
        if !owed.waiting.is_empty() {
            owed.waiting.drain(..).for_each(Waiting::answer);
            self.inbox.note_answered();
        }
        if is_watched {
            self.tell_late(&mut owed);
        }
        owed.served.end(&self.engine.counters.durations);
        if let Some(durable) = durable {
            let (log, slow_log) = (&self.engine.notes.log, &mut self.engine.slow_log);
            let end_slow = |id, answered| slow_log.end(id, answered);
            owed.notes.end(durable, log, end_slow);
        }
        owed
    }

    /// Gives the late answers that a group owes.
    fn tell_late(&mut self, owed: &mut Owed) {
        let news = owed.news.travel.events.get(owed.looked_through..);
        self.answer_late(news.unwrap_or_default());
        owed.looked_through = owed.news.travel.events.len();
    }
}
