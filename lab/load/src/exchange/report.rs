//! What a run of the exchange workload gave: a table for people, JSON for the rest.

use std::fmt;

use serde::Serialize;
use turnstile_result::{Point, Server};
use turnstile_stats::{
    Summary,
    units::{Count, Nanos, PerSecond, to_float},
};

use super::{Config, Door, Proof, Trader};
use crate::{
    Machine, Verdict,
    pace::{Figures, Totals},
    point,
    rooms::OperationReport,
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
    /// None where only XML is spoken, which does not tell.
    pub server: Option<Server>,
    pub config: Config,
    pub figures: Figures,
    /// From the start to the last answer, in milliseconds: warm-up, and in a one-shot run
    /// connecting, included.
    pub took_ms: f64,
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

impl Report {
    pub(super) fn new(
        config: &Config,
        machine: Machine,
        server: Option<Server>,
        totals: &Totals<Trader>,
        proof: Proof,
    ) -> Self {
        let figures = totals.figures();
        let asked_always = config.pace.is_busy() && config.one_shot.is_none();
        let point = config.point(totals, &proof);
        let verdict = if !proof.holds() {
            Verdict::Violated
        } else if (figures.little.holds() || !asked_always) && proof.is_proof() {
            Verdict::Fine
        } else {
            Verdict::Invalid
        };
        let tally = &totals.tally;
        Self {
            point,
            format: FORMAT,
            workload: "exchange",
            pacing: config.pace.rhythm.name(),
            generator: env!("CARGO_PKG_VERSION"),
            machine,
            server,
            config: config.clone(),
            figures,
            took_ms: totals.took.as_secs_f64() * 1e3,
            times: totals.times().summary(),
            operations: tally.operations.iter().map(OperationReport::of).collect(),
            connections_lost: tally.connections_lost,
            connects_failed: tally.connects_failed,
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
        writeln!(f, "{}\n", self.machine)?;
        writeln!(f, "          {}", Summary::HEAD)?;
        for operation in &self.operations {
            writeln!(f, "{:<10}{}", operation.name, operation.times)?;
        }
        writeln!(f, "{:<10}{}\n", "all", self.times)?;
        let figures = &self.figures;
        if self.config.one_shot.is_some() {
            let rate = PerSecond(to_float(self.times.count) * 1e3 / self.took_ms);
            let (requests, took) = (Count(self.times.count), self.took_ms / 1e3);
            writeln!(
                f,
                "total: {requests} requests in {took:.3} s, {rate} requests/s"
            )?;
        } else {
            let rate = PerSecond(figures.throughput);
            writeln!(f, "throughput: {rate} operations/s")?;
            if self.config.pace.is_busy() {
                writeln!(f, "{}", figures.little)?;
            }
        }
        writeln!(
            f,
            "generator: {} of processor a request, {} to send it",
            Nanos(figures.cpu_per_request),
            Nanos(figures.split.sending),
        )?;
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
        write!(f, "{}", self.proof)?;
        if self.verdict == Verdict::Invalid {
            write!(
                f,
                "\nINVALID: not all was measured or proven; do not use these figures"
            )?;
        }
        Ok(())
    }
}

impl Config {
    fn point(&self, totals: &Totals<Trader>, proof: &Proof) -> Point {
        let mut point = point::point("exchange", &self.pace, totals, vec![proof.rule()]);
        if let Some(at_once) = self.one_shot {
            let at_once = u64::try_from(at_once).expect("users are at most 50,000");
            point::count(&mut point, totals.took, at_once, totals.slots);
        }
        point
    }
}

impl Report {
    /// What was driven, and how hard.
    fn write_setting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let config = &self.config;
        let door = match config.door {
            Door::Resp => "RESP",
            Door::Xml => "XML",
        };
        writeln!(
            f,
            "exchange over {door}, {} loop, {} users x {} deep, {} symbols, {} threads, {:.1} s \
             after {:.1} s, seed {}",
            self.pacing,
            config.users,
            config.pace.pipeline,
            config.symbols,
            config.pace.threads,
            self.point.window_s,
            self.point.warm_up_s,
            config.pace.seed
        )?;
        if let Some(at_once) = config.one_shot {
            writeln!(
                f,
                "one shot: each user connects and asks once, {at_once} at a time"
            )?;
        }
        if let Some(server) = &self.server {
            let (version, durability) = (&server.version, &server.durability);
            let address = config.pace.address;
            writeln!(f, "server {version} at {address}, durability {durability}")?;
        }
        Ok(())
    }
}
