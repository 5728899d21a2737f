//! The exchange in RESP: arguments to commands and queries, outcomes and answers to replies.

#[cfg(test)]
mod tests;

use turnstile_chassis::Show as _;
use turnstile_exchange::{Answer, Command, Query, Symbol, Totals};

use crate::{Arguments, Call, Encoder, Invalid, fields::put_refused};

pub use crate::fields::put_outcome;

/// A pattern of every channel of the service.
pub const CHANNELS: &str = "exchange.events.*";

/// The channel on which the events of one symbol are told; each event is told on one channel only.
#[must_use]
pub fn channel(symbol: Symbol) -> String {
    let prefix = CHANNELS.trim_end_matches('*');
    format!("{prefix}{symbol}")
}

/// Appends what was answered to a query: an object, or a refusal.
pub fn put_answer(reply: &mut Encoder<'_>, answer: &Answer) {
    match answer {
        Answer::Refused(refusal) => put_refused(reply, refusal, None, false),
        answer => reply.object(answer),
    }
}

/// The figures of `INFO`, in its words.
#[must_use]
pub fn facts(totals: &Totals) -> [(&'static str, u64); 5] {
    [
        ("exchange_accounts", u64::from(totals.accounts)),
        ("exchange_symbols", u64::from(totals.symbols)),
        ("exchange_open_orders", u64::from(totals.open_orders)),
        ("exchange_orders_total", totals.orders),
        ("exchange_trades_total", totals.trades),
    ]
}

/// One request to the service.
pub type Request<'a> = crate::Request<'a, Command, Query>;

/// Reads the arguments of a request whose words the catalogue has counted.
///
/// # Errors
/// The first argument that is not what it should be.
#[inline]
pub fn parse<'a>(
    call: &'static Call,
    arguments: Arguments<'a, '_>,
) -> Result<Request<'a>, Box<Invalid>> {
    let request = call.read(arguments, ())?;
    match &request {
        Request::Query(query) => match query.flaw() {
            Some((argument, reason)) => Err(call.invalid(argument, reason)),
            None => Ok(request),
        },
        Request::Command { .. } => Ok(request),
    }
}
