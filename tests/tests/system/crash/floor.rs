//! The exchange under a crash test: what its traders ask for, and what must come of it.
//!
//! Some orders come by a door that tells no positions, so nobody outside knows the order of all.
//! What is known is compared instead: every order that was acknowledged is there once, with every
//! execution that was ever seen; each execution stands in both its orders; and the cash and shares
//! of each account are what it began with and its executions moved.

use std::collections::{BTreeMap, BTreeSet};

use rand::rngs::StdRng;
use rand::{RngExt as _, seq::IndexedRandom as _};
use turnstile_client::Connection;

use super::answer::Answer;
use super::books::Books;
use super::tape::{Seen, Tape, units};

pub(crate) const ACCOUNTS: [&str; 4] = ["1", "2", "3", "4"];
pub(crate) const SYMBOLS: [&str; 2] = ["X", "Y"];
const CASH: &str = "1000000";
const SHARES: &str = "100000";

/// More orders than one test sends. Their quantities tell them apart, by four digits.
const ORDERS_MAX: u32 = 10_000;

/// A new order; no other has its quantity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Order {
    pub(crate) account: &'static str,
    pub(crate) symbol: &'static str,
    pub(crate) is_buy: bool,
    pub(crate) quantity: String,
    pub(crate) limit: String,
}

#[derive(Clone, Debug)]
pub(crate) enum Request {
    /// With the client's id for it, or to be filled at once or not at all, or neither.
    Order(Order, Option<String>, bool),
    Cancel {
        account: &'static str,
        order: u64,
    },
}

/// What is known of the orders that were sent.
#[derive(Clone, Debug, Default)]
pub(crate) struct Floor {
    /// All of them, by quantity in units.
    sent: BTreeMap<u128, Order>,
    /// Those that were acknowledged: the order's number, and its quantity in units.
    opened: BTreeMap<u64, u128>,
    /// Quantities of orders that were refused.
    refused: BTreeSet<u128>,
    /// What a ticket said was filled at once, and its value.
    filled: BTreeMap<u64, (u128, u128)>,
    /// What was cancelled of an order, where that was acknowledged.
    cancelled: BTreeMap<u64, u128>,
    /// Orders of which nothing was open any more.
    pub(crate) ended: BTreeSet<u64>,
    /// The least that is known of each order's executions, from anywhere.
    seen: BTreeMap<u64, Seen>,
    /// Orders that may be asked about.
    pub(crate) known: Vec<(&'static str, u64)>,
    /// The highest number of an order, where some numbers may never have been given.
    pub(crate) last_order: Option<u64>,
    /// Items of documents that could not be asked, or whose answers were lost.
    pub(crate) failures: u32,
}

impl Floor {
    /// A new order, around prices at which many of them match.
    pub(crate) fn order(&mut self, rng: &mut StdRng) -> Order {
        let number = u32::try_from(self.sent.len()).expect("a test sends few orders") + 1;
        assert!(number < ORDERS_MAX, "quantities tell no more orders apart");
        let order = Order {
            account: one_of(rng, &ACCOUNTS),
            symbol: one_of(rng, &SYMBOLS),
            is_buy: rng.random_bool(0.5),
            quantity: format!("{}.{number:04}", rng.random_range(1..=9)),
            limit: one_of(rng, &["9", "9.5", "10", "10.25", "10.5", "11"]).to_owned(),
        };
        self.sent.insert(units(&order.quantity), order.clone());
        order
    }

    /// An order that was acknowledged, which mostly nobody will name again.
    pub(crate) fn known(&mut self, rng: &mut StdRng) -> Option<(&'static str, u64)> {
        if self.known.is_empty() {
            return None;
        }
        let at = rng.random_range(0..self.known.len());
        Some(if rng.random_bool(0.2) {
            self.known[at]
        } else {
            self.known.swap_remove(at)
        })
    }

    /// Enters that an order was opened: its number is given once.
    pub(crate) fn open(&mut self, order: &Order, number: u64) -> Result<(), String> {
        let quantity = units(&order.quantity);
        match self.opened.insert(number, quantity) {
            Some(other) if other != quantity => Err(format!(
                "order {number} was given to {order:?} and to {:?}",
                self.sent.get(&other)
            )),
            Some(_) | None => Ok(()),
        }
    }

    pub(crate) fn refuse(&mut self, order: &Order) {
        self.refused.insert(units(&order.quantity));
    }

    /// Enters what was acknowledged of an order's executions, and of its cancellation. Of two
    /// connections, nobody knows which answer was given first.
    pub(crate) fn see(&mut self, number: u64, seen: Seen) -> Result<(), String> {
        let known = self.seen.entry(number).or_default();
        if known.may_come_before(&seen) {
            *known = seen;
        } else if !seen.may_come_before(known) {
            return Err(format!(
                "order {number} was seen as {known:?} and as {seen:?}"
            ));
        }
        Ok(())
    }

    /// What each account has had from the beginning.
    fn beginning() -> (u128, u128) {
        (units(CASH), units(SHARES))
    }

    /// Each order on the tape was sent once and not refused; none that was opened is missing.
    fn compare_orders(&mut self, tape: &Tape) -> Result<(), String> {
        let mut met = BTreeSet::new();
        for (&number, found) in &tape.orders {
            let sent = self.sent.get(&found.quantity);
            if sent.is_none_or(|sent| !found.is(sent)) || self.refused.contains(&found.quantity) {
                return Err(format!(
                    "order {number} is {found:?}, and {sent:?} was sent"
                ));
            }
            if !met.insert(found.quantity) {
                return Err(format!("{sent:?} was opened twice, at last as {number}"));
            }
        }
        for (number, quantity) in &self.opened {
            let found = tape.orders.get(number);
            if found.is_none_or(|found| found.quantity != *quantity) {
                let sent = self.sent.get(quantity);
                return Err(format!(
                    "order {number}, sent as {sent:?}, is now {found:?}"
                ));
            }
        }
        self.compare_acknowledged(tape)
    }

