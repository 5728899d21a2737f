//! Nothing is allocated once the storage has its size.

#![expect(
    unsafe_code,
    reason = "an allocator that counts can only be written with the unsafe trait"
)]

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
};

use turnstile_book::{Book, Incoming, Orders, Owner, SelfTrade, Side, Slot, Stop};

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

/// A few thousand orders over a few hundred wandering prices; returns what has traded.
fn session(orders: &mut Orders, book: &mut Book, resting: &mut Vec<Slot>) -> u64 {
    let mut traded = 0;
    for number in 0..20_000_u64 {
        let scattered = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        let side = [Side::Buy, Side::Sell][usize::from(scattered.is_multiple_of(2))];
        let away = scattered / 2 % 700;
        let mid = 100_000 + number;
        let incoming = Incoming {
            order: number,
            owner: Owner(u32::try_from(scattered % 5).expect("less than five")),
            side,
            price: Some(if side == Side::Buy {
                mid - away
            } else {
                mid + away
            }),
            quantity: 1 + scattered % 9,
            self_trade: SelfTrade::Allow,
        };
        let taken = book.take(orders, &incoming, &mut |_| traded += 1);
        if taken.stop == Stop::NoMatch {
            book.rest(orders, &incoming, taken.left);
        }
    }
    for side in [Side::Buy, Side::Sell] {
        resting.extend(book.resting(orders, side).map(|order| order.slot));
    }
    for slot in resting.drain(..) {
        book.cancel(orders, slot);
    }
    traded
}

#[test]
fn trading_allocates_nothing_in_the_steady_state() {
    let (mut orders, mut book, mut resting) = (Orders::new(), Book::new(), Vec::new());
    let traded = session(&mut orders, &mut book, &mut resting);
    assert!(traded > 1_000, "{traded} trades");
    let before = ALLOCATIONS.get();
    assert_eq!(session(&mut orders, &mut book, &mut resting), traded);
    assert_eq!(ALLOCATIONS.get() - before, 0);
    drop(Box::new(1));
    assert_eq!(ALLOCATIONS.get() - before, 1, "allocations are counted");
}

#[test]
fn room_that_was_reserved_is_never_grown() {
    let mut orders = Orders::with_capacity(30_000);
    let (mut book, mut resting) = (Book::new(), Vec::with_capacity(30_000));
    let before = ALLOCATIONS.get();
    let traded = session(&mut orders, &mut book, &mut resting);
    assert_eq!((traded > 1_000, ALLOCATIONS.get() - before), (true, 0));
}
