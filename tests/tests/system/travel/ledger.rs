//! What was sold and what was told about it, beside what the managers know.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    time::{Duration, Instant},
};

use turnstile_embedded::{Durability, Embedded, Options};
use turnstile_travel::{Answer, Desk, Query, Stock, Travel};
use turnstile_types::{Principal, Timestamp};

use super::{
    clerk::Clerk,
    company::{Company, FLIGHTS},
};

/// What there is of each item.
const STOCK: u32 = 100_000;

/// How long locks of the past may be in the way.
const PATIENCE: Duration = Duration::from_secs(30);

const FLIGHT_NUMBERS: i32 = 5;

const PLACES: [&str; 3] = ["lima", "oslo", "rome"];

/// A flight, and a car and a room at a place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trip {
    pub(super) flight: i32,
    pub(super) place: &'static str,
}

/// How a transaction ended for whoever asked for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Told {
    Committed,
    Aborted,
    /// The server ended before it said so, or said that it is in doubt.
    Nothing,
}

/// A trip for a customer who has nothing else: all of it is there, or nothing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sale {
    pub(super) customer: i32,
    pub(super) trip: Trip,
    pub(super) told: Told,
}

#[derive(Debug, Default)]
pub(super) struct Ledger {
    sales: Vec<Sale>,
}

/// How much was committed, and what of that and of the rest was never told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Figures {
    pub(super) committed: usize,
    pub(super) happened_untold: usize,
    pub(super) forgotten_untold: usize,
}

impl Trip {
    pub(super) fn of(number: usize) -> Self {
        let flight = i32::try_from(number).expect("few trips are sold") % FLIGHT_NUMBERS + 1;
        let place = PLACES[number % PLACES.len()];
        Self { flight, place }
    }

    fn items(self) -> [String; 3] {
        [
            format!("car-{}", self.place),
            format!("flight-{}", self.flight),
            format!("room-{}", self.place),
        ]
    }

    /// Everything before the commit, as lines.
    pub(super) fn lines(self, xid: u64, customer: i32) -> [String; 4] {
        let Self { flight, place } = self;
        [
            format!("AddCustomerID,{xid},{customer}"),
            format!("ReserveFlight,{xid},{customer},{flight}"),
            format!("ReserveCar,{xid},{customer},{place}"),
            format!("ReserveRoom,{xid},{customer},{place}"),
        ]
    }

    /// Sells it in a transaction of its own.
    pub(super) fn sell(self, clerk: &mut Clerk, customer: i32) -> Told {
        let Some(xid) = clerk.starts() else {
            return Told::Aborted;
        };
        for line in self.lines(xid, customer) {
            match clerk.tries(&line) {
                Some(answer) if answer.starts_with("TransactionAborted") => return Told::Aborted,
                Some(answer) if answer.contains("Reserved") || answer.contains("ID: ") => {}
                Some(answer) => panic!("{line}: {answer}"),
                // Whoever has not asked for a commit will not have one.
                None => return Told::Aborted,
            }
        }
        match clerk.tries(&format!("Commit,{xid}")) {
            Some(answer) if answer.ends_with("committed") => Told::Committed,
            Some(answer) if answer.starts_with("TransactionAborted") => Told::Aborted,
            Some(answer) => panic!("commit: {answer}"),
            None => Told::Nothing,
        }
    }

    /// Sells it in one command, to a customer that is added before.
    pub(super) fn book(self, clerk: &mut Clerk, customer: i32) -> Told {
        let Some(xid) = clerk.starts() else {
            return Told::Aborted;
        };
        for line in [
            format!("AddCustomerID,{xid},{customer}"),
            format!("Commit,{xid}"),
        ] {
            let answer = clerk.tries(&line);
            if !answer
                .is_some_and(|answer| answer.contains("ID: ") || answer.ends_with("committed"))
            {
                return Told::Aborted;
            }
        }
        let Self { flight, place } = self;
        match clerk.tries(&format!("Book,{customer},{flight},{place},1,1")) {
            Some(answer) if answer.starts_with("Itinerary could not be booked") => Told::Aborted,
            Some(answer) if answer.contains(" booked") => Told::Committed,
            Some(answer) => panic!("book: {answer}"),
            None => Told::Nothing,
        }
    }
}

impl Ledger {
    /// Something to sell.
    pub(super) fn open(company: &Company) -> Self {
        let mut clerk = company.clerk();
        let xid = clerk.starts().expect("the server lives");
        let flights =
            (1..=FLIGHT_NUMBERS).map(|flight| format!("AddFlight,{xid},{flight},{STOCK},100"));
        let cars = PLACES.map(|place| format!("AddCars,{xid},{place},{STOCK},40"));
        let rooms = PLACES.map(|place| format!("AddRooms,{xid},{place},{STOCK},80"));
        for line in flights.chain(cars).chain(rooms) {
            assert!(clerk.says(&line).ends_with("added"), "{line}");
        }
        let committed = format!("Transaction {xid} committed");
        assert_eq!(clerk.says(&format!("Commit,{xid}")), committed);
        Self::default()
    }

    pub(super) fn enter(&mut self, sale: Sale) {
        self.sales.push(sale);
    }

