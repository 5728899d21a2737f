//! Indexes of rows by name and by pairs of numbers.

pub(crate) use turnstile_chassis::{Table, hash_of, hash_of_pair};
