//! The tables of a desk, and undo of a change.

use std::collections::BTreeMap;

use turnstile_chassis::{Bytes, Decode, Encode};
use turnstile_types::{Malformed, Reader};

use crate::{
    Bill, BillLine, CustomerId, Finding, Item, Operation, Refusal, Stock, Xid, limits,
    operation::Resource,
};

/// Among how many of the last changes another one of the same thing is looked for: to undo the
/// first is enough, to undo each does no harm, and a long transaction must not search for long.
const LOOK_BACK: usize = 16;

/// Items and customers. Each desk uses one of the two.
#[derive(Clone, Debug, PartialEq, Eq, Bytes)]
pub(crate) struct DeskTables {
    pub(crate) items: BTreeMap<Item, Stock>,
    pub(crate) customers: BTreeMap<CustomerId, Customer>,
    /// The last customer's number that was picked here. It does not go back when a transaction is
    /// undone: the number has been told.
    pub(crate) picked: i32,
}

#[derive(Clone, Debug, PartialEq, Eq, Bytes)]
pub(crate) struct Customer {
    /// The transaction that added it; tells it from others who have had its number.
    pub(crate) since: Xid,
    /// Sorted by item.
    pub(crate) lines: Vec<BillLine>,
}

/// What was there before a change; None: nothing.
#[derive(Clone, Debug, PartialEq, Eq, Bytes)]
pub(crate) enum Undo {
    #[byte(0x01)]
    Item { item: Item, before: Option<Stock> },
    #[byte(0x02)]
    Customer {
        customer: CustomerId,
        before: Option<Customer>,
    },
}

/// How to undo a transaction at one desk: its changes, the first of each thing surely among them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct UndoLog {
    changes: Vec<Undo>,
    /// Where the first change of each thing is, once there are more than [`LOOK_BACK`]: what is committed
    /// is asked for while the transaction goes on. Most are short, and pay nothing.
    firsts: BTreeMap<Resource, usize>,
}

impl Undo {
    const fn resource(&self) -> Resource {
        match *self {
            Self::Item { item, .. } => Resource::Item(item),
            Self::Customer { customer, .. } => Resource::Customer(customer),
        }
    }
}

impl UndoLog {
    fn of(changes: Vec<Undo>) -> Self {
        let mut log = Self {
            changes,
            firsts: BTreeMap::new(),
        };
        log.index(0);
        log
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// The first change of a thing, if it was changed.
    pub(crate) fn first(&self, resource: &Resource) -> Option<&Undo> {
        if self.changes.len() > LOOK_BACK {
            return self.changes.get(*self.firsts.get(resource)?);
        }
        let mut changes = self.changes.iter();
        changes.find(|change| change.resource() == *resource)
    }

    /// Adds a change, unless one of the last was of the same thing. Most transactions make one or two at a
    /// desk, and many are open at once.
    fn keep(&mut self, change: Undo) {
        let resource = change.resource();
        let mut last = self.changes.iter().rev().take(LOOK_BACK);
        if last.any(|kept| kept.resource() == resource) {
            return;
        }
        if self.changes.is_empty() {
            self.changes.reserve_exact(1);
        }
        self.changes.push(change);
        let was_long = !self.firsts.is_empty();
        self.index(if was_long { self.changes.len() - 1 } else { 0 });
    }

    /// Notes the changes from this one on, if there are enough of them.
    fn index(&mut self, from: usize) {
        if self.changes.len() > LOOK_BACK {
            for (at, change) in self.changes.iter().enumerate().skip(from) {
                self.firsts.entry(change.resource()).or_insert(at);
            }
        }
    }
}

impl Encode for UndoLog {
    fn encode(&self, out: &mut Vec<u8>) {
        self.changes.encode(out);
    }
}

impl Decode<'_> for UndoLog {
    fn decode(reader: &mut Reader<'_>, field: &'static str) -> Result<Self, Malformed> {
        Ok(Self::of(Vec::decode(reader, field)?))
    }
}

impl DeskTables {
    pub(crate) const fn new() -> Self {
        Self {
            items: BTreeMap::new(),
            customers: BTreeMap::new(),
            picked: 0,
        }
    }

    /// The next number that no customer has; None: there is none left.
    pub(crate) fn pick(&mut self) -> Option<CustomerId> {
        loop {
            self.picked = self.picked.checked_add(1)?;
            let customer = CustomerId(self.picked);
            if !self.customers.contains_key(&customer) {
                return Some(customer);
            }
        }
    }

