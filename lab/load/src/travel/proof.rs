//! Whether every journey was sold whole or not at all: the witness is told what was acknowledged, and
//! then what the server says of every item and every bill.

use std::{collections::BTreeMap, fmt};

use turnstile_check::{
    Charge, Model as _,
    travel::{Agency, AgencyOperation, JourneyEnd, JourneyStep, ReserveAnswer, TripItems},
};
use turnstile_client::ServerAddress;
use turnstile_result::Rule;
use turnstile_stats::units::Count;
use turnstile_travel::Desk;

use super::{
    bills::{self, Fate},
    ledger::PurchaseCounts,
    stock::OfferCatalogue,
    traveller::{Doubt, Lost},
};
use crate::{Error, point};

/// The reconciliation of a run with its server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Proof {
    /// Why nothing could be proven at all.
    pub unproven: Option<String>,
    /// Transactions whose commit was acknowledged.
    pub committed: u64,
    /// Commits whose answer never came, and of them those that the server says it did, and those
    /// that it says it did not. The others may have been carried out or not.
    pub unknown: u64,
    pub unknown_committed: u64,
    pub unknown_aborted: u64,
    /// Seats, cars and rooms that were put in, and what is free or reserved of them now.
    pub put_in: u64,
    pub free: u64,
    pub reserved: u64,
    /// By manager: what it says it has sold, that is, what was put in and is not free.
    pub sold: BTreeMap<&'static str, u64>,
    /// A sentence for each broken promise; when there is none, the run is proven.
    pub violations: Vec<String>,
}

/// Tells the witness what was acknowledged, and asks the server for everything. When the server is gone,
/// the proof says so.
///
/// # Errors
/// The server answered something that is no answer to what was asked.
pub(super) fn prove(
    address: &ServerAddress,
    stock: &OfferCatalogue,
    ledger: &PurchaseCounts,
    lost: &[Lost],
) -> Result<Proof, Error> {
    let doubts: Vec<Doubt> = lost.iter().flat_map(|lost| lost.doubts.clone()).collect();
    let of_run = Proof {
        committed: ledger.total(),
        unknown: wide(doubts.len()),
        ..Proof::default()
    };
    let mut proof = of_run.clone();
    match proof.reconcile(address, stock, ledger, lost, &doubts) {
        Ok(()) => Ok(proof),
        Err(error @ (Error::Door(_) | Error::Preparation { .. })) => Ok(Proof {
            unproven: Some(format!(
                "the server could not be asked after the run: {error}"
            )),
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

    fn reconcile(
        &mut self,
        address: &ServerAddress,
        stock: &OfferCatalogue,
        ledger: &PurchaseCounts,
        lost: &[Lost],
        doubts: &[Doubt],
    ) -> Result<(), Error> {
        let fates = bills::settle(address, lost)?;
        let count = |fate| wide(fates.iter().filter(|&&one| one == fate).count());
        self.unknown_committed = count(Fate::Committed);
        self.unknown_aborted = count(Fate::Aborted);
        let read = bills::read(address, stock)?;
        self.add_up(stock, &read);
        let mut charge = Charge::default();
        let agency = witness(stock, ledger, doubts.iter().zip(fates), &mut charge);
        let last = agency.last(&read);
        if last.clouded {
            let why = "too many commits of the same customers were never answered";
            self.unproven = Some(why.to_owned());
        }
        self.violations.extend(charge.sentences());
        self.violations.extend(last.charge.sentences());
        Ok(())
    }

    /// What the server says of everything, in sums.
    fn add_up(&mut self, stock: &OfferCatalogue, read: &[JourneyStep]) {
        let count = |count: i64| u64::try_from(count).unwrap_or_default();
        for step in read {
            let JourneyStep::Query {
                item,
                found: Some(found),
            } = *step
            else {
                continue;
            };
            let offer = &stock.offers[usize::from(item)];
            let (added, free) = (u64::from(offer.added), count(found.free));
            self.put_in += added;
            self.free += free;
            self.reserved += count(found.reserved);
            let sold = self.sold.entry(offer.item.desk().code()).or_default();
            *sold += added.saturating_sub(free);
        }
        self.sold.insert(Desk::Customers.code(), self.reserved);
    }
}

/// The witness of a run that has ended. Nobody knows the order of its transactions; what they change are
/// sums, so that any order does.
fn witness<'a>(
    stock: &OfferCatalogue,
    ledger: &PurchaseCounts,
    doubts: impl Iterator<Item = (&'a Doubt, Fate)>,
    charge: &mut Charge,
) -> Agency {
    let transaction = |customer: usize, journey: usize, end| AgencyOperation::Transaction {
        steps: stock.journeys[journey]
            .offers()
            .map(|offer| JourneyStep::Reserve {
                customer: small(customer),
                trip: TripItems::new(&[small(offer)]),
                answer: ReserveAnswer::Done,
            })
            .collect(),
        end,
    };
    let items = stock.offers.iter().map(|offer| offer.item.to_string());
    let customers = stock.customers.iter().map(ToString::to_string);
    let mut agency = Agency::new(stock.put_in(), stock.customers.len())
        .with_names(items.collect(), customers.collect());
    let mut position = 0;
    let mut hear = |agency: &mut Agency, operation: &AgencyOperation| {
        position += Agency::PLACES;
        if let Err(sentence) = agency.apply(position, operation) {
            charge.add(|| sentence);
        }
    };
    for customer in 0..stock.customers.len() {
        for (journey, count) in ledger.of_customer(customer) {
            let committed = transaction(customer, journey, JourneyEnd::Committed);
            (0..count).for_each(|_| hear(&mut agency, &committed));
        }
    }
    for (doubt, fate) in doubts {
        let of = |end| transaction(doubt.customer, doubt.journey, end);
        match fate {
            Fate::Committed => hear(&mut agency, &of(JourneyEnd::Committed)),
            Fate::Unknown => agency.suspect(&of(JourneyEnd::Unknown)),
            Fate::Aborted => {}
        }
    }
    agency
}

/// The number of a customer or an offer.
fn small(number: usize) -> u16 {
    u16::try_from(number).expect("a stock has less than 65,536 customers and offers")
}

fn wide(length: usize) -> u64 {
    u64::try_from(length).expect("a count fits 64 bits")
}

impl fmt::Display for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (committed, unknown) = (Count(self.committed), Count(self.unknown));
        if let Some(why) = &self.unproven {
            return write!(
                f,
                "{committed} transactions acknowledged, {unknown} commits unknown\n\
                 NOT PROVEN: {why}"
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
