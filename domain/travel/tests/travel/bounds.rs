//! What has an end however much there is.

use turnstile_travel::{
    Answer, Bill, BillLine, Body, Command, CustomerId, Desk, Desks, Done, EventKind, Finding,
    LateAnswer, Outcome, Parcel, Query, Refusal, Report, Say, Settings, Stage, Step, Stock, Travel,
    TravelRoles, Xid, limits,
};
use turnstile_types::{Machine, Position, Principal, Timestamp};

use crate::scenery::{Office, add, bytes_of, item, query, within};

/// A middleware whose desk of customers says what it is told to.
struct Middleware {
    office: Office,
    reports: u64,
}

impl Middleware {
    fn new() -> Self {
        let mut office = Office::new();
        let roles = TravelRoles {
            coordinator: true,
            desks: Desks::NONE,
        };
        office.apply(&Command::Configure(Settings {
            roles,
            ..Settings::FIRST
        }));
        let mut middleware = Self { office, reports: 0 };
        middleware.hears(None);
        middleware.office.start();
        middleware
    }

    /// The desk reports something, or only greets.
    fn hears(&mut self, report: Option<Report>) {
        let peer_life = self.office.travel.greeting(Desk::Customers).life;
        self.office.apply(&Command::Deliver(Parcel {
            desk: Desk::Customers,
            life: 1,
            peer_life,
            number: self.reports,
            received: 0,
            body: Body::Report(report),
        }));
    }

    /// The desk answers with a part of a summary that has so many lines.
    fn hears_bills(&mut self, lines: usize, more: bool) {
        self.reports += 1;
        let item = item("flight-1");
        let line = BillLine {
            item,
            count: 1,
            price: 0,
        };
        let bill = Bill {
            customer: CustomerId(i32::try_from(self.reports).unwrap()),
            lines: vec![line; lines - 1],
        };
        let finding = Finding::Bills {
            bills: vec![bill],
            more,
        };
        let report = Report {
            xid: Xid(1),
            say: Say::Found(finding),
        };
        self.hears(Some(report));
    }

    /// What a summary comes to that has so many lines in parts of a thousand, and then some.
    fn sums_up(&mut self, more: usize) -> Vec<EventKind> {
        self.office.events();
        self.office.apply(&within(1, Step::Summary));
        for _ in 1..limits::SUMMARY_LINES_MAX / 1_000 {
            self.hears_bills(1_000, true);
        }
        self.hears_bills(1_000 + more, false);
        let events = self.office.events().into_iter();
        events.map(|event| event.kind).collect()
    }
}

#[test]
fn a_summary_of_more_lines_than_one_answer_has_is_refused_and_the_transaction_goes_on() {
    let mut middleware = Middleware::new();
    let outcome = |mut told: Vec<EventKind>| match told.pop() {
        Some(EventKind::Answered { outcome, .. }) => outcome,
        other => panic!("no answer: {other:?}"),
    };
    let limit = u32::try_from(limits::SUMMARY_LINES_MAX).unwrap();
    let refused = Outcome::Refused(Refusal::SummaryTooLong { limit });
    assert_eq!(outcome(middleware.sums_up(1)), refused);
    let fits = outcome(middleware.sums_up(0));
    assert!(matches!(fits, Outcome::Done(Done::Summary(_))), "refused");
}

/// The transactions of a stage that are listed.
fn listed(office: &Office, stage: Stage) -> Vec<u64> {
    let transactions = Query::Transactions {
        after: Xid(0),
        stage: Some(stage),
        limit: 10,
    };
    let principal = Principal::local();
    match office.travel.query(Timestamp(0), &principal, &transactions) {
        Answer::Transactions { transactions, .. } => {
            transactions.iter().map(|view| view.xid.0).collect()
        }
        other => panic!("another answer: {other:?}"),
    }
}