    /// Does one operation whole, or refuses it and changes nothing.
    pub(crate) fn perform(
        &mut self,
        xid: Xid,
        operation: &Operation,
        undo: &mut UndoLog,
    ) -> Result<Finding, Refusal> {
        match operation {
            Operation::Add { item, count, price } => self.add(*item, *count, *price, undo),
            Operation::Delete { item } => self.delete(*item, undo),
            Operation::Look { item } => Ok(Finding::Stock(self.items.get(item).copied())),
            Operation::Take { items } => self.take(items, undo),
            Operation::GiveBack { items } => self.give_back(items, undo),
            Operation::AddCustomer { customer } => self.add_customer(xid, *customer, undo),
            Operation::RemoveCustomer { customer } => self.remove_customer(*customer, undo),
            Operation::LookCustomer { customer } => Ok(Finding::Bill(self.bill(*customer))),
            Operation::Summarize { after } => Ok(self.summarize(*after)),
            Operation::Note { customer, items } => self.note(*customer, items, undo),
            Operation::Strike {
                customer,
                since,
                items,
            } => self.strike((*customer, *since), items, undo),
        }
    }

    /// Undoes changes, the last first.
    pub(crate) fn revert(&mut self, undo: UndoLog) {
        for change in undo.changes.into_iter().rev() {
            match change {
                Undo::Item { item, before } => drop(put(&mut self.items, item, before)),
                Undo::Customer { customer, before } => {
                    drop(put(&mut self.customers, customer, before));
                }
            }
        }
    }

    /// What a customer has; None: there is no such customer.
    pub(crate) fn bill(&self, customer: CustomerId) -> Option<Bill> {
        let lines = self.customers.get(&customer)?.lines.clone();
        Some(Bill { customer, lines })
    }

    // Items

    fn add(
        &mut self,
        item: Item,
        count: u32,
        price: u32,
        undo: &mut UndoLog,
    ) -> Result<Finding, Refusal> {
        let before = self.items.get(&item).copied();
        if before.is_none() && self.items.len() >= limits::ITEMS_MAX {
            return Err(full(limits::ITEMS_MAX));
        }
        let mut stock = before.unwrap_or(Stock {
            free: 0,
            reserved: 0,
            price: 0,
        });
        let all = u64::from(stock.free) + u64::from(stock.reserved) + u64::from(count);
        if all > u64::from(limits::COUNT_MAX) {
            let limit = limits::COUNT_MAX;
            return Err(Refusal::Full { limit });
        }
        stock.free += count;
        if price > 0 {
            stock.price = price;
        }
        self.set_item(item, Some(stock), undo);
        Ok(Finding::Added)
    }

    fn delete(&mut self, item: Item, undo: &mut UndoLog) -> Result<Finding, Refusal> {
        let stock = self.items.get(&item).ok_or(Refusal::NoSuchItem(item))?;
        if stock.reserved > 0 {
            return Err(Refusal::ItemReserved(item));
        }
        self.set_item(item, None, undo);
        Ok(Finding::Deleted)
    }

    fn take(&mut self, items: &[Item], undo: &mut UndoLog) -> Result<Finding, Refusal> {
        for (at, item) in items.iter().enumerate() {
            let stock = self.items.get(item).ok_or(Refusal::NoSuchItem(*item))?;
            if wanted(items.iter().take(at + 1), item) > stock.free {
                return Err(Refusal::SoldOut(*item));
            }
        }
        let mut taken = Vec::with_capacity(items.len());
        for &item in items {
            let mut stock = self.stock(item);
            stock.free -= 1;
            stock.reserved += 1;
            self.set_item(item, Some(stock), undo);
            taken.push((item, stock.price));
        }
        Ok(Finding::Taken(taken))
    }

    fn give_back(&mut self, items: &[(Item, u32)], undo: &mut UndoLog) -> Result<Finding, Refusal> {
        for (item, _) in items {
            let same = items.iter().filter(|(other, _)| other == item);
            let count: u64 = same.map(|(_, count)| u64::from(*count)).sum();
            let stock = self.items.get(item).ok_or(Refusal::NoSuchItem(*item))?;
            if count > u64::from(stock.reserved) {
                return Err(Refusal::NotReserved(*item));
            }
        }
        for &(item, count) in items {
            let mut stock = self.stock(item);
            stock.free += count;
            stock.reserved -= count;
            self.set_item(item, Some(stock), undo);
        }
        Ok(Finding::GivenBack)
    }

    fn stock(&self, item: Item) -> Stock {
        *self.items.get(&item).expect("it was just looked at")
    }

