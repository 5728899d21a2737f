//! The arguments of one request, read from left to right.

use std::fmt;

use turnstile_travel::{
    CustomerId, Desk, InvalidItem, InvalidLocator, Item, Locator, Stage, Trip, Xid, limits,
};
use turnstile_types::{InvalidKey, Key};

use super::Verb;
use crate::Arguments;

/// An argument that is not what it should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Invalid {
    pub verb: Verb,
    /// As the catalogue names it; an option by its word.
    pub argument: &'static str,
    pub reason: Reason,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    Item(InvalidItem),
    /// No items, or too many.
    Trip,
    Locator(InvalidLocator),
    Desk,
    Stage,
    /// Neither `COMMIT` nor `ABORT`.
    Decision,
    Key(InvalidKey),
    /// Not a whole number within these bounds, both allowed.
    Number {
        min: i64,
        max: u64,
    },
    /// No option of this command; the field counts the arguments from 1.
    Option(usize),
    /// An option's word without its value.
    Value,
    /// An option that already stands there.
    Repeated,
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.verb.name().to_ascii_uppercase().replace('|', " ");
        write!(f, "{name} {}: {}", self.argument, self.reason)
    }
}

impl std::error::Error for Invalid {}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Item(invalid) => invalid.fmt(f),
            Self::Trip => {
                let most = limits::ITEMS_PER_TRIP_MAX;
                write!(f, "a trip has from 1 to {most} items")
            }
            Self::Locator(invalid) => invalid.fmt(f),
            Self::Desk => write!(f, "one of {}", Desk::ALL.map(Desk::code).join(", ")),
            Self::Stage => write!(f, "one of {}", Stage::ALL.map(Stage::code).join(", ")),
            Self::Decision => write!(f, "COMMIT or ABORT"),
            Self::Key(invalid) => invalid.fmt(f),
            Self::Number { min, max } => write!(f, "a whole number from {min} to {max}"),
            Self::Option(place) => write!(f, "argument {place} is no option of this command"),
            Self::Value => write!(f, "the value is missing"),
            Self::Repeated => write!(f, "given twice"),
        }
    }
}

/// Reads the arguments of one request, and remembers whose they are.
pub(super) struct Words<'a, 'spans> {
    verb: Verb,
    arguments: Arguments<'a, 'spans>,
    next: usize,
}

/// What may stand behind the other arguments, each at most once.
#[derive(Default)]
pub(super) struct Options<'a> {
    pub(super) key: Option<Key<'a>>,
    pub(super) hold_ms: Option<u64>,
    pub(super) stage: Option<Stage>,
    pub(super) after: Option<&'a [u8]>,
    pub(super) count: Option<usize>,
}

impl<'a, 'spans> Words<'a, 'spans> {
    pub(super) const fn new(verb: Verb, arguments: Arguments<'a, 'spans>) -> Self {
        let next = match verb {
            Verb::TxList | Verb::TxShow | Verb::TxResolve => 2,
            _ => 1,
        };
        Self {
            verb,
            arguments,
            next,
        }
    }

    pub(super) const fn invalid(&self, argument: &'static str, reason: Reason) -> Invalid {
        Invalid {
            verb: self.verb,
            argument,
            reason,
        }
    }

