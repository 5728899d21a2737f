//! What a run of the travel workload gave: tables for people; `run.json` has the rest.

use std::fmt;

use turnstile_published::{Times, saturation};
use turnstile_result::{Point, Server};
use turnstile_stats::{
    Summary,
    units::{Count, Nanos, PerSecond, to_float},
};

use super::{
    Config, Contention, Experiment, Processes, Proof, Rate, RateRow, RequestsRow, rows::Outcomes,
    rows::Rows,
};
use crate::{Verdict, pace::Length};

/// The whole result of a run.
#[derive(Clone, Debug)]
pub struct Report {
    /// None where no RESP door is named, which tells it.
    pub server: Option<Server>,
    pub config: Config,
    /// Of the experiment on requests.
    pub requests: Vec<RequestsRow>,
    /// Of the experiment on rates.
    pub rates: Vec<RateRow>,
    pub proof: Proof,
    pub verdict: Verdict,
    /// The same rows for `run.json`.
    pub points: Vec<Point>,
}

impl Report {
    pub(super) fn new(
        config: &Config,
        server: Option<Server>,
        (rows, mut points): (Rows, Vec<Point>),
        proof: Proof,
    ) -> Self {
        let requests = rows.requests.iter().all(|row| row.sound);
        let sound = requests && rows.rates.iter().all(|row| row.sound);
        let verdict = if !proof.holds() {
            Verdict::Violated
        } else if sound && proof.is_proof() {
            Verdict::Fine
        } else {
            Verdict::Invalid
        };
        for point in &mut points {
            point.proof = vec![proof.rule()];
        }
        Self {
            points,
            server,
            config: config.clone(),
            requests: rows.requests,
            rates: rows.rates,
            proof,
            verdict,
        }
    }

    /// What the run is worth, and with which code a command that made it should end.
    #[must_use]
    pub const fn verdict(&self) -> Verdict {
        self.verdict
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_setting(f)?;
        for row in &self.requests {
            write!(f, "\n{row}")?;
        }
        if !self.rates.is_empty() {
            self.write_rates(f)?;
        }
        write!(f, "\n{}", self.proof)?;
        if self.verdict == Verdict::Invalid {
            write!(
                f,
                "\nINVALID: not all was measured or proven; do not use these figures"
            )?;
        }
        Ok(())
    }
}

impl Report {
    /// What was driven, and how hard.
    fn write_setting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let config = &self.config;
        match &config.experiment {
            Experiment::Requests { transactions, .. } => write!(
                f,
                "travel by lines, one client, {} transactions, the first fifth not measured",
                Count(*transactions)
            )?,
            Experiment::Rates {
                managers,
                contention,
                manner,
                ..
            } => {
                write!(f, "travel by lines, {managers}, ")?;
                match manner.length {
                    Length::Fixed { warm_up, duration } => {
                        write!(f, "{duration:?} after {warm_up:?} each, ")?;
                    }
                    Length::Precise { relative, .. } => {
                        write!(f, "each until known within {:.1} %, ", relative * 100.0)?;
                    }
                }
                match contention {
                    Contention::Apart => f.write_str("clients keep apart")?,
                    Contention::Zipf(theta) => write!(f, "journeys by Zipf {theta}")?,
                }
            }
        }
        writeln!(f, ", {} threads, seed {}", config.threads, config.seed)?;
        if let Some(server) = &self.server {
            let (version, durability) = (&server.version, &server.durability);
            let address = config.address;
            write!(f, "server {version} at {address}, durability {durability}")?;
            writeln!(
                f,
                "{}",
                match config.processes {
                    Some(Processes::One) => ", middleware and managers in one process",
                    Some(Processes::Separate) =>
                        ", middleware and managers in processes of their own",
                    None => "",
                }
            )?;
        }
        Ok(())
    }

    fn write_rates(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "\nclients  offered  carried  service    p99  response    p99  aborted  lag p99"
        )?;
        for row in &self.rates {
            writeln!(f, "{row}")?;
        }
        writeln!(
            f,
            "transactions a second; service from the instant at which the client was free, \
             response from the due instant (n/a in a closed loop)"
        )?;
        let mut told: Vec<usize> = Vec::new();
        for row in &self.rates {
            if told.contains(&row.clients) {
                continue;
            }
            told.push(row.clients);
            self.write_saturation(f, row.clients)?;
        }
        for row in self.rates.iter().filter(|row| row.outcomes.has_trouble()) {
            writeln!(
                f,
                "{} clients at {}: {}",
                row.clients, row.rate, row.outcomes
            )?;
        }
        Ok(())
    }

    fn write_saturation(&self, f: &mut fmt::Formatter<'_>, clients: usize) -> fmt::Result {
        let rows = || self.rates.iter().filter(move |row| row.clients == clients);
        let most = rows().map(|row| row.carried).fold(0.0, f64::max);
        write!(
            f,
            "{clients} clients carried at most {}/s, {:.1} x the ancestor's saturation",
            PerSecond(most),
            most / saturation()
        )?;
        let kept = rows().filter_map(|row| match row.rate {
            Rate::PerSecond(rate) if !row.saturated => Some(rate),
            Rate::PerSecond(_) | Rate::Most => None,
        });
        if let Some(kept) = kept.max() {
            write!(
                f,
                "; {}/s is the highest rate that was kept",
                Count(u64::from(kept))
            )?;
        }
        writeln!(f)
    }
}

