//! What is sold in a run, and to whom.

use std::{collections::HashMap, fmt, ops::Range, time::Duration};

use turnstile_check::travel as witness;
use turnstile_client::ServerAddress;
use turnstile_client::lines::{Connection, LineVerb, Reply, number, started};
use turnstile_travel::{CustomerId, Item, Location, Xid};

use super::Managers;
use crate::Error;

/// What the ancestor had. Of its 200 flights, the first hundred belong to the locations.
const CUSTOMERS: u16 = 200;
const FLIGHTS: u16 = 200;
const LOCATIONS: u16 = 100;

/// Seats, cars and rooms of each item: nobody finds one sold out in a run of minutes.
const COUNT: u32 = 10_000_000;

/// Prices in dollars, as they were in the ancestor's examples.
const SEAT_PRICE: u32 = 100;
const CAR_PRICE: u32 = 40;
const ROOM_PRICE: u32 = 80;

/// The numbers of customers and flights of a run begin here, far from those that people use.
const FIRST_NUMBER: i32 = 1_000_000_000;

/// Numbers of one run, and how many runs one server sees at most.
const NUMBERS_EACH: i32 = 1_000;
const STEMS: Range<i32> = 0..1_000_000;

/// Items that one transaction makes: they are locked until its end.
const BATCH: usize = 100;

/// The most items of a trip.
pub(super) const ITEMS_MAX: usize = 4;

/// How long the server may take for any one answer outside the load: longer than any lock is
/// waited for.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Something that is sold, and how much of it was there when the run began, all of it free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offer {
    pub item: Item,
    pub added: u32,
    pub price: u32,
}

/// What one transaction reserves: offers by their numbers, one to four of them, none twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Journey {
    offers: [u16; ITEMS_MAX],
    count: u8,
}

/// Everything that is sold in a run, the journeys that it is sold in, and the customers. Nobody else
/// may buy any of it meanwhile.
#[derive(Clone, Debug)]
pub struct OfferCatalogue {
    pub(super) customers: Vec<CustomerId>,
    pub(super) offers: Vec<Offer>,
    pub(super) journeys: Vec<Journey>,
    /// The numbers of the offers, by the names that they have on bills.
    numbers: HashMap<String, u16>,
    /// The journeys over several managers, and those over one.
    several: Range<usize>,
    one: Range<usize>,
}

impl Journey {
    /// A journey of these offers.
    ///
    /// # Panics
    /// There are none, or more than four.
    #[must_use]
    pub fn of(offers: &[u16]) -> Self {
        assert!((1..=ITEMS_MAX).contains(&offers.len()), "{offers:?}");
        let mut journey = Self {
            offers: [0; ITEMS_MAX],
            count: u8::try_from(offers.len()).expect("at most four"),
        };
        journey.offers[..offers.len()].copy_from_slice(offers);
        journey
    }

    pub(super) fn offers(&self) -> impl Iterator<Item = usize> {
        let count = usize::from(self.count);
        self.offers[..count].iter().map(|&offer| usize::from(offer))
    }

    pub(super) fn len(&self) -> usize {
        usize::from(self.count)
    }

    pub(super) fn offer(&self, place: usize) -> usize {
        usize::from(self.offers[place])
    }
}

impl OfferCatalogue {
    /// A stock of journeys on what is there already. Its customers must be there, too, and must not
    /// have reserved anything.
    ///
    /// # Panics
    /// A journey names an offer that there is not.
    #[must_use]
    pub fn of(customers: Vec<CustomerId>, offers: Vec<Offer>, journeys: Vec<Journey>) -> Self {
        let there = |journey: &Journey| journey.offers().all(|offer| offer < offers.len());
        assert!(journeys.iter().all(there), "offers are numbered");
        let (several, one) = (0..journeys.len(), 0..0);
        Self::new((customers, offers, journeys), several, one)
    }

    fn new(
        (customers, offers, journeys): (Vec<CustomerId>, Vec<Offer>, Vec<Journey>),
        several: Range<usize>,
        one: Range<usize>,
    ) -> Self {
        let names = offers.iter().map(|offer| offer.item.to_string());
        Self {
            numbers: names.zip(0..).collect(),
            customers,
            offers,
            journeys,
            several,
            one,
        }
    }

