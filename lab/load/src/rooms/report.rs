//! What a run of the rooms workload gave: a table for people, JSON for the rest.

use std::{collections::BTreeMap, fmt};

use serde::Serialize;
use turnstile_result::{Point, Server};
use turnstile_stats::{
    Summary,
    units::{Count, Nanos, PerSecond},
};

use super::{Config, Guest, Proof};
use crate::{
    Machine, Verdict,
    pace::{Figures, Operation, Totals},
    point,
};

/// The version of the JSON form: raised when a field changes its meaning or goes.
const FORMAT: u32 = 1;

/// The whole result of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The version of this JSON form.
    pub format: u32,
    pub workload: &'static str,
    /// How users ask: `closed` or `open`.
    pub pacing: &'static str,
    /// The generator's version.
    pub generator: &'static str,
    pub machine: Machine,
    pub server: Server,
    pub config: Config,
    pub figures: Figures,
    /// Response times of all operations together, in nanoseconds.
    pub times: Summary,
    pub operations: Vec<OperationReport>,
    /// Connections that ended during the run; each made the answers it owed unknown.
    pub connections_lost: u64,
    /// Attempts to connect again that failed.
    pub connects_failed: u64,
    pub proof: Proof,
    pub verdict: Verdict,
    /// The same for `run.json`.
    #[serde(skip)]
    pub point: Point,
}

/// One operation: its counts over the whole run, its response times in the measured window.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OperationReport {
    pub name: &'static str,
    pub done: u64,
    /// By reason.
    pub refused: BTreeMap<String, u64>,
    /// By code.
    pub errors: BTreeMap<String, u64>,
    /// Requests whose answer never came.
    pub unknown: u64,
    /// Response times in nanoseconds, of what was done or refused.
    pub times: Summary,
}

impl Report {
    pub(super) fn new(
        config: &Config,
        machine: Machine,
        server: Server,
        totals: &Totals<Guest>,
        proof: Proof,
    ) -> Self {
        let figures = totals.figures();
        let verdict = if !proof.holds() {
            Verdict::Violated
        } else if figures.little.holds() || !config.pace.is_busy() {
            Verdict::Fine
        } else {
            Verdict::Invalid
        };
        let point = point::point("rooms", &config.pace, totals, vec![proof.rule()]);
        Self {
            point,
            format: FORMAT,
            workload: "rooms",
            pacing: config.pace.rhythm.name(),
            generator: env!("CARGO_PKG_VERSION"),
            machine,
            server,
            config: config.clone(),
            figures,
            times: totals.times().summary(),
            operations: totals
                .tally
                .operations
                .iter()
                .map(OperationReport::of)
                .collect(),
            connections_lost: totals.tally.connections_lost,
            connects_failed: totals.tally.connects_failed,
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

impl OperationReport {
    pub(crate) fn of(operation: &Operation) -> Self {
        Self {
            name: operation.name,
            done: operation.done,
            refused: operation.refused.by_word(),
            errors: operation.errors.by_word(),
            unknown: operation.unknown,
            times: operation.times.summary(),
        }
    }
}

/// The counts of the whole run, warm-up included: a proof is about these.
impl fmt::Display for OperationReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: {} done in the whole run",
            self.name,
            Count(self.done)
        )?;
        for (reason, count) in &self.refused {
            write!(f, ", {} refused ({reason})", Count(*count))?;
        }
        for (code, count) in &self.errors {
            write!(f, ", {} errors ({code})", Count(*count))?;
        }
        if self.unknown > 0 {
            write!(f, ", {} unknown", Count(self.unknown))?;
        }
        Ok(())
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let config = &self.config;
        writeln!(
            f,
            "rooms {}, {} loop, {} users x {} deep, {} threads, {:.1} s after {:.1} s, seed {}",
            config.mix,
            self.pacing,
            config.users,
            config.pace.pipeline,
            config.pace.threads,
            self.point.window_s,
            self.point.warm_up_s,
            config.pace.seed
        )?;
        writeln!(
            f,
            "server {} at {}, durability {}",
            self.server.version, config.pace.address, self.server.durability
        )?;
        writeln!(f, "{}", self.machine)?;
        writeln!(f)?;
        writeln!(f, "          {}", Summary::HEAD)?;
        for operation in &self.operations {
            writeln!(f, "{:<10}{}", operation.name, operation.times)?;
        }
        writeln!(f, "{:<10}{}", "all", self.times)?;
        writeln!(f)?;
        writeln!(
            f,
            "throughput: {} operations/s",
            PerSecond(self.figures.throughput)
        )?;
        if self.config.pace.is_busy() {
            writeln!(f, "{}", self.figures.little)?;
        }
        self.write_generator(f)?;
        self.write_outcomes(f)?;
        write!(f, "{}", self.proof)?;
        if self.verdict == Verdict::Invalid {
            let reason = "part of the users' time was not measured; do not use these figures";
            write!(f, "\nINVALID: {reason}")?;
        }
        Ok(())
    }
}

impl Report {
    fn write_generator(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let split = &self.figures.split;
        writeln!(
            f,
            "generator: {} of processor a request, {} to send it",
            Nanos(self.figures.cpu_per_request),
            Nanos(split.sending),
        )
    }

    fn write_outcomes(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for operation in &self.operations {
            writeln!(f, "{operation}")?;
        }
        if self.connections_lost + self.connects_failed > 0 {
            writeln!(
                f,
                "connections: {} lost, {} attempts to connect again failed",
                Count(self.connections_lost),
                Count(self.connects_failed)
            )?;
        }
        Ok(())
    }
}
