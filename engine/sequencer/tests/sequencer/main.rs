//! The sequencer, with a toy machine that sells numbered seats.

mod rules;
mod seats;
