//! `cargo +nightly fuzz run relay`
#![cfg_attr(fuzzing, no_main)]

turnstile_fuzz::program!(relay);
