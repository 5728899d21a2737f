//! A travel agency without locks on real sockets: each transaction works on a copy of what was there
//! when it began, and is committed when nothing that it touched has changed since; or with one fault.

mod mint;

use std::{
    collections::{BTreeMap, BTreeSet},
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::Instant,
};

use turnstile_resp::{
    Arguments, Encoder,
    catalogue::Action,
    travel::{Request, parse, put_answer, put_outcome},
};
use turnstile_travel::{
    AbortReason, Answer, Bill, BillLine, Command, CustomerId, Done, Item, Locator, Outcome,
    Refusal, Step, Stock, Travel, Trip, Xid,
};
use turnstile_types::{Position, Timestamp};

use crate::loopback::{Clerk, listen, serve_resp};
use mint::{locator, mint};

/// What is wrong with a bureau.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wrong {
    Nothing,
    /// Whatever has changed since a transaction began is written over.
    LosesUpdates,
    /// Only what a transaction writes must not have changed, not what it has read.
    SkewsWrites,
    /// What an open transaction has changed is shown to others.
    ReadsDirty,
    /// Of some trips in one command the last item is left out.
    BooksHalf,
    /// Aborted transactions are committed.
    KeepsAborted,
    /// Some trips are booked though they are sold out.
    SellsTwice,
    /// Some positions are lower than what has been answered.
    Reorders,
    /// Some are told a price that is a dollar too high.
    Overcharges,
    /// Prices stay as they are.
    KeepsPrices,
    /// What is on a bill costs what it does now, and not what it did when it was reserved.
    BillsAnew,
    /// Some commands under keys are carried out, but the connection is closed instead of an answer.
    Closes,
    /// The same, and the key is forgotten: what is asked again is done again.
    ForgetsKeys,
    /// Holds end when a quarter of their time is over.
    EndsEarly,
    /// Holds do not end.
    NeverEnds,
    /// What is over is confirmed, too.
    ConfirmsBlindly,
    /// A confirmed hold ends all the same.
    ConfirmsNothing,
    /// A hold that is cancelled keeps its seats.
    ReleasesNothing,
    /// A hold takes no seats.
    HoldsNothing,
    /// The counter of bookings is one ahead.
    CountsOneMore,
    /// No answer tells a position.
    NoPosition,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Thing {
    Item(Item),
    Customer(CustomerId),
}

#[derive(Clone, Debug, Default)]
struct Store {
    stocks: BTreeMap<Item, Stock>,
    /// How many of each, and what each costs.
    bills: BTreeMap<CustomerId, BTreeMap<Item, (u32, u32)>>,
}

#[derive(Debug)]
struct Open {
    began: u64,
    own: Store,
    read: BTreeSet<Thing>,
    written: BTreeSet<Thing>,
}

struct State {
    wrong: Wrong,
    store: Store,
    open: BTreeMap<Xid, Open>,
    /// The commit that changed each thing last.
    changed: BTreeMap<Thing, u64>,
    commands: u64,
    commits: u64,
    customers: i32,
    booked: u64,
    standing: BTreeMap<Locator, (CustomerId, Trip)>,
    /// When each hold ends.
    holds: BTreeMap<Locator, Timestamp>,
    begun: Instant,
    keys: BTreeMap<String, (Outcome, Position)>,
    mint: Travel,
}

/// Opens one; its RESP door.
pub(crate) fn open(wrong: Wrong) -> SocketAddr {
    let state = State {
        wrong,
        store: Store::default(),
        open: BTreeMap::new(),
        changed: BTreeMap::new(),
        commands: 0,
        commits: 0,
        customers: 0,
        booked: 0,
        standing: BTreeMap::new(),
        holds: BTreeMap::new(),
        begun: Instant::now(),
        keys: BTreeMap::new(),
        mint: mint(),
    };
    listen(&Arc::new(Mutex::new(state)), serve_resp)
}

impl Store {
    fn take(&mut self, customer: CustomerId, item: Item) {
        let stock = self.stocks.get_mut(&item).unwrap();
        stock.free = stock.free.saturating_sub(1);
        stock.reserved += 1;
        let bill = self.bills.get_mut(&customer).unwrap();
        let (count, price) = bill.entry(item).or_default();
        *count += 1;
        *price = stock.price;
    }

