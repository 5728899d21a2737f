//! The rooms service in RESP: arguments to commands and queries, outcomes and answers to replies.

#[cfg(test)]
mod tests;

use turnstile_chassis::Show as _;
use turnstile_rooms::{Answer, Command, Query};

use crate::{Arguments, Call, Encoder, Invalid, fields::put_refused};

pub use crate::fields::put_outcome;
pub use turnstile_rooms::Door;

/// The channel on which every event of the service is told.
pub const CHANNEL: &str = "rooms.events";

/// Appends what was answered to a query: an object, or a refusal.
pub fn put_answer(reply: &mut Encoder<'_>, answer: &Answer) {
    match answer {
        Answer::Refused(refusal) => put_refused(reply, refusal, None, false),
        answer => reply.object(answer),
    }
}

/// One request to the service.
pub type Request<'a> = crate::Request<'a, Command<'a>, Query>;

/// Reads the arguments of a request whose words the catalogue has counted.
///
/// # Errors
/// The first argument that is not what it should be.
#[inline]
pub fn parse<'a>(
    call: &'static Call,
    arguments: Arguments<'a, '_>,
    door: Door<'_>,
) -> Result<Request<'a>, Box<Invalid>> {
    let request = call.read(arguments, door)?;
    match &request {
        Request::Query(query) => match query.flaw() {
            Some((argument, reason)) => Err(call.invalid(argument, reason)),
            None => Ok(request),
        },
        Request::Command { .. } => Ok(request),
    }
}
