//! What is free and reserved of each item and costs, and the bills; every change can be undone.

use std::collections::{BTreeMap, BTreeSet};

use super::{Bill, Booked, End, Operation, Reserved, Step, Trip};
use crate::compact::compact;

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

compact!(struct Offer { free, reserved, price });
compact!(struct Line { item, count, price });

/// The state. Where something happened that is not known yet, counts may be below zero meanwhile, and
/// a price is believed that may come from it.
#[derive(Debug)]
pub(super) struct World {
    /// The price that each has if it is known.
    offers: Vec<Offer>,
    /// Items whose price somebody may have changed at a time that nobody knows.
    believed: BTreeSet<u16>,
    bills: Vec<BTreeMap<u16, Entry>>,
    /// What the server calls items and customers, where that is known.
    item_names: Vec<String>,
    customer_names: Vec<String>,
}

/// So many of an item on a bill.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Entry {
    count: i64,
    /// What each costs: as much as the last one did when it was reserved. None: whatever is told.
    price: Option<u32>,
}

/// One change. But for prices all are sums, so that their order does not matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// So many more of an item are free.
    Put { item: u16, count: i64 },
    /// Each costs so much from now on.
    Price { item: u16, price: u32 },
    /// So many that were free are on a customer's bill.
    Take {
        customer: u16,
        item: u16,
        count: i64,
        at: Cost,
    },
}

/// What all of an item on a bill cost when it is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cost {
    /// What the item costs now.
    Now,
    /// What it did at some time.
    Once,
    /// What they did before.
    AsBefore,
}

/// What was there before a change.
#[derive(Debug)]
pub(super) struct Before {
    item: u16,
    offer: Offer,
    /// Of the customer whose bill was changed; none when the item was not on it.
    entry: Option<(u16, Option<Entry>)>,
}

/// The items and customers that an answer bears on.
#[derive(Debug, Default)]
pub(super) struct Touched {
    items: BTreeSet<u16>,
    customers: BTreeSet<u16>,
}

impl Change {
    /// The same, given back.
    pub(super) const fn given_back(self) -> Self {
        match self {
            Self::Put { item, count } => Self::Put {
                item,
                count: -count,
            },
            Self::Price { .. } => self,
            Self::Take {
                customer,
                item,
                count,
                ..
            } => Self::Take {
                customer,
                item,
                count: -count,
                at: Cost::AsBefore,
            },
        }
    }

    /// The same at a time that nobody knows; nothing where that has no meaning.
    pub(super) const fn once(self) -> Option<Self> {
        match self {
            Self::Put { .. } => Some(self),
            Self::Price { .. } => None,
            Self::Take {
                customer,
                item,
                count,
                ..
            } => Some(Self::Take {
                customer,
                item,
                count,
                at: Cost::Once,
            }),
        }
    }

    /// The same at a time that nobody knows, and given back since: all that may be left of it is what the
    /// others on that bill cost.
    pub(super) const fn passed(self) -> Self {
        match self {
            Self::Put { .. } | Self::Price { .. } => self,
            Self::Take { customer, item, .. } => Self::Take {
                customer,
                item,
                count: 0,
                at: Cost::Once,
            },
        }
    }

    /// The item and, if it is on a bill, the customer.
    pub(super) const fn cell(&self) -> (u16, Option<u16>) {
        match *self {
            Self::Put { item, .. } | Self::Price { item, .. } => (item, None),
            Self::Take { item, customer, .. } => (item, Some(customer)),
        }
    }

    pub(super) const fn is_of(&self, wanted: u16) -> bool {
        self.cell().0 == wanted
    }

