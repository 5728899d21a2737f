//! Holds, which end by the server's clock.

use super::{
    super::{Agency, AgencyOperation, TripBooked, TripCancelled, TripConfirmed},
    ADA, BOB, agency, bill, book, booked, cancel, committed, held_for, locator, query, replay,
};
use crate::Model as _;

/// Held at this time for ten milliseconds.
fn held(customer: u16, item: u16, text: &str, asked: u64) -> AgencyOperation {
    book(customer, &[item], held_for(text, 10, (asked, asked + 10)))
}

fn confirm(text: &str, answer: TripConfirmed) -> AgencyOperation {
    let locator = locator(text);
    AgencyOperation::Confirm { locator, answer }
}

/// The same, each with a position of its own: whoever holds something has not waited.
fn replay_at_once(operations: &[AgencyOperation]) -> Vec<String> {
    let mut agency = agency();
    let replayed = (1..).zip(operations);
    replayed
        .filter_map(|(position, operation)| {
            let place = position * Agency::PLACES;
            agency.apply(place, operation).err()
        })
        .collect()
}

/// One operation of each row is wrong, and told with such a sentence.
fn told(rows: &[(&[AgencyOperation], &str)]) {
    for (row, sentence) in rows {
        let found = replay_at_once(row);
        assert_eq!(found.len(), 1, "{sentence}: {found:?}");
        assert!(found[0].contains(sentence), "{sentence}: {found:?}");
    }
}

#[test]
fn a_hold_is_confirmed_given_back_or_ends_by_itself_when_its_time_may_have_come() {
    let rows: &[&[AgencyOperation]] = &[
        &[
            held(ADA, 0, "A1", 5),
            committed(&[query(0, 1, 1), bill(ADA, &[(0, 1)])]),
            confirm("A1", TripConfirmed::Done),
            confirm("A1", TripConfirmed::NotHeld),
            cancel("A1", TripCancelled::Done),
            committed(&[query(0, 2, 0)]),
        ],
        &[
            held(ADA, 0, "A1", 5),
            cancel("A1", TripCancelled::Done),
            committed(&[query(0, 2, 0)]),
            confirm("A1", TripConfirmed::Over),
        ],
        &[
            held(ADA, 0, "A1", 5),
            // A look, a refusal or nothing at all shows that it is over; it may last longer, too.
            committed(&[query(0, 2, 0), bill(ADA, &[])]),
            held(BOB, 0, "B1", 15),
            cancel("A1", TripCancelled::Over),
            held(BOB, 1, "B2", 100),
            committed(&[query(0, 1, 1), query(1, 1, 1)]),
            confirm("B1", TripConfirmed::Busy),
            confirm("B1", TripConfirmed::Over),
            committed(&[query(0, 2, 0), bill(BOB, &[(1, 1)])]),
        ],
    ];
    for row in rows {
        assert_eq!(replay_at_once(row), [""; 0], "{row:?}");
    }
}

#[test]
fn a_hold_that_ends_too_early_is_told() {
    let rows: &[(&[AgencyOperation], &str)] = &[
        (
            &[
                held(ADA, 0, "A1", 5),
                committed(&[query(0, 2, 0)]),
                held(BOB, 1, "B1", 14),
            ],
            "hold A1 until 15 was over at position 2, but at position 3 it was only 14: it ended too \
             early",
        ),
        (
            &[
                held(ADA, 0, "A1", 5),
                confirm("A1", TripConfirmed::Busy),
                held(BOB, 1, "B1", 14),
            ],
            "it ended too early",
        ),
        (
            &[held(ADA, 0, "A1", 5), held(BOB, 1, "B1", 4)],
            "position 2 is of the time 4, after 5",
        ),
    ];
    told(rows);
}

/// Ada holds item 0 until 15. Then somebody else's holds, given back at once, tell these times; what of it
/// is wrong where holds are over two seconds after their time.
fn replay_late(times: &[u64], then: &AgencyOperation) -> Vec<String> {
    let mut operations = vec![held(ADA, 0, "A1", 5)];
    for &time in times {
        let other = format!("B{time}");
        operations.push(held(BOB, 1, &other, time));
        operations.push(cancel(&other, TripCancelled::Done));
    }
    operations.push(then.clone());
    let mut agency = agency().with_holds_late_by(2_000);
    let replayed = (1..).zip(&operations);
    replayed
        .filter_map(|(position, operation)| {
            let place = position * Agency::PLACES;
            agency.apply(place, operation).err()
        })
        .collect()
}

