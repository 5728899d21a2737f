//! `turnstile lab bottleneck`: finds the resource that limits a server; `--confirm` changes it.

mod lever;

use std::num::NonZeroUsize;

use clap::Args;
use turnstile_load::bottleneck::{self, Stages};
use turnstile_result::{Bottleneck, Change, Point, Verdict};

use super::{
    notebook::{Notebook, OutputArguments},
    pacing::{Extent, Pacing, Thought},
    shown,
    subject::{OpenedSubject, TestedServers},
};
use crate::exit::Coded;

/// With this share of the users it is looked how more of them help.
const SHARES: [usize; 5] = [16, 8, 4, 2, 1];

/// From this elasticity on, a resource is what limits.
const BRINGS: f64 = 0.5;

/// What was taken out of the way altogether must bring so much.
const BRINGS_AT_ONCE: f64 = 1.05;

/// How often the same must be named when the pieces of the runs are drawn anew.
const SURE: f64 = 0.5;

#[derive(Args, Debug)]
pub(crate) struct Arguments {
    #[command(flatten)]
    subject: TestedServers,
    /// Maximum number of users, from 2; choose more than the server can handle at once
    #[arg(short, long, default_value = "40")]
    connections: NonZeroUsize,
    /// Think time of a user after each answer: 100ms, or exp:100ms for an exponential distribution
    #[arg(long)]
    think: Option<Thought>,
    /// Requests in flight on each connection
    #[arg(short = 'P', long, default_value = "1")]
    pipeline: NonZeroUsize,
    /// Then change one resource at a time and measure the effect
    #[arg(long)]
    confirm: bool,
    /// Pairs of runs (without and with the change) for each resource, 2 to 100
    #[arg(long, default_value = "3", requires = "confirm", value_parser = clap::value_parser!(u16).range(2..=100))]
    pairs: u16,
    #[command(flatten)]
    extent: Extent,
    #[command(flatten)]
    output: OutputArguments,
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
    let Some((mut found, spent)) = arguments.look(&opened, &mut notebook)? else {
        opened.stop()?;
        notebook.note(
            "nothing is known of what the server and the generator used: the window was too short, or \
             this system does not tell",
        );
        return notebook.finish_as(Verdict::Invalid);
    };
    if arguments.confirm {
        for lever in arguments.levers(&opened, &found, spent) {
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

/// Invalid points, and those of which generator or machine is to blame, tell nothing of the server; what
/// is not sure, or was not confirmed, is not known.
fn verdict(found: &Bottleneck) -> Verdict {
    if !found.is_known() {
        Verdict::Invalid
    } else if found.probability < SURE || found.confirmed == Some(false) {
        Verdict::Unsteady
    } else {
        Verdict::Fine
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

    /// Runs with more and more users, and what they say together; and of the last what its server says
    /// of its journal.
    fn look(
        &self,
        opened: &OpenedSubject<'_>,
        notebook: &mut Notebook,
    ) -> anyhow::Result<Option<(Bottleneck, Option<Stages>)>> {
        let all = self.connections;
        let mut users: Vec<NonZeroUsize> = SHARES
            .iter()
            .map(|share| {
                let users = (all.get() / share).max(1);
                NonZeroUsize::new(users.next_multiple_of(self.subject.together()))
            })
            .map(|users| users.unwrap_or(NonZeroUsize::MIN))
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
            (found, spent)
        }))
    }
}

#[cfg(test)]
mod tests {
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
        let rows: [Row; 8] = [
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
            (Bottleneck::NOTHING, 0.0, &[], None, Verdict::Invalid),
        ];
        for (named, probability, changes, expected, sentence) in rows {
            let found = found(named, probability, changes);
            assert_eq!(found.confirmed, expected, "{named} {changes:?}");
            assert_eq!(verdict(&found), sentence, "{named} {changes:?}");
        }
    }
}
