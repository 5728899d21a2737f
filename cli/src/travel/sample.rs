//! A small network to try things on: twelve real airports, and flights from each to each.

use turnstile_travel::Location;

use super::network::{FlightNetwork, NetworkFlight, Point};

/// The cities, and where their airports are, in hundredths of degrees north and east. An import
/// names locations by codes, and does not find these.
const AIRPORTS: [(&str, i16, i16); 12] = [
    ("montreal", 4_547, -7_374),
    ("new york", 4_064, -7_378),
    ("london", 5_147, -45),
    ("paris", 4_901, 255),
    ("frankfurt", 5_003, 857),
    ("oslo", 6_019, 1_110),
    ("rome", 4_180, 1_224),
    ("cairo", 3_012, 3_141),
    ("johannesburg", -2_614, 2_825),
    ("delhi", 2_857, 7_711),
    ("tokyo", 3_576, 14_039),
    ("sydney", -3_395, 15_118),
];

/// Up to so many kilometers, an aircraft with so many seats flies.
const SEATS: [(u32, u32); 3] = [(1_500, 150), (6_000, 245), (u32::MAX, 360)];

/// The flights are numbered from 1001, in the order of the table.
const FIRST_NUMBER: i32 = 1_001;

pub(crate) fn network() -> FlightNetwork {
    let mut flights = Vec::new();
    let mut number = FIRST_NUMBER;
    for from in AIRPORTS {
        for to in AIRPORTS.into_iter().filter(|to| *to != from) {
            let kilometers = point(from).kilometers(point(to));
            let mut ranges = SEATS.iter();
            let range = ranges.find(|(range, _)| kilometers <= *range);
            let (_, seats) = range.expect("the last range has no end");
            flights.push(NetworkFlight {
                number,
                from: location(from),
                to: location(to),
                seats: *seats,
                price: NetworkFlight::price(kilometers),
            });
            number += 1;
        }
    }
    FlightNetwork::of(flights)
}

fn location((city, ..): (&str, i16, i16)) -> Location {
    Location::parse(city.as_bytes()).expect("a city is a location")
}

fn point((_, north, east): (&str, i16, i16)) -> Point {
    Point {
        latitude: f64::from(north) / 100.0,
        longitude: f64::from(east) / 100.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_airport_has_a_flight_to_each_other_and_back_at_the_same_price() {
        let network = network();
        assert_eq!((network.flights.len(), network.places.len()), (132, 12));
        for (number, flight) in (1_001..).zip(&network.flights) {
            assert_eq!(flight.number, number);
            let mut others = network.flights.iter();
            let back = others.find(|other| (other.from, other.to) == (flight.to, flight.from));
            assert_eq!(back.unwrap().price, flight.price);
            assert!(network.place(&flight.to).is_some());
        }
        let shortest = network.flights.iter().map(|flight| flight.price).min();
        let longest = network.flights.iter().map(|flight| flight.price).max();
        // London to Paris is 348 km; nowhere is farther than half around the world.
        assert_eq!(shortest, Some(84));
        assert!(longest < Some(2_050), "{longest:?}");
    }
}
