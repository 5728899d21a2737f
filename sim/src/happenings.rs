//! What happened at each service, oldest first.

use turnstile_embedded::Services;
use turnstile_exchange::Exchange;
use turnstile_rooms::Rooms;
use turnstile_types::{Hosts, Machine, Position};

#[derive(Clone, Debug, Default)]
pub(crate) struct Happenings {
    pub(crate) rooms: Vec<turnstile_rooms::Event>,
    pub(crate) exchange: Vec<turnstile_exchange::Event>,
}

impl Happenings {
    /// Takes what the machines have to tell.
    pub(crate) fn of(services: &mut Services) -> Self {
        let mut events = Self::default();
        let rooms: &mut Rooms = services.machine_mut();
        rooms.drain_events(&mut |event| events.rooms.push(event));
        let exchange: &mut Exchange = services.machine_mut();
        exchange.drain_events(&mut |event| events.exchange.push(event));
        events
    }

    /// Takes what has happened up to the last position.
    pub(crate) fn take_up_to(&mut self, last: Position) -> Self {
        let is_later = |(position, _): (Position, u32)| position > last;
        let mut rooms = self.rooms.iter();
        let rooms = rooms.position(|event| is_later(Rooms::place_of(event)));
        let mut exchange = self.exchange.iter();
        let exchange = exchange.position(|event| is_later(Exchange::place_of(event)));
        let later = Self {
            rooms: self.rooms.split_off(rooms.unwrap_or(self.rooms.len())),
            exchange: self
                .exchange
                .split_off(exchange.unwrap_or(self.exchange.len())),
        };
        std::mem::replace(self, later)
    }

    pub(crate) fn extend(&mut self, later: Self) {
        self.rooms.extend(later.rooms);
        self.exchange.extend(later.exchange);
    }
}
