//! Outcomes as replies: an array that begins with 1 or 0 in RESP2, a map in RESP3.

use turnstile_exchange::{Done, Outcome, Refusal, Ticket, TicketState};
use turnstile_types::Position;

use super::fields::{Field, Value};
use crate::{
    Encoder,
    verdict::{Tail, put_done, put_refused},
};

/// Appends what was answered to a command. `replayed`: it is the answer to an earlier request with
/// the same key.
///
/// Both protocols have the same fields in the same order; only RESP3 names them.
#[inline]
pub fn put_outcome(reply: &mut Encoder<'_>, outcome: &Outcome, position: Position, replayed: bool) {
    match outcome {
        Outcome::Done(done) => {
            let again = matches!(done, Done::Accepted { again: true, .. });
            let tail = Tail {
                position,
                again,
                replayed,
            };
            with_done(done, |fields| put_done(reply, fields, tail));
        }
        Outcome::Refused(refusal) => {
            with_refusal(refusal, |fields| {
                put_refused(reply, refusal.code(), fields, Some(position), replayed);
            });
        }
    }
}

/// Appends a query's refusal, which has no position.
pub(super) fn put_refusal(reply: &mut Encoder<'_>, refusal: &Refusal) {
    with_refusal(refusal, |fields| {
        put_refused(reply, refusal.code(), fields, None, false);
    });
}

#[inline]
fn with_done(done: &Done, put: impl FnOnce(&[Field<'_>])) {
    match *done {
        Done::Accepted { ticket, .. } => with_ticket(ticket, None, put),
        Done::Replaced { ticket, kept_place } => with_ticket(ticket, Some(kept_place), put),
        Done::Cancelled { order, quantity } => put(&[
            ("order", Value::order(order)),
            ("quantity", Value::Decimal(quantity)),
        ]),
        Done::AllCancelled { orders } => put(&[("orders", Value::count(orders))]),
        Done::Granted { position } => put(&[("shares", Value::Decimal(position))]),
        Done::Deposited { cash } | Done::Withdrawn { cash } => put(&[("cash", Value::Cash(cash))]),
        Done::AccountCreated
        | Done::SymbolCreated
        | Done::BandSet
        | Done::Halted
        | Done::Resumed
        | Done::LimitsSet => put(&[]),
    }
}

/// A ticket's fields; why it ended stands last, as it is not always there.
#[inline]
fn with_ticket(ticket: Ticket, kept_place: Option<bool>, put: impl FnOnce(&[Field<'_>])) {
    let reason = match ticket.state {
        TicketState::Open | TicketState::Filled => None,
        TicketState::Ended(reason) => Some(reason.code()),
    };
    let mut fields = [
        ("order", Value::order(ticket.order)),
        ("state", Value::Text(ticket.state.code())),
        ("filled", Value::Decimal(ticket.filled)),
        ("value", Value::Cash(ticket.value)),
        ("open", Value::Decimal(ticket.open)),
        ("reason", Value::Nothing),
        ("reason", Value::Nothing),
    ];
    let mut length = 5;
    let optional = [
        kept_place.map(|kept| ("kept_place", Value::Boolean(kept))),
        reason.map(|reason| ("reason", Value::Text(reason))),
    ];
    for field in optional.into_iter().flatten() {
        fields[length] = field;
        length += 1;
    }
    put(&fields[..length]);
}

fn with_refusal(refusal: &Refusal, put: impl FnOnce(&[Field<'_>])) {
    match *refusal {
        Refusal::TooManyDigits { field, scale } => put(&[
            ("field", Value::Text(field.code())),
            ("scale", Value::Number(u64::from(scale))),
        ]),
        Refusal::TooLarge { field } | Refusal::Zero { field } => {
            put(&[("field", Value::Text(field.code()))]);
        }
        Refusal::InsufficientFunds { needed, free } => {
            put(&[("needed", Value::Cash(needed)), ("free", Value::Cash(free))]);
        }
        Refusal::InsufficientShares { needed, free } => put(&[
            ("needed", Value::Decimal(needed)),
            ("free", Value::Decimal(free)),
        ]),
        Refusal::OutsideBand { low, high } => put(&[
            ("low", Value::optional(low)),
            ("high", Value::optional(high)),
        ]),
        Refusal::TooManyOpenOrders { limit } | Refusal::Full { limit } => {
            put(&[("limit", Value::count(limit))]);
        }
        Refusal::QuantityLimit { limit } => put(&[("limit", Value::Decimal(limit))]),
        Refusal::NotionalLimit { limit } => put(&[("limit", Value::Cash(limit))]),
        Refusal::ClientIdReused { order } => put(&[("order", Value::order(order))]),
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
        | Refusal::NotOpen => put(&[]),
    }
}
