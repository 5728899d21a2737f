//! Whether every journey was sold whole or not at all, and every manager says the same of it.

use std::{collections::BTreeMap, fmt, net::SocketAddr};

use turnstile_check::Charge;
use turnstile_result::Rule;
use turnstile_stats::units::Count;
use turnstile_travel::Desk;

use super::{
    bills::{self, Bill, Books, Fate},
    ledger::Ledger,
    stock::Stock,
    traveller::{Doubt, Lost},
};
use crate::{Error, point};

/// The reconciliation of a run with its server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Proof {
    /// Why nothing could be proven at all: the server could not be asked.
    pub unproven: Option<String>,
    /// Transactions whose commit was acknowledged.
    pub committed: u64,
    /// Commits whose answer never came, and of them those that the server says it did, and those
    /// that it says it did not. The others may have been carried out or not.
    pub unknown: u64,
    pub unknown_committed: u64,
    pub unknown_aborted: u64,
    /// Flights, cars and rooms that were looked into, each with its own price and place.
    pub offers: u64,
    pub customers: u64,
    /// Seats, cars and rooms that were put in, and what is free or reserved of them now.
    pub put_in: u64,
    pub free: u64,
    pub reserved: u64,
    /// By manager: what it says it has sold, that is, what was put in and is not free.
    pub sold: BTreeMap<&'static str, u64>,
    /// By manager: what was acknowledged.
    pub acknowledged: BTreeMap<&'static str, u64>,
    /// A sentence for each broken promise; when there is none, the run is proven.
    pub violations: Vec<String>,
}

/// A number that is known, or between two: commits that nobody heard of widen it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Range {
    least: u64,
    most: u64,
}

/// What must be on a customer's bill: by the offer's number.
type Owed = BTreeMap<usize, Range>;

/// Asks for everything and adds up. When the server is gone, the proof says so.
///
/// # Errors
/// The server answered something that is no answer to what was asked.
pub(super) fn prove(
    address: SocketAddr,
    stock: &Stock,
    ledger: &Ledger,
    lost: &[Lost],
) -> Result<Proof, Error> {
    let doubts: Vec<Doubt> = lost.iter().flat_map(|lost| lost.doubts.clone()).collect();
    let of_run = Proof {
        committed: ledger.total(),
        unknown: wide(doubts.len()),
        offers: wide(stock.offers.len()),
        customers: wide(stock.customers.len()),
        ..Proof::default()
    };
    let mut proof = of_run.clone();
    match proof.reconcile(address, stock, ledger, lost, &doubts) {
        Ok(()) => Ok(proof),
        Err(error @ (Error::Door(_) | Error::Preparation { .. })) => Ok(Proof {
            unproven: Some(error.to_string()),
            ..of_run
        }),
        Err(error) => Err(error),
    }
}

impl Proof {
    /// The same for `run.json`.
    pub(super) fn rule(&self) -> Rule {
        let rule = "every journey was sold whole or not at all, and every customer's bill is right";
        point::found(
            point::rule(rule, &self.violations, self.unproven.as_deref()),
            self,
        )
    }

    /// Whether no promise was broken.
    #[must_use]
    pub const fn holds(&self) -> bool {
        self.violations.is_empty()
    }

    /// Whether enough is known to prove anything.
    #[must_use]
    pub const fn is_proof(&self) -> bool {
        self.unproven.is_none()
    }

    fn reconcile(
        &mut self,
        address: SocketAddr,
        stock: &Stock,
        ledger: &Ledger,
        lost: &[Lost],
        doubts: &[Doubt],
    ) -> Result<(), Error> {
        let fates = bills::settle(address, lost)?;
        let count = |fate| wide(fates.iter().filter(|&&one| one == fate).count());
        self.unknown_committed = count(Fate::Committed);
        self.unknown_aborted = count(Fate::Aborted);
        let books = Books::read(address, stock)?;
        let owed = owed(stock, ledger, doubts.iter().zip(&fates));
        let unknown = doubts.iter().zip(&fates);
        let unknown = unknown.filter(|(_, fate)| **fate == Fate::Unknown);
        let unknown: Vec<&Doubt> = unknown.map(|(doubt, _)| doubt).collect();
        self.judge_offers(stock, &books);
        self.judge_managers(stock, &books, &owed);
        self.judge_bills(stock, &books, &owed);
        self.judge_unknown(stock, &books, &owed, &unknown);
        Ok(())
    }

