//! What travel costs in one process without a disk: `trips`.
//!
//! Prints nanoseconds for each one-shot itinerary over three desks, and for each transaction of
//! nine requests (start, a bill, three times query and reserve, commit) on one desk and on three.

use std::{hint::black_box, time::Instant};

use turnstile_travel::{
    Command, CustomerId, Done, Item, Location, Outcome, Step, Travel, Trip, Xid,
};
use turnstile_types::{Context, Machine, Position, Principal, Timestamp};

/// Customers, flights and locations.
const SIZE: i32 = 200;

const ROUNDS: i32 = 100_000;

struct Office {
    travel: Travel,
    position: u64,
    principal: Principal,
}

impl Office {
    fn apply(&mut self, command: &Command) -> Outcome {
        self.position += 1;
        let context = Context {
            position: Position(self.position),
            now: Timestamp(self.position),
            principal: &self.principal,
        };
        let outcome = self.travel.apply(&context, command);
        self.travel.drain_events(&mut drop);
        outcome
    }

    fn start(&mut self) -> Xid {
        match self.apply(&Command::Start) {
            Outcome::Done(Done::Started { xid }) => xid,
            other => panic!("not started: {other:?}"),
        }
    }

    fn step(&mut self, xid: Xid, step: Step) {
        let outcome = self.apply(&Command::Within { xid, step });
        assert!(matches!(outcome, Outcome::Done(_)), "{outcome:?}");
    }

    fn open() -> Self {
        let mut office = Self {
            travel: Travel::empty(),
            position: 0,
            principal: Principal::local(),
        };
        let xid = office.start();
        for number in 0..SIZE {
            let customer = Some(CustomerId(number));
            office.step(xid, Step::AddCustomer { customer });
            for item in trip(number) {
                let (count, price) = (100_000_000, 100);
                office.step(xid, Step::Add { item, count, price });
            }
        }
        office.step(xid, Step::Commit);
        office
    }

    fn transaction(&mut self, number: i32, items: &[Item]) {
        let customer = CustomerId(number % SIZE);
        let xid = self.start();
        self.step(xid, Step::QueryCustomer { customer });
        for &item in items {
            let trip = Trip::of(item);
            self.step(xid, Step::Query { item });
            self.step(xid, Step::Reserve { customer, trip });
        }
        self.step(xid, Step::Commit);
    }
}

fn trip(number: i32) -> [Item; 3] {
    let number = number % SIZE;
    let town = Location::parse(format!("town{number}").as_bytes()).expect("a town is a location");
    [Item::Flight(number), Item::Car(town), Item::Room(town)]
}

#[expect(
    clippy::disallowed_methods,
    reason = "a measurement needs a clock; the machine has none"
)]
fn measure(name: &str, mut work: impl FnMut(&mut Office, i32)) -> String {
    let mut office = Office::open();
    let since = Instant::now();
    for number in 0..ROUNDS {
        work(black_box(&mut office), number);
    }
    let each = since.elapsed().as_nanos() / u128::from(ROUNDS.unsigned_abs());
    format!("{name}: {each} ns\n")
}

#[expect(clippy::print_stdout, reason = "what it measures is its output")]
fn main() {
    let itinerary = measure("an itinerary over three desks", |office, number| {
        let outcome = office.apply(&Command::Book {
            customer: CustomerId(number % SIZE),
            trip: Trip::new(trip(number).to_vec()).expect("three items are a trip"),
            hold_ms: None,
        });
        assert!(matches!(outcome, Outcome::Done(_)), "{outcome:?}");
    });
    let one = measure("nine requests on one desk", |office, number| {
        let flights = [0, 1, 2].map(|next| Item::Flight((number + next) % SIZE));
        office.transaction(number, &flights);
    });
    let three = measure("nine requests on three desks", |office, number| {
        office.transaction(number, &trip(number));
    });
    print!("{itinerary}{one}{three}");
}
