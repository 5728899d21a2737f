//! Answers as bytes: a line, or lines and then an empty one.

use std::{fmt, io::Write as _};

use turnstile_travel::{AbortReason, Bill, Done, Outcome, Refusal, Stock, Xid};

use crate::{Options, Verb, Wording, itineraries};

/// Appends the answer to a command.
///
/// # Panics
/// When the command still waits: its answer comes later.
pub fn put_outcome(out: &mut Vec<u8>, options: Options, wording: Wording, outcome: &Outcome) {
    match outcome {
        Outcome::Done(done) => put_done(out, options, wording, done),
        Outcome::Refused(refusal) => put_refusal(out, wording, refusal),
        Outcome::Waiting { ticket } => unreachable!("{ticket} is not answered yet"),
    }
}

/// Appends the answer to a line that asks for nothing that there is, or nothing that is allowed.
pub fn put_exception(out: &mut Vec<u8>, why: impl fmt::Display) {
    put(out, format_args!("Command exception: {why}"));
}

/// Appends the answer to what is no business of a transaction.
pub fn put_ok(out: &mut Vec<u8>) {
    put(out, "ok");
}

/// Appends the list of commands, or the arguments of one.
pub fn put_help(out: &mut Vec<u8>, verb: Option<Verb>) {
    if let Some(verb) = verb {
        return put(out, format_args!("{verb}: {}", verb.usage()));
    }
    for verb in Verb::all() {
        put(out, format_args!("{verb}: {}", verb.usage()));
    }
    out.push(b'\n');
}

pub(crate) fn put(out: &mut Vec<u8>, line: impl fmt::Display) {
    writeln!(out, "{line}").expect("writing to memory does not fail");
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
        Done::Added | Done::Deleted | Done::CustomerDeleted | Done::Reserved => {
            put(out, verb.done());
        }
        Done::Booked { .. } | Done::Confirmed | Done::Cancelled => {
            itineraries::put_done(out, verb, done);
        }
        Done::Configured | Done::Recovered | Done::Resolved | Done::Delivered => {
            unreachable!("no line asks for {done:?}")
        }
    }
}

/// The number that a query of an item asks for.
const fn asked_of(verb: Verb, stock: Stock) -> u32 {
    match verb {
        Verb::QueryFlightPrice | Verb::QueryCarsPrice | Verb::QueryRoomsPrice => stock.price,
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
        _ if itineraries::is_about_them(verb) => itineraries::put_refusal(out, verb, refusal),
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
            format_args!(
                "TransactionAborted: transaction {xid}: {}",
                Sentence(reason)
            ),
        ),
        Refusal::NotHere => put_exception(out, "this server is not the middleware"),
        _ if verb.refused().is_empty() => {
            put_exception(out, format_args!("{verb} is refused: {}", refusal.code()));
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

/// Why a transaction was aborted, to a person.
pub(crate) struct Sentence<'a>(pub(crate) &'a AbortReason);

impl fmt::Display for Sentence<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            AbortReason::Asked => f.write_str("its client aborted it"),
            AbortReason::Refused => f.write_str("what it was to do was refused"),
            AbortReason::Expired => f.write_str("nothing was asked of it for its time to live"),
            AbortReason::Deadlock { holder } => {
                write!(f, "it was in a deadlock with transaction {holder}")
            }
            AbortReason::LockTimeout { holder } => {
                write!(f, "it waited too long for a lock of transaction {holder}")
            }
            AbortReason::DeskAway(desk) => write!(f, "{desk} did not answer in time"),
            AbortReason::DeskLost(desk) => write!(f, "{desk} has lost it"),
            AbortReason::Restarted => f.write_str("the middleware started anew"),
            AbortReason::Evicted => f.write_str("its connection was closed and room was needed"),
        }
    }
}
