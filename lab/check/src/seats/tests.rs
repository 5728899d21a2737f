//! What the show takes for true.

use super::{
    SeatBlock, SeatHolder, SeatWish, ShowAnswer, ShowModel, ShowOperation, ShowRequest, SoldEntry,
};
use crate::Model as _;

const ANN: u16 = 0;
const BOB: u16 = 1;
const SEATS: u32 = 10;

const fn seats(row: u8, first: u32, count: u32) -> SeatBlock {
    SeatBlock::adjacent(0, row, first, count)
}

const fn told(ask: ShowRequest, answer: ShowAnswer) -> ShowOperation {
    ShowOperation { ask, answer }
}

const fn book(wish: SeatWish, answer: ShowAnswer) -> ShowOperation {
    told(ShowRequest::Book { wish, buyer: ANN }, answer)
}

const fn booked(number: u64, seats: SeatBlock) -> ShowOperation {
    book(SeatWish::Named(seats), ShowAnswer::Booked { number, seats })
}

/// A hold of a second, which is told at this time.
const fn held(number: u64, seats: SeatBlock, now: u64) -> ShowOperation {
    let (wish, ttl_ms, until) = (SeatWish::Named(seats), 1_000, now + 1_000);
    told(
        ShowRequest::Hold { wish, ttl_ms },
        ShowAnswer::Held {
            number,
            seats,
            until,
        },
    )
}

const fn best(count: u8) -> SeatWish {
    SeatWish::Best { section: 0, count }
}

const fn cancel(number: u64, buyer: u16, answer: ShowAnswer) -> ShowOperation {
    let section = 0;
    told(
        ShowRequest::Cancel {
            number,
            section,
            buyer,
        },
        answer,
    )
}

const fn confirm(number: u64, answer: ShowAnswer) -> ShowOperation {
    let (section, buyer) = (0, BOB);
    told(
        ShowRequest::Confirm {
            number,
            section,
            buyer,
        },
        answer,
    )
}

const fn release(number: u64, answer: ShowAnswer) -> ShowOperation {
    told(ShowRequest::Release { number, section: 0 }, answer)
}

const fn look_up(number: u64, answer: ShowAnswer) -> ShowOperation {
    told(ShowRequest::LookUp { number, section: 0 }, answer)
}

fn replay(operations: &[ShowOperation]) -> (ShowModel, Vec<String>) {
    let mut show = ShowModel::new(1, SEATS);
    let sentences = (1..)
        .zip(operations)
        .filter_map(|(position, operation)| show.apply(position, operation).err())
        .collect();
    (show, sentences)
}

/// Each history is right but for its last answer, of which this is said.
#[track_caller]
fn accused(rows: &[(&[ShowOperation], &str)]) {
    for (operations, sentence) in rows {
        let (_, found) = replay(operations);
        assert_eq!(found.len(), 1, "{sentence}: {found:?}");
        assert!(found[0].contains(sentence), "{sentence}: {found:?}");
    }
}

#[test]
fn the_best_seats_are_the_nearest_to_the_middle_of_the_foremost_row() {
    let sold = |number, row, first, count: u8| {
        let seats = seats(row, first, u32::from(count));
        book(best(count), ShowAnswer::Booked { number, seats })
    };
    let refused = book(best(9), ShowAnswer::NotAdjacent { free: 10 });
    let (show, found) = replay(&[
        sold(1, 0, 3, 4),
        sold(2, 0, 0, 3),
        sold(3, 1, 3, 4),
        sold(4, 0, 7, 3),
    ]);
    assert_eq!(found, Vec::<String>::new());
    assert_eq!((show.free(0), show.booked()), ((66, 10), 4));
    let whole = |row| booked(u64::from(row) + 1, seats(row, 0, SEATS));
    let rows: Vec<_> = (0..7)
        .map(whole)
        .chain([
            booked(8, seats(7, 0, 1)),
            cancel(8, ANN, ShowAnswer::Cancelled(seats(7, 0, 1))),
            booked(9, seats(7, 4, 1)),
            cancel(7, ANN, ShowAnswer::Cancelled(seats(6, 0, SEATS))),
            booked(10, seats(6, 1, 9)),
            refused,
        ])
        .collect();
    let (show, found) = replay(&rows);
    assert_eq!(found, Vec::<String>::new());
    assert_eq!((show.free(0), show.cancelled()), ((10, 5), 2));
    accused(&[
        (&[sold(1, 0, 4, 4)], "by the replay it is Booked"),
        (&[refused], "by the replay it is Booked"),
    ]);
}

#[test]
fn seats_are_sold_once_and_whole() {
    let (pair, triple) = (seats(0, 2, 2), seats(0, 3, 3));
    let clash = SeatBlock::adjacent(0, 0, 3, 1);
    let refused = |taken| book(SeatWish::Named(triple), ShowAnswer::Taken(taken));
    let (_, found) = replay(&[booked(1, pair), refused(clash)]);
    assert_eq!(found, Vec::<String>::new());
    accused(&[
        (&[booked(1, pair), booked(2, triple)], "so it is sold twice"),
        (
            &[booked(1, pair), refused(triple)],
            "by the replay it is Taken",
        ),
        (&[refused(clash)], "by the replay it is Booked"),
        (
            &[booked(2, pair), booked(2, seats(5, 0, 1))],
            "which was given before",
        ),
        (
            &[book(best(2), ShowAnswer::Strange)],
            "was answered strangely",
        ),
    ]);
}

