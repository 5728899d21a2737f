//! Whether the lab can be trusted: its generator, and the machine that it runs on.
//!
//! [`calibrate`] measures what is known before, and says how far the generator is from it. [`doctor`]
//! looks at the machine.

#![forbid(unsafe_code)]

pub mod accuracy;
pub mod apart;
mod calibration;
pub mod contest;
pub mod crowd;
pub mod delay;
pub mod diary;
pub mod doctor;
mod error;
pub mod memory;
pub mod punctual;
mod run;
pub mod server;
mod setting;
mod shown;
pub mod stands;
mod verdict;
pub mod wire;

pub use calibration::{Calibration, CalibrationNews, Part, calibrate};
pub use error::CalibrationError;
pub use run::Run;
pub use setting::CalibrationSetting;
pub use verdict::{Claim, Verdict};

use turnstile_load::pace::Progress;

/// Is told how a run is going.
pub type ProgressWatch<'a> = &'a mut dyn FnMut(&Progress);
