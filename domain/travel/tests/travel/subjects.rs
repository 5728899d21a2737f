//! What requests need of their callers, and which customers they are about.

use turnstile_chassis::{
    Countable, Needed, Needs as _, Right, Served as _, Subject, SubjectOf as _,
};
use turnstile_travel::{
    Command, CustomerId, Desk, Done, Locator, Outcome, Query, Settings, Step, Travel, Xid,
};
use turnstile_trial::check_restored;
use turnstile_types::{Machine, Name, Principal};

use crate::scenery::{Office, add, add_customer, item, query, reserve, trip, within};

fn customer(number: &str) -> Subject {
    Subject::of(Name::parse(number.as_bytes()).unwrap())
}

fn check_command(travel: &Travel, command: &Command, right: Right, subject: Subject) {
    let waits = match command {
        Command::Within { step, .. } => *step != Step::Commit,
        _ => matches!(command, Command::Book { .. } | Command::Cancel { .. }),
    };
    let expected = Needed {
        of_holder: matches!(command, Command::Within { .. } | Command::Abort { .. }),
        opens: *command == Command::Start,
        may_wait: waits,
        ..Needed::only(right)
    };
    let found = (command.needed(), travel.subject_of(command));
    assert_eq!(found, (expected, subject), "{command:?}");
}

fn check_query(travel: &Travel, query: &Query, subject: Subject) {
    let found = (query.needed(), travel.subject_of_query(query));
    assert_eq!(found, (Needed::only(Right::Read), subject), "{query:?}");
}

#[test]
fn a_step_is_about_its_customer_and_stock_is_managed() {
    let travel = Travel::empty();
    let check = |step, right, subject| check_command(&travel, &within(1, step), right, subject);
    check(reserve(7, &["flight-1"]), Right::Use, customer("7"));
    check(add_customer(-7), Right::Use, customer("-7"));
    let seven = CustomerId(7);
    let delete = Step::DeleteCustomer { customer: seven };
    check(delete, Right::Use, customer("7"));
    let bill = Step::QueryCustomer { customer: seven };
    check(bill, Right::Use, customer("7"));
    check(query("flight-1"), Right::Use, Subject::Public);
    let new = Step::AddCustomer { customer: None };
    check(new, Right::Use, Subject::All);
    check(Step::Summary, Right::Use, Subject::All);
    check(Step::Commit, Right::Use, Subject::Unknown);
    check(add("flight-1", 1, 1), Right::Manage, Subject::All);
    let item = item("flight-1");
    check(Step::Delete { item }, Right::Manage, Subject::All);

    check_command(&travel, &Command::Start, Right::Use, Subject::Public);
    let abort = Command::Abort { xid: Xid(1) };
    check_command(&travel, &abort, Right::Use, Subject::Unknown);
    let by_hand = Command::Resolve {
        desk: Desk::Flights,
        xid: Xid(1),
        commit: true,
    };
    let internal = [
        Command::Evict { xid: Xid(1) },
        Command::Recover,
        Command::Configure(Settings::FIRST),
    ];
    for command in internal.into_iter().chain([by_hand]) {
        check_command(&travel, &command, Right::Manage, Subject::All);
    }
}

#[test]
fn an_itinerary_is_about_the_customer_who_has_it() {
    let mut office = Office::new();
    office.committed([add("flight-1", 9, 100), add_customer(7)]);
    let book = Command::Book {
        customer: CustomerId(7),
        trip: trip(&["flight-1"]),
        hold_ms: None,
    };
    check_command(&office.travel, &book, Right::Use, customer("7"));
    let outcome = office.apply(&book);
    let Outcome::Done(Done::Booked { locator, .. }) = outcome else {
        panic!("not booked: {outcome:?}");
    };
    let about = |locator| [Command::Confirm { locator }, Command::Cancel { locator }];
    let look_up = |locator| Query::Itinerary { locator };
    let absent = Locator::parse(b"ZZZZZZ").unwrap();
    for (locator, subject) in [(locator, customer("7")), (absent, Subject::Unknown)] {
        for command in about(locator) {
            check_command(&office.travel, &command, Right::Use, subject.clone());
        }
        check_query(&office.travel, &look_up(locator), subject);
    }
}