    /// The next argument, if there is one more.
    fn advance(&mut self) -> Option<&'a [u8]> {
        let word = self.arguments.get(self.next)?;
        self.next += 1;
        Some(word)
    }

    /// The next argument as what it should be. The catalogue has counted the ones that must stand.
    fn read<T>(
        &mut self,
        argument: &'static str,
        read: impl FnOnce(&'a [u8]) -> Result<T, Reason>,
    ) -> Result<T, Invalid> {
        let word = self.advance().ok_or(Reason::Value);
        word.and_then(read)
            .map_err(|reason| self.invalid(argument, reason))
    }

    pub(super) fn xid(&mut self) -> Result<Xid, Invalid> {
        self.read("xid", |word| whole(word, u64::MAX).map(Xid))
    }

    pub(super) fn amount(&mut self, argument: &'static str) -> Result<u32, Invalid> {
        let amount = self.read(argument, |word| whole(word, u32::MAX.into()))?;
        Ok(u32::try_from(amount).expect("checked against its bound"))
    }

    pub(super) fn customer(&mut self) -> Result<CustomerId, Invalid> {
        self.read("customer", customer)
    }

    /// A customer's number where one may stand before the options.
    pub(super) fn optional_customer(&mut self) -> Result<Option<CustomerId>, Invalid> {
        match self.arguments.get(self.next) {
            Some(word) if !word.eq_ignore_ascii_case(b"KEY") => self.customer().map(Some),
            _ => Ok(None),
        }
    }

    pub(super) fn item(&mut self) -> Result<Item, Invalid> {
        self.read("item", item)
    }

    pub(super) fn locator(&mut self) -> Result<Locator, Invalid> {
        self.read("locator", |word| {
            Locator::parse(word).map_err(Reason::Locator)
        })
    }

    pub(super) fn desk(&mut self) -> Result<Desk, Invalid> {
        self.read("desk", |word| Desk::named(word).ok_or(Reason::Desk))
    }

    /// Whether it is to be committed.
    pub(super) fn decision(&mut self) -> Result<bool, Invalid> {
        self.read("decision", |word| match word {
            _ if word.eq_ignore_ascii_case(b"COMMIT") => Ok(true),
            _ if word.eq_ignore_ascii_case(b"ABORT") => Ok(false),
            _ => Err(Reason::Decision),
        })
    }

    /// The items up to the first option. What is neither is told as an item: that is what one mostly
    /// meant.
    pub(super) fn trip(&mut self) -> Result<Trip, Invalid> {
        let rest = self.arguments.len().saturating_sub(self.next);
        let mut items = Vec::with_capacity(rest.min(limits::ITEMS_PER_TRIP_MAX));
        while let Some(word) = self.arguments.get(self.next) {
            if [b"HOLD".as_slice(), b"KEY"]
                .iter()
                .any(|option| word.eq_ignore_ascii_case(option))
            {
                break;
            }
            items.push(self.item()?);
        }
        Trip::new(items).ok_or_else(|| self.invalid("item", Reason::Trip))
    }

    /// Everything that is left; only what `taken` names may be there.
    pub(super) fn options(&mut self, taken: &[&str]) -> Result<Options<'a>, Invalid> {
        let mut options = Options::default();
        while let Some(word) = self.advance() {
            let known = taken
                .iter()
                .find(|option| option.as_bytes().eq_ignore_ascii_case(word));
            match known.copied() {
                Some("KEY") => self.set(&mut options.key, "KEY", |word| {
                    Key::parse(word).map_err(Reason::Key)
                })?,
                Some("HOLD") => {
                    self.set(&mut options.hold_ms, "HOLD", |word| whole(word, u64::MAX))?
                }
                Some("STATE") => self.set(&mut options.stage, "STATE", |word| {
                    Stage::named(word).ok_or(Reason::Stage)
                })?,
                Some("AFTER") => self.set(&mut options.after, "AFTER", Ok)?,
                Some("COUNT") => self.set(&mut options.count, "COUNT", count)?,
                _ => return Err(self.invalid("option", Reason::Option(self.next - 1))),
            }
        }
        Ok(options)
    }

    /// Reads an option's value into its place, which must be free.
    fn set<T>(
        &mut self,
        place: &mut Option<T>,
        option: &'static str,
        read: impl FnOnce(&'a [u8]) -> Result<T, Reason>,
    ) -> Result<(), Invalid> {
        if place.is_some() {
            return Err(self.invalid(option, Reason::Repeated));
        }
        *place = Some(self.read(option, read)?);
        Ok(())
    }

    /// An option's value that is understood only now.
    pub(super) fn late<T>(
        &self,
        option: &'static str,
        word: Option<&'a [u8]>,
        read: impl FnOnce(&'a [u8]) -> Result<T, Reason>,
    ) -> Result<Option<T>, Invalid> {
        word.map(read)
            .transpose()
            .map_err(|reason| self.invalid(option, reason))
    }
}

pub(super) fn item(word: &[u8]) -> Result<Item, Reason> {
    Item::parse(word).map_err(Reason::Item)
}

/// A whole number from 0 to `max`.
pub(super) fn whole(word: &[u8], max: u64) -> Result<u64, Reason> {
    let is_plain = word.iter().all(u8::is_ascii_digit);
    let number = str::from_utf8(word).ok().filter(|_| is_plain);
    let number = number.and_then(|word| word.parse().ok());
    number
        .filter(|number| *number <= max)
        .ok_or(Reason::Number { min: 0, max })
}

fn customer(word: &[u8]) -> Result<CustomerId, Reason> {
    let number = str::from_utf8(word).ok().and_then(|word| word.parse().ok());
    number.map(CustomerId).ok_or_else(|| Reason::Number {
        min: i32::MIN.into(),
        max: i32::MAX.unsigned_abs().into(),
    })
}

/// How many entries are asked for.
fn count(word: &[u8]) -> Result<usize, Reason> {
    let max = u64::try_from(limits::PAGE_MAX).expect("limits are small");
    let count = whole(word, max).ok().filter(|count| *count > 0);
    let count = count.ok_or(Reason::Number { min: 1, max })?;
    Ok(usize::try_from(count).expect("limits are small"))
}
