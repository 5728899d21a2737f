//! `cargo +nightly fuzz run http`
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| turnstile_fuzz::http::run(bytes));
