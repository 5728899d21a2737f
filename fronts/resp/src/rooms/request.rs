//! Arguments to commands and queries of the rooms machine.

use std::fmt;

use turnstile_rooms::{
    Command, Cursor, GuestId, GuestName, IdKey, IdNumber, InvalidGuestName, InvalidIdNumber,
    InvalidReference, Query, Reference, Wish,
};
use turnstile_types::{InvalidKey, InvalidName, InvalidNight, InvalidStay, Key, Name, Night, Stay};

use super::Verb;
use crate::Arguments;

/// How long a hold lasts when nothing is said, in seconds.
const HOLD_SECONDS: u32 = 600;

/// The longest time that fits the command, in seconds; the machine allows less.
const SECONDS_MAX: u32 = u32::MAX / 1_000;

/// Entries of a page when nothing is said.
const PAGE: u16 = 100;

/// The most entries of a page, so that one reply stays far below a connection's output bound.
const PAGE_MAX: u16 = 1_000;

/// What the door itself knows and requests need: how id numbers are checked and sealed.
#[derive(Clone, Copy, Debug)]
pub struct Door<'a> {
    pub id_key: &'a IdKey,
    /// Whether an id number's last digit is checked.
    pub verhoeff: bool,
}

/// One request to the rooms machine.
pub type Request<'a> = crate::Request<'a, Command<'a>, Query>;

/// An argument as errors name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Argument(pub &'static str);

/// An argument that is not what it should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Invalid {
    pub verb: Verb,
    pub argument: Argument,
    pub reason: Reason,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    Name(InvalidName),
    Night(InvalidNight),
    Stay(InvalidStay),
    Guest(InvalidGuestName),
    IdNumber(InvalidIdNumber),
    Reference(InvalidReference),
    Key(InvalidKey),
    /// Not a whole number within these bounds, both allowed.
    Number {
        min: u64,
        max: u64,
    },
    /// No option of this command; the field counts the arguments from 1.
    Option(usize),
    /// An option's word without its value.
    Value,
    /// An option that already stands there.
    Repeated,
    /// The end of a range of dates is not after its start.
    Range,
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for letter in self.verb.name().chars() {
            let shown = if letter == '|' {
                ' '
            } else {
                letter.to_ascii_uppercase()
            };
            write!(f, "{shown}")?;
        }
        write!(f, " {}: {}", self.argument.0, self.reason)
    }
}

impl std::error::Error for Invalid {}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(invalid) => invalid.fmt(f),
            Self::Night(invalid) => invalid.fmt(f),
            Self::Stay(invalid) => invalid.fmt(f),
            Self::Guest(invalid) => invalid.fmt(f),
            Self::IdNumber(invalid) => invalid.fmt(f),
            Self::Reference(invalid) => invalid.fmt(f),
            Self::Key(invalid) => invalid.fmt(f),
            Self::Number { min, max } => write!(f, "a whole number from {min} to {max}"),
            Self::Option(place) => write!(f, "argument {place} is no option of this command"),
            Self::Value => write!(f, "the value is missing"),
            Self::Repeated => write!(f, "given twice"),
            Self::Range => write!(f, "the end is a date after the start"),
        }
    }
}

/// Reads the arguments of one request from left to right, and remembers whose they are.
struct Words<'a, 'spans> {
    verb: Verb,
    arguments: Arguments<'a, 'spans>,
    next: usize,
}

