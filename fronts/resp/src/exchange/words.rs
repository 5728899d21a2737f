//! The arguments of one request, read from left to right.

use std::{fmt, ops::Deref};

use turnstile_exchange::{
    AccountId, ClientId, Cursor, Decimal, InvalidDecimal, InvalidLabel, InvalidOrderRef, OrderRef,
    SelfTrade, Side, Symbol, TimeInForce,
};
use turnstile_types::{InvalidInstant, InvalidKey, Key, Timestamp};

use super::{Verb, choices::chosen};
use crate::Arguments;

/// The most entries of a page, so that one reply stays far below a connection's output bound.
const PAGE_MAX: u16 = 1_000;

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
    /// No symbol, or no account.
    Name(InvalidLabel),
    ClientId(InvalidLabel),
    Decimal(InvalidDecimal),
    /// Neither a number nor `MARKET`.
    Price(InvalidDecimal),
    /// Neither `BUY` nor `SELL`.
    Side,
    SelfTrade,
    Instant(InvalidInstant),
    /// Neither an order's number nor a client id behind `id:`.
    Order,
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
    /// A second word for how long the order waits.
    TimeInForce,
    /// A client id is unique for its account only.
    AccountNeeded,
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for letter in self.verb.name().chars() {
            write!(f, "{}", letter.to_ascii_uppercase())?;
        }
        write!(f, " {}: {}", self.argument, self.reason)
    }
}

impl std::error::Error for Invalid {}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(InvalidLabel::Character(at)) => {
                let at = at + 1;
                write!(
                    f,
                    "a name uses A-Z a-z 0-9 . _ : - only, character {at} is none"
                )
            }
            Self::ClientId(InvalidLabel::Character(at)) => {
                write!(f, "an id is visible ASCII, character {} is not", at + 1)
            }
            Self::Name(invalid) | Self::ClientId(invalid) => invalid.fmt(f),
            Self::Decimal(invalid) => invalid.fmt(f),
            Self::Price(invalid) => write!(f, "{invalid}; without a limit it is MARKET"),
            Self::Side => write!(f, "BUY or SELL"),
            Self::SelfTrade => {
                let words = SelfTrade::ALL.map(SelfTrade::code);
                write!(f, "one of {}", words.join(", "))
            }
            Self::Instant(invalid) => invalid.fmt(f),
            Self::Order => InvalidOrderRef::Form.fmt(f),
            Self::Key(invalid) => invalid.fmt(f),
            Self::Number { min, max } => write!(f, "a whole number from {min} to {max}"),
            Self::Option(place) => write!(f, "argument {place} is no option of this command"),
            Self::Value => write!(f, "the value is missing"),
            Self::Repeated => write!(f, "given twice"),
            Self::TimeInForce => write!(f, "an order has one of GTC, IOC, FOK, POSTONLY, UNTIL"),
            Self::AccountNeeded => {
                write!(
                    f,
                    "needed with a client's id, which is unique for its account only"
                )
            }
        }
    }
}

/// Reads the arguments of one request, and remembers whose they are.
pub(super) struct Words<'a, 'spans> {
    verb: Verb,
    arguments: Arguments<'a, 'spans>,
    next: usize,
}

/// The longest word of an option.
const OPTION_BYTES_MAX: usize = 16;

/// The word of an option in capitals; nothing when it is longer than any.
pub(super) struct OptionWord {
    bytes: [u8; OPTION_BYTES_MAX],
    length: usize,
}

impl Deref for OptionWord {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }
}

impl<'a, 'spans> Words<'a, 'spans> {
    pub(super) const fn new(verb: Verb, arguments: Arguments<'a, 'spans>) -> Self {
        Self {
            verb,
            arguments,
            next: 1,
        }
    }

    pub(super) const fn invalid(&self, argument: &'static str, reason: Reason) -> Invalid {
        Invalid {
            verb: self.verb,
            argument,
            reason,
        }
    }