    fn set_item(&mut self, item: Item, after: Option<Stock>, undo: &mut UndoLog) {
        let before = put(&mut self.items, item, after);
        undo.keep(Undo::Item { item, before });
    }

    // Customers

    fn add_customer(
        &mut self,
        xid: Xid,
        customer: Option<CustomerId>,
        undo: &mut UndoLog,
    ) -> Result<Finding, Refusal> {
        let customer = customer.ok_or_else(|| full(limits::CUSTOMERS_MAX))?;
        if self.customers.contains_key(&customer) {
            return Err(Refusal::CustomerExists(customer));
        }
        if self.customers.len() >= limits::CUSTOMERS_MAX {
            return Err(full(limits::CUSTOMERS_MAX));
        }
        let added = Customer {
            since: xid,
            lines: Vec::new(),
        };
        self.set_customer(customer, Some(added), undo);
        Ok(Finding::Customer(customer))
    }

    fn remove_customer(
        &mut self,
        customer: CustomerId,
        undo: &mut UndoLog,
    ) -> Result<Finding, Refusal> {
        let found = self.customers.get(&customer);
        let found = found.ok_or(Refusal::NoSuchCustomer(customer))?;
        let had = found.lines.iter().map(|line| (line.item, line.count));
        let had = Finding::Had(had.collect());
        self.set_customer(customer, None, undo);
        Ok(had)
    }

    fn summarize(&self, after: Option<CustomerId>) -> Finding {
        let from = after.map_or(std::ops::Bound::Unbounded, std::ops::Bound::Excluded);
        let mut rest = self.customers.range((from, std::ops::Bound::Unbounded));
        let mut bills = Vec::new();
        let mut lines = 0;
        while lines < limits::LINES_PER_PART
            && let Some((&customer, found)) = rest.next()
        {
            lines += 1 + found.lines.len();
            bills.push(Bill {
                customer,
                lines: found.lines.clone(),
            });
        }
        let more = rest.next().is_some();
        Finding::Bills { bills, more }
    }

    fn note(
        &mut self,
        customer: CustomerId,
        items: &[(Item, u32)],
        undo: &mut UndoLog,
    ) -> Result<Finding, Refusal> {
        let found = self.customers.get(&customer);
        let mut after = found.ok_or(Refusal::NoSuchCustomer(customer))?.clone();
        for &(item, price) in items {
            match after.lines.binary_search_by_key(&item, |line| line.item) {
                Ok(at) => {
                    let line = after.lines.get_mut(at).expect("the search found it there");
                    line.count += 1;
                    line.price = price;
                }
                Err(at) => after.lines.insert(
                    at,
                    BillLine {
                        item,
                        count: 1,
                        price,
                    },
                ),
            }
        }
        if after.lines.len() > limits::KEYS_PER_CUSTOMER_MAX {
            return Err(full(limits::KEYS_PER_CUSTOMER_MAX));
        }
        let since = after.since;
        self.set_customer(customer, Some(after), undo);
        Ok(Finding::Noted { since })
    }

    fn strike(
        &mut self,
        (customer, since): (CustomerId, Xid),
        items: &[Item],
        undo: &mut UndoLog,
    ) -> Result<Finding, Refusal> {
        let found = self.customers.get(&customer);
        let found = found.filter(|found| found.since == since);
        let mut after = found.ok_or(Refusal::NoSuchCustomer(customer))?.clone();
        for &item in items {
            let at = after.lines.binary_search_by_key(&item, |line| line.item);
            let at = at.map_err(|_gap| Refusal::NotReserved(item))?;
            let line = after.lines.get_mut(at).expect("the search found it there");
            line.count -= 1;
            if line.count == 0 {
                after.lines.remove(at);
            }
        }
        self.set_customer(customer, Some(after), undo);
        Ok(Finding::Struck)
    }

    fn set_customer(&mut self, customer: CustomerId, after: Option<Customer>, undo: &mut UndoLog) {
        let before = put(&mut self.customers, customer, after);
        undo.keep(Undo::Customer { customer, before });
    }
}

/// How often an item is among these.
fn wanted<'a>(items: impl Iterator<Item = &'a Item>, item: &Item) -> u32 {
    items.fold(0, |count, other| count + u32::from(other == item))
}

fn full(limit: usize) -> Refusal {
    let limit = u32::try_from(limit).expect("limits are small");
    Refusal::Full { limit }
}

/// Puts a value there, or takes it away; returns what was there.
fn put<K: Ord, V>(map: &mut BTreeMap<K, V>, key: K, value: Option<V>) -> Option<V> {
    match value {
        Some(value) => map.insert(key, value),
        None => map.remove(&key),
    }
}
