//! Everything that was sold and is left, read in one transaction: nothing can change meanwhile.

use std::collections::BTreeMap;

use turnstile_check::travel::{BillRow, CustomerBill, ItemOffer, JourneyStep};
use turnstile_client::ServerAddress;
use turnstile_client::lines::{Connection, LineVerb, Reply, number};
use turnstile_travel::CustomerId;

use super::{
    stock::{OfferCatalogue, Words, begin, connect, done, unexpected},
    traveller::Lost,
};
use crate::Error;

/// How many questions are under way at once.
const BATCH: usize = 64;

/// How often all is read again, because a lock was waited for too long: that of a transaction that
/// was left open, which goes with its time to live.
const ATTEMPTS: u32 = 4;

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
pub(super) fn settle(address: &ServerAddress, lost: &[Lost]) -> Result<Vec<Fate>, Error> {
    let mut door = connect(address)?;
    for xid in lost.iter().flat_map(|lost| &lost.open) {
        // However that is answered: it does not stay open for ever.
        door.ask(LineVerb::Abort, format_args!("{xid}"))?;
    }
    let mut fates = Vec::new();
    for doubt in lost.iter().flat_map(|lost| &lost.doubts) {
        let fate = match door.ask(LineVerb::Commit, format_args!("{}", doubt.xid))? {
            Reply::Done(_) => Fate::Committed,
            Reply::Aborted(_) => Fate::Aborted,
            Reply::Invalid(why) if why.ends_with(b"is committed") => Fate::Committed,
            Reply::Invalid(_) | Reply::Exception(_) | Reply::Refused => Fate::Unknown,
        };
        fates.push(fate);
    }
    Ok(fates)
}

/// Reads every item, every bill and the summary, in one transaction; the summary tells every bill again.
///
/// # Errors
/// The connection failed, or the server answered something else.
pub(super) fn read(
    address: &ServerAddress,
    stock: &OfferCatalogue,
) -> Result<Vec<JourneyStep>, Error> {
    for _ in 0..ATTEMPTS {
        if let Some(read) = read_once(&mut connect(address)?, stock)? {
            return Ok(read);
        }
    }
    Err(Error::Preparation {
        command: "Summary",
        answer: "that its transaction was aborted, again and again".to_owned(),
    })
}

/// None when the transaction was aborted meanwhile.
fn read_once(
    door: &mut Connection,
    stock: &OfferCatalogue,
) -> Result<Option<Vec<JourneyStep>>, Error> {
    let xid = begin(door)?;
    let mut free = Vec::with_capacity(stock.offers.len());
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
            let number = number(query, text);
            free.push(number.ok_or_else(|| unexpected(query.name(), &Reply::Done(text)))?);
        }
    }
    let mut bills = Vec::with_capacity(2 * stock.customers.len());
    for customers in stock.customers.chunks(BATCH) {
        for customer in customers {
            door.send(LineVerb::QueryCustomer, format_args!("{xid},{customer}"));
        }
        for _ in customers {
            let Some(text) = answer(LineVerb::QueryCustomer, door.receive()?)? else {
                return Ok(None);
            };
            bills.push(read_bills(text, stock)?.pop().map(|(_, bill)| bill));
        }
    }
    let summary = door.ask(LineVerb::Summary, format_args!("{xid}"))?;
    let Some(text) = answer(LineVerb::Summary, summary)? else {
        return Ok(None);
    };
    let mut summary: BTreeMap<CustomerId, CustomerBill> =
        read_bills(text, stock)?.into_iter().collect();
    done(door, LineVerb::Commit, xid)?;
    // Of an item as much is reserved as all customers of the server have.
    let mut reserved: BTreeMap<u16, i64> = BTreeMap::new();
    for line in summary.values().flat_map(|bill| &bill.lines) {
        *reserved.entry(line.item).or_default() += line.count;
    }
    let items = (0..).zip(stock.put_in()).zip(free);
    let items = items.map(|((item, offer), free)| JourneyStep::Query {
        item,
        found: Some(ItemOffer {
            free: i64::from(free),
            reserved: reserved.get(&item).copied().unwrap_or_default(),
            ..offer
        }),
    });
    bills.extend(stock.customers.iter().map(|one| summary.remove(one)));
    let customers = (0..).zip(&stock.customers).map(|(number, _)| number);
    let bills = customers.cycle().zip(bills);
    let bills = bills.map(|(customer, found)| JourneyStep::Bill { customer, found });
    Ok(Some(items.chain(bills).collect()))
}

