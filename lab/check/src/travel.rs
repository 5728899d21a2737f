//! Travel in its plainest form: what is free of each item, what each customer has, one transaction
//! after the other.

mod holds;
mod last;
#[cfg(test)]
mod tests;
mod words;
mod world;

use std::collections::{HashMap, HashSet};

use crate::{Model, rooms::InlineReference};

use holds::{Deadlines, HoldClock, TripHold};
pub use last::AgencyEnd;
pub use words::{
    AgencyOperation, CustomerBill, JourneyEnd, JourneyStep, ReserveAnswer, TRIP_MAX, TripBooked,
    TripCancelled, TripConfirmed, TripItems,
};
use world::{Before, World, WorldChange};
pub use world::{BillRow, ItemOffer};

/// How many transactions of unknown outcome may bear on one answer: all ways in which some of them
/// were carried out are tried. Where there are more, the answer is believed.
const NEAR_MAX: usize = 10;

/// How many locators that are over are remembered, to notice one that is given again.
const OVER_MAX: usize = 1 << 20;

/// The agency, replayed.
///
/// Bounded: by items x customers, the itineraries that stand, 1,048,576 locators that are over, and
/// the transactions of unknown outcome. These *float*: each may have been carried out before whatever
/// is replayed later, whole or not at all. An answer that the state does not give is right when some
/// of them explain it; those without which nothing explains it were carried out. That they are added
/// when they are noticed, and not when they happened, makes no difference: what transactions change
/// here are sums. A violation may go unnoticed where several could explain it, but none is invented.
///
/// The end of each hold floats, too: its time may have come without anybody being told.
#[derive(Debug)]
pub struct Agency {
    world: World,
    itineraries: HashMap<InlineReference, StandingItinerary>,
    over: HashSet<InlineReference>,
    floating: Vec<Floating>,
    booked: u64,
    clock: HoldClock,
    deadlines: Deadlines,
    /// The place that is replayed.
    at: u64,
}

/// What stands for a locator, and since which place.
#[derive(Clone, Copy, Debug)]
struct StandingItinerary {
    customer: u16,
    trip: TripItems,
    since: u64,
    /// Nothing when it is booked.
    hold: Option<TripHold>,
}

/// A transaction whose place is not known.
#[derive(Clone, Debug)]
struct Floating {
    changes: Vec<WorldChange>,
    /// Whether it was carried out for certain, only not known when.
    certain: bool,
    what: FloatingKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FloatingKind {
    Transaction,
    Booking,
    Cancellation(InlineReference),
    /// The end of a hold.
    Expiry(InlineReference),
    /// A hold that may have been made.
    Hold,
    /// The end of one whose locator nobody was told.
    HoldsEnd,
    /// One that may have been made, and has ended without being noticed.
    PastHold,
}

impl FloatingKind {
    /// Whether it gives this itinerary back.
    fn ends(self, wanted: InlineReference) -> bool {
        matches!(self, Self::Cancellation(locator) | Self::Expiry(locator) if locator == wanted)
    }

    /// Whether nothing is taken by it that was free.
    const fn gives_back_only(self) -> bool {
        matches!(self, Self::Expiry(_) | Self::HoldsEnd | Self::PastHold)
    }
}

impl Agency {
    /// So many of each item, and customers who have nothing.
    #[must_use]
    pub fn new(offers: Vec<ItemOffer>, customers: usize) -> Self {
        Self {
            world: World::new(offers, customers),
            itineraries: HashMap::new(),
            over: HashSet::new(),
            floating: Vec::new(),
            booked: 0,
            clock: HoldClock::default(),
            deadlines: Deadlines::default(),
            at: 0,
        }
    }

    /// The same, which tells what the server calls the items and customers that are wrong in the end.
    #[must_use]
    pub fn with_names(mut self, items: Vec<String>, customers: Vec<String>) -> Self {
        self.world.name(items, customers);
        self
    }

