//! `turnstile lab bottleneck`: what holds a server back, and with `--confirm` what a change of it does.

use std::num::NonZeroUsize;

use clap::Args;
use turnstile_load::bottleneck::{self, Stages};
use turnstile_result::{Bottleneck, Change, Point, Verdict};
use turnstile_stats::bottleneck::{elasticity, ratio};

use super::{
    notebook::{Notebook, Output},
    pacing::{Extent, Pacing, Thought},
    shown,
    subject::{Opened, Subject},
};
use crate::exit::Coded;

/// With this share of the users it is looked how more of them help.
const SHARES: [usize; 5] = [16, 8, 4, 2, 1];

/// What a quota leaves of what the server could use.
const QUOTA: f64 = 0.8;

/// From this elasticity on, a resource is what limits.
const BRINGS: f64 = 0.5;

/// What was taken out of the way altogether must bring so much.
const BRINGS_AT_ONCE: f64 = 1.05;

/// How often the same must be named when the pieces of the runs are drawn anew.
const SURE: f64 = 0.5;

#[derive(Args, Debug)]
pub(crate) struct Arguments {
    #[command(flatten)]
    subject: Subject,
    /// Users who make it show: 2 or more, and more than the server can take at once
    #[arg(short, long, default_value = "40")]
    connections: NonZeroUsize,
    /// How long a user thinks after an answer: 100ms, or exp:100ms for a mean
    #[arg(long)]
    think: Option<Thought>,
    /// Requests under way on each connection
    #[arg(short = 'P', long, default_value = "1")]
    pipeline: NonZeroUsize,
    /// Then changes one resource after the other, and tells what each brings
    #[arg(long)]
    confirm: bool,
    /// Pairs of runs, without and with a change, of each
    #[arg(long, default_value = "3", requires = "confirm", value_parser = clap::value_parser!(u16).range(2..=100))]
    pairs: u16,
    #[command(flatten)]
    extent: Extent,
    #[command(flatten)]
    output: Output,
}

/// One resource, made more or less.
struct Lever {
    changed: String,
    resources: Vec<&'static str>,
    /// So many times as much.
    factor: Option<f64>,
    how: How,
}

/// What is done for it.
enum How {
    /// So many processors for the server by a quota.
    Quota(f64),
    /// A server of the lab's own on other processors, or with less durability.
    Other {
        cores: Option<Vec<usize>>,
        durability: Option<&'static str>,
    },
    /// Users and generator threads.
    Load(NonZeroUsize, NonZeroUsize),
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let subject = &arguments.subject;
    if arguments.connections.get() < 2 {
        let wrong = "-c 1 makes nothing queue: give the users who wait for each other";
        return Err(Coded::usage(wrong.to_owned()).into());
    }
    let mut opened = subject.open(None, None)?;
    let pacing = arguments.pacing(arguments.connections);
    let asked = subject.asked("bottleneck", opened.target(), &pacing);
    let mut notebook = Notebook::new(&arguments.output, asked, opened.watched())?;
    let Some(mut found) = arguments.look(&opened, &mut notebook)? else {
        opened.stop()?;
        notebook.note(
            "nothing is known of what the server and the generator used: the window was too short, or \
             this system does not tell",
        );
        return notebook.finish_as(Verdict::Invalid);
    };
    if arguments.confirm {
        for lever in arguments.levers(&opened, &found) {
            let change = arguments.pull(&lever, &mut opened, &mut notebook);
            match change {
                Ok(change) => found.changes.extend(change),
                Err(error) => notebook.note(&format!("{}: skipped: {error:#}", lever.changed)),
            }
        }
        found.confirmed = confirmed(&found);
    }
    opened.stop()?;
    let verdict = verdict(&found);
    notebook.run().bottleneck = Some(found);
    notebook.finish_as(verdict)
}

/// Points of which generator or machine is to blame tell nothing of the server; what is not sure, or was
/// not confirmed, is not known.
fn verdict(found: &Bottleneck) -> Verdict {
    match found.named.as_str() {
        "neighbours" => Verdict::Invalid,
        name if name.starts_with("generator") => Verdict::Invalid,
        _ if found.probability < SURE || found.confirmed == Some(false) => Verdict::Unsteady,
        _ => Verdict::Fine,
    }
}

/// Whether what is named is what moved the throughput, if it was changed.
fn confirmed(found: &Bottleneck) -> Option<bool> {
    let of_it = |change: &&Change| change.resources.contains(&found.named);
    let mut moved = found.changes.iter().filter(of_it).map(|change| {
        change.elasticity.map_or_else(
            || change.throughput.low >= BRINGS_AT_ONCE,
            |elasticity| elasticity.estimate >= BRINGS,
        )
    });
    let first = moved.next()?;
    Some(first || moved.any(|moves| moves))
}

