//! Presence of players, as the doors report it.

use turnstile_types::Context;

use crate::{
    Change, Done, Games, PlayerId, Refusal,
    arena::{Activity, Presence},
};

impl Games {
    pub(super) fn connect(
        &mut self,
        context: &Context<'_>,
        player: PlayerId,
    ) -> Result<Done, Refusal> {
        self.in_arena()?;
        let known = self.arena.known(&[player]);
        let [number] = self.arena.admit([player], known)?;
        let Activity::Playing { slot } = self.arena.guests.at(number).activity else {
            self.arena.guests.at_mut(number).presence = Presence::Here;
            return Ok(Done::Connected(None));
        };
        self.come_back(context, slot, number);
        self.arena.guests.at_mut(number).presence = Presence::Here;
        Ok(Done::Connected(Some(self.arena.view(slot))))
    }

    /// Ends an absence from a match, if there is one.
    pub(super) fn come_back(&mut self, context: &Context<'_>, slot: u32, number: u32) {
        if self.arena.end_absence(number, Presence::Here) {
            let seat = self.arena.matches.at(slot).seat_of(number);
            let seat = seat.expect("who left a match has a seat in it");
            self.tell_change(context, slot, Change::Returned { seat });
        }
    }

    pub(super) fn disconnect(
        &mut self,
        context: &Context<'_>,
        player: &PlayerId,
    ) -> Result<Done, Refusal> {
        self.in_arena()?;
        if let Some(number) = self.arena.guests.find(player) {
            self.lose(context, number);
        }
        Ok(Done::Disconnected)
    }

    pub(super) fn restarted(&mut self, context: &Context<'_>) -> Result<Done, Refusal> {
        self.in_arena()?;
        for number in 0..self.arena.guests.len() {
            if self.arena.guests.at(number).presence == Presence::Here {
                self.lose(context, number);
            }
        }
        Ok(Done::Restarted)
    }

    /// A player's connection is gone: whoever plays has a while to come back, whoever waits waits
    /// no longer.
    fn lose(&mut self, context: &Context<'_>, number: u32) {
        let guest = self.arena.guests.at(number);
        if matches!(guest.presence, Presence::Away { .. }) {
            return;
        }
        if let Activity::Playing { slot } = guest.activity {
            self.arena.leave(number, context.now);
            let seat = self.arena.matches.at(slot).seat_of(number);
            let seat = seat.expect("who plays has a seat");
            self.tell_change(context, slot, Change::Left { seat });
        } else {
            self.stop_waiting(context, number);
            self.arena.guests.at_mut(number).presence = Presence::Unknown;
        }
    }
}
