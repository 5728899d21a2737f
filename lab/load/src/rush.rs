//! Many clients who want one room at the same instant: it must be sold once.

use std::{collections::BTreeSet, fmt, net::SocketAddr, time::Duration};

use serde::Serialize;
use turnstile_client::{
    Connection,
    resp::{self, Value},
};
use turnstile_result::Server;
use turnstile_stats::{Summary, units::Count};

use crate::{
    Error, Machine, Verdict,
    door::{self, field, refusal},
    pace::{self, Answer, Garbled, Heard, Pace, Progress, User},
    rooms::Reply,
};

/// How long the rush may take before what is not answered counts as unknown.
const PATIENCE: Duration = Duration::from_secs(30);

/// The most rooms of a rush: each is listed afterwards.
const ROOMS_MAX: usize = 1_000;

const ROOM_TYPE: &[u8] = b"rush";
const ARRIVAL: &[u8] = b"2027-01-01";
const DEPARTURE: &[u8] = b"2027-01-02";

/// Who wants what.
#[derive(Clone, Debug, Serialize)]
pub struct Config {
    /// The RESP door.
    pub address: SocketAddr,
    /// Rooms for sale, in a property made for this rush.
    pub rooms: usize,
    /// Clients; each connects first and asks once.
    pub clients: usize,
    /// Generator threads.
    pub threads: usize,
    pub wish: Wish,
}

/// What each client asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Wish {
    /// Any room of the property.
    Any,
    /// Any room of the one type.
    Type,
    /// A room by name: the clients take the names in turn.
    Named,
}

/// How the rush ended.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    pub machine: Machine,
    pub server: Server,
    pub config: Config,
    pub property: String,
    pub asked: u64,
    pub sold: u64,
    pub refused: u64,
    pub errors: u64,
    /// Requests that were never answered.
    pub unknown: u64,
    /// Sales beyond the first of the same room, and references given more than once.
    pub twice: u64,
    /// Response times in nanoseconds.
    pub times: Summary,
    /// A sentence for each broken promise.
    pub violations: Vec<String>,
    pub verdict: Verdict,
}

/// Makes a property, lets the clients loose, and looks at what was sold.
///
/// # Errors
/// The rush could not be made. What the server did wrong is in the report.
pub fn run(config: &Config, progress: &mut dyn FnMut(&Progress)) -> Result<Report, Error> {
    if config.rooms == 0 || config.rooms > ROOMS_MAX {
        return Err(Error::Setting("a rush is for 1 to 1,000 rooms"));
    }
    let machine = Machine::this();
    let mut door = door::connect(config.address)?;
    let (server, before) = door::info(&mut door)?;
    // A position never comes twice, so nobody has made this property before.
    let property = format!("rush-{}", before.position);
    prepare(&mut door, &property, config.rooms)?;
    let clients = (0..config.clients)
        .map(|number| Client::new(config, &property, number))
        .collect();
    let pace = Pace {
        threads: config.threads,
        ..Pace::closed(config.address, Duration::ZERO, PATIENCE)
    };
    let totals = pace::run(&pace, clients, progress)?;
    let mut door = door::connect(config.address)?;
    let listed = list(&mut door, &property, config.rooms)?;
    let book = &totals.tally.operations[0];
    let mut report = Report {
        machine,
        server,
        config: config.clone(),
        property,
        asked: u64::try_from(config.clients).expect("clients are bounded"),
        sold: book.done,
        refused: book.refused.total(),
        errors: book.errors.total(),
        unknown: book.unknown,
        twice: 0,
        times: totals.times().summary(),
        violations: Vec::new(),
        verdict: Verdict::Fine,
    };
    report.judge(&totals.users, &listed);
    Ok(report)
}

fn prepare(door: &mut Connection, property: &str, rooms: usize) -> Result<(), Error> {
    expect_done(
        "ROOMS.ADD-PROPERTY",
        &door.command(&[b"ROOMS.ADD-PROPERTY", property.as_bytes()])?,
    )?;
    for room in 0..rooms {
        let room = room_name(room);
        let answer = door.command(&[
            b"ROOMS.ADD-ROOM",
            property.as_bytes(),
            room.as_bytes(),
            ROOM_TYPE,
        ])?;
        expect_done("ROOMS.ADD-ROOM", &answer)?;
    }
    Ok(())
}

fn expect_done(command: &'static str, answer: &Value) -> Result<(), Error> {
    if matches!(answer, Value::Error(_)) || refusal(answer).is_some() {
        return Err(Error::Preparation {
            command,
            answer: answer.to_string(),
        });
    }
    Ok(())
}

fn room_name(room: usize) -> String {
    format!("{}", 101 + room)
}

/// The references that the server lists for each room, in the order of the rooms.
fn list(door: &mut Connection, property: &str, rooms: usize) -> Result<Vec<Vec<Vec<u8>>>, Error> {
    let mut listed = Vec::with_capacity(rooms);
    for room in 0..rooms {
        let answer = door.command(&[
            b"ROOMS.LIST-BOOKINGS",
            property.as_bytes(),
            ARRIVAL,
            DEPARTURE,
            b"ROOM",
            room_name(room).as_bytes(),
        ])?;
        listed.push(references(&answer).ok_or_else(|| Error::Preparation {
            command: "ROOMS.LIST-BOOKINGS",
            answer: answer.to_string(),
        })?);
    }
    Ok(listed)
}