impl Arguments {
    fn pacing(&self, users: NonZeroUsize) -> Pacing {
        let extent = self.extent.clone().brief();
        Pacing::of_users(users, self.think, self.pipeline, extent)
    }

    /// Runs with more and more users, and what they say together.
    fn look(
        &self,
        opened: &Opened<'_>,
        notebook: &mut Notebook,
    ) -> anyhow::Result<Option<Bottleneck>> {
        let all = self.connections;
        let mut users: Vec<NonZeroUsize> = SHARES
            .iter()
            .map(|share| NonZeroUsize::new(all.get() / share).unwrap_or(NonZeroUsize::MIN))
            .collect();
        users.dedup();
        let mut places = Vec::new();
        let mut spent = None;
        for users in users {
            let before = opened.resp().and_then(Stages::ask);
            let place = opened.measure(&self.pacing(users), notebook)?;
            let after = opened.resp().and_then(Stages::ask);
            spent = after.zip(before).map(|(after, before)| after.since(before));
            if let Some(spent) = spent {
                spent.add_to(&mut notebook.run().points[place]);
            }
            notebook.note(&shown::one_line(&notebook.points()[place]));
            places.push(place);
        }
        let points = notebook.points();
        let of: Vec<&Point> = places.iter().map(|&place| &points[place]).collect();
        let found = bottleneck::of(&of, self.extent.seed);
        Ok(found.map(|mut found| {
            let last = of[of.len() - 1];
            found.stages = Stages::standing(spent, last);
            found
        }))
    }

    /// All that can be changed here.
    fn levers(&self, opened: &Opened<'_>, found: &Bottleneck) -> Vec<Lever> {
        let (users, threads) = (self.connections, self.subject.threads());
        let mut levers = Vec::new();
        if let Some(most) = usable(found) {
            let quota = most * QUOTA;
            levers.push(Lever {
                changed: format!("the server within a quota of {quota:.2} processors"),
                resources: vec!["server cpu", "server thread"],
                factor: Some(QUOTA),
                how: How::Quota(quota),
            });
        }
        let cores = opened.cores();
        if self.subject.starts() && cores.len() > 1 {
            let fewer = cores.len() - 1;
            levers.push(Lever {
                changed: format!("the server on {fewer} of {} processors", cores.len()),
                resources: vec!["server cpu"],
                factor: Some(float(fewer) / float(cores.len())),
                how: How::Other {
                    cores: Some(cores[..fewer].to_vec()),
                    durability: None,
                },
            });
        }
        if self.subject.starts() {
            levers.push(Lever {
                changed: "no sync of the journal (--durability os)".to_owned(),
                resources: vec!["log", "disk"],
                factor: None,
                how: How::Other {
                    cores: None,
                    durability: Some("os"),
                },
            });
        }
        let more = threads.saturating_add(1);
        levers.push(Lever {
            changed: format!("{more} generator threads instead of {threads}"),
            resources: vec!["generator thread"],
            factor: Some(float(more.get()) / float(threads.get())),
            how: How::Load(users, more),
        });
        let twice = users.saturating_mul(NonZeroUsize::MIN.saturating_add(1));
        levers.push(Lever {
            changed: format!("{twice} users instead of {users}"),
            resources: vec!["users", "delayed ack"],
            factor: Some(2.0),
            how: How::Load(twice, threads),
        });
        levers
    }

    /// Measures pairs without and with the change; nothing when fewer than two came about.
    fn pull(
        &self,
        lever: &Lever,
        opened: &mut Opened<'_>,
        notebook: &mut Notebook,
    ) -> anyhow::Result<Option<Change>> {
        let other = match &lever.how {
            How::Other { cores, durability } => {
                Some(self.subject.open_other(cores.as_deref(), *durability)?)
            }
            How::Quota(_) | How::Load(..) => None,
        };
        let pacing = self.pacing(self.connections);
        let threads = self.subject.threads();
        let (mut places, mut rates) = (Vec::new(), Vec::new());
        for pair in 0..self.pairs {
            let without = opened.measure(&pacing, notebook)?;
            let with = match (&lever.how, &other) {
                (&How::Quota(quota), _) => {
                    opened.hold(quota)?;
                    let place = opened.measure(&pacing, notebook);
                    opened.release();
                    place?
                }
                (&How::Load(users, threads), _) => {
                    opened.measure_by(&self.pacing(users), threads, notebook)?
                }
                (How::Other { .. }, Some(other)) => other.measure_by(&pacing, threads, notebook)?,
                (How::Other { .. }, None) => break,
            };
            for (place, series) in [(without, "as it is"), (with, lever.changed.as_str())] {
                let point = &mut notebook.run().points[place];
                series.clone_into(&mut point.series);
                point.repeat = u32::from(pair);
            }
            let rate = |place: usize| notebook.points()[place].throughput;
            rates.push((rate(without), rate(with)));
            places.push((narrow(without), narrow(with)));
        }
        if let Some(other) = other {
            other.stop()?;
        }
        rates.retain(|(without, with)| *without > 0.0 && *with > 0.0);
        let Some(throughput) = ratio(&rates) else {
            return Ok(None);
        };
        let change = Change {
            changed: lever.changed.clone(),
            resources: lever.resources.iter().map(ToString::to_string).collect(),
            factor: lever.factor,
            throughput,
            elasticity: lever.factor.and_then(|factor| elasticity(&rates, factor)),
            pairs: places,
        };
        notebook.note(&shown::change(&change));
        Ok(Some(change))
    }
}

