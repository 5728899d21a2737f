//! What planners want: few items and customers, made for the run, and read when it is over.

use std::{collections::HashMap, sync::Arc};

use turnstile_check::travel::{CustomerBill, ItemOffer, JourneyStep};
use turnstile_client::{Connection, resp::Value};

use super::answer;
use crate::{Error, door::field, error::unfit};

/// Of each kind of item there is one for so many users, within these bounds: few enough that they wait
/// for each other, enough that not all wait for one.
const USERS_EACH: usize = 2;
const KIND_MIN: usize = 2;
const KIND_MAX: usize = 64;

/// Two customers for three users: some are used by two of them.
const CUSTOMERS_MIN: usize = 2;
const CUSTOMERS_MAX: usize = 1_000;

/// So many of each item in the beginning.
const COUNT: i64 = 5;

/// The price of the first item; every other costs a dollar more than the one before.
pub(super) const PRICE: u32 = 100;

/// Flights are numbered from here, in blocks.
const FLIGHT_FIRST: u64 = 1_000_000_000;
const FLIGHT_BLOCKS: u64 = 1_000_000;
const FLIGHTS_EACH: u64 = 1_000;

/// How many names are tried until one is found that nobody has used.
const NAMES_TRIED: u64 = 100;

/// How often all is read in the end.
const ATTEMPTS: u32 = 4;

/// The items and customers of a run, which have numbers there.
#[derive(Debug)]
pub(super) struct NumberedStock {
    items: Vec<Vec<u8>>,
    numbers: HashMap<Vec<u8>, u16>,
    customers: Vec<Vec<u8>>,
}

impl NumberedStock {
    /// Makes what so many users need, under names that nobody has used, and says at which position that
    /// was committed.
    pub(super) fn make(door: &mut Connection, users: usize) -> Result<(Arc<Self>, u64), Error> {
        let stems = position(door)?..;
        for stem in stems.take(usize::try_from(NAMES_TRIED).expect("it is small")) {
            let mut stock = Self::named(stem, users);
            if let Some(position) = stock.put(door, users)? {
                return Ok((Arc::new(stock), position));
            }
        }
        Err(Error::Setting("this server has seen too many runs"))
    }

    fn named(stem: u64, users: usize) -> Self {
        let each = (users / USERS_EACH).clamp(KIND_MIN, KIND_MAX);
        let first = FLIGHT_FIRST + stem % FLIGHT_BLOCKS * FLIGHTS_EACH;
        let flights = (first..)
            .take(each)
            .map(|number| format!("flight-{number}"));
        let places = |kind| (0..each).map(move |number| format!("{kind}-check{stem}.{number:02}"));
        let items = flights.chain(places("car")).chain(places("room"));
        let items: Vec<Vec<u8>> = items.map(String::into_bytes).collect();
        let numbers = (0..)
            .zip(&items)
            .map(|(number, item)| (item.clone(), number));
        Self {
            numbers: numbers.collect(),
            items,
            customers: Vec::new(),
        }
    }

    /// The position of the commit; nothing where a name is taken.
    fn put(&mut self, door: &mut Connection, users: usize) -> Result<Option<u64>, Error> {
        let xid = begin(door)?;
        for (number, item) in (0..).zip(&self.items) {
            let there = done(door, &[b"TRAVEL.QUERY-ITEM", &xid, item])?;
            if !matches!(field(&there, "free"), Some(Value::Null)) {
                done(door, &[b"TRAVEL.ABORT", &xid])?;
                return Ok(None);
            }
            let (count, price) = (COUNT.to_string(), (PRICE + number).to_string());
            let added = [
                b"TRAVEL.ADD-ITEM",
                &xid[..],
                item,
                count.as_bytes(),
                price.as_bytes(),
            ];
            done(door, &added)?;
        }
        for _ in 0..(users * 2 / 3).clamp(CUSTOMERS_MIN, CUSTOMERS_MAX) {
            let command = [b"TRAVEL.ADD-CUSTOMER", &xid[..]];
            let added = done(door, &command)?;
            let Some(Value::Integer(number)) = field(&added, "customer") else {
                return Err(unfit("TRAVEL.ADD-CUSTOMER", &added));
            };
            self.customers.push(number.to_string().into_bytes());
        }
        let committed = done(door, &[b"TRAVEL.COMMIT", &xid])?;
        told_position(&committed).map(Some)
    }

