//! What a line asks for.

use std::str::FromStr;

use turnstile_travel::{Command, CustomerId, Desk, Item, Location, Locator, Step, Trip, Xid};

use crate::{
    Excerpt, Invalid, LineVerb,
    limits::{MANAGER_MODE_MAX, MIDDLEWARE_MODE_MAX},
};

/// One line, understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ask {
    /// A blank line: nothing is answered.
    Nothing,
    /// A command for the machine, and how its outcome is worded.
    Command { command: Command, wording: Wording },
    /// One itinerary is to be shown.
    Itinerary(Locator),
    /// The list of commands, or the arguments of one.
    Help(Option<LineVerb>),
    /// A process is to end itself at some point of a commit.
    Crash(Crash),
    /// All servers are to stop.
    Shutdown,
    /// The session ends.
    Quit,
}

/// What of a command its answer needs, kept while the command waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wording {
    pub(crate) verb: LineVerb,
    /// Xid 0 where there is none.
    pub(crate) xid: Xid,
}

impl Wording {
    /// Of a command that is about no transaction.
    pub(crate) const fn of(verb: LineVerb) -> Self {
        let xid = Xid(0);
        Self { verb, xid }
    }
}

/// Where a process is to end itself; mode 0 is nowhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crash {
    /// No process at any point.
    Reset,
    Middleware {
        mode: u8,
    },
    ResourceManager {
        desk: Desk,
        mode: u8,
    },
}

/// Reads a line as the ancestor does: pieces between commas, of which those without any character
/// do not count, each without the blanks around it; the first is the command.
///
/// # Errors
/// The line asks for nothing that there is.
pub fn read(line: &[u8]) -> Result<Ask, Invalid<'_>> {
    let text = str::from_utf8(line).map_err(|found| Invalid::Characters {
        at: found.valid_up_to(),
    })?;
    if trim(text).is_empty() {
        return Ok(Ask::Nothing);
    }
    let pieces = text.split(',').filter(|piece| !piece.is_empty());
    let words: Vec<&str> = pieces.map(trim).collect();
    let (name, arguments) = words.split_first().ok_or(Invalid::NoCommand)?;
    let verb = LineVerb::named(name).ok_or(Invalid::UnknownCommand(Excerpt(name)))?;
    let ask = match (verb, arguments) {
        (LineVerb::Help, []) => Ask::Help(None),
        (LineVerb::Help, [name]) => {
            let verb = LineVerb::named(name).ok_or(Invalid::UnknownCommand(Excerpt(name)))?;
            Ask::Help(Some(verb))
        }
        (LineVerb::Quit, []) => Ask::Quit,
        (LineVerb::Shutdown, []) => Ask::Shutdown,
        (LineVerb::ResetCrashes, []) => Ask::Crash(Crash::Reset),
        (LineVerb::CrashMiddleware, [mode]) => Ask::Crash(Crash::Middleware {
            mode: self::mode(mode, MIDDLEWARE_MODE_MAX)?,
        }),
        (LineVerb::CrashResourceManager, [name, mode]) => Ask::Crash(Crash::ResourceManager {
            desk: desk(name)?,
            mode: self::mode(mode, MANAGER_MODE_MAX)?,
        }),
        (LineVerb::Start, []) => Ask::Command {
            command: Command::Start,
            wording: Wording::of(verb),
        },
        (verb, arguments) if verb.is_about_itineraries() => itinerary(verb, arguments)?,
        (
            LineVerb::Help
            | LineVerb::Quit
            | LineVerb::Shutdown
            | LineVerb::ResetCrashes
            | LineVerb::CrashMiddleware
            | LineVerb::CrashResourceManager
            | LineVerb::Start,
            _,
        )
        | (_, []) => {
            let given = arguments.len();
            return Err(Invalid::Count { verb, given });
        }
        (_, [xid, arguments @ ..]) => {
            let xid = Xid(number("xid", xid, 0, u64::MAX)?);
            let command = match step(verb, arguments)? {
                Some(step) => Command::Within { xid, step },
                None => Command::Abort { xid },
            };
            let wording = Wording { verb, xid };
            Ask::Command { command, wording }
        }
    };
    Ok(ask)
}

/// What a line about an itinerary asks for.
fn itinerary<'a>(verb: LineVerb, arguments: &[&'a str]) -> Result<Ask, Invalid<'a>> {
    let command = match (verb, arguments) {
        (LineVerb::Book, [id, flights @ .., place, car, room]) => Command::Book {
            customer: customer(id)?,
            trip: bundle(flights, place, [car, room])?,
            hold_ms: None,
        },
        (LineVerb::Hold, [ms, id, flights @ .., place, car, room]) => Command::Book {
            customer: customer(id)?,
            trip: bundle(flights, place, [car, room])?,
            hold_ms: Some(number("milliseconds", ms, 0, u64::MAX)?),
        },
        (LineVerb::Confirm, [name]) => Command::Confirm {
            locator: locator(name)?,
        },
        (LineVerb::Cancel, [name]) => Command::Cancel {
            locator: locator(name)?,
        },
        (LineVerb::Itinerary, [name]) => return Ok(Ask::Itinerary(locator(name)?)),
        _ => {
            let given = arguments.len();
            return Err(Invalid::Count { verb, given });
        }
    };
    let wording = Wording::of(verb);
    Ok(Ask::Command { command, wording })
}

fn locator(given: &str) -> Result<Locator, Invalid<'_>> {
    Locator::parse(given.as_bytes()).map_err(|why| Invalid::Locator {
        given: Excerpt(given),
        why,
    })
}

