//! What the refusals of the exchange are in HTTP.

use std::fmt::Display;

use serde::ser::SerializeMap;
use turnstile_exchange::Refusal;

/// What no state would allow is 400; what this state does not allow is 409.
pub(super) const fn status(refusal: Refusal) -> u16 {
    match refusal {
        Refusal::ScaleTooLarge
        | Refusal::TooManyDigits { .. }
        | Refusal::TooLarge { .. }
        | Refusal::Zero { .. }
        | Refusal::MarketMustNotWait
        | Refusal::DateOver
        | Refusal::EmptyBand => 400,
        Refusal::NotYours => 403,
        Refusal::UnknownAccount | Refusal::UnknownSymbol | Refusal::NotFound => 404,
        Refusal::AccountExists
        | Refusal::SymbolExists
        | Refusal::InsufficientFunds { .. }
        | Refusal::InsufficientShares { .. }
        | Refusal::NoMarket
        | Refusal::NotFillable
        | Refusal::WouldMatch
        | Refusal::OutsideBand { .. }
        | Refusal::SymbolHalted
        | Refusal::TooManyOpenOrders { .. }
        | Refusal::QuantityLimit { .. }
        | Refusal::NotionalLimit { .. }
        | Refusal::ClientIdReused { .. }
        | Refusal::NotOpen
        | Refusal::Full { .. } => 409,
    }
}

pub(super) const fn title(refusal: Refusal) -> &'static str {
    match refusal {
        Refusal::UnknownAccount => "There is no such account",
        Refusal::AccountExists => "The account exists",
        Refusal::UnknownSymbol => "There is no such symbol",
        Refusal::SymbolExists => "The symbol exists",
        Refusal::ScaleTooLarge => "The two scales of a symbol are at most 8 together",
        Refusal::TooManyDigits { .. } => "The number has more digits after the point than are kept",
        Refusal::TooLarge { .. } => "The number is larger than the exchange keeps",
        Refusal::Zero { .. } => "The number must not be zero",
        Refusal::InsufficientFunds { .. } => "The account has not enough free cash",
        Refusal::InsufficientShares { .. } => "The account has not enough free shares",
        Refusal::MarketMustNotWait => "A market order must not wait: it is ioc or fok",
        Refusal::NoMarket => "A market order found nobody on the other side",
        Refusal::NotFillable => "The order would not be filled whole",
        Refusal::WouldMatch => "The order would match at once",
        Refusal::DateOver => "The date of the order is over",
        Refusal::OutsideBand { .. } => "The price is outside the band of the symbol",
        Refusal::EmptyBand => "The low end of the band is above its high end",
        Refusal::SymbolHalted => "Trading in the symbol is halted",
        Refusal::TooManyOpenOrders { .. } => "The account has as many open orders as it may have",
        Refusal::QuantityLimit { .. } => "The quantity is above the account's limit for one order",
        Refusal::NotionalLimit { .. } => "The value is above the account's limit for one order",
        Refusal::ClientIdReused { .. } => "The client id belongs to another order of the account",
        Refusal::NotFound => "There never was such an order, or it is forgotten",
        Refusal::NotYours => "It is another account's order",
        Refusal::NotOpen => "Nothing of the order is open",
        Refusal::Full { .. } => "The exchange keeps no more of them",
    }
}

pub(super) fn put_data<M: SerializeMap>(map: &mut M, refusal: &Refusal) -> Result<(), M::Error> {
    match refusal {
        Refusal::TooManyDigits { field, scale } => {
            map.serialize_entry("field", field.code())?;
            map.serialize_entry("scale", scale)
        }
        Refusal::TooLarge { field } | Refusal::Zero { field } => {
            map.serialize_entry("field", field.code())
        }
        Refusal::InsufficientFunds { needed, free } => put_shortage(map, needed, free),
        Refusal::InsufficientShares { needed, free } => put_shortage(map, needed, free),
        Refusal::OutsideBand { low, high } => {
            for (name, bound) in [("low", low), ("high", high)] {
                if let Some(bound) = bound {
                    put_text(map, name, bound)?;
                }
            }
            Ok(())
        }
        Refusal::TooManyOpenOrders { limit } | Refusal::Full { limit } => {
            map.serialize_entry("limit", limit)
        }
        Refusal::QuantityLimit { limit } => put_text(map, "limit", limit),
        Refusal::NotionalLimit { limit } => put_text(map, "limit", limit),
        Refusal::ClientIdReused { order } => map.serialize_entry("order", &order.0),
        Refusal::UnknownAccount
        | Refusal::AccountExists
        | Refusal::UnknownSymbol
        | Refusal::SymbolExists
        | Refusal::ScaleTooLarge
        | Refusal::MarketMustNotWait
        | Refusal::NoMarket
        | Refusal::NotFillable
        | Refusal::WouldMatch
        | Refusal::DateOver
        | Refusal::EmptyBand
        | Refusal::SymbolHalted
        | Refusal::NotFound
        | Refusal::NotYours
        | Refusal::NotOpen => Ok(()),
    }
}

