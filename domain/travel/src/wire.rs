//! Stable bytes: each type says once what it is made of, and is written and read by that.
//!
//! How lists, maps, options and choices are written stands in `turnstile_chassis::Wire`.

mod items;
mod messages;
mod state;
mod words;

pub(crate) use turnstile_chassis::{Wire, fields, kinds, put_count};