    /// Replays what reads the state, with or without some of what floats.
    fn explain(&mut self, operation: &AgencyOperation) -> Result<(), String> {
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
    fn keep(&mut self, operation: &AgencyOperation, changes: Vec<Before>) {
        let aborted = matches!(
            operation,
            AgencyOperation::Transaction {
                end: JourneyEnd::Aborted,
                ..
            }
        );
        if aborted {
            self.world.undo(changes);
        }
    }

    /// Tries all ways in which some of those near were carried out: those without which nothing
    /// explains an operation, or none when nothing does. The state stays as it is.
    fn carried_out(&mut self, operation: &AgencyOperation, near: &[usize]) -> Option<Vec<usize>> {
        if near.len() > NEAR_MAX {
            return Some(Vec::new());
        }
        let mut in_all: Option<u32> = None;
        for some in 1..1_u32 << near.len() {
            let explains = self.with(near, some, |world| {
                let changes = world.replay(operation);
                changes.map(|changes| world.undo(changes)).is_ok()
            });
            if explains {
                in_all = Some(in_all.unwrap_or(some) & some);
            }
        }
        let in_all = in_all?;
        let needed = (0..near.len()).filter(|bit| in_all >> bit & 1 == 1);
        Some(needed.map(|bit| near[bit]).collect())
    }

    /// What is seen if of those near these were carried out, bit by bit. The state stays as it is.
    fn with(&mut self, near: &[usize], some: u32, look: impl FnOnce(&mut World) -> bool) -> bool {
        let mut made = Vec::new();
        for bit in (0..near.len()).filter(|bit| some >> bit & 1 == 1) {
            made.extend(self.world.make(&self.floating[near[bit]].changes));
        }
        let seen = look(&mut self.world);
        self.world.undo(made);
        seen
    }

    /// One that floated was carried out.
    fn settle(&mut self, number: usize) {
        let floating = self.floating.swap_remove(number);
        self.world.make(&floating.changes);
        match floating.what {
            FloatingKind::Transaction | FloatingKind::HoldsEnd | FloatingKind::PastHold => {}
            FloatingKind::Booking => self.booked += u64::from(!floating.certain),
            FloatingKind::Cancellation(locator) => self.end(locator),
            FloatingKind::Expiry(locator) => {
                self.claim_over(locator);
                self.end(locator);
            }
            FloatingKind::Hold => {
                self.booked += 1;
                let changes = floating.changes.into_iter().map(WorldChange::given_back);
                self.float(changes.collect(), FloatingKind::HoldsEnd);
            }
        }
    }

    /// Something may have happened, or may happen at any time.
    fn float(&mut self, changes: Vec<WorldChange>, what: FloatingKind) {
        self.floating.push(Floating {
            changes,
            certain: false,
            what,
        });
    }

    fn end(&mut self, locator: InlineReference) {
        self.itineraries.remove(&locator);
        if self.over.len() >= OVER_MAX {
            self.over.clear();
        }
        self.over.insert(locator);
    }

    fn begin(
        &mut self,
        locator: InlineReference,
        itinerary: StandingItinerary,
    ) -> Result<(), String> {
        self.booked += 1;
        if let Some(hold) = itinerary.hold {
            self.float(itinerary.given_back(), FloatingKind::Expiry(locator));
            self.begin_hold(locator, hold);
        }
        let again = self.over.contains(&locator);
        match self.itineraries.insert(locator, itinerary) {
            None if !again => Ok(()),
            _ => Err(format!("locator {locator} was given before")),
        }
    }

    fn book(
        &mut self,
        place: u64,
        operation: &AgencyOperation,
        (customer, trip): (u16, TripItems),
        answer: TripBooked,
    ) -> Result<(), String> {
        match answer {
            TripBooked::Done { locator, .. } | TripBooked::Held { locator, .. } => {
                let in_time = self.hear_time(place, answer);
                let explained = self.explain(operation);
                let itinerary = StandingItinerary {
                    customer,
                    trip,
                    since: place,
                    hold: TripHold::of(answer),
                };
                let begun = self.begin(locator, itinerary);
                explained.and(begun).and(in_time)
            }
            TripBooked::SoldOut(_) => self.explain(operation),
            TripBooked::Unknown | TripBooked::HeldUnknown => {
                Err(format!("{operation:?} has no answer, but a position"))
            }
            TripBooked::Strange => Err(format!("{operation:?} was refused for no reason")),
        }
    }
}

impl StandingItinerary {
    fn given_back(&self) -> Vec<WorldChange> {
        let taken = World::taken(self.customer, &self.trip);
        taken.map(WorldChange::given_back).collect()
    }
}

impl Model for Agency {
    type Operation = AgencyOperation;

