//! Travel in its plainest form: what is free of each item, what each customer has, one transaction
//! after the other.

mod last;
#[cfg(test)]
mod tests;
mod world;

use std::collections::{HashMap, HashSet};

use crate::{Model, compact::compact, rooms::Reference};

pub use last::Last;
use world::{Before, Change, World};
pub use world::{Line, Offer};

/// The most items of one trip.
pub const TRIP_MAX: usize = 3;

/// How many transactions of unknown outcome may bear on one answer: all ways in which some of them
/// were carried out are tried. Where there are more, the answer is believed.
const NEAR_MAX: usize = 10;

/// How many locators that are over are remembered, to notice one that is given again.
const OVER_MAX: usize = 1 << 20;

/// What is reserved together. Items are numbers within the run; what stands twice is reserved twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trip {
    items: [u16; TRIP_MAX],
    length: usize,
}

/// What was asked, and what was answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// All of an interactive transaction; its place is that of its end.
    Transaction { steps: Vec<Step>, end: End },
    /// A trip in a transaction of its own; its place is where that was decided.
    Book {
        customer: u16,
        trip: Trip,
        answer: Booked,
    },
    Cancel {
        locator: Reference,
        answer: Cancelled,
    },
}

/// How an interactive transaction ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Committed,
    /// On request: it leaves nothing, but what it read was so.
    Aborted,
    Unknown,
}

/// One answered step of an interactive transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// None: there is no such item.
    Query { item: u16, found: Option<Offer> },
    /// None: there is no such customer.
    Bill { customer: u16, found: Option<Bill> },
    Add {
        item: u16,
        count: i64,
        /// What each costs from then on; none: as before.
        price: Option<u32>,
    },
    Reserve {
        customer: u16,
        trip: Trip,
        answer: Reserved,
    },
    /// It was refused, as this load cannot be.
    Strange,
}

