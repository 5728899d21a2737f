//! What is free and reserved of each item and costs, and the bills; every change can be undone.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    AgencyOperation, CustomerBill, JourneyEnd, JourneyStep, ReserveAnswer, TripBooked, TripItems,
};
use crate::compact::compact;

/// What there is of an item, and its price.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ItemOffer {
    pub free: i64,
    pub reserved: i64,
    pub price: u32,
}

/// So many of one item on a bill, each at this price.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BillRow {
    /// A number beyond those of the run: nothing that it knows.
    pub item: u16,
    pub count: i64,
    pub price: u32,
}

compact!(struct ItemOffer { free, reserved, price });
compact!(struct BillRow { item, count, price });

/// The state. Where something happened that is not known yet, counts may be below zero meanwhile, and
/// a price is believed that may come from it.
#[derive(Debug)]
pub(super) struct World {
    /// The price that each has if it is known.
    offers: Vec<ItemOffer>,
    /// Items whose price somebody may have changed at a time that nobody knows.
    believed: BTreeSet<u16>,
    bills: Vec<BTreeMap<u16, BillEntry>>,
    /// What the server calls items and customers, where that is known.
    item_names: Vec<String>,
    customer_names: Vec<String>,
}

/// So many of an item on a bill.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct BillEntry {
    count: i64,
    /// What each costs: as much as the last one did when it was reserved. None: whatever is told.
    price: Option<u32>,
}

/// One change. But for prices all are sums, so that their order does not matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WorldChange {
    /// So many more of an item are free.
    Put { item: u16, count: i64 },
    /// Each costs so much from now on.
    Price { item: u16, price: u32 },
    /// So many that were free are on a customer's bill.
    Take {
        customer: u16,
        item: u16,
        count: i64,
        at: BillPrice,
    },
}

/// What all of an item on a bill cost when it is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BillPrice {
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
    offer: ItemOffer,
    /// Of the customer whose bill was changed; none when the item was not on it.
    entry: Option<(u16, Option<BillEntry>)>,
}

/// The items and customers that an answer bears on.
#[derive(Debug, Default)]
pub(super) struct Touched {
    items: BTreeSet<u16>,
    customers: BTreeSet<u16>,
}