    /// What the witness knows of the offers in the beginning.
    pub(super) fn put_in(&self) -> Vec<witness::ItemOffer> {
        let offers = self.offers.iter().map(|offer| witness::ItemOffer {
            free: i64::from(offer.added),
            reserved: 0,
            price: offer.price,
        });
        offers.collect()
    }

    /// The number of the offer with the name that it has on bills.
    pub(super) fn number(&self, item: &str) -> Option<u16> {
        self.numbers.get(item).copied()
    }

    /// The journeys over so many managers.
    pub(super) fn over(&self, managers: Managers) -> Range<usize> {
        match managers {
            Managers::One => self.one.clone(),
            Managers::Several => self.several.clone(),
        }
    }

    /// Makes the ancestor's stock on a server, in names that no run before has used.
    ///
    /// # Errors
    /// The connection failed, or the server refused.
    pub fn make(address: &ServerAddress) -> Result<Self, Error> {
        let mut door = connect(address)?;
        for stem in STEMS {
            let stock = Self::named(stem);
            if stock.claim(&mut door)? {
                return Ok(stock);
            }
        }
        Err(Error::Setting("this server has seen too many runs"))
    }

    /// The stock with this number.
    pub(super) fn named(stem: i32) -> Self {
        let first = FIRST_NUMBER + stem * NUMBERS_EACH;
        let flights = (0..FLIGHTS).map(|number| Offer {
            item: Item::Flight(first + i32::from(number)),
            added: COUNT,
            price: SEAT_PRICE,
        });
        let place = |number: u16| {
            let name = format!("lab{stem}-{number}");
            Location::parse(name.as_bytes()).expect("letters and digits are a location")
        };
        let cars = (0..LOCATIONS).map(|number| Offer {
            item: Item::Car(place(number)),
            added: COUNT,
            price: CAR_PRICE,
        });
        let rooms = (0..LOCATIONS).map(|number| Offer {
            item: Item::Room(place(number)),
            added: COUNT,
            price: ROOM_PRICE,
        });
        let several =
            (0..LOCATIONS).map(|key| Journey::of(&[key, FLIGHTS + key, FLIGHTS + LOCATIONS + key]));
        let half = LOCATIONS / 2;
        let one = (0..LOCATIONS).map(|key| {
            let third = LOCATIONS + (key + half) % LOCATIONS;
            Journey::of(&[key, LOCATIONS + key, third])
        });
        let places = usize::from(LOCATIONS);
        let customers = (0..CUSTOMERS).map(|number| CustomerId(first + i32::from(number)));
        let offers = flights.chain(cars).chain(rooms).collect();
        let journeys = several.chain(one).collect();
        let all = (customers.collect(), offers, journeys);
        Self::new(all, 0..places, places..2 * places)
    }

    /// Makes the customers, which says whether the number is free, and then the offers.
    fn claim(&self, door: &mut Connection) -> Result<bool, Error> {
        let xid = begin(door)?;
        for customer in &self.customers {
            door.send(LineVerb::AddCustomerId, format_args!("{xid},{customer}"));
        }
        let mut taken = false;
        for _ in &self.customers {
            match door.receive()? {
                Reply::Done(_) => {}
                Reply::Refused => taken = true,
                reply => return Err(unexpected("AddCustomerID", &reply)),
            }
        }
        if taken {
            done(door, LineVerb::Abort, xid)?;
            return Ok(false);
        }
        done(door, LineVerb::Commit, xid)?;
        for offers in self.offers.chunks(BATCH) {
            let xid = begin(door)?;
            for offer in offers {
                let Offer { added, price, .. } = offer;
                let words = Words::of(&offer.item);
                let key = words.key;
                door.send(words.add, format_args!("{xid},{key},{added},{price}"));
                door.send(words.query, format_args!("{xid},{key}"));
            }
            for offer in offers {
                let words = Words::of(&offer.item);
                match door.receive()? {
                    Reply::Done(_) => {}
                    reply => return Err(unexpected(words.add.name(), &reply)),
                }
                match door.receive()? {
                    Reply::Done(text) if number(words.query, text) == Some(offer.added) => {}
                    reply => return Err(unexpected(words.query.name(), &reply)),
                }
            }
            done(door, LineVerb::Commit, xid)?;
        }
        Ok(true)
    }
}

/// How lines speak of an item.
#[derive(Clone, Copy, Debug)]
pub(super) struct Words<'a> {
    pub(super) add: LineVerb,
    pub(super) query: LineVerb,
    pub(super) reserve: LineVerb,
    pub(super) key: StockKey<'a>,
}

