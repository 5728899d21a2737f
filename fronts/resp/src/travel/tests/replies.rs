//! Outcomes and answers, byte by byte.

use turnstile_chassis::Cursor;
use turnstile_travel::{
    AbortReason, Answer, Bill, BillLine, BranchView, CustomerId, Desk, Desks, Done, ItineraryState,
    ItineraryView, LockMode, Outcome, Refusal, Resource, Stock, Totals, TransactionState,
    TransactionView, Xid,
};
use turnstile_types::{Position, Timestamp};

use super::{ADA, item, locator};
use crate::{
    Protocol,
    catalogue::{self, Catalogue},
    tests::shown,
    travel::{Decided, put_answer, put_late, put_outcome},
};

/// What a test writes, in the older protocol and the newer: `M3|` stands for the head of a map of
/// three, `YES` and `NO` for booleans, `NIL` for nothing.
fn spelt(text: &str) -> [String; 2] {
    let rows = [
        (Protocol::Resp2, "$-1|", ":1|", ":0|"),
        (Protocol::Resp3, "_|", "#t|", "#f|"),
    ];
    rows.map(|(protocol, nothing, yes, no)| {
        let mut line = text
            .replace("NIL", nothing)
            .replace("YES", yes)
            .replace("NO", no);
        for length in (1..=20_usize).rev() {
            let head = match protocol {
                Protocol::Resp2 => format!("*{}|", length * 2),
                Protocol::Resp3 => format!("%{length}|"),
            };
            line = line.replace(&format!("M{length}|"), &head);
        }
        line
    })
}

fn outcomes(outcome: &Outcome, replayed: bool, (two, three): (&str, &str)) {
    let found = [Protocol::Resp2, Protocol::Resp3].map(|protocol| {
        shown(protocol, |reply| {
            put_outcome(reply, outcome, Position(9), replayed);
        })
    });
    let [two, _] = spelt(two);
    let [_, three] = spelt(three);
    assert_eq!(found, [two, three], "{outcome:?}");
}

#[test]
fn a_late_answer_tells_where_it_was_decided_to_who_speaks_resp3() {
    let decided = Decided {
        position: Position(12),
        ordinal: 3,
    };
    let rows = [
        (
            Outcome::Done(Done::Added),
            false,
            "*2|:1|:9|",
            "M4|$7|outcome|$4|done|$7|decided|:12|$7|ordinal|:3|$8|position|:9|",
        ),
        (
            Outcome::Refused(Refusal::SoldOut(item("flight-7"))),
            true,
            "*4|:0|$8|sold_out|$8|flight-7|$8|replayed|",
            "M7|$7|outcome|$7|refused|$6|reason|$8|sold_out|$4|item|$8|flight-7|$7|decided|:12|\
             $7|ordinal|:3|$8|position|:9|$8|replayed|YES",
        ),
    ];
    for (outcome, replayed, two, three) in rows {
        let found = [Protocol::Resp2, Protocol::Resp3].map(|protocol| {
            shown(protocol, |reply| {
                put_late(reply, &outcome, (Position(9), decided), replayed);
            })
        });
        assert_eq!(
            found,
            [two.to_owned(), spelt(three)[1].clone()],
            "{outcome:?}"
        );
    }
}

/// What was done: the number of its fields, and they without and with their names.
fn done(done: Done, fields: usize, (values, named): (&str, &str)) {
    let two = format!("*{}|:1|{values}:9|", fields + 2);
    let head = format!("M{}|$7|outcome|$4|done|", fields + 2);
    let three = format!("{head}{named}$8|position|:9|");
    outcomes(&Outcome::Done(done), false, (&two, &three));
}

const EPOCH: &str = "$24|1970-01-01T00:00:00.000Z|";

fn bill() -> Bill {
    let line = |text, count, price| {
        let item = item(text);
        BillLine { item, count, price }
    };
    Bill {
        customer: ADA,
        lines: vec![line("car-rome", 1, 50), line("flight-7", 2, 100)],
    }
}

const LINES: &str = "*2|M3|$4|item|$8|car-rome|$5|count|:1|$5|price|:50|\
                     M3|$4|item|$8|flight-7|$5|count|:2|$5|price|:100|";

