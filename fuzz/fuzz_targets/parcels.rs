//! `cargo +nightly fuzz run parcels`
#![cfg_attr(fuzzing, no_main)]

turnstile_fuzz::program!(parcels);