/// What a customer has, sorted by item, and owes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bill {
    pub lines: Vec<Line>,
    pub total: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reserved {
    Done,
    /// There is not so much of this item.
    SoldOut(u16),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Booked {
    Done {
        locator: Reference,
        price: u64,
    },
    /// There is not so much of this item.
    SoldOut(u16),
    Unknown,
    /// A refusal that this load cannot get.
    Strange,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cancelled {
    Done,
    /// It was cancelled before.
    Over,
    Unknown,
    /// A refusal that this load cannot get.
    Strange,
}

compact!(struct Trip { items, length });
compact!(enum Operation {
    0 = Transaction { steps, end },
    1 = Book { customer, trip, answer },
    2 = Cancel { locator, answer },
});
compact!(enum End { 0 = Committed, 1 = Aborted, 2 = Unknown });
compact!(enum Step {
    0 = Query { item, found },
    1 = Bill { customer, found },
    2 = Add { item, count, price },
    3 = Reserve { customer, trip, answer },
    4 = Strange,
});
compact!(struct Bill { lines, total });
compact!(enum Reserved { 0 = Done, 1 = SoldOut(item) });
compact!(enum Booked {
    0 = Done { locator, price },
    1 = SoldOut(item),
    2 = Unknown,
    3 = Strange,
});
compact!(enum Cancelled { 0 = Done, 1 = Over, 2 = Unknown, 3 = Strange });

/// The agency, replayed.
///
/// Bounded: by items x customers, the itineraries that stand, 1,048,576 locators that are over, and
/// the transactions of unknown outcome. These *float*: each may have been carried out before whatever
/// is replayed later, whole or not at all. An answer that the state does not give is right when some
/// of them explain it; those without which nothing explains it were carried out. That they are added
/// when they are noticed, and not when they happened, makes no difference: what transactions change
/// here are sums. A violation may go unnoticed where several could explain it, but none is invented.
#[derive(Debug)]
pub struct Agency {
    world: World,
    itineraries: HashMap<Reference, Itinerary>,
    over: HashSet<Reference>,
    floating: Vec<Floating>,
    booked: u64,
}

/// What stands for a locator, and since which place.
#[derive(Clone, Copy, Debug)]
struct Itinerary {
    customer: u16,
    trip: Trip,
    since: u64,
}

/// A transaction whose place is not known.
#[derive(Clone, Debug)]
struct Floating {
    changes: Vec<Change>,
    /// Whether it was carried out for certain, only not known when.
    certain: bool,
    what: What,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Transaction,
    Booking,
    Cancellation(Reference),
}

impl Trip {
    /// A trip of the first of these items, as many as a trip has.
    #[must_use]
    pub fn new(items: &[u16]) -> Self {
        let mut trip = Self {
            items: [0; TRIP_MAX],
            length: items.len().min(TRIP_MAX),
        };
        trip.items[..trip.length].copy_from_slice(&items[..trip.length]);
        trip
    }

    #[must_use]
    pub fn items(&self) -> &[u16] {
        &self.items[..self.length]
    }

    /// How often an item is in it.
    fn count(&self, item: u16) -> i64 {
        self.items().iter().map(|&one| i64::from(one == item)).sum()
    }
}

impl Agency {
    /// So many of each item, and customers who have nothing.
    #[must_use]
    pub fn new(offers: Vec<Offer>, customers: usize) -> Self {
        Self {
            world: World::new(offers, customers),
            itineraries: HashMap::new(),
            over: HashSet::new(),
            floating: Vec::new(),
            booked: 0,
        }
    }

    /// Replays what reads the state, with or without some of what floats.
    fn explain(&mut self, operation: &Operation) -> Result<(), String> {
        let sentence = match self.world.replay(operation) {
            Ok(changes) => {
                self.keep(operation, changes);
                return Ok(());
            }
            Err(sentence) => sentence,
        };
        let touched = World::touched(operation);
        let near: Vec<usize> = (0..self.floating.len())
            .filter(|&number| {
                let mut changes = self.floating[number].changes.iter();
                changes.any(|change| touched.contains(change.cell()))
            })
            .collect();
        let carried_out = self.carried_out(operation, &near);
        self.world.make(&World::told(operation));
        for number in carried_out.ok_or(sentence)?.into_iter().rev() {
            self.settle(number);
        }
        Ok(())
    }

    /// What an aborted transaction did is undone.
    fn keep(&mut self, operation: &Operation, changes: Vec<Before>) {
        let aborted = matches!(
            operation,
            Operation::Transaction {
                end: End::Aborted,
                ..
            }
        );
        if aborted {
            self.world.undo(changes);
        }
    }

    /// Tries all ways in which some of those near were carried out: those without which nothing
    /// explains an operation, or none when nothing does. The state stays as it is.
    fn carried_out(&mut self, operation: &Operation, near: &[usize]) -> Option<Vec<usize>> {
        if near.len() > NEAR_MAX {
            return Some(Vec::new());
        }
        let mut in_all: Option<u32> = None;
        for some in 1..1_u32 << near.len() {
            let mut made = Vec::new();
            for bit in (0..near.len()).filter(|bit| some >> bit & 1 == 1) {
                made.extend(self.world.make(&self.floating[near[bit]].changes));
            }
            if let Ok(changes) = self.world.replay(operation) {
                self.world.undo(changes);
                in_all = Some(in_all.unwrap_or(some) & some);
            }
            self.world.undo(made);
        }
        let in_all = in_all?;
        let needed = (0..near.len()).filter(|bit| in_all >> bit & 1 == 1);
        Some(needed.map(|bit| near[bit]).collect())
    }

    /// One that floated was carried out.
    fn settle(&mut self, number: usize) {
        let floating = self.floating.swap_remove(number);
        self.world.make(&floating.changes);
        match floating.what {
            What::Transaction => {}
            What::Booking => self.booked += u64::from(!floating.certain),
            What::Cancellation(locator) => self.end(locator),
        }
    }

    fn end(&mut self, locator: Reference) {
        self.itineraries.remove(&locator);
        if self.over.len() >= OVER_MAX {
            self.over.clear();
        }
        self.over.insert(locator);
    }

    fn begin(&mut self, locator: Reference, itinerary: Itinerary) -> Result<(), String> {
        self.booked += 1;
        let again = self.over.contains(&locator);
        match self.itineraries.insert(locator, itinerary) {
            None if !again => Ok(()),
            _ => Err(format!("locator {locator} was given before")),
        }
    }

    fn book(
        &mut self,
        place: u64,
        operation: &Operation,
        (customer, trip): (u16, Trip),
        answer: Booked,
    ) -> Result<(), String> {
        match answer {
            Booked::Done { locator, .. } => {
                let explained = self.explain(operation);
                let since = place;
                let itinerary = Itinerary {
                    customer,
                    trip,
                    since,
                };
                let begun = self.begin(locator, itinerary);
                explained.and(begun)
            }
            Booked::SoldOut(_) => self.explain(operation),
            Booked::Unknown => Err(format!("{operation:?} has no answer, but a position")),
            Booked::Strange => Err(format!("{operation:?} was refused for no reason")),
        }
    }

    fn cancel(&mut self, locator: Reference, answer: Cancelled) -> Result<(), String> {
        let wrong = |sentence: &str| Err(format!("the cancellation of {locator} {sentence}"));
        let fades = What::Cancellation(locator);
        let fading = self.floating.iter().position(|one| one.what == fades);
        match (answer, self.itineraries.get(&locator).copied()) {
            (Cancelled::Done, Some(itinerary)) => {
                if let Some(number) = fading {
                    self.floating.swap_remove(number);
                }
                self.world.make(&itinerary.given_back());
                self.end(locator);
                Ok(())
            }
            (Cancelled::Done, None) if self.over.contains(&locator) => {
                wrong("was done, but that was over")
            }
            (Cancelled::Done, None) => wrong("was done, but that was never booked"),
            (Cancelled::Over, Some(itinerary)) => {
                if let Some(number) = fading {
                    self.settle(number);
                    return Ok(());
                }
                self.world.make(&itinerary.given_back());
                self.end(locator);
                let since = itinerary.since / Self::PLACES;
                wrong(&format!(
                    "was refused, for it is over, but {:?} was booked at position {since}: it is \
                     lost",
                    itinerary.trip
                ))
            }
            (Cancelled::Over, None) => Ok(()),
            (Cancelled::Unknown, _) => wrong("has no answer, but a position"),
            (Cancelled::Strange, _) => wrong("was refused for no reason"),
        }
    }
}

impl Itinerary {
    fn given_back(&self) -> Vec<Change> {
        let taken = World::taken(self.customer, &self.trip);
        taken.map(Change::given_back).collect()
    }
}

impl Model for Agency {
    type Operation = Operation;

    /// One record may free several who waited, one after the other.
    const PLACES: u64 = 1 << 20;

    fn apply(&mut self, position: u64, operation: &Operation) -> Result<(), String> {
        match operation {
            Operation::Transaction {
                end: End::Unknown, ..
            } => Err(format!("{operation:?} has no answer, but a position")),
            Operation::Transaction { .. } => self.explain(operation),
            Operation::Book {
                customer,
                trip,
                answer,
            } => self.book(position, operation, (*customer, *trip), *answer),
            Operation::Cancel { locator, answer } => self.cancel(*locator, *answer),
        }
    }

    /// A trip that waited and found something sold out tells no place that stands a crash.
    fn agrees(&self, reading: &Operation) -> bool {
        let Operation::Book {
            trip,
            answer: Booked::SoldOut(item),
            ..
        } = *reading
        else {
            return false;
        };
        let floats = |one: &Floating| one.changes.iter().any(|change| change.is_of(item));
        trip.count(item) > self.world.free(item) || self.floating.iter().any(floats)
    }

    fn shown(&self, reading: &Operation) -> String {
        match *reading {
            Operation::Book {
                answer: Booked::SoldOut(item),
                ..
            } => format!("{} of item {item} are free", self.world.free(item)),
            _ => "it is no reading".to_owned(),
        }
    }

    fn suspect(&mut self, operation: &Operation) {
        let (changes, certain, what) = match operation {
            Operation::Transaction { end, .. } => {
                let certain = *end == End::Committed;
                (World::told(operation), certain, What::Transaction)
            }
            Operation::Book {
                customer,
                trip,
                answer,
            } => {
                if let Booked::Done { locator, .. } = *answer {
                    let itinerary = Itinerary {
                        customer: *customer,
                        trip: *trip,
                        since: 0,
                    };
                    // Whether it was given before is noticed where places are known.
                    self.begin(locator, itinerary).ok();
                }
                if matches!(answer, Booked::SoldOut(_) | Booked::Strange) {
                    return;
                }
                let certain = *answer != Booked::Unknown;
                let taken = World::taken(*customer, trip);
                (taken.collect(), certain, What::Booking)
            }
            Operation::Cancel { locator, answer } => {
                let (Some(itinerary), Cancelled::Done | Cancelled::Unknown) =
                    (self.itineraries.get(locator).copied(), answer)
                else {
                    return;
                };
                let certain = *answer == Cancelled::Done;
                if certain {
                    self.end(*locator);
                }
                let what = What::Cancellation(*locator);
                (itinerary.given_back(), certain, what)
            }
        };
        for change in &changes {
            if let Change::Price { item, .. } = change {
                self.world.believe_price(*item);
            }
        }
        let changes = changes.into_iter().filter_map(Change::once).collect();
        self.floating.push(Floating {
            changes,
            certain,
            what,
        });
    }
}
