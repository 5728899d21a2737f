//! Refusals in words.

use std::fmt;

use turnstile_exchange::{Field, Refusal};

/// A refusal as the text of an `error`: what was wrong, with the figures.
pub(crate) struct Sentence<'a>(pub(crate) &'a Refusal);

impl fmt::Display for Sentence<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self.0 {
            Refusal::UnknownAccount => f.write_str("there is no such account"),
            Refusal::AccountExists => f.write_str("the account exists already"),
            Refusal::UnknownSymbol => f.write_str("there is no such symbol"),
            Refusal::SymbolExists => f.write_str("the symbol exists already"),
            Refusal::ScaleTooLarge => f.write_str("the two scales are more than 8 together"),
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
            Refusal::MarketMustNotWait => f.write_str("an order without a limit must not wait"),
            Refusal::NoMarket => f.write_str("there is no order on the other side"),
            Refusal::NotFillable => f.write_str("the order cannot be filled whole at once"),
            Refusal::WouldMatch => f.write_str("the order would match at once"),
            Refusal::DateOver => f.write_str("the date of the order is over"),
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
            Refusal::EmptyBand => f.write_str("the low end of the band is above its high end"),
            Refusal::SymbolHalted => f.write_str("trading of the symbol is halted"),
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
            Refusal::NotFound => f.write_str("there is no such order, or it is forgotten"),
            Refusal::NotYours => f.write_str("the order belongs to another account"),
            Refusal::NotOpen => f.write_str("nothing of the order is open"),
            Refusal::Full { limit } => write!(f, "there are {limit} already, as many as can be"),
        }
    }
}

const fn word(field: Field) -> &'static str {
    match field {
        Field::Price => "limit",
        Field::Quantity => "number of shares",
        Field::Cash => "amount of cash",
    }
}
