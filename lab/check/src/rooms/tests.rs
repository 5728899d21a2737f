//! What the table takes for true.

use super::{
    Booked, Cancelled, Confirmed, Extended, Final, Held, InlineReference, NoHold, Operation,
    Picked, Place, Released, Table, Wish,
};
use crate::Model as _;

const ADA: u64 = 200_000_000_002;

fn reference(text: &str) -> InlineReference {
    InlineReference::parse(text.as_bytes()).unwrap()
}

fn place(room: u32, night: u16, nights: u16) -> Place {
    Place {
        room,
        night,
        nights,
    }
}

fn book(place: Place, answer: Booked) -> Operation {
    Operation::Book {
        place,
        id: ADA,
        answer,
    }
}

fn booked(place: Place, name: &str) -> Operation {
    book(place, Booked::Done(reference(name)))
}

fn cancel(name: &str, id: u64, answer: Cancelled) -> Operation {
    Operation::Cancel {
        reference: reference(name),
        id: Some(id),
        answer,
    }
}

const fn cancel_for_guest(reference: InlineReference, answer: Cancelled) -> Operation {
    Operation::Cancel {
        reference,
        id: None,
        answer,
    }
}

fn look(room: u32, night: u16, found: Option<(&str, Place)>) -> Operation {
    Operation::Look {
        place: place(room, night, 1),
        found: found.map(|(name, place)| (reference(name), place)),
    }
}

/// Replays operations at the positions 1, 2, ...; the sentences about them.
fn replay(suspects: &[Operation], operations: &[Operation]) -> (Table, Vec<String>) {
    let mut table = Table::new(3, 10);
    for suspect in suspects {
        table.suspect(suspect);
    }
    let found = (1..)
        .zip(operations)
        .filter_map(|(position, operation)| table.apply(position, operation).err())
        .collect();
    (table, found)
}

#[test]
fn each_broken_promise_has_a_sentence() {
    let stay = place(1, 2, 3);
    let first = booked(stay, "R1");
    let rows: [(&[Operation], &str); 14] = [
        (
            &[first, booked(place(1, 4, 1), "R2")],
            "booked as R1 at position 1: it is sold twice",
        ),
        (
            &[first, booked(place(2, 4, 1), "R1")],
            "R1 for room 2, night 4 was given before",
        ),
        (
            &[book(stay, Booked::SoldOut(0b001))],
            "sold out for night 2, which is free",
        ),
        (
            &[first, book(stay, Booked::SoldOut(0b011))],
            "night 4 is not among the nights",
        ),
        (&[first, book(stay, Booked::SoldOut(0))], "for other nights"),
        (
            &[first, book(stay, Booked::SoldOut(0b1111))],
            "for other nights",
        ),
        (&[book(stay, Booked::Strange)], "for no reason"),
        (&[first, cancel("R1", ADA, Cancelled::Gone)], "it is lost"),
        (
            &[first, cancel("R1", ADA + 1, Cancelled::Done(stay))],
            "wrong id number",
        ),
        (
            &[
                first,
                cancel_for_guest(reference("R1"), Cancelled::WrongGuest),
            ],
            "refused to who may",
        ),
        (
            &[
                first,
                cancel_for_guest(reference("R1"), Cancelled::Done(stay)),
                cancel("R1", ADA, Cancelled::Done(stay)),
            ],
            "that ended at position",
        ),
        (
            &[first, cancel("R1", ADA, Cancelled::WrongGuest)],
            "refused to who may",
        ),
        (
            &[first, cancel("R1", ADA, Cancelled::Done(place(1, 2, 1)))],
            "but room 1, night 2 to 4 was booked",
        ),
        (
            &[cancel("R9", ADA, Cancelled::Done(stay))],
            "that was never booked",
        ),
    ];
    for (operations, sentence) in rows {
        let (_, found) = replay(&[], operations);
        assert!(
            found.len() == 1 && found[0].contains(sentence),
            "{found:?} {sentence}"
        );
    }
    let done = cancel("R1", ADA, Cancelled::Done(stay));
    let (_, found) = replay(&[], &[first, done, done, booked(stay, "R1")]);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].contains("that ended at position 2"), "{found:?}");
}

