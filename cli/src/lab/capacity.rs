//! `turnstile lab capacity`: the highest rate that meets the objectives.

use std::num::NonZeroUsize;

use clap::Args;
use turnstile_load::slo::Slo;
use turnstile_result::{Capacity, Outcome, Point, Probe, Verdict};
use turnstile_stats::{
    Interval,
    search::{self, Search},
};

use super::{
    notebook::{Notebook, Objectives, OutputArguments},
    pacing::{ArrivalProcess, Extent, Pacing},
    shown,
    subject::{OpenedSubject, TestedServers},
};

/// The search begins with these shares of what a closed loop reaches, until one is missed: they show
/// how the tail grows on the way there.
const FIRST: [f64; 5] = [0.5, 0.7, 0.8, 0.9, 0.95];

/// Below this share of it, it does not look.
const LEAST: f64 = 0.001;

/// Above so many times of it, it does not look either: the same connections cannot carry that.
const CLOSED_RATIO_MAX: f64 = 4.0;

/// A closed loop that reaches less was disturbed itself.
const CLOSED_RATE_MIN: f64 = 2.0;

/// The checks of a point that say what the server did, and nothing of the machine: a server that misses
/// objectives answers late, by errors, or not at all.
const OF_SERVER: [&str; 3] = ["delivered", "errors", "connections"];

/// How often a rate is measured again at which the machine, and not the server, may have missed.
const AGAIN: usize = 2;

/// How near both ends of the result should be.
const TOLERANCE: f64 = 0.03;

/// From this ratio of its ends on, a rate is not known.
const VAGUE_FROM: f64 = 1.5;

const VAGUE: &str = "not known well: each end is sure, but between them chance decided, or something else \
    than the server";

#[derive(Args, Debug)]
pub(crate) struct Arguments {
    #[command(flatten)]
    subject: TestedServers,
    /// Objectives that the rate must meet, such as 'p99<20ms,errors<0.1%'
    #[arg(long, value_parser = Slo::parse_all)]
    slo: Objectives,
    /// Number of connections
    #[arg(short, long, default_value = "64")]
    connections: NonZeroUsize,
    /// Arrival process: fixed, poisson, jitter:1% or burst:10
    #[arg(long, default_value = "poisson")]
    arrivals: ArrivalProcess,
    #[command(flatten)]
    extent: Extent,
    #[command(flatten)]
    output: OutputArguments,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let subject = &arguments.subject;
    let opened = subject.open(None, None)?;
    let closed = Pacing::of_users(
        arguments.connections,
        None,
        NonZeroUsize::MIN,
        arguments.extent.clone(),
    );
    let asked = subject.asked("capacity", opened.target(), &closed);
    let mut notebook = Notebook::new(&arguments.output, asked, opened.watched())?;
    let place = opened.measure(&closed, &mut notebook)?;
    let most = notebook.run().points[place].throughput;
    notebook.note(&shown::one_line(&notebook.points()[place]));
    let first = (most * FIRST[0]).max(1.0);
    let mut search = Search::new(first, (most * LEAST).min(first).max(0.1), TOLERANCE);
    let (mut probes, mut short) = (Vec::<Probe>::new(), None);
    while let search::NextRate::Try(searched) = search.next() {
        let is_missed = probes.iter().any(|probe| probe.met == Some(false));
        let share = FIRST.get(probes.len()).filter(|_share| !is_missed);
        let rate = share.map_or(searched, |share| (most * share).max(1.0));
        short = too_high(rate, most);
        if short.is_some() {
            break;
        }
        let pacing = closed.at_rate(rate, &arguments.arrivals);
        let place = measure(arguments, &opened, &pacing, &mut notebook)?;
        let point = &notebook.points()[place];
        if let Some(why) = untestable(&arguments.slo, point) {
            short = Some(format!(
                "at {rate:.0}/s: {why}; let points take longer (-d, --max-time)"
            ));
            break;
        }
        let disturbed = is_disturbed(&arguments.slo, point);
        let met = meets(&arguments.slo, point).filter(|_sure| !disturbed);
        let said = match met {
            Some(true) => "met",
            Some(false) => "missed",
            None => "unsure",
        };
        notebook.note(&format!("{}  {said}", shown::one_line(point)));
        probes.push(Probe {
            rate,
            point: u32::try_from(place).expect("probes are few"),
            met,
        });
        search.note(rate, met);
    }
    opened.stop()?;
    let (rate, stopped, verdict) = found(&search);
    let stopped = short.as_deref().unwrap_or(stopped);
    notebook.run().capacity = Some(Capacity {
        objectives: arguments.slo.iter().map(ToString::to_string).collect(),
        rate,
        probes,
        stopped: stopped.to_owned(),
    });
    notebook.finish_as(verdict)
}

/// What a search that is over has found, in words, and what that is worth.
fn found(search: &Search) -> (Option<Interval>, &'static str, Verdict) {
    match search.next() {
        search::NextRate::Known(rate) if is_vague(&rate) => (Some(rate), VAGUE, Verdict::Unsteady),
        search::NextRate::Known(rate) => {
            (Some(rate), "known within 3 % on either side", Verdict::Fine)
        }
        search::NextRate::NoRate => (None, "even the lowest rate missed", Verdict::Missed),
        search::NextRate::GivenUp | search::NextRate::Try(_) => {
            let stopped = "not found: this is what was known by then";
            (search.bounds(), stopped, Verdict::Unsteady)
        }
    }
}

