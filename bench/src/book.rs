//! The order book alone: its rate, its latency and its memory, in five market regimes.

mod drive;
mod harness;
mod memory;
mod regime;
mod stream;

use anyhow::{Result, ensure};
use clap::Args;
use turnstile_stats::units::to_float;

use crate::{
    arguments::RunExtent,
    ground::tell,
    machine::Machine,
    pin::{CLIENT_CORE, SERVER_CORE},
    ratio::{Bound, Ratio},
    report::Report,
    section::{MeasuredRow, Section, SubjectMetric},
};
use drive::Pass;
use harness::Harness;
use regime::MarketRegime;
use stream::OrderFlow;

#[derive(Args, Debug)]
pub(crate) struct BookBenchmark {
    /// Messages for each regime
    #[arg(long, default_value_t = 10_000_000)]
    messages: usize,
    #[command(flatten)]
    harness: Harness,
    #[command(flatten)]
    extent: RunExtent,
}

/// Passes over each stream for its rate. One more is for the latency.
const ROUNDS: usize = 5;
/// Orders at once on the book when its memory is measured.
const MILLION: u32 = 1_000_000;

/// Figures of a regime that are judged.
const RATE: &str = "M messages/s";
const P999: &str = "p99.9, ns";
const ALLOCATIONS: &str = "allocations";

/// Measures in the public harness where that is wanted, and else with our own streams.
pub(crate) fn measure(arguments: &BookBenchmark) -> Result<Report> {
    if arguments.harness.is_wanted() {
        return harness::measure(&arguments.harness, &arguments.extent);
    }
    let quick = arguments.extent.quick;
    let messages = if quick {
        arguments.messages / 10
    } else {
        arguments.messages
    };
    let machine = Machine::with(&[]);
    let sections = vec![regimes(messages)?, memory::measure(MILLION)];
    let told = [
        "The order book, measured",
        "`turnstile-bench book` measures again.",
    ];
    Report::written(&arguments.extent, "book", told, (Some(machine), sections))
}

fn regimes(messages: usize) -> Result<Section> {
    let mut section = Section::watched("Regimes", || {
        let mut subjects = Vec::new();
        for regime in MarketRegime::ALL {
            let subject = row(regime, messages)?;
            tell(&format!("{subject:?}"))?;
            subjects.push(subject);
        }
        let setting = format!(
            "{messages} messages each, {ROUNDS} rounds. One thread takes the messages one by one on core \
             {SERVER_CORE}; its reports are drained and summed on core {CLIENT_CORE}, and the clock runs \
             until the last one is. Latencies are of one more pass, with the clock read before and after \
             each message; what reading it costs (some 25 ns) is in them. Allocations are those of the \
             second half of the messages. Resting orders and prices are those at the end"
        );
        Ok((setting, subjects))
    })?;
    let rates = section
        .subjects
        .iter()
        .map(|row| Ratio::spread(row.values(RATE)));
    let slowest = rates.min_by(|one, other| one.median.total_cmp(&other.median));
    let Ratio { median, min, max } = slowest.expect("there are regimes");
    let [median, min, max] = [median, min, max].map(|millions| millions * 1e6);
    let slowest = Ratio { median, min, max };
    section.claim_ratio(
        "messages/s in the worst regime",
        slowest,
        Bound::AtLeast(6e6),
    );
    let worst = |name: &str, unit: f64| {
        let values = section
            .subjects
            .iter()
            .map(|row| row.values(name)[0] / unit);
        Ratio::spread(&[values.fold(0.0, f64::max)])
    };
    let (latency, allocations) = (worst(P999, 1e3), worst(ALLOCATIONS, 1.0));
    let target = "p99.9 of a message in the worst regime, us";
    section.claim_ratio(target, latency, Bound::AtMost(5.0));
    let target = "allocations in the second half of any regime";
    section.claim_ratio(target, allocations, Bound::AtMost(0.0));
    Ok(section)
}

fn row(regime: MarketRegime, messages: usize) -> Result<MeasuredRow> {
    let stream = OrderFlow::of(regime, messages);
    let passes: Vec<Pass> = (0..ROUNDS)
        .map(|_| drive::pass(&stream, false))
        .collect::<Result<_>>()?;
    let timed = drive::pass(&stream, true)?;
    let same = passes
        .iter()
        .all(|pass| (pass.reports, pass.checksum) == (timed.reports, timed.checksum));
    ensure!(same, "{regime}: two passes reported differently");
    let latency = timed.latency.as_ref().expect("a timed pass has latencies");
    let millions = to_float(messages as u64) / 1e6;
    let rates = passes
        .iter()
        .map(|pass| millions / pass.elapsed.as_secs_f64());
    let one = |name, number| SubjectMetric::one(name, to_float(number));
    let figures = vec![
        SubjectMetric::new(RATE, rates.collect()),
        one("p50, ns", latency.value_at_quantile(0.5)),
        one("p99, ns", latency.value_at_quantile(0.99)),
        one(P999, latency.value_at_quantile(0.999)),
        SubjectMetric::one("max, us", to_float(latency.max()) / 1e3),
        one(
            ALLOCATIONS,
            passes.iter().map(|pass| pass.allocations).sum(),
        ),
        one("reports", timed.reports),
        one("resting", u64::from(timed.resting)),
        one("prices", timed.levels as u64),
        SubjectMetric::text(
            "checksum of the reports",
            format!("{:016x}", timed.checksum),
        ),
    ];
    Ok(MeasuredRow::new(regime.to_string(), figures))
}
