//! A run as files: JSON is the result, Markdown a view of it.

use std::{
    fmt::{self, Write as _},
    path::Path,
};

use anyhow::Result;
use serde::Serialize;

use super::{drive::Pass, memory::Memory, regime::Regime};
use crate::{
    machine::Machine,
    pin::{CLIENT_CORE, SERVER_CORE},
    ratio::{Bound, Ratio},
    report::{write_files, write_machine},
    section::NEIGHBOURS_PERCENT_MAX,
};

/// Messages per second in the worst regime.
const RATE: Bound = Bound::AtLeast(6e6);
const P999_US: Bound = Bound::AtMost(5.0);
const BYTES_PER_ORDER: Bound = Bound::AtMost(64.0);

#[derive(Debug, Serialize)]
pub(crate) struct Report {
    /// Quick runs are short, and prove only that the benchmark works.
    pub(super) quick: bool,
    pub(super) machine: Machine,
    /// For each regime.
    pub(super) messages: usize,
    pub(super) rounds: usize,
    /// What others used while it was measured, in percent of a core.
    pub(super) neighbours_percent: f64,
    pub(super) rows: Vec<Row>,
    pub(super) memory: Vec<Memory>,
}

/// One regime.
#[derive(Debug, Serialize)]
pub(super) struct Row {
    regime: String,
    /// Messages per second, of each round.
    rates: Vec<f64>,
    p50_ns: u64,
    p99_ns: u64,
    p999_ns: u64,
    max_ns: u64,
    allocations: u64,
    reports: u64,
    /// Orders and prices on the book at the end.
    resting: u32,
    levels: usize,
    /// Of all reports, in hexadecimal digits.
    checksum: String,
}

impl Row {
    pub(super) fn of(regime: Regime, messages: usize, passes: &[Pass], timed: &Pass) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
        let messages = messages as f64;
        let rates = passes
            .iter()
            .map(|pass| messages / pass.elapsed.as_secs_f64());
        let latency = timed.latency.as_ref().expect("a timed pass has latencies");
        Self {
            regime: regime.to_string(),
            rates: rates.collect(),
            p50_ns: latency.value_at_quantile(0.5),
            p99_ns: latency.value_at_quantile(0.99),
            p999_ns: latency.value_at_quantile(0.999),
            max_ns: latency.max(),
            allocations: passes.iter().map(|pass| pass.allocations).sum(),
            reports: timed.reports,
            resting: timed.resting,
            levels: timed.levels,
            checksum: format!("{:016x}", timed.checksum),
        }
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Ratio { median, min, max } = Ratio::spread(&self.rates);
        write!(
            f,
            "| {} | {:.2} ({:.2} .. {:.2}) | {} | {} | {} | {:.1} | {} | {} | {} | {} | {} |",
            self.regime,
            median / 1e6,
            min / 1e6,
            max / 1e6,
            self.p50_ns,
            self.p99_ns,
            self.p999_ns,
            micro(self.max_ns),
            self.allocations,
            self.reports,
            self.resting,
            self.levels,
            self.checksum
        )
    }
}

#[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
fn micro(ns: u64) -> f64 {
    ns as f64 / 1e3
}

impl Report {
    /// Writes `book.json` and `book.md`, in place of those of an earlier run.
    pub(super) fn write(&self, dir: &Path) -> Result<()> {
        write_files(self, dir, "book")
    }

    fn claims(&self) -> String {
        let worst = |value: fn(&Row) -> f64| self.rows.iter().map(value).fold(0.0, f64::max);
        let slowest = self.rows.iter().map(|row| Ratio::spread(&row.rates));
        let slowest = slowest.min_by(|one, other| one.median.total_cmp(&other.median));
        let most = |value: f64| Ratio::spread(&[value]);
        let allocations =
            worst(|row| f64::from(u32::try_from(row.allocations).unwrap_or(u32::MAX)));
        let dense = self
            .memory
            .first()
            .map_or(0.0, |first| first.bytes_per_order);
        let rows = [
            (
                "messages/s in the worst regime",
                RATE,
                slowest.unwrap_or_else(|| most(0.0)),
            ),
            (
                "p99.9 of a message in the worst regime, us",
                P999_US,
                most(worst(|row| micro(row.p999_ns))),
            ),
            (
                "allocations in the second half of any regime",
                Bound::AtMost(0.0),
                most(allocations),
            ),
            (
                "bytes for each of a million resting orders",
                BYTES_PER_ORDER,
                most(dense),
            ),
        ];
        let quiet = self.neighbours_percent <= NEIGHBOURS_PERCENT_MAX;
        let mut lines = String::new();
        for (target, bound, ratio) in rows {
            let verdict = bound.judge(&ratio, quiet);
            let digits = if ratio.median >= 1_000.0 { 0 } else { 2 };
            let measured = format!(
                "{:.digits$} ({:.digits$} .. {:.digits$})",
                ratio.median, ratio.min, ratio.max
            );
            writeln!(lines, "| {target} | {bound} | {measured} | {verdict} |")
                .expect("a string takes all that is written");
        }
        lines
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let length = if self.quick { "quick" } else { "full" };
        writeln!(f, "# The order book, measured ({length} run)\n")?;
        writeln!(
            f,
            "| target | bound | measured | verdict |\n|---|---|---|---|"
        )?;
        write!(f, "{}", self.claims())?;
        writeln!(f, "\n## Regimes\n")?;
        writeln!(
            f,
            "{} messages each, {} rounds: median (lowest .. highest). One thread takes the messages one \
             by one on core {SERVER_CORE}; its reports are drained and summed on core {CLIENT_CORE}, and \
             the clock runs until the last one is. Latencies are of one more pass, with the clock \
             read before and after each message; what reading it costs (some 25 ns) is in them. \
             Allocations are those of the second half of the messages. Resting orders and prices are \
             those at the end. Neighbours used {:.0} % of a core.\n",
            self.messages, self.rounds, self.neighbours_percent
        )?;
        writeln!(
            f,
            "| regime | M messages/s | p50, ns | p99, ns | p99.9, ns | max, us | allocations | reports | \
             resting | prices | checksum of the reports |"
        )?;
        writeln!(f, "|---{}|", "|---:".repeat(10))?;
        for row in &self.rows {
            writeln!(f, "{row}")?;
        }
        writeln!(
            f,
            "\n## Memory\n\n| resting orders | bytes each |\n|---|---:|"
        )?;
        for Memory {
            shape,
            orders,
            bytes_per_order,
        } in &self.memory
        {
            writeln!(f, "| {orders} in {shape} | {bytes_per_order:.1} |")?;
        }
        write_machine(f, &self.machine)
    }
}