#[test]
fn an_honest_history_has_no_sentence() {
    let stay = place(1, 2, 3);
    let operations = [
        booked(stay, "R1"),
        book(place(1, 0, 3), Booked::SoldOut(0b100)),
        cancel("R1", ADA + 2, Cancelled::WrongGuest),
        cancel("R1", ADA, Cancelled::Done(stay)),
        cancel("R1", ADA, Cancelled::Gone),
        booked(place(1, 4, 2), "R2"),
        booked(place(1, 3, 1), "R3"),
    ];
    let (table, found) = replay(&[], &operations);
    assert_eq!(found, Vec::<String>::new());
    assert!(table.agrees(&look(1, 2, None)));
    assert!(table.agrees(&look(1, 4, Some(("R2", place(1, 4, 2))))));
    for stale in [
        look(1, 4, None),
        look(1, 2, Some(("R1", stay))),
        look(1, 4, Some(("R3", place(1, 4, 2)))),
        look(1, 4, Some(("R2", place(1, 4, 1)))),
    ] {
        assert!(!table.agrees(&stale), "{stale:?}");
    }
    assert_eq!(
        table.shown(&look(1, 4, None)),
        "room 1, night 4 was booked as R2 at position 6"
    );
}

#[test]
fn a_booking_without_an_answer_explains_a_refusal_and_then_stands() {
    let shade = book(place(1, 2, 2), Booked::Unknown);
    let refused = book(place(1, 3, 1), Booked::SoldOut(1));
    let (table, found) = replay(&[shade], &[refused]);
    assert_eq!(found, Vec::<String>::new());
    assert!(!table.agrees(&look(1, 2, None)), "it was made, whole");
    assert!(table.agrees(&look(1, 2, Some(("R7", place(1, 2, 2))))));
    // From then on its nights are sold.
    let (_, found) = replay(&[shade], &[refused, booked(place(1, 2, 1), "R8")]);
    assert!(
        found[0].contains("a request without an answer: it is sold twice"),
        "{found:?}"
    );
    // It cannot have been made while one of its nights was somebody else's.
    let (_, found) = replay(&[shade], &[booked(place(1, 2, 1), "R8"), refused]);
    assert!(found[0].contains("night 3, which is free"), "{found:?}");
    // Of two that could have been made, neither is taken for certain.
    let (table, found) = replay(&[shade, book(place(1, 3, 3), Booked::Unknown)], &[refused]);
    assert_eq!(found, Vec::<String>::new());
    assert!(table.agrees(&look(1, 2, None)));
}

#[test]
fn a_cancellation_without_an_answer_may_have_been_carried_out() {
    let stay = place(1, 2, 2);
    let lost = cancel("R1", ADA, Cancelled::Unknown);
    let mut table = Table::new(3, 10);
    table.apply(1, &booked(stay, "R1")).unwrap();
    table.suspect(&lost);
    assert!(table.agrees(&look(1, 2, None)));
    assert!(table.agrees(&look(1, 2, Some(("R1", stay)))));
    table.apply(2, &book(stay, Booked::SoldOut(0b11))).unwrap();
    table.apply(3, &booked(place(1, 3, 1), "R2")).unwrap();
    assert!(!table.agrees(&look(1, 2, Some(("R1", stay)))), "it ended");
    let again = table.apply(4, &cancel("R1", ADA, Cancelled::Done(stay)));
    assert!(again.unwrap_err().contains("that ended at position 3"));
}

/// What the server says stands: a reference and its place.
type Stands<'a> = (&'a str, Place);

