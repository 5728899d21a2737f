//! The bodies that the operations of travel take, and the commands they become.

use std::borrow::Cow;

use serde::Deserialize;
use turnstile_travel::{Command, CustomerId, Desk, Item, Step, Trip, Xid, limits};
use utoipa::ToSchema;

use crate::{
    problem::{Place, Problem},
    request::Faults,
};

/// Adds to what there is of an item.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewStock<'a> {
    #[serde(borrow)]
    #[schema(value_type = String, example = "flight-12")]
    item: Cow<'a, str>,
    /// Seats, cars or rooms.
    #[schema(example = 100)]
    count: u32,
    /// Of one. When it is left out or zero, the price stays.
    #[serde(default)]
    #[schema(default = 0, example = 250)]
    price: u32,
}

/// Adds a customer.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewCustomer {
    /// When it is left out, a number is picked.
    #[serde(default)]
    #[schema(example = 77)]
    customer: Option<i32>,
}

/// Reserves one of each of 1 to 64 items, or nothing; what stands twice is reserved twice.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewReservation<'a> {
    #[schema(example = 77)]
    customer: i32,
    #[serde(borrow)]
    #[schema(value_type = Vec<String>, example = json!(["flight-12", "room-montreal"]))]
    items: Vec<Cow<'a, str>>,
}

/// Books one of each of 1 to 64 items in a transaction of its own, or nothing.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewItinerary<'a> {
    #[schema(example = 77)]
    customer: i32,
    #[serde(borrow)]
    #[schema(value_type = Vec<String>, example = json!(["flight-12", "room-montreal"]))]
    items: Vec<Cow<'a, str>>,
    /// Only holds it, for so long; it is given back unless it is confirmed by then.
    #[serde(default)]
    #[schema(minimum = 1, maximum = 2592000, example = 3600)]
    ttl_seconds: Option<u32>,
}

/// Decides, at one desk, a transaction that waits there for its decision.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Resolution<'a> {
    /// `flights`, `cars`, `rooms` or `customers`.
    #[serde(borrow)]
    #[schema(value_type = String, example = "flights")]
    desk: Cow<'a, str>,
    /// `commit` or `abort`. Where the others decide otherwise, they disagree from then on.
    #[serde(borrow)]
    #[schema(value_type = String, example = "abort")]
    decision: Cow<'a, str>,
}

impl Faults {
    /// An item, in one word.
    pub(super) fn item(&mut self, field: &str, text: &str) -> Option<Item> {
        self.take(field, Item::parse(text.as_bytes()))
    }

    /// A number of 32 bits, without the plus that `parse` would take.
    pub(super) fn number(&mut self, field: &str, text: &str) -> Option<i32> {
        let number = text.parse().ok().filter(|_| !text.starts_with('+'));
        if number.is_none() {
            let (low, high) = (i32::MIN, i32::MAX);
            self.add(field, format_args!("a number, {low} to {high}"));
        }
        number
    }

    fn trip(&mut self, texts: &[Cow<'_, str>]) -> Option<Trip> {
        let most = limits::ITEMS_PER_TRIP_MAX;
        if texts.len() > most {
            self.add("items", format_args!("1 to {most} items"));
            return None;
        }
        let items = texts.iter().enumerate();
        let items = items.map(|(at, text)| self.item(&format!("items[{at}]"), text));
        let items: Vec<Option<Item>> = items.collect();
        let items = items.into_iter().collect::<Option<Vec<Item>>>()?;
        let trip = Trip::new(items);
        if trip.is_none() {
            self.add("items", format_args!("1 to {most} items"));
        }
        trip
    }
}

impl NewStock<'_> {
    /// # Errors
    /// Wrong fields.
    pub fn step(&self) -> Result<Step, Problem> {
        let mut faults = Faults::in_place(Place::Body);
        let item = faults.item("item", &self.item);
        let (count, price) = (self.count, self.price);
        faults.finish(item.map(|item| Step::Add { item, count, price }))
    }
}

impl NewCustomer {
    #[must_use]
    pub fn step(&self) -> Step {
        let customer = self.customer.map(CustomerId);
        Step::AddCustomer { customer }
    }
}

impl NewReservation<'_> {
    /// # Errors
    /// Wrong fields.
    pub fn step(&self) -> Result<Step, Problem> {
        let mut faults = Faults::in_place(Place::Body);
        let trip = faults.trip(&self.items);
        let customer = CustomerId(self.customer);
        faults.finish(trip.map(|trip| Step::Reserve { customer, trip }))
    }
}