/// What is asked of a transaction; none: its end.
fn step<'a>(verb: LineVerb, arguments: &[&'a str]) -> Result<Option<Step>, Invalid<'a>> {
    let step = match (verb, arguments) {
        (LineVerb::Abort, []) => return Ok(None),
        (LineVerb::Commit, []) => Step::Commit,
        (LineVerb::Summary, []) => Step::Summary,
        (LineVerb::AddFlight, [flight, seats, price]) => {
            add(self::flight(flight)?, "seats", seats, price)?
        }
        (LineVerb::AddCars, [place, count, price]) => add(car(place)?, "count", count, price)?,
        (LineVerb::AddRooms, [place, count, price]) => add(room(place)?, "count", count, price)?,
        (LineVerb::AddCustomer, []) => Step::AddCustomer { customer: None },
        (LineVerb::AddCustomerId, [id]) => Step::AddCustomer {
            customer: Some(customer(id)?),
        },
        (LineVerb::DeleteFlight, [number]) => Step::Delete {
            item: flight(number)?,
        },
        (LineVerb::DeleteCars, [place]) => Step::Delete { item: car(place)? },
        (LineVerb::DeleteRooms, [place]) => Step::Delete { item: room(place)? },
        (LineVerb::DeleteCustomer, [id]) => Step::DeleteCustomer {
            customer: customer(id)?,
        },
        (LineVerb::QueryFlight | LineVerb::QueryFlightPrice, [number]) => Step::Query {
            item: flight(number)?,
        },
        (LineVerb::QueryCars | LineVerb::QueryCarsPrice, [place]) => {
            Step::Query { item: car(place)? }
        }
        (LineVerb::QueryRooms | LineVerb::QueryRoomsPrice, [place]) => {
            Step::Query { item: room(place)? }
        }
        (LineVerb::QueryCustomer, [id]) => Step::QueryCustomer {
            customer: customer(id)?,
        },
        (LineVerb::ReserveFlight, [id, number]) => reserve(id, Trip::of(flight(number)?))?,
        (LineVerb::ReserveCar, [id, place]) => reserve(id, Trip::of(car(place)?))?,
        (LineVerb::ReserveRoom, [id, place]) => reserve(id, Trip::of(room(place)?))?,
        (LineVerb::Bundle, [id, flights @ .., place, car, room]) if !flights.is_empty() => {
            reserve(id, bundle(flights, place, [car, room])?)?
        }
        _ => {
            let given = arguments.len() + 1;
            return Err(Invalid::Count { verb, given });
        }
    };
    Ok(Some(step))
}

fn add<'a>(
    item: Item,
    of: &'static str,
    count: &'a str,
    price: &'a str,
) -> Result<Step, Invalid<'a>> {
    Ok(Step::Add {
        item,
        count: number(of, count, 0, u32::MAX.into())?,
        price: number("price", price, 0, u32::MAX.into())?,
    })
}

fn reserve(id: &str, trip: Trip) -> Result<Step, Invalid<'_>> {
    let customer = customer(id)?;
    Ok(Step::Reserve { customer, trip })
}

fn bundle<'a>(
    flights: &[&'a str],
    place: &'a str,
    [car, room]: [&'a str; 2],
) -> Result<Trip, Invalid<'a>> {
    let flights = flights.iter().map(|number| flight(number));
    let mut items = flights.collect::<Result<Vec<Item>, _>>()?;
    let place = location(place)?;
    if flag("car", car)? {
        items.push(Item::Car(place));
    }
    if flag("room", room)? {
        items.push(Item::Room(place));
    }
    if items.is_empty() {
        return Err(Invalid::NoItems);
    }
    Trip::new(items).ok_or(Invalid::TooManyItems)
}

/// Characters up to the blank are blanks to the ancestor.
fn trim(text: &str) -> &str {
    text.trim_matches(|character: char| character <= ' ')
}

fn number<'a, N: FromStr>(
    of: &'static str,
    given: &'a str,
    least: i64,
    most: u64,
) -> Result<N, Invalid<'a>> {
    given.parse().map_err(|_not_one| Invalid::Number {
        of,
        given: Excerpt(given),
        least,
        most,
    })
}

fn signed<'a>(of: &'static str, given: &'a str) -> Result<i32, Invalid<'a>> {
    number(of, given, i32::MIN.into(), i32::MAX.unsigned_abs().into())
}

fn customer(given: &str) -> Result<CustomerId, Invalid<'_>> {
    signed("customer", given).map(CustomerId)
}

fn flight(given: &str) -> Result<Item, Invalid<'_>> {
    signed("flight number", given).map(Item::Flight)
}

fn location(given: &str) -> Result<Location, Invalid<'_>> {
    Location::parse(given.as_bytes()).map_err(Invalid::Location)
}

fn car(place: &str) -> Result<Item, Invalid<'_>> {
    location(place).map(Item::Car)
}

fn room(place: &str) -> Result<Item, Invalid<'_>> {
    location(place).map(Item::Room)
}

fn flag<'a>(of: &'static str, given: &'a str) -> Result<bool, Invalid<'a>> {
    let is = |words: [&str; 4]| words.iter().any(|word| word.eq_ignore_ascii_case(given));
    if is(["1", "true", "y", "yes"]) {
        Ok(true)
    } else if is(["0", "false", "n", "no"]) {
        Ok(false)
    } else {
        let given = Excerpt(given);
        Err(Invalid::Flag { of, given })
    }
}

fn mode(given: &str, most: u8) -> Result<u8, Invalid<'_>> {
    let mode = number("mode", given, 0, most.into())?;
    if mode > most {
        return Err(Invalid::Number {
            of: "mode",
            given: Excerpt(given),
            least: 0,
            most: most.into(),
        });
    }
    Ok(mode)
}

fn desk(given: &str) -> Result<Desk, Invalid<'_>> {
    Desk::named(given.as_bytes()).ok_or(Invalid::UnknownManager(Excerpt(given)))
}
