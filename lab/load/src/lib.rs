//! The load generator and its proofs.
//!
//! [`pace`] is the one loop: it drives any [`pace::User`] over non-blocking sockets. [`rooms`],
//! [`exchange`], [`travel`], [`games`], [`seats`], [`rush`] and [`raw`] are what users do; all but the last end
//! with a proof against the server.

#![forbid(unsafe_code)]

pub mod alarm;
pub mod bottleneck;
pub mod check;
pub mod contrast;
pub mod curve;
pub mod exchange;
pub mod foreign;
pub mod games;
mod line;
mod mix;
pub mod pace;
mod point;
pub mod priority;
pub mod processors;
pub mod record;
pub mod replay;
pub mod resources;
pub mod rooms;
pub mod rush;
pub mod seats;
pub mod slo;
pub mod travel;
pub mod validity;
pub mod workload;

mod again;
mod crew;
mod door;
mod error;
mod load_report;
mod reply;
mod seed;
mod services;
mod thin;

pub use error::Error;
pub use load_report::LoadReport;
pub use services::SERVICES;
pub use turnstile_result::{Machine, Verdict};

/// Draws of a seed, for whatever the lab leaves to chance outside of a load.
pub fn dice(seed: u64) -> impl FnMut() -> u64 {
    let mut dice = seed::Dice::of_user(seed, 0);
    move || dice.next()
}
