//! Everything that was sold and is left, read in one transaction: nothing can change meanwhile.

use std::{collections::BTreeMap, net::SocketAddr};

use turnstile_client::lines::{Connection, Reply, Verb, number};
use turnstile_travel::CustomerId;

use super::{
    stock::{Stock, Words, begin, connect, done, unexpected},
    traveller::Lost,
};
use crate::Error;

/// How many questions are under way at once.
const BATCH: usize = 64;

/// How often all is read again, because a lock was waited for too long: that of a transaction that
/// was left open, which goes with its time to live.
const ATTEMPTS: u32 = 4;

/// A customer's bill: how many of each item, by the item's name, and at which price each.
pub(super) type Bill = BTreeMap<String, (u64, u64)>;

/// What the managers say.
#[derive(Debug)]
pub(super) struct Books {
    /// What is free of each offer, in the stock's order.
    pub(super) free: Vec<u32>,
    /// Of each customer of the stock, in its order; none where there is no such customer.
    pub(super) bills: Vec<Option<Bill>>,
    /// Of every customer of the server.
    pub(super) summary: BTreeMap<CustomerId, Bill>,
    /// Bills whose total is not the sum of their lines.
    pub(super) wrong_totals: Vec<CustomerId>,
}

/// What became of the commits that nobody heard of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Fate {
    Committed,
    Aborted,
    #[default]
    Unknown,
}

/// Asks once more to commit what may be committed, which says whether it is, and ends what was left
/// open. One fate for each doubt, in their order.
///
/// # Errors
/// The connection failed.
pub(super) fn settle(address: SocketAddr, lost: &[Lost]) -> Result<Vec<Fate>, Error> {
    let mut door = connect(address)?;
    for xid in lost.iter().flat_map(|lost| &lost.open) {
        // However that is answered: it does not stay open for ever.
        door.ask(Verb::Abort, format_args!("{xid}"))?;
    }
    let mut fates = Vec::new();
    for doubt in lost.iter().flat_map(|lost| &lost.doubts) {
        let fate = match door.ask(Verb::Commit, format_args!("{}", doubt.xid))? {
            Reply::Done(_) => Fate::Committed,
            Reply::Aborted(_) => Fate::Aborted,
            Reply::Invalid(why) if why.ends_with(b"is committed") => Fate::Committed,
            Reply::Invalid(_) | Reply::Exception(_) | Reply::Refused => Fate::Unknown,
        };
        fates.push(fate);
    }
    Ok(fates)
}

impl Books {
    /// Reads every offer, every bill and the summary.
    ///
    /// # Errors
    /// The connection failed, or the server answered something else.
    pub(super) fn read(address: SocketAddr, stock: &Stock) -> Result<Self, Error> {
        let mut door = connect(address)?;
        for _ in 1..ATTEMPTS {
            if let Some(books) = Self::attempt(&mut door, stock)? {
                return Ok(books);
            }
            door = connect(address)?;
        }
        let read = Self::attempt(&mut door, stock)?;
        read.ok_or_else(|| Error::Preparation {
            command: "Summary",
            answer: "that its transaction was aborted, again and again".to_owned(),
        })
    }

