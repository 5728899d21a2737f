//! The bodies of the fuzz targets: each takes any bytes and panics when a promise is broken.
//!
//! `cargo +nightly fuzz run duel` links a fuzzer with one. Built by `cargo` alone, each is a program that takes the
//! bytes from its input: `cargo run --package turnstile-fuzz --bin duel <FILE` shows again what a fuzzer has found.

use std::io::{self, Read as _};

pub mod duel;
pub mod http;
pub mod lines;
pub mod parcels;
pub mod record;
pub mod relay;
pub mod resp;
pub mod xml;

/// The program of a fuzz target, named by the module of its body.
#[macro_export]
macro_rules! program {
    ($target:ident) => {
        #[cfg(fuzzing)]
        libfuzzer_sys::fuzz_target!(|bytes: &[u8]| $crate::$target::run(bytes));

        #[cfg(not(fuzzing))]
        fn main() -> std::io::Result<()> {
            $crate::with_input($crate::$target::run)
        }
    };
}

/// Has a body take what the standard input holds.
///
/// # Errors
/// The input cannot be read.
pub fn with_input(body: fn(&[u8])) -> io::Result<()> {
    let mut bytes = Vec::new();
    io::stdin().read_to_end(&mut bytes)?;
    body(&bytes);
    Ok(())
}