/// The references of a listing's entries; nothing when it is no listing.
fn references(listing: &Value) -> Option<Vec<Vec<u8>>> {
    field(listing, "entries")?
        .as_array()?
        .iter()
        .map(|entry| Some(field(entry, "reference")?.as_bytes()?.to_vec()))
        .collect()
}

/// A client that asks once.
#[derive(Debug)]
struct Client {
    request: Vec<u8>,
    asked: bool,
    /// The reference it was given.
    reference: Vec<u8>,
}

impl Client {
    fn new(config: &Config, property: &str, number: usize) -> Self {
        let wish = match config.wish {
            Wish::Any => "any".to_owned(),
            Wish::Type => "type:rush".to_owned(),
            Wish::Named => room_name(number % config.rooms),
        };
        let id = format!("{}", 300_000_000_000 + number);
        let guest = format!("client-{number}");
        let mut request = Vec::new();
        resp::put_command(
            &mut request,
            &[
                b"ROOMS.BOOK",
                property.as_bytes(),
                wish.as_bytes(),
                ARRIVAL,
                DEPARTURE,
                guest.as_bytes(),
                id.as_bytes(),
            ],
        );
        Self {
            request,
            asked: false,
            reference: Vec::with_capacity(64),
        }
    }
}

impl User for Client {
    type Ask = ();

    const OPERATIONS: &'static [&'static str] = &["book"];

    const REQUEST_BYTES_MAX: usize = 512;

    fn ask(&mut self, out: &mut Vec<u8>) -> Option<()> {
        if self.asked {
            return None;
        }
        self.asked = true;
        out.extend_from_slice(&self.request);
        Some(())
    }

    fn operation((): &()) -> usize {
        0
    }

    fn hear<'a>(&mut self, (): &(), bytes: &'a [u8]) -> Result<Option<Heard<'a>>, Garbled> {
        let Some((reply, length)) = Reply::read(bytes)? else {
            return Ok(None);
        };
        let answer = match reply {
            Reply::Error(code) => Answer::Error(code),
            Reply::Refused(reason) => Answer::Refused(reason),
            Reply::Done(reference) => {
                self.reference.extend_from_slice(reference.ok_or(Garbled)?);
                Answer::Done
            }
        };
        Ok(Some(Heard { length, answer }))
    }
}

impl Report {
    /// What was promised: every room sold once, as long as there were clients for it, and
    /// everybody else refused; and the server lists exactly what it acknowledged.
    fn judge(&mut self, clients: &[Client], listed: &[Vec<Vec<u8>>]) {
        let mut given = BTreeSet::new();
        for client in clients.iter().filter(|client| !client.reference.is_empty()) {
            if !given.insert(client.reference.as_slice()) {
                let text = String::from_utf8_lossy(&client.reference);
                self.violations
                    .push(format!("{text} was given to two clients"));
                self.twice += 1;
            }
        }
        for (room, sales) in listed.iter().enumerate() {
            if sales.len() > 1 {
                let room = room_name(room);
                let times = sales.len();
                self.violations
                    .push(format!("room {room} was sold {times} times"));
                self.twice += u64::try_from(times - 1).expect("a count fits 64 bits");
            }
        }
        let found: BTreeSet<&[u8]> = listed.iter().flatten().map(Vec::as_slice).collect();
        let missing = given.difference(&found).count();
        if missing > 0 {
            self.violations
                .push(format!("{missing} acknowledged sales are not listed"));
        }
        // A request whose answer never came may have been carried out.
        let more = u64::try_from(found.difference(&given).count()).expect("a count fits 64 bits");
        if more > self.unknown {
            self.violations
                .push(format!("{more} sales are listed that nobody was told of"));
        }
        self.judge_counts();
        self.verdict = if !self.violations.is_empty() {
            Verdict::Violated
        } else if self.errors + self.unknown > 0 {
            Verdict::Invalid
        } else {
            Verdict::Fine
        };
    }

    /// Errors and answers that never came leave open whether a room was sold; nothing else does.
    fn judge_counts(&mut self) {
        let rooms = u64::try_from(self.config.rooms).expect("rooms are bounded");
        let most = rooms.min(self.asked);
        let open = self.errors + self.unknown;
        if self.sold > most || self.sold + open < most {
            let sold = self.sold;
            self.violations
                .push(format!("{sold} were sold where {most} had to be"));
        }
        if self.sold + self.refused + open != self.asked {
            let sum = self.sold + self.refused + open;
            self.violations
                .push(format!("{sum} answers to {} requests", self.asked));
        }
    }

    /// What the run is worth, and with which code a command that made it should end.
    #[must_use]
    pub const fn verdict(&self) -> Verdict {
        self.verdict
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "rush: {} clients, {} to be sold, durability {}",
            Count(self.asked),
            self.config.rooms,
            self.server.durability
        )?;
        writeln!(f, "{}", Summary::HEAD)?;
        writeln!(f, "{}", self.times)?;
        write!(
            f,
            "proof: {} asked, {} sold, {} refused, {} twice",
            Count(self.asked),
            Count(self.sold),
            Count(self.refused),
            Count(self.twice)
        )?;
        if self.errors + self.unknown > 0 {
            write!(f, ", {} errors, {} unknown", self.errors, self.unknown)?;
        }
        for violation in &self.violations {
            write!(f, "\n       VIOLATED: {violation}")?;
        }
        Ok(())
    }
}
