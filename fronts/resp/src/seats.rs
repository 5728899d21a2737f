//! The seats service in RESP: arguments to commands and queries, answers to replies.

use turnstile_chassis::Show as _;
use turnstile_seats::{Answer, Command, Query};

use crate::{Arguments, Call, Encoder, Invalid, fields::put_refused};

pub use crate::fields::put_outcome;

/// The channel on which every event of the service is told.
pub const CHANNEL: &str = "seats.events";

/// Appends what was answered to a query: an object, or a refusal.
pub fn put_answer(reply: &mut Encoder<'_>, answer: &Answer) {
    match answer {
        Answer::Refused(refusal) => put_refused(reply, refusal, None, false),
        answer => reply.object(answer),
    }
}

/// One request to the service.
pub type Request<'a> = crate::Request<'a, Command, Query>;

/// Reads the arguments of a request whose words the catalogue has counted.
///
/// # Errors
/// The first argument that is not what it should be.
pub fn parse<'a>(
    call: &'static Call,
    arguments: Arguments<'a, '_>,
) -> Result<Request<'a>, Box<Invalid>> {
    call.read(arguments, ())
}