#[test]
fn what_was_done_reads_the_same_for_ever() {
    let (xid, price) = (Xid(7), 250);
    let booked = |until| Done::Booked {
        locator: locator(),
        price,
        until,
    };
    let stock = Stock {
        free: 3,
        reserved: 2,
        price: 100,
    };
    let sold = ":3|:2|:100|";
    let sold_named = "$4|free|:3|$8|reserved|:2|$5|price|:100|";
    let no_stock = "$4|free|NIL$8|reserved|NIL$5|price|NIL";
    let no_bill = "$8|customer|NIL$5|total|NIL$5|lines|NIL";
    let billed = format!(":42|:250|{LINES}");
    let billed_named = format!("$8|customer|:42|$5|total|:250|$5|lines|{LINES}");
    let both = format!("*2|M3|{billed_named}M3|$8|customer|:-1|$5|total|:0|$5|lines|*0|");
    let both_named = format!("$9|customers|{both}");
    let nobody = Bill {
        customer: CustomerId(-1),
        lines: Vec::new(),
    };
    let held = format!("$6|AB6X5T|:250|{EPOCH}");
    let held_named = format!("$7|locator|$6|AB6X5T|$5|price|:250|$5|until|{EPOCH}");
    let name = "$7|locator|$6|AB6X5T|$5|price|:250|$5|until|NIL";
    done(Done::Started { xid }, 1, (":7|", "$3|xid|:7|"));
    done(Done::Stock(Some(stock)), 3, (sold, sold_named));
    done(Done::Stock(None), 3, ("NILNILNIL", no_stock));
    done(
        Done::CustomerAdded(CustomerId(-1)),
        1,
        (":-1|", "$8|customer|:-1|"),
    );
    done(Done::Bill(Some(bill())), 3, (&billed, &billed_named));
    done(Done::Bill(None), 3, ("NILNILNIL", no_bill));
    done(Done::Summary(vec![bill(), nobody]), 1, (&both, &both_named));
    done(booked(None), 3, ("$6|AB6X5T|:250|NIL", name));
    done(booked(Some(Timestamp(0))), 3, (&held, &held_named));
    for plain in [
        Done::Committed,
        Done::Aborted,
        Done::Added,
        Done::Deleted,
        Done::CustomerDeleted,
        Done::Reserved,
        Done::Confirmed,
        Done::Cancelled,
        Done::Resolved,
    ] {
        done(plain, 0, ("", ""));
    }
}

#[test]
fn a_repeated_answer_says_so() {
    outcomes(
        &Outcome::Done(Done::Started { xid: Xid(7) }),
        true,
        (
            "*4|:1|:7|:9|$8|replayed|",
            "M4|$7|outcome|$4|done|$3|xid|:7|$8|position|:9|$8|replayed|YES",
        ),
    );
    outcomes(
        &Outcome::Refused(Refusal::Busy),
        true,
        (
            "*3|:0|$4|busy|$8|replayed|",
            "M4|$7|outcome|$7|refused|$6|reason|$4|busy|$8|position|:9|$8|replayed|YES",
        ),
    );
}

#[test]
fn a_refusal_comes_with_what_there_is_to_know() {
    let aborted = Refusal::Aborted;
    let holder = Xid(3);
    check_refusals([
        (
            Refusal::SoldOut(item("car-rome")),
            1,
            "$8|car-rome|",
            "$4|item|$8|car-rome|",
        ),
        (
            Refusal::NoSuchItem(item("flight-7")),
            1,
            "$8|flight-7|",
            "$4|item|$8|flight-7|",
        ),
        (Refusal::NoSuchCustomer(ADA), 1, ":42|", "$8|customer|:42|"),
        (Refusal::CustomerExists(ADA), 1, ":42|", "$8|customer|:42|"),
        (Refusal::Full { limit: 8 }, 1, ":8|", "$5|limit|:8|"),
        (
            Refusal::SummaryTooLong { limit: 7 },
            1,
            ":7|",
            "$5|limit|:7|",
        ),
        (
            Refusal::HoldTooLong { limit_ms: 5_000 },
            1,
            ":5|",
            "$15|ttl_seconds_max|:5|",
        ),
        (
            Refusal::InDoubt(Desk::Cars),
            1,
            "$4|cars|",
            "$4|desk|$4|cars|",
        ),
        (
            aborted(AbortReason::Deadlock { holder }),
            2,
            "$8|deadlock|:3|",
            "$5|cause|$8|deadlock|$6|holder|:3|",
        ),
        (
            aborted(AbortReason::LockTimeout { holder }),
            2,
            "$12|lock_timeout|:3|",
            "$5|cause|$12|lock_timeout|$6|holder|:3|",
        ),
        (
            aborted(AbortReason::DeskAway(Desk::Cars)),
            2,
            "$9|desk_away|$4|cars|",
            "$5|cause|$9|desk_away|$4|desk|$4|cars|",
        ),
        (
            aborted(AbortReason::Expired),
            1,
            "$7|expired|",
            "$5|cause|$7|expired|",
        ),
        (Refusal::UnknownTransaction, 0, "", ""),
        (Refusal::NotInDoubt, 0, "", ""),
        (Refusal::MayBeCommitted, 0, "", ""),
        (Refusal::ItineraryOver, 0, "", ""),
    ]);
}