    /// Of each offer as much is free or on somebody's bill as was put in.
    fn judge_offers(&mut self, stock: &Stock, books: &Books) {
        let mut reserved: BTreeMap<&str, u64> = BTreeMap::new();
        for (item, (count, _)) in books.summary.values().flatten() {
            *reserved.entry(item).or_default() += count;
        }
        let mut charge = Charge::default();
        for (offer, &free) in stock.offers.iter().zip(&books.free) {
            let item = offer.item.to_string();
            let (added, free) = (u64::from(offer.added), u64::from(free));
            let reserved = reserved.get(&*item).copied().unwrap_or_default();
            if free + reserved != added {
                charge.add(|| {
                    format!(
                        "{} of {item} were put in; {} are free and {} on bills",
                        Count(added),
                        Count(free),
                        Count(reserved)
                    )
                });
            }
            self.put_in += added;
            self.free += free;
            self.reserved += reserved;
        }
        self.accuse(charge);
    }

    /// Each manager has sold what was acknowledged: every journey is whole or absent.
    fn judge_managers(&mut self, stock: &Stock, books: &Books, owed: &[Owed]) {
        let mut acknowledged: BTreeMap<&'static str, Range> = BTreeMap::new();
        for (&offer, range) in owed.iter().flatten() {
            let manager = stock.offers[offer].item.desk().code();
            acknowledged.entry(manager).or_default().add(*range);
        }
        for (offer, &free) in stock.offers.iter().zip(&books.free) {
            let sold = self.sold.entry(offer.item.desk().code()).or_default();
            *sold += u64::from(offer.added.saturating_sub(free));
        }
        let bills = books.bills.iter().flatten().flatten();
        let billed = bills.map(|(_, (count, _))| count).sum();
        self.sold.insert(Desk::Customers.code(), billed);
        let all = acknowledged
            .values()
            .fold(Range::default(), |mut all, range| {
                all.add(*range);
                all
            });
        acknowledged.insert(Desk::Customers.code(), all);
        let mut charge = Charge::default();
        for (manager, &sold) in &self.sold {
            let range = acknowledged.get(manager).copied().unwrap_or_default();
            if !range.has(sold) {
                charge.add(|| {
                    format!(
                        "{manager} says that {} are sold, {range} were acknowledged in {} \
                         transactions",
                        Count(sold),
                        Count(self.committed)
                    )
                });
            }
        }
        let acknowledged = acknowledged.into_iter();
        self.acknowledged = acknowledged
            .map(|(name, range)| (name, range.least))
            .collect();
        self.accuse(charge);
    }

    /// Each bill has what was acknowledged to its customer, at its price, and nothing else; and the
    /// summary says the same.
    fn judge_bills(&mut self, stock: &Stock, books: &Books, owed: &[Owed]) {
        let mut charge = Charge::default();
        let prices: BTreeMap<String, (usize, u64)> = stock
            .offers
            .iter()
            .enumerate()
            .map(|(number, offer)| (offer.item.to_string(), (number, u64::from(offer.price))))
            .collect();
        for ((customer, bill), owed) in stock.customers.iter().zip(&books.bills).zip(owed) {
            if books.summary.get(customer) != bill.as_ref() {
                charge.add(|| format!("the summary and customer {customer} have different bills"));
            }
            let Some(bill) = bill else {
                charge.add(|| format!("there is no customer {customer} any more"));
                continue;
            };
            let strange = bill.keys().filter(|item| !prices.contains_key(*item));
            for item in strange {
                charge.add(|| format!("customer {customer} has {item}, which it never wanted"));
            }
            for (item, &(offer, price)) in &prices {
                let range = owed.get(&offer).copied().unwrap_or_default();
                let (found, at) = bill.get(item).copied().unwrap_or((0, price));
                if !range.has(found) {
                    charge.add(|| {
                        format!(
                            "customer {customer} has {found} of {item}, {range} were acknowledged"
                        )
                    });
                }
                if at != price {
                    charge
                        .add(|| format!("customer {customer} pays ${at} for {item}, not ${price}"));
                }
            }
        }
        for customer in &books.wrong_totals {
            charge.add(|| format!("the total of customer {customer} is not the sum of its bill"));
        }
        self.accuse(charge);
    }

