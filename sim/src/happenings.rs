//! What happened at each service, oldest first.

use turnstile_embedded::Services;
use turnstile_exchange::Exchange;
use turnstile_rooms::Rooms;
use turnstile_types::{Hosts, Machine};

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

    pub(crate) fn extend(&mut self, later: Self) {
        self.rooms.extend(later.rooms);
        self.exchange.extend(later.exchange);
    }
}
