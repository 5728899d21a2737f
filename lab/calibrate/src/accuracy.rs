//! Whether the generator tells the truth: what it measures at servers whose delays are known.
//!
//! All responses of such a run are known before: the schedule says when each request is due, and the
//! clockwork when a request that came then is answered. Beside this *truth* stands what the server
//! wrote down, from the instant at which a request was due to that at which its answer really left. A
//! generator that differs from the truth but not from the record was on a machine that could not keep
//! the truth; one that differs from both is wrong. Where requests that took too long stood meanwhile is
//! told beside it, as both ends wrote it down; it judges nothing.

use std::sync::Arc;

use serde::Serialize;
use turnstile_load::{
    pace::{Length, Pace, Rhythm, Schedule},
    validity::RUN_DELAY_MAX,
};
use turnstile_result::Distribution;
use turnstile_stats::units::{Count, Nanos, to_float};

use crate::{
    CalibrationError, CalibrationSetting, ProgressWatch, Verdict,
    delay::{Clockwork, DelayedLoad},
    diary::RequestLog,
    run::{self, Run},
    server::{Served, Server, Setup},
    stands::{LateRequests, Whereabouts},
    wire::{Asker, Wire},
};

/// How far a percentile may lie from the truth: this share of it, or so many nanoseconds.
pub const SHARE: f64 = 0.01;
pub const NANOS: f64 = 50_000.0;

/// The percentiles that are compared.
pub const QUANTILES: [f64; 6] = [0.5, 0.9, 0.95, 0.99, 0.995, 0.999];

/// Enough for all that wait in the longest freeze.
const CONNECTIONS: usize = 700;

/// What one server has shown.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Trial {
    pub name: String,
    /// The server in words.
    pub told: String,
    pub runs: usize,
    /// Of all runs.
    pub requests: u64,
    pub rows: Vec<Row>,
    /// Requests that were due and are in no count of the generator, of all runs.
    pub dropped: u64,
    /// How late the server itself was, and how late the generator, p99.
    pub server_late_ns: u64,
    pub lag_ns: Option<u64>,
    /// The share of the time in which this process could have run but did not.
    pub run_delay: Option<f64>,
    /// The requests that took longer than is allowed, of all runs.
    pub late: LateRequests,
    pub verdict: Verdict,
}

/// One percentile of the response, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Row {
    pub quantile: f64,
    /// By the formula; none where it jumps.
    pub formula: Option<f64>,
    /// Of the requests that were asked, if everybody had been on time.
    pub truth: f64,
    /// As the server wrote it down.
    pub recorded: f64,
    pub measured: f64,
    pub verdict: Verdict,
}

/// What a generator said, to be held against what is known.
#[derive(Clone, Copy, Debug)]
pub struct Said<'a> {
    pub response: &'a Distribution,
    /// All its answers, also those outside of the window.
    pub answered: u64,
    /// The share of the time in which it could have run but did not.
    pub run_delay: Option<f64>,
}

/// What is known of a run.
#[derive(Clone, Debug)]
pub struct Known {
    /// Responses of the window in increasing order.
    truth: Vec<u64>,
    recorded: Vec<u64>,
    /// Requests that were due in the whole run.
    due: u64,
    server_late_ns: u64,
    /// Those that took longer than is allowed, where the generator wrote down what it did.
    pub late: LateRequests,
}

/// Measures one of the servers.
///
/// # Errors
/// The server or the generator could not be started.
pub fn measure(
    case: &DelayedLoad,
    setting: &CalibrationSetting,
    watch: ProgressWatch<'_>,
) -> Result<(Trial, Run), CalibrationError> {
    let (known, ran) = observe(case, setting, CONNECTIONS, watch)?;
    let said = Said {
        response: &ran.point.times.response,
        answered: ran.point.operations[0].done,
        run_delay: ran.run_delay(),
    };
    let mut trial = judge(case, &known, &said);
    trial.lag_ns = ran.point.times.lag.at(0.99);
    Ok((trial, ran))
}

