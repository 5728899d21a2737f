//! How matches begin.

use turnstile_types::Context;

use crate::{
    Change, Done, EventKind, Game, Games, PlayerId, Refusal,
    arena::{Activity, queue::Seeker},
};

impl Games {
    pub(super) fn challenge(
        &mut self,
        context: &Context<'_>,
        players: [PlayerId; 2],
        game: Game,
    ) -> Result<Done, Refusal> {
        self.in_arena()?;
        different(players)?;
        let [player, opponent] = players;
        let numbers = self.arena.known(&players);
        if let [Some(number), Some(other)] = numbers {
            let named = |by: u32, whom: u32| {
                let wanted = Activity::Challenging {
                    opponent: whom,
                    game,
                };
                self.arena.guests.at(by).activity == wanted
            };
            if named(number, other) {
                return Ok(Done::Challenged);
            }
            if named(other, number) {
                self.arena.is_free(number)?;
                self.arena.has_room_for_match()?;
                return Ok(self.start(context, game, [other, number]));
            }
        }
        if let [Some(number), _] = numbers {
            self.arena.is_free(number)?;
        }
        let [number, whom] = self.arena.admit(players, numbers)?;
        self.arena.guests.at_mut(number).activity = Activity::Challenging {
            opponent: whom,
            game,
        };
        self.tell(
            context,
            EventKind::Challenged {
                player,
                opponent,
                game,
            },
        );
        Ok(Done::Challenged)
    }

    pub(super) fn seek(
        &mut self,
        context: &Context<'_>,
        player: PlayerId,
        game: Game,
    ) -> Result<Done, Refusal> {
        self.in_arena()?;
        let known = self.arena.known(&[player]);
        if let [Some(number)] = known {
            if self.arena.guests.at(number).activity == (Activity::Seeking { game }) {
                return Ok(self.waiting_or_begun(context, number));
            }
            self.arena.is_free(number)?;
        }
        self.arena.has_room_for_match()?;
        let [number] = self.arena.admit([player], known)?;
        let guest = self.arena.guests.at_mut(number);
        guest.activity = Activity::Seeking { game };
        let ticket = Seeker {
            player: number,
            rating: guest.rating,
            since: context.now,
        };
        self.arena.queue_mut(game).push(ticket);
        self.tell(context, EventKind::Seeking { player, game });
        self.sweep(context);
        Ok(self.waiting_or_begun(context, number))
    }

    /// What has become of somebody who wants to play.
    fn waiting_or_begun(&self, context: &Context<'_>, number: u32) -> Done {
        match self.arena.guests.at(number).activity {
            Activity::Playing { slot } => Done::Begun(self.arena.view(slot)),
            Activity::Seeking { game } => {
                let ticket = self.arena.ticket(context.now, number, game);
                Done::Seeking(ticket.expect("whoever seeks has a ticket"))
            }
            Activity::Idle | Activity::Challenging { .. } => {
                unreachable!("whoever sought seeks or plays")
            }
        }
    }

    pub(super) fn withdraw(
        &mut self,
        context: &Context<'_>,
        player: &PlayerId,
    ) -> Result<Done, Refusal> {
        self.in_arena()?;
        let number = self.arena.guests.find(player).ok_or(Refusal::NotWaiting)?;
        if !self.stop_waiting(context, number) {
            return Err(Refusal::NotWaiting);
        }
        Ok(Done::Withdrawn)
    }

    /// Waits no longer, and everybody hears of it.
    pub(super) fn stop_waiting(&mut self, context: &Context<'_>, number: u32) -> bool {
        let waited = self.arena.stop_waiting(number);
        if waited {
            let player = self.arena.guests.id(number);
            self.tell(context, EventKind::Withdrawn { player });
        }
        waited
    }

    pub(super) fn begin(
        &mut self,
        context: &Context<'_>,
        game: Game,
        players: [PlayerId; 2],
    ) -> Result<Done, Refusal> {
        self.in_arena()?;
        different(players)?;
        let known = self.arena.known(&players);
        for number in known.into_iter().flatten() {
            self.arena.is_free(number)?;
        }
        self.arena.has_room_for_match()?;
        let seats = self.arena.admit(players, known)?;
        Ok(self.start(context, game, seats))
    }

    /// Begins a match of two who may.
    pub(super) fn start(&mut self, context: &Context<'_>, game: Game, seats: [u32; 2]) -> Done {
        let slot = self.arena.begin(context.now, game, seats);
        self.tell_state(context, slot, Change::Begun);
        Done::Begun(self.arena.view(slot))
    }
}

fn different([one, other]: [PlayerId; 2]) -> Result<(), Refusal> {
    if one == other {
        Err(Refusal::SamePlayer)
    } else {
        Ok(())
    }
}
