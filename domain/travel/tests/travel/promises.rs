//! What must be durable before anything is told of it, and what need not.

use turnstile_travel::{Command, CustomerId, Done, Outcome, Refusal, Step, Xid};
use turnstile_types::Machine;

use crate::scenery::{Office, add, add_customer, query, reserve, trip, within};

/// An office where something is sold and one transaction, of this number, is open.
fn open_office() -> (Office, u64) {
    let mut office = Office::new();
    office.committed([
        add_customer(1),
        add("flight-1", 3, 100),
        add("car-rome", 1, 10),
    ]);
    let xid = office.start();
    (office, xid)
}

fn book(items: &[&str], hold_ms: Option<u64>) -> Command {
    Command::Book {
        customer: CustomerId(1),
        trip: trip(items),
        hold_ms,
    }
}

/// Whether the command promises something.
fn promises(office: &mut Office, command: &Command) -> bool {
    office.apply(command);
    office.travel.has_promised()
}

#[test]
fn of_an_interactive_transaction_only_the_commit_is_a_promise() {
    let (mut office, xid) = open_office();
    let steps = [
        (query("flight-1"), false),
        (reserve(1, &["flight-1", "car-rome"]), false),
        (reserve(1, &["car-rome"]), false),
        (add("room-rome", 5, 50), false),
        (
            Step::QueryCustomer {
                customer: CustomerId(1),
            },
            false,
        ),
        (Step::AddCustomer { customer: None }, false),
        (Step::Summary, false),
        (Step::Commit, true),
        (Step::Commit, false),
    ];
    for (step, expected) in steps {
        let promised = promises(&mut office, &within(xid, step.clone()));
        assert_eq!(promised, expected, "{step:?}");
    }
}

#[test]
fn starts_aborts_and_what_they_let_go_on_promise_nothing() {
    let (mut office, xid) = open_office();
    assert!(!promises(&mut office, &within(xid, add("flight-1", 1, 0))));
    assert!(!promises(&mut office, &Command::Start));
    assert!(!promises(&mut office, &within(xid + 1, query("flight-1"))));
    office.events();
    assert!(!promises(&mut office, &Command::Abort { xid: Xid(xid) }));
    assert_eq!(office.events().len(), 2, "aborted, and answered late");
}

#[test]
fn who_lets_a_booking_go_on_makes_its_promise() {
    let (mut office, xid) = open_office();
    office.within(xid, query("car-rome"));
    let waits = office.apply(&book(&["car-rome"], None));
    assert!(matches!(waits, Outcome::Waiting { .. }), "{waits:?}");
    assert!(!office.travel.has_promised());
    assert!(promises(&mut office, &Command::Abort { xid: Xid(xid) }));
}

#[test]
fn whatever_may_be_seen_by_all_is_a_promise() {
    let (mut office, _) = open_office();
    let held = office.apply(&book(&["car-rome"], Some(60_000)));
    assert!(office.travel.has_promised(), "{held:?}");
    let Outcome::Done(Done::Booked { locator, .. }) = held else {
        panic!("not held: {held:?}");
    };
    assert!(
        !promises(&mut office, &book(&["car-rome"], None)),
        "sold out"
    );
    assert!(promises(&mut office, &Command::Confirm { locator }));
    assert!(!promises(&mut office, &Command::Confirm { locator }));
    assert!(promises(&mut office, &Command::Cancel { locator }));
    assert!(promises(&mut office, &Command::Recover));
}

/// An itinerary of a customer who was deleted is struck by a refusal.
#[test]
fn a_refusal_that_strikes_an_itinerary_is_a_promise() {
    let (mut office, xid) = open_office();
    let booked = office.apply(&book(&["car-rome"], None));
    let Outcome::Done(Done::Booked { locator, .. }) = booked else {
        panic!("not booked: {booked:?}");
    };
    let customer = CustomerId(1);
    office.within(xid, Step::DeleteCustomer { customer });
    office.within(xid, Step::Commit);
    let cancelled = office.apply(&Command::Cancel { locator });
    assert_eq!(cancelled, Outcome::Refused(Refusal::ItineraryOver));
    assert!(office.travel.has_promised());
}

/// A booking that is refused takes an xid, too. If the first of a block were taken back by a crash, so
/// would be the block, and its next xid would be told twice.
#[test]
fn who_takes_the_first_xid_of_a_block_makes_a_promise_whatever_the_answer() {
    let mut office = Office::new();
    let refused = book(&["flight-1"], None);
    assert!(promises(&mut office, &refused), "xid 1");
    for xid in 2..=1_000 {
        assert!(!promises(&mut office, &refused), "xid {xid}");
    }
    assert!(promises(&mut office, &refused), "xid 1001");
    let started = office.apply(&Command::Start);
    assert_eq!(started, Outcome::Done(Done::Started { xid: Xid(1_002) }));
    assert!(!office.travel.has_promised());
}