#[test]
fn a_booking_is_cancelled_once_by_its_buyer() {
    let pair = seats(0, 2, 2);
    let done = ShowAnswer::Cancelled(pair);
    let (show, found) = replay(&[
        booked(1, pair),
        cancel(1, BOB, ShowAnswer::WrongBuyer),
        release(1, ShowAnswer::AlreadyConfirmed),
        cancel(1, ANN, done),
        cancel(1, ANN, ShowAnswer::Ended),
        booked(2, pair),
    ]);
    assert_eq!(found, Vec::<String>::new());
    assert_eq!(show.standing().count(), 1);
    let first = booked(1, pair);
    accused(&[
        (&[first, cancel(1, BOB, done)], "WrongBuyer"),
        (
            &[first, cancel(1, ANN, done), cancel(1, ANN, done)],
            "Ended",
        ),
        (&[first, cancel(1, ANN, ShowAnswer::Ended)], "so it is lost"),
    ]);
}

#[test]
fn a_sale_that_is_closed_sells_nothing() {
    let closed = |closed| told(ShowRequest::Sale { closed }, ShowAnswer::Sale { closed });
    let refused = book(best(2), ShowAnswer::NotOnSale);
    let hold = held(1, seats(0, 0, 1), 5_000);
    let (_, found) = replay(&[
        hold,
        closed(true),
        refused,
        confirm(1, ShowAnswer::Confirmed(seats(0, 0, 1))),
        closed(false),
        booked(2, seats(1, 0, 1)),
    ]);
    assert_eq!(found, Vec::<String>::new());
    accused(&[
        (&[closed(true), booked(1, seats(1, 0, 1))], "NotOnSale"),
        (&[refused], "by the replay it is Booked"),
    ]);
}

#[test]
fn a_hold_ends_when_its_time_is_over_and_not_before() {
    let (pair, other) = (seats(0, 2, 2), seats(3, 0, 1));
    let hold = held(1, pair, 5_000);
    let ended = confirm(1, ShowAnswer::Ended);
    // That its time is over is first claimed, then told.
    let (show, found) = replay(&[hold, booked(2, pair), ended, held(3, other, 6_000)]);
    assert_eq!(found, Vec::<String>::new());
    assert_eq!(show.last_end(), Some(7_000));
    let refused = book(SeatWish::Named(pair), ShowAnswer::Taken(pair));
    accused(&[
        (
            &[hold, booked(2, pair), held(3, other, 5_999)],
            "it ended too early",
        ),
        (&[hold, ended, held(3, other, 5_999)], "it ended too early"),
        (
            &[hold, held(2, other, 6_000), refused],
            "by the replay it is Booked",
        ),
        (
            &[
                hold,
                held(2, other, 6_000),
                confirm(1, ShowAnswer::Confirmed(pair)),
            ],
            "by the replay it is Ended",
        ),
        (
            &[hold, held(2, other, 4_999)],
            "of the time 4999, after 5000",
        ),
        (&[hold, held(2, pair, 5_500)], "so it is sold twice"),
    ]);
    let over = [
        hold,
        release(1, ShowAnswer::Released),
        confirm(1, ShowAnswer::Ended),
    ];
    assert_eq!(replay(&over).1, Vec::<String>::new());
}

#[test]
fn only_the_holds_that_an_answer_needs_are_over() {
    let (first, second) = (seats(0, 0, 2), seats(0, 4, 2));
    let mut operations = vec![
        held(1, first, 5_000),
        held(2, second, 5_500),
        booked(3, first),
        confirm(2, ShowAnswer::Confirmed(second)),
    ];
    let (mut show, found) = replay(&operations);
    assert_eq!(found, Vec::<String>::new());
    assert_eq!(show.tell_time(9, 6_000), Ok(()));
    // With the second that of the first has come, too.
    operations[2] = booked(3, second);
    let (_, found) = replay(&operations);
    assert_eq!(found.len(), 1, "{found:?}");
}

#[test]
fn what_is_read_is_true_now_or_when_a_hold_is_over() {
    let pair = seats(2, 2, 2);
    let (show, _) = replay(&[held(1, pair, 5_000), booked(2, seats(0, 0, 1))]);
    let map = |second| {
        let mut rows = [0; super::MAP_ROWS];
        (rows[0], rows[2]) = (1, second);
        told(ShowRequest::Map { section: 0 }, ShowAnswer::Map(rows))
    };
    let entry = |holder| {
        ShowAnswer::Entry(SoldEntry {
            seats: pair,
            holder,
        })
    };
    let rows = [
        (map(0b1100), true, None),
        (map(0), false, Some(6_000)),
        (map(0b0100), false, None),
        (look_up(1, entry(SeatHolder::Until(6_000))), true, None),
        (look_up(1, entry(SeatHolder::Until(6_001))), false, None),
        (look_up(1, entry(SeatHolder::Buyer(ANN))), false, None),
        (look_up(1, ShowAnswer::Ended), false, Some(6_000)),
        (look_up(2, ShowAnswer::Ended), false, None),
    ];
    for (reading, agrees, from) in rows {
        assert_eq!(show.agrees(&reading), agrees, "{reading:?}");
        if !agrees {
            assert_eq!(show.true_from(&reading), from, "{reading:?}");
        }
    }
}

#[test]
fn after_something_unknown_nothing_is_compared() {
    let (mut show, _) = replay(&[booked(1, seats(0, 0, 2))]);
    show.suspect(&booked(2, seats(0, 4, 2)));
    assert!(show.is_clouded());
    assert_eq!(show.apply(9, &booked(3, seats(0, 0, 2))), Ok(()));
}
