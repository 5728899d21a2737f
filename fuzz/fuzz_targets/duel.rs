//! `cargo +nightly fuzz run duel`
#![cfg_attr(fuzzing, no_main)]

turnstile_fuzz::program!(duel);
