//! `cargo +nightly fuzz run resp`
#![cfg_attr(fuzzing, no_main)]

turnstile_fuzz::program!(resp);
