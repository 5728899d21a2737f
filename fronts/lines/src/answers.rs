//! Answers as bytes: a line, or lines and then an empty one.

use std::fmt;

use turnstile_chassis::Refuse as _;
use turnstile_travel::{Bill, Done, Outcome, Refusal, Stock, Xid};

use crate::{
    LineVerb, Wording, itineraries,
    sentence::{put, put_exception},
};

/// Where a deployment may differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Whether a bill ends with a line that says what the customer owes.
    pub bill_total: bool,
}

/// Appends the answer to a command. One that waits is answered later, by its late outcome.
pub fn put_outcome(out: &mut Vec<u8>, options: Options, wording: Wording, outcome: &Outcome) {
    match outcome {
        Outcome::Done(done) => put_done(out, options, wording, done),
        Outcome::Refused(refusal) => put_refusal(out, wording, refusal),
        Outcome::Waiting { .. } => put_exception(out, "the command waits for a lock"),
    }
}

/// Appends the answer to what is no business of a transaction.
pub fn put_ok(out: &mut Vec<u8>) {
    put(out, "ok");
}

/// Appends the list of commands, or the arguments of one.
pub fn put_help(out: &mut Vec<u8>, verb: Option<LineVerb>) {
    if let Some(verb) = verb {
        return put(out, format_args!("{verb}: {}", verb.usage()));
    }
    for verb in LineVerb::all() {
        put(out, format_args!("{verb}: {}", verb.usage()));
    }
    out.push(b'\n');
}

fn put_done(out: &mut Vec<u8>, options: Options, Wording { verb, xid }: Wording, done: &Done) {
    match done {
        Done::Started { xid } => put(out, format_args!("Transaction {xid} started")),
        Done::Committed => put(out, format_args!("Transaction {xid} committed")),
        Done::Aborted => put(out, format_args!("Transaction {xid} aborted")),
        Done::Stock(stock) => {
            let number = stock.map_or(0, |stock| asked_of(verb, stock));
            put(out, format_args!("{}{number}", verb.done()));
        }
        Done::CustomerAdded(customer) => put(out, format_args!("{}{customer}", verb.done())),
        Done::Bill(bill) => {
            if let Some(bill) = bill {
                put_bill(out, bill, options.bill_total);
            }
            out.push(b'\n');
        }
        Done::Summary(bills) => {
            for bill in bills {
                put_bill(out, bill, true);
            }
            out.push(b'\n');
        }
        Done::Booked { .. } | Done::Confirmed | Done::Cancelled => {
            itineraries::put_done(out, verb, done);
        }
        // No line asks for the last four.
        Done::Added
        | Done::Deleted
        | Done::CustomerDeleted
        | Done::Reserved
        | Done::Configured
        | Done::Recovered
        | Done::Resolved
        | Done::Delivered => put(out, verb.done()),
    }
}

/// The number that a query of an item asks for.
const fn asked_of(verb: LineVerb, stock: Stock) -> u32 {
    match verb {
        LineVerb::QueryFlightPrice | LineVerb::QueryCarsPrice | LineVerb::QueryRoomsPrice => {
            stock.price
        }
        _ => stock.free,
    }
}

fn put_bill(out: &mut Vec<u8>, bill: &Bill, with_total: bool) {
    put(out, format_args!("Bill for customer {}", bill.customer));
    for line in &bill.lines {
        put(
            out,
            format_args!("{} {} ${}", line.count, line.item, line.price),
        );
    }
    if with_total {
        put(out, format_args!("Total ${}", bill.total()));
    }
}

fn put_refusal(out: &mut Vec<u8>, Wording { verb, xid }: Wording, refusal: &Refusal) {
    match refusal {
        _ if verb.is_about_itineraries() => itineraries::put_refusal(out, verb, refusal),
        Refusal::UnknownTransaction => put_invalid(out, xid, "is not known"),
        Refusal::AlreadyCommitted => put_invalid(out, xid, "is committed"),
        Refusal::Busy => put_invalid(out, xid, "has not answered its last command yet"),
        Refusal::InDoubt(desk) => put_invalid(
            out,
            xid,
            format_args!("is in doubt: only {desk} knows whether it is committed"),
        ),
        Refusal::Aborted(reason) => put(
            out,
            format_args!("TransactionAborted: transaction {xid}: {reason}"),
        ),
        Refusal::NotHere => put_exception(out, "this server is not the middleware"),
        _ if verb.refused().is_empty() => {
            let why = refusal.meaning().continued();
            put_exception(out, format_args!("{verb} is refused: {why}"));
        }
        _ => put(out, verb.refused()),
    }
}

fn put_invalid(out: &mut Vec<u8>, xid: Xid, why: impl fmt::Display) {
    put(
        out,
        format_args!("InvalidTransaction: transaction {xid} {why}"),
    );
}
