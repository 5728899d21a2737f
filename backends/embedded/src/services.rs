//! The machines of this server behind their one journal.

use turnstile_exchange::{Exchange, Totals};
use turnstile_games::Games;
use turnstile_rooms::Rooms;
use turnstile_travel::Travel;
use turnstile_types::{
    Context, Effect, Hosts, Machine, Machines, Malformed, Position, Reader, Sink, Timestamp,
    Unapplied, apply_payload, effect_of_bytes, tell_late_outcomes,
};

/// Every service, in the order of their numbers. None sees another.
#[derive(Debug)]
pub struct Services {
    rooms: Rooms,
    exchange: Exchange,
    travel: Travel,
    games: Games,
}

impl Services {
    /// Rooms, and the others as if nothing had ever happened to them.
    #[must_use]
    pub(crate) fn of_rooms(rooms: Rooms) -> Self {
        Self {
            rooms,
            ..Machines::empty()
        }
    }

    #[must_use]
    pub const fn rooms(&self) -> &Rooms {
        &self.rooms
    }

    #[must_use]
    pub const fn exchange(&self) -> &Exchange {
        &self.exchange
    }

    #[must_use]
    pub const fn travel(&self) -> &Travel {
        &self.travel
    }

    #[must_use]
    pub const fn games(&self) -> &Games {
        &self.games
    }
}

impl Machines for Services {
    fn empty() -> Self {
        Self {
            rooms: Machine::empty(),
            exchange: Machine::empty(),
            travel: Machine::empty(),
            games: Machine::empty(),
        }
    }

    fn apply_record(
        &mut self,
        service: u8,
        context: &Context<'_>,
        payload: &[u8],
        outcome: Option<&mut Vec<u8>>,
    ) -> Result<Effect, Unapplied> {
        match service {
            Rooms::SERVICE => apply_payload(&mut self.rooms, context, payload, outcome),
            Exchange::SERVICE => apply_payload(&mut self.exchange, context, payload, outcome),
            Travel::SERVICE => apply_payload(&mut self.travel, context, payload, outcome),
            Games::SERVICE => apply_payload(&mut self.games, context, payload, outcome),
            _ => Err(Unapplied::UnknownService),
        }
    }

    fn effect_of_outcome(service: u8, outcome: &[u8]) -> Result<Effect, Unapplied> {
        match service {
            Rooms::SERVICE => effect_of_bytes::<Rooms>(outcome),
            Exchange::SERVICE => effect_of_bytes::<Exchange>(outcome),
            Travel::SERVICE => effect_of_bytes::<Travel>(outcome),
            Games::SERVICE => effect_of_bytes::<Games>(outcome),
            _ => Err(Unapplied::UnknownService),
        }
    }

    /// Commands of travel only are told to wait.
    fn each_late_outcome(&self, position: Position, take: &mut dyn FnMut(Position, Effect, &[u8])) {
        tell_late_outcomes(&self.travel, position, take);
    }

    fn next_deadline(&self) -> Option<Timestamp> {
        let deadlines = [
            Machine::next_deadline(&self.rooms),
            Machine::next_deadline(&self.exchange),
            Machine::next_deadline(&self.travel),
            Machine::next_deadline(&self.games),
        ];
        deadlines.into_iter().flatten().min()
    }

    fn tick(&mut self, context: &Context<'_>) {
        Machine::tick(&mut self.rooms, context);
        Machine::tick(&mut self.exchange, context);
        Machine::tick(&mut self.travel, context);
        Machine::tick(&mut self.games, context);
    }

    fn forget_events(&mut self) {
        self.rooms.drain_events(&mut drop);
        self.exchange.drain_events(&mut drop);
        self.travel.drain_events(&mut drop);
        self.games.drain_events(&mut drop);
    }

    /// The services one after the other, up to the last to which something has happened, so that
    /// the states of a server that never used the others stay as they were. Rooms are always there.
    fn snapshot(&self, out: &mut dyn Sink) {
        let has_games = !self.games.is_new();
        let has_travel = has_games || !self.travel.is_new();
        Machine::snapshot(&self.rooms, out);
        if has_travel || self.exchange.totals() != Totals::default() {
            Machine::snapshot(&self.exchange, out);
        }
        if has_travel {
            Machine::snapshot(&self.travel, out);
        }
        if has_games {
            Machine::snapshot(&self.games, out);
        }
    }

    fn restore(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(bytes);
        let rooms = Machine::restore_from(&mut reader)?;
        let exchange = restore_if_there(&mut reader)?;
        let travel = restore_if_there(&mut reader)?;
        let games = restore_if_there(&mut reader)?;
        reader.finish("end of the snapshot")?;
        Ok(Self {
            rooms,
            exchange,
            travel,
            games,
        })
    }

    fn check(&self) -> Result<(), Vec<String>> {
        let checked = [
            Machine::check(&self.rooms),
            Machine::check(&self.exchange),
            Machine::check(&self.travel),
            Machine::check(&self.games),
        ];
        let violations: Vec<String> = checked
            .into_iter()
            .filter_map(Result::err)
            .flatten()
            .collect();
        if violations.is_empty() {
            Ok(())
        } else {
            Err(violations)
        }
    }
}

/// The next machine, or an empty one where no more are kept.
fn restore_if_there<M: Machine>(reader: &mut Reader<'_>) -> Result<M, Malformed> {
    if reader.is_empty() {
        return Ok(M::empty());
    }
    M::restore_from(reader)
}

impl Hosts<Rooms> for Services {
    fn machine(&self) -> &Rooms {
        &self.rooms
    }

    fn machine_mut(&mut self) -> &mut Rooms {
        &mut self.rooms
    }
}

impl Hosts<Exchange> for Services {
    fn machine(&self) -> &Exchange {
        &self.exchange
    }

    fn machine_mut(&mut self) -> &mut Exchange {
        &mut self.exchange
    }
}

impl Hosts<Travel> for Services {
    fn machine(&self) -> &Travel {
        &self.travel
    }

    fn machine_mut(&mut self) -> &mut Travel {
        &mut self.travel
    }
}

impl Hosts<Games> for Services {
    fn machine(&self) -> &Games {
        &self.games
    }

    fn machine_mut(&mut self) -> &mut Games {
        &mut self.games
    }
}
