//! `turnstile lab sweep`: more and more users, or a higher and higher rate, until that brings nothing,
//! and what that says.

use std::{num::NonZeroUsize, str::FromStr};

use clap::Args;
use turnstile_load::{
    curve::{self, CoreQuota},
    processors,
};
use turnstile_result::{Curve, Sweep, Verdict};
use turnstile_stats::{
    Interval,
    ladder::{Ladder, NextUsers, StopReason},
    units::count,
};

use super::{
    notebook::{Notebook, OutputArguments},
    pacing::{ArrivalProcess, Extent, Pacing, Thought},
    quota, shown,
    subject::{OpenedSubject, TestedServers},
};
use crate::exit::Coded;

/// What a point without an interval is taken to be known within.
const UNKNOWN: f64 = 0.05;

#[derive(Args, Debug)]
pub(crate) struct Arguments {
    #[command(flatten)]
    subject: TestedServers,
    /// Range of users, FROM..TO: the number doubles until doubling surely adds less than 5 %
    /// throughput. With --rate: number of connections, the TO of the range
    #[arg(short, long, default_value = "1..256")]
    connections: Range,
    /// Open loop: range of requests per second, FROM..TO, doubled in the same way
    #[arg(short, long)]
    rate: Option<Range>,
    /// Arrival process for --rate: fixed, poisson, jitter:1% or burst:10
    #[arg(long, default_value = "poisson", requires = "rate")]
    arrivals: ArrivalProcess,
    /// Think time of a user after each answer: 100ms, or exp:100ms for an exponential distribution
    #[arg(long, conflicts_with = "rate")]
    think: Option<Thought>,
    /// Requests in flight on each connection
    #[arg(short = 'P', long, default_value = "1")]
    pipeline: NonZeroUsize,
    /// Runs per point
    #[arg(long, default_value = "1")]
    repeat: NonZeroUsize,
    /// Numbers of CPUs of the lab's own server, one curve for each, such as 1,2,4
    #[arg(long, value_delimiter = ',')]
    cores: Vec<NonZeroUsize>,
    /// CPU quotas of the lab's own server in CPUs, one curve for each, such as 0.25,0.5,1; needs
    /// root or a delegated control group
    #[arg(long, value_delimiter = ',', value_parser = quota::parse)]
    cpu_quota: Vec<f64>,
    #[command(flatten)]
    extent: Extent,
    #[command(flatten)]
    output: OutputArguments,
}

/// Numbers of users, or of requests a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Range {
    least: usize,
    most: usize,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let subject = &arguments.subject;
    let has_axis = !arguments.cores.is_empty() || !arguments.cpu_quota.is_empty();
    if has_axis && !subject.starts() {
        let wrong = "--cores and --cpu-quota are those of a server that the lab starts itself";
        return Err(Coded::usage(wrong.to_owned()).into());
    }
    let (rungs, step) = arguments.rungs()?;
    let first = arguments.pacing(rungs.least * step)?;
    let opened = subject.open(None, None)?;
    let asked = subject.asked("sweep", opened.target(), &first);
    let mut notebook = Notebook::new(&arguments.output, asked, opened.watched())?;
    let mut curves = Vec::new();
    if has_axis {
        opened.stop()?;
        for allowed in arguments.allowed() {
            curves.extend(arguments.climb_within(allowed, &mut notebook)?);
        }
    } else {
        curves.push(arguments.climb(&opened, CoreQuota::default(), &mut notebook)?);
        opened.stop()?;
    }
    let scaling = curve::scaling(&curves, arguments.extent.seed);
    let found = curves.iter().all(|curve| curve.capacity.is_some()) && !curves.is_empty();
    notebook.run().sweep = Some(Sweep {
        axis: if arguments.rate.is_some() {
            "rate"
        } else {
            "users"
        }
        .to_owned(),
        curves,
        scaling,
    });
    // Points that are not fine have no part in what was found.
    notebook.finish_as(if found {
        Verdict::Fine
    } else {
        Verdict::Invalid
    })
}

impl Arguments {
    /// What grows in steps of so many: of users who can only be there together, or of one.
    fn rungs(&self) -> anyhow::Result<(Range, usize)> {
        let together = self.subject.together();
        let whole = |Range { least, most }: Range| Range {
            least: least.div_ceil(together),
            most: most / together,
        };
        let users = whole(self.connections);
        if users.least > users.most {
            let Range { least, most } = self.connections;
            let wrong =
                format!("users come {together} at a time: {least}..{most} has no such number");
            return Err(Coded::usage(wrong).into());
        }
        Ok(self.rate.map_or((users, together), |rate| (rate, 1)))
    }

    fn pacing(&self, load: usize) -> anyhow::Result<Pacing> {
        let together = self.subject.together();
        // Of a rate there are as many users as are allowed, of those who come together whole groups.
        let all = self.connections.most / together * together;
        let users = self.rate.map_or(load, |_rate| all);
        let users = NonZeroUsize::new(users).ok_or_else(|| Coded::usage("no users".to_owned()))?;
        let pacing = Pacing::of_users(users, self.think, self.pipeline, self.extent.clone());
        Ok(match self.rate {
            Some(_) => pacing.at_rate(count(load), &self.arrivals),
            None => pacing,
        })
    }

