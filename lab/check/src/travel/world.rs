//! What is free and reserved of each item, and the bills; every change can be undone.

use std::collections::{BTreeMap, BTreeSet};

use super::{Bill, Booked, End, Operation, Reserved, Step, Trip};

/// What there is of an item, and its price.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offer {
    pub free: i64,
    pub reserved: i64,
    pub price: u32,
}

/// So many of one item on a bill, each at this price.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// A number beyond those of the run: nothing that it knows.
    pub item: u16,
    pub count: i64,
    pub price: u32,
}

/// The state. Prices do not change. Where something happened that is not known yet, counts may be
/// below zero meanwhile.
#[derive(Debug)]
pub(super) struct World {
    offers: Vec<Offer>,
    bills: Vec<BTreeMap<u16, i64>>,
}

/// One change of a sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// So many more of an item are free.
    Put { item: u16, count: i64 },
    /// So many that were free are on a customer's bill.
    Take {
        customer: u16,
        item: u16,
        count: i64,
    },
}

/// The items and customers that an answer bears on.
#[derive(Debug, Default)]
pub(super) struct Touched {
    items: BTreeSet<u16>,
    customers: BTreeSet<u16>,
}

impl Change {
    pub(super) const fn inverse(self) -> Self {
        match self {
            Self::Put { item, count } => Self::Put {
                item,
                count: -count,
            },
            Self::Take {
                customer,
                item,
                count,
            } => Self::Take {
                customer,
                item,
                count: -count,
            },
        }
    }

    /// The item and, if it is on a bill, the customer.
    pub(super) const fn cell(&self) -> (u16, Option<u16>) {
        match *self {
            Self::Put { item, .. } => (item, None),
            Self::Take { item, customer, .. } => (item, Some(customer)),
        }
    }

    pub(super) const fn is_of(&self, wanted: u16) -> bool {
        self.cell().0 == wanted
    }
}

impl Touched {
    pub(super) fn contains(&self, (item, customer): (u16, Option<u16>)) -> bool {
        let on_bill = customer.is_some_and(|customer| self.customers.contains(&customer));
        on_bill || self.items.contains(&item)
    }
}

impl World {
    pub(super) fn new(offers: Vec<Offer>, customers: usize) -> Self {
        Self {
            offers,
            bills: vec![BTreeMap::new(); customers],
        }
    }

    fn offer(&self, item: u16) -> Offer {
        let offer = self.offers.get(usize::from(item));
        offer.copied().unwrap_or_default()
    }

    pub(super) fn free(&self, item: u16) -> i64 {
        self.offer(item).free
    }

    pub(super) fn taken(customer: u16, trip: &Trip) -> impl Iterator<Item = Change> {
        trip.items().iter().map(move |&item| Change::Take {
            customer,
            item,
            count: 1,
        })
    }

    /// What an operation changed by what was answered, or changes if it was carried out.
    pub(super) fn told(operation: &Operation) -> Vec<Change> {
        match operation {
            Operation::Transaction {
                end: End::Aborted, ..
            } => Vec::new(),
            Operation::Transaction { steps, .. } => {
                steps.iter().flat_map(Self::told_by_step).collect()
            }
            Operation::Book {
                customer,
                trip,
                answer: Booked::Done { .. } | Booked::Unknown,
            } => Self::taken(*customer, trip).collect(),
            Operation::Book { .. } | Operation::Cancel { .. } => Vec::new(),
        }
    }

    fn told_by_step(step: &Step) -> Vec<Change> {
        match step {
            Step::Add { item, count } => vec![Change::Put {
                item: *item,
                count: *count,
            }],
            Step::Reserve {
                customer,
                trip,
                answer: Reserved::Done,
            } => Self::taken(*customer, trip).collect(),
            Step::Query { .. } | Step::Bill { .. } | Step::Reserve { .. } | Step::Strange => {
                Vec::new()
            }
        }
    }

    pub(super) fn touched(operation: &Operation) -> Touched {
        let mut touched = Touched::default();
        match operation {
            Operation::Transaction { steps, .. } => {
                for step in steps {
                    match step {
                        Step::Query { item, .. } => drop(touched.items.insert(*item)),
                        Step::Bill { customer, .. } => drop(touched.customers.insert(*customer)),
                        Step::Reserve { trip, .. } => touched.items.extend(trip.items()),
                        Step::Add { .. } | Step::Strange => {}
                    }
                }
            }
            Operation::Book { trip, .. } => touched.items.extend(trip.items()),
            Operation::Cancel { .. } => {}
        }
        touched
    }

    pub(super) fn make(&mut self, changes: &[Change]) {
        for change in changes {
            self.change(*change);
        }
    }

