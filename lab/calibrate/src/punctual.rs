//! Whether requests leave when they are due.

use serde::Serialize;
use turnstile_load::{
    pace::{Law, Pace, Wait},
    priority,
};
use turnstile_result::Distribution;
use turnstile_stats::units::{Nanos, to_float};

use crate::{
    CalibrationError, CalibrationSetting, Claim, ProgressWatch, Verdict,
    run::{self, Run},
    server::{Server, Setup},
    wire::{Asker, Wire},
};

/// The p99 of the lag may be so long on a quiet machine.
pub const LAG_NANOS_MAX: u64 = 100_000;

/// One request each millisecond.
const RATE: f64 = 1_000.0;
const CONNECTIONS: usize = 50;

/// How late a generator was with nothing else to do.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Lag {
    pub wait: Wait,
    pub lag: Distribution,
    pub run_delay: Option<f64>,
    pub verdict: Verdict,
}

/// Measures it.
///
/// # Errors
/// The server or the generator could not be started.
pub fn measure(
    setting: &CalibrationSetting,
    wait: Wait,
    watch: ProgressWatch<'_>,
) -> Result<(Lag, Run), CalibrationError> {
    let server = Server::start(Setup::at_once(Wire::Numbers, setting.server_core()))?;
    let pace = Pace {
        address: server.address.into(),
        wait,
        ..setting.open(Law::Fixed, RATE)
    };
    let name = match wait {
        Wait::Asleep => "lag",
        Wait::RealTime => "lag, real time",
        Wait::Awake => "lag, awake",
        Wait::Alert => "lag, alert",
    };
    let ran = run::measure(name, &pace, Asker::crowd(CONNECTIONS), setting, watch)?;
    server.stop()?;
    let lag = ran.point.times.lag.clone();
    let kept = lag.at(0.99).is_some_and(|p99| p99 <= LAG_NANOS_MAX);
    let lag = Lag {
        wait,
        verdict: ran.keeps(kept),
        run_delay: ran.run_delay(),
        lag,
    };
    Ok((lag, ran))
}

/// Whether real-time priority can be tried at all.
#[must_use]
pub fn can_be_real_time() -> bool {
    priority::try_out().is_ok()
}

impl Lag {
    pub(crate) fn claim(&self) -> Claim {
        let how = match self.wait {
            Wait::Asleep => "lag",
            Wait::RealTime => "lag with real-time priority",
            Wait::Awake => "lag of who never sleeps",
            Wait::Alert => "lag with real-time priority of who sleeps little",
        };
        let at = |quantile| {
            self.lag
                .at(quantile)
                .map_or_else(|| "-".to_owned(), |at| Nanos(to_float(at)).to_string())
        };
        Claim {
            name: how.to_owned(),
            target: format!("p99 <= {}", Nanos(to_float(LAG_NANOS_MAX))),
            found: format!("p50 {}, p99 {}, p99.9 {}", at(0.5), at(0.99), at(0.999)),
            verdict: self.verdict,
        }
    }
}
