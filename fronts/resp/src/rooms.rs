//! The rooms service in RESP: arguments to commands and queries, outcomes and answers to replies.

#[cfg(test)]
mod tests;

use turnstile_rooms::{Answer, Command, Query};

use crate::{Arguments, Call, Invalid, macros::answers};

pub use crate::fields::put_outcome;
pub use turnstile_rooms::Door;

/// The channel on which the service publishes its events.
pub const CHANNEL: &str = "rooms.events";

answers!(Answer::Refused);

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
    call.read(arguments, door)
}
