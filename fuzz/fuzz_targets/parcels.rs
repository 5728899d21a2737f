//! `cargo +nightly fuzz run parcels`
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| turnstile_fuzz::parcels::run(bytes));