    /// The next argument. The catalogue has counted the ones that must stand.
    fn take(&mut self, argument: &'static str) -> Result<&'a [u8], Invalid> {
        let word = self.arguments.get(self.next);
        self.next += 1;
        word.ok_or_else(|| self.invalid(argument, Reason::Value))
    }

    pub(super) fn account(&mut self, argument: &'static str) -> Result<AccountId, Invalid> {
        let word = self.take(argument)?;
        AccountId::parse(word).map_err(|invalid| self.invalid(argument, Reason::Name(invalid)))
    }

    pub(super) fn symbol(&mut self, argument: &'static str) -> Result<Symbol, Invalid> {
        let word = self.take(argument)?;
        Symbol::parse(word).map_err(|invalid| self.invalid(argument, Reason::Name(invalid)))
    }

    pub(super) fn client_id(&mut self, argument: &'static str) -> Result<ClientId, Invalid> {
        let word = self.take(argument)?;
        ClientId::parse(word).map_err(|invalid| self.invalid(argument, Reason::ClientId(invalid)))
    }

    pub(super) fn decimal(&mut self, argument: &'static str) -> Result<Decimal, Invalid> {
        let word = self.take(argument)?;
        Decimal::parse(word).map_err(|invalid| self.invalid(argument, Reason::Decimal(invalid)))
    }

    pub(super) fn side(&mut self) -> Result<Side, Invalid> {
        let word = self.take("side")?;
        chosen(word).ok_or_else(|| self.invalid("side", Reason::Side))
    }

    /// A price, or none: the market's.
    pub(super) fn price(&mut self) -> Result<Option<Decimal>, Invalid> {
        let word = self.take("price")?;
        match Decimal::parse(word) {
            Ok(price) => Ok(Some(price)),
            Err(_) if word.eq_ignore_ascii_case(b"MARKET") => Ok(None),
            Err(InvalidDecimal::TooLong) => {
                Err(self.invalid("price", Reason::Decimal(InvalidDecimal::TooLong)))
            }
            Err(invalid) => Err(self.invalid("price", Reason::Price(invalid))),
        }
    }

    /// An order's number, or `id:` and the client's.
    pub(super) fn order(&mut self) -> Result<OrderRef, Invalid> {
        let word = self.take("order")?;
        OrderRef::parse(word).map_err(|invalid| {
            let reason = match invalid {
                InvalidOrderRef::Form => Reason::Order,
                InvalidOrderRef::ClientId(invalid) => Reason::ClientId(invalid),
            };
            self.invalid("order", reason)
        })
    }

    pub(super) fn self_trade(&mut self, argument: &'static str) -> Result<SelfTrade, Invalid> {
        let word = self.take(argument)?;
        chosen(word).ok_or_else(|| self.invalid(argument, Reason::SelfTrade))
    }

    pub(super) fn key(&mut self, argument: &'static str) -> Result<Key<'a>, Invalid> {
        let word = self.take(argument)?;
        Key::parse(word).map_err(|invalid| self.invalid(argument, Reason::Key(invalid)))
    }

    pub(super) fn until(&mut self, argument: &'static str) -> Result<TimeInForce, Invalid> {
        let word = self.take(argument)?;
        Timestamp::parse(word)
            .map(TimeInForce::GoodTillDate)
            .map_err(|invalid| self.invalid(argument, Reason::Instant(invalid)))
    }

    fn number(&mut self, argument: &'static str, min: u64, max: u64) -> Result<u64, Invalid> {
        let word = self.take(argument)?;
        whole(word)
            .filter(|number| (min..=max).contains(number))
            .ok_or_else(|| self.invalid(argument, Reason::Number { min, max }))
    }

    pub(super) fn scale(&mut self, argument: &'static str) -> Result<u8, Invalid> {
        let max = turnstile_exchange::CASH_SCALE;
        let scale = self.number(argument, 0, u64::from(max))?;
        Ok(u8::try_from(scale).expect("checked against its bound"))
    }

    pub(super) fn count(&mut self, argument: &'static str) -> Result<u32, Invalid> {
        let count = self.number(argument, 0, u64::from(u32::MAX))?;
        Ok(u32::try_from(count).expect("checked against its bound"))
    }

    /// How many entries are asked for.
    pub(super) fn length(&mut self, argument: &'static str) -> Result<u16, Invalid> {
        let length = self.number(argument, 1, u64::from(PAGE_MAX))?;
        Ok(u16::try_from(length).expect("checked against its bound"))
    }

    pub(super) fn cursor(&mut self, argument: &'static str) -> Result<Cursor, Invalid> {
        self.number(argument, 0, u64::MAX).map(Cursor)
    }

    /// The next option's word, if there is one more.
    pub(super) fn option(&mut self) -> Option<OptionWord> {
        let word = self.arguments.get(self.next)?;
        self.next += 1;
        let mut bytes = [0; OPTION_BYTES_MAX];
        let length = match bytes.get_mut(..word.len()) {
            Some(bytes) => {
                bytes.copy_from_slice(word);
                bytes.make_ascii_uppercase();
                word.len()
            }
            None => 0,
        };
        Some(OptionWord { bytes, length })
    }

    /// The option that was read last is none of this command's.
    pub(super) const fn no_option(&self) -> Invalid {
        self.invalid("option", Reason::Option(self.next - 1))
    }

    /// Reads an option's value into its place, which must be free.
    pub(super) fn set<T>(
        &mut self,
        place: &mut Option<T>,
        option: &'static str,
        read: impl FnOnce(&mut Self, &'static str) -> Result<T, Invalid>,
    ) -> Result<(), Invalid> {
        if place.is_some() {
            return Err(self.invalid(option, Reason::Repeated));
        }
        *place = Some(read(self, option)?);
        Ok(())
    }
}

fn whole(word: &[u8]) -> Option<u64> {
    if word.is_empty() {
        return None;
    }
    word.iter().try_fold(0_u64, |number, byte| {
        let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
        number.checked_mul(10)?.checked_add(digit)
    })
}
