//! The sequencer, with a toy machine that sells numbered seats.

mod entries;
mod fullness;
mod keys;
mod rules;
mod seats;
