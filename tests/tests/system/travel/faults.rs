//! Every fault point: the process ends there, it comes back, all agree, and what was committed is
//! there.

use turnstile_client::resp::Value;

use super::{
    clerk::Clerk,
    company::{Company, FLIGHTS, MIDDLEWARE, ROLES},
    ledger::{Ledger, Sale, Told, Trip},
};
use crate::crash::listing::{ask, connect};

/// How a process ends at a fault point.
const FAULT_EXIT: i32 = 96;

/// Whether a commit stands in the end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stands {
    Yes,
    No,
    /// As far as it got before the process ended.
    Perhaps,
}

/// One fault point of a commit: its command, whose process ends, what the client is told, whether the
/// commit stands in the end, and at how many desks it waits for its decision meanwhile.
struct Row {
    command: &'static str,
    role: usize,
    told: Told,
    stands: Stands,
    in_doubt: usize,
}

const fn middleware(command: &'static str, stands: Stands, in_doubt: usize) -> Row {
    Row {
        command,
        role: MIDDLEWARE,
        told: Told::Nothing,
        stands,
        in_doubt,
    }
}

const fn flights(command: &'static str, told: Told) -> Row {
    Row {
        command,
        role: FLIGHTS,
        told,
        stands: match told {
            Told::Committed => Stands::Yes,
            Told::Aborted | Told::Nothing => Stands::No,
        },
        in_doubt: 0,
    }
}

const ROWS: [Row; 11] = [
    middleware("CrashMiddleware,1", Stands::No, 0),
    middleware("CrashMiddleware,2", Stands::No, 4),
    middleware("CrashMiddleware,3", Stands::No, 4),
    middleware("CrashMiddleware,4", Stands::No, 4),
    middleware("CrashMiddleware,5", Stands::Yes, 4),
    middleware("CrashMiddleware,6", Stands::Yes, 3),
    middleware("CrashMiddleware,7", Stands::Yes, 0),
    flights("CrashResourceManager,flights,1", Told::Aborted),
    flights("CrashResourceManager,flights,2", Told::Aborted),
    flights("CrashResourceManager,flights,3", Told::Committed),
    flights("CrashResourceManager,flights,4", Told::Committed),
];

/// The same of a trip in one command. It is staged when all desks have done their part, so a vote that
/// comes may be the first before that or behind it; and its client is told before the desks are.
fn row_of_booking(row: Row) -> Row {
    match row.command {
        "CrashMiddleware,3" | "CrashMiddleware,4" => Row {
            stands: Stands::Perhaps,
            ..row
        },
        "CrashMiddleware,6" | "CrashMiddleware,7" => Row {
            told: Told::Committed,
            ..row
        },
        _ => row,
    }
}

/// How many desks that live wait for a decision.
fn in_doubt(company: &Company, ended: usize) -> usize {
    let desks = (FLIGHTS..company.count()).filter(|&desk| desk != ended);
    desks
        .filter(|&desk| company.line(desk, desk, "in_doubt") > 0)
        .count()
}

/// Somebody who has told everybody where to end, and knows that it has been heard.
fn arm(company: &Company, command: &str) -> Clerk {
    company.until_all_have_met();
    let mut clerk = company.clerk();
    assert_eq!(clerk.says(command), "ok", "{command}");
    let xid = clerk.starts().expect("the server lives");
    assert!(
        clerk
            .says(&format!("QueryFlight,{xid},1"))
            .starts_with("Number")
    );
    assert!(clerk.says(&format!("Commit,{xid}")).ends_with("committed"));
    clerk
}

#[test]
fn at_every_fault_point_of_a_commit_the_process_ends_and_when_it_is_back_all_agree() {
    end_everywhere(ROWS.into(), Trip::sell, |company, row| {
        company.until(row.command, |company| {
            in_doubt(company, row.role) == row.in_doubt
        });
    });
}

#[test]
fn at_every_fault_point_of_a_booking_in_one_command_the_process_ends_and_all_agree() {
    // Desks vote as soon as they have done their part, so that how many wait meanwhile varies.
    let rows = ROWS.into_iter().map(row_of_booking).collect();
    end_everywhere(rows, Trip::book, |_company, _row| {});
}

/// Sells a trip for each fault point, looks who waits while the process is away, and what is there when it
/// is back.
fn end_everywhere(
    rows: Vec<Row>,
    sell: fn(Trip, &mut Clerk, i32) -> Told,
    meanwhile: fn(&Company, &Row),
) {
    let mut company = Company::separate();
    let mut ledger = Ledger::open(&company);
    let mut sold = 0;
    for (customer, row) in (1..).zip(rows) {
        let command = row.command;
        let trip = Trip::of(0);
        let told = sell(trip, &mut arm(&company, command), customer);
        assert_eq!(told, row.told, "{command}");
        assert_eq!(
            company.ended(row.role).code(),
            Some(FAULT_EXIT),
            "{command}"
        );
        meanwhile(&company, &row);
        company.start(row.role);
        company.until(command, |company| in_doubt(company, MIDDLEWARE) == 0);
        let told = match row.stands {
            Stands::Yes => Told::Committed,
            Stands::No => Told::Aborted,
            Stands::Perhaps => Told::Nothing,
        };
        ledger.enter(Sale {
            customer,
            trip,
            told,
        });
        let committed = ledger.audit(&company).committed;
        let expected = match row.stands {
            Stands::Yes => sold + 1..=sold + 1,
            Stands::No => sold..=sold,
            Stands::Perhaps => sold..=sold + 1,
        };
        assert!(
            expected.contains(&committed),
            "{command}: {committed}, and {sold} before"
        );
        sold = committed;
    }
    company.stop_and_verify();
    Ledger::compare_directories(&company, sold);
}