    /// A journey of which nobody knows whether it was bought is on the bill with all of its items,
    /// or with none. Where two of one customer have an item in common, it cannot be told.
    fn judge_unknown(&mut self, stock: &Stock, books: &Books, owed: &[Owed], unknown: &[&Doubt]) {
        let mut charge = Charge::default();
        for doubt in unknown {
            let Some(bill) = &books.bills[doubt.customer] else {
                continue;
            };
            let same = |other: &&&Doubt| other.customer == doubt.customer;
            if unknown
                .iter()
                .filter(same)
                .any(|other| other.journey != doubt.journey)
            {
                continue;
            }
            let more = |offer: usize| {
                let range = owed[doubt.customer]
                    .get(&offer)
                    .copied()
                    .unwrap_or_default();
                count(bill, stock, offer).saturating_sub(range.least)
            };
            let mut more = stock.journeys[doubt.journey].offers().map(more);
            let first = more.next();
            if more.any(|other| Some(other) != first) {
                let (customer, xid) = (stock.customers[doubt.customer], doubt.xid);
                charge.add(|| format!("customer {customer} has a part of transaction {xid}"));
            }
        }
        self.accuse(charge);
    }

    fn accuse(&mut self, charge: Charge) {
        self.violations.extend(charge.sentences());
    }
}

/// What each customer of the stock has bought, in its order.
fn owed<'a>(
    stock: &Stock,
    ledger: &Ledger,
    doubts: impl Iterator<Item = (&'a Doubt, &'a Fate)>,
) -> Vec<Owed> {
    let mut owed: Vec<Owed> = vec![Owed::new(); stock.customers.len()];
    let mut add = |customer: usize, journey: usize, range: Range| {
        for offer in stock.journeys[journey].offers() {
            owed[customer].entry(offer).or_default().add(range);
        }
    };
    for customer in 0..stock.customers.len() {
        for (journey, count) in ledger.of_customer(customer) {
            let range = Range {
                least: count,
                most: count,
            };
            add(customer, journey, range);
        }
    }
    for (doubt, fate) in doubts {
        let range = match fate {
            Fate::Committed => Range { least: 1, most: 1 },
            Fate::Unknown => Range { least: 0, most: 1 },
            Fate::Aborted => continue,
        };
        add(doubt.customer, doubt.journey, range);
    }
    owed
}

/// How many of an offer are on a bill.
fn count(bill: &Bill, stock: &Stock, offer: usize) -> u64 {
    let item = stock.offers[offer].item.to_string();
    bill.get(&item).map_or(0, |(count, _)| *count)
}

fn wide(length: usize) -> u64 {
    u64::try_from(length).expect("a count fits 64 bits")
}

impl Range {
    const fn add(&mut self, other: Self) {
        self.least += other.least;
        self.most += other.most;
    }

    fn has(self, number: u64) -> bool {
        (self.least..=self.most).contains(&number)
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.least == self.most {
            return Count(self.least).fmt(f);
        }
        write!(f, "{} to {}", Count(self.least), Count(self.most))
    }
}

impl fmt::Display for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (committed, unknown) = (Count(self.committed), Count(self.unknown));
        if let Some(why) = &self.unproven {
            return write!(
                f,
                "{committed} transactions acknowledged, {unknown} commits unknown\n\
                 NOT PROVEN: the server could not be asked after the run: {why}"
            );
        }
        write!(
            f,
            "proof: {} seats, cars and rooms put in, {} free, {} reserved\n       \
             {committed} transactions acknowledged, each whole on its customer's bill",
            Count(self.put_in),
            Count(self.free),
            Count(self.reserved)
        )?;
        if self.unknown > 0 {
            write!(
                f,
                "\n       {unknown} commits were not answered: {} done, {} not done, {} not known",
                self.unknown_committed,
                self.unknown_aborted,
                self.unknown - self.unknown_committed - self.unknown_aborted
            )?;
        }
        f.write_str("\n       sold, says each manager:")?;
        for (number, (manager, sold)) in self.sold.iter().enumerate() {
            let comma = if number == 0 { "" } else { "," };
            write!(f, "{comma} {manager} {}", Count(*sold))?;
        }
        for violation in &self.violations {
            write!(f, "\n       VIOLATED: {violation}")?;
        }
        Ok(())
    }
}