/// What the end says of a table with R1 in room 1, R2 that may have been cancelled, and a shade in
/// room 2, when the server says that these bookings stand.
fn end(rooms: [&[Stands<'_>]; 3]) -> super::Account {
    let (mut table, found) = replay(
        &[book(place(2, 0, 2), Booked::Unknown)],
        &[booked(place(1, 2, 2), "R1"), booked(place(0, 5, 1), "R2")],
    );
    assert_eq!(found, Vec::<String>::new());
    table.suspect(&cancel("R2", ADA, Cancelled::Unknown));
    let mut last = Final::of(table, (0, 0));
    for (room, bookings) in (0..).zip(rooms) {
        let bookings: Vec<_> = bookings
            .iter()
            .map(|(name, place)| (reference(name), *place))
            .collect();
        last.room(room, &bookings);
    }
    last.account()
}

#[test]
fn in_the_end_everything_that_stands_has_a_reason() {
    let (r1, r2, shade) = (
        ("R1", place(1, 2, 2)),
        ("R2", place(0, 5, 1)),
        ("R3", place(2, 0, 2)),
    );
    for (rooms, booked, cancelled) in [
        ([&[r2][..], &[r1], &[shade]], 3, 0),
        ([&[], &[r1], &[]], 2, 1),
    ] {
        let account = end(rooms);
        assert!(account.charge.is_empty(), "{account:?}");
        assert_eq!((account.booked, account.cancelled), (booked, cancelled));
        assert_eq!(account.standing, booked - cancelled);
    }
    let rows: [([&[Stands<'_>]; 3], &str); 6] = [
        (
            [&[r2], &[], &[]],
            "R1 for room 1, night 2 to 3 was booked at position 1: it is lost",
        ),
        (
            [&[r2], &[("R1", place(1, 2, 1))], &[]],
            "stands for room 1, night 2",
        ),
        (
            [&[r2], &[r1, ("R9", place(1, 3, 1))], &[]],
            "another booking stand for room 1, night 3",
        ),
        (
            [&[r2], &[r1], &[("R9", place(2, 0, 1))]],
            "R9 stands for room 2, night 0, but was never",
        ),
        (
            [&[r2], &[r1], &[("R9", place(2, 9, 2))]],
            "which no client asked for",
        ),
        (
            [&[r2], &[r1], &[shade, ("R4", place(2, 0, 2))]],
            "another booking stand for room 2",
        ),
    ];
    for (rooms, sentence) in rows {
        let sentences = end(rooms).charge.sentences();
        assert!(
            sentences.iter().any(|one| one.contains(sentence)),
            "{sentences:?}: {sentence}"
        );
    }
}

/// A hold of so many milliseconds that is made at this time.
fn held(place: Place, name: &str, now: u64, ttl_ms: u64) -> Operation {
    let (reference, until) = (reference(name), now + ttl_ms);
    let answer = Held::Done { reference, until };
    Operation::Hold {
        place,
        ttl_ms,
        answer,
    }
}

fn extended(name: &str, now: u64) -> Operation {
    let answer = Extended::Done(now + 100);
    let reference = reference(name);
    Operation::Extend {
        reference,
        ttl_ms: 100,
        answer,
    }
}

fn confirm(name: &str, answer: Confirmed) -> Operation {
    let reference = reference(name);
    Operation::Confirm {
        reference,
        id: ADA,
        answer,
    }
}

fn release(name: &str, answer: Released) -> Operation {
    let reference = reference(name);
    Operation::Release { reference, answer }
}

const IN_TIME: Confirmed = Confirmed::Done {
    room: 1,
    late: false,
};
const LATE: Confirmed = Confirmed::Done {
    room: 1,
    late: true,
};

#[test]
fn an_honest_history_of_holds_has_no_sentence() {
    let stay = place(1, 2, 2);
    let other = place(2, 0, 1);
    let (_, found) = replay(
        &[],
        &[
            held(stay, "R1", 1_000, 100),
            book(stay, Booked::SoldOut(0b11)),
            extended("R1", 1_050),
            confirm("R1", IN_TIME),
            confirm("R1", Confirmed::Refused(NoHold::Confirmed)),
            held(other, "R2", 1_060, 100),
            release("R2", Released::Done),
            release("R2", Released::Refused(NoHold::Gone)),
            held(other, "R3", 1_070, 100),
            // Its time is over: the night is free, and somebody else has it when it is confirmed.
            booked(other, "R4"),
            confirm("R3", Confirmed::Refused(NoHold::Expired)),
            held(place(1, 5, 1), "R5", 1_200, 100),
            held(place(2, 6, 1), "R6", 1_400, 100),
            confirm("R5", LATE),
            cancel("R5", ADA, Cancelled::Done(place(1, 5, 1))),
        ],
    );
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn each_broken_promise_about_a_hold_has_a_sentence() {
    let (stay, other) = (place(1, 2, 2), place(2, 0, 1));
    let first = held(stay, "R1", 1_000, 100);
    let rows: [(&[Operation], &str); 13] = [
        (
            &[held(other, "R1", 1_000, 100), confirm("R1", IN_TIME)],
            "confirmed for room 1, but it was for room 2",
        ),
        (
            &[first, cancel("R1", ADA, Cancelled::Gone)],
            "there is no such booking, but it is held",
        ),
        (
            &[first, booked(stay, "R2"), held(other, "R3", 1_050, 100)],
            "hold R1 until 1100 was over at position 2, but at position 3 it was only 1050",
        ),
        (
            &[first, held(other, "R3", 999, 100)],
            "position 2 is of the time 999, after 1000",
        ),
        (
            &[
                first,
                held(other, "R3", 1_100, 100),
                book(stay, Booked::SoldOut(0b11)),
            ],
            "sold out for night 2, which is free",
        ),
        (
            &[booked(stay, "R0"), first],
            "held as R1, but night 2 was booked as R0",
        ),
        (
            &[first, held(other, "R3", 1_100, 100), confirm("R1", IN_TIME)],
            "its time was over",
        ),
        (
            &[first, booked(stay, "R2"), confirm("R1", LATE)],
            "confirmed as R1, but night 2 was booked as R2 at position 2: it is sold twice",
        ),
        (
            &[first, confirm("R1", Confirmed::Refused(NoHold::Expired))],
            "was refused as expired, but room 1, night 2 to 3 is free",
        ),
        (
            &[first, extended("R1", 1_100)],
            "was given more time at 1100, but ended at 1100",
        ),
        (
            &[first, release("R1", Released::Refused(NoHold::Gone))],
            "it is lost",
        ),
        (
            &[
                first,
                held(other, "R3", 1_100, 100),
                release("R1", Released::Done),
            ],
            "was released, but its time was over",
        ),
        (&[release("R9", Released::Done)], "that was never given"),
    ];
    for (operations, sentence) in rows {
        let (_, found) = replay(&[], operations);
        assert!(
            found.len() == 1 && found[0].contains(sentence),
            "{found:?} {sentence}"
        );
    }
}

#[test]
fn in_the_end_a_booking_is_not_taken_for_a_hold_of_the_same_place_nor_a_hold_for_a_booking() {
    let stay = place(1, 2, 2);
    let hold = Operation::Hold {
        place: stay,
        ttl_ms: 100,
        answer: Held::Unknown,
    };
    let unknown = book(stay, Booked::Unknown);
    for (suspects, is_held, booked, charges) in [
        (&[hold, unknown][..], false, 1, 0),
        (&[unknown, hold], true, 0, 0),
        (&[hold], false, 0, 1),
        (&[unknown], true, 0, 1),
    ] {
        let (table, _) = replay(suspects, &[]);
        let mut last = Final::of(table, (0, 0));
        last.room(1, &[(reference("R7"), stay)]);
        if is_held {
            last.held(reference("R7"), 50);
        }
        let account = last.account();
        let sentences = account.charge.sentences();
        assert_eq!(sentences.len(), charges, "{sentences:?}");
        assert_eq!(account.booked, booked, "{suspects:?}");
    }
}

/// One of the three rooms, from night 2 on.
fn pick(nights: u16, answer: Picked) -> Operation {
    let wish = Wish {
        first: 0,
        rooms: 3,
        night: 2,
        nights,
    };
    Operation::Pick { wish, answer }
}

fn picked(room: u32, nights: u16, name: &str) -> Operation {
    let answer = Picked::Booked {
        room,
        id: ADA,
        reference: reference(name),
    };
    pick(nights, answer)
}

#[test]
fn of_several_rooms_the_first_that_is_free_is_given() {
    let kept = Picked::Held {
        room: 2,
        ttl_ms: 1_000,
        reference: reference("H"),
        until: 5_000,
    };
    let full = [
        booked(place(0, 3, 1), "R1"),
        picked(1, 2, "R2"),
        pick(2, kept),
        pick(2, Picked::SoldOut(0b10)),
        confirm(
            "H",
            Confirmed::Done {
                room: 2,
                late: false,
            },
        ),
        booked(place(0, 2, 1), "R3"),
    ];
    assert_eq!(replay(&[], &full).1, Vec::<String>::new());
    let rows: [(usize, Operation, &str); 7] = [
        (6, pick(2, Picked::SoldOut(0b01)), "night 3 is not among"),
        (0, picked(1, 2, "R9"), "but room 0 was free"),
        (0, picked(3, 2, "R9"), "room 3 was given"),
        (1, pick(2, Picked::SoldOut(0)), "but room 1 is free"),
        (3, pick(2, Picked::SoldOut(0b11)), "in which room 0 is free"),
        (3, pick(2, Picked::SoldOut(0b100)), "for other nights"),
        (3, picked(1, 2, "R9"), "it is sold twice"),
    ];
    for (before, wrong, sentence) in rows {
        let operations = [&full[..before], &[wrong]].concat();
        let (_, found) = replay(&[], &operations);
        assert!(
            found.len() == 1 && found[0].contains(sentence),
            "{found:?} {sentence}"
        );
    }
}

#[test]
fn a_wish_without_an_answer_may_have_got_any_of_its_rooms() {
    let open = pick(1, Picked::Unknown { holds: false });
    let (table, found) = replay(&[open], &[picked(1, 1, "R1"), picked(2, 1, "R2")]);
    assert_eq!(found, Vec::<String>::new());
    let mut last = Final::of(table, (0, 0));
    let stands = |room: u32, name: &str| (reference(name), place(room, 2, 1));
    for (room, name) in (0..).zip(["R0", "R1", "R2"]) {
        last.room(room, &[stands(room, name)]);
    }
    let account = last.account();
    assert_eq!(
        (account.charge.sentences(), account.booked),
        (Vec::new(), 3)
    );
    let (_, found) = replay(&[], &[picked(1, 1, "R1")]);
    assert_eq!(found.len(), 1, "{found:?}");
}

#[test]
fn what_is_not_in_sale_is_given_to_nobody_and_what_somebody_has_stays_in_use() {
    let mut table = Table::new(3, 10);
    table.stop(place(0, 2, 1), true);
    let mut apply = |operation: &Operation| table.apply(1, operation);
    assert_eq!(apply(&picked(1, 2, "R1")), Ok(()));
    let wrong = apply(&picked(0, 1, "R2")).unwrap_err();
    assert!(wrong.contains("night 2 is not in sale"), "{wrong}");
    let wrong = table.withdraw(1).unwrap_err();
    assert!(wrong.contains("night 2 was booked as R1"), "{wrong}");
    assert_eq!((table.withdraw(0), table.bookings()), (Ok(()), 1));
    table.stop(place(0, 2, 1), false);
    assert_eq!(table.apply(2, &picked(0, 1, "R2")), Ok(()));
}

/// A hold whose time is over can be confirmed late, as long as its rooms are free.
#[test]
fn a_late_confirmation_without_an_answer_may_have_been_carried_out() {
    let stay = place(1, 2, 2);
    let (mut table, found) = replay(&[], &[held(stay, "R1", 1_000, 100)]);
    assert_eq!(found, Vec::<String>::new());
    assert_eq!(table.tell_time(2, 5_000), Ok(()));
    table.suspect(&confirm("R1", Confirmed::Unknown));
    for (bookings, booked) in [(&[][..], 0), (&[(reference("R1"), stay)], 1)] {
        let mut last = Final::of(table.clone(), (6_000, 6_000));
        last.room(1, bookings);
        let account = last.account();
        assert_eq!(account.charge.sentences(), Vec::<String>::new());
        assert_eq!((account.booked, account.standing), (booked, booked));
    }
}

#[test]
fn a_hold_that_just_ended_is_not_forgotten_and_may_be_confirmed_late() {
    let (mut table, found) = replay(
        &[],
        &[
            held(place(0, 2, 1), "R1", 1_000, 100),
            held(place(1, 2, 1), "R2", 1_000, 200),
            held(place(2, 2, 1), "R3", 1_000, 9_000),
        ],
    );
    assert_eq!(found, Vec::<String>::new());
    assert_eq!(table.tell_time(4, 1_300), Ok(()));
    table.forget_holds(4);
    let late = |room| Confirmed::Done { room, late: true };
    assert_eq!(table.clone().apply(5, &confirm("R1", late(0))), Ok(()));
    table.forget_holds(3);
    assert_eq!(table.apply(5, &confirm("R2", late(1))), Ok(()));
    assert_eq!(table.bookings(), 1);
    let wrong = table.apply(6, &booked(place(1, 2, 1), "R4")).unwrap_err();
    assert!(wrong.contains("R2"), "{wrong}");
    let in_time = Confirmed::Done {
        room: 2,
        late: false,
    };
    assert_eq!(table.apply(7, &confirm("R3", in_time)), Ok(()));
}

#[test]
fn who_feeds_the_table_may_know_what_time_it_is() {
    let stay = place(1, 2, 2);
    let mut table = Table::new(3, 10);
    assert_eq!(table.tell_time(1, 1_000), Ok(()));
    assert_eq!(table.apply(1, &held(stay, "R1", 1_000, 100)), Ok(()));
    assert_eq!(table.tell_time(2, 1_050), Ok(()));
    assert_eq!(table.apply(2, &booked(stay, "R2")), Ok(()));
    let early = table.tell_time(2, 1_050).unwrap_err();
    assert!(early.contains("it ended too early"), "{early}");
    let day = 24 * 60 * 60 * 1_000;
    let gone = release("R1", Released::Refused(NoHold::Gone));
    assert_eq!(table.tell_time(3, 1_099 + day), Ok(()));
    assert!(table.apply(3, &gone).is_err());
    let mut table = Table::new(3, 10);
    assert_eq!(table.apply(1, &held(stay, "R1", 1_000, 100)), Ok(()));
    assert_eq!(table.tell_time(2, 1_100 + day), Ok(()));
    assert_eq!(table.apply(2, &gone), Ok(()));
}

#[test]
fn in_the_end_what_stands_is_noted_as_it_was_told() {
    let (one, other) = (place(1, 2, 2), place(2, 0, 1));
    let rows = [
        (("R1", Some(ADA), 1), 0),
        (("R1", Some(ADA + 2), 1), 1),
        (("R1", None, 1), 1),
        (("R1", Some(ADA), 2), 1),
        (("R2", None, 2), 0),
        (("R2", Some(ADA), 2), 1),
        (("R2", None, 3), 1),
    ];
    for ((name, id, position), charges) in rows {
        let (table, _) = replay(&[], &[booked(one, "R1"), held(other, "R2", 1_000, 100)]);
        let mut last = Final::of(table, (1_000, 1_000));
        last.room(1, &[(reference("R1"), one)]);
        last.room(2, &[(reference("R2"), other)]);
        last.held(reference("R2"), 1_100);
        last.noted(reference(name), id, position);
        let sentences = last.account().charge.sentences();
        assert_eq!(sentences.len(), charges, "{sentences:?}");
    }
}
