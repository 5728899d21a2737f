//! Whole games, with everybody as slow as the worst day makes them.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use turnstile_duel::{Boundary, Duel, Next, Seat, Triple, Wait};

use crate::{
    ancestor::Ancestor,
    table::{PATIENCE, Table},
};

#[test]
fn four_games_are_played_to_the_byte_with_either_boundary() {
    // Patience waits for the second player's first cell, and in each later game for the first cell.
    for (boundary, waits) in [(Boundary::Mark, 0), (PATIENCE, 4)] {
        let mut table = Table::new(boundary);
        table.settle();
        assert!(table.is_through(), "{boundary:?}");
        assert_eq!(table.waits, waits);
    }
}

#[test]
fn the_second_player_is_told_first_and_the_next_starter_last() {
    let mut duel = Duel::new(Boundary::Mark);
    let order = |duel: &mut Duel| {
        let mut order = Vec::new();
        while let Next::Send { to, parcel } = duel.next(Instant::now()) {
            order.push((to, parcel.is_marked()));
        }
        order
    };
    let (first, second) = (Seat::First, Seat::Second);
    assert_eq!(order(&mut duel), [(second, true), (first, false)]);
    duel.hear(first, &[8, 1]).unwrap();
    duel.accept_last();
    assert_eq!(order(&mut duel), [(second, false)]);
    for seat in Seat::BOTH {
        duel.hear(seat, b"d").unwrap();
    }
    let triple = Triple::new(1, 0, 0).unwrap();
    duel.tell(triple, triple);
    // The first made the last move: the second begins, and is told last.
    assert_eq!(order(&mut duel), [(first, true), (second, false)]);
}

#[test]
fn without_a_boundary_the_second_player_falls_out_of_step() {
    let none = Boundary::Patience {
        grace: Duration::ZERO,
    };
    let mut table = Table::new(none);
    table.read(Seat::First);
    table.serve(Seat::First, 2);
    assert_eq!(table.wait, Some(Wait::UntilTaken(Seat::Second)));
    // Its system has acknowledged the start byte, but the client has not read it.
    table.duel.taken(Seat::Second, table.now);
    table.pass();
    assert_eq!(table.inboxes[1].recv(), [2, 1]);
}

#[test]
fn a_cell_waits_until_the_start_is_taken_and_its_grace_is_over() {
    let mut table = Table::new(PATIENCE);
    table.read(Seat::First);
    table.serve(Seat::First, 2);
    assert_eq!(table.inboxes[1].recv(), [2]);
    table.serve(Seat::First, 0);
    assert_eq!(table.wait, Some(Wait::UntilTaken(Seat::Second)));
    let taken = table.now;
    table.pass();
    assert_eq!(
        table.wait,
        Some(Wait::Until(taken + Duration::from_millis(2)))
    );
    table.now += Duration::from_millis(1);
    // That it is taken is news only once.
    table.duel.taken(Seat::Second, table.now);
    table.serve(Seat::First, 0);
    assert!(!table.inboxes[1].is_readable());
    table.now += Duration::from_millis(1);
    table.serve(Seat::First, 0);
    assert_eq!(table.inboxes[1].recv(), [1]);
    assert_eq!(table.wait, None);
}

/// What happens next, to either seat.
#[derive(Clone, Copy, Debug)]
enum Event {
    Read(Seat),
    Serve(Seat, usize),
    Pass,
}

fn event() -> impl Strategy<Value = Event> {
    let seat = || prop::sample::select(&Seat::BOTH[..]);
    prop_oneof![
        4 => seat().prop_map(Event::Read),
        4 => (seat(), 0..3_usize).prop_map(|(seat, bytes)| Event::Serve(seat, bytes)),
        1 => Just(Event::Pass),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 500,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// The client compares each `recv` with one message.
    #[test]
    fn no_two_messages_meet_whoever_lags(
        events in prop::collection::vec(event(), 0..400),
        marks in any::<bool>(),
    ) {
        let mut table = Table::new(if marks { Boundary::Mark } else { PATIENCE });
        for event in events {
            match event {
                Event::Read(seat) => table.read(seat),
                Event::Serve(seat, bytes) => table.serve(seat, bytes),
                Event::Pass => table.pass(),
            }
        }
        table.settle();
        prop_assert!(table.is_through());
    }
}

#[test]
fn a_story_may_come_byte_by_byte() {
    let mut table = Table::new(Boundary::Mark);
    for _byte in 0..1_000 {
        for seat in Seat::BOTH {
            table.read(seat);
            table.serve(seat, 1);
        }
    }
    assert!(table.is_through());
    assert!(!Ancestor::new(Seat::First).is_through());
}