    fn give_back(&mut self, customer: CustomerId, item: Item) {
        let stock = self.stocks.get_mut(&item).unwrap();
        stock.free += 1;
        stock.reserved = stock.reserved.saturating_sub(1);
        let bill = self.bills.get_mut(&customer).unwrap();
        let (count, _) = bill.entry(item).or_default();
        *count = count.saturating_sub(1);
        bill.retain(|_item, (count, _)| *count > 0);
    }

    fn sold_out(&self, trip: &Trip) -> Option<Item> {
        let items = trip.items();
        let wanted = |item: &Item| items.iter().filter(|other| *other == item).count();
        let free = |item: &Item| usize::try_from(self.stocks[item].free).unwrap();
        items.iter().copied().find(|item| wanted(item) > free(item))
    }

    fn bill(&self, customer: CustomerId, wrong: Wrong) -> Option<Bill> {
        let lines = self.bills.get(&customer)?.iter();
        let lines = lines.map(|(&item, &(count, price))| BillLine {
            item,
            count,
            price: match wrong {
                Wrong::BillsAnew => self.stocks[&item].price,
                _ => price,
            },
        });
        Some(Bill {
            customer,
            lines: lines.collect(),
        })
    }
}

impl Clerk for State {
    fn info(&self) -> String {
        let now = self.now();
        let ends = |until: &&Timestamp| **until <= now && self.wrong != Wrong::NeverEnds;
        let over = self.holds.values().filter(ends).count();
        let ahead = u64::from(self.wrong == Wrong::CountsOneMore && self.booked > 5);
        format!(
            "# Server\r\nturnstile_version:0.1.0\r\ndurability:memory\r\ntravel_backend:embedded\r\n\
             travel_booked_total:{}\r\ntravel_itineraries:{}\r\n",
            self.booked + ahead,
            self.standing.len() - over
        )
    }

    fn answer(
        &mut self,
        action: Action,
        arguments: Arguments<'_, '_>,
        reply: &mut Encoder<'_>,
    ) -> Option<()> {
        let Action::Travel(verb) = action else {
            panic!("only words of travel are said here");
        };
        let Request::Command { command, key } = parse(verb, arguments).unwrap() else {
            // Nobody ever waits.
            let none = Answer::Transactions {
                transactions: Vec::new(),
                next: None,
            };
            put_answer(reply, &none);
            return Some(());
        };
        let key = key.map(|key| format!("{key:?}"));
        let first = key.as_ref().and_then(|key| self.keys.get(key));
        if let Some((outcome, position)) = first {
            put_outcome(reply, outcome, *position, true);
            return Some(());
        }
        self.commands += 1;
        let often = self.commands.is_multiple_of(20) && self.booked > 5;
        let outcome = self.apply(&command);
        let position = self.position(often);
        let closes = self.commands.is_multiple_of(7)
            && key.is_some()
            && matches!(self.wrong, Wrong::Closes | Wrong::ForgetsKeys);
        if let Some(key) = key
            && !(closes && self.wrong == Wrong::ForgetsKeys)
        {
            self.keys.insert(key, (outcome.clone(), position));
        }
        put_outcome(reply, &outcome, position, false);
        (!closes).then_some(())
    }
}

impl State {
    /// They are ten apart.
    fn position(&self, often: bool) -> Position {
        match self.wrong {
            Wrong::Reorders if often => Position((self.commands - 15) * 10 + 5),
            Wrong::NoPosition => Position(0),
            _ => Position(self.commands * 10),
        }
    }

    fn now(&self) -> Timestamp {
        Timestamp(self.begun.elapsed().as_millis().try_into().unwrap())
    }

    /// Gives back what is held no more.
    fn end_holds(&mut self, now: Timestamp) {
        if self.wrong == Wrong::NeverEnds {
            return;
        }
        let over = self.holds.extract_if(.., |_, until| *until <= now);
        let over: Vec<Locator> = over.map(|(locator, _)| locator).collect();
        for locator in over {
            self.give_back(locator);
        }
    }

