//! Arguments to commands and queries of the rooms machine.

use turnstile_rooms::{Command, Cursor, IdKey, Query};

use super::{Invalid, Verb, words::Words};
use crate::{
    Arguments,
    words::{PAGE, Read},
};

/// How long a hold lasts when nothing is said.
const HOLD_MS: u32 = 600_000;

/// What the door itself knows and requests need: how id numbers are checked and sealed.
#[derive(Clone, Copy, Debug)]
pub struct Door<'a> {
    pub id_key: &'a IdKey,
    /// Whether an id number's last digit is checked.
    pub verhoeff: bool,
}

/// One request to the rooms machine.
pub type Request<'a> = crate::Request<'a, Command<'a>, Query>;

/// Reads the arguments of a request whose words the catalogue has counted.
///
/// # Errors
/// The first argument that is not what it should be.
#[inline]
pub fn parse<'a>(
    verb: Verb,
    arguments: Arguments<'a, '_>,
    door: Door<'_>,
) -> Result<Request<'a>, Invalid> {
    let name_words = match verb {
        Verb::AddRoom | Verb::WithdrawRoom => 2,
        _ => 1,
    };
    let words = &mut Words::behind(name_words, verb, arguments);
    match verb {
        Verb::Book
        | Verb::AddRoom
        | Verb::WithdrawRoom
        | Verb::Extend
        | Verb::Confirm
        | Verb::Release
        | Verb::Cancel => {
            let command = command(verb, words, door)?;
            let key = words.only_key()?;
            Ok(Request::Command { command, key })
        }
        Verb::AddProperty => add_property(words),
        Verb::StopSell => stop_sell(words),
        Verb::Hold => hold(words),
        Verb::LookUp
        | Verb::List
        | Verb::Guest
        | Verb::Holds
        | Verb::Availability
        | Verb::Explain
        | Verb::Properties
        | Verb::Totals => query(verb, words, door).map(Request::Query),
    }
}

/// A command whose only option is its key.
#[inline]
fn command<'a>(verb: Verb, words: &mut Words<'a, '_>, door: Door<'_>) -> Read<Command<'a>, Verb> {
    Ok(match verb {
        Verb::Book => Command::Book {
            property: words.name("property")?,
            wish: words.wish()?,
            stay: words.stay()?,
            guest: words.guest()?,
            id: words.id(door)?,
        },
        Verb::AddRoom => Command::AddRoom {
            property: words.name("property")?,
            room: words.name("room")?,
            room_type: words.name("type")?,
        },
        Verb::WithdrawRoom => Command::WithdrawRoom {
            property: words.name("property")?,
            room: words.name("room")?,
        },
        Verb::Extend => Command::Extend {
            hold: words.reference("hold")?,
            ttl_ms: words.ttl_ms("seconds")?,
        },
        Verb::Confirm => Command::Confirm {
            hold: words.reference("hold")?,
            guest: words.guest()?,
            id: words.id(door)?,
        },
        Verb::Release => Command::Release {
            hold: words.reference("hold")?,
        },
        _ => Command::Cancel {
            booking: words.reference("reference")?,
            id: words.id(door)?,
        },
    })
}

fn add_property<'a>(words: &mut Words<'a, '_>) -> Read<Request<'a>, Verb> {
    let property = words.name("property")?;
    let (mut open, mut key) = (None, None);
    while let Some(option) = words.option() {
        match &*option {
            b"OPEN" => words.set(&mut open, "OPEN", |_, _| Ok(()))?,
            b"KEY" => words.set(&mut key, "KEY", Words::key)?,
            _ => return Err(words.no_option()),
        }
    }
    let open = open.is_some();
    let command = Command::AddProperty { property, open };
    Ok(Request::Command { command, key })
}

