//! The door of travel as this binary uses it: one connection, and answers taken apart.

use std::time::Duration;

use anyhow::{Context as _, anyhow};
use turnstile_client::{
    ServerAddress,
    lines::{Connection, LineVerb, Reply, started},
};
use turnstile_travel::{Item, Xid};

/// How long a server may take for one answer: longer than a lock is waited for.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Where a server's door of travel is when nobody says.
pub(crate) const ADDRESS: &str = "127.0.0.1:12346";

pub(crate) fn connect(address: impl Into<ServerAddress>) -> anyhow::Result<Connection> {
    let address = address.into();
    Connection::connect(&address, TIMEOUT)
        .with_context(|| format!("no travel at {address}; `turnstile dev` serves it"))
}

/// The verbs that add an item and query its price, and how both call it.
pub(crate) fn words(item: &Item) -> (LineVerb, LineVerb, String) {
    match item {
        Item::Flight(number) => (
            LineVerb::AddFlight,
            LineVerb::QueryFlightPrice,
            number.to_string(),
        ),
        Item::Car(place) => (
            LineVerb::AddCars,
            LineVerb::QueryCarsPrice,
            place.to_string(),
        ),
        Item::Room(place) => (
            LineVerb::AddRooms,
            LineVerb::QueryRoomsPrice,
            place.to_string(),
        ),
    }
}

/// The number of a transaction that was started.
pub(crate) fn xid(reply: &Reply<'_>) -> anyhow::Result<Xid> {
    let xid = match reply {
        Reply::Done(text) => started(text),
        _ => None,
    };
    xid.ok_or_else(|| unexpected(reply))
}

/// The server answered that something was not done.
pub(crate) fn unexpected(reply: &Reply<'_>) -> anyhow::Error {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    match *reply {
        Reply::Refused => anyhow!("the server answered that it could not be done"),
        Reply::Done(why) | Reply::Aborted(why) | Reply::Invalid(why) | Reply::Exception(why) => {
            anyhow!("the server answered: {}", text(why))
        }
    }
}