#[test]
fn a_hold_that_stands_for_too_long_is_told_unless_the_server_stood_still() {
    let (before, after) = (
        [500, 1_000, 1_500, 2_000],
        [500, 1_000, 1_500, 2_000, 2_020],
    );
    let stands = [
        confirm("A1", TripConfirmed::Done),
        committed(&[query(0, 1, 1)]),
        committed(&[bill(ADA, &[(0, 1)])]),
        cancel("A1", TripCancelled::Done),
    ];
    for shown in &stands {
        assert_eq!(replay_late(&before, shown), [""; 0], "{shown:?}");
        let found = replay_late(&after, shown);
        assert_eq!(found.len(), 1, "{shown:?}: {found:?}");
        // It was paused, or killed, and works for a second again.
        let paused = [500, 60_000, 60_500];
        assert_eq!(replay_late(&paused, shown), [""; 0], "{shown:?}");
    }
    let over = committed(&[query(0, 2, 0), bill(ADA, &[])]);
    for times in [&before[..], &after] {
        assert_eq!(replay_late(times, &over), [""; 0], "{times:?}");
    }
    let late = replay_late(&after, &stands[0]);
    assert!(late[0].contains("was done, but that was over"), "{late:?}");
}

#[test]
fn answers_about_holds_that_cannot_be_are_told() {
    let rows: &[(&[AgencyOperation], &str)] = &[
        (
            &[
                held(ADA, 0, "A1", 5),
                committed(&[query(0, 2, 0)]),
                confirm("A1", TripConfirmed::Done),
            ],
            "was done, but that was over",
        ),
        (
            &[
                held(ADA, 0, "A1", 5),
                cancel("A1", TripCancelled::Done),
                committed(&[query(0, 1, 1)]),
            ],
            "was shown as",
        ),
        (
            &[
                held(ADA, 0, "A1", 5),
                confirm("A1", TripConfirmed::Done),
                committed(&[query(0, 2, 0)]),
            ],
            "was shown as",
        ),
        (
            &[
                held(ADA, 0, "A1", 5),
                confirm("A1", TripConfirmed::Done),
                confirm("A1", TripConfirmed::Over),
            ],
            "it is lost",
        ),
        (
            &[held(ADA, 0, "A1", 5), confirm("A1", TripConfirmed::NotHeld)],
            "was refused, but it is held",
        ),
        (
            &[booked(ADA, &[0], "A1"), confirm("A1", TripConfirmed::Done)],
            "was done, but that was confirmed before",
        ),
        (
            &[booked(ADA, &[0], "A1"), cancel("A1", TripCancelled::Busy)],
            "was refused for no reason",
        ),
        (
            &[confirm("A1", TripConfirmed::Done)],
            "was done, but that was never held",
        ),
    ];
    told(rows);
}

#[test]
fn in_the_end_no_hold_stands_but_what_may_have_been_confirmed() {
    let hold = || {
        let mut agency = agency();
        assert_eq!(replay(&mut agency, &[held(ADA, 0, "A1", 5)]), [""; 0]);
        agency
    };
    let stands = [query(0, 1, 1), bill(ADA, &[(0, 1)])];
    let is_over = [query(0, 2, 0), bill(ADA, &[])];
    assert_eq!(hold().standing_without_holds(), Some(0));
    let last = hold().last(&is_over);
    assert!(last.charge.is_empty(), "{last:?}");
    assert_eq!(last.counts, Some((1, 0)));
    assert!(!hold().last(&stands).charge.is_empty());
    for read in [stands, is_over] {
        let mut agency = hold();
        agency.suspect(&confirm("A1", TripConfirmed::Unknown));
        assert_eq!(agency.standing_without_holds(), None);
        let last = agency.last(&read);
        assert!(last.charge.is_empty() && last.counts.is_none(), "{last:?}");
    }
}

/// `lab check travel` waited until no more itineraries stood than these. It counted twice a booking whose
/// answer came late, under its key, and tells no position. So it read too early when the server gave a hold
/// back late, and the check said that one more was reserved than the replay had.
#[test]
fn itineraries_are_waited_for_until_no_hold_can_stand() {
    let uncertain = [
        (booked(BOB, &[1], "B1"), 1),
        (book(BOB, &[1], held_for("B1", 10, (5, 15))), 0),
        (book(BOB, &[1], TripBooked::Unknown), 0),
        (book(BOB, &[1], TripBooked::HeldUnknown), 0),
    ];
    for (unknown, least) in uncertain {
        let mut agency = agency();
        agency.suspect(&unknown);
        assert_eq!(replay(&mut agency, &[held(ADA, 0, "A1", 5)]), [""; 0]);
        assert_eq!(agency.standing_without_holds(), Some(least), "{unknown:?}");
    }
    let mut agency = agency();
    let stands = [booked(BOB, &[1], "B1"), held(ADA, 0, "A1", 5)];
    assert_eq!(replay(&mut agency, &stands), [""; 0]);
    assert_eq!(agency.standing_without_holds(), Some(1));
    agency.suspect(&cancel("B1", TripCancelled::Unknown));
    assert_eq!(agency.standing_without_holds(), Some(0));
}

#[test]
fn a_hold_that_may_have_been_made_is_waited_for() {
    let mut agency = agency();
    agency.suspect(&book(BOB, &[1], TripBooked::HeldUnknown));
    assert_eq!(agency.standing_without_holds(), Some(0));
}
