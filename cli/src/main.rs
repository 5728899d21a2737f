//! The `turnstile` binary: parse, build, run.

fn main() {}