    /// Whether the customer has the whole trip; a part of it is a crime.
    #[track_caller]
    fn stands(sale: &Sale, bills: &BTreeMap<i32, BTreeSet<String>>) -> bool {
        let bill = bills.get(&sale.customer);
        let whole: BTreeSet<String> = sale.trip.items().into_iter().collect();
        assert!(
            bill.is_none_or(|bill| *bill == whole),
            "{sale:?} is there in part: {bill:?}"
        );
        bill.is_some()
    }

    /// Compares what was told with what all managers know, in one transaction.
    #[track_caller]
    pub(super) fn audit(&self, company: &Company) -> Figures {
        let end = Instant::now() + PATIENCE;
        let (bills, free) = loop {
            // What was cut off by a crash may have its locks for a moment.
            if let Some(seen) = look(&mut company.clerk()) {
                break seen;
            }
            assert!(Instant::now() < end, "nobody can look within {PATIENCE:?}");
        };
        let mut figures = Figures::default();
        let mut sold: BTreeMap<String, u32> = BTreeMap::new();
        for sale in &self.sales {
            let stands = Self::stands(sale, &bills);
            match sale.told {
                Told::Committed => assert!(stands, "{sale:?} was lost"),
                Told::Aborted => assert!(!stands, "{sale:?} is there all the same"),
                Told::Nothing if stands => figures.happened_untold += 1,
                Told::Nothing => figures.forgotten_untold += 1,
            }
            if stands {
                figures.committed += 1;
                for item in sale.trip.items() {
                    *sold.entry(item).or_default() += 1;
                }
            }
        }
        assert_eq!(bills.len(), figures.committed, "bills of nobody: {bills:?}");
        for (item, free) in free {
            let sold = sold.get(&item).copied().unwrap_or_default();
            assert_eq!(
                free + sold,
                STOCK,
                "{item}: {free} are free, {sold} on bills"
            );
        }
        figures
    }

    /// Compares what is reserved at the desks with what is on the bills, once everybody has stopped.
    pub(super) fn compare_directories(company: &Company, sold: usize) {
        let trips = u32::try_from(sold).expect("few trips are sold");
        for (desk, role) in [Desk::Flights, Desk::Cars, Desk::Rooms]
            .into_iter()
            .zip(FLIGHTS..)
        {
            let role = if company.count() == 1 { 0 } else { role };
            let stocks = stocks(&company.data(role), desk);
            let held = |stock: &Stock| stock.free + stock.reserved == STOCK;
            assert!(stocks.iter().all(held), "{desk}: {stocks:?}");
            let reserved: u32 = stocks.iter().map(|stock| stock.reserved).sum();
            assert_eq!(reserved, trips, "{desk}: {stocks:?}");
        }
    }
}

type Seen = (BTreeMap<i32, BTreeSet<String>>, Vec<(String, u32)>);

/// All bills with something on them and all that is free, as one transaction sees it. None: it was aborted.
fn look(clerk: &mut Clerk) -> Option<Seen> {
    let xid = clerk.starts()?;
    let mut hear = |line: String| {
        clerk
            .tries(&line)
            .filter(|answer| !answer.contains("Aborted"))
    };
    let mut bills: BTreeMap<i32, BTreeSet<String>> = BTreeMap::new();
    let mut customer = 0;
    for line in hear(format!("Summary,{xid}"))?.lines() {
        if let Some(number) = line.strip_prefix("Bill for customer ") {
            customer = number.parse().expect("a number");
            bills.insert(customer, BTreeSet::new());
        } else if let Some(entry) = line.strip_prefix("1 ") {
            let item = entry.split(' ').next().unwrap_or_default();
            bills
                .get_mut(&customer)
                .expect("a bill has a head")
                .insert(item.to_owned());
        }
    }
    bills.retain(|_, bill| !bill.is_empty());
    let flights = (1..=FLIGHT_NUMBERS).map(|flight| {
        (
            format!("QueryFlight,{xid},{flight}"),
            format!("flight-{flight}"),
        )
    });
    let cars = PLACES.map(|place| (format!("QueryCars,{xid},{place}"), format!("car-{place}")));
    let rooms = PLACES.map(|place| (format!("QueryRooms,{xid},{place}"), format!("room-{place}")));
    let mut free = Vec::new();
    for (line, item) in flights.chain(cars).chain(rooms) {
        let answer = hear(line)?;
        let number = answer
            .rsplit(' ')
            .next()
            .and_then(|number| number.parse().ok());
        free.push((
            item,
            number.unwrap_or_else(|| panic!("no number: {answer}")),
        ));
    }
    hear(format!("Commit,{xid}"))?;
    Some((bills, free))
}

/// What a desk has, in a directory that nobody uses.
fn stocks(data: &Path, desk: Desk) -> Vec<Stock> {
    let options = Options {
        segment_bytes: 4 << 20,
        ..Options::with(Durability::Sync)
    };
    let (backend, _) = Embedded::open(Some(data), options).expect("nobody uses it");
    let (after, limit) = (None, 100);
    let query = Query::Items { desk, after, limit };
    match backend.query::<Travel>(Timestamp(0), &Principal::local(), &query) {
        Answer::Items { items, .. } => items.into_iter().map(|(_, stock)| stock).collect(),
        other => panic!("another answer: {other:?}"),
    }
}
