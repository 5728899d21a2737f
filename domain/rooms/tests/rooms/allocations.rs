//! Booking and cancelling named rooms allocates nothing, once the machine has its size.

#![expect(
    unsafe_code,
    reason = "an allocator that counts can only be written with the unsafe trait"
)]

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
};

use turnstile_rooms::{Command, Done, GuestId, Outcome, Reference, Rooms, Wish};
use turnstile_types::{Machine, Principal};

use crate::scenery::{context, guest, id, name, stay};

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: every call is handed on to the system's allocator; counting touches one thread-local
// number, which needs no allocation and no destructor.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller keeps the contract, and this is the same call.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the pointer came from `alloc` or `realloc`, which are the system's.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the pointer came from `alloc` or `realloc`, which are the system's.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

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
    let before = ALLOCATIONS.get();
    season(&mut rooms, &mut position, &mut references, &ids);
    assert_eq!(ALLOCATIONS.get() - before, 0);
    drop(Box::new(1));
    assert_eq!(ALLOCATIONS.get() - before, 1, "allocations are counted");
    assert_eq!(rooms.check(), Ok(()));
}
