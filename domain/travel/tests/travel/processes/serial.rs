//! The same transactions one after the other in one process.

use turnstile_travel::{Answer, CustomerId, Desk, Query, Step, Travel};
use turnstile_types::{Machine, Principal, Timestamp};

use super::clients::{ITEMS, Story};
use crate::scenery::{Office, add, add_customer};

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

pub(super) fn assert_same(seed: u64, stories: &[&Story], desks: &[&Travel]) {
    let mut office = Office::new();
    let stock = ITEMS.iter().map(|item| add(item, 2, 100));
    office.committed(stock.chain([add_customer(0), add_customer(1)]));
    for story in stories {
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
