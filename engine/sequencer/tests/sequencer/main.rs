//! The sequencer, with a toy machine that sells numbered seats.

mod fullness;
mod rules;
mod seats;
