//! `cargo +nightly fuzz run lines`
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| turnstile_fuzz::lines::run(bytes));
