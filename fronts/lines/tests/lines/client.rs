//! The client's side against the server's: what one writes, the other reads.

use turnstile_lines::{
    LineVerb, Options,
    client::{Reply, number, reply, started},
};
use turnstile_travel::Xid;

use crate::session::Office;

/// Reads the answer to a line, byte by byte, until there is enough of it; nothing else is left.
#[track_caller]
fn read<'a>(line: &str, answer: &'a str) -> Reply<'a> {
    let verb = LineVerb::named(line.split(',').next().unwrap()).unwrap();
    for end in 0..answer.len() {
        assert_eq!(reply(verb, &answer.as_bytes()[..end]), None, "{line}");
    }
    let (reply, length) = reply(verb, answer.as_bytes()).unwrap();
    assert_eq!(length, answer.len(), "{line}: {answer}");
    reply
}

#[test]
fn every_answer_is_read_whole_and_for_what_it_is() {
    let mut office = Office::new(Options::default());
    for (line, expected) in [
        ("Start", Reply::Done(b"Transaction 1 started")),
        ("AddFlight,1,7,1,100", Reply::Done(b"Flight added")),
        ("AddCars,1,oslo,2,40", Reply::Done(b"Cars added")),
        ("AddCustomerID,1,42", Reply::Done(b"Add customer ID: 42")),
        ("AddCustomerID,1,42", Reply::Refused),
        ("QueryCustomer,1,42", Reply::Done(b"Bill for customer 42")),
        ("QueryCustomer,1,43", Reply::Done(b"")),
        (
            "QueryFlight,1,7",
            Reply::Done(b"Number of seats available: 1"),
        ),
        ("QueryFlightPrice,1,7", Reply::Done(b"Price of a seat: 100")),
        ("ReserveFlight,1,42,7", Reply::Done(b"Flight Reserved")),
        ("ReserveFlight,1,42,7", Reply::Refused),
        ("ReserveCar,1,42,oslo", Reply::Done(b"Car Reserved")),
        ("ReserveRoom,1,42,oslo", Reply::Refused),
        ("DeleteFlight,1,7", Reply::Refused),
        (
            "Summary,1",
            Reply::Done(b"Bill for customer 42\n1 car-oslo $40\n1 flight-7 $100\nTotal $140"),
        ),
        ("Commit,1", Reply::Done(b"Transaction 1 committed")),
        ("Commit,1", Reply::Invalid(b"transaction 1 is committed")),
        ("Summary,1", Reply::Invalid(b"transaction 1 is committed")),
        (
            "QueryCustomer,9,42",
            Reply::Invalid(b"transaction 9 is not known"),
        ),
        ("Start", Reply::Done(b"Transaction 2 started")),
        ("Abort,2", Reply::Done(b"Transaction 2 aborted")),
        (
            "QueryCustomer,2,42",
            Reply::Aborted(b"transaction 2: its client aborted it"),
        ),
        ("Book,43,7,oslo,yes,no", Reply::Refused),
        ("Cancel,AB6X5T", Reply::Refused),
        ("Itinerary,AB6X5T", Reply::Done(b"")),
        ("Abort", Reply::Exception(b"Abort takes xid; 0 given")),
    ] {
        let answer = office.line(line.as_bytes());
        assert_eq!(read(line, &answer), expected, "{line}");
    }
}

#[test]
fn numbers_are_read_from_their_own_answers_only() {
    assert_eq!(started(b"Transaction 17 started"), Some(Xid(17)));
    let seats = b"Number of seats available: 12";
    assert_eq!(number(LineVerb::QueryFlight, seats), Some(12));
    assert_eq!(number(LineVerb::QueryCars, seats), None);
    for other in [&b"Transaction started"[..], b"Transaction 1 committed", b""] {
        assert_eq!(started(other), None);
        assert_eq!(number(LineVerb::QueryFlight, other), None);
    }
}
