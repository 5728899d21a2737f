//! What a planner wants next.

use turnstile_check::{
    rooms::InlineReference,
    travel::{TRIP_MAX, TripItems},
};

use super::stock::PRICE;
use crate::seed::Dice;

/// What is asked of a hundred: trips in one command, cancellations; the rest are interactive
/// transactions.
const BOOKS: u64 = 25;
const CANCELS: u64 = 20;

/// Of so many cancellations one is of what is over.
const OVER_ONE_IN: u64 = 8;

/// Of so many interactive transactions one is aborted.
const ABORTS_ONE_IN: u64 = 6;

/// How many pairs of a query and a reservation a transaction has at most.
const PAIRS_MAX: u64 = 2;

/// The most steps of a transaction: the pairs, two bills, two more queries, and something added.
pub(super) const STEPS_MAX: usize = 9;

/// So many of an item are added at a time, by two of three transactions: about as many as are bought
/// for good in others.
pub(super) const ADDED: i64 = 2;
pub(super) const ADDED_TEXT: &[u8] = b"2";

/// Of so many additions one changes the price, to one of so many from the first on.
const REPRICES_ONE_IN: u64 = 3;
const PRICES: u64 = 400;

/// Only the first planner leaves transactions open, its hundredth, its thousandth, and so on: locks are
/// kept then for a whole lifetime.
const LEAVES_FIRST: u64 = 100;

/// One request within a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wish {
    Query {
        item: u16,
    },
    Bill {
        customer: u16,
    },
    /// With what each costs from then on, if that changes.
    Add {
        item: u16,
        price: Option<u32>,
    },
    Reserve {
        customer: u16,
        trip: TripItems,
    },
}

/// How an interactive transaction is to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PlannedEnding {
    Commit,
    Abort,
    /// Not at all: the server will end it.
    Leave,
}

/// One of so many trips in one command is only held, by a planner who holds nothing.
const HOLDS_ONE_IN: u64 = 3;

/// How long, in milliseconds at least and at most: what is held for long is out of everybody's way.
const HOLD_MS_MIN: u64 = 20;
pub(super) const HOLD_MS_MAX: u64 = 320;

/// A hold that is asked for when its time is over is asked for so long before or after, in milliseconds.
const NEAR_MS: u64 = 20;

/// What becomes of a hold, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fate {
    /// In milliseconds.
    pub(super) after_ms: u64,
    /// It is cancelled otherwise.
    pub(super) confirms: bool,
}

/// What begins next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PlannerTask {
    Transaction,
    Book {
        customer: u16,
        trip: TripItems,
    },
    Hold {
        customer: u16,
        trip: TripItems,
        hold_ms: u64,
    },
    Cancel {
        over: bool,
    },
}

/// The choices of one planner.
#[derive(Debug)]
pub(super) struct TransactionPlan {
    dice: Dice,
    items: u64,
    customers: u64,
    /// Whether it leaves transactions open, and which is the next.
    leaves: Option<u64>,
    begun: u64,
    steps: Vec<Wish>,
    at: usize,
    ending: PlannedEnding,
}

impl TransactionPlan {
    pub(super) fn new(seed: u64, user: usize, items: usize, customers: usize) -> Self {
        let wide = |count: usize| u64::try_from(count).expect("a count fits 64 bits");
        Self {
            dice: Dice::of_user(seed, wide(user)),
            items: wide(items),
            customers: wide(customers),
            leaves: (user == 0).then_some(LEAVES_FIRST),
            begun: 0,
            steps: Vec::with_capacity(STEPS_MAX),
            at: 0,
            ending: PlannedEnding::Commit,
        }
    }

    fn below(&mut self, bound: u64) -> u16 {
        u16::try_from(self.dice.below(bound)).expect("bounds are small")
    }

    fn trip(&mut self, most: u64) -> TripItems {
        let mut items = [0; TRIP_MAX];
        items.fill_with(|| self.below(self.items));
        let length = usize::from(1 + self.below(most));
        TripItems::new(&items[..length.min(TRIP_MAX)])
    }

    /// What becomes of a hold of so long: of eight, three are confirmed and two are given back in time, two
    /// are confirmed when their time is over or nearly so, and one is left alone until long after.
    pub(super) fn fate(&mut self, hold_ms: u64) -> Fate {
        let throw = self.dice.below(8);
        let after_ms = match throw {
            0..5 => self.dice.below(hold_ms / 2),
            5..7 => hold_ms - NEAR_MS + self.dice.below(2 * NEAR_MS),
            _ => hold_ms + self.dice.below(HOLD_MS_MAX),
        };
        let confirms = matches!(throw, 0..3 | 5..7);
        Fate { after_ms, confirms }
    }