fn put_shortage<M: SerializeMap>(
    map: &mut M,
    needed: &dyn Display,
    free: &dyn Display,
) -> Result<(), M::Error> {
    put_text(map, "needed", needed)?;
    put_text(map, "free", free)
}

fn put_text<M: SerializeMap>(
    map: &mut M,
    name: &'static str,
    number: &dyn Display,
) -> Result<(), M::Error> {
    map.serialize_entry(name, &format_args!("{number}"))
}

#[cfg(test)]
mod tests {
    use turnstile_exchange::{Cash, Decimal, Field, OrderId};

    use super::*;
    use crate::{Code, Problem};

    /// The status of a refusal, and the members that it adds to its problem.
    fn told(refusal: Refusal) -> (u16, String) {
        let problem = Problem::from(Code::from(refusal));
        let json = String::from_utf8(problem.json("/v1/exchange/x", "r-1")).unwrap();
        let word = refusal.code();
        let mark = format!(r#""code":"{word}","retryable":false,"request_id":"r-1""#);
        let (_, data) = json.split_once(&mark).expect(word);
        (problem.code.status(), data.trim_end_matches('}').to_owned())
    }

    #[test]
    fn a_refusal_without_data_has_its_status() {
        let rows = [
            (Refusal::UnknownAccount, 404),
            (Refusal::AccountExists, 409),
            (Refusal::UnknownSymbol, 404),
            (Refusal::SymbolExists, 409),
            (Refusal::ScaleTooLarge, 400),
            (Refusal::MarketMustNotWait, 400),
            (Refusal::NoMarket, 409),
            (Refusal::NotFillable, 409),
            (Refusal::WouldMatch, 409),
            (Refusal::DateOver, 400),
            (Refusal::EmptyBand, 400),
            (Refusal::SymbolHalted, 409),
            (Refusal::NotFound, 404),
            (Refusal::NotYours, 403),
            (Refusal::NotOpen, 409),
        ];
        for (refusal, status) in rows {
            assert_eq!(told(refusal), (status, String::new()), "{}", refusal.code());
        }
    }

    #[test]
    fn a_refusal_with_data_tells_it() {
        let (needed, limit) = (Decimal::new(35, 1), Decimal::new(2, 0));
        let (free, cash) = (limit, Cash(150_000_000));
        let (field, scale) = (Field::Price, 4);
        let order = OrderId(9);
        let (low, high) = (Some(limit), None);
        let short = Refusal::InsufficientFunds {
            needed: cash,
            free: Cash(0),
        };
        let digits = r#","field":"price","scale":4"#;
        let rows = [
            (Refusal::TooManyDigits { field, scale }, 400, digits),
            (Refusal::TooLarge { field }, 400, r#","field":"price""#),
            (Refusal::Zero { field }, 400, r#","field":"price""#),
            (short, 409, r#","needed":"1.5","free":"0""#),
            (
                Refusal::InsufficientShares { needed, free },
                409,
                r#","needed":"3.5","free":"2""#,
            ),
            (Refusal::OutsideBand { low, high }, 409, r#","low":"2""#),
            (
                Refusal::TooManyOpenOrders { limit: 7 },
                409,
                r#","limit":7"#,
            ),
            (Refusal::QuantityLimit { limit }, 409, r#","limit":"2""#),
            (
                Refusal::NotionalLimit { limit: cash },
                409,
                r#","limit":"1.5""#,
            ),
            (Refusal::ClientIdReused { order }, 409, r#","order":9"#),
            (Refusal::Full { limit: 3 }, 409, r#","limit":3"#),
        ];
        for (refusal, status, data) in rows {
            assert_eq!(told(refusal), (status, data.to_owned()));
        }
    }
}
