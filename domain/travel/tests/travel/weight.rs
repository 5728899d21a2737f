//! What an open transaction weighs.

#![expect(
    unsafe_code,
    reason = "an allocator that counts can only be written with the unsafe trait"
)]

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
};

use turnstile_travel::{Command, CustomerId, Done, Outcome, Step};

use crate::scenery::{Office, add, add_customer, query, reserve, trip};

thread_local! {
    static HELD: Cell<isize> = const { Cell::new(0) };
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

fn count(bytes: usize, sign: isize) {
    HELD.set(HELD.get() + sign * isize::try_from(bytes).expect("an allocation is small"));
}

// SAFETY: every call is handed on to the system's allocator; counting touches two thread-local
// numbers, which need no allocation and no destructor.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 1);
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller keeps the contract, and this is the same call.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(layout.size(), -1);
        // SAFETY: the pointer came from `alloc` or `realloc`, which are the system's.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Customers, and towns with flights, cars and rooms.
fn office(size: i32) -> Office {
    let mut office = Office::new();
    for number in 0..size {
        office.committed([
            add_customer(number),
            add(&format!("flight-{number}"), 1_000, 100),
            add(&format!("car-town{number}"), 1_000, 10),
            add(&format!("room-town{number}"), 1_000, 50),
        ]);
        office.events();
    }
    office
}

#[test]
fn ten_thousand_open_transactions_weigh_less_than_4_kib_each() {
    const OPEN: i32 = 10_000;
    let mut office = office(OPEN);
    let before = HELD.get();
    for number in 0..OPEN {
        let xid = office.start();
        let items = ["flight-", "car-town", "room-town"].map(|kind| format!("{kind}{number}"));
        let customer = CustomerId(number);
        office.within(xid, Step::QueryCustomer { customer });
        for item in &items {
            office.within(xid, query(item));
            let outcome = office.within(xid, reserve(number, &[item]));
            assert_eq!(outcome, Outcome::Done(Done::Reserved));
        }
    }
    let each = (HELD.get() - before) / isize::try_from(OPEN).unwrap();
    assert!((500..4_096).contains(&each), "{each} bytes each");
}

#[test]
fn a_booking_allocates_a_few_times_and_not_more_with_what_there_is() {
    let allocations = |size| {
        let mut office = office(size);
        let command = Command::Book {
            customer: CustomerId(7),
            trip: trip(&["flight-7", "car-town7", "room-town7"]),
            hold_ms: None,
        };
        office.apply(&command);
        let before = ALLOCATIONS.get();
        let outcome = office.apply(&command);
        assert!(
            matches!(outcome, Outcome::Done(Done::Booked { .. })),
            "{outcome:?}"
        );
        ALLOCATIONS.get() - before
    };
    let (few, many) = (allocations(10), allocations(1_000));
    assert!(few.max(many) <= 40, "{few} among few, {many} among many");
}