/// Asks for a trip under a key over RESP; nothing when the server ends before it answers.
pub(super) fn book_keyed(company: &Company, customer: i32, trip: Trip) -> Option<Value> {
    let mut connection = connect(company.process(MIDDLEWARE).resp()).expect("its door is open");
    let (customer, flight) = (customer.to_string(), format!("flight-{}", trip.flight));
    let car = format!("car-{}", trip.place);
    let room = format!("room-{}", trip.place);
    let words = [
        "TRAVEL.BOOK",
        &customer,
        &flight,
        &car,
        &room,
        "KEY",
        "trip",
    ];
    ask(&mut connection, &words).ok()
}

#[test]
fn a_trip_that_nobody_was_told_of_is_told_to_whoever_asks_again_with_its_key() {
    let mut company = Company::separate();
    let mut ledger = Ledger::open(&company);
    let (customer, trip) = (1, Trip::of(0));
    let mut clerk = arm(&company, "CrashMiddleware,5");
    let xid = clerk.starts().expect("the server lives");
    clerk.says(&format!("AddCustomerID,{xid},{customer}"));
    assert!(clerk.says(&format!("Commit,{xid}")).ends_with("committed"));
    assert_eq!(book_keyed(&company, customer, trip), None);
    assert_eq!(company.ended(MIDDLEWARE).code(), Some(FAULT_EXIT));
    company.start(MIDDLEWARE);
    let told = book_keyed(&company, customer, trip).expect("the server lives");
    let is_done = told.at("outcome").and_then(Value::as_str) == Some("done");
    assert!(is_done && told.at("replayed").is_some(), "{told}");
    ledger.enter(Sale {
        customer,
        trip,
        told: Told::Committed,
    });
    assert_eq!(ledger.audit(&company).committed, 1);
    company.stop_and_verify();
    Ledger::compare_directories(&company, 1);
}

#[test]
fn a_fault_point_of_a_recovery_outlives_the_process_and_fires_once() {
    let mut company = Company::separate();
    let mut ledger = Ledger::open(&company);
    let trip = Trip::of(1);
    let rows = [
        (MIDDLEWARE, "CrashMiddleware,8"),
        (FLIGHTS, "CrashResourceManager,flights,5"),
    ];
    for (customer, (role, command)) in (1..).zip(rows) {
        let told = trip.sell(&mut arm(&company, command), customer);
        assert_eq!(told, Told::Committed);
        ledger.enter(Sale {
            customer,
            trip,
            told,
        });
        company.kill(role);
        assert_eq!(
            company.start_in_vain(role).code(),
            Some(FAULT_EXIT),
            "{command}"
        );
        company.start(role);
        assert_eq!(
            ledger.audit(&company).committed,
            usize::try_from(customer).expect("it is positive")
        );
        // What was armed and taken back does not fire.
        let mut clerk = arm(&company, command);
        assert_eq!(clerk.says("ResetCrashes"), "ok");
        arm(&company, "ResetCrashes");
        company.kill(role);
        company.start(role);
    }
    company.stop_and_verify();
}

#[test]
fn in_one_process_a_fault_point_is_before_the_commits_record_or_after_it() {
    let mut company = Company::alone();
    let mut ledger = Ledger::open(&company);
    let mut sold = 0;
    let middleware = (1..=7).map(|mode| (format!("CrashMiddleware,{mode}"), mode >= 5));
    let desk = (1..=4).map(|mode| (format!("CrashResourceManager,rooms,{mode}"), mode >= 4));
    for (customer, (command, stands)) in (1..).zip(middleware.chain(desk)) {
        let mut clerk = company.clerk();
        assert_eq!(clerk.says(&command), "ok");
        let trip = Trip::of(2);
        assert_eq!(trip.sell(&mut clerk, customer), Told::Nothing, "{command}");
        assert_eq!(
            company.ended(MIDDLEWARE).code(),
            Some(FAULT_EXIT),
            "{command}"
        );
        company.start(MIDDLEWARE);
        sold += usize::from(stands);
        let told = if stands {
            Told::Committed
        } else {
            Told::Aborted
        };
        ledger.enter(Sale {
            customer,
            trip,
            told,
        });
        assert_eq!(ledger.audit(&company).committed, sold, "{command}");
    }
    for command in ["CrashMiddleware,8", "CrashResourceManager,cars,5"] {
        assert_eq!(company.clerk().says(command), "ok");
        company.kill(MIDDLEWARE);
        assert_eq!(
            company.start_in_vain(MIDDLEWARE).code(),
            Some(FAULT_EXIT),
            "{command}"
        );
        company.start(MIDDLEWARE);
    }
    assert_eq!(ledger.audit(&company).committed, sold);
    company.stop_and_verify();
    Ledger::compare_directories(&company, sold);
}

#[test]
fn a_desk_that_is_away_cannot_be_told_where_to_end() {
    let mut company = Company::separate();
    company.kill(FLIGHTS);
    company.until("the line is down", |company| {
        company.line(MIDDLEWARE, FLIGHTS, "connected") == 0
    });
    let mut clerk = company.clerk();
    for command in ["CrashResourceManager,flights,1", "ResetCrashes"] {
        assert_eq!(
            clerk.says(command),
            format!("Command exception: {} is away", ROLES[FLIGHTS])
        );
    }
}
