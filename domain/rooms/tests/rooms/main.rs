//! The machine from outside: scenarios as stories, random histories against a naive twin, bytes,
//! and what a booking allocates.

mod histories;
mod scenery;
mod twin;
