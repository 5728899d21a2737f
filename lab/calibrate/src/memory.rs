//! Whether the generator's memory stays the same however much it asks.

use std::{cell::Cell, time::Duration};

use serde::Serialize;
use turnstile_load::{
    pace::{Law, MEMORY_TAKEN, Pace},
    resources::{self, Sampler},
};
use turnstile_stats::units::{Bytes, Count, PerSecond, to_float};

use crate::{
    CalibrationError, CalibrationSetting, Claim, ProgressWatch, Verdict,
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
    /// Resident memory at the first look, after a third of the run and [`MEMORY_TAKEN`] at least, and at
    /// the last.
    pub first_bytes: u64,
    pub last_bytes: u64,
    /// In an hour at the rate that was reached, if it grew on like this.
    pub hourly_bytes: f64,
    pub verdict: Verdict,
}

/// Looks at the memory of this process while it asks a lot, and looks at the machine as often as any run
/// of the lab does. A run that is over before all its memory is taken tells nothing.
///
/// # Errors
/// The server or the generator could not be started.
pub fn measure(
    setting: &CalibrationSetting,
    watch: ProgressWatch<'_>,
) -> Result<(Growth, Run), CalibrationError> {
    let server = Server::start(Setup::at_once(Wire::Numbers, setting.server_core()))?;
    let pace = Pace {
        address: server.address.into(),
        pipeline: PIPELINE,
        ..setting.open(Law::Poisson, RATE)
    };
    let whole = setting.warm_up + setting.duration;
    let from = MEMORY_TAKEN.max(whole / 3);
    let mut sampler = Sampler::new(Vec::new());
    let looks: Cell<Option<(Look, Look)>> = Cell::new(None);
    let ran = run::measure(
        "memory",
        &pace,
        Asker::crowd(CONNECTIONS),
        setting,
        &mut |progress| {
            watch(progress);
            sampler.look(progress.elapsed);
            if progress.elapsed >= from && progress.elapsed <= whole {
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
        Claim {
            name: "memory".to_owned(),
            target: format!("grows by less than 1 MiB an hour at {}/s", PerSecond(RATE)),
            found: self.found(),
            verdict: self.verdict,
        }
    }

    /// In a sentence.
    fn found(&self) -> String {
        if self.verdict == Verdict::NotMeasured {
            let taken = MEMORY_TAKEN.as_secs();
            return format!("over too soon: a run takes its memory in its first {taken} s");
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "bytes are positive and far below 2^64"
        )]
        let hourly = self.hourly_bytes as u64;
        format!(
            "{} an hour: {} more after {} requests in {:.0} s, at {}/s",
            Bytes(hourly),
            Bytes(self.last_bytes.saturating_sub(self.first_bytes)),
            Count(self.requests),
            self.seconds,
            PerSecond(self.throughput)
        )
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Growth, Look};
    use crate::Verdict;

    fn between(from: (u64, u64), to: (u64, u64)) -> Growth {
        let look = |(second, bytes)| Look {
            at: Duration::from_secs(second),
            answered: 100_000 * second,
            bytes,
        };
        Growth::between(look(from), look(to), 1e5)
    }

    #[test]
    fn what_grows_is_told_by_the_hour() {
        let grows = between((80, 50_000_000), (240, 50_393_216));
        let found =
            "8.44 MiB an hour: 384 KiB more after 16 000 000 requests in 160 s, at 100 000/s";
        assert_eq!((grows.verdict, &*grows.found()), (Verdict::Missed, found));
        let stays = between((80, 50_000_000), (240, 50_040_960));
        assert_eq!(
            (stays.verdict, stays.last_bytes - stays.first_bytes),
            (Verdict::Met, 40_960)
        );
        let shrinks = between((80, 50_000_000), (240, 40_000_000));
        assert_eq!(shrinks.verdict, Verdict::Met);
    }

    #[test]
    fn a_run_that_takes_its_memory_yet_tells_nothing() {
        let short = between((0, 0), (0, 0));
        assert_eq!(short.verdict, Verdict::NotMeasured);
        assert_eq!(
            short.claim().found,
            "over too soon: a run takes its memory in its first 17 s"
        );
    }
}
