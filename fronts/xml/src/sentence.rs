//! Refusals in words.

use std::fmt;

use turnstile_chassis::Refuse as _;
use turnstile_exchange::{CommandField, Refusal};

/// A refusal as the text of an `error`: its declared sentence, or what was wrong with the figures.
pub(crate) struct Sentence<'a>(pub(crate) &'a Refusal);

impl fmt::Display for Sentence<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self.0 {
            Refusal::TooManyDigits { field, scale } => {
                let field = word(field);
                write!(
                    f,
                    "the {field} has more than {scale} digits after the point"
                )
            }
            Refusal::TooLarge { field } => write!(f, "the {} is too large", word(field)),
            Refusal::Zero { field } => write!(f, "the {} must not be zero", word(field)),
            // Public clients of the protocol look for these two with a capital.
            Refusal::InsufficientFunds { needed, free } => {
                write!(f, "Insufficient funds: {needed} needed, {free} free")
            }
            Refusal::InsufficientShares { needed, free } => {
                write!(f, "Insufficient shares: {needed} needed, {free} free")
            }
            Refusal::OutsideBand { low, high } => {
                f.write_str("the limit is outside the price band")?;
                if let Some(low) = low {
                    write!(f, ", from {low}")?;
                }
                if let Some(high) = high {
                    write!(f, ", up to {high}")?;
                }
                Ok(())
            }
            Refusal::TooManyOpenOrders { limit } => {
                write!(f, "the account has {limit} open orders, as many as it may")
            }
            Refusal::QuantityLimit { limit } => {
                write!(f, "an order of the account has at most {limit} shares")
            }
            Refusal::NotionalLimit { limit } => {
                write!(f, "an order of the account is worth at most {limit}")
            }
            Refusal::ClientIdReused { order } => {
                write!(f, "the client id belongs to order {order}")
            }
            Refusal::Full { limit } => write!(f, "there are {limit} already, as many as can be"),
            refusal => refusal.meaning().continued().fmt(f),
        }
    }
}

const fn word(field: CommandField) -> &'static str {
    match field {
        CommandField::Price => "limit",
        CommandField::Quantity => "number of shares",
        CommandField::Cash => "amount of cash",
    }
}
