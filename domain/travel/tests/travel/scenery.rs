//! Names, trips and commands, as tests write them, and a machine to give them to.

use turnstile_travel::{
    Command, CustomerId, Done, Event, Item, Location, Outcome, Step, Travel, Trip, Xid,
};
use turnstile_types::{Context, Machine, Position, Principal, Timestamp};

/// 2027-01-01T00:00:00Z
pub(crate) const NEW_YEAR: u64 = 1_798_761_600_000;

/// `flight-1`, `car-montreal`, `room-montreal`
pub(crate) fn item(text: &str) -> Item {
    let (kind, rest) = text.split_once('-').unwrap();
    let location = || Location::parse(rest.as_bytes()).unwrap();
    match kind {
        "flight" => Item::Flight(rest.parse().unwrap()),
        "car" => Item::Car(location()),
        "room" => Item::Room(location()),
        other => panic!("no item: {other}"),
    }
}

pub(crate) fn trip(items: &[&str]) -> Trip {
    Trip::new(items.iter().map(|text| item(text)).collect()).unwrap()
}

pub(crate) const fn within(xid: u64, step: Step) -> Command {
    let xid = Xid(xid);
    Command::Within { xid, step }
}

pub(crate) fn add(text: &str, count: u32, price: u32) -> Step {
    let item = item(text);
    Step::Add { item, count, price }
}

pub(crate) fn query(text: &str) -> Step {
    Step::Query { item: item(text) }
}

pub(crate) fn reserve(customer: i32, items: &[&str]) -> Step {
    Step::Reserve {
        customer: CustomerId(customer),
        trip: trip(items),
    }
}

pub(crate) const fn add_customer(customer: i32) -> Step {
    let customer = Some(CustomerId(customer));
    Step::AddCustomer { customer }
}

/// A machine, and the time on it.
pub(crate) struct Office {
    pub(crate) travel: Travel,
    pub(crate) position: u64,
    pub(crate) now: u64,
    pub(crate) principal: Principal,
}

impl Office {
    pub(crate) fn new() -> Self {
        Self {
            travel: Travel::empty(),
            position: 0,
            now: NEW_YEAR,
            principal: Principal::local(),
        }
    }

    pub(crate) fn apply(&mut self, command: &Command) -> Outcome {
        self.position += 1;
        let context = Context {
            position: Position(self.position),
            now: Timestamp(self.now),
            principal: &self.principal,
        };
        let mut bytes = Vec::new();
        Travel::encode_command(command, &mut bytes);
        assert_eq!(Travel::decode_command(&bytes).as_ref(), Ok(command));
        let outcome = self.travel.apply(&context, command);
        let mut bytes = Vec::new();
        Travel::encode_outcome(&outcome, &mut bytes);
        assert_eq!(Travel::decode_outcome(&bytes).as_ref(), Ok(&outcome));
        outcome
    }

    pub(crate) fn within(&mut self, xid: u64, step: Step) -> Outcome {
        self.apply(&within(xid, step))
    }

    pub(crate) fn start(&mut self) -> u64 {
        match self.apply(&Command::Start) {
            Outcome::Done(Done::Started { xid }) => xid.0,
            other => panic!("not started: {other:?}"),
        }
    }

    /// Does steps in a transaction of their own.
    pub(crate) fn committed(&mut self, steps: impl IntoIterator<Item = Step>) {
        let xid = self.start();
        for step in steps {
            let outcome = self.within(xid, step);
            assert!(matches!(outcome, Outcome::Done(_)), "{outcome:?}");
        }
        assert_eq!(
            self.within(xid, Step::Commit),
            Outcome::Done(Done::Committed)
        );
    }

    /// Lets time pass, and what is due then happen.
    pub(crate) fn pass(&mut self, ms: u64) {
        let until = self.now + ms;
        while let Some(deadline) = Machine::next_deadline(&self.travel) {
            if deadline.0 > until {
                break;
            }
            self.now = self.now.max(deadline.0);
            self.position += 1;
            let context = Context {
                position: Position(self.position),
                now: Timestamp(self.now),
                principal: &self.principal,
            };
            Machine::tick(&mut self.travel, &context);
        }
        self.now = until;
    }

    pub(crate) fn events(&mut self) -> Vec<Event> {
        let mut events = Vec::new();
        self.travel.drain_events(&mut |event| events.push(event));
        events
    }
}

pub(crate) fn bytes_of(travel: &Travel) -> Vec<u8> {
    let mut bytes = Vec::new();
    Machine::snapshot(travel, &mut bytes);
    bytes
}