/// Each refusal with how many fields it has, their values for RESP2, and with their names for RESP3.
fn check_refusals<const ROWS: usize>(rows: [(Refusal, usize, &str, &str); ROWS]) {
    for (refusal, fields, values, named) in rows {
        let code = refusal.code();
        let code = format!("${}|{code}|", code.len());
        let two = format!("*{}|:0|{code}{values}", fields + 2);
        let head = format!("M{}|$7|outcome|$7|refused|$6|reason|{code}", fields + 3);
        let three = format!("{head}{named}$8|position|:9|");
        outcomes(&Outcome::Refused(refusal), false, (&two, &three));
    }
}

fn answers(answer: &Answer, expected: &str) {
    let found = [Protocol::Resp2, Protocol::Resp3]
        .map(|protocol| shown(protocol, |reply| put_answer(reply, answer)));
    assert_eq!(found, spelt(expected));
}

#[test]
fn a_transaction_shows_what_it_holds_and_for_whom_it_waits() {
    let mut touched = Desks::only(Desk::Flights);
    touched.insert(Desk::Customers);
    let flight = Resource::Item(item("flight-7"));
    let view = TransactionView {
        xid: Xid(9),
        state: TransactionState::Waiting,
        touched,
        awaited: Desks::only(Desk::Flights),
        holder: Some(Xid(3)),
        before: vec![Xid(3), Xid(5)],
        deadline: Some(Timestamp(0)),
        branches: vec![BranchView {
            desk: Desk::Flights,
            prepared: false,
            held: 2,
            locks: vec![
                (Resource::Roster, LockMode::Intent),
                (Resource::Customer(ADA), LockMode::Shared),
            ],
            wanted: Some((flight, LockMode::Exclusive)),
        }],
    };
    let waiting = format!(
        "M9|$3|xid|:9|$5|state|$7|waiting|$5|phase|$7|waiting|$7|touched|*2|$7|flights|$9|customers|\
         $7|awaited|*1|$7|flights|$9|waits_for|:3|$6|before|*2|:3|:5|$5|until|{EPOCH}\
         $8|branches|*1|M5|$4|desk|$7|flights|$8|prepared|NO$4|held|:2|$5|locks|*2|\
         M2|$4|what|$9|customers|$4|mode|$6|intent|M2|$4|what|$11|customer-42|$4|mode|$6|shared|\
         $5|wants|M2|$4|what|$8|flight-7|$4|mode|$9|exclusive|"
    );
    answers(&Answer::Transaction(Some(view.clone())), &waiting);
    let (transactions, next) = (vec![view.clone(), view.clone()], Some(Cursor(9)));
    answers(
        &Answer::Transactions { transactions, next },
        &format!("M2|$12|transactions|*2|{waiting}{waiting}$4|next|$1|9|"),
    );
    let gone = TransactionView {
        state: TransactionState::Aborted(AbortReason::Deadlock { holder: Xid(3) }),
        touched: Desks::NONE,
        awaited: Desks::NONE,
        holder: None,
        before: Vec::new(),
        deadline: None,
        branches: Vec::new(),
        ..view
    };
    let end =
        "$7|touched|*0|$7|awaited|*0|$9|waits_for|NIL$6|before|*0|$5|until|NIL$8|branches|*0|";
    answers(
        &Answer::Transaction(Some(gone.clone())),
        &format!(
            "M11|$3|xid|:9|$5|state|$7|aborted|$5|phase|$7|aborted|\
             $5|cause|$8|deadlock|$6|holder|:3|{end}"
        ),
    );
    for (state, phase) in [
        (TransactionState::Preparing, "$9|preparing|"),
        (TransactionState::Delegated, "$9|delegated|"),
        (TransactionState::Committing, "$10|committing|"),
    ] {
        let view = TransactionView {
            state,
            ..gone.clone()
        };
        let head = "M9|$3|xid|:9|$5|state|$8|prepared|$5|phase|";
        answers(
            &Answer::Transaction(Some(view)),
            &format!("{head}{phase}{end}"),
        );
    }
}

