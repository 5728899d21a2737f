//! `cargo +nightly fuzz run duel`
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| turnstile_fuzz::duel::run(bytes));
