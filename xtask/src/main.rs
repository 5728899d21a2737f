//! The automation of the house: `cargo xtask ci|test|tidy`.

fn main() {}