/// The processors that the server can keep busy: all it may use, or what one thread can, when one does
/// nearly all the work.
fn usable(found: &Bottleneck) -> Option<f64> {
    let suspect = |name: &str| {
        let mut suspects = found.suspects.iter();
        suspects.find(|suspect| suspect.resource == name)
    };
    let cpu = suspect("server cpu")?;
    let busy = |name: &str| Some(suspect(name)?.used.estimate * suspect(name)?.servers);
    let (all, busiest) = (busy("server cpu")?, busy("server thread").unwrap_or(0.0));
    let is_one = busiest > 0.6 * all;
    Some(if is_one {
        (1.0 + all - busiest).min(cpu.servers)
    } else {
        cpu.servers
    })
}

fn float(number: usize) -> f64 {
    turnstile_stats::units::count(number)
}

fn narrow(place: usize) -> u32 {
    u32::try_from(place).expect("points are few")
}

#[cfg(test)]
mod tests {
    use turnstile_result::Suspect;
    use turnstile_stats::Interval;

    use super::*;

    fn found(named: &str, probability: f64, changes: &[(&str, f64)]) -> Bottleneck {
        let change = |&(resource, elasticity): &(&str, f64)| Change {
            changed: String::new(),
            resources: vec![resource.to_owned()],
            factor: Some(2.0),
            throughput: Interval::about(1.0, 0.1),
            elasticity: Some(Interval::about(elasticity, 0.1)),
            pairs: Vec::new(),
        };
        let mut found = Bottleneck {
            users: 8,
            named: named.to_owned(),
            probability,
            why: String::new(),
            cure: String::new(),
            suspects: Vec::new(),
            stages: Vec::new(),
            changes: changes.iter().map(change).collect(),
            confirmed: None,
        };
        found.confirmed = confirmed(&found);
        found
    }

    /// What is named and how surely, what changes of what brought, and what follows.
    type Row = (
        &'static str,
        f64,
        &'static [(&'static str, f64)],
        Option<bool>,
        Verdict,
    );

    #[test]
    fn what_is_named_is_confirmed_by_what_its_change_brings() {
        let rows: [Row; 7] = [
            ("server cpu", 0.99, &[], None, Verdict::Fine),
            (
                "server cpu",
                0.99,
                &[("server cpu", 0.94)],
                Some(true),
                Verdict::Fine,
            ),
            (
                "server cpu",
                0.99,
                &[("server cpu", 0.03)],
                Some(false),
                Verdict::Unsteady,
            ),
            ("server cpu", 0.99, &[("users", 0.9)], None, Verdict::Fine),
            ("lock", 0.3, &[], None, Verdict::Unsteady),
            ("generator thread", 0.99, &[], None, Verdict::Invalid),
            ("neighbours", 0.99, &[], None, Verdict::Invalid),
        ];
        for (named, probability, changes, expected, sentence) in rows {
            let found = found(named, probability, changes);
            assert_eq!(found.confirmed, expected, "{named} {changes:?}");
            assert_eq!(verdict(&found), sentence, "{named} {changes:?}");
        }
    }

    #[test]
    fn a_server_of_one_busy_thread_can_use_one_processor() {
        let suspect = |resource: &str, used: f64, servers: f64| Suspect {
            resource: resource.to_owned(),
            servers,
            busy_ns: Interval::about(1.0, 0.1),
            background: 0.0,
            used: Interval::about(used, 0.01),
            probability: 0.0,
        };
        let mut found = found("server thread", 0.9, &[]);
        found.suspects = vec![
            suspect("server cpu", 0.3, 4.0),
            suspect("server thread", 1.0, 1.0),
        ];
        assert_eq!(
            usable(&found).map(|most| format!("{most:.1}")),
            Some("1.2".to_owned())
        );
        found.suspects = vec![
            suspect("server cpu", 0.9, 4.0),
            suspect("server thread", 0.9, 1.0),
        ];
        assert_eq!(usable(&found), Some(4.0));
        found.suspects.clear();
        assert_eq!(usable(&found), None);
    }
}
