//! What the simulated clients ask for: a small world, so that they get in each other's way.

mod exchange;
mod games;
mod rooms;
mod travel;

use turnstile_exchange::Exchange;
use turnstile_games::Games;
use turnstile_rooms::Rooms;
use turnstile_seed::Random;
use turnstile_travel::Travel;
use turnstile_types::{Machine, Timestamp};

use crate::request::Request;

use self::{exchange::Traders, games::Players, rooms::Guests, travel::Travelers};

/// Makes requests to every service, and remembers what was given out.
#[derive(Debug)]
pub(crate) struct Traffic {
    guests: Guests,
    traders: Traders,
    travelers: Travelers,
    players: Players,
}

impl Traffic {
    pub(crate) fn new() -> Self {
        Self {
            guests: Guests::new(),
            traders: Traders::default(),
            travelers: Travelers::default(),
            players: Players::default(),
        }
    }

    /// The requests with which every history begins.
    pub(crate) fn opening() -> Vec<Request<'static>> {
        let rooms = Guests::opening().into_iter().map(Request::Rooms);
        let exchange = Traders::opening().into_iter().map(Request::Exchange);
        let travel = Travelers::opening().into_iter().map(Request::Travel);
        rooms.chain(exchange).chain(travel).collect()
    }

    /// The request with which every later life begins.
    pub(crate) const fn awakening() -> Request<'static> {
        Request::Travel(turnstile_travel::Command::Recover)
    }

    /// One more request, made at `now`, of this service or of any.
    pub(crate) fn next(
        &self,
        random: &mut Random,
        now: Timestamp,
        service: Option<u8>,
    ) -> Request<'static> {
        let any = [
            Rooms::SERVICE,
            Exchange::SERVICE,
            Travel::SERVICE,
            Games::SERVICE,
        ];
        match service.unwrap_or_else(|| random.pick(&any)) {
            Rooms::SERVICE => Request::Rooms(self.guests.next(random)),
            Exchange::SERVICE => Request::Exchange(self.traders.next(random, now)),
            Games::SERVICE => Request::Games(self.players.next(random)),
            _ => Request::Travel(self.travelers.next(random)),
        }
    }

    /// Remembers what was given out with an outcome, in the bytes of its service.
    pub(crate) fn note(&mut self, service: u8, outcome: &[u8]) {
        match service {
            Rooms::SERVICE => {
                let outcome = Rooms::decode_outcome(outcome);
                self.guests.note(&outcome.expect("the machine made it"));
            }
            Travel::SERVICE => {
                let outcome = Travel::decode_outcome(outcome);
                self.travelers.note(&outcome.expect("the machine made it"));
            }
            Games::SERVICE => {
                let outcome = Games::decode_outcome(outcome);
                self.players.note(&outcome.expect("the machine made it"));
            }
            _ => {
                let outcome = Exchange::decode_outcome(outcome);
                self.traders.note(&outcome.expect("the machine made it"));
            }
        }
    }
}
