//! Faults of the machine of rooms, planted in its outcomes: the witness finds each.

use turnstile_rooms::{
    CancelReason, Command, Done, FormerPlace, GuestId, GuestName, Nights, Outcome, Reference,
    Refusal, Wish,
};
use turnstile_types::{Name, Night, Position, Stay, Timestamp};

use super::WitnessFeed;
use crate::actors::RulesModel as _;

fn name(text: &str) -> Name {
    Name::parse(text.as_bytes()).unwrap()
}

fn reference(slot: u32) -> Reference {
    Reference {
        slot,
        generation: 1,
    }
}

/// Nights of the simulated world, by number.
fn stay(arrival: u16, nights: u16) -> Stay {
    let night = |number| Night::from_days(super::FIRST_NIGHT + number);
    Stay::new(night(arrival), night(arrival + nights)).unwrap()
}

fn id(seal: u64) -> GuestId {
    GuestId { seal, last_four: 1 }
}

fn room(text: &str) -> Wish {
    Wish::Room(name(text))
}

fn book(wish: Wish, stay: Stay) -> Command<'static> {
    Command::Book {
        property: name("inn"),
        wish,
        stay,
        guest: GuestName::parse(b"Ada").unwrap(),
        id: id(1),
    }
}

fn hold(wish: Wish, stay: Stay) -> Command<'static> {
    Command::Hold {
        property: name("inn"),
        wish,
        stay,
        ttl_ms: 100,
    }
}

fn confirm(slot: u32) -> Command<'static> {
    Command::Confirm {
        hold: reference(slot),
        guest: GuestName::parse(b"Bob").unwrap(),
        id: id(2),
    }
}

fn cancel(slot: u32, seal: u64) -> Command<'static> {
    Command::Cancel {
        booking: reference(slot),
        id: id(seal),
    }
}

fn move_to(slot: u32, id_number: u64, wish: Wish, stay: Stay) -> Command<'static> {
    Command::Move {
        booking: reference(slot),
        wish,
        stay,
        id: id(id_number),
    }
}

fn moved(room: &str, from: (&str, Stay)) -> Outcome {
    Outcome::Done(Done::Moved {
        room: name(room),
        from: FormerPlace {
            room: name(from.0),
            stay: from.1,
        },
    })
}

fn cancel_for_guest(slot: u32) -> Command<'static> {
    Command::CancelForGuest {
        booking: reference(slot),
        reason: CancelReason::parse(b"the house is closed").unwrap(),
    }
}

const fn extend(slot: u32) -> Command<'static> {
    let hold = reference_of(slot);
    Command::Extend { hold, ttl_ms: 100 }
}

const fn release(slot: u32) -> Command<'static> {
    let hold = reference_of(slot);
    Command::Release { hold }
}

const fn reference_of(slot: u32) -> Reference {
    Reference {
        slot,
        generation: 1,
    }
}

fn booked(slot: u32, room: &str) -> Outcome {
    Outcome::Done(Done::Booked {
        reference: reference(slot),
        room: name(room),
    })
}

fn held(slot: u32, room: &str, until: u64) -> Outcome {
    Outcome::Done(Done::Held {
        reference: reference(slot),
        room: name(room),
        until: Timestamp(until),
    })
}

fn confirmed(slot: u32, room: &str, late: bool) -> Outcome {
    Outcome::Done(Done::Confirmed {
        reference: reference(slot),
        room: name(room),
        late,
    })
}

fn cancelled(room: &str, stay: Stay) -> Outcome {
    Outcome::Done(Done::Cancelled {
        room: name(room),
        stay,
    })
}

const fn extended(until: u64) -> Outcome {
    Outcome::Done(Done::Extended {
        until: Timestamp(until),
    })
}

const RELEASED: Outcome = Outcome::Done(Done::Released);

fn sold_out(arrival: u16, bits: u128) -> Outcome {
    let first = stay(arrival, 1).arrival();
    Outcome::Refused(Refusal::SoldOut {
        nights: Nights { first, bits },
    })
}

