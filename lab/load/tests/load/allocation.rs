//! In the steady state the generator allocates nothing: neither the loop nor its users.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
    sync::Arc,
    time::Duration,
};

use turnstile_load::{
    pace::{self, Ended, Garbled, Law, Pace, ParsedAnswer, Profile, Rhythm, User},
    rooms::{Config, Mix, visitors},
    travel::{OfferCatalogue, Traveller},
};

use crate::{
    agency::{self, Agency},
    toy::{Fault, Toy},
};

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

/// A user that looks at its thread's allocations between two of its answers, and then stops.
#[derive(Debug)]
struct Watched<U> {
    user: U,
    heard: u64,
    before: u64,
    during: Option<u64>,
    /// Allocates at one answer, to see that it would be noticed.
    careless: bool,
}

impl<U: User> User for Watched<U> {
    type Ask = U::Ask;

    const OPERATIONS: &'static [&'static str] = U::OPERATIONS;

    const WHOLES: &'static [&'static str] = U::WHOLES;

    const REQUEST_BYTES_MAX: usize = U::REQUEST_BYTES_MAX;

    fn goes_on(&self) -> bool {
        self.user.goes_on()
    }

    fn ask(&mut self, out: &mut Vec<u8>) -> Option<U::Ask> {
        if self.during.is_some() {
            return None;
        }
        self.user.ask(out)
    }

    fn operation(ask: &U::Ask) -> usize {
        U::operation(ask)
    }

    fn hear<'a>(
        &mut self,
        ask: &U::Ask,
        bytes: &'a [u8],
    ) -> Result<Option<ParsedAnswer<'a>>, Garbled> {
        let heard = self.user.hear(ask, bytes)?;
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

    fn heard(&mut self, ask: &U::Ask, due: u64, free: u64) -> Option<Ended> {
        self.user.heard(ask, due, free)
    }
}

/// The allocations of the generator's thread while a user gets `TO - FROM` answers.
fn measure<U: User>(pace: &Pace, user: U, careless: bool) -> u64 {
    let watched = Watched {
        user,
        heard: 0,
        before: 0,
        during: None,
        careless,
    };
    let totals = pace::run(pace, vec![watched], &mut |_progress| {}).unwrap();
    totals.users[0]
        .during
        .expect("the user was answered often enough")
}

fn measure_guest(pipeline: usize, careless: bool) -> u64 {
    let toy = Toy::start(Fault::None);
    let config = Config {
        pace: Pace {
            seed: 5,
            pipeline,
            ..Pace::closed(toy.address, Duration::ZERO, Duration::from_secs(120))
        },
        users: 1,
        mix: Mix::new(60, 40).unwrap(),
    };
    measure(&config.pace, visitors(&config, 0).remove(0), careless)
}

/// With a rate, the traveller rests between two transactions.
fn measure_traveller(rate: Option<f64>) -> u64 {
    let agency = Agency::open(agency::Fault::None);
    let stock = Arc::new(OfferCatalogue::make(&agency.address.into()).unwrap());
    let mut pace = Pace::closed(agency.address, Duration::ZERO, Duration::from_secs(120));
    if let Some(rate) = rate {
        pace.rhythm = Rhythm::Open {
            law: Law::Jitter(0.01),
            rate: Profile::constant(rate),
        };
    }
    measure(&pace, Traveller::alone(&stock, 5), false)
}

#[test]
fn nothing_is_allocated_or_freed_in_the_steady_state() {
    assert_eq!(measure_guest(1, false), 0);
    assert_eq!(measure_guest(16, false), 0);
    assert_eq!(measure_traveller(None), 0);
    assert_eq!(measure_traveller(Some(2_000.0)), 0);
}

#[test]
fn one_box_would_be_noticed() {
    assert!(measure_guest(16, true) >= 2);
}
