//! `cargo +nightly fuzz run xml`
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| turnstile_fuzz::xml::run(bytes));