    pub(super) const fn items(&self) -> usize {
        self.items.len()
    }

    pub(super) const fn customers(&self) -> usize {
        self.customers.len()
    }

    pub(super) fn item(&self, number: u16) -> &[u8] {
        &self.items[usize::from(number)]
    }

    pub(super) fn customer(&self, number: u16) -> &[u8] {
        &self.customers[usize::from(number)]
    }

    /// The number of an item; nothing when it is none of the run's.
    pub(super) fn number(&self, item: &[u8]) -> Option<u16> {
        self.numbers.get(item).copied()
    }

    /// What there is in the beginning.
    pub(super) fn offers(&self) -> Vec<ItemOffer> {
        let prices = (PRICE..).take(self.items.len());
        let offers = prices.map(|price| ItemOffer {
            free: COUNT,
            reserved: 0,
            price,
        });
        offers.collect()
    }

    /// Reads all of it in one transaction: nothing can change meanwhile. It is read again when a lock was
    /// waited for too long: that of a transaction that was left open, which goes with its time to live.
    pub(super) fn read(&self, door: &mut Connection) -> Result<Vec<JourneyStep>, Error> {
        let mut read = self.read_once(door);
        for _ in 1..ATTEMPTS {
            if read.is_ok() {
                break;
            }
            read = self.read_once(door);
        }
        read
    }

    fn read_once(&self, door: &mut Connection) -> Result<Vec<JourneyStep>, Error> {
        let xid = begin(door)?;
        let mut read = Vec::new();
        for (item, name) in (0..).zip(&self.items) {
            let found = done(door, &[b"TRAVEL.QUERY-ITEM", &xid, name])?;
            read.push(JourneyStep::Query {
                item,
                found: offer(&found),
            });
        }
        for (customer, name) in (0..).zip(&self.customers) {
            let found = done(door, &[b"TRAVEL.QUERY-CUSTOMER", &xid, name])?;
            read.push(JourneyStep::Bill {
                customer,
                found: self.bill(&found),
            });
        }
        done(door, &[b"TRAVEL.COMMIT", &xid])?;
        Ok(read)
    }

    fn bill(&self, found: &Value) -> Option<CustomerBill> {
        let lines = field(found, "lines")?.as_array()?.iter().map(|line| {
            let item = field(line, "item").and_then(Value::as_bytes)?;
            let (count, price) = (count(line, "count")?, count(line, "price")?);
            answer::line(self, item, count, price)
        });
        let total = u64::try_from(count(found, "total")?).ok()?;
        let mut bill = CustomerBill {
            lines: lines.collect::<Option<_>>()?,
            total,
        };
        bill.lines.sort_unstable_by_key(|line| line.item);
        Some(bill)
    }
}

fn offer(found: &Value) -> Option<ItemOffer> {
    Some(ItemOffer {
        free: count(found, "free")?,
        reserved: count(found, "reserved")?,
        price: u32::try_from(count(found, "price")?).ok()?,
    })
}

fn count(found: &Value, name: &str) -> Option<i64> {
    match field(found, name) {
        Some(Value::Integer(number)) => Some(*number),
        _ => None,
    }
}

/// Asks for what must be done.
pub(super) fn done(door: &mut Connection, command: &[&[u8]]) -> Result<Value, Error> {
    let answer = door.command(command)?;
    match field(&answer, "outcome").and_then(Value::as_str) {
        Some("done") => Ok(answer),
        _ => Err(unfit("a step of a transaction", &answer)),
    }
}

/// Starts a transaction.
pub(super) fn begin(door: &mut Connection) -> Result<Vec<u8>, Error> {
    let started = done(door, &[b"TRAVEL.START"])?;
    let xid = count(&started, "xid").ok_or_else(|| unfit("TRAVEL.START", &started))?;
    Ok(xid.to_string().into_bytes())
}

/// The position that an answer tells.
pub(super) fn told_position(answer: &Value) -> Result<u64, Error> {
    let position = count(answer, "position").and_then(|number| u64::try_from(number).ok());
    let position = position.filter(|position| *position > 0);
    position.ok_or_else(|| unfit("TRAVEL.COMMIT", answer))
}

/// A position that no other run has begun at.
fn position(door: &mut Connection) -> Result<u64, Error> {
    let xid = begin(door)?;
    told_position(&done(door, &[b"TRAVEL.COMMIT", &xid])?)
}
