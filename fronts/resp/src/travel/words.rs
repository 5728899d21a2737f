//! The arguments that only travel has.

use std::fmt;

use turnstile_travel::{
    CustomerId, Desk, InvalidItem, InvalidLocator, Item, Locator, Stage, Trip, Xid, limits,
};
use turnstile_types::Key;

use super::Verb;
use crate::words::{self, Coded, Read, Reason, Spoken, choices};

pub type Invalid = words::Invalid<Verb>;

pub(super) type Words<'a, 'spans> = words::Words<'a, 'spans, Verb>;

/// What may be wrong with an argument that only travel has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    Item(InvalidItem),
    /// No items, or too many.
    Trip,
    Locator(InvalidLocator),
    Desk,
    Stage,
    /// Neither `COMMIT` nor `ABORT`.
    Decision,
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
            Self::Item(invalid) => invalid.fmt(f),
            Self::Trip => {
                let most = limits::ITEMS_PER_TRIP_MAX;
                write!(f, "a trip has from 1 to {most} items")
            }
            Self::Locator(invalid) => invalid.fmt(f),
            Self::Desk => write!(f, "one of {}", choices::<Desk>()),
            Self::Stage => write!(f, "one of {}", choices::<Stage>()),
            Self::Decision => write!(f, "COMMIT or ABORT"),
        }
    }
}

impl Coded for Desk {
    const ALL: &'static [Self] = &Self::ALL;

    fn word(self) -> &'static str {
        self.code()
    }
}

impl Coded for Stage {
    const ALL: &'static [Self] = &Self::ALL;

    fn word(self) -> &'static str {
        self.code()
    }
}

/// What may stand behind the other arguments, each at most once.
#[derive(Default)]
pub(super) struct Options<'a> {
    pub(super) key: Option<Key<'a>>,
    pub(super) hold_ms: Option<u64>,
    pub(super) stage: Option<Stage>,
    pub(super) after: Option<&'a [u8]>,
    pub(super) count: Option<u16>,
}

impl<'a> Words<'a, '_> {
    pub(super) fn xid(&mut self) -> Read<Xid, Verb> {
        self.number("xid").map(Xid)
    }

    pub(super) fn customer(&mut self) -> Read<CustomerId, Verb> {
        self.read("customer", customer)
    }

    /// A customer's number where one may stand before the options.
    pub(super) fn optional_customer(&mut self) -> Read<Option<CustomerId>, Verb> {
        match self.peek() {
            Some(word) if !word.eq_ignore_ascii_case(b"KEY") => self.customer().map(Some),
            _ => Ok(None),
        }
    }

    pub(super) fn item(&mut self) -> Read<Item, Verb> {
        self.read("item", item)
    }

    pub(super) fn locator(&mut self) -> Read<Locator, Verb> {
        self.read("locator", |word| {
            Locator::parse(word).map_err(|invalid| Reason::Flaw(Flaw::Locator(invalid)))
        })
    }

    pub(super) fn desk(&mut self) -> Read<Desk, Verb> {
        self.read("desk", |word| {
            Desk::named(word).ok_or(Reason::Flaw(Flaw::Desk))
        })
    }

    /// Whether it is to be committed.
    pub(super) fn decision(&mut self) -> Read<bool, Verb> {
        self.read("decision", |word| match word {
            _ if word.eq_ignore_ascii_case(b"COMMIT") => Ok(true),
            _ if word.eq_ignore_ascii_case(b"ABORT") => Ok(false),
            _ => Err(Reason::Flaw(Flaw::Decision)),
        })
    }

    /// The items up to the first option. What is neither is told as an item: that is what one mostly
    /// meant.
    pub(super) fn trip(&mut self) -> Read<Trip, Verb> {
        let mut items = Vec::with_capacity(self.left().min(limits::ITEMS_PER_TRIP_MAX));
        while let Some(word) = self.peek() {
            if [b"HOLD".as_slice(), b"KEY"]
                .iter()
                .any(|option| word.eq_ignore_ascii_case(option))
            {
                break;
            }
            items.push(self.item()?);
        }
        Trip::new(items).ok_or_else(|| self.invalid("item", Reason::Flaw(Flaw::Trip)))
    }

    fn stage(&mut self, argument: &'static str) -> Read<Stage, Verb> {
        self.read(argument, |word| {
            Stage::named(word).ok_or(Reason::Flaw(Flaw::Stage))
        })
    }

    /// Everything that is left; only what `taken` names may be there.
    pub(super) fn options(&mut self, taken: &[&str]) -> Read<Options<'a>, Verb> {
        let mut options = Options::default();
        while let Some(word) = self.option() {
            let known = taken.iter().find(|option| option.as_bytes() == &*word);
            match known.copied() {
                Some("KEY") => self.set(&mut options.key, "KEY", Self::key)?,
                Some("HOLD") => self.set(&mut options.hold_ms, "HOLD", Self::number)?,
                Some("STATE") => self.set(&mut options.stage, "STATE", Self::stage)?,
                Some("AFTER") => self.set(&mut options.after, "AFTER", Self::take)?,
                Some("COUNT") => self.set(&mut options.count, "COUNT", Self::length)?,
                _ => return Err(self.no_option()),
            }
        }
        Ok(options)
    }

    /// An option's value that is understood only now.
    pub(super) fn late<T>(
        &self,
        option: &'static str,
        word: Option<&'a [u8]>,
        read: impl FnOnce(&'a [u8]) -> Result<T, Reason<Flaw>>,
    ) -> Read<Option<T>, Verb> {
        word.map(read)
            .transpose()
            .map_err(|reason| self.invalid(option, reason))
    }
}

pub(super) fn item(word: &[u8]) -> Result<Item, Reason<Flaw>> {
    Item::parse(word).map_err(|invalid| Reason::Flaw(Flaw::Item(invalid)))
}

fn customer(word: &[u8]) -> Result<CustomerId, Reason<Flaw>> {
    let number = str::from_utf8(word).ok().and_then(|word| word.parse().ok());
    number.map(CustomerId).ok_or_else(|| Reason::Number {
        min: i32::MIN.into(),
        max: i32::MAX.unsigned_abs().into(),
    })
}