/// What was answered; none when the transaction was aborted.
fn answer<'a>(verb: LineVerb, reply: Reply<'a>) -> Result<Option<&'a [u8]>, Error> {
    match reply {
        Reply::Done(text) => Ok(Some(text)),
        Reply::Aborted(_) => Ok(None),
        reply => Err(unexpected(verb.name(), &reply)),
    }
}

/// Bills one after the other, as a query of a customer and a summary tell them. Where one tells no
/// total, that of its lines.
fn read_bills(
    text: &[u8],
    stock: &OfferCatalogue,
) -> Result<Vec<(CustomerId, CustomerBill)>, Error> {
    let strange = || unexpected(LineVerb::Summary.name(), &Reply::Done(text));
    let lines = str::from_utf8(text).map_err(|_invalid| strange())?;
    let mut bills: Vec<(CustomerId, CustomerBill)> = Vec::new();
    for line in lines.lines() {
        if let Some(customer) = line.strip_prefix("Bill for customer ") {
            let customer = customer.parse().map_err(|_invalid| strange())?;
            bills.push((CustomerId(customer), CustomerBill::default()));
            continue;
        }
        let (_, bill) = bills.last_mut().ok_or_else(strange)?;
        if let Some(total) = line.strip_prefix("Total $") {
            bill.total = total.parse().map_err(|_invalid| strange())?;
            continue;
        }
        // A location may have blanks.
        let (count, rest) = line.split_once(' ').ok_or_else(strange)?;
        let (item, price) = rest.rsplit_once(" $").ok_or_else(strange)?;
        let (count, price) = (count.parse::<u32>(), price.parse::<u32>());
        let (count, price) = count.ok().zip(price.ok()).ok_or_else(strange)?;
        bill.total += u64::from(count) * u64::from(price);
        bill.lines.push(BillRow {
            // What the run knows nothing of has the highest number.
            item: stock.number(item).unwrap_or(u16::MAX),
            count: i64::from(count),
            price,
        });
    }
    for (_, bill) in &mut bills {
        bill.lines.sort_unstable_by_key(|line| line.item);
    }
    Ok(bills)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bills_are_read_with_and_without_totals() {
        let stock = OfferCatalogue::named(0);
        let text = "Bill for customer -3\nTotal $0\nBill for customer 42\n2 car-lab0-7 $40\n\
                    1 flight-1000000003 $100\n1 room-new york $5\nTotal $181";
        let line = |item, count, price| BillRow { item, count, price };
        let bill = |customer, lines: &[BillRow], total| {
            let lines = lines.to_vec();
            (CustomerId(customer), CustomerBill { lines, total })
        };
        let lines = [line(3, 1, 100), line(207, 2, 40), line(u16::MAX, 1, 5)];
        let expected = [bill(-3, &[], 0), bill(42, &lines, 181)];
        assert_eq!(read_bills(text.as_bytes(), &stock).unwrap(), expected);
        let without = read_bills(b"Bill for customer 7\n3 room-lab0-0 $80", &stock).unwrap();
        assert_eq!(without, [bill(7, &[line(300, 3, 80)], 240)]);
        assert_eq!(read_bills(b"", &stock).unwrap(), []);
        for text in [
            "1 flight-7 $100",
            "Bill for customer x",
            "Bill for customer 1\nnothing",
        ] {
            assert!(read_bills(text.as_bytes(), &stock).is_err(), "{text}");
        }
    }
}