    fn apply(&mut self, command: &Command) -> Outcome {
        let now = self.now();
        self.end_holds(now);
        match command {
            Command::Start => {
                let xid = Xid(self.commands);
                let open = Open {
                    began: self.commits,
                    own: self.store.clone(),
                    read: BTreeSet::new(),
                    written: BTreeSet::new(),
                };
                self.open.insert(xid, open);
                Outcome::Done(Done::Started { xid })
            }
            Command::Within {
                xid,
                step: Step::Commit,
            } => self.commit(*xid),
            Command::Within { xid, step } => self.step(*xid, step),
            Command::Abort { xid } => match self.end(*xid) {
                Ok(open) => {
                    if self.wrong == Wrong::KeepsAborted {
                        self.write_back(open);
                    }
                    Outcome::Done(Done::Aborted)
                }
                Err(refusal) => Outcome::Refused(refusal),
            },
            Command::Book {
                customer,
                trip,
                hold_ms,
            } => self.book(*customer, trip, hold_ms.map(|ms| (now, ms))),
            Command::Confirm { locator } => self.confirm(*locator),
            Command::Cancel { locator } => self.cancel(*locator),
            other => panic!("{other:?} is not said here"),
        }
    }

    fn step(&mut self, xid: Xid, step: &Step) -> Outcome {
        let dirty = match step {
            Step::Query { item } if self.wrong == Wrong::ReadsDirty => self.dirty(xid, *item),
            _ => None,
        };
        let Some(open) = self.open.get_mut(&xid) else {
            return Outcome::Refused(Refusal::UnknownTransaction);
        };
        Outcome::Done(match step {
            Step::Query { item } => {
                if let Some(stock) = dirty {
                    return Outcome::Done(Done::Stock(Some(stock)));
                }
                open.read.insert(Thing::Item(*item));
                Done::Stock(open.own.stocks.get(item).copied())
            }
            Step::QueryCustomer { customer } => {
                open.read.insert(Thing::Customer(*customer));
                Done::Bill(open.own.bill(*customer, self.wrong))
            }
            Step::Add { item, count, price } => {
                open.written.insert(Thing::Item(*item));
                let stock = open.own.stocks.entry(*item).or_insert(Stock {
                    free: 0,
                    reserved: 0,
                    price: *price,
                });
                stock.free += count;
                if *price > 0 && self.wrong != Wrong::KeepsPrices {
                    stock.price = *price;
                }
                Done::Added
            }
            Step::AddCustomer { .. } => {
                self.customers += 1;
                let customer = CustomerId(self.customers);
                open.written.insert(Thing::Customer(customer));
                open.own.bills.insert(customer, BTreeMap::new());
                Done::CustomerAdded(customer)
            }
            Step::Reserve { customer, trip } => {
                if let Some(item) = open.own.sold_out(trip) {
                    open.read.insert(Thing::Item(item));
                    return Outcome::Refused(Refusal::SoldOut(item));
                }
                open.written.insert(Thing::Customer(*customer));
                for &item in trip.items() {
                    open.written.insert(Thing::Item(item));
                    open.own.take(*customer, item);
                }
                Done::Reserved
            }
            other => panic!("{other:?} is not said here"),
        })
    }

    /// What somebody else has made of an item and not committed.
    fn dirty(&self, xid: Xid, item: Item) -> Option<Stock> {
        let writes = |open: &Open| open.written.contains(&Thing::Item(item));
        let mut others = self.open.iter().filter(|(other, _)| **other != xid);
        let own = self.open.get(&xid).is_some_and(writes);
        let (_, other) = others.find(|(_, other)| !own && writes(other))?;
        other.own.stocks.get(&item).copied()
    }

    fn commit(&mut self, xid: Xid) -> Outcome {
        match self.end(xid) {
            Ok(open) => {
                self.write_back(open);
                Outcome::Done(Done::Committed)
            }
            Err(refusal) => Outcome::Refused(refusal),
        }
    }

