//! What the simulated clients ask for: a small world, so that they get in each other's way.

mod exchange;
mod rooms;

use turnstile_exchange::Exchange;
use turnstile_rooms::Rooms;
use turnstile_seed::Random;
use turnstile_types::{Machine, Timestamp};

use crate::request::Request;

use self::{exchange::Traders, rooms::Guests};

/// Makes requests to both services, and remembers what was given out.
#[derive(Debug)]
pub(crate) struct Traffic {
    guests: Guests,
    traders: Traders,
}

impl Traffic {
    pub(crate) fn new() -> Self {
        Self {
            guests: Guests::new(),
            traders: Traders::default(),
        }
    }

    /// The requests with which every history begins.
    pub(crate) fn opening() -> Vec<Request<'static>> {
        let rooms = Guests::opening().into_iter().map(Request::Rooms);
        let exchange = Traders::opening().into_iter().map(Request::Exchange);
        rooms.chain(exchange).collect()
    }

    /// One more request, made at `now`.
    pub(crate) fn next(&self, random: &mut Random, now: Timestamp) -> Request<'static> {
        if random.one_in(2) {
            Request::Rooms(self.guests.next(random))
        } else {
            Request::Exchange(self.traders.next(random, now))
        }
    }

    /// Remembers what was given out with an outcome, in the bytes of its service.
    pub(crate) fn note(&mut self, service: u8, outcome: &[u8]) {
        if service == Rooms::SERVICE {
            let outcome = Rooms::decode_outcome(outcome);
            self.guests.note(&outcome.expect("the machine made it"));
        } else {
            let outcome = Exchange::decode_outcome(outcome);
            self.traders.note(&outcome.expect("the machine made it"));
        }
    }
}
