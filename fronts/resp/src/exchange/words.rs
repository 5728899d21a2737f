//! The arguments that only the exchange has.

use std::fmt;

use turnstile_exchange::{
    AccountId, CASH_SCALE, ClientId, Cursor, Decimal, InvalidDecimal, InvalidLabel,
    InvalidOrderRef, OrderRef, SelfTrade, Side, Symbol, TimeInForce,
};
use turnstile_types::{InvalidInstant, Timestamp};

use super::Verb;
use crate::words::{self, Coded, Read, Reason, Spoken, choices, chosen, within};

pub type Invalid = words::Invalid<Verb>;

pub(super) type Words<'a, 'spans> = words::Words<'a, 'spans, Verb>;

/// What may be wrong with an argument that only the exchange has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
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
    /// A second word for how long the order waits.
    TimeInForce,
    /// A client id is unique for its account only.
    AccountNeeded,
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
            Self::SelfTrade => write!(f, "one of {}", choices::<SelfTrade>()),
            Self::Instant(invalid) => invalid.fmt(f),
            Self::Order => InvalidOrderRef::Form.fmt(f),
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

impl Coded for Side {
    const ALL: &'static [Self] = &Self::ALL;

    fn word(self) -> &'static str {
        self.code()
    }
}

impl Coded for SelfTrade {
    const ALL: &'static [Self] = &Self::ALL;

    fn word(self) -> &'static str {
        self.code()
    }
}

impl Words<'_, '_> {
    fn own<T>(
        &mut self,
        argument: &'static str,
        read: impl FnOnce(&[u8]) -> Result<T, Flaw>,
    ) -> Read<T, Verb> {
        self.read(argument, |word| read(word).map_err(Reason::Flaw))
    }

    pub(super) fn account(&mut self, argument: &'static str) -> Read<AccountId, Verb> {
        self.own(argument, |word| AccountId::parse(word).map_err(Flaw::Name))
    }

    pub(super) fn symbol(&mut self, argument: &'static str) -> Read<Symbol, Verb> {
        self.own(argument, |word| Symbol::parse(word).map_err(Flaw::Name))
    }

    pub(super) fn client_id(&mut self, argument: &'static str) -> Read<ClientId, Verb> {
        self.own(argument, |word| {
            ClientId::parse(word).map_err(Flaw::ClientId)
        })
    }

    pub(super) fn decimal(&mut self, argument: &'static str) -> Read<Decimal, Verb> {
        self.own(argument, |word| Decimal::parse(word).map_err(Flaw::Decimal))
    }

    pub(super) fn side(&mut self) -> Read<Side, Verb> {
        self.own("side", |word| chosen(word).ok_or(Flaw::Side))
    }

    /// A price, or none: the market's.
    pub(super) fn price(&mut self) -> Read<Option<Decimal>, Verb> {
        self.own("price", |word| match Decimal::parse(word) {
            Ok(price) => Ok(Some(price)),
            Err(_) if word.eq_ignore_ascii_case(b"MARKET") => Ok(None),
            Err(InvalidDecimal::TooLong) => Err(Flaw::Decimal(InvalidDecimal::TooLong)),
            Err(invalid) => Err(Flaw::Price(invalid)),
        })
    }

    /// An order's number, or `id:` and the client's.
    pub(super) fn order(&mut self) -> Read<OrderRef, Verb> {
        self.own("order", |word| {
            OrderRef::parse(word).map_err(|invalid| match invalid {
                InvalidOrderRef::Form => Flaw::Order,
                InvalidOrderRef::ClientId(invalid) => Flaw::ClientId(invalid),
            })
        })
    }

    pub(super) fn self_trade(&mut self, argument: &'static str) -> Read<SelfTrade, Verb> {
        self.own(argument, |word| chosen(word).ok_or(Flaw::SelfTrade))
    }

    pub(super) fn until(&mut self, argument: &'static str) -> Read<TimeInForce, Verb> {
        self.own(argument, |word| {
            let instant = Timestamp::parse(word).map_err(Flaw::Instant)?;
            Ok(TimeInForce::GoodTillDate(instant))
        })
    }

    pub(super) fn scale(&mut self, argument: &'static str) -> Read<u8, Verb> {
        self.read(argument, |word| within(word, 0, CASH_SCALE.into()))
    }

    pub(super) fn cursor(&mut self, argument: &'static str) -> Read<Cursor, Verb> {
        self.number(argument).map(Cursor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_is_read_by_the_word_it_is_shown_with() {
        for mode in SelfTrade::ALL {
            let capitals = mode.code().to_ascii_uppercase();
            assert_eq!(chosen(capitals.as_bytes()), Some(mode));
        }
        assert_eq!(chosen(b"Sell"), Some(Side::Sell));
        assert_eq!(chosen::<Side>(b"sel"), None);
    }
}
