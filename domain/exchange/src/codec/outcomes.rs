//! Outcomes as bytes.

use turnstile_types::{Malformed, Reader, put_flag, put_u8, put_u32, put_u64};

use super::fields::{
    cash, decimal, field, option, put_cash, put_decimal, put_field, put_option, put_ticket, ticket,
};
use crate::{Done, OrderId, Outcome, Refusal};

pub(crate) fn put_outcome(outcome: &Outcome, out: &mut Vec<u8>) {
    match outcome {
        Outcome::Done(done) => put_done(done, out),
        Outcome::Refused(refusal) => put_refusal(refusal, out),
    }
}

fn put_done(done: &Done, out: &mut Vec<u8>) {
    match done {
        Done::AccountCreated => put_u8(out, 0x01),
        Done::SymbolCreated => put_u8(out, 0x02),
        Done::Granted { position } => {
            put_u8(out, 0x03);
            put_decimal(out, position);
        }
        Done::Deposited { cash } => {
            put_u8(out, 0x04);
            put_cash(out, *cash);
        }
        Done::Withdrawn { cash } => {
            put_u8(out, 0x05);
            put_cash(out, *cash);
        }
        Done::Accepted { ticket, again } => {
            put_u8(out, 0x06);
            put_ticket(out, ticket);
            put_flag(out, *again);
        }
        Done::Cancelled { order, quantity } => {
            put_u8(out, 0x07);
            put_u64(out, order.0);
            put_decimal(out, quantity);
        }
        Done::Replaced { ticket, kept_place } => {
            put_u8(out, 0x08);
            put_ticket(out, ticket);
            put_flag(out, *kept_place);
        }
        Done::AllCancelled { orders } => {
            put_u8(out, 0x09);
            put_u32(out, *orders);
        }
        Done::BandSet => put_u8(out, 0x0a),
        Done::Halted => put_u8(out, 0x0b),
        Done::Resumed => put_u8(out, 0x0c),
        Done::LimitsSet => put_u8(out, 0x0d),
    }
}

fn put_refusal(refusal: &Refusal, out: &mut Vec<u8>) {
    put_u8(out, refusal.kind());
    match refusal {
        Refusal::TooManyDigits { field, scale } => {
            put_field(out, *field);
            put_u8(out, *scale);
        }
        Refusal::TooLarge { field } | Refusal::Zero { field } => put_field(out, *field),
        Refusal::InsufficientFunds { needed, free } => {
            put_cash(out, *needed);
            put_cash(out, *free);
        }
        Refusal::InsufficientShares { needed, free } => {
            put_decimal(out, needed);
            put_decimal(out, free);
        }
        Refusal::OutsideBand { low, high } => {
            put_option(out, low.as_ref(), put_decimal);
            put_option(out, high.as_ref(), put_decimal);
        }
        Refusal::TooManyOpenOrders { limit } | Refusal::Full { limit } => put_u32(out, *limit),
        Refusal::QuantityLimit { limit } => put_decimal(out, limit),
        Refusal::NotionalLimit { limit } => put_cash(out, *limit),
        Refusal::ClientIdReused { order } => put_u64(out, order.0),
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
        | Refusal::NotOpen => {}
    }
}

pub(crate) fn outcome(bytes: &[u8]) -> Result<Outcome, Malformed> {
    Outcome::read(bytes, done, refusal)
}

fn done(kind: u8, r: &mut Reader<'_>) -> Result<Done, Malformed> {
    Ok(match kind {
        0x01 => Done::AccountCreated,
        0x02 => Done::SymbolCreated,
        0x03 => Done::Granted {
            position: decimal(r, "position")?,
        },
        0x04 => Done::Deposited {
            cash: cash(r, "cash")?,
        },
        0x05 => Done::Withdrawn {
            cash: cash(r, "cash")?,
        },
        0x06 => Done::Accepted {
            ticket: ticket(r)?,
            again: r.flag("again")?,
        },
        0x07 => Done::Cancelled {
            order: OrderId(r.u64("order")?),
            quantity: decimal(r, "quantity")?,
        },
        0x08 => Done::Replaced {
            ticket: ticket(r)?,
            kept_place: r.flag("kept place")?,
        },
        0x09 => Done::AllCancelled {
            orders: r.u32("orders")?,
        },
        0x0a => Done::BandSet,
        0x0b => Done::Halted,
        0x0c => Done::Resumed,
        0x0d => Done::LimitsSet,
        _ => return Err(Malformed { field: "outcome" }),
    })
}

fn refusal(kind: u8, r: &mut Reader<'_>) -> Result<Refusal, Malformed> {
    Ok(match kind {
        0x81 => Refusal::UnknownAccount,
        0x82 => Refusal::AccountExists,
        0x83 => Refusal::UnknownSymbol,
        0x84 => Refusal::SymbolExists,
        0x85 => Refusal::ScaleTooLarge,
        0x86 => Refusal::TooManyDigits {
            field: field(r)?,
            scale: r.u8("scale")?,
        },
        0x87 => Refusal::TooLarge { field: field(r)? },
        0x88 => Refusal::Zero { field: field(r)? },
        0x89 => Refusal::InsufficientFunds {
            needed: cash(r, "needed")?,
            free: cash(r, "free")?,
        },
        0x8a => Refusal::InsufficientShares {
            needed: decimal(r, "needed")?,
            free: decimal(r, "free")?,
        },
        0x8b => Refusal::MarketMustNotWait,
        0x8c => Refusal::NoMarket,
        0x8d => Refusal::NotFillable,
        0x8e => Refusal::WouldMatch,
        0x8f => Refusal::DateOver,
        0x90 => Refusal::OutsideBand {
            low: option(r, "low", decimal)?,
            high: option(r, "high", decimal)?,
        },
        0x91 => Refusal::EmptyBand,
        0x92 => Refusal::SymbolHalted,
        0x93 => Refusal::TooManyOpenOrders {
            limit: r.u32("limit")?,
        },
        0x94 => Refusal::QuantityLimit {
            limit: decimal(r, "limit")?,
        },
        0x95 => Refusal::NotionalLimit {
            limit: cash(r, "limit")?,
        },
        0x96 => Refusal::ClientIdReused {
            order: OrderId(r.u64("order")?),
        },
        0x97 => Refusal::NotFound,
        0x98 => Refusal::NotYours,
        0x99 => Refusal::NotOpen,
        0x9a => Refusal::Full {
            limit: r.u32("limit")?,
        },
        _ => return Err(Malformed { field: "outcome" }),
    })
}
