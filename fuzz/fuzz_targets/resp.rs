//! `cargo +nightly fuzz run resp`
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| turnstile_fuzz::resp::run(bytes));
