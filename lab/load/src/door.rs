//! What the lab asks the server beside the load: its counters before and after, and whether what
//! it acknowledged is there.

use std::{
    io, thread,
    time::{Duration, Instant},
};

pub(crate) use turnstile_client::is_outcome_unknown;
use turnstile_client::{self as client, Connection, Denied, ServerAddress, resp::Value};
use turnstile_result::Server;

use crate::Error;

/// How long the server may take for any one answer outside the load.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Between two questions whether a server has recovered its journal, or its disk has room again.
const PAUSE: Duration = Duration::from_millis(50);

/// How long a server may take that may be any.
const BRIEF: Duration = Duration::from_secs(1);

/// How many rooms were ever booked, as `INFO` names it.
const BOOKED: &str = "rooms_booked_total";

/// The back end that is no database.
pub(crate) const EMBEDDED: &str = "embedded";

/// The server's own counts at one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RoomCounters {
    /// A number that no other run has found: every booking raises it.
    pub(crate) position: u64,
    pub(crate) booked: u64,
    pub(crate) cancelled: u64,
    /// Bookings that stand.
    pub(crate) standing: u64,
}

pub(crate) fn connect(address: &ServerAddress) -> Result<Connection, Error> {
    let connected = Connection::connect(address, TIMEOUT);
    Ok(connected.map_err(|error| match error {
        client::ConnectionError::Io(error) => client::ConnectionError::Io(io::Error::new(
            error.kind(),
            format!("no server answers at {address}: {error}"),
        )),
        other => other,
    })?)
}

/// Connects to a server that may have been killed and started again, and waits until it has recovered
/// its journal: until then it answers for no service.
pub(crate) fn connect_again(address: &ServerAddress) -> Result<Connection, Error> {
    let mut door = loop {
        match connect(address) {
            Err(Error::Door(error)) if error.is_loading() => thread::park_timeout(PAUSE),
            connected => break connected?,
        }
    };
    while is_loading(&door.command(&[b"INFO"])?) {
        thread::park_timeout(PAUSE);
    }
    Ok(door)
}

fn is_loading(info: &Value) -> bool {
    info.as_str()
        .is_some_and(|text| text.lines().any(|line| line == "loading:1"))
}

/// Has a command decided when the load is over. A server whose disk was full looks for room when it is asked for
/// something, and may refuse that once more: it is asked again.
pub(crate) fn decided(door: &mut Connection, command: &[&[u8]]) -> Result<Value, Error> {
    let begun = Instant::now();
    loop {
        let answer = door.command(command)?;
        let is_full = matches!(&answer, Value::Error(text) if text.starts_with("READONLY "));
        if !is_full || begun.elapsed() >= TIMEOUT {
            return Ok(answer);
        }
        thread::park_timeout(PAUSE);
    }
}

/// What `INFO` says, and of a service that a database keeps what that has just counted: what `INFO`
/// says of it is a second old.
pub(crate) struct ServerFacts {
    /// Empty where no service is asked about.
    service: &'static str,
    info: Value,
    totals: Option<Value>,
}

/// Asks for `INFO`, to learn about this service.
pub(crate) fn facts(door: &mut Connection, service: &'static str) -> Result<ServerFacts, Error> {
    let mut facts = ServerFacts {
        service,
        info: let_in(door.command(&[b"INFO"])?)?,
        totals: None,
    };
    if facts.back_end() != EMBEDDED {
        let command = format!("{}.GET-TOTALS", service.to_uppercase());
        facts.totals = Some(door.command(&[command.as_bytes()])?);
    }
    Ok(facts)
}

/// An answer, unless it is that the key is missing or lacks a right.
fn let_in(answer: Value) -> Result<Value, Error> {
    let denied = match &answer {
        Value::Error(error) => Denied::of(error),
        _ => None,
    };
    denied.map_or(Ok(answer), |denied| {
        Err(client::ConnectionError::from(denied).into())
    })
}

impl ServerFacts {
    fn find(&self, name: &str) -> Option<&str> {
        let mut lines = self.info.as_str()?.lines();
        let found = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        found.map(str::trim)
    }

    fn field(&self, name: &'static str) -> Result<&str, Error> {
        self.find(name).ok_or(Error::Field(name))
    }

    fn back_end(&self) -> &str {
        let name = format!("{}_backend", self.service);
        self.find(&name).unwrap_or(EMBEDDED)
    }

    /// A count that `INFO` names so; those of the service begin with its name.
    pub(crate) fn count(&self, name: &'static str) -> Result<u64, Error> {
        let own = || name.strip_prefix(self.service)?.strip_prefix('_');
        if let Some((totals, own)) = self.totals.as_ref().zip(own()) {
            return match field(totals, own) {
                Some(Value::Integer(count)) => u64::try_from(*count).ok(),
                _ => None,
            }
            .ok_or(Error::Field(name));
        }
        let text = self.field(name)?;
        text.parse().map_err(|_invalid| Error::Field(name))
    }

    /// What the server says of itself and of where the service lies.
    pub(crate) fn server(&self) -> Result<Server, Error> {
        let service = self.service;
        let version = self.field("turnstile_version")?.to_owned();
        let of_service = |fact: &str| {
            let found = self.find(&format!("{service}_backend{fact}"));
            found.ok_or(Error::Field("backend of the service"))
        };
        let kept = of_service("")?;
        if kept == EMBEDDED {
            return Ok(Server {
                version,
                durability: self.field("durability")?.to_owned(),
                back_end: kept.to_owned(),
            });
        }
        let (release, place) = (of_service("_version")?, of_service("_place")?);
        Ok(Server {
            version,
            durability: of_service("_durability")?.to_owned(),
            back_end: format!("{kept} {release} at {place}"),
        })
    }
}