    /// What was acknowledged of an order is the beginning of what is there now.
    fn compare_acknowledged(&mut self, tape: &Tape) -> Result<(), String> {
        for (number, &(filled, value)) in &self.filled {
            let found = &tape.orders[number].seen;
            if !found.begins_with(filled, value) {
                return Err(format!(
                    "order {number} was filled at once by {filled} for {value}, and has {found:?}"
                ));
            }
        }
        for (number, quantity) in &self.cancelled {
            let found = &tape.orders[number].seen;
            if found.cancelled != Some(*quantity) {
                return Err(format!(
                    "of order {number} {quantity} were cancelled, and it has {found:?}"
                ));
            }
        }
        if let Some(number) = self.ended.iter().find(|&n| tape.orders[n].open > 0) {
            let found = &tape.orders[number];
            return Err(format!("order {number} had ended, and is {found:?}"));
        }
        for (number, seen) in &self.seen {
            let found = &tape.orders[number].seen;
            if !seen.may_come_before(found) {
                return Err(format!("order {number} was {seen:?}, and is {found:?}"));
            }
        }
        let seen = tape.orders.iter();
        self.seen = seen
            .map(|(&number, order)| (number, order.seen.clone()))
            .collect();
        Ok(())
    }
}

impl Books for Floor {
    type Request = Request;

    const KEYS: &str = "trader";

    fn opening() -> Vec<Vec<String>> {
        let mut commands = Vec::new();
        for account in ACCOUNTS {
            commands.push(vec!["EXCHANGE.CREATE-ACCOUNT", account, CASH]);
            commands.extend(SYMBOLS.map(|symbol| vec!["EXCHANGE.GRANT", account, symbol, SHARES]));
        }
        let owned = |words: Vec<&str>| words.into_iter().map(str::to_owned).collect();
        commands.into_iter().map(owned).collect()
    }

    fn next(&mut self, rng: &mut StdRng) -> Request {
        if rng.random_bool(0.25)
            && let Some((account, order)) = self.known(rng)
        {
            return Request::Cancel { account, order };
        }
        let client = rng
            .random_bool(0.3)
            .then(|| format!("c{}", self.sent.len()));
        let at_once = client.is_none() && rng.random_bool(0.2);
        Request::Order(self.order(rng), client, at_once)
    }

    fn words(request: &Request, key: &str) -> Vec<String> {
        let mut words = match request {
            Request::Cancel { account, order } => {
                vec![
                    "EXCHANGE.CANCEL-ORDER".to_owned(),
                    (*account).to_owned(),
                    order.to_string(),
                ]
            }
            Request::Order(order, client, at_once) => {
                let side = if order.is_buy { "BUY" } else { "SELL" };
                let mut words = ["EXCHANGE.PLACE-ORDER", order.account, order.symbol, side]
                    .map(str::to_owned)
                    .to_vec();
                words.extend([order.quantity.clone(), order.limit.clone()]);
                words.extend(at_once.then(|| "IOC".to_owned()));
                words.extend(
                    client
                        .iter()
                        .flat_map(|id| ["CLIENT_ID".to_owned(), id.clone()]),
                );
                words
            }
        };
        words.extend(["KEY", key].map(str::to_owned));
        words
    }

    fn learn(&mut self, request: &Request, answer: &Answer) {
        if let (Request::Order(order, ..), Some("open"), Some(number)) =
            (request, answer.text("state"), answer.number("order"))
        {
            self.known.push((order.account, number));
        }
    }

    fn enter(&mut self, request: &Request, answer: &Answer) -> Result<(), String> {
        let is_done = answer.text("outcome") == Some("done");
        match request {
            Request::Order(order, ..) if is_done => {
                let number = answer.number("order").ok_or("an order without a number")?;
                let part = |name| answer.text(name).map_or(0, units);
                self.filled.insert(number, (part("filled"), part("value")));
                self.open(order, number)
            }
            Request::Order(order, ..) => {
                self.refuse(order);
                Err(format!(
                    "{order:?}, which all can pay, was answered {answer:?}"
                ))
            }
            Request::Cancel { order, .. } if is_done => {
                let quantity = answer.text("quantity").map_or(0, units);
                match self.cancelled.insert(*order, quantity) {
                    Some(before) => {
                        Err(format!("order {order} was cancelled twice, first {before}"))
                    }
                    None => Ok(()),
                }
            }
            Request::Cancel { order, .. } => match answer.text("reason") {
                Some("not_open") => {
                    self.ended.insert(*order);
                    Ok(())
                }
                _ => Err(format!("the cancel of {order} was answered {answer:?}")),
            },
        }
    }

    fn compare(&mut self, connection: &mut Connection) -> Result<(), String> {
        // Some may have been opened since by those who asked again.
        let opened = self.opened.keys().next_back().copied();
        let last = self.last_order.map(|last| last.max(opened.unwrap_or(0)));
        let tape = Tape::read(connection, last)?;
        self.compare_orders(&tape)?;
        tape.is_mirrored()?;
        let (cash, shares) = Self::beginning();
        tape.is_conserved(cash, shares)
    }
}

fn one_of(rng: &mut StdRng, of: &[&'static str]) -> &'static str {
    of.choose(rng).expect("there are some")
}
