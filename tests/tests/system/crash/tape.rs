//! Everything that an exchange says of its orders and accounts, and whether it makes sense.

use std::collections::BTreeMap;

use turnstile_client::{Connection, resp::Value};
use turnstile_exchange::{CASH_SCALE, Decimal};

use super::floor::{ACCOUNTS, Order, SYMBOLS};
use super::listing::ask;

/// Orders that are asked for in one write.
const BATCH: u64 = 200;

/// A number as units of 10^-8.
pub(crate) fn units(text: &str) -> u128 {
    let number = Decimal::parse(text.as_bytes());
    let number = number.unwrap_or_else(|error| panic!("{text}: {error}"));
    number.at_scale(CASH_SCALE).expect("it has few digits")
}

fn value(price: u128, quantity: u128) -> u128 {
    price * quantity / 10_u128.pow(u32::from(CASH_SCALE))
}

/// What was seen of an order's course; in units.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Seen {
    /// Quantity and price of each execution, the oldest first.
    pub(crate) executions: Vec<(u128, u128)>,
    pub(crate) cancelled: Option<u128>,
}

impl Seen {
    /// Whether this may have been seen before the other: what was seen stays, and more may follow
    /// it, but nothing after a cancellation.
    pub(crate) fn may_come_before(&self, later: &Self) -> bool {
        later.executions.starts_with(&self.executions)
            && (self.cancelled.is_none() || self == later)
    }

    /// Whether its first executions are of this quantity and value together.
    pub(crate) fn begins_with(&self, quantity: u128, cost: u128) -> bool {
        let mut sums = (0, 0);
        let mut executions = self.executions.iter();
        while sums.0 < quantity {
            let Some(&(part, price)) = executions.next() else {
                return false;
            };
            sums = (sums.0 + part, sums.1 + value(price, part));
        }
        sums == (quantity, cost)
    }
}

/// An order as the server shows it; quantities in units.
#[derive(Clone, Debug)]
pub(crate) struct Shown {
    account: String,
    symbol: String,
    is_buy: bool,
    pub(crate) quantity: u128,
    limit: u128,
    pub(crate) open: u128,
    pub(crate) seen: Seen,
    /// The other order of each execution.
    counterparties: Vec<u64>,
}

impl Shown {
    /// Whether it is what was sent.
    pub(crate) fn is(&self, sent: &Order) -> bool {
        (self.account.as_str(), self.symbol.as_str(), self.is_buy)
            == (sent.account, sent.symbol, sent.is_buy)
            && self.limit == units(&sent.limit)
    }

    fn parse(value: &Value) -> Result<Self, String> {
        let text = |name: &str| value.at(name).and_then(Value::as_str);
        let number = |name: &str| text(name).map(units);
        let executions = value.at("executions").and_then(Value::as_array);
        let mut seen = Seen {
            executions: Vec::new(),
            cancelled: value
                .at("cancelled")
                .and_then(|part| part.at("quantity"))
                .and_then(Value::as_str)
                .map(units),
        };
        let mut counterparties = Vec::new();
        for execution in executions.unwrap_or_default() {
            let part = |name: &str| execution.at(name).and_then(Value::as_str).map(units);
            let other = execution.at("counterparty").and_then(Value::as_integer);
            let other = other.and_then(|number| u64::try_from(number).ok());
            let (Some(quantity), Some(price), Some(other)) =
                (part("quantity"), part("price"), other)
            else {
                return Err(format!("no execution: {execution}"));
            };
            seen.executions.push((quantity, price));
            counterparties.push(other);
        }
        let shown = || {
            Some(Self {
                account: text("account")?.to_owned(),
                symbol: text("symbol")?.to_owned(),
                is_buy: text("side")? == "buy",
                quantity: number("quantity")?,
                limit: number("limit")?,
                open: number("open")?,
                seen,
                counterparties,
            })
        };
        shown().ok_or_else(|| format!("no order: {value}"))
    }

    /// What is open, executed and cancelled adds up to what was sent, and nobody paid more than
    /// his limit.
    fn adds_up(&self) -> bool {
        let executed: u128 = self.seen.executions.iter().map(|(part, _)| part).sum();
        let cancelled = self.seen.cancelled.unwrap_or(0);
        let fair = |price: u128| {
            if self.is_buy {
                price <= self.limit
            } else {
                price >= self.limit
            }
        };
        self.open + executed + cancelled == self.quantity
            && (self.open == 0 || cancelled == 0)
            && self.seen.executions.iter().all(|&(_, price)| fair(price))
    }
}

/// Every order, and what each account has.
#[derive(Debug)]
pub(crate) struct Tape {
    pub(crate) orders: BTreeMap<u64, Shown>,
    /// Free and reserved cash by account, and shares by account and symbol.
    held: BTreeMap<(&'static str, &'static str), (u128, u128)>,
}

/// Where the cash of an account is kept among its shares.
const CASH: &str = "";