impl<'a> Words<'a, '_> {
    const fn invalid(&self, argument: &'static str, reason: Reason) -> Invalid {
        Invalid {
            verb: self.verb,
            argument: Argument(argument),
            reason,
        }
    }

    /// The next argument. The catalogue has counted the ones that must stand.
    fn take(&mut self, argument: &'static str) -> Result<&'a [u8], Invalid> {
        let word = self.arguments.get(self.next);
        self.next += 1;
        word.ok_or_else(|| self.invalid(argument, Reason::Value))
    }

    #[inline]
    fn name(&mut self, argument: &'static str) -> Result<Name, Invalid> {
        let word = self.take(argument)?;
        Name::parse(word).map_err(|invalid| self.invalid(argument, Reason::Name(invalid)))
    }

    /// `any`, `type:NAME`, or a room. The first two are words of the command, in letters of any case.
    #[inline]
    fn wish(&mut self) -> Result<Wish, Invalid> {
        let word = self.take("room")?;
        if word.eq_ignore_ascii_case(b"any") {
            return Ok(Wish::Any);
        }
        let (name, argument, wish): (_, _, fn(Name) -> Wish) = match word.split_at_checked(5) {
            Some((tag, name)) if tag.eq_ignore_ascii_case(b"type:") => (name, "type", Wish::Type),
            _ => (word, "room", Wish::Room),
        };
        Name::parse(name)
            .map(wish)
            .map_err(|invalid| self.invalid(argument, Reason::Name(invalid)))
    }

    fn night(&mut self, argument: &'static str) -> Result<Night, Invalid> {
        let word = self.take(argument)?;
        Night::parse(word).map_err(|invalid| self.invalid(argument, Reason::Night(invalid)))
    }

    #[inline]
    fn stay(&mut self) -> Result<Stay, Invalid> {
        let arrival = self.night("arrival")?;
        let departure = self.night("departure")?;
        Stay::new(arrival, departure)
            .map_err(|invalid| self.invalid("departure", Reason::Stay(invalid)))
    }

    fn guest(&mut self) -> Result<GuestName<'a>, Invalid> {
        let word = self.take("guest")?;
        GuestName::parse(word).map_err(|invalid| self.invalid("guest", Reason::Guest(invalid)))
    }

    fn id(&mut self, door: Door<'_>) -> Result<GuestId, Invalid> {
        let word = self.take("id-number")?;
        IdNumber::parse(word, door.verhoeff)
            .map(|number| door.id_key.seal(number))
            .map_err(|invalid| self.invalid("id-number", Reason::IdNumber(invalid)))
    }

    fn reference(&mut self, argument: &'static str) -> Result<Reference, Invalid> {
        let word = self.take(argument)?;
        Reference::parse(word).map_err(|invalid| self.invalid(argument, Reason::Reference(invalid)))
    }

    fn number(&mut self, argument: &'static str, min: u64, max: u64) -> Result<u64, Invalid> {
        let word = self.take(argument)?;
        decimal(word)
            .filter(|number| (min..=max).contains(number))
            .ok_or_else(|| self.invalid(argument, Reason::Number { min, max }))
    }

    fn ttl_ms(&mut self, argument: &'static str) -> Result<u32, Invalid> {
        let seconds = self.number(argument, 1, u64::from(SECONDS_MAX))?;
        Ok(u32::try_from(seconds).expect("checked against its bound") * 1_000)
    }

    /// The idempotency key, where it is the only option.
    #[inline]
    fn key(&mut self) -> Result<Option<Key<'a>>, Invalid> {
        if self.next == self.arguments.len() {
            return Ok(None);
        }
        Ok(self.options(&[Choice::Key])?.key)
    }

    /// The options that stand behind the other arguments, in any order, each at most once.
    #[inline]
    fn options(&mut self, allowed: &[Choice]) -> Result<Options<'a>, Invalid> {
        let mut options = Options::default();
        while self.next < self.arguments.len() {
            let word = self.take("option")?;
            let choice = allowed
                .iter()
                .copied()
                .find(|choice| choice.word().as_bytes().eq_ignore_ascii_case(word))
                .ok_or_else(|| self.invalid("option", Reason::Option(self.next - 1)))?;
            if options.has(choice) {
                return Err(self.invalid(choice.word(), Reason::Repeated));
            }
            self.option(choice, &mut options)?;
        }
        Ok(options)
    }

    fn option(&mut self, choice: Choice, options: &mut Options<'a>) -> Result<(), Invalid> {
        let argument = choice.word();
        match choice {
            Choice::Key => {
                let word = self.take(argument)?;
                let key = Key::parse(word)
                    .map_err(|invalid| self.invalid(argument, Reason::Key(invalid)))?;
                options.key = Some(key);
            }
            Choice::Ttl => options.ttl_ms = Some(self.ttl_ms(argument)?),
            Choice::Room | Choice::Type => options.name = Some(self.name(argument)?),
            Choice::Limit => {
                let limit = self.number(argument, 1, u64::from(PAGE_MAX))?;
                options.limit = Some(u16::try_from(limit).expect("checked against its bound"));
            }
            Choice::Cursor => {
                options.cursor = Some(Cursor(self.number(argument, 0, u64::MAX)?));
            }
            Choice::Open | Choice::Resume => options.flag = true,
        }
        Ok(())
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Choice {
    Key,
    Ttl,
    Room,
    Type,
    Limit,
    Cursor,
    Open,
    Resume,
}

impl Choice {
    const fn word(self) -> &'static str {
        match self {
            Self::Key => "KEY",
            Self::Ttl => "TTL",
            Self::Room => "ROOM",
            Self::Type => "TYPE",
            Self::Limit => "LIMIT",
            Self::Cursor => "CURSOR",
            Self::Open => "OPEN",
            Self::Resume => "RESUME",
        }
    }
}

/// No command takes both `ROOM` and `TYPE`, or both `OPEN` and `RESUME`: they share a place.
#[derive(Default)]
struct Options<'a> {
    key: Option<Key<'a>>,
    ttl_ms: Option<u32>,
    name: Option<Name>,
    limit: Option<u16>,
    cursor: Option<Cursor>,
    flag: bool,
}

