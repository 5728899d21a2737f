//! `cargo +nightly fuzz run relay`
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| turnstile_fuzz::relay::run(bytes));
