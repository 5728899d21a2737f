//! A calibration as text that is also Markdown.

use std::fmt;

use turnstile_load::pace::Wait;
use turnstile_stats::units::{Bytes, Count, Nanos, to_float};

use crate::{
    Calibration, Verdict,
    accuracy::{Row, Trial, percent},
};

impl fmt::Display for Calibration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "| claim | target | found | verdict |\n|---|---|---|---|")?;
        for claim in &self.claims {
            let (name, target) = (&claim.name, &claim.target);
            writeln!(
                f,
                "| {name} | {target} | {} | {} |",
                claim.found, claim.verdict
            )?;
        }
        if !self.trials.is_empty() {
            self.write_trials(f)?;
        }
        if !self.lags.is_empty() {
            self.write_lags(f)?;
        }
        if let Some(memory) = &self.memory {
            writeln!(
                f,
                "\nMemory: {} after {:.0} s and {} requests more than the {} before.",
                Bytes(memory.last_bytes.saturating_sub(memory.first_bytes)),
                memory.seconds,
                Count(memory.requests),
                Bytes(memory.first_bytes)
            )?;
        }
        self.write_contests(f)?;
        write!(f, "\nMachine: {}", self.machine)
    }
}

impl Calibration {
    fn write_trials(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "\nResponses at servers whose delays are known, from the instant at which a request was due. \
             *Formula*: the closed form. *Truth*: of the requests that were asked, had all threads been \
             on time. *Recorded*: until the server wrote down that the answer left. *Measured*: by the \
             generator.\n"
        )?;
        writeln!(
            f,
            "| server | p | formula | truth | recorded | measured | off | verdict |\n|---|{}---|",
            "---:|".repeat(6)
        )?;
        for trial in &self.trials {
            for row in &trial.rows {
                write_row(f, trial, row)?;
            }
        }
        for trial in &self.trials {
            writeln!(
                f,
                "\n{}: {}; runs: {}; {} requests, {} dropped; at most server late by {} (p99), generator by {}, \
                 and this process could have run but did not for {}; {}.",
                trial.name,
                trial.told,
                trial.runs,
                Count(trial.requests),
                trial.dropped,
                nanos(Some(trial.server_late_ns)),
                nanos(trial.lag_ns),
                share(trial.run_delay),
                trial.late
            )?;
        }
        Ok(())
    }

    fn write_lags(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "\nHow late requests left, one due each millisecond:\n\n| priority | p50 | p90 | p99 | p99.9 | \
             most | could not run |\n|---|{}",
            "---:|".repeat(6)
        )?;
        for lag in &self.lags {
            let of = &lag.lag;
            writeln!(
                f,
                "| {} | {} | {} | {} | {} | {} | {} |",
                match lag.wait {
                    Wait::Asleep => "ordinary",
                    Wait::RealTime => "real time",
                    Wait::Awake => "awake",
                    Wait::Alert => "real time, awake",
                },
                nanos(of.at(0.5)),
                nanos(of.at(0.9)),
                nanos(of.at(0.99)),
                nanos(of.at(0.999)),
                nanos(Some(of.max_ns)),
                share(lag.run_delay)
            )?;
        }
        Ok(())
    }

    fn write_contests(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for contest in &self.contests {
            write!(
                f,
                "\nProcessor time for each request, {} / ours:",
                contest.of
            )?;
            for (theirs, ours) in &contest.pairs {
                write!(f, " {} / {}", Nanos(*theirs), Nanos(*ours))?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

fn write_row(f: &mut fmt::Formatter<'_>, trial: &Trial, row: &Row) -> fmt::Result {
    let formula = row
        .formula
        .map_or_else(|| "-".to_owned(), |time| Nanos(time).to_string());
    let verdict = match row.verdict {
        Verdict::Met => String::new(),
        other => other.to_string(),
    };
    writeln!(
        f,
        "| {} | {} | {formula} | {} | {} | {} | {:+.2} % | {verdict} |",
        trial.name,
        percent(row.quantile),
        Nanos(row.truth),
        Nanos(row.recorded),
        Nanos(row.measured),
        100.0 * row.error()
    )
}

fn nanos(time: Option<u64>) -> String {
    time.map_or_else(|| "-".to_owned(), |time| Nanos(to_float(time)).to_string())
}

fn share(share: Option<f64>) -> String {
    share.map_or_else(|| "-".to_owned(), |share| format!("{:.1} %", share * 100.0))
}