impl WorldChange {
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
                at: BillPrice::AsBefore,
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
                at: BillPrice::Once,
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
                at: BillPrice::Once,
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
    pub(super) fn new(offers: Vec<ItemOffer>, customers: usize) -> Self {
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
    pub(super) fn named(&self, step: &JourneyStep) -> String {
        let name = |word: &str, number: u16, names: &[String]| {
            let name = names.get(usize::from(number));
            name.map_or_else(String::new, |name| format!(", {word} {number} is {name}"))
        };
        match step {
            JourneyStep::Query { item, .. } => name("item", *item, &self.item_names),
            JourneyStep::Bill { customer, found } => {
                let lines = found.iter().flat_map(|bill| &bill.lines);
                let items = lines.map(|line| name("item", line.item, &self.item_names));
                let customer = name("customer", *customer, &self.customer_names);
                [customer].into_iter().chain(items).collect()
            }
            JourneyStep::Add { .. } | JourneyStep::Reserve { .. } | JourneyStep::Strange => {
                String::new()
            }
        }
    }

    fn offer(&self, item: u16) -> ItemOffer {
        let offer = self.offers.get(usize::from(item));
        offer.copied().unwrap_or_default()
    }

    pub(super) fn free(&self, item: u16) -> i64 {
        self.offer(item).free
    }

    pub(super) fn taken(customer: u16, trip: &TripItems) -> impl Iterator<Item = WorldChange> {
        trip.items().iter().map(move |&item| WorldChange::Take {
            customer,
            item,
            count: 1,
            at: BillPrice::Now,
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
    pub(super) fn told(operation: &AgencyOperation) -> Vec<WorldChange> {
        match operation {
            AgencyOperation::Transaction {
                end: JourneyEnd::Aborted,
                ..
            } => Vec::new(),
            AgencyOperation::Transaction { steps, .. } => {
                steps.iter().flat_map(Self::told_by_step).collect()
            }
            AgencyOperation::Book {
                customer,
                trip,
                answer:
                    TripBooked::Done { .. }
                    | TripBooked::Held { .. }
                    | TripBooked::Unknown
                    | TripBooked::HeldUnknown,
            } => Self::taken(*customer, trip).collect(),
            AgencyOperation::Book { .. }
            | AgencyOperation::Cancel { .. }
            | AgencyOperation::Confirm { .. } => Vec::new(),
        }
    }

    fn told_by_step(step: &JourneyStep) -> Vec<WorldChange> {
        match step {
            JourneyStep::Add { item, count, price } => {
                let (item, count) = (*item, *count);
                let price = price.map(|price| WorldChange::Price { item, price });
                let put = WorldChange::Put { item, count };
                [put].into_iter().chain(price).collect()
            }
            JourneyStep::Reserve {
                customer,
                trip,
                answer: ReserveAnswer::Done,
            } => Self::taken(*customer, trip).collect(),
            JourneyStep::Query { .. }
            | JourneyStep::Bill { .. }
            | JourneyStep::Reserve { .. }
            | JourneyStep::Strange => Vec::new(),
        }
    }

    pub(super) fn touched(operation: &AgencyOperation) -> Touched {
        let mut touched = Touched::default();
        match operation {
            AgencyOperation::Transaction { steps, .. } => {
                for step in steps {
                    match step {
                        JourneyStep::Query { item, .. } => touched.items.extend([*item]),
                        JourneyStep::Bill { customer, .. } => touched.customers.extend([*customer]),
                        JourneyStep::Reserve { trip, .. } => touched.items.extend(trip.items()),
                        JourneyStep::Add { .. } | JourneyStep::Strange => {}
                    }
                }
            }
            AgencyOperation::Book { trip, .. } => touched.items.extend(trip.items()),
            AgencyOperation::Cancel { .. } | AgencyOperation::Confirm { .. } => {}
        }
        touched
    }

    /// Makes changes one after the other; what was there before, in the same order.
    pub(super) fn make(&mut self, changes: &[WorldChange]) -> Vec<Before> {
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

    fn set_entry(&mut self, customer: u16, item: u16, entry: Option<BillEntry>) {
        let bill = &mut self.bills[usize::from(customer)];
        match entry {
            Some(entry) => bill.insert(item, entry),
            None => bill.remove(&item),
        };
    }

    fn change(&mut self, change: WorldChange) -> Before {
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
            WorldChange::Put { count, .. } => offer.free += count,
            WorldChange::Price { price, .. } => offer.price = price,
            WorldChange::Take {
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
                    BillPrice::Now => entry.price = price,
                    BillPrice::Once => entry.price = None,
                    BillPrice::AsBefore => {}
                }
                let entry = (entry.count != 0).then_some(entry);
                self.set_entry(customer, item, entry);
            }
        }
        before
    }

    /// Carries out a whole transaction, if every one of its answers is right, and says what it has
    /// changed; otherwise nothing is changed.
    pub(super) fn replay(&mut self, operation: &AgencyOperation) -> Result<Vec<Before>, String> {
        match operation {
            AgencyOperation::Transaction { steps, .. } => self.replay_steps(steps),
            AgencyOperation::Book {
                customer,
                trip,
                answer,
            } => {
                let answer = match *answer {
                    TripBooked::Done { price, .. } | TripBooked::Held { price, .. } => {
                        self.compare_price(trip, price)?;
                        ReserveAnswer::Done
                    }
                    TripBooked::SoldOut(item) => ReserveAnswer::SoldOut(item),
                    TripBooked::Unknown | TripBooked::HeldUnknown | TripBooked::Strange => {
                        return Ok(Vec::new());
                    }
                };
                self.replay_steps(&[JourneyStep::Reserve {
                    customer: *customer,
                    trip: *trip,
                    answer,
                }])
            }
            AgencyOperation::Cancel { .. } | AgencyOperation::Confirm { .. } => Ok(Vec::new()),
        }
    }

    fn replay_steps(&mut self, steps: &[JourneyStep]) -> Result<Vec<Before>, String> {
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

    fn compare_price(&self, trip: &TripItems, told: u64) -> Result<(), String> {
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
    pub(super) fn check(&self, step: &JourneyStep) -> Result<(), String> {
        match step {
            JourneyStep::Query { item, found } => {
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
            JourneyStep::Bill { customer, found } => {
                let known = self.bill(*customer, found.as_ref());
                if found.as_ref() == Some(&known) {
                    return Ok(());
                }
                let found = shown(found.as_ref());
                Err(format!(
                    "the bill of customer {customer} was shown as {found}, but is {known:?}"
                ))
            }
            JourneyStep::Add { .. } => Ok(()),
            JourneyStep::Reserve { trip, answer, .. } => self.check_trip(trip, *answer),
            JourneyStep::Strange => Err("was refused for no reason".to_owned()),
        }
    }

    fn check_trip(&self, trip: &TripItems, answer: ReserveAnswer) -> Result<(), String> {
        let lacks = |item: u16| trip.count(item) > self.free(item);
        match answer {
            ReserveAnswer::Done => {
                let sold_out = trip.items().iter().find(|&&item| lacks(item));
                sold_out.map_or(Ok(()), |item| {
                    Err(format!(
                        "{trip:?} was reserved, but of item {item} {} are free: it is sold twice",
                        self.free(*item)
                    ))
                })
            }
            ReserveAnswer::SoldOut(item) if lacks(item) => Ok(()),
            ReserveAnswer::SoldOut(item) => Err(format!(
                "{trip:?} was refused, for item {item} is sold out, but {} are free",
                self.free(item)
            )),
        }
    }

    /// What a customer has; a price that is not known is as it is told.
    fn bill(&self, customer: u16, told: Option<&CustomerBill>) -> CustomerBill {
        let told_price = |item: u16| {
            let mut lines = told?.lines.iter();
            lines.find(|line| line.item == item).map(|line| line.price)
        };
        let known = self.bills.get(usize::from(customer));
        let lines = known.into_iter().flatten().map(|(&item, entry)| BillRow {
            item,
            count: entry.count,
            price: entry.price.or_else(|| told_price(item)).unwrap_or(0),
        });
        let lines: Vec<BillRow> = lines.collect();
        let owed = |line: &BillRow| u64::try_from(line.count).unwrap_or(0) * u64::from(line.price);
        let total = lines.iter().map(owed).sum();
        CustomerBill { lines, total }
    }
}

/// What was shown, or that there was nothing.
fn shown(found: Option<&impl std::fmt::Debug>) -> String {
    found.map_or_else(|| "nothing".to_owned(), |found| format!("{found:?}"))
}