    /// What begins next; `stands`: whether there is anything to cancel; `may_hold`: whether this
    /// planner may hold a trip.
    pub(super) fn errand(&mut self, stands: bool, may_hold: bool) -> PlannerTask {
        let throw = self.dice.below(100);
        if throw < BOOKS {
            let customer = self.below(self.customers);
            let trip = self.trip(3);
            if may_hold && self.dice.below(HOLDS_ONE_IN) == 0 {
                let hold_ms = HOLD_MS_MIN + self.dice.below(HOLD_MS_MAX - HOLD_MS_MIN);
                return PlannerTask::Hold {
                    customer,
                    trip,
                    hold_ms,
                };
            }
            return PlannerTask::Book { customer, trip };
        }
        if throw < BOOKS + CANCELS && stands {
            let over = self.dice.below(OVER_ONE_IN) == 0;
            return PlannerTask::Cancel { over };
        }
        self.begin();
        PlannerTask::Transaction
    }

    /// Chooses the steps of a transaction. What is looked at is mostly reserved, in any order, so that
    /// locks are wanted crosswise; two items are only looked at, so that whoever writes them conflicts
    /// with a reader.
    fn begin(&mut self) {
        self.begun += 1;
        self.at = 0;
        self.steps.clear();
        let customer = self.below(self.customers);
        self.steps.push(Wish::Bill { customer });
        for _ in 0..=self.dice.below(PAIRS_MAX) {
            let item = self.below(self.items);
            self.steps.push(Wish::Query { item });
            let alone = self.dice.below(2) == 0;
            let trip = if alone {
                TripItems::new(&[item])
            } else {
                self.trip(2)
            };
            self.steps.push(Wish::Reserve { customer, trip });
        }
        if self.dice.below(3) > 0 {
            let item = self.below(self.items);
            let reprices = self.dice.below(REPRICES_ONE_IN) == 0;
            let price = reprices.then(|| PRICE + u32::from(self.below(PRICES)));
            self.steps.push(Wish::Add { item, price });
        }
        let item = self.below(self.items);
        self.steps.push(Wish::Query { item });
        if self.dice.below(2) == 0 {
            // Its own changes must be there.
            self.steps
                .extend([Wish::Query { item }, Wish::Bill { customer }]);
        }
        let aborts = self.dice.below(ABORTS_ONE_IN) == 0;
        self.ending = if aborts {
            PlannedEnding::Abort
        } else {
            PlannedEnding::Commit
        };
        if self.leaves == Some(self.begun) {
            self.leaves = self.begun.checked_mul(10);
            self.ending = PlannedEnding::Leave;
        }
    }

    /// The next step; none when there are no more.
    pub(super) fn step(&self) -> Option<Wish> {
        self.steps.get(self.at).copied()
    }

    pub(super) const fn advance(&mut self) {
        self.at += 1;
    }

    pub(super) const fn ending(&self) -> PlannedEnding {
        self.ending
    }
}

/// The bookings that a planner can cancel. What it forgets stays booked.
#[derive(Debug)]
pub(super) struct CancellableBookings {
    standing: std::collections::VecDeque<InlineReference>,
    /// The last that was cancelled.
    over: Option<InlineReference>,
}

/// How many itineraries a planner remembers.
const HELD_MAX: usize = 64;

impl CancellableBookings {
    pub(super) fn new() -> Self {
        Self {
            standing: std::collections::VecDeque::with_capacity(HELD_MAX + 1),
            over: None,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.standing.is_empty()
    }

    pub(super) fn keep(&mut self, locator: InlineReference) {
        self.standing.push_back(locator);
        if self.standing.len() > HELD_MAX {
            self.standing.pop_front();
        }
    }

    /// One to cancel: the oldest, or one that is over, if there is one.
    pub(super) fn take(&mut self, over: bool) -> Option<InlineReference> {
        let over = self.over.filter(|_one| over);
        over.or_else(|| self.standing.pop_front())
    }

    pub(super) const fn end(&mut self, locator: InlineReference) {
        self.over = Some(locator);
    }
}