impl Tape {
    /// Reads orders by their numbers, up to the last; where nobody says which that is, up to the first
    /// number that no order has.
    pub(crate) fn read(connection: &mut Connection, last: Option<u64>) -> Result<Self, String> {
        let mut tape = Self {
            orders: BTreeMap::new(),
            held: BTreeMap::new(),
        };
        let mut first = 1;
        while tape.read_orders(connection, first, last)? {
            first += BATCH;
        }
        for account in ACCOUNTS {
            let shown = ask(connection, &["EXCHANGE.GET-ACCOUNT", account])?;
            let positions = shown.at("positions").and_then(Value::as_array);
            tape.held.insert((account, CASH), parts(&shown)?);
            for position in positions.unwrap_or_default() {
                let symbol = position.at("symbol").and_then(Value::as_str);
                let symbol = SYMBOLS.into_iter().find(|known| Some(*known) == symbol);
                let symbol = symbol.ok_or_else(|| format!("nobody named it: {position}"))?;
                tape.held.insert((account, symbol), parts(position)?);
            }
        }
        Ok(tape)
    }

    /// Reads some orders more; says whether there may be others.
    fn read_orders(
        &mut self,
        connection: &mut Connection,
        first: u64,
        last: Option<u64>,
    ) -> Result<bool, String> {
        for number in first..first + BATCH {
            connection.send(&[b"EXCHANGE.GET-ORDER", number.to_string().as_bytes()]);
        }
        let mut more = true;
        for number in first..first + BATCH {
            let value = connection.receive().map_err(|error| error.to_string())?;
            if value.at("reason").and_then(Value::as_str) == Some("not_found") {
                more = false;
            } else if more || last.is_some() {
                self.orders.insert(number, Shown::parse(&value)?);
            } else {
                return Err(format!("an order is missing before {number}"));
            }
        }
        Ok(last.map_or(more, |last| first + BATCH <= last))
    }

    /// Every execution stands in both its orders.
    pub(crate) fn is_mirrored(&self) -> Result<(), String> {
        let mut sides: BTreeMap<(u64, u64, u128, u128), [u32; 2]> = BTreeMap::new();
        for (&number, order) in &self.orders {
            if !order.adds_up() {
                return Err(format!(
                    "the parts of order {number} do not add up: {order:?}"
                ));
            }
            let executions = order.seen.executions.iter().zip(&order.counterparties);
            for (&(quantity, price), &other) in executions {
                let (buy, sell) = if order.is_buy {
                    (number, other)
                } else {
                    (other, number)
                };
                let counts = sides.entry((buy, sell, quantity, price)).or_default();
                counts[usize::from(order.is_buy)] += 1;
            }
        }
        match sides.iter().find(|(_, [sold, bought])| sold != bought) {
            Some((trade, counts)) => Err(format!("{trade:?} stands on its sides {counts:?}")),
            None => Ok(()),
        }
    }

    /// Each account has what it began with, and what its executions moved; and has reserved what
    /// its open orders may need.
    pub(crate) fn is_conserved(&self, cash: u128, shares: u128) -> Result<(), String> {
        let mut expected = BTreeMap::new();
        for account in ACCOUNTS {
            expected.insert((account, CASH), (cash, 0));
            expected.extend(SYMBOLS.map(|symbol| ((account, symbol), (shares, 0))));
        }
        for order in self.orders.values() {
            let owned = |names: &[&'static str], name: &str| {
                let found = names.iter().copied().find(|known| *known == name);
                found.ok_or_else(|| format!("nobody named {name}"))
            };
            let account = owned(&ACCOUNTS, &order.account)?;
            let symbol = owned(&SYMBOLS, &order.symbol)?;
            let moved: u128 = order.seen.executions.iter().map(|(part, _)| part).sum();
            let paid: u128 = order
                .seen
                .executions
                .iter()
                .map(|&(part, price)| value(price, part))
                .sum();
            let (gives, takes) = if order.is_buy {
                (CASH, symbol)
            } else {
                (symbol, CASH)
            };
            let (given, taken) = if order.is_buy {
                (paid, moved)
            } else {
                (moved, paid)
            };
            let aside = if order.is_buy {
                value(order.limit, order.open)
            } else {
                order.open
            };
            let purse = expected.entry((account, gives)).or_default();
            // It may have been received before it was given: compared is the sum.
            *purse = (purse.0.wrapping_sub(given), purse.1 + aside);
            let purse = expected.entry((account, takes)).or_default();
            purse.0 = purse.0.wrapping_add(taken);
        }
        for (owner, (all, aside)) in expected {
            let found = self.held.get(&owner).copied().unwrap_or_default();
            if found != (all.wrapping_sub(aside), aside) {
                return Err(format!(
                    "{owner:?} has free and reserved {found:?}, of {all} with {aside} reserved"
                ));
            }
        }
        Ok(())
    }
}

fn parts(value: &Value) -> Result<(u128, u128), String> {
    let part = |name: &str| value.at(name).and_then(Value::as_str).map(units);
    let both = part("free").zip(part("reserved"));
    both.ok_or_else(|| format!("no free and reserved part: {value}"))
}