/// Why a rate is not tried, where a closed loop reaches `closed`.
fn too_high(rate: f64, closed: f64) -> Option<String> {
    let highest = CLOSED_RATIO_MAX * closed.max(CLOSED_RATE_MIN);
    (rate > highest).then(|| {
        format!(
            "no rate up to {highest:.0}/s surely missed, and a closed loop reaches {closed:.0}/s"
        )
    })
}

/// Whether nobody would call that a known rate: both ends are sure, but chance, or something else than the
/// server, decided between them.
fn is_vague(rate: &Interval) -> bool {
    rate.high > VAGUE_FROM * rate.low
}

/// Measures a point, again where something else than the server may have missed the objectives.
fn measure(
    arguments: &Arguments,
    opened: &OpenedSubject<'_>,
    pacing: &Pacing,
    notebook: &mut Notebook,
) -> anyhow::Result<usize> {
    let mut place = opened.measure(pacing, notebook)?;
    for _again in 0..AGAIN {
        if !is_disturbed(&arguments.slo, &notebook.points()[place]) {
            break;
        }
        let told = shown::one_line(&notebook.points()[place]);
        notebook.note(&format!("{told}  again"));
        place = opened.measure(pacing, notebook)?;
    }
    Ok(place)
}

/// Why an objective cannot be held against a point; a server that has fallen behind has missed it.
fn untestable(slo: &[Slo], point: &Point) -> Option<String> {
    slo.iter().find_map(|slo| {
        let judged = slo.judge(0, point);
        let open = slo.surely(point).is_none() && judged.outcome == Outcome::NotTestable;
        open.then_some(judged.found)
    })
}

/// Whether objectives were missed at a point that is invalid for another reason than what the server did:
/// it may not be the server that missed them. What was met in spite of such a thing was met.
fn is_disturbed(slo: &[Slo], point: &Point) -> bool {
    let mut checks = point.validity.iter();
    meets(slo, point) == Some(false)
        && checks.any(|check| {
            check.outcome == Outcome::Fails && !OF_SERVER.contains(&check.check.as_str())
        })
}

/// Whether all objectives are surely met, or one is surely missed.
fn meets(slo: &[Slo], point: &Point) -> Option<bool> {
    let each: Vec<Option<bool>> = slo.iter().map(|slo| slo.surely(point)).collect();
    if each.contains(&Some(false)) {
        return Some(false);
    }
    each.iter().all(|met| *met == Some(true)).then_some(true)
}

#[cfg(test)]
mod tests {
    use turnstile_result::{Operation, Validity};

    use super::*;

    /// 1,000 requests of which so many were answered by an error, where this check of the point fails.
    fn point(errors: u64, failing: &str) -> Point {
        let mut point = Point::blank("rooms");
        point.operations.push(Operation {
            name: "book".to_owned(),
            done: 1_000 - errors,
            refused: [].into(),
            errors: [("BUSY".to_owned(), errors)].into(),
            unknown: 0,
            late: 0,
            response: turnstile_result::Distribution::default(),
        });
        point.validity.push(Validity {
            check: failing.to_owned(),
            outcome: Outcome::Fails,
            found: String::new(),
            cure: None,
        });
        point
    }

    /// Errors made a point invalid, so that a server that refuses by errors never missed, and the search
    /// climbed as long as it could.
    #[test]
    fn a_server_that_refuses_by_errors_misses_and_a_busy_machine_decides_nothing() {
        let slo = Slo::parse_all("errors<0.1%").unwrap();
        for (errors, failing, disturbed) in [
            (20, "errors", false),
            (20, "connections", false),
            (20, "delivered", false),
            (20, "run_delay", true),
            (20, "generator_lag", true),
            (0, "run_delay", false),
        ] {
            let point = point(errors, failing);
            assert_eq!(meets(&slo, &point), Some(errors == 0), "{failing}");
            assert_eq!(is_disturbed(&slo, &point), disturbed, "{failing}");
        }
    }

    #[test]
    fn rates_far_above_a_closed_loop_are_not_tried() {
        let is_tried = |rate, closed| too_high(rate, closed).is_none();
        let rows = [
            (1_900.0, 1_000.0),
            (4_001.0, 1_000.0),
            (1.0, 0.0),
            (16.0, 0.0),
        ];
        let tried = rows.map(|(rate, closed)| is_tried(rate, closed));
        assert_eq!(tried, [true, false, true, false]);
    }

    #[test]
    fn a_rate_whose_ends_are_far_apart_is_not_known() {
        let rate = |low, high| Interval {
            low,
            estimate: f64::midpoint(low, high),
            high,
        };
        assert!(!is_vague(&rate(8_000.0, 8_200.0)));
        assert!(!is_vague(&rate(8_000.0, 12_000.0)));
        assert!(is_vague(&rate(2_772.0, 19_897.0)));
    }
}
