//! `cargo +nightly fuzz run http`
#![cfg_attr(fuzzing, no_main)]

turnstile_fuzz::program!(http);
