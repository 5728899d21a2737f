//! The sequencer, with a toy machine that sells numbered seats.

mod fullness;
mod keys;
mod rules;
mod seats;