    /// A transaction ends; one whose reads are not true any more is aborted whatever was asked for.
    fn end(&mut self, xid: Xid) -> Result<Open, Refusal> {
        let open = self.open.remove(&xid).ok_or(Refusal::UnknownTransaction)?;
        let changed = |thing: &Thing| {
            let last = self.changed.get(thing);
            last.is_some_and(|last| *last > open.began)
        };
        let conflict = match self.wrong {
            Wrong::LosesUpdates => false,
            Wrong::SkewsWrites => open.written.iter().any(changed),
            _ => open.read.union(&open.written).any(changed),
        };
        if conflict {
            let reason = AbortReason::Deadlock { holder: Xid(1) };
            return Err(Refusal::Aborted(reason));
        }
        Ok(open)
    }

    fn write_back(&mut self, mut open: Open) {
        self.commits += 1;
        for thing in open.written {
            self.changed.insert(thing, self.commits);
            match thing {
                Thing::Item(item) => {
                    let stock = open.own.stocks[&item];
                    self.store.stocks.insert(item, stock);
                }
                Thing::Customer(customer) => {
                    let bill = open.own.bills.remove(&customer).unwrap();
                    self.store.bills.insert(customer, bill);
                }
            }
        }
    }

    fn note(&mut self, customer: CustomerId, trip: &Trip) {
        self.commits += 1;
        let items = trip.items().iter().map(|item| Thing::Item(*item));
        let things = items.chain([Thing::Customer(customer)]);
        self.changed
            .extend(things.map(|thing| (thing, self.commits)));
    }

    fn book(
        &mut self,
        customer: CustomerId,
        trip: &Trip,
        hold: Option<(Timestamp, u64)>,
    ) -> Outcome {
        let often = self.booked % 3 == 2;
        if let Some(item) = self.store.sold_out(trip)
            && !(self.wrong == Wrong::SellsTwice && self.booked > 5)
        {
            return Outcome::Refused(Refusal::SoldOut(item));
        }
        let half = often && self.wrong == Wrong::BooksHalf;
        let whole = trip.items().len();
        let kept = if hold.is_some() && self.wrong == Wrong::HoldsNothing {
            0
        } else {
            whole - usize::from(half)
        };
        for &item in &trip.items()[..kept] {
            self.store.take(customer, item);
        }
        self.note(customer, trip);
        self.booked += 1;
        let locator = locator(&mut self.mint, self.booked);
        self.standing.insert(locator, (customer, trip.clone()));
        if let Some((now, ms)) = hold {
            let early = self.wrong == Wrong::EndsEarly;
            let kept_ms = if early { ms / 4 } else { ms };
            self.holds.insert(locator, now.plus_ms(kept_ms));
        }
        let prices = trip
            .items()
            .iter()
            .map(|item| self.store.stocks[item].price);
        let price: u64 = prices.map(u64::from).sum();
        Outcome::Done(Done::Booked {
            locator,
            price: price + u64::from(often && self.wrong == Wrong::Overcharges),
            until: hold.map(|(now, ms)| now.plus_ms(ms)),
        })
    }

    fn confirm(&mut self, locator: Locator) -> Outcome {
        match (self.standing.contains_key(&locator), self.wrong) {
            (false, Wrong::ConfirmsBlindly) | (true, Wrong::ConfirmsNothing) => {}
            (false, _) => return Outcome::Refused(Refusal::ItineraryOver),
            (true, _) if self.holds.remove(&locator).is_none() => {
                return Outcome::Refused(Refusal::NotHeld);
            }
            (true, _) => {}
        }
        Outcome::Done(Done::Confirmed)
    }

    fn cancel(&mut self, locator: Locator) -> Outcome {
        let held = self.holds.remove(&locator).is_some();
        if held && self.wrong == Wrong::ReleasesNothing {
            self.standing.remove(&locator);
            return Outcome::Done(Done::Cancelled);
        }
        if self.give_back(locator) {
            return Outcome::Done(Done::Cancelled);
        }
        Outcome::Refused(Refusal::ItineraryOver)
    }

    /// Whether there was such an itinerary.
    fn give_back(&mut self, locator: Locator) -> bool {
        let Some((customer, trip)) = self.standing.remove(&locator) else {
            return false;
        };
        for &item in trip.items() {
            self.store.give_back(customer, item);
        }
        self.note(customer, &trip);
        true
    }
}
