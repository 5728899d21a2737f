//! What simulated travelers ask for.

use turnstile_seed::Random;
use turnstile_travel::{
    Command, CustomerId, Done, Item, Location, Locator, Outcome, Step, Travel, Trip, Xid,
};
use turnstile_types::Timestamp;

use crate::actors::SimulatedClients;

const CUSTOMERS: [CustomerId; 2] = [CustomerId(1), CustomerId(2)];
/// How long a booking is held, in milliseconds.
const HOLD_MS: u64 = 30_000;
/// Transactions that are asked for something: the latest.
const ACTIVE: usize = 4;

/// Makes commands, and remembers what was given out.
#[derive(Debug, Default)]
pub(crate) struct TravelClients {
    xids: Vec<Xid>,
    locators: Vec<Locator>,
}

fn items() -> [Item; 4] {
    let rome = Location::parse(b"rome").expect("a location of the simulated world");
    [
        Item::Flight(1),
        Item::Flight(2),
        Item::Car(rome),
        Item::Room(rome),
    ]
}

/// Few of each, so that they are sold out.
fn add(item: Item) -> Step {
    let (count, price) = (5, 100);
    Step::Add { item, count, price }
}

impl SimulatedClients<Travel> for TravelClients {
    fn opening() -> Vec<Command> {
        let customers = CUSTOMERS.map(|customer| Step::AddCustomer {
            customer: Some(customer),
        });
        let steps = items().map(add).into_iter().chain(customers);
        let within = |step| Command::Within { xid: Xid(1), step };
        let steps = steps.chain([Step::Commit]).map(within);
        [Command::Start].into_iter().chain(steps).collect()
    }

    fn next(&self, random: &mut Random, _now: Timestamp) -> Command {
        match random.below(20) {
            0..=2 => Command::Start,
            3 => Command::Abort {
                xid: self.xid(random),
            },
            4..=5 => Command::Book {
                customer: random.pick(&CUSTOMERS),
                trip: trip(random),
                hold_ms: random.one_in(2).then_some(HOLD_MS),
            },
            6 => Command::Confirm {
                locator: self.locator(random),
            },
            7..=8 => Command::Cancel {
                locator: self.locator(random),
            },
            _ => Command::Within {
                xid: self.xid(random),
                step: step(random),
            },
        }
    }

    fn note(&mut self, outcome: &Outcome) {
        match outcome {
            Outcome::Done(Done::Started { xid }) => self.xids.push(*xid),
            Outcome::Done(Done::Booked { locator, .. }) => self.locators.push(*locator),
            Outcome::Done(_) | Outcome::Refused(_) | Outcome::Waiting { .. } => {}
        }
    }
}

impl TravelClients {
    fn xid(&self, random: &mut Random) -> Xid {
        let latest = self.xids.len().saturating_sub(ACTIVE);
        match self.xids.get(latest..) {
            None | Some([]) => Xid(1),
            Some(active) => random.pick(active),
        }
    }

    fn locator(&self, random: &mut Random) -> Locator {
        match &self.locators[..] {
            [] => Locator::parse(b"AB6X5T").expect("a locator"),
            given => random.pick(given),
        }
    }
}

fn trip(random: &mut Random) -> Trip {
    let count = 1 + random.below(3);
    let items = (0..count).map(|_| random.pick(&items())).collect();
    Trip::new(items).expect("one to three items")
}

fn step(random: &mut Random) -> Step {
    let item = random.pick(&items());
    let customer = random.pick(&CUSTOMERS);
    match random.below(12) {
        0 => add(item),
        1 => Step::Delete { item },
        2 => Step::Query { item },
        3 => Step::AddCustomer {
            customer: random.one_in(2).then_some(customer),
        },
        4 => Step::DeleteCustomer { customer },
        5 => Step::QueryCustomer { customer },
        6 => Step::Summary,
        7..=8 => Step::Reserve {
            customer,
            trip: trip(random),
        },
        _ => Step::Commit,
    }
}
