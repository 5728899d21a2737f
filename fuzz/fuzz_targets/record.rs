//! `cargo +nightly fuzz run record`
#![cfg_attr(fuzzing, no_main)]

turnstile_fuzz::program!(record);
