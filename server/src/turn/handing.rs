//! The end of a turn: groups go to the disk, and answers to those who asked.

use super::{Broken, FastLoop};
use crate::{
    engine::{Engine, Step},
    limits::TURN_REQUESTS,
    owed::Waiting,
};

impl FastLoop {
    /// Sends the groups on their way, and their answers when they are durable.
    pub(super) fn hand_over(&mut self) -> Result<(), Broken> {
        let has_landed = self.engine.take_landed().map_err(Broken::Commit)?;
        if self.engine.is_under_way() {
            return Ok(());
        }
        if has_landed {
            self.answer_landed();
        }
        // After a landing, those who will now be answered are about to ask again.
        let is_calm = !has_landed && self.ready.is_empty();
        let is_crowded = self.open.requests >= TURN_REQUESTS;
        match self.engine.step(is_calm || is_crowded) {
            Step::Submit => {
                for &place in &self.open.places {
                    if let Some(connection) = self.connections.get_mut(place) {
                        connection.seal();
                    }
                }
                self.engine.submit().map_err(Broken::Commit)?;
                self.under_way = std::mem::take(&mut self.open);
                self.looks = 0;
            }
            Step::Grow => {}
            Step::Commit => {
                self.engine.commit().map_err(Broken::Commit)?;
                self.answer_committed();
            }
        }
        Ok(())
    }

    fn answer_landed(&mut self) {
        let mut landed = std::mem::take(&mut self.under_way);
        for &place in &landed.places {
            if let Some(connection) = self.connections.get_mut(place) {
                connection.release_sealed();
            }
        }
        self.send(&mut landed.places);
        landed.waiting.drain(..).for_each(Waiting::answer);
        self.publish(Engine::drain_landed_events);
    }

    fn answer_committed(&mut self) {
        let mut owed = std::mem::take(&mut self.open);
        for &place in &owed.places {
            if let Some(connection) = self.connections.get_mut(place) {
                connection.release();
            }
        }
        self.send(&mut owed.places);
        owed.waiting.drain(..).for_each(Waiting::answer);
        owed.requests = 0;
        self.open = owed;
        self.publish(Engine::drain_events);
    }
}
