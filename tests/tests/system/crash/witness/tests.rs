//! Faults of a server, planted in its answers and its listing: the witness finds each.

use super::Witness;
use crate::crash::answer::Answer;
use crate::crash::listing::Entry;
use crate::crash::request::{Guest, Request, Stay, Wish};

const ONE: Stay = Stay {
    arrival: 3,
    nights: 2,
};
const NIGHT: Stay = Stay {
    arrival: 4,
    nights: 1,
};

fn guest(number: u8) -> Guest {
    Guest::named(&format!("guest{number}")).unwrap()
}

const fn hold(wish: Wish, stay: Stay) -> Request {
    Request::Hold { wish, stay }
}

fn book(wish: Wish, stay: Stay) -> Request {
    let guest = guest(1);
    Request::Book { wish, stay, guest }
}

fn confirm(hold: &str) -> Request {
    let (hold, guest) = (hold.to_owned(), guest(2));
    Request::Confirm { hold, guest }
}

fn release(hold: &str) -> Request {
    let hold = hold.to_owned();
    Request::Release { hold }
}

fn cancel(booking: &str, number: u8) -> Request {
    let (booking, guest) = (booking.to_owned(), guest(number));
    Request::Cancel { booking, guest }
}

/// Fields like `reference=R1 room=r1`.
fn fields(text: &str) -> Entry {
    let pairs = text.split(' ').filter_map(|pair| pair.split_once('='));
    let owned = pairs.map(|(name, value)| (name.to_owned(), value.to_owned()));
    owned.collect()
}

fn answer(position: u64, text: &str) -> Answer {
    Answer {
        position,
        replayed: false,
        fields: fields(text),
    }
}

const UNTIL: &str = "2027-01-01T00:15:00.000Z";

/// R1 is booked in r7 for the nights 3 and 4, R2 in the first double, and R3 holds the second; R4 was
/// cancelled.
fn furnished() -> Vec<(Request, Answer)> {
    let done = |text: &str| format!("outcome=done {text}");
    let rows = [
        (book(Wish::Room(7), ONE), done("reference=R1 room=r7")),
        (book(Wish::Double, NIGHT), done("reference=R2 room=104")),
        (
            hold(Wish::Double, NIGHT),
            done(&format!("reference=R3 room=202 until={UNTIL}")),
        ),
        (book(Wish::Room(8), ONE), done("reference=R4 room=r8")),
        (
            cancel("R4", 1),
            done("room=r8 arrival=2027-03-03 departure=2027-03-05"),
        ),
    ];
    let numbered = rows.into_iter().zip(1..);
    numbered
        .map(|((request, text), position)| (request, answer(position, &text)))
        .collect()
}

fn entered() -> Witness {
    let mut witness = Witness::default();
    for (request, answer) in furnished() {
        assert_eq!(witness.enter(&request, &answer), Ok(()));
    }
    witness
}

const R1: &str = "reference=R1 state=booked property=bench room=r7 arrival=2027-03-03 \
                  departure=2027-03-05 guest=guest1 position=1";
const R2: &str = "reference=R2 state=booked property=hotel room=104 arrival=2027-03-04 \
                  departure=2027-03-05 guest=guest1 position=2";
const R3: &str = "reference=R3 state=held property=hotel room=202 arrival=2027-03-04 \
                  departure=2027-03-05 guest= position=3 until=2027-01-01T00:15:00.000Z";

