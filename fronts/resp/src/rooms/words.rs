//! The arguments that only rooms have.

use std::fmt;

use turnstile_rooms::{
    Cursor, GuestId, GuestName, IdNumber, InvalidGuestName, InvalidIdNumber, InvalidReference,
    Reference, Wish,
};
use turnstile_types::{InvalidName, InvalidNight, InvalidStay, Name, Night, Stay};

use super::{Door, Verb};
use crate::words::{self, Read, Reason, Spoken, within};

/// The longest time that fits the command, in seconds; the machine allows less.
const SECONDS_MAX: u32 = u32::MAX / 1_000;

/// What stands before the name of a type.
const TYPE: &[u8] = b"type:";

pub type Invalid = words::Invalid<Verb>;

pub(super) type Words<'a, 'spans> = words::Words<'a, 'spans, Verb>;

/// What may be wrong with an argument that only rooms have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    Name(InvalidName),
    Night(InvalidNight),
    Stay(InvalidStay),
    Guest(InvalidGuestName),
    IdNumber(InvalidIdNumber),
    Reference(InvalidReference),
    /// The end of a range of dates is not after its start.
    Range,
}

impl Spoken for Verb {
    type Flaw = Flaw;

    fn name(self) -> &'static str {
        Self::name(self)
    }
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(invalid) => invalid.fmt(f),
            Self::Night(invalid) => invalid.fmt(f),
            Self::Stay(invalid) => invalid.fmt(f),
            Self::Guest(invalid) => invalid.fmt(f),
            Self::IdNumber(invalid) => invalid.fmt(f),
            Self::Reference(invalid) => invalid.fmt(f),
            Self::Range => write!(f, "the end is a date after the start"),
        }
    }
}

impl<'a> Words<'a, '_> {
    #[inline]
    fn own<T>(
        &mut self,
        argument: &'static str,
        read: impl FnOnce(&'a [u8]) -> Result<T, Flaw>,
    ) -> Read<T, Verb> {
        self.read(argument, |word| read(word).map_err(Reason::Flaw))
    }

    #[inline]
    pub(super) fn name(&mut self, argument: &'static str) -> Read<Name, Verb> {
        self.own(argument, |word| Name::parse(word).map_err(Flaw::Name))
    }

    /// `any`, `type:NAME`, or a room. The first two are words of the command, in letters of any case.
    #[inline]
    pub(super) fn wish(&mut self) -> Read<Wish, Verb> {
        let word = self.take("room")?;
        if word.eq_ignore_ascii_case(b"any") {
            return Ok(Wish::Any);
        }
        let (name, argument, wish): (_, _, fn(Name) -> Wish) =
            match word.split_at_checked(TYPE.len()) {
                Some((tag, name)) if tag.eq_ignore_ascii_case(TYPE) => (name, "type", Wish::Type),
                _ => (word, "room", Wish::Room),
            };
        Name::parse(name)
            .map(wish)
            .map_err(|invalid| self.invalid(argument, Reason::Flaw(Flaw::Name(invalid))))
    }

    #[inline]
    fn night(&mut self, argument: &'static str) -> Read<Night, Verb> {
        self.own(argument, |word| Night::parse(word).map_err(Flaw::Night))
    }

    #[inline]
    pub(super) fn stay(&mut self) -> Read<Stay, Verb> {
        let arrival = self.night("arrival")?;
        let departure = self.night("departure")?;
        Stay::new(arrival, departure)
            .map_err(|invalid| self.invalid("departure", Reason::Flaw(Flaw::Stay(invalid))))
    }

    /// The nights from a date on, and before another.
    pub(super) fn range(&mut self) -> Read<[Night; 2], Verb> {
        let range = [self.night("from")?, self.night("to")?];
        if range[1] <= range[0] {
            return Err(self.invalid("to", Reason::Flaw(Flaw::Range)));
        }
        Ok(range)
    }

    #[inline]
    pub(super) fn guest(&mut self) -> Read<GuestName<'a>, Verb> {
        self.own("guest", |word| GuestName::parse(word).map_err(Flaw::Guest))
    }

    #[inline]
    pub(super) fn id(&mut self, door: Door<'_>) -> Read<GuestId, Verb> {
        let number = self.own("id-number", |word| {
            IdNumber::parse(word, door.verhoeff).map_err(Flaw::IdNumber)
        })?;
        Ok(door.id_key.seal(number))
    }

    pub(super) fn reference(&mut self, argument: &'static str) -> Read<Reference, Verb> {
        self.own(argument, |word| {
            Reference::parse(word).map_err(Flaw::Reference)
        })
    }

    /// Whole seconds; in milliseconds.
    pub(super) fn ttl_ms(&mut self, argument: &'static str) -> Read<u32, Verb> {
        let seconds: u32 = self.read(argument, |word| within(word, 1, SECONDS_MAX.into()))?;
        Ok(seconds * 1_000)
    }

    pub(super) fn cursor(&mut self, argument: &'static str) -> Read<Cursor, Verb> {
        self.number(argument).map(Cursor)
    }
}
