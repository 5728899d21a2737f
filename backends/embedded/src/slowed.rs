//! A back end with added delays, so that a measurement can tell what speed is worth.

use std::{
    hint,
    time::{Duration, Instant},
};

/// How much longer everything takes of one kind; nothing is done otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Slowed {
    /// Each sync of a file of the journal: as on a disk that is slower by that.
    pub sync: Duration,
    /// Each command, decided: its processor is busy for so much longer.
    pub command: Duration,
}

impl Slowed {
    /// Nothing takes longer.
    pub const NOT: Self = Self {
        sync: Duration::ZERO,
        command: Duration::ZERO,
    };

    /// Is busy for as long as a command is to take longer.
    pub(crate) fn decide(self) {
        if self.command.is_zero() {
            return;
        }
        let begun = Instant::now();
        while begun.elapsed() < self.command {
            hint::spin_loop();
        }
    }
}
