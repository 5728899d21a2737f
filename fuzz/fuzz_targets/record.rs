//! `cargo +nightly fuzz run record`
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| turnstile_fuzz::record::run(bytes));
