//! The machines of this server behind their one journal.

use turnstile_rooms::Rooms;
use turnstile_types::{
    Context, Hosts, Machine, Machines, Malformed, Reader, Sink, Timestamp, Unapplied, apply_payload,
};

/// Every service, in the order of their numbers. None sees another.
#[derive(Debug)]
pub struct Services {
    rooms: Rooms,
}

impl Services {
    #[must_use]
    pub const fn rooms(&self) -> &Rooms {
        &self.rooms
    }
}

impl Machines for Services {
    fn empty() -> Self {
        Self {
            rooms: Machine::empty(),
        }
    }

    fn apply_record(
        &mut self,
        service: u8,
        context: &Context<'_>,
        payload: &[u8],
        outcome: Option<&mut Vec<u8>>,
    ) -> Result<(), Unapplied> {
        match service {
            Rooms::SERVICE => apply_payload(&mut self.rooms, context, payload, outcome),
            _ => Err(Unapplied::UnknownService),
        }
    }

    fn next_deadline(&self) -> Option<Timestamp> {
        Machine::next_deadline(&self.rooms)
    }

    fn tick(&mut self, context: &Context<'_>) {
        Machine::tick(&mut self.rooms, context);
    }

    fn forget_events(&mut self) {
        self.rooms.drain_events(&mut drop);
    }

    /// The services one after the other. Those after rooms write nothing when nothing has
    /// happened to them, so that the states of a server that never used them stay as they were.
    fn snapshot(&self, out: &mut dyn Sink) {
        Machine::snapshot(&self.rooms, out);
    }

    fn restore(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(bytes);
        let services = Self {
            rooms: Machine::restore_from(&mut reader)?,
        };
        reader.finish("end of the snapshot")?;
        Ok(services)
    }

    fn check(&self) -> Result<(), Vec<String>> {
        Machine::check(&self.rooms)
    }
}

impl Hosts<Rooms> for Services {
    fn machine(&self) -> &Rooms {
        &self.rooms
    }

    fn machine_mut(&mut self) -> &mut Rooms {
        &mut self.rooms
    }
}