/// Asks for `INFO` and reads what the rooms workloads need of it.
pub(crate) fn info(door: &mut Connection) -> Result<(Server, RoomCounters), Error> {
    let facts = facts(door, "rooms")?;
    // What a database keeps moves no position of the server's own journal.
    let rising = facts.totals.as_ref().map_or("position", |_| BOOKED);
    let counters = RoomCounters {
        position: facts.count(rising)?,
        booked: facts.count(BOOKED)?,
        cancelled: facts.count("rooms_cancelled_total")?,
        standing: facts.count("rooms_bookings")?,
    };
    Ok((facts.server()?, counters))
}

/// Where the database is in which the server at this door keeps a service, in the words of `INFO`;
/// nothing when there is none, or this is another kind of server.
pub(crate) fn behind(resp: &ServerAddress) -> Option<String> {
    let facts = section(resp, b"backends")?;
    let places = ["rooms_backend_place", "exchange_backend_place"];
    let place = places.into_iter().find_map(|name| facts.field(name).ok())?;
    Some(place.to_owned())
}

/// What the server at this door says of its journal, if it says anything.
pub(crate) fn persistence(resp: &ServerAddress) -> Option<ServerFacts> {
    section(resp, b"persistence")
}

fn section(resp: &ServerAddress, name: &[u8]) -> Option<ServerFacts> {
    let mut door = Connection::connect(resp, BRIEF).ok()?;
    Some(ServerFacts {
        service: "",
        info: door.command(&[b"INFO", name]).ok()?,
        totals: None,
    })
}

/// The code of an error: its first word.
pub(crate) fn code(text: &[u8]) -> &[u8] {
    text.split(|&byte| byte == b' ').next().unwrap_or(text)
}

/// The reason of a refusal; nothing when the answer is no refusal.
pub(crate) fn refusal(answer: &Value) -> Option<&str> {
    match answer.as_array()? {
        [Value::Integer(0), reason, ..] => reason.as_str(),
        _ => None,
    }
}

/// What an answer holds under `name`: a map in RESP3, names and values in turn in RESP2.
pub(crate) fn field<'a>(answer: &'a Value, name: &str) -> Option<&'a Value> {
    if let Value::Map(_) = answer {
        return answer.at(name);
    }
    let pairs = answer.as_array()?.chunks_exact(2);
    pairs
        .filter(|pair| pair[0].as_str() == Some(name))
        .map(|pair| &pair[1])
        .next()
}

#[cfg(test)]
mod tests {
    use turnstile_client::resp::Value;
    use turnstile_result::Server;

    use super::{ServerFacts, code, field, refusal};

    #[test]
    fn a_server_says_where_a_service_lies_and_how_safely() {
        let info = "# Server\r\nturnstile_version:0.1.0\r\ndurability:sync\r\n\r\n# Backends\r\n\
                    rooms_backend:MariaDB\r\nrooms_backend_version:10.11.6\r\n\
                    rooms_backend_place:127.0.0.1:3306/hotel\r\n\
                    rooms_backend_durability:engine=innodb,sync_binlog=0\r\n\
                    travel_backend:embedded\r\n";
        let said = |durability: &str, back_end: &str| Server {
            version: "0.1.0".to_owned(),
            durability: durability.to_owned(),
            back_end: back_end.to_owned(),
        };
        let of = |service| {
            let facts = ServerFacts {
                service,
                info: bulk(info),
                totals: None,
            };
            facts.server()
        };
        let in_database = said(
            "engine=innodb,sync_binlog=0",
            "MariaDB 10.11.6 at 127.0.0.1:3306/hotel",
        );
        assert_eq!(of("rooms").unwrap(), in_database);
        assert_eq!(of("travel").unwrap(), said("sync", "embedded"));
        assert!(of("exchange").is_err());
    }

    fn bulk(text: &str) -> Value {
        Value::Bulk(text.as_bytes().to_vec())
    }

    #[test]
    fn a_refusal_begins_with_zero_and_an_error_with_its_code() {
        let refused = Value::Array(vec![
            Value::Integer(0),
            bulk("sold_out"),
            bulk("2027-01-01"),
        ]);
        assert_eq!(refusal(&refused), Some("sold_out"));
        let done = Value::Array(vec![Value::Integer(1), bulk("R0")]);
        assert_eq!(refusal(&done), None);
        assert_eq!(refusal(&Value::Null), None);
        assert_eq!(code(b"BUSY try later"), b"BUSY");
        assert_eq!(code(b"BUSY"), b"BUSY");
    }

    #[test]
    fn a_field_is_found_in_a_map_and_in_an_array_of_pairs() {
        let room = || bulk("101");
        let map = Value::Map(vec![(bulk("state"), bulk("room")), (bulk("room"), room())]);
        let flat = Value::Array(vec![bulk("state"), bulk("room"), bulk("room"), room()]);
        for answer in [map, flat] {
            assert_eq!(field(&answer, "room"), Some(&room()));
            assert_eq!(field(&answer, "101"), None);
        }
        assert_eq!(field(&Value::Null, "room"), None);
    }
}