/// Drives one of the servers, and tells what is known of the run.
///
/// # Errors
/// As [`measure`].
pub fn observe(
    case: &DelayedLoad,
    setting: &CalibrationSetting,
    connections: usize,
    watch: ProgressWatch<'_>,
) -> Result<(Known, Run), CalibrationError> {
    let pace = setting.open(case.arrivals.clone(), case.rate);
    let kept = dues(&pace).len();
    let server = Server::start(Setup {
        delay: case.delay,
        wire: Wire::Numbers,
        core: setting.server_core(),
        kept,
        wait: pace.wait,
    })?;
    let epoch = server.epoch;
    let diary = Arc::new(RequestLog::new(epoch, kept));
    let users = Asker::witnesses(connections, &diary);
    let pace = Pace {
        address: server.address.into(),
        ..pace
    };
    let ran = run::measure(case.name, &pace, users, setting, watch)?;
    let record = server.stop()?;
    let offset = ran.started.saturating_duration_since(epoch).as_nanos();
    let offset = u64::try_from(offset).unwrap_or(u64::MAX);
    let known = Known::new(case, &pace, offset, &record.served, Some(&diary));
    Ok((known, ran))
}

/// Those whose answers were heard `within` the window and took longer than is allowed; what is `known`
/// of each is when it was due and how long it would have taken.
fn late(
    known: &[(u64, u64)],
    offset: u64,
    served: &[Served],
    diary: &RequestLog,
    within: impl Fn(u64) -> bool,
) -> LateRequests {
    let late = served.iter().filter_map(|served| {
        let (due, truth) = *known.get(usize::try_from(served.number).ok()?)?;
        let page = diary.page(served.number)?;
        let done = page.heard.saturating_sub(offset);
        let over = done.saturating_sub(due + truth);
        let allowed = NANOS.max(SHARE * to_float(truth));
        let is_late = within(done) && to_float(over) > allowed;
        is_late.then(|| LateRequests::one(over, Whereabouts::of(due + offset, &page, served)))
    });
    late.sum()
}

/// Of each request when it was due, and how long it would have taken, had everybody been on time.
fn truths(case: &DelayedLoad, pace: &Pace, offset: u64) -> Vec<(u64, u64)> {
    let mut clockwork = Clockwork::new(case.delay);
    let each = (0..).zip(dues(pace));
    each.map(|(number, due)| (due, clockwork.answers(number, due + offset) - offset - due))
        .collect()
}

/// When all requests of a run are due.
fn dues(pace: &Pace) -> Vec<u64> {
    let Rhythm::Open { law, rate } = &pace.rhythm else {
        return Vec::new();
    };
    let (_, stop) = window(pace);
    Schedule::new(law.clone(), rate.clone(), pace.seed)
        .take_while(|&due| due < stop)
        .collect()
}

/// When the measured window begins and ends, in nanoseconds since the start.
fn window(pace: &Pace) -> (u64, u64) {
    let nanos = |time: std::time::Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    match pace.length {
        Length::Fixed { warm_up, duration } => (nanos(warm_up), nanos(warm_up + duration)),
        Length::Precise { most, .. } => (0, nanos(most)),
    }
}

impl Known {
    /// Of a run of this pace. `offset`: when the generator's clock began, in nanoseconds by the
    /// server's.
    #[must_use]
    pub fn new(
        case: &DelayedLoad,
        pace: &Pace,
        offset: u64,
        served: &[Served],
        diary: Option<&RequestLog>,
    ) -> Self {
        let known = truths(case, pace, offset);
        let (from, to) = window(pace);
        let within = |done: u64| (from..to).contains(&done);
        let mut truth: Vec<u64> = known
            .iter()
            .filter(|(due, truth)| within(due + truth))
            .map(|&(_due, truth)| truth)
            .collect();
        let mut recorded = Vec::with_capacity(served.len());
        let mut server_late = Vec::with_capacity(served.len());
        for served in served {
            let due = usize::try_from(served.number)
                .ok()
                .and_then(|at| known.get(at));
            let left = served.left.saturating_sub(offset);
            if let Some((due, _truth)) = due
                && within(left)
            {
                recorded.push(left.saturating_sub(*due));
                server_late.push(served.left - served.due);
            }
        }
        for values in [&mut truth, &mut recorded, &mut server_late] {
            values.sort_unstable();
        }
        Self {
            server_late_ns: ranked(&server_late, 0.99),
            truth,
            recorded,
            due: u64::try_from(known.len()).expect("a length has at most 64 bits"),
            late: diary.map_or_else(LateRequests::default, |diary| {
                late(&known, offset, served, diary, within)
            }),
        }
    }
}

/// The value below which the share `quantile` lies; zero when there is none.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share of a count is between 0 and the count"
)]
fn ranked(sorted: &[u64], quantile: f64) -> u64 {
    let of = u64::try_from(sorted.len()).expect("a length has at most 64 bits");
    // A hair of slack, for a share of a count is not quite whole.
    let rank = (quantile * to_float(of) - 1e-6).ceil() as usize;
    sorted.get(rank.max(1) - 1).copied().unwrap_or(0)
}

