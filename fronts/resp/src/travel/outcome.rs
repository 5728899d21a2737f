//! Outcomes as replies.

use turnstile_travel::{AbortReason, Done, Outcome, Refusal};
use turnstile_types::Position;

use super::values::{Field, Value, bill_fields};
use crate::{
    Encoder, Protocol,
    verdict::{Tail, put_done, put_refused},
};

/// Where an outcome was decided that came later than its command: in which record, and behind how many
/// other events of it. Outcomes are decided in this order; what the record itself asked for came first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decided {
    pub position: Position,
    pub ordinal: u32,
}

/// Appends what was answered to the command at this position, at once or late. `replayed`: it is
/// the answer to an earlier request with the same key.
///
/// Both protocols have the same fields in the same order; only RESP3 names them. The position of what
/// promises nothing may be given again after a crash, which aborts the transaction that it is about.
///
/// # Panics
/// When the command still waits: its answer comes later.
pub fn put_outcome(reply: &mut Encoder<'_>, outcome: &Outcome, position: Position, replayed: bool) {
    put(reply, outcome, (position, None), replayed);
}

/// The same for an answer that came when its command had waited, with the place where it was decided:
/// in RESP3 only, for in RESP2 it could not be told from what else may stand there.
///
/// # Panics
/// When the command still waits.
pub fn put_late(
    reply: &mut Encoder<'_>,
    outcome: &Outcome,
    (ticket, decided): (Position, Decided),
    replayed: bool,
) {
    put(reply, outcome, (ticket, Some(decided)), replayed);
}

fn put(
    reply: &mut Encoder<'_>,
    outcome: &Outcome,
    (position, decided): (Position, Option<Decided>),
    replayed: bool,
) {
    let decided = decided.filter(|_place| reply.protocol() == Protocol::Resp3);
    match outcome {
        Outcome::Done(done) => {
            let tail = Tail {
                position,
                again: false,
                replayed,
            };
            with_done(done, |fields| {
                with_place(fields, decided, |fields| put_done(reply, fields, tail));
            });
        }
        Outcome::Refused(refusal) => {
            with_refusal(refusal, |fields| {
                with_place(fields, decided, |fields| {
                    put_refused(reply, refusal.code(), fields, Some(position), replayed);
                });
            });
        }
        Outcome::Waiting { ticket } => unreachable!("{ticket} is not answered yet"),
    }
}

/// The fields, and behind them where it was decided, if that is told.
fn with_place(fields: &[Field<'_>], decided: Option<Decided>, put: impl FnOnce(&[Field<'_>])) {
    let Some(Decided { position, ordinal }) = decided else {
        return put(fields);
    };
    let place = [
        ("decided", Value::Number(position.0)),
        ("ordinal", Value::count(ordinal)),
    ];
    put(&[fields, &place].concat());
}

/// Appends that there is not what was asked for.
pub(super) fn put_absence(reply: &mut Encoder<'_>, refusal: &Refusal) {
    put_refused::<Value<'_>>(reply, refusal.code(), &[], None, false);
}

fn with_done(done: &Done, put: impl FnOnce(&[Field<'_>])) {
    match done {
        Done::Started { xid } => put(&[("xid", Value::Number(xid.0))]),
        Done::Stock(None) => {
            put(&["free", "reserved", "price"].map(|name| (name, Value::Nothing)));
        }
        Done::Stock(Some(stock)) => put(&[
            ("free", Value::count(stock.free)),
            ("reserved", Value::count(stock.reserved)),
            ("price", Value::count(stock.price)),
        ]),
        Done::CustomerAdded(customer) => put(&[("customer", Value::Signed(customer.0))]),
        Done::Bill(None) => {
            put(&["customer", "total", "lines"].map(|name| (name, Value::Nothing)));
        }
        Done::Bill(Some(bill)) => put(&bill_fields(bill)),
        Done::Summary(bills) => put(&[("customers", Value::Bills(bills))]),
        Done::Booked {
            locator,
            price,
            until,
        } => {
            let fields = [
                ("locator", Value::Shown(locator)),
                ("price", Value::Number(*price)),
                ("until", Value::until(*until)),
            ];
            put(&fields[..2 + usize::from(until.is_some())]);
        }
        Done::Committed
        | Done::Aborted
        | Done::Added
        | Done::Deleted
        | Done::CustomerDeleted
        | Done::Reserved
        | Done::Confirmed
        | Done::Cancelled
        | Done::Configured
        | Done::Recovered
        | Done::Resolved
        | Done::Delivered => put(&[]),
    }
}

fn with_refusal(refusal: &Refusal, put: impl FnOnce(&[Field<'_>])) {
    match refusal {
        Refusal::NoSuchItem(item)
        | Refusal::SoldOut(item)
        | Refusal::ItemReserved(item)
        | Refusal::NotReserved(item) => put(&[("item", Value::Shown(item))]),
        Refusal::NoSuchCustomer(customer) | Refusal::CustomerExists(customer) => {
            put(&[("customer", Value::Signed(customer.0))]);
        }
        Refusal::Full { limit } | Refusal::SummaryTooLong { limit } => {
            put(&[("limit", Value::count(*limit))])
        }
        Refusal::HoldTooLong { limit_ms } => put(&[("limit_ms", Value::Number(*limit_ms))]),
        Refusal::Aborted(reason) => with_reason(*reason, put),
        Refusal::InDoubt(desk) => put(&[("desk", Value::Text(desk.code()))]),
        Refusal::UnknownTransaction
        | Refusal::AlreadyCommitted
        | Refusal::Busy
        | Refusal::NotInDoubt
        | Refusal::MayBeCommitted
        | Refusal::NoSuchItinerary
        | Refusal::ItineraryOver
        | Refusal::NotHeld
        | Refusal::NotHere
        | Refusal::UnsoundSettings => put(&[]),
    }
}

/// Why a transaction was aborted, and by whom or where, if that is known.
pub(super) fn with_reason<T>(reason: AbortReason, put: impl FnOnce(&[Field<'_>]) -> T) -> T {
    let cause = ("cause", Value::Text(reason.code()));
    match reason {
        AbortReason::Deadlock { holder } | AbortReason::LockTimeout { holder } => {
            put(&[cause, ("holder", Value::Number(holder.0))])
        }
        AbortReason::DeskAway(desk) | AbortReason::DeskLost(desk) => {
            put(&[cause, ("desk", Value::Text(desk.code()))])
        }
        AbortReason::Asked
        | AbortReason::Refused
        | AbortReason::Expired
        | AbortReason::Restarted
        | AbortReason::Evicted => put(&[cause]),
    }
}
