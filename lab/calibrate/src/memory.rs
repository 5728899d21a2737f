//! Whether the generator's memory stays the same however much it asks.

use std::{cell::Cell, time::Duration};

use serde::Serialize;
use turnstile_load::{
    pace::{Law, Pace},
    resources,
};
use turnstile_stats::units::{Bytes, Count, PerSecond, to_float};

use crate::{
    Claim, Error, Setting, Verdict, Watch,
    run::{self, Run},
    server::{Server, Setup},
    wire::{Asker, Wire},
};

/// In an hour at [`RATE`] the memory may grow by so many bytes.
pub const GROWTH_MAX: f64 = 1_048_576.0;

/// Requests a second.
pub const RATE: f64 = 100_000.0;

const CONNECTIONS: usize = 64;
const PIPELINE: usize = 16;

/// How memory grew.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Growth {
    pub throughput: f64,
    /// From the first look to the last.
    pub seconds: f64,
    pub requests: u64,
    /// Resident memory at the first look, after a third of the run, and at the last.
    pub first_bytes: u64,
    pub last_bytes: u64,
    /// In an hour at the rate that was reached, if it grew on like this.
    pub hourly_bytes: f64,
    pub verdict: Verdict,
}

/// Looks at the memory of this process while it asks a lot.
///
/// # Errors
/// The server or the generator could not be started.
pub fn measure(setting: &Setting, watch: Watch<'_>) -> Result<(Growth, Run), Error> {
    let server = Server::start(Setup::at_once(Wire::Numbers, setting.server_core()))?;
    let pace = Pace {
        address: server.address,
        pipeline: PIPELINE,
        ..setting.open(Law::Poisson, RATE)
    };
    let whole = setting.warm_up + setting.duration;
    let looks: Cell<Option<(Look, Look)>> = Cell::new(None);
    let ran = run::measure(
        "memory",
        &pace,
        Asker::crowd(CONNECTIONS),
        setting,
        &mut |progress| {
            watch(progress);
            if progress.elapsed >= whole / 3 && progress.elapsed <= whole {
                let look = Look {
                    at: progress.elapsed,
                    answered: progress.answered,
                    bytes: resources::own_memory(),
                };
                looks.set(Some(
                    looks.get().map_or((look, look), |(first, _)| (first, look)),
                ));
            }
        },
    )?;
    server.stop()?;
    let (first, last) = looks.get().unwrap_or_default();
    Ok((Growth::between(first, last, ran.point.throughput), ran))
}

#[derive(Clone, Copy, Debug, Default)]
struct Look {
    at: Duration,
    answered: u64,
    bytes: u64,
}

impl Growth {
    fn between(first: Look, last: Look, throughput: f64) -> Self {
        let seconds = last.at.saturating_sub(first.at).as_secs_f64();
        let grown = to_float(last.bytes.saturating_sub(first.bytes));
        let hourly = grown * 3_600.0 / seconds.max(f64::MIN_POSITIVE);
        let verdict = if seconds > 0.0 {
            Verdict::of(hourly < GROWTH_MAX, true)
        } else {
            Verdict::NotMeasured
        };
        Self {
            throughput,
            seconds,
            requests: last.answered.saturating_sub(first.answered),
            first_bytes: first.bytes,
            last_bytes: last.bytes,
            hourly_bytes: hourly,
            verdict,
        }
    }

    pub(crate) fn claim(&self) -> Claim {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "bytes are positive and far below 2^64"
        )]
        let hourly = self.hourly_bytes as u64;
        Claim {
            name: "memory".to_owned(),
            target: format!("grows by less than 1 MiB an hour at {}/s", PerSecond(RATE)),
            found: format!(
                "{} an hour: {} more after {} requests in {:.0} s, at {}/s",
                Bytes(hourly),
                Bytes(self.last_bytes.saturating_sub(self.first_bytes)),
                Count(self.requests),
                self.seconds,
                PerSecond(self.throughput)
            ),
            verdict: self.verdict,
        }
    }
}
