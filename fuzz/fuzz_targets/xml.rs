//! `cargo +nightly fuzz run xml`
#![cfg_attr(fuzzing, no_main)]

turnstile_fuzz::program!(xml);