    pub(super) fn undo(&mut self, changes: &[Change]) {
        for change in changes.iter().rev() {
            self.change(change.inverse());
        }
    }

    fn change(&mut self, change: Change) {
        match change {
            Change::Put { item, count } => self.offers[usize::from(item)].free += count,
            Change::Take {
                customer,
                item,
                count,
            } => {
                let offer = &mut self.offers[usize::from(item)];
                offer.free -= count;
                offer.reserved += count;
                let bill = &mut self.bills[usize::from(customer)];
                let line = bill.entry(item).or_default();
                *line += count;
                if *line == 0 {
                    bill.remove(&item);
                }
            }
        }
    }

    /// Carries out a whole transaction, if every one of its answers is right, and says what it has
    /// changed; otherwise nothing is changed.
    pub(super) fn replay(&mut self, operation: &Operation) -> Result<Vec<Change>, String> {
        match operation {
            Operation::Transaction { steps, .. } => self.replay_steps(steps),
            Operation::Book {
                customer,
                trip,
                answer,
            } => {
                let answer = match *answer {
                    Booked::Done { price, .. } => {
                        self.compare_price(trip, price)?;
                        Reserved::Done
                    }
                    Booked::SoldOut(item) => Reserved::SoldOut(item),
                    Booked::Unknown | Booked::Strange => return Ok(Vec::new()),
                };
                self.replay_steps(&[Step::Reserve {
                    customer: *customer,
                    trip: *trip,
                    answer,
                }])
            }
            Operation::Cancel { .. } => Ok(Vec::new()),
        }
    }

    fn replay_steps(&mut self, steps: &[Step]) -> Result<Vec<Change>, String> {
        let mut changes = Vec::new();
        for (number, step) in steps.iter().enumerate() {
            if let Err(sentence) = self.check(step) {
                self.undo(&changes);
                return Err(format!(
                    "step {} of {}: {sentence}",
                    number + 1,
                    steps.len()
                ));
            }
            let told = Self::told_by_step(step);
            self.make(&told);
            changes.extend(told);
        }
        Ok(changes)
    }

    fn compare_price(&self, trip: &Trip, told: u64) -> Result<(), String> {
        let prices = trip.items().iter().map(|&item| self.offer(item).price);
        let price: u64 = prices.map(u64::from).sum();
        if price == told {
            return Ok(());
        }
        Err(format!("{trip:?} was booked for {told}, but costs {price}"))
    }

    /// Whether a step must be answered so now.
    pub(super) fn check(&self, step: &Step) -> Result<(), String> {
        match step {
            Step::Query { item, found } => {
                let known = self.offer(*item);
                if *found == Some(known) {
                    return Ok(());
                }
                let found = shown(found.as_ref());
                Err(format!(
                    "item {item} was shown as {found}, but is {known:?}"
                ))
            }
            Step::Bill { customer, found } => {
                let known = self.bill(*customer);
                if found.as_ref() == Some(&known) {
                    return Ok(());
                }
                let found = shown(found.as_ref());
                Err(format!(
                    "the bill of customer {customer} was shown as {found}, but is {known:?}"
                ))
            }
            Step::Add { .. } => Ok(()),
            Step::Reserve { trip, answer, .. } => self.check_trip(trip, *answer),
            Step::Strange => Err("was refused for no reason".to_owned()),
        }
    }

    fn check_trip(&self, trip: &Trip, answer: Reserved) -> Result<(), String> {
        let lacks = |item: u16| trip.count(item) > self.free(item);
        match answer {
            Reserved::Done => {
                let sold_out = trip.items().iter().find(|&&item| lacks(item));
                sold_out.map_or(Ok(()), |item| {
                    Err(format!(
                        "{trip:?} was reserved, but of item {item} {} are free: it is sold twice",
                        self.free(*item)
                    ))
                })
            }
            Reserved::SoldOut(item) if lacks(item) => Ok(()),
            Reserved::SoldOut(item) => Err(format!(
                "{trip:?} was refused, for item {item} is sold out, but {} are free",
                self.free(item)
            )),
        }
    }

    fn bill(&self, customer: u16) -> Bill {
        let known = self.bills.get(usize::from(customer));
        let lines = known.into_iter().flatten().map(|(&item, &count)| Line {
            item,
            count,
            price: self.offer(item).price,
        });
        let lines: Vec<Line> = lines.collect();
        let owed = |line: &Line| u64::try_from(line.count).unwrap_or(0) * u64::from(line.price);
        let total = lines.iter().map(owed).sum();
        Bill { lines, total }
    }
}

/// What was shown, or that there was nothing.
fn shown(found: Option<&impl std::fmt::Debug>) -> String {
    found.map_or_else(|| "nothing".to_owned(), |found| format!("{found:?}"))
}
