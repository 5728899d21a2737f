//! `turnstile lab sweep`: more and more users until they bring nothing, and what that says.

use std::{num::NonZeroUsize, str::FromStr};

use clap::Args;
use turnstile_load::curve;
use turnstile_result::{Curve, Sweep, Verdict};
use turnstile_stats::{
    Interval,
    ladder::{Ladder, Rung, Stop},
};

use super::{
    notebook::{Notebook, Output},
    pacing::{Extent, Pacing, Thought},
    pin, shown,
    subject::{Opened, Subject},
};
use crate::exit::Coded;

/// What a point without an interval is taken to be known within.
const UNKNOWN: f64 = 0.05;

#[derive(Args, Debug)]
pub(crate) struct Arguments {
    #[command(flatten)]
    subject: Subject,
    /// Users, from..to: twice as many each time until they surely bring less than 5 % more
    #[arg(short, long, default_value = "1..256")]
    connections: Range,
    /// How long a user thinks after an answer: 100ms, or exp:100ms for a mean
    #[arg(long)]
    think: Option<Thought>,
    /// Requests under way on each connection
    #[arg(short = 'P', long, default_value = "1")]
    pipeline: NonZeroUsize,
    /// How often each point is measured
    #[arg(long, default_value = "1")]
    repeat: NonZeroUsize,
    /// Processors of a server of the lab's own, one number after the other, such as 1,2,4
    #[arg(long, value_delimiter = ',')]
    cores: Vec<NonZeroUsize>,
    #[command(flatten)]
    extent: Extent,
    #[command(flatten)]
    output: Output,
}

/// Numbers of users.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Range {
    least: usize,
    most: usize,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let subject = &arguments.subject;
    if !arguments.cores.is_empty() && !subject.starts() {
        let wrong = "--cores are those of a server that the lab starts itself";
        return Err(Coded::usage(wrong.to_owned()).into());
    }
    let first = arguments.pacing(arguments.connections.least)?;
    let opened = subject.open(None, None)?;
    let asked = subject.asked("sweep", opened.target(), &first);
    let mut notebook = Notebook::new(&arguments.output, asked, opened.watched())?;
    let mut curves = Vec::new();
    if arguments.cores.is_empty() {
        curves.push(arguments.climb(&opened, None, &mut notebook)?);
        opened.stop()?;
    } else {
        opened.stop()?;
        for &cores in &arguments.cores {
            let Some(of_server) = server_cores(cores.get()) else {
                let all = pin::available().len();
                notebook.note(&format!(
                    "{cores} processors are skipped: this machine has {all}"
                ));
                continue;
            };
            let opened = subject.open(None, Some(&of_server))?;
            curves.push(arguments.climb(&opened, Some(cores.get()), &mut notebook)?);
            opened.stop()?;
        }
    }
    let scaling = curve::scaling(&curves, arguments.extent.seed);
    let found = curves.iter().all(|curve| curve.capacity.is_some()) && !curves.is_empty();
    notebook.run().sweep = Some(Sweep {
        axis: "users".to_owned(),
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
    fn pacing(&self, users: usize) -> anyhow::Result<Pacing> {
        let users = NonZeroUsize::new(users).ok_or_else(|| Coded::usage("no users".to_owned()))?;
        Ok(Pacing::of_users(
            users,
            self.think,
            self.pipeline,
            self.extent.clone(),
        ))
    }

    /// Measures a curve.
    fn climb(
        &self,
        opened: &Opened<'_>,
        cores: Option<usize>,
        notebook: &mut Notebook,
    ) -> anyhow::Result<Curve> {
        let Range { least, most } = self.connections;
        let mut ladder = Ladder::new(least, most);
        let mut places = Vec::new();
        let stopped = loop {
            let users = match ladder.next() {
                Rung::Try(users) => users,
                Rung::Stop(stop) => break stop,
            };
            let mut repeats = Vec::new();
            for repeat in 0..self.repeat.get() {
                let place = opened.measure(&self.pacing(users)?, notebook)?;
                let point = &mut notebook.run().points[place];
                point.repeat = u32::try_from(repeat).expect("repeats are few");
                point.cores = cores.map(|cores| u32::try_from(cores).expect("cores are few"));
                repeats.push((place, point.throughput, point.throughput_interval));
                let told = shown::one_line(&notebook.run().points[place]);
                notebook.note(&told);
            }
            places.extend(repeats.iter().map(|(place, ..)| *place));
            ladder.note(users, together(&repeats));
        };
        let why = match stopped {
            Stop::Full => "twice the users surely brought less than 5 % more",
            Stop::Most => "more users were not allowed",
        };
        let points = &notebook.run().points;
        // What a server uses allows as much as its processors can do, not those of the machine.
        let cores = cores.or_else(|| self.subject.pinned());
        Ok(curve::of(points, &places, cores, why, self.extent.seed))
    }
}

/// The first processors that we may use; nothing when there are not so many.
fn server_cores(cores: usize) -> Option<Vec<usize>> {
    let mut all = pin::available();
    (cores <= all.len()).then(|| {
        all.truncate(cores);
        all
    })
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
            .ok_or_else(|| format!("`{text}` is no range of users: write 1..80"))
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
