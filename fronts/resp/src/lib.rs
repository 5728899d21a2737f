//! RESP2 and RESP3 as a sans-I/O codec, and the commands of the services in it.
//!
//! Bytes become [`Arguments`] by a [`Decoder`], arguments become a command by the [`catalogue`],
//! [`rooms`], [`exchange`], [`games`], [`travel`] and [`seats`], and what is answered becomes bytes by an [`Encoder`].
//! Nothing here knows a socket.

#![forbid(unsafe_code)]

/// Calls a macro with the list of services: the name of each, and its machine.
macro_rules! services {
    ($then:ident) => {
        $then! {
            exchange: turnstile_exchange::Exchange,
            games: turnstile_games::Games,
            travel: turnstile_travel::Travel,
            rooms: turnstile_rooms::Rooms,
            seats: turnstile_seats::Seats,
        }
    };
}

pub(crate) use services;

mod call;
pub mod catalogue;
pub mod exchange;
mod fields;
pub mod games;
mod macros;
mod reply;
mod request;
pub mod rooms;
pub mod seats;
#[cfg(test)]
mod tests;
pub mod travel;

pub use call::{Call, Invalid, Request};
pub use fields::put_outcome;
pub use reply::{Encoder, Protocol};
pub use request::{
    ARGUMENT_BYTES_MAX, ARGUMENTS_MAX, Arguments, Decoded, Decoder, FRAME_BYTES_MAX, Fault,
    INLINE_BYTES_MAX,
};