#[test]
fn stock_is_public_and_transactions_are_not() {
    let travel = Travel::empty();
    let seven = CustomerId(7);
    check_query(&travel, &Query::Customer { customer: seven }, customer("7"));
    let (after, stage, limit) = (Xid(0), None, 1);
    let all = [
        Query::Transaction { xid: Xid(1) },
        Query::Transactions {
            after,
            stage,
            limit,
        },
    ];
    for query in all {
        check_query(&travel, &query, Subject::All);
    }
    let items = Query::Items {
        desk: Desk::Flights,
        after: None,
        limit,
    };
    for query in [items, Query::Totals] {
        check_query(&travel, &query, Subject::Public);
    }
}

/// The principal of some clients.
fn principal(name: &str) -> Principal {
    Principal(Name::parse(name.as_bytes()).unwrap())
}

#[test]
fn a_transaction_belongs_to_the_principal_that_has_started_it() {
    let mut office = Office::new();
    office.principal = principal("shop");
    let xid = office.start();
    let holder = Some(principal("shop"));
    let held = |names| Subject::Things { names, holder };
    let seven = Some(Name::parse(b"7").unwrap());
    let steps = [
        (Step::Commit, Right::Use, held([None; 2])),
        (query("flight-1"), Right::Use, held([None; 2])),
        (reserve(7, &["flight-1"]), Right::Use, held([seven, None])),
        (
            Step::Summary,
            Right::Use,
            Subject::AllHeldBy(principal("shop")),
        ),
        (
            add("flight-1", 1, 1),
            Right::Manage,
            Subject::AllHeldBy(principal("shop")),
        ),
    ];
    for (step, right, subject) in steps {
        check_command(&office.travel, &within(xid, step), right, subject);
    }
    let abort = Command::Abort { xid: Xid(xid) };
    check_command(&office.travel, &abort, Right::Use, held([None; 2]));
    office.within(xid, Step::Commit);
    check_command(&office.travel, &abort, Right::Use, Subject::Unknown);
    // What nobody has to themselves stays so.
    office.principal = Principal::local();
    let xid = office.start();
    let commit = within(xid, Step::Commit);
    check_command(&office.travel, &commit, Right::Use, Subject::Unknown);
}

/// A trip that waits for a lock is nobody's to abort but a manager's.
#[test]
fn a_transaction_that_is_only_there_for_a_trip_is_the_servers() {
    let mut office = Office::new();
    office.committed([add("flight-1", 9, 100), add_customer(7)]);
    let xid = office.start();
    office.within(xid, reserve(7, &["flight-1"]));
    let book = Command::Book {
        customer: CustomerId(7),
        trip: trip(&["flight-1"]),
        hold_ms: None,
    };
    let waiting = office.apply(&book);
    assert!(matches!(waiting, Outcome::Waiting { .. }), "{waiting:?}");
    let abort = Command::Abort { xid: Xid(xid + 1) };
    let holder = Some(Principal::local());
    let names = [None; 2];
    let subject = Subject::Things { names, holder };
    check_command(&office.travel, &abort, Right::Use, subject);
}

#[test]
fn open_transactions_are_counted_for_the_principal_that_has_started_them() {
    let mut office = Office::new();
    let count = |office: &Office| {
        let principals = [principal("shop"), principal("desk"), Principal::local()];
        let open = |one| office.travel.open_of(&one, Countable::Transactions);
        principals.map(open)
    };
    let starts = ["shop", "desk", "shop", "local", "shop"];
    let xids = starts.map(|name| {
        office.principal = principal(name);
        office.start()
    });
    assert_eq!(count(&office), [3, 1, 1]);
    // One ends by itself, one is ended by somebody else.
    office.within(xids[0], Step::Commit);
    let (abort, evict) = (Xid(xids[1]), Xid(xids[3]));
    office.apply(&Command::Abort { xid: abort });
    office.apply(&Command::Evict { xid: evict });
    assert_eq!(count(&office), [2, 0, 0]);
    office.travel = check_restored(&office.travel);
    assert_eq!(count(&office), [2, 0, 0]);
    // After a restart nothing is open.
    office.apply(&Command::Recover);
    assert_eq!(count(&office), [0; 3]);
    assert_eq!(office.travel.check(), Ok(()));
    assert_eq!(
        office.travel.opens(&Command::Start),
        Some(Countable::Transactions)
    );
    assert_eq!(office.travel.opens(&Command::Abort { xid: Xid(1) }), None);
}