    /// One record may free several who waited, one after the other.
    const PLACES: u64 = 1 << 20;

    fn apply(&mut self, position: u64, operation: &AgencyOperation) -> Result<(), String> {
        self.at = position;
        self.end_holds();
        match operation {
            AgencyOperation::Transaction {
                end: JourneyEnd::Unknown,
                ..
            } => Err(format!("{operation:?} has no answer, but a position")),
            AgencyOperation::Transaction { .. } => self.explain(operation),
            AgencyOperation::Book {
                customer,
                trip,
                answer,
            } => self.book(position, operation, (*customer, *trip), *answer),
            AgencyOperation::Cancel { locator, answer } => self.cancel(*locator, *answer),
            AgencyOperation::Confirm { locator, answer } => self.confirm(*locator, *answer),
        }
    }

    /// A trip that waited and found something sold out tells no place that stands a crash.
    fn agrees(&self, reading: &AgencyOperation) -> bool {
        let AgencyOperation::Book {
            trip,
            answer: TripBooked::SoldOut(item),
            ..
        } = *reading
        else {
            return false;
        };
        let of_item = |one: &Floating| one.changes.iter().any(|change| change.is_of(item));
        // The end of a hold makes more free.
        let floats = |one: &Floating| !one.what.gives_back_only() && of_item(one);
        trip.count(item) > self.world.free(item) || self.floating.iter().any(floats)
    }

    fn shown(&self, reading: &AgencyOperation) -> String {
        match *reading {
            AgencyOperation::Book {
                answer: TripBooked::SoldOut(item),
                ..
            } => format!("{} of item {item} are free", self.world.free(item)),
            _ => "it is no reading".to_owned(),
        }
    }

    fn suspect(&mut self, operation: &AgencyOperation) {
        let (changes, certain, what) = match operation {
            AgencyOperation::Transaction { end, .. } => {
                let certain = *end == JourneyEnd::Committed;
                (World::told(operation), certain, FloatingKind::Transaction)
            }
            AgencyOperation::Book {
                customer,
                trip,
                answer,
            } => {
                if let TripBooked::Done { locator, .. } | TripBooked::Held { locator, .. } = *answer
                {
                    let itinerary = StandingItinerary {
                        customer: *customer,
                        trip: *trip,
                        since: 0,
                        hold: TripHold::of(*answer),
                    };
                    // Whether it was given before is noticed where places are known.
                    self.begin(locator, itinerary).ok();
                }
                if matches!(answer, TripBooked::SoldOut(_) | TripBooked::Strange) {
                    return;
                }
                let what = match answer {
                    TripBooked::HeldUnknown => FloatingKind::Hold,
                    _ => FloatingKind::Booking,
                };
                let certain = !matches!(answer, TripBooked::Unknown | TripBooked::HeldUnknown);
                (World::taken(*customer, trip).collect(), certain, what)
            }
            AgencyOperation::Cancel { locator, answer } => {
                let Some((changes, certain)) = self.suspect_cancellation(*locator, *answer) else {
                    return;
                };
                (changes, certain, FloatingKind::Cancellation(*locator))
            }
            AgencyOperation::Confirm { locator, .. } => return self.doubt_hold(*locator),
        };
        for change in &changes {
            if let WorldChange::Price { item, .. } = change {
                self.world.believe_price(*item);
            }
        }
        if what == FloatingKind::Hold {
            let passed = changes.iter().map(|change| change.passed());
            self.float(passed.collect(), FloatingKind::PastHold);
        }
        let changes = changes.into_iter().filter_map(WorldChange::once).collect();
        self.floating.push(Floating {
            changes,
            certain,
            what,
        });
    }
}
