//! Whole games, with everybody as slow as the worst day makes them.

use proptest::prelude::*;
use turnstile_duel::{Duel, DuelSeat, Triple};

use crate::{ancestor::Ancestor, table::Table};

#[test]
fn four_games_are_played_to_the_byte() {
    let mut table = Table::new();
    table.settle();
    assert!(table.is_through());
}

#[test]
fn the_second_player_is_told_first_and_the_next_starter_last() {
    let mut duel = Duel::default();
    let order = |duel: &mut Duel| {
        let mut order = Vec::new();
        while let Some((to, parcel)) = duel.next_parcel() {
            order.push((to, parcel.is_marked()));
        }
        order
    };
    let (first, second) = (DuelSeat::First, DuelSeat::Second);
    assert_eq!(order(&mut duel), [(second, true), (first, false)]);
    duel.hear(first, &[8, 1]).unwrap();
    duel.accept_last();
    assert_eq!(order(&mut duel), [(second, false)]);
    for seat in DuelSeat::BOTH {
        duel.hear(seat, b"d").unwrap();
    }
    let triple = Triple::new(1, 0, 0).unwrap();
    duel.tell(triple, triple);
    // The first made the last move: the second begins, and is told last.
    assert_eq!(order(&mut duel), [(first, true), (second, false)]);
}

/// What happens next, to either seat.
#[derive(Clone, Copy, Debug)]
enum Event {
    Read(DuelSeat),
    Serve(DuelSeat, usize),
}

fn event() -> impl Strategy<Value = Event> {
    let seat = || prop::sample::select(&DuelSeat::BOTH[..]);
    prop_oneof![
        seat().prop_map(Event::Read),
        (seat(), 0..3_usize).prop_map(|(seat, bytes)| Event::Serve(seat, bytes)),
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
    fn no_two_messages_meet_whoever_lags(events in prop::collection::vec(event(), 0..400)) {
        let mut table = Table::new();
        for event in events {
            match event {
                Event::Read(seat) => table.read(seat),
                Event::Serve(seat, bytes) => table.serve(seat, bytes),
            }
        }
        table.settle();
        prop_assert!(table.is_through());
    }
}

#[test]
fn a_story_may_come_byte_by_byte() {
    let mut table = Table::new();
    for _byte in 0..1_000 {
        for seat in DuelSeat::BOTH {
            table.read(seat);
            table.serve(seat, 1);
        }
    }
    assert!(table.is_through());
    assert!(!Ancestor::new(DuelSeat::First).is_through());
}
