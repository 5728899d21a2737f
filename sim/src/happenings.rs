//! What happened at each service, oldest first.

use turnstile_embedded::Services;
use turnstile_exchange::Exchange;
use turnstile_games::Games;
use turnstile_rooms::Rooms;
use turnstile_travel::{Event, EventKind, Travel};
use turnstile_types::{Hosts, Machine, Position};

#[derive(Clone, Debug, Default)]
pub(crate) struct Happenings {
    pub(crate) rooms: Vec<turnstile_rooms::Event>,
    pub(crate) exchange: Vec<turnstile_exchange::Event>,
    pub(crate) travel: Vec<Event>,
    pub(crate) games: Vec<turnstile_games::Event>,
}

impl Happenings {
    /// Takes what the machines have to tell.
    pub(crate) fn of(services: &mut Services) -> Self {
        let mut events = Self::default();
        let rooms: &mut Rooms = services.machine_mut();
        rooms.drain_events(&mut |event| events.rooms.push(event));
        let exchange: &mut Exchange = services.machine_mut();
        exchange.drain_events(&mut |event| events.exchange.push(event));
        let travel: &mut Travel = services.machine_mut();
        travel.drain_events(&mut |event| events.travel.push(event));
        let games: &mut Games = services.machine_mut();
        games.drain_events(&mut |event| events.games.push(event));
        events
    }

    /// Takes what has happened up to the last position.
    pub(crate) fn take_up_to(&mut self, last: Position) -> Self {
        let later = Self {
            rooms: later::<Rooms>(&mut self.rooms, last),
            exchange: later::<Exchange>(&mut self.exchange, last),
            travel: later::<Travel>(&mut self.travel, last),
            games: later::<Games>(&mut self.games, last),
        };
        std::mem::replace(self, later)
    }

    /// How many answers were given late.
    pub(crate) fn late_answers(&self) -> u64 {
        let is_answer = |event: &&Event| matches!(event.kind, EventKind::Answered { .. });
        let answers = self.travel.iter().filter(is_answer).count();
        u64::try_from(answers).expect("a few answers")
    }

    pub(crate) fn extend(&mut self, later: Self) {
        self.rooms.extend(later.rooms);
        self.exchange.extend(later.exchange);
        self.travel.extend(later.travel);
        self.games.extend(later.games);
    }
}

/// Takes what happened after the last position.
fn later<M: Machine>(events: &mut Vec<M::Event>, last: Position) -> Vec<M::Event> {
    let at = events.partition_point(|event| M::place_of(event).0 <= last);
    events.split_off(at)
}