#[test]
fn right_answers_and_a_right_listing_are_taken() {
    let mut witness = entered();
    let listing = [R1, R2, R3].map(fields);
    assert_eq!(witness.compare(&listing), Ok(()));
    let rows = [
        (
            book(Wish::Room(7), ONE),
            "outcome=refused reason=sold_out nights=2027-03-03,2027-03-04",
        ),
        (
            confirm("R3"),
            "outcome=done reference=R3 room=202 late=false",
        ),
        (confirm("R3"), "outcome=refused reason=already_confirmed"),
        (release("R9"), "outcome=refused reason=ended"),
        (cancel("R3", 1), "outcome=refused reason=wrong_guest"),
        (cancel("R4", 1), "outcome=refused reason=ended"),
    ];
    for ((request, text), position) in rows.into_iter().zip(6..) {
        assert_eq!(witness.enter(&request, &answer(position, text)), Ok(()));
    }
    let confirmed = fields(
        "reference=R3 state=booked property=hotel room=202 arrival=2027-03-04 \
         departure=2027-03-05 guest=guest2 position=7",
    );
    assert_eq!(
        witness.compare(&[fields(R1), fields(R2), confirmed]),
        Ok(())
    );
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table with one row for each fault")]
fn the_witness_finds_every_wrong_answer() {
    let rows = [
        (
            book(Wish::Room(7), NIGHT),
            "outcome=done reference=R9 room=r7",
        ),
        (
            book(Wish::Room(8), NIGHT),
            "outcome=done reference=R1 room=r8",
        ),
        (
            book(Wish::Room(8), NIGHT),
            "outcome=done reference=R4 room=r8",
        ),
        (
            book(Wish::Room(8), NIGHT),
            "outcome=done reference=R9 room=r9",
        ),
        (
            book(Wish::Room(8), NIGHT),
            "outcome=refused reason=sold_out nights=2027-03-04",
        ),
        (
            book(Wish::Room(8), NIGHT),
            "outcome=refused reason=stop_sell",
        ),
        (
            book(Wish::Room(7), ONE),
            "outcome=refused reason=sold_out nights=2027-03-03",
        ),
        (
            book(Wish::Double, NIGHT),
            "outcome=done reference=R9 room=204",
        ),
        (
            book(Wish::Double, NIGHT),
            "outcome=refused reason=sold_out nights=2027-03-04",
        ),
        (book(Wish::Double, NIGHT), "outcome=done reference=R9"),
        (
            book(Wish::Double, NIGHT),
            "outcome=done reference=R9 room=203 late=false",
        ),
        (
            hold(Wish::Double, NIGHT),
            "outcome=done reference=R9 room=203",
        ),
        (
            confirm("R3"),
            "outcome=done reference=R3 room=203 late=false",
        ),
        (
            confirm("R3"),
            "outcome=done reference=R1 room=202 late=false",
        ),
        (
            confirm("R3"),
            "outcome=done reference=R3 room=202 late=true",
        ),
        (confirm("R3"), "outcome=refused reason=ended"),
        (confirm("R3"), "outcome=refused reason=hold_expired"),
        (
            confirm("R4"),
            "outcome=done reference=R4 room=r8 late=false",
        ),
        (release("R3"), "outcome=refused reason=ended"),
        (release("R3"), "outcome=refused reason=already_confirmed"),
        (release("R4"), "outcome=done"),
        (cancel("R1", 1), "outcome=refused reason=ended"),
        (cancel("R1", 1), "outcome=refused reason=wrong_guest"),
        (
            cancel("R1", 2),
            "outcome=done room=r7 arrival=2027-03-03 departure=2027-03-05",
        ),
        (
            cancel("R1", 1),
            "outcome=done room=r8 arrival=2027-03-03 departure=2027-03-05",
        ),
        (
            cancel("R1", 1),
            "outcome=done room=r7 arrival=2027-03-03 departure=2027-03-04",
        ),
        (
            cancel("R4", 1),
            "outcome=done room=r8 arrival=2027-03-03 departure=2027-03-05",
        ),
    ];
    for (request, text) in rows {
        let found = entered().enter(&request, &answer(6, text));
        assert!(found.is_err(), "not found: {request:?} {text}");
    }
}

#[test]
fn the_witness_finds_every_wrong_listing() {
    let entry = |reference: &str, place: &str| {
        format!("reference={reference} state=booked {place} guest=guest1 position=4")
    };
    let cancelled = entry(
        "R4",
        "property=bench room=r8 arrival=2027-03-03 departure=2027-03-05",
    );
    let twice = entry(
        "R9",
        "property=bench room=r7 arrival=2027-03-04 departure=2027-03-06",
    );
    let rows: [(&str, &[&str]); 12] = [
        ("a booking is lost", &[R2, R3]),
        ("a hold is lost", &[R1, R2]),
        ("a cancelled booking is back", &[R1, R2, R3, &cancelled]),
        ("a night is sold twice", &[R1, R2, R3, &twice]),
        ("another room", &[&R1.replace("r7", "r6"), R2, R3]),
        ("another property", &[R1, &R2.replace("hotel", "bench"), R3]),
        ("another night", &[&R1.replace("03-05", "03-04"), R2, R3]),
        ("another guest", &[&R1.replace("guest1", "guest2"), R2, R3]),
        (
            "another position",
            &[&R1.replace("position=1", "position=5"), R2, R3],
        ),
        (
            "another position of a hold",
            &[R1, R2, &R3.replace("position=3", "position=5")],
        ),
        (
            "a hold is a booking",
            &[R1, R2, &R3.replace("held", "booked")],
        ),
        (
            "another end of a hold",
            &[R1, R2, &R3.replace(":15:", ":16:")],
        ),
    ];
    for (fault, listing) in rows {
        let listing: Vec<Entry> = listing.iter().map(|entry| fields(entry)).collect();
        let found = entered().compare(&listing);
        assert!(found.is_err(), "not found: {fault}");
    }
}
