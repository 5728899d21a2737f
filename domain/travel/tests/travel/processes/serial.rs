//! The same transactions one after the other in one process.

use std::collections::BTreeMap;

use turnstile_travel::{
    Answer, Command, CustomerId, Desk, Done, Locator, Outcome, Query, Step, Travel, Xid,
};
use turnstile_types::{Machine, Principal, Timestamp};

use super::clients::{ITEMS, OneCommand, Story};
use crate::scenery::{Office, add, add_customer, trip};

fn state(at: impl Fn(Desk) -> Answer, bill: impl Fn(CustomerId) -> Answer) -> Vec<Answer> {
    let items = [Desk::Flights, Desk::Cars, Desk::Rooms].map(at);
    items
        .into_iter()
        .chain((0..3).map(CustomerId).map(bill))
        .collect()
}

fn ask(travel: &Travel, query: &Query) -> Answer {
    travel.query(Timestamp(0), &Principal::local(), query)
}

const fn items(desk: Desk) -> Query {
    Query::Items {
        desk,
        after: None,
        limit: 100,
    }
}

/// Does what was one command; nothing is in its way.
fn do_at_once(
    office: &mut Office,
    booked: &mut BTreeMap<Xid, Locator>,
    (xid, command): (Xid, &OneCommand),
) {
    let command = match command {
        OneCommand::Book { customer, items } => Command::Book {
            customer: *customer,
            trip: trip(items),
            hold_ms: None,
        },
        OneCommand::Cancel { booked: by } => Command::Cancel {
            locator: booked[by],
        },
    };
    match office.apply(&command) {
        Outcome::Done(Done::Booked { locator, .. }) => drop(booked.insert(xid, locator)),
        Outcome::Done(Done::Cancelled) => {}
        other => panic!("{xid}: {command:?} comes to {other:?}"),
    }
}

pub(super) fn assert_same(seed: u64, stories: &[&Story], desks: &[&Travel]) {
    let mut office = Office::new();
    let stock = ITEMS.iter().map(|item| add(item, 2, 100));
    office.committed(stock.chain([add_customer(0), add_customer(1)]));
    let mut booked = BTreeMap::new();
    for story in stories {
        if let Some(command) = &story.command {
            do_at_once(&mut office, &mut booked, (story.xid, command));
            continue;
        }
        let xid = office.start();
        for (step, answer) in &story.steps {
            let outcome = office.within(xid, step.clone());
            assert_eq!(&outcome, answer, "seed {seed}: {step:?} of {}", story.xid);
        }
        office.within(xid, Step::Commit);
    }
    let customer = |customer| Query::Customer { customer };
    let alone = state(
        |desk| ask(&office.travel, &items(desk)),
        |id| ask(&office.travel, &customer(id)),
    );
    let together = state(
        |desk| ask(desks[desk as usize], &items(desk)),
        |id| ask(desks[Desk::Customers as usize], &customer(id)),
    );
    assert_eq!(together, alone, "seed {seed}");
}
