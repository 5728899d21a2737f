//! What all runs of a calibration have in common.

use std::{net::SocketAddr, path::PathBuf, time::Duration};

use serde::Serialize;
use turnstile_load::{
    pace::{Law, Pace, Profile, Rhythm, Wait},
    processors,
};

/// Where and how long a calibration measures.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CalibrationSetting {
    /// The processors that may be used: the first is the server's, the second the generator's.
    pub cores: Vec<usize>,
    pub warm_up: Duration,
    /// The window of each run.
    pub duration: Duration,
    /// How often each server of known delays is measured, odd: what is off in most runs counts.
    pub repeats: usize,
    pub seed: u64,
    /// How the generator waits.
    pub wait: Wait,
    /// The program of the lab, which can be a server in a process of its own; without it a thread is,
    /// and the crowd is smaller where few files may be open.
    #[serde(skip)]
    pub program: Option<PathBuf>,
}

impl CalibrationSetting {
    /// On the processors that this thread may use: for the figures of a result.
    #[must_use]
    pub fn here(duration: Duration, seed: u64, wait: Wait) -> Self {
        Self {
            cores: processors::available(),
            warm_up: Duration::from_secs(1),
            duration,
            repeats: 3,
            seed,
            wait,
            program: None,
        }
    }

    /// With one processor the two share it.
    #[must_use]
    pub fn server_core(&self) -> Option<usize> {
        self.cores.first().copied()
    }

    #[must_use]
    pub fn generator_core(&self) -> Option<usize> {
        self.cores.get(1).copied().or_else(|| self.server_core())
    }

    /// A closed loop against nobody yet, on one thread.
    pub(crate) fn pace(&self) -> Pace {
        let nobody = SocketAddr::from(([127, 0, 0, 1], 0));
        Pace {
            seed: self.seed,
            wait: self.wait,
            ..Pace::closed(nobody, self.warm_up, self.duration)
        }
    }

    /// The same at so many requests a second.
    pub(crate) fn open(&self, law: Law, rate: f64) -> Pace {
        let rate = Profile::constant(rate);
        Pace {
            rhythm: Rhythm::Open { law, rate },
            ..self.pace()
        }
    }
}