#[test]
fn what_there_is_reads_as_fields_and_values() {
    let view = ItineraryView {
        locator: locator(),
        state: ItineraryState::Held {
            until: Timestamp(0),
        },
        customer: Some(ADA),
        items: vec![(item("flight-7"), 100), (item("car-rome"), 50)],
    };
    answers(
        &Answer::Itinerary(Some(view.clone())),
        &format!(
            "M6|$7|locator|$6|AB6X5T|$5|state|$4|held|$5|until|{EPOCH}$8|customer|:42|\
             $5|price|:150|$5|items|*2|M2|$4|item|$8|flight-7|$5|price|:100|\
             M2|$4|item|$8|car-rome|$5|price|:50|"
        ),
    );
    let over = ItineraryView {
        state: ItineraryState::Over,
        customer: None,
        items: Vec::new(),
        ..view
    };
    answers(
        &Answer::Itinerary(Some(over)),
        "M5|$7|locator|$6|AB6X5T|$5|state|$4|over|$8|customer|NIL$5|price|:0|\
         $5|items|*0|",
    );
    answers(
        &Answer::Customer(Some(bill())),
        &format!("M3|$8|customer|:42|$5|total|:250|$5|lines|{LINES}"),
    );
    let stock = Stock {
        free: 3,
        reserved: 2,
        price: 100,
    };
    answers(
        &Answer::Items {
            items: vec![(item("room-rome"), stock)],
            next: Some(item("room-rome")),
        },
        "M2|$5|items|*1|M4|$4|item|$9|room-rome|$4|free|:3|$8|reserved|:2|$5|price|:100|\
         $4|next|$9|room-rome|",
    );
}

#[test]
fn what_is_not_there_is_a_refusal_without_a_position() {
    for (answer, code) in [
        (Answer::Transaction(None), "$19|unknown_transaction|"),
        (Answer::Itinerary(None), "$17|no_such_itinerary|"),
        (Answer::Customer(None), "$16|no_such_customer|"),
    ] {
        let found = shown(Protocol::Resp2, |reply| put_answer(reply, &answer));
        assert_eq!(found, format!("*2|:0|{code}"));
        let found = shown(Protocol::Resp3, |reply| put_answer(reply, &answer));
        assert_eq!(found, format!("%2|$7|outcome|$7|refused|$6|reason|{code}"));
    }
}

#[test]
fn the_totals_have_the_words_of_info() {
    let totals = Totals {
        xids: 1,
        open: 2,
        itineraries: 3,
        booked: 4,
        items: 5,
        customers: 6,
    };
    answers(
        &Answer::Totals(totals),
        "M6|$17|open_transactions|:2|$11|itineraries|:3|$5|items|:5|$9|customers|:6|\
         $10|xids_total|:1|$12|booked_total|:4|",
    );
}

#[test]
fn the_live_help_of_a_booking_names_its_arguments() {
    let catalogue = Catalogue::new();
    let docs = shown(Protocol::Resp2, |reply| {
        catalogue::docs(reply, &catalogue, [&b"travel.book"[..]].into_iter());
    });
    for part in [
        "$7|hold_ms|",
        "$7|HOLD_MS|",
        "+multiple|",
        "|flight-NUMBER|",
    ] {
        assert!(docs.contains(part), "{part} in {docs}");
    }
}