impl Options<'_> {
    const fn has(&self, choice: Choice) -> bool {
        match choice {
            Choice::Key => self.key.is_some(),
            Choice::Ttl => self.ttl_ms.is_some(),
            Choice::Room | Choice::Type => self.name.is_some(),
            Choice::Limit => self.limit.is_some(),
            Choice::Cursor => self.cursor.is_some(),
            Choice::Open | Choice::Resume => self.flag,
        }
    }

    fn limit(&self) -> u16 {
        self.limit.unwrap_or(PAGE)
    }
}

fn decimal(word: &[u8]) -> Option<u64> {
    if word.is_empty() {
        return None;
    }
    word.iter().try_fold(0_u64, |number, byte| {
        let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
        number.checked_mul(10)?.checked_add(digit)
    })
}

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
    let next = if matches!(verb, Verb::AddRoom | Verb::WithdrawRoom) {
        2
    } else {
        1
    };
    let mut words = Words {
        verb,
        arguments,
        next,
    };
    if verb == Verb::Book {
        let command = Command::Book {
            property: words.name("property")?,
            wish: words.wish()?,
            stay: words.stay()?,
            guest: words.guest()?,
            id: words.id(door)?,
        };
        let key = words.key()?;
        return Ok(Request::Command { command, key });
    }
    match query(&mut words, door)? {
        Some(query) => Ok(Request::Query(query)),
        None => command(&mut words, door),
    }
}

fn command<'a>(words: &mut Words<'a, '_>, door: Door<'_>) -> Result<Request<'a>, Invalid> {
    let command = match words.verb {
        Verb::AddProperty | Verb::StopSell | Verb::Hold => return optioned(words),
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
        Verb::Cancel => Command::Cancel {
            booking: words.reference("reference")?,
            id: words.id(door)?,
        },
        _ => unreachable!("books are parsed first, and queries before commands"),
    };
    let key = words.key()?;
    Ok(Request::Command { command, key })
}

/// The commands whose options are part of them.
fn optioned<'a>(words: &mut Words<'a, '_>) -> Result<Request<'a>, Invalid> {
    let property = words.name("property")?;
    let (command, key) = match words.verb {
        Verb::StopSell => {
            let (room, stay) = (words.name("room")?, words.stay()?);
            let options = words.options(&[Choice::Resume, Choice::Key])?;
            (
                Command::StopSell {
                    property,
                    room,
                    stay,
                    stopped: !options.flag,
                },
                options.key,
            )
        }
        Verb::Hold => {
            let (wish, stay) = (words.wish()?, words.stay()?);
            let options = words.options(&[Choice::Ttl, Choice::Key])?;
            let ttl_ms = options.ttl_ms.unwrap_or(HOLD_SECONDS * 1_000);
            (
                Command::Hold {
                    property,
                    wish,
                    stay,
                    ttl_ms,
                },
                options.key,
            )
        }
        _ => {
            let options = words.options(&[Choice::Open, Choice::Key])?;
            (
                Command::AddProperty {
                    property,
                    open: options.flag,
                },
                options.key,
            )
        }
    };
    Ok(Request::Command { command, key })
}

fn query(words: &mut Words<'_, '_>, door: Door<'_>) -> Result<Option<Query>, Invalid> {
    let paged = &[Choice::Limit, Choice::Cursor];
    Ok(Some(match words.verb {
        Verb::LookUp => Query::LookUp {
            reference: words.reference("reference")?,
        },
        Verb::List => {
            let property = words.name("property")?;
            let (from, to) = (words.night("from")?, words.night("to")?);
            if to <= from {
                return Err(words.invalid("to", Reason::Range));
            }
            let options = words.options(&[Choice::Room, Choice::Limit, Choice::Cursor])?;
            let (cursor, limit) = (options.cursor, options.limit());
            Query::List {
                property,
                room: options.name,
                from,
                to,
                cursor,
                limit,
            }
        }
        Verb::Guest => {
            let id = words.id(door)?;
            let options = words.options(paged)?;
            Query::Guest {
                id,
                cursor: options.cursor,
                limit: options.limit(),
            }
        }
        Verb::Holds => {
            let options = words.options(paged)?;
            Query::Holds {
                cursor: options.cursor,
                limit: options.limit(),
            }
        }
        Verb::Availability => {
            let (property, stay) = (words.name("property")?, words.stay()?);
            let room_type = words.options(&[Choice::Type])?.name;
            Query::Availability {
                property,
                room_type,
                stay,
            }
        }
        Verb::Explain => Query::Explain {
            property: words.name("property")?,
            wish: words.wish()?,
            stay: words.stay()?,
        },
        Verb::Properties => {
            let options = words.options(paged)?;
            Query::Properties {
                cursor: options.cursor,
                limit: options.limit(),
            }
        }
        Verb::Totals => Query::Totals,
        _ => return Ok(None),
    }))
}
