//! RESP2 and RESP3 as a sans-I/O codec, and the commands of the services in it.
//!
//! Bytes become [`Arguments`] by a [`Decoder`], arguments become a command by the [`catalogue`],
//! [its service](Spoken), and what is answered becomes bytes by an [`Encoder`].
//! Nothing here knows a socket.

#![forbid(unsafe_code)]

mod call;
pub mod catalogue;
pub mod exchange;
mod fields;
pub mod games;
mod macros;
mod reply;
mod request;
pub mod rooms;
mod spoken;
#[cfg(test)]
mod tests;
pub mod travel;

pub use call::{Call, Invalid, Request};
pub use fields::put_outcome;
pub use reply::{Encoder, Protocol};
pub use request::{
    ARGUMENT_BYTES_MAX, ARGUMENTS_MAX, Arguments, Decoded, Decoder, FRAME_BYTES_MAX, Fault,
    INLINE_BYTES_MAX, STRANGER_ARGUMENT_BYTES_MAX, STRANGER_ARGUMENTS_MAX,
};
pub use spoken::Spoken;