#[test]
fn who_waits_among_many_is_listed_until_it_waits_no_more() {
    let mut office = Office::new();
    office.committed([add("flight-1", 9, 100)]);
    let writer = office.start();
    office.within(writer, add("flight-1", 1, 0));
    let idle: Vec<u64> = (0..3).map(|_| office.start()).collect();
    let waiters = [office.start(), office.start()];
    for waiter in waiters {
        office.within(waiter, query("flight-1"));
    }
    assert_eq!(listed(&office, Stage::Waiting), waiters);
    let active: Vec<u64> = [&[writer][..], &idle].concat();
    assert_eq!(listed(&office, Stage::Active), active);
    office.within(writer, Step::Commit);
    assert_eq!(listed(&office, Stage::Waiting), [0_u64; 0]);
    assert_eq!(
        listed(&office, Stage::Active),
        [&idle[..], &waiters].concat()
    );
    assert_eq!(listed(&office, Stage::Prepared), [0_u64; 0]);
}

/// It used to be looked for among all that is open, at whoever's request and as often as it was asked for.
#[test]
fn a_late_answer_is_pending_from_the_word_that_it_waits_to_the_answer_also_after_a_restart() {
    let mut office = Office::new();
    office.committed([add("flight-1", 9, 100)]);
    let writer = office.start();
    office.within(writer, add("flight-1", 1, 0));
    let reader = office.start();
    let waits = office.within(reader, query("flight-1"));
    let Outcome::Waiting { ticket } = waits else {
        panic!("it does not wait: {waits:?}");
    };
    let answered = Travel::late_answer;
    let restored = Travel::restore(&bytes_of(&office.travel)).unwrap();
    for travel in [&office.travel, &restored] {
        assert_eq!(answered(travel, ticket), LateAnswer::Pending);
        assert_eq!(
            answered(travel, Position(ticket.0 + 1)),
            LateAnswer::Unknown
        );
        assert_eq!(answered(travel, Position(0)), LateAnswer::Unknown);
    }
    office.within(writer, Step::Commit);
    assert!(matches!(
        answered(&office.travel, ticket),
        LateAnswer::Given(Outcome::Done(Done::Stock(Some(_))))
    ));
    assert_eq!(Machine::check(&office.travel), Ok(()));
}

/// What a page searched once for each item that was added and not committed: all changes of the transaction,
/// and one page passed all such items.
#[test]
fn a_page_among_items_that_are_not_committed_looks_at_ten_thousand_and_ends() {
    const ADDED: usize = 25_000;
    let mut office = Office::new();
    let committed = ["flight-00000", "flight-12000", "flight-24999"];
    office.committed(committed.map(|flight| add(flight, 1, 10)));
    let xid = office.start();
    for number in 0..ADDED {
        office.within(xid, add(&format!("flight-{number:05}"), 1, 20));
    }
    let restored = Travel::restore(&bytes_of(&office.travel)).unwrap();
    for travel in [&office.travel, &restored] {
        assert_eq!(travel.check(), Ok(()));
        let mut pages = Vec::new();
        let mut after = None;
        loop {
            let query = Query::Items {
                desk: Desk::Flights,
                after,
                limit: 2,
            };
            let answer = travel.query(Timestamp(office.now), &office.principal, &query);
            let Answer::Items { items, next } = answer else {
                panic!("no items: {answer:?}");
            };
            let prices = items.iter().map(|(_, stock)| (stock.free, stock.price));
            assert!(prices.clone().all(|found| found == (1, 10)), "{items:?}");
            pages.push(items.iter().map(|(item, _)| *item).collect::<Vec<_>>());
            after = next;
            if after.is_none() {
                break;
            }
        }
        let [first, second, third] = committed.map(|flight| vec![item(flight)]);
        assert_eq!(pages, [first, second, third]);
    }
    assert_eq!(limits::ITEMS_EXAMINED_MAX, 10_000);
}

#[test]
fn a_page_shows_what_is_committed_of_what_a_long_transaction_has_changed_again_and_again() {
    let mut office = Office::new();
    let flights = || (0..60).map(|number| format!("flight-{number:02}"));
    office.committed(flights().map(|flight| add(&flight, 1, 10)));
    let xid = office.start();
    for price in [20, 30] {
        for flight in flights() {
            office.within(xid, add(&flight, 5, price));
            let query = Query::Items {
                desk: Desk::Flights,
                after: None,
                limit: 100,
            };
            let answer = office
                .travel
                .query(Timestamp(office.now), &office.principal, &query);
            let stock = Stock {
                free: 1,
                reserved: 0,
                price: 10,
            };
            let items = flights().map(|flight| (item(&flight), stock)).collect();
            assert_eq!(answer, Answer::Items { items, next: None });
        }
    }
}
