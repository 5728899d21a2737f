//! Booking and cancelling named rooms allocates nothing, once the machine has its size.

use turnstile_rooms::{Command, Done, GuestId, Outcome, Reference, Rooms, Wish};
use turnstile_trial::{Counting, Tally, context};
use turnstile_types::{Machine, Principal};

use crate::scenery::{guest, id, name, stay};

#[global_allocator]
static COUNTING: Counting = Counting;

/// Books every room for two stays, in a pipeline with prefetching, and cancels them all.
fn season(rooms: &mut Rooms, position: &mut u64, references: &mut Vec<Reference>, ids: &[GuestId]) {
    let local = Principal::local();
    let property = name("bench");
    for number in 0..2_000_u16 {
        let room = name(["1", "22", "333", "4444", "55555"][usize::from(number % 5)]);
        let command = Command::Book {
            property,
            wish: Wish::Room(room),
            stay: stay(100 + number * 5, 1 + number % 5),
            guest: guest(["ada", "a guest with quite a long name"][usize::from(number % 2)]),
            id: ids[usize::from(number % 97)],
        };
        rooms.prefetch(&command);
        *position += 1;
        match rooms.apply(&context(*position, 1_000, &local), &command) {
            Outcome::Done(Done::Booked { reference, .. }) => references.push(reference),
            other => panic!("a free room was not booked: {other:?}"),
        }
    }
    for (number, reference) in (0_u16..).zip(references.drain(..)) {
        let command = Command::Cancel {
            booking: reference,
            id: ids[usize::from(number % 97)],
        };
        rooms.prefetch(&command);
        *position += 1;
        let outcome = rooms.apply(&context(*position, 1_000, &local), &command);
        assert!(matches!(outcome, Outcome::Done(Done::Cancelled { .. })));
    }
    rooms.drain_events(&mut |_| {});
}

#[test]
fn booking_and_cancelling_named_rooms_allocates_nothing_in_the_steady_state() {
    let mut rooms = Rooms::empty();
    let local = Principal::local();
    let property = name("bench");
    let open = Command::AddProperty {
        property,
        open: true,
    };
    rooms.apply(&context(1, 1_000, &local), &open);
    let ids: Vec<GuestId> = (0..97).map(id).collect();
    let (mut position, mut references) = (1, Vec::with_capacity(2_000));
    season(&mut rooms, &mut position, &mut references, &ids);
    let before = Tally::now();
    season(&mut rooms, &mut position, &mut references, &ids);
    assert_eq!(Tally::now().calls_since(before), 0);
    drop(Box::new(1));
    assert_eq!(
        Tally::now().calls_since(before),
        1,
        "allocations are counted"
    );
    assert_eq!(rooms.check(), Ok(()));
}