type Step = (u64, Command<'static>, Outcome);

/// The inn with its rooms `1` and `2`, in which R1 is booked for the nights 2 and 3 of room `1`, and
/// R2 is held until 1,100 for night 2 of room `2`.
fn furnished() -> Vec<Step> {
    let property = name("inn");
    let room_type = name("double");
    let add = |text| Command::AddRoom {
        property,
        room: name(text),
        room_type,
    };
    vec![
        (900, add("1"), Outcome::Done(Done::RoomAdded)),
        (900, add("2"), Outcome::Done(Done::RoomAdded)),
        (950, book(room("1"), stay(2, 2)), booked(1, "1")),
        (1_000, hold(Wish::Any, stay(2, 1)), held(2, "2", 1_100)),
    ]
}

/// Shows all steps: what was found, in the last.
fn show(steps: &[Step]) -> Result<(), String> {
    let mut witness = WitnessFeed::default();
    let mut shown = Ok(());
    for ((now, command, outcome), position) in steps.iter().zip(1..) {
        assert_eq!(shown, Ok(()), "before position {position}");
        let at = (Position(position), Timestamp(*now));
        shown = witness.show(at, Some((command, outcome)), &[]);
    }
    shown
}

#[test]
fn what_the_machine_may_answer_is_no_fault() {
    let stop = |stopped| Command::StopSell {
        property: name("inn"),
        room: name("2"),
        stay: stay(5, 1),
        stopped,
    };
    let withdraw = Command::WithdrawRoom {
        property: name("inn"),
        room: name("2"),
    };
    let gone = Outcome::Refused(Refusal::Ended);
    let steps = [
        (1_010, book(Wish::Any, stay(2, 2)), sold_out(2, 0b1)),
        (1_020, extend(2), extended(1_120)),
        (1_030, cancel(1, 9), Outcome::Refused(Refusal::WrongGuest)),
        (1_120, book(room("2"), stay(2, 1)), booked(3, "2")),
        (1_130, confirm(2), Outcome::Refused(Refusal::HoldExpired)),
        (1_140, cancel(3, 1), cancelled("2", stay(2, 1))),
        (1_150, confirm(2), confirmed(2, "2", true)),
        (
            1_160,
            confirm(2),
            Outcome::Refused(Refusal::AlreadyConfirmed),
        ),
        (1_170, cancel_for_guest(2), cancelled("2", stay(2, 1))),
        (1_175, cancel_for_guest(2), gone),
        (1_180, hold(room("2"), stay(7, 1)), held(4, "2", 1_280)),
        (1_190, release(4), RELEASED),
        (1_200, release(4), gone),
        (1_210, stop(true), Outcome::Done(Done::SaleStopped)),
        (1_220, book(Wish::Any, stay(5, 1)), booked(5, "1")),
        (1_230, stop(false), Outcome::Done(Done::SaleResumed)),
        (1_240, withdraw, Outcome::Done(Done::RoomWithdrawn)),
    ];
    assert_eq!(show(&[furnished(), steps.to_vec()].concat()), Ok(()));
}

/// R1 has the nights 2 and 3 of room `1`, and R2 holds night 2 of room `2`.
#[test]
fn a_booking_that_moves_leaves_its_nights_and_takes_others() {
    let to = |wish, arrival, nights| move_to(1, 1, wish, stay(arrival, nights));
    let at = |room, arrival, nights| (room, stay(arrival, nights));
    let steps = [
        // Its own nights are not in its way, and it stays in its room.
        (1_010, to(room("1"), 3, 2), moved("1", at("1", 2, 2))),
        (1_020, to(Wish::Any, 4, 2), moved("1", at("1", 3, 2))),
        (1_025, to(Wish::Any, 4, 2), moved("1", at("1", 4, 2))),
        (1_030, book(room("1"), stay(2, 2)), booked(3, "1")),
        // What others have is.
        (1_040, to(room("1"), 3, 2), sold_out(3, 0b01)),
        (1_045, to(Wish::Any, 2, 3), sold_out(2, 0b001)),
        (1_050, to(Wish::Any, 3, 1), moved("2", at("1", 4, 2))),
        (1_060, book(room("1"), stay(4, 2)), booked(4, "1")),
        (1_070, to(room("1"), 4, 1), sold_out(4, 0b1)),
        (
            1_080,
            move_to(1, 9, Wish::Any, stay(5, 1)),
            Outcome::Refused(Refusal::WrongGuest),
        ),
        (1_090, cancel(1, 1), cancelled("2", stay(3, 1))),
        (1_095, to(Wish::Any, 3, 1), Outcome::Refused(Refusal::Ended)),
    ];
    assert_eq!(show(&[furnished(), steps.to_vec()].concat()), Ok(()));
}

#[test]
fn the_witness_finds_every_fault_of_a_move() {
    let to = |wish, arrival| move_to(1, 1, wish, stay(arrival, 2));
    let own = ("1", stay(2, 2));
    let away: Step = (1_010, to(room("1"), 6), moved("1", own));
    let rows: [(&str, &[Step]); 12] = [
        (
            "a move frees the old nights and takes nothing",
            &[away, (1_020, book(room("1"), stay(6, 1)), booked(7, "1"))],
        ),
        (
            "a move takes the new nights and frees nothing",
            &[away, (1_020, book(room("1"), stay(2, 1)), sold_out(2, 1))],
        ),
        (
            "a move is said, and nothing is done",
            &[away, (1_020, cancel(1, 1), cancelled("1", own.1))],
        ),
        (
            "a booking is moved on top of a hold",
            &[(1_010, to(room("2"), 2), moved("2", own))],
        ),
        (
            "its own nights are in the way of a booking",
            &[(1_010, to(room("1"), 3), sold_out(3, 0b01))],
        ),
        (
            "it cannot move anywhere, though there is room",
            &[(1_010, to(Wish::Any, 4), sold_out(4, 0b11))],
        ),
        (
            "it leaves its room though it might stay",
            &[(1_010, to(Wish::Any, 6), moved("2", own))],
        ),
        (
            "it gets another room than it wants",
            &[(1_010, to(room("1"), 6), moved("2", own))],
        ),
        (
            "it is said to have been elsewhere",
            &[(1_010, to(room("1"), 6), moved("1", ("2", stay(2, 2))))],
        ),
        (
            "somebody else moves it",
            &[(1_010, move_to(1, 9, room("1"), stay(6, 1)), moved("1", own))],
        ),
        (
            "it is refused to who booked it",
            &[(
                1_010,
                to(room("1"), 6),
                Outcome::Refused(Refusal::WrongGuest),
            )],
        ),
        (
            "a booking is forgotten when it moves",
            &[(1_010, to(room("1"), 6), Outcome::Refused(Refusal::Ended))],
        ),
    ];
    for (fault, steps) in rows {
        let steps = [&furnished(), steps].concat();
        assert!(show(&steps).is_err(), "not found: {fault}");
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table with one row for each fault")]
fn the_witness_finds_every_fault_of_the_machine() {
    let refused = Outcome::Refused;
    let withdraw = |text| Command::WithdrawRoom {
        property: name("inn"),
        room: name(text),
    };
    let rows: [(&str, Step); 30] = [
        (
            "a night is sold twice",
            (1_010, book(room("1"), stay(3, 1)), booked(7, "1")),
        ),
        (
            "a night that is held is sold",
            (1_010, book(room("2"), stay(2, 1)), booked(7, "2")),
        ),
        (
            "a night that is sold is held",
            (1_010, hold(room("1"), stay(3, 1)), held(7, "1", 1_110)),
        ),
        (
            "a reference is given twice",
            (1_010, book(room("2"), stay(5, 1)), booked(1, "2")),
        ),
        (
            "another room is given",
            (1_010, book(room("1"), stay(5, 1)), booked(7, "2")),
        ),
        (
            "a later room is given",
            (1_010, book(Wish::Any, stay(5, 1)), booked(7, "2")),
        ),
        (
            "a free night is refused",
            (1_010, book(room("1"), stay(4, 1)), sold_out(4, 1)),
        ),
        (
            "any of free rooms is refused",
            (1_010, book(Wish::Any, stay(4, 1)), sold_out(4, 1)),
        ),
        (
            "another night is told as sold",
            (1_010, book(room("1"), stay(3, 2)), sold_out(3, 0b11)),
        ),
        (
            "a night outside of the stay is told",
            (1_010, book(room("1"), stay(3, 1)), sold_out(2, 0b11)),
        ),
        (
            "a hold ends at another time",
            (1_010, hold(room("2"), stay(5, 1)), held(7, "2", 1_200)),
        ),
        (
            "a hold ends too early",
            (1_010, confirm(2), refused(Refusal::HoldExpired)),
        ),
        (
            "a hold is confirmed as late too early",
            (1_010, confirm(2), confirmed(2, "2", true)),
        ),
        (
            "a hold is confirmed when it is over",
            (1_100, confirm(2), confirmed(2, "2", false)),
        ),
        (
            "a hold is confirmed for another room",
            (1_010, confirm(2), confirmed(2, "1", false)),
        ),
        (
            "a hold is confirmed as another",
            (1_010, confirm(2), confirmed(1, "2", false)),
        ),
        (
            "a hold is forgotten",
            (1_010, confirm(2), refused(Refusal::NotFound)),
        ),
        (
            "a hold that is over is given more time",
            (1_100, extend(2), extended(1_200)),
        ),
        (
            "a hold is given a time that is past",
            (1_010, extend(2), extended(1_005)),
        ),
        (
            "a hold that never was is released",
            (1_010, release(9), RELEASED),
        ),
        (
            "a booking is forgotten",
            (1_010, cancel(1, 1), refused(Refusal::NotFound)),
        ),
        (
            "a hold is forgotten by a cancellation",
            (1_010, cancel(2, 1), refused(Refusal::Ended)),
        ),
        (
            "a booking is cancelled by somebody else",
            (1_010, cancel(1, 9), cancelled("1", stay(2, 2))),
        ),
        (
            "a booking is refused to who made it",
            (1_010, cancel(1, 1), refused(Refusal::WrongGuest)),
        ),
        (
            "a manager is asked for the id number",
            (1_010, cancel_for_guest(1), refused(Refusal::WrongGuest)),
        ),
        (
            "a booking is forgotten by a manager's cancellation",
            (1_010, cancel_for_guest(1), refused(Refusal::Ended)),
        ),
        (
            "a manager cancels another stay",
            (1_010, cancel_for_guest(1), cancelled("1", stay(2, 1))),
        ),
        (
            "another stay is cancelled",
            (1_010, cancel(1, 1), cancelled("1", stay(2, 1))),
        ),
        (
            "a room in use is withdrawn",
            (1_010, withdraw("1"), Outcome::Done(Done::RoomWithdrawn)),
        ),
        (
            "a command has the answer of another",
            (1_010, cancel(1, 1), RELEASED),
        ),
    ];
    for (fault, step) in rows {
        let steps = [furnished(), vec![step]].concat();
        assert!(show(&steps).is_err(), "not found: {fault}");
    }
}

#[test]
fn bookings_that_stand_are_counted() {
    let mut witness = WitnessFeed::default();
    let steps = furnished();
    for ((now, command, outcome), position) in steps.iter().zip(1..) {
        let at = (Position(position), Timestamp(*now));
        assert_eq!(witness.show(at, Some((command, outcome)), &[]), Ok(()));
    }
    assert_eq!(witness.table.bookings(), 1);
}
