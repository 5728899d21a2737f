//! Flights between places, and the rules by which they are stocked and priced.

use std::collections::BTreeMap;

use turnstile_travel::{Item, Location};

/// The mean radius of the earth in kilometers.
const EARTH: f64 = 6_371.0;

/// A seat costs so many dollars, and one more for every so many kilometers.
const SEAT_PRICE: u32 = 50;
const KILOMETERS_A_DOLLAR: u32 = 10;

/// One car waits for every so many seats that arrive, and one room.
const SEATS_A_CAR: u32 = 10;
const SEATS_A_ROOM: u32 = 4;

/// A car and a room cost so many dollars, and one more for every so many flights that arrive: much
/// visited places are dearer.
const CAR_PRICE: u32 = 30;
const FLIGHTS_A_CAR_DOLLAR: u32 = 20;
const ROOM_PRICE: u32 = 60;
const FLIGHTS_A_ROOM_DOLLAR: u32 = 5;

/// Where something is, in degrees.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Point {
    pub(crate) latitude: f64,
    pub(crate) longitude: f64,
}

/// A flight between two places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NetworkFlight {
    pub(crate) number: i32,
    pub(crate) from: Location,
    pub(crate) to: Location,
    pub(crate) seats: u32,
    pub(crate) price: u32,
}

/// A place at which flights arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) location: Location,
    pub(crate) cars: u32,
    pub(crate) car_price: u32,
    pub(crate) rooms: u32,
    pub(crate) room_price: u32,
}

/// Everything that is to be sold.
#[derive(Clone, Debug, Default)]
pub(crate) struct FlightNetwork {
    pub(crate) flights: Vec<NetworkFlight>,
    /// Each once, in alphabetical order.
    pub(crate) places: Vec<Place>,
}

/// An item, how much of it there is to be, and its price.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ware {
    pub(crate) item: Item,
    pub(crate) count: u32,
    pub(crate) price: u32,
}

impl Point {
    /// The distance along the great circle, in whole kilometers.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is from 0 to half the circumference of the earth"
    )]
    pub(crate) fn kilometers(self, other: Self) -> u32 {
        let (here, there) = (self.latitude.to_radians(), other.latitude.to_radians());
        let east = (other.longitude - self.longitude).to_radians();
        let half = |angle: f64| (angle / 2.0).sin().powi(2);
        let chord = half(there - here) + here.cos() * there.cos() * half(east);
        (2.0 * EARTH * chord.clamp(0.0, 1.0).sqrt().asin()).round() as u32
    }
}

impl NetworkFlight {
    /// The price of a seat over a distance.
    pub(crate) const fn price(kilometers: u32) -> u32 {
        SEAT_PRICE + kilometers / KILOMETERS_A_DOLLAR
    }
}

impl FlightNetwork {
    /// A network of these flights; where they arrive there are cars and rooms.
    pub(crate) fn of(flights: Vec<NetworkFlight>) -> Self {
        let mut arriving: BTreeMap<Location, (u32, u32)> = BTreeMap::new();
        for flight in &flights {
            let (count, seats) = arriving.entry(flight.to).or_default();
            *count += 1;
            *seats += flight.seats;
        }
        let place = |(location, (flights, seats)): (Location, (u32, u32))| Place {
            location,
            cars: seats.div_ceil(SEATS_A_CAR),
            car_price: CAR_PRICE + flights / FLIGHTS_A_CAR_DOLLAR,
            rooms: seats.div_ceil(SEATS_A_ROOM),
            room_price: ROOM_PRICE + flights / FLIGHTS_A_ROOM_DOLLAR,
        };
        Self {
            places: arriving.into_iter().map(place).collect(),
            flights,
        }
    }

    /// The place with this name.
    pub(crate) fn place(&self, location: &Location) -> Option<&Place> {
        let found = self
            .places
            .binary_search_by_key(location, |place| place.location);
        found.ok().map(|number| &self.places[number])
    }

    /// All of it, flights first.
    pub(crate) fn wares(&self) -> Vec<Ware> {
        let flights = self.flights.iter().map(NetworkFlight::ware);
        let places = self
            .places
            .iter()
            .flat_map(|place| [place.car(), place.room()]);
        flights.chain(places).collect()
    }
}

impl NetworkFlight {
    pub(crate) const fn ware(&self) -> Ware {
        Ware {
            item: Item::Flight(self.number),
            count: self.seats,
            price: self.price,
        }
    }
}

impl Place {
    pub(crate) const fn car(&self) -> Ware {
        Ware {
            item: Item::Car(self.location),
            count: self.cars,
            price: self.car_price,
        }
    }

    pub(crate) const fn room(&self) -> Ware {
        Ware {
            item: Item::Room(self.location),
            count: self.rooms,
            price: self.room_price,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn location(name: &str) -> Location {
        Location::parse(name.as_bytes()).unwrap()
    }

    #[test]
    fn distances_are_those_of_the_great_circle() {
        let point = |latitude, longitude| Point {
            latitude,
            longitude,
        };
        let (montreal, paris) = (point(45.47, -73.74), point(49.01, 2.55));
        let (sydney, santiago) = (point(-33.95, 151.18), point(-33.39, -70.79));
        // By the angle between two vectors, another formula for the same.
        for (from, to, expected) in [
            (montreal, paris, 5_524),
            (paris, montreal, 5_524),
            // Over the date line, not around the world.
            (sydney, santiago, 11_340),
            (paris, paris, 0),
            // A quarter of the circumference, and half of it.
            (point(90.0, 0.0), point(0.0, 77.0), 10_008),
            (point(0.0, 0.0), point(0.0, 180.0), 20_015),
        ] {
            assert_eq!(from.kilometers(to), expected, "{from:?} {to:?}");
        }
        assert_eq!(
            [0, 9, 10, 5_524].map(NetworkFlight::price),
            [50, 50, 51, 602]
        );
    }

    #[test]
    fn places_have_cars_and_rooms_for_those_who_arrive() {
        let flight = |number, from: &str, to: &str, seats| NetworkFlight {
            number,
            from: location(from),
            to: location(to),
            seats,
            price: 100,
        };
        let mut flights = vec![flight(1, "yul", "cdg", 9), flight(2, "cdg", "yul", 9)];
        flights.extend((3..42).map(|number| flight(number, "yul", "cdg", 100)));
        let network = FlightNetwork::of(flights);
        let cdg = Place {
            location: location("cdg"),
            cars: 391,
            car_price: 32,
            rooms: 978,
            room_price: 68,
        };
        let yul = Place {
            location: location("yul"),
            cars: 1,
            car_price: 30,
            rooms: 3,
            room_price: 60,
        };
        assert_eq!(network.places, [cdg, yul]);
        assert_eq!(network.place(&location("yul")), Some(&yul));
        assert_eq!(network.place(&location("lhr")), None);
        let wares = network.wares();
        assert_eq!(wares.len(), 41 + 4);
        let room = Ware {
            item: Item::Room(location("yul")),
            count: 3,
            price: 60,
        };
        assert_eq!(wares.last(), Some(&room));
    }
}