fn stop_sell<'a>(words: &mut Words<'a, '_>) -> Read<Request<'a>, Verb> {
    let (property, room) = (words.name("property")?, words.name("room")?);
    let stay = words.stay()?;
    let (mut resumed, mut key) = (None, None);
    while let Some(option) = words.option() {
        match &*option {
            b"RESUME" => words.set(&mut resumed, "RESUME", |_, _| Ok(()))?,
            b"KEY" => words.set(&mut key, "KEY", Words::key)?,
            _ => return Err(words.no_option()),
        }
    }
    let command = Command::StopSell {
        property,
        room,
        stay,
        stopped: resumed.is_none(),
    };
    Ok(Request::Command { command, key })
}

fn hold<'a>(words: &mut Words<'a, '_>) -> Read<Request<'a>, Verb> {
    let property = words.name("property")?;
    let (wish, stay) = (words.wish()?, words.stay()?);
    let (mut ttl_ms, mut key) = (None, None);
    while let Some(option) = words.option() {
        match &*option {
            b"TTL" => words.set(&mut ttl_ms, "TTL", Words::ttl_ms)?,
            b"KEY" => words.set(&mut key, "KEY", Words::key)?,
            _ => return Err(words.no_option()),
        }
    }
    let command = Command::Hold {
        property,
        wish,
        stay,
        ttl_ms: ttl_ms.unwrap_or(HOLD_MS),
    };
    Ok(Request::Command { command, key })
}

fn query(verb: Verb, words: &mut Words<'_, '_>, door: Door<'_>) -> Read<Query, Verb> {
    Ok(match verb {
        Verb::LookUp => Query::LookUp {
            reference: words.reference("reference")?,
        },
        Verb::List => list(words)?,
        Verb::Guest => {
            let id = words.id(door)?;
            let Part { cursor, limit } = Part::read(words)?;
            Query::Guest { id, cursor, limit }
        }
        Verb::Holds => {
            let Part { cursor, limit } = Part::read(words)?;
            Query::Holds { cursor, limit }
        }
        Verb::Availability => availability(words)?,
        Verb::Explain => Query::Explain {
            property: words.name("property")?,
            wish: words.wish()?,
            stay: words.stay()?,
        },
        Verb::Properties => {
            let Part { cursor, limit } = Part::read(words)?;
            Query::Properties { cursor, limit }
        }
        _ => Query::Totals,
    })
}

/// Which part of a listing is asked for.
struct Part {
    cursor: Option<Cursor>,
    limit: u16,
}

impl Part {
    /// Reads the options of a listing that has no others.
    fn read(words: &mut Words<'_, '_>) -> Read<Self, Verb> {
        let (mut cursor, mut limit) = (None, None);
        while let Some(option) = words.option() {
            match &*option {
                b"CURSOR" => words.set(&mut cursor, "CURSOR", Words::cursor)?,
                b"LIMIT" => words.set(&mut limit, "LIMIT", Words::length)?,
                _ => return Err(words.no_option()),
            }
        }
        let limit = limit.unwrap_or(PAGE);
        Ok(Self { cursor, limit })
    }
}

/// The listing of a property.
fn list(words: &mut Words<'_, '_>) -> Read<Query, Verb> {
    let property = words.name("property")?;
    let [from, to] = words.range()?;
    let (mut room, mut cursor, mut limit) = (None, None, None);
    while let Some(option) = words.option() {
        match &*option {
            b"ROOM" => words.set(&mut room, "ROOM", Words::name)?,
            b"CURSOR" => words.set(&mut cursor, "CURSOR", Words::cursor)?,
            b"LIMIT" => words.set(&mut limit, "LIMIT", Words::length)?,
            _ => return Err(words.no_option()),
        }
    }
    Ok(Query::List {
        property,
        room,
        from,
        to,
        cursor,
        limit: limit.unwrap_or(PAGE),
    })
}

fn availability(words: &mut Words<'_, '_>) -> Read<Query, Verb> {
    let (property, stay) = (words.name("property")?, words.stay()?);
    let mut room_type = None;
    while let Some(option) = words.option() {
        match &*option {
            b"TYPE" => words.set(&mut room_type, "TYPE", Words::name)?,
            _ => return Err(words.no_option()),
        }
    }
    Ok(Query::Availability {
        property,
        room_type,
        stay,
    })
}
