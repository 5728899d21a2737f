//! `cargo +nightly fuzz run lines`
#![cfg_attr(fuzzing, no_main)]

turnstile_fuzz::program!(lines);