/// A flight's number or a location.
#[derive(Clone, Copy, Debug)]
pub(super) enum StockKey<'a> {
    Number(i32),
    Place(&'a Location),
}

impl<'a> Words<'a> {
    pub(super) const fn of(item: &'a Item) -> Self {
        match item {
            Item::Flight(number) => Self {
                add: LineVerb::AddFlight,
                query: LineVerb::QueryFlight,
                reserve: LineVerb::ReserveFlight,
                key: StockKey::Number(*number),
            },
            Item::Car(place) => Self {
                add: LineVerb::AddCars,
                query: LineVerb::QueryCars,
                reserve: LineVerb::ReserveCar,
                key: StockKey::Place(place),
            },
            Item::Room(place) => Self {
                add: LineVerb::AddRooms,
                query: LineVerb::QueryRooms,
                reserve: LineVerb::ReserveRoom,
                key: StockKey::Place(place),
            },
        }
    }
}

impl fmt::Display for StockKey<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Place(place) => place.fmt(f),
        }
    }
}

pub(super) fn connect(address: &ServerAddress) -> Result<Connection, Error> {
    Ok(Connection::connect(address, TIMEOUT)?)
}

/// Starts a transaction.
pub(super) fn begin(door: &mut Connection) -> Result<Xid, Error> {
    let reply = door.ask(LineVerb::Start, format_args!(""))?;
    match reply {
        Reply::Done(text) => started(text).ok_or_else(|| unexpected("Start", &reply)),
        reply => Err(unexpected("Start", &reply)),
    }
}

/// Ends a transaction.
pub(super) fn done(door: &mut Connection, verb: LineVerb, xid: Xid) -> Result<(), Error> {
    match door.ask(verb, format_args!("{xid}"))? {
        Reply::Done(_) => Ok(()),
        reply => Err(unexpected(verb.name(), &reply)),
    }
}

/// The server did not do what the run needs.
pub(super) fn unexpected(command: &'static str, reply: &Reply<'_>) -> Error {
    let answer = match *reply {
        Reply::Done(text) => String::from_utf8_lossy(text).into_owned(),
        Reply::Refused => "that it could not be done".to_owned(),
        Reply::Aborted(why) | Reply::Invalid(why) | Reply::Exception(why) => {
            String::from_utf8_lossy(why).into_owned()
        }
    };
    Error::Preparation { command, answer }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use turnstile_travel::Desk;

    use super::*;

    fn desks(stock: &OfferCatalogue, journey: &Journey) -> Vec<Desk> {
        let offers = journey
            .offers()
            .map(|offer| stock.offers[offer].item.desk());
        offers.collect()
    }

    #[test]
    fn the_stock_is_the_ancestors_and_of_its_own_for_each_run() {
        let stock = OfferCatalogue::named(0);
        assert_eq!(stock.customers.len(), 200);
        let items: BTreeSet<Item> = stock.offers.iter().map(|offer| offer.item).collect();
        assert_eq!((items.len(), stock.offers.len()), (400, 400));
        for stem in [1, STEMS.end - 1] {
            let other = OfferCatalogue::named(stem);
            assert!(
                other
                    .offers
                    .iter()
                    .all(|offer| !items.contains(&offer.item))
            );
            assert!(
                other
                    .customers
                    .iter()
                    .all(|id| !stock.customers.contains(id))
            );
        }
    }

    #[test]
    fn a_journey_goes_over_one_manager_or_over_all_three_and_reserves_nothing_twice() {
        let stock = OfferCatalogue::named(7);
        let all = [Desk::Flights, Desk::Cars, Desk::Rooms];
        for (managers, expected) in [
            (Managers::Several, all),
            (Managers::One, [Desk::Flights; 3]),
        ] {
            let journeys = &stock.journeys[stock.over(managers)];
            assert_eq!(journeys.len(), 100);
            for journey in journeys {
                assert_eq!(desks(&stock, journey), expected);
                let different: BTreeSet<usize> = journey.offers().collect();
                assert_eq!(different.len(), 3);
            }
            // Two journeys of different keys have nothing in common but the third of one manager.
            let firsts: BTreeSet<usize> = journeys.iter().map(|journey| journey.offer(0)).collect();
            assert_eq!(firsts.len(), 100);
        }
    }
}