impl fmt::Display for RequestsRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:<16}  mean ms  published  published / ours",
            self.managers
        )?;
        let figures = self
            .means
            .figures()
            .into_iter()
            .zip(self.published.figures());
        for (name, (ours, published)) in Times::NAMES.into_iter().zip(figures) {
            let ratio = if ours > 0.0 { published / ours } else { 0.0 };
            writeln!(
                f,
                "  {name:<14} {ours:>8.4}  {published:>9.4}  {ratio:>16.1}"
            )?;
        }
        writeln!(
            f,
            "  start + 4 query + 3 reserve + commit = {:.3} x the transaction: {}\n",
            self.composition,
            if self.sound { "holds" } else { "FAILS" }
        )?;
        writeln!(f, "                {}", Summary::HEAD)?;
        for (name, times) in &self.operations {
            writeln!(f, "{name:<16}{times}")?;
        }
        writeln!(f, "{:<16}{}", "transaction", self.transaction)?;
        if self.outcomes.has_trouble() {
            writeln!(f, "{}", self.outcomes)?;
        }
        Ok(())
    }
}

impl fmt::Display for RateRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |nanos: u64| Nanos(to_float(nanos)).to_string();
        let open = |text: String| match self.rate {
            Rate::PerSecond(_) => text,
            Rate::Most => "-".to_owned(),
        };
        write!(
            f,
            "{:>7}  {:>7}  {:>7}  {:>7} {:>6}  {:>8} {:>6}  {:>6.2}%  {:>7}{}",
            self.clients,
            self.rate,
            PerSecond(self.carried).to_string(),
            Nanos(self.service.mean).to_string(),
            shown(self.service.p99),
            open(Nanos(self.response.mean).to_string()),
            open(shown(self.response.p99)),
            self.abort_rate * 100.0,
            open(shown(self.lag.p99)),
            match (self.sound, self.saturated, self.rate) {
                (false, ..) => "  NOT SOUND",
                (true, true, Rate::PerSecond(_)) => "  saturated",
                (true, ..) => "",
            }
        )
    }
}

impl Outcomes {
    /// Whether anything but commits is to be told.
    fn has_trouble(&self) -> bool {
        !self.aborted.is_empty() || self.failed + self.unknown + self.connections_lost > 0
    }
}

impl fmt::Display for Outcomes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} committed in the whole run", Count(self.committed))?;
        for (reason, count) in &self.aborted {
            write!(f, ", {} aborted ({reason})", Count(*count))?;
        }
        for (what, count) in [
            ("failed", self.failed),
            ("requests unknown", self.unknown),
            ("connections lost", self.connections_lost),
        ] {
            if count > 0 {
                write!(f, ", {} {what}", Count(count))?;
            }
        }
        Ok(())
    }
}
