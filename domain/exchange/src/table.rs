//! How rows are found by names and by pairs of numbers.

pub(crate) use turnstile_chassis::{Table, hash_of, hash_of_pair};