/// What a generator said of a run of which all is known.
#[must_use]
pub fn judge(case: &DelayedLoad, known: &Known, said: &Said<'_>) -> Trial {
    let starved = said.run_delay.is_some_and(|delay| delay > RUN_DELAY_MAX);
    let near = |one: f64, other: f64| (one - other).abs() <= NANOS.max(SHARE * other);
    let row = |quantile: f64| {
        let formula = case.quantile(quantile)?;
        let truth = to_float(ranked(&known.truth, quantile));
        let recorded = to_float(ranked(&known.recorded, quantile));
        let measured = to_float(said.response.at(quantile)?);
        let verdict = if measured < recorded && !near(measured, recorded) {
            // It says that answers were there before they left.
            Verdict::Missed
        } else if near(measured, truth) {
            Verdict::Met
        } else if near(measured, recorded) || starved {
            Verdict::Noisy
        } else {
            Verdict::Missed
        };
        Some(Row {
            quantile,
            formula: Some(formula),
            truth,
            recorded,
            measured,
            verdict,
        })
    };
    let rows: Vec<Row> = QUANTILES.into_iter().filter_map(row).collect();
    let dropped = known.due.saturating_sub(said.answered);
    let mut trial = Trial {
        name: case.name.to_owned(),
        told: case.told.to_owned(),
        runs: 1,
        requests: said.response.count,
        rows,
        dropped,
        server_late_ns: known.server_late_ns,
        lag_ns: None,
        run_delay: said.run_delay,
        late: known.late,
        verdict: Verdict::NotMeasured,
    };
    trial.verdict = trial.verdict();
    trial
}

impl Row {
    /// How far what was measured lies from the truth, as a share of it.
    #[must_use]
    pub fn error(&self) -> f64 {
        self.measured / self.truth - 1.0
    }

    /// The same in units of what is allowed.
    fn reach(&self) -> f64 {
        (self.measured - self.truth).abs() / NANOS.max(SHARE * self.truth)
    }
}

impl Trial {
    /// Of several runs of one server: each percentile as in the run where it lies second of three, so
    /// that a machine that stood still once does not decide. Nothing of no runs.
    #[must_use]
    pub fn middle(trials: &[Self]) -> Option<Self> {
        let (first, others) = trials.split_first()?;
        let row = |quantile: f64| {
            let rows = trials.iter().flat_map(|trial| &trial.rows);
            let mut rows: Vec<&Row> = rows
                .filter(|row| row.quantile.total_cmp(&quantile).is_eq())
                .collect();
            rows.sort_by(|one, other| one.reach().total_cmp(&other.reach()));
            rows.get(rows.len() / 2).map(|&&row| row)
        };
        let mut middle = Self {
            runs: trials.len(),
            rows: QUANTILES.into_iter().filter_map(row).collect(),
            ..first.clone()
        };
        for other in others {
            middle.requests += other.requests;
            middle.dropped += other.dropped;
            middle.late += other.late;
            middle.server_late_ns = middle.server_late_ns.max(other.server_late_ns);
            middle.lag_ns = middle.lag_ns.max(other.lag_ns);
            middle.run_delay = [middle.run_delay, other.run_delay]
                .into_iter()
                .flatten()
                .reduce(f64::max);
        }
        middle.verdict = middle.verdict();
        Some(middle)
    }

    fn verdict(&self) -> Verdict {
        if self.dropped > 0 {
            return Verdict::Missed;
        }
        let worst = self.rows.iter().map(|row| row.verdict).max();
        worst.unwrap_or(Verdict::NotMeasured)
    }

    /// The row that lies farthest from the truth.
    #[must_use]
    pub fn worst(&self) -> Option<&Row> {
        self.rows
            .iter()
            .max_by(|one, other| one.reach().total_cmp(&other.reach()))
    }

    /// In a sentence.
    #[must_use]
    pub fn found(&self) -> String {
        if self.dropped > 0 {
            return format!("{} requests were never answered", Count(self.dropped));
        }
        self.worst().map_or_else(
            || "too few requests for any percentile".to_owned(),
            |row| {
                format!(
                    "at most {} off ({:+.2} %, p{} of {})",
                    Nanos((row.measured - row.truth).abs()),
                    100.0 * row.error(),
                    percent(row.quantile),
                    Nanos(row.truth)
                )
            },
        )
    }
}

/// 0.999 as `99.9`.
pub(crate) fn percent(quantile: f64) -> String {
    format!("{}", (quantile * 1e5).round() / 1e3)
}
