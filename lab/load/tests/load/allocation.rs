//! In the steady state the generator allocates nothing: neither the loop nor its guests.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
    time::Duration,
};

use turnstile_load::{
    pace::{self, Garbled, Heard, Pace, User},
    rooms::{Ask, Config, Guest, Mix},
};

use crate::toy::{Fault, Toy};

/// The system's allocator, which counts what each thread asks of it.
struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

fn allocations() -> u64 {
    ALLOCATIONS.get()
}

fn count() {
    ALLOCATIONS.set(ALLOCATIONS.get() + 1);
}

#[expect(unsafe_code, reason = "an allocator can only be counted by being one")]
// SAFETY: every call goes to the system's allocator as it came; the counter is a plain cell of the
// thread, without a destructor, and never allocates.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller keeps the contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count();
        // SAFETY: the caller keeps the contract.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: the caller keeps the contract.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

/// How many answers come before the steady state begins, and when it is over.
const FROM: u64 = 500;
const TO: u64 = 6_000;

/// A guest that looks at its thread's allocations between two of its answers, and then stops.
#[derive(Debug)]
struct Watched {
    guest: Guest,
    heard: u64,
    before: u64,
    during: Option<u64>,
    /// Allocates at one answer, to see that it would be noticed.
    careless: bool,
}

impl User for Watched {
    type Ask = Ask;

    const OPERATIONS: &'static [&'static str] = Guest::OPERATIONS;

    const REQUEST_BYTES_MAX: usize = Guest::REQUEST_BYTES_MAX;

    fn ask(&mut self, out: &mut Vec<u8>) -> Option<Ask> {
        if self.during.is_some() {
            return None;
        }
        self.guest.ask(out)
    }

    fn operation(ask: &Ask) -> usize {
        Guest::operation(ask)
    }

    fn hear<'a>(&mut self, ask: &Ask, bytes: &'a [u8]) -> Result<Option<Heard<'a>>, Garbled> {
        let heard = self.guest.hear(ask, bytes)?;
        self.heard += u64::from(heard.is_some());
        if self.heard == FROM {
            self.before = allocations();
        }
        if self.careless && self.heard == FROM + 10 {
            drop(std::hint::black_box(Box::new(self.heard)));
        }
        if self.heard == TO && self.during.is_none() {
            self.during = Some(allocations() - self.before);
        }
        Ok(heard)
    }
}

/// The allocations of the generator's thread while one guest gets `TO - FROM` answers.
fn measure(pipeline: usize, careless: bool) -> u64 {
    let toy = Toy::start(Fault::None);
    let config = Config {
        address: toy.address,
        users: 1,
        threads: 1,
        pipeline,
        warm_up: Duration::ZERO,
        duration: Duration::from_secs(120),
        mix: Mix::new(60, 40).unwrap(),
        seed: 5,
        property: "bench".to_owned(),
    };
    let watched = Watched {
        guest: Guest::new(&config, 0, 0),
        heard: 0,
        before: 0,
        during: None,
        careless,
    };
    let pace = Pace {
        address: config.address,
        threads: 1,
        pipeline,
        warm_up: config.warm_up,
        duration: config.duration,
    };
    let totals = pace::run(&pace, vec![watched], &mut |_progress| {}).unwrap();
    totals.users[0]
        .during
        .expect("the guest was answered often enough")
}

#[test]
fn nothing_is_allocated_or_freed_in_the_steady_state() {
    assert_eq!(measure(1, false), 0);
    assert_eq!(measure(16, false), 0);
}

#[test]
fn one_box_would_be_noticed() {
    assert!(measure(16, true) >= 2);
}
