//! What a thread allocates, counted.

#![expect(
    unsafe_code,
    reason = "an allocator that counts can only be written with the unsafe trait"
)]

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
};

thread_local! {
    static TALLY: Cell<Tally> = const { Cell::new(Tally { calls: 0, bytes: 0 }) };
}

/// What this thread has allocated so far.
#[derive(Clone, Copy, Debug)]
pub struct Tally {
    /// Calls that allocate or grow.
    calls: u64,
    /// Bytes in use; what one thread allocates and another frees counts for either, modulo 2^64.
    bytes: u64,
}

impl Tally {
    /// Nothing is ever counted unless [`Counting`] is the binary's allocator.
    #[must_use]
    pub fn now() -> Self {
        TALLY.get()
    }

    /// Calls since then.
    #[must_use]
    pub const fn calls_since(self, before: Self) -> u64 {
        self.calls - before.calls
    }

    /// Bytes taken since then and not given back.
    #[must_use]
    pub const fn bytes_since(self, before: Self) -> u64 {
        self.bytes.wrapping_sub(before.bytes)
    }
}

fn count(calls: u64, more: usize, less: usize) {
    let mut tally = TALLY.get();
    tally.calls += calls;
    tally.bytes = tally
        .bytes
        .wrapping_add(more as u64)
        .wrapping_sub(less as u64);
    TALLY.set(tally);
}

/// The system's allocator, which keeps the tally of each thread. A binary makes it its own:
///
/// ```
/// #[global_allocator]
/// static COUNTING: turnstile_trial::Counting = turnstile_trial::Counting;
/// ```
#[derive(Debug)]
pub struct Counting;

// SAFETY: every call is handed on to the system's allocator; counting touches two thread-local
// numbers, which need no allocation and no destructor.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(1, layout.size(), 0);
        // SAFETY: the caller keeps the contract, and this is the same call.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(0, 0, layout.size());
        // SAFETY: the pointer came from `alloc` or `realloc`, which are the system's.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(1, size, layout.size());
        // SAFETY: the pointer came from `alloc` or `realloc`, which are the system's.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[cfg(test)]
mod tests {
    use super::{Counting, Tally};

    #[global_allocator]
    static COUNTING: Counting = Counting;

    #[test]
    fn allocations_are_counted_until_they_are_given_back() {
        let before = Tally::now();
        let kept = vec![7_u8; 1_000];
        let between = Tally::now();
        let taken = (between.calls_since(before), between.bytes_since(before));
        assert_eq!(taken, (1, 1_000));
        drop(kept);
        assert_eq!(Tally::now().bytes_since(before), 0);
    }
}
