//! Travel in HTTP: bodies and parameters to commands and queries, outcomes and answers to JSON.
//!
//! An item is one word everywhere: `flight-12`, `car-montreal`, `room-new york`.

mod answer;
mod event;
mod outcome;
mod query;
mod request;

pub use answer::tell_answer;
pub use event::put_event;
pub use outcome::{About, tell_outcome};
pub use query::{customer_in, item_in, items, locator_in, transactions, xid_in};
pub use request::{NewCustomer, NewItinerary, NewReservation, NewStock, Resolution};