    /// Every quota with every number of processors.
    fn allowed(&self) -> Vec<CoreQuota> {
        let cores = self.cores.iter().map(|cores| Some(cores.get()));
        let cores = cores.chain(self.cores.is_empty().then_some(None));
        let quotas = self.cpu_quota.iter().copied().map(Some);
        let quotas = quotas.chain(self.cpu_quota.is_empty().then_some(None));
        let quotas: Vec<Option<f64>> = quotas.collect();
        let each = cores.flat_map(|cores| quotas.iter().map(move |&quota| (cores, quota)));
        each.map(|(cores, quota)| CoreQuota { cores, quota })
            .collect()
    }

    /// Measures a curve of a server of the lab's own that may use so much; nothing when this machine
    /// has not so many processors.
    fn climb_within(
        &self,
        allowed: CoreQuota,
        notebook: &mut Notebook,
    ) -> anyhow::Result<Option<Curve>> {
        let all = processors::available().len();
        let short = |most: f64| count(all) < most;
        if let Some(cores) = allowed.cores.filter(|&cores| cores > all) {
            notebook.note(&format!(
                "{cores} processors are skipped: this machine has {all}"
            ));
            return Ok(None);
        }
        if let Some(quota) = allowed.quota.filter(|&quota| short(quota)) {
            notebook.note(&format!(
                "a quota of {quota} processors is skipped: this machine has {all}"
            ));
            return Ok(None);
        }
        let of_server = allowed.cores.map(first_cores);
        let mut opened = self.subject.open(None, of_server.as_deref())?;
        if let Some(quota) = allowed.quota {
            opened.hold(quota)?;
        }
        let curve = self.climb(&opened, allowed, notebook)?;
        opened.stop()?;
        Ok(Some(curve))
    }

    /// Measures a curve.
    fn climb(
        &self,
        opened: &OpenedSubject<'_>,
        allowed: CoreQuota,
        notebook: &mut Notebook,
    ) -> anyhow::Result<Curve> {
        let (rungs, step) = self.rungs()?;
        let mut ladder = Ladder::new(rungs.least, rungs.most);
        let mut places = Vec::new();
        let stopped = loop {
            let rung = match ladder.next() {
                NextUsers::Try(rung) => rung,
                NextUsers::Stop(stop) => break stop,
            };
            let mut repeats = Vec::new();
            for repeat in 0..self.repeat.get() {
                let place = opened.measure(&self.pacing(rung * step)?, notebook)?;
                let point = &mut notebook.run().points[place];
                point.repeat = u32::try_from(repeat).expect("repeats are few");
                (point.cores, point.quota) = (allowed.processors(), allowed.quota);
                repeats.push((place, point.throughput, point.throughput_interval));
                let told = shown::one_line(&notebook.run().points[place]);
                notebook.note(&told);
            }
            places.extend(repeats.iter().map(|(place, ..)| *place));
            ladder.note(rung, together(&repeats));
        };
        let why = match (stopped, self.rate) {
            (StopReason::Full, None) => "twice the users surely brought less than 5 % more",
            (StopReason::Full, Some(_)) => "twice the rate surely brought less than 5 % more",
            (StopReason::Most, None) => "more users were not allowed",
            (StopReason::Most, Some(_)) => "a higher rate was not allowed",
        };
        let points = &notebook.run().points;
        // What a server uses allows as much as its processors can do, not those of the machine.
        let allowed = CoreQuota {
            cores: allowed.cores.or_else(|| self.subject.pinned()),
            ..allowed
        };
        Ok(curve::of(points, &places, allowed, why, self.extent.seed))
    }
}

/// The first processors that we may use.
fn first_cores(cores: usize) -> Vec<usize> {
    let mut all = processors::available();
    all.truncate(cores);
    all
}

/// The throughput of several equal points: by their means, or of one by its own interval.
fn together(repeats: &[(usize, f64, Option<Interval>)]) -> Interval {
    let means: Vec<f64> = repeats.iter().map(|(_, mean, _)| *mean).collect();
    if let Some(interval) = Interval::of_mean(&means) {
        return interval;
    }
    let (_, mean, interval) = repeats[0];
    interval.unwrap_or_else(|| Interval::about(mean, mean * UNKNOWN))
}

impl FromStr for Range {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| text.parse().ok().filter(|&number: &usize| number > 0);
        let range = match text.split_once("..") {
            Some((least, most)) => number(least).zip(number(most)),
            None => number(text).map(|most| (1, most)),
        };
        range
            .filter(|(least, most)| least <= most)
            .map(|(least, most)| Self { least, most })
            .ok_or_else(|| format!("invalid range `{text}`: write 1..80"))
    }
}

#[cfg(test)]
mod tests {
    use super::{Range, together};
    use turnstile_stats::Interval;

    #[test]
    fn a_range_has_an_end() {
        let range = |least, most| Ok(Range { least, most });
        assert_eq!("1..80".parse(), range(1, 80));
        assert_eq!("4..4".parse(), range(4, 4));
        assert_eq!("64".parse(), range(1, 64));
        for text in ["", "0..4", "4..1", "a..b", "1..", "1-4"] {
            assert!(text.parse::<Range>().is_err(), "{text}");
        }
    }

    #[test]
    fn repeats_are_known_by_their_means() {
        let own = Interval::about(10.0, 1.0);
        assert_eq!(together(&[(0, 10.0, Some(own))]), own);
        assert_eq!(together(&[(0, 10.0, None)]), Interval::about(10.0, 0.5));
        let means = Interval::of_mean(&[10.0, 12.0]).unwrap();
        assert_eq!(together(&[(0, 10.0, Some(own)), (1, 12.0, None)]), means);
    }
}