    /// None when the transaction was aborted meanwhile.
    fn attempt(door: &mut Connection, stock: &Stock) -> Result<Option<Self>, Error> {
        let xid = begin(door)?;
        let mut books = Self {
            free: Vec::with_capacity(stock.offers.len()),
            bills: Vec::with_capacity(stock.customers.len()),
            summary: BTreeMap::new(),
            wrong_totals: Vec::new(),
        };
        for offers in stock.offers.chunks(BATCH) {
            for offer in offers {
                let Words { query, key, .. } = Words::of(&offer.item);
                door.send(query, format_args!("{xid},{key}"));
            }
            for offer in offers {
                let query = Words::of(&offer.item).query;
                let Some(text) = answer(query, door.receive()?)? else {
                    return Ok(None);
                };
                let free = number(query, text);
                let free = free.ok_or_else(|| unexpected(query.name(), &Reply::Done(text)))?;
                books.free.push(free);
            }
        }
        for customers in stock.customers.chunks(BATCH) {
            for customer in customers {
                door.send(Verb::QueryCustomer, format_args!("{xid},{customer}"));
            }
            for _ in customers {
                let Some(text) = answer(Verb::QueryCustomer, door.receive()?)? else {
                    return Ok(None);
                };
                let mut bills = read_bills(text)?;
                books.bills.push(bills.pop().map(|read| read.bill));
            }
        }
        let summary = door.ask(Verb::Summary, format_args!("{xid}"))?;
        let Some(text) = answer(Verb::Summary, summary)? else {
            return Ok(None);
        };
        for read in read_bills(text)? {
            let sum: u64 = read.bill.values().map(|(count, price)| count * price).sum();
            if read.total.is_some_and(|total| total != sum) {
                books.wrong_totals.push(read.customer);
            }
            books.summary.insert(read.customer, read.bill);
        }
        done(door, Verb::Commit, xid)?;
        Ok(Some(books))
    }
}

/// What was answered; none when the transaction was aborted.
fn answer<'a>(verb: Verb, reply: Reply<'a>) -> Result<Option<&'a [u8]>, Error> {
    match reply {
        Reply::Done(text) => Ok(Some(text)),
        Reply::Aborted(_) => Ok(None),
        reply => Err(unexpected(verb.name(), &reply)),
    }
}

/// A bill as it was read.
#[derive(Debug, PartialEq, Eq)]
struct Read {
    customer: CustomerId,
    bill: Bill,
    /// Where it tells one.
    total: Option<u64>,
}

/// Bills one after the other, as a query of a customer and a summary tell them.
fn read_bills(text: &[u8]) -> Result<Vec<Read>, Error> {
    let strange = || unexpected(Verb::Summary.name(), &Reply::Done(text));
    let lines = str::from_utf8(text).map_err(|_invalid| strange())?;
    let mut bills: Vec<Read> = Vec::new();
    for line in lines.lines() {
        if let Some(customer) = line.strip_prefix("Bill for customer ") {
            let customer = customer.parse().map_err(|_invalid| strange())?;
            bills.push(Read {
                customer: CustomerId(customer),
                bill: Bill::new(),
                total: None,
            });
            continue;
        }
        let read = bills.last_mut().ok_or_else(strange)?;
        if let Some(total) = line.strip_prefix("Total $") {
            read.total = Some(total.parse().map_err(|_invalid| strange())?);
            continue;
        }
        // A location may have blanks.
        let (count, rest) = line.split_once(' ').ok_or_else(strange)?;
        let (item, price) = rest.rsplit_once(" $").ok_or_else(strange)?;
        let (count, price) = (count.parse(), price.parse());
        let Some(counted) = count.ok().zip(price.ok()) else {
            return Err(strange());
        };
        read.bill.insert(item.to_owned(), counted);
    }
    Ok(bills)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bills_are_read_with_and_without_totals() {
        let text = "Bill for customer -3\nTotal $0\nBill for customer 42\n2 car-new york $40\n\
                    1 flight-7 $100\nTotal $180";
        let bill = |customer, bill: &[(&str, u64, u64)], total| Read {
            customer: CustomerId(customer),
            bill: bill
                .iter()
                .map(|(item, count, price)| ((*item).to_owned(), (*count, *price)))
                .collect(),
            total,
        };
        let lines = [("car-new york", 2, 40), ("flight-7", 1, 100)];
        let expected = [bill(-3, &[], Some(0)), bill(42, &lines, Some(180))];
        assert_eq!(read_bills(text.as_bytes()).unwrap(), expected);
        let without = read_bills(b"Bill for customer 7\n1 room-oslo $80").unwrap();
        assert_eq!(without, [bill(7, &[("room-oslo", 1, 80)], None)]);
        assert_eq!(read_bills(b"").unwrap(), []);
        for text in [
            "1 flight-7 $100",
            "Bill for customer x",
            "Bill for customer 1\nnothing",
        ] {
            assert!(read_bills(text.as_bytes()).is_err(), "{text}");
        }
    }
}