    pub(super) fn is_on_bill(&self, wanted: u16) -> bool {
        self.cell().1 == Some(wanted)
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
            believed: BTreeSet::new(),
            bills: vec![BTreeMap::new(); customers],
            item_names: Vec::new(),
            customer_names: Vec::new(),
        }
    }

    pub(super) fn name(&mut self, items: Vec<String>, customers: Vec<String>) {
        self.item_names = items;
        self.customer_names = customers;
    }

    /// What the server calls the item or the customer that was read, and the items of the bill, as the end
    /// of a sentence.
    pub(super) fn named(&self, step: &Step) -> String {
        let name = |word: &str, number: u16, names: &[String]| {
            let name = names.get(usize::from(number));
            name.map_or_else(String::new, |name| format!(", {word} {number} is {name}"))
        };
        match step {
            Step::Query { item, .. } => name("item", *item, &self.item_names),
            Step::Bill { customer, found } => {
                let lines = found.iter().flat_map(|bill| &bill.lines);
                let items = lines.map(|line| name("item", line.item, &self.item_names));
                let customer = name("customer", *customer, &self.customer_names);
                [customer].into_iter().chain(items).collect()
            }
            Step::Add { .. } | Step::Reserve { .. } | Step::Strange => String::new(),
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
            at: Cost::Now,
        })
    }

    /// Somebody may change an item's price, now or later.
    pub(super) fn believe_price(&mut self, item: u16) {
        self.believed.insert(item);
    }

    /// What an item costs, if that is known.
    fn price(&self, item: u16) -> Option<u32> {
        let known = !self.believed.contains(&item);
        known.then(|| self.offer(item).price)
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
                answer:
                    Booked::Done { .. } | Booked::Held { .. } | Booked::Unknown | Booked::HeldUnknown,
            } => Self::taken(*customer, trip).collect(),
            Operation::Book { .. } | Operation::Cancel { .. } | Operation::Confirm { .. } => {
                Vec::new()
            }
        }
    }

    fn told_by_step(step: &Step) -> Vec<Change> {
        match step {
            Step::Add { item, count, price } => {
                let (item, count) = (*item, *count);
                let price = price.map(|price| Change::Price { item, price });
                let put = Change::Put { item, count };
                [put].into_iter().chain(price).collect()
            }
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
            Operation::Cancel { .. } | Operation::Confirm { .. } => {}
        }
        touched
    }

    /// Makes changes one after the other; what was there before, in the same order.
    pub(super) fn make(&mut self, changes: &[Change]) -> Vec<Before> {
        let each = changes.iter().map(|change| self.change(*change));
        each.collect()
    }

    /// Everything is again as it was before these changes, which were the last.
    pub(super) fn undo(&mut self, changes: Vec<Before>) {
        for before in changes.into_iter().rev() {
            let Before { item, offer, entry } = before;
            self.offers[usize::from(item)] = offer;
            if let Some((customer, entry)) = entry {
                self.set_entry(customer, item, entry);
            }
        }
    }

    fn set_entry(&mut self, customer: u16, item: u16, entry: Option<Entry>) {
        let bill = &mut self.bills[usize::from(customer)];
        match entry {
            Some(entry) => bill.insert(item, entry),
            None => bill.remove(&item),
        };
    }

    fn change(&mut self, change: Change) -> Before {
        let (item, customer) = change.cell();
        let entry = customer.map(|customer| {
            let bill = &self.bills[usize::from(customer)];
            (customer, bill.get(&item).copied())
        });
        let offer = self.offer(item);
        let before = Before { item, offer, entry };
        let price = self.price(item);
        let offer = &mut self.offers[usize::from(item)];
        match change {
            Change::Put { count, .. } => offer.free += count,
            Change::Price { price, .. } => offer.price = price,
            Change::Take {
                customer,
                count,
                at,
                ..
            } => {
                offer.free -= count;
                offer.reserved += count;
                let known = before.entry.and_then(|(_, entry)| entry);
                let mut entry = known.unwrap_or_default();
                entry.count += count;
                match at {
                    Cost::Now => entry.price = price,
                    Cost::Once => entry.price = None,
                    Cost::AsBefore => {}
                }
                let entry = (entry.count != 0).then_some(entry);
                self.set_entry(customer, item, entry);
            }
        }
        before
    }

    /// Carries out a whole transaction, if every one of its answers is right, and says what it has
    /// changed; otherwise nothing is changed.
    pub(super) fn replay(&mut self, operation: &Operation) -> Result<Vec<Before>, String> {
        match operation {
            Operation::Transaction { steps, .. } => self.replay_steps(steps),
            Operation::Book {
                customer,
                trip,
                answer,
            } => {
                let answer = match *answer {
                    Booked::Done { price, .. } | Booked::Held { price, .. } => {
                        self.compare_price(trip, price)?;
                        Reserved::Done
                    }
                    Booked::SoldOut(item) => Reserved::SoldOut(item),
                    Booked::Unknown | Booked::HeldUnknown | Booked::Strange => {
                        return Ok(Vec::new());
                    }
                };
                self.replay_steps(&[Step::Reserve {
                    customer: *customer,
                    trip: *trip,
                    answer,
                }])
            }
            Operation::Cancel { .. } | Operation::Confirm { .. } => Ok(Vec::new()),
        }
    }

    fn replay_steps(&mut self, steps: &[Step]) -> Result<Vec<Before>, String> {
        let mut changes = Vec::new();
        for (number, step) in steps.iter().enumerate() {
            if let Err(sentence) = self.check(step) {
                self.undo(changes);
                return Err(format!(
                    "step {} of {}: {sentence}",
                    number + 1,
                    steps.len()
                ));
            }
            let told = Self::told_by_step(step);
            changes.extend(self.make(&told));
        }
        Ok(changes)
    }

    fn compare_price(&self, trip: &Trip, told: u64) -> Result<(), String> {
        let prices = trip.items().iter().map(|&item| self.price(item));
        let Some(prices) = prices.collect::<Option<Vec<u32>>>() else {
            return Ok(());
        };
        let price: u64 = prices.into_iter().map(u64::from).sum();
        if price == told {
            return Ok(());
        }
        Err(format!("{trip:?} was booked for {told}, but costs {price}"))
    }

    /// Whether a step must be answered so now.
    pub(super) fn check(&self, step: &Step) -> Result<(), String> {
        match step {
            Step::Query { item, found } => {
                let mut known = self.offer(*item);
                if let (Some(found), None) = (found, self.price(*item)) {
                    known.price = found.price;
                }
                if *found == Some(known) {
                    return Ok(());
                }
                let found = shown(found.as_ref());
                Err(format!(
                    "item {item} was shown as {found}, but is {known:?}"
                ))
            }
            Step::Bill { customer, found } => {
                let known = self.bill(*customer, found.as_ref());
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

    /// What a customer has; a price that is not known is as it is told.
    fn bill(&self, customer: u16, told: Option<&Bill>) -> Bill {
        let told_price = |item: u16| {
            let mut lines = told?.lines.iter();
            lines.find(|line| line.item == item).map(|line| line.price)
        };
        let known = self.bills.get(usize::from(customer));
        let lines = known.into_iter().flatten().map(|(&item, entry)| Line {
            item,
            count: entry.count,
            price: entry.price.or_else(|| told_price(item)).unwrap_or(0),
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