impl NewItinerary<'_> {
    /// # Errors
    /// Wrong fields.
    pub fn command(&self) -> Result<Command, Problem> {
        let mut faults = Faults::in_place(Place::Body);
        let trip = faults.trip(&self.items);
        if self.ttl_seconds == Some(0) {
            faults.add("ttl_seconds", "at least 1 second");
        }
        let (customer, hold_ms) = (
            CustomerId(self.customer),
            self.ttl_seconds.map(|seconds| u64::from(seconds) * 1_000),
        );
        faults.finish(trip.map(|trip| Command::Book {
            customer,
            trip,
            hold_ms,
        }))
    }
}

impl Resolution<'_> {
    /// # Errors
    /// Wrong fields.
    pub fn command(&self, xid: Xid) -> Result<Command, Problem> {
        let mut faults = Faults::in_place(Place::Body);
        let desks = Desk::ALL.map(|desk| (desk.code(), desk));
        let desk = faults.choice("desk", &self.desk, &desks);
        let decisions = [("commit", true), ("abort", false)];
        let commit = faults.choice("decision", &self.decision, &decisions);
        let whole = desk.zip(commit);
        faults.finish(whole.map(|(desk, commit)| Command::Resolve { desk, xid, commit }))
    }
}

#[cfg(test)]
mod tests {
    use turnstile_travel::Location;

    use super::*;
    use crate::parse_body;

    fn book(items: &str, more: &str) -> Result<Command, Vec<(String, String)>> {
        let body = format!(r#"{{"customer":7,"items":{items}{more}}}"#);
        let itinerary: NewItinerary<'_> = parse_body(body.as_bytes()).unwrap();
        itinerary.command().map_err(|problem| {
            let errors = problem.errors.into_vec().into_iter();
            errors.map(|error| (error.field, error.message)).collect()
        })
    }

    #[test]
    fn an_itinerary_becomes_its_command() {
        let montreal = Location::parse(b"montreal").unwrap();
        let items = vec![Item::Flight(-12), Item::Car(montreal), Item::Room(montreal)];
        let expected = Command::Book {
            customer: CustomerId(7),
            trip: Trip::new(items).unwrap(),
            hold_ms: Some(90_000),
        };
        let words = r#"["flight--12","car-Montreal","room-montreal "]"#;
        assert_eq!(book(words, r#","ttl_seconds":90"#), Ok(expected));
    }

    #[test]
    fn a_resolution_names_its_desk_and_its_decision() {
        let resolve = |desk: &str, decision: &str| {
            let body = format!(r#"{{"desk":"{desk}","decision":"{decision}"}}"#);
            let resolution: Resolution<'_> = parse_body(body.as_bytes()).unwrap();
            resolution.command(Xid(9))
        };
        let expected = Command::Resolve {
            desk: Desk::Rooms,
            xid: Xid(9),
            commit: false,
        };
        assert_eq!(resolve("rooms", "abort"), Ok(expected));
        let wrong = resolve("lobby", "maybe").unwrap_err();
        let wrong: Vec<&str> = wrong.errors.iter().map(|error| &*error.message).collect();
        let desks = "one of flights, cars, rooms, customers";
        assert_eq!(wrong, [desks, "one of commit, abort"]);
    }

    #[test]
    fn every_wrong_item_is_named_by_its_place() {
        let forms = "an item is flight-NUMBER, car-LOCATION or room-LOCATION";
        let number = "a flight's number is a whole number from -2147483648 to 2147483647";
        let rows = [
            ("[]", vec![("items", "1 to 64 items")]),
            (
                r#"["flight-1","boat-x","flight-1x","flight-99999999999"]"#,
                vec![
                    ("items[1]", forms),
                    ("items[2]", number),
                    ("items[3]", number),
                ],
            ),
            (
                r#"["flight","car-","room-a,b"]"#,
                vec![
                    ("items[0]", forms),
                    ("items[1]", "a location has at least one character"),
                    (
                        "items[2]",
                        "a location is ASCII without commas, character 2 is not allowed",
                    ),
                ],
            ),
        ];
        for (items, expected) in rows {
            let expected = expected.iter();
            let expected = expected.map(|(field, why)| ((*field).to_owned(), (*why).to_owned()));
            assert_eq!(book(items, ""), Err(expected.collect()), "{items}");
        }
        let many = |count| format!("[{}]", vec![r#""flight-1""#; count].join(","));
        assert!(book(&many(64), "").is_ok());
        let fields =
            |wrong: Result<Command, Vec<(String, String)>>| wrong.unwrap_err()[0].0.clone();
        assert_eq!(fields(book(&many(65), "")), "items");
        let unheld = book(&many(1), r#","ttl_seconds":0"#);
        assert_eq!(fields(unheld), "ttl_seconds");
    }
}
