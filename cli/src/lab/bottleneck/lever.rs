//! What `--confirm` can change: one resource made more or less, and the rest left as it was.

use std::num::NonZeroUsize;

use turnstile_load::bottleneck::Stages;
use turnstile_result::{Bottleneck, Change, Verdict};
use turnstile_stats::bottleneck::{elasticity, ratio};

use super::{Arguments, shown};
use crate::lab::{notebook::Notebook, subject::OpenedSubject};

/// What a quota leaves of what the server could use.
const QUOTA: f64 = 0.8;

/// What a slower decision leaves of the speed of the thread that decides.
const DECISION: f64 = 0.8;

/// By what share of a group's time each sync is slower, but by [`SYNC_NS_MIN`] at least.
const SYNC: f64 = 0.5;

/// A disk whose syncs take so much longer is another disk, whatever it was.
const SYNC_NS_MIN: f64 = 200_000.0;

/// One resource, made more or less.
pub(super) struct Lever {
    pub(super) changed: String,
    resources: Vec<&'static str>,
    /// So many times as much.
    factor: Option<f64>,
    how: How,
}

/// What is done for it.
enum How {
    /// So many processors for the server by a quota.
    Quota(f64),
    /// A server of the lab's own on other processors, or told something else.
    Other {
        cores: Option<Vec<usize>>,
        told: Vec<(String, String)>,
        /// Whether it is the journal's groups that take longer: by how much, both servers say.
        is_of_log: bool,
    },
    /// Users and generator threads.
    Load(NonZeroUsize, NonZeroUsize),
}

/// What the pairs of a lever gave.
#[derive(Default)]
struct PairedPoints {
    places: Vec<(u32, u32)>,
    /// Throughput without and with the change, of pairs of which both points are valid.
    rates: Vec<(f64, f64)>,
}

impl How {
    fn told(flag: &str, value: String) -> Self {
        Self::Other {
            cores: None,
            told: vec![(flag.to_owned(), value)],
            is_of_log: false,
        }
    }
}

impl Arguments {
    /// All that can be changed here.
    pub(super) fn levers(
        &self,
        opened: &OpenedSubject<'_>,
        found: &Bottleneck,
        spent: Option<Stages>,
    ) -> Vec<Lever> {
        let mut levers = Vec::new();
        if self.subject.starts() {
            levers.extend(usable(found).map(quota));
            let cores = opened.cores();
            levers.extend((cores.len() > 1).then(|| fewer(&cores)));
            levers.push(Lever {
                changed: "no sync of the journal (--durability os)".to_owned(),
                resources: vec!["log", "disk"],
                factor: None,
                how: How::told("--durability", "os".to_owned()),
            });
            let group = spent.and_then(Stages::group_ns);
            levers.extend(group.map(slower_sync));
            levers.extend(slower_decision(found));
        }
        levers.extend(self.loads());
        levers
    }

    /// More threads of the generator, and more users.
    fn loads(&self) -> [Lever; 2] {
        let (users, threads) = (self.connections, self.subject.threads());
        let more = threads.saturating_add(1);
        let twice = users.saturating_mul(NonZeroUsize::MIN.saturating_add(1));
        [
            Lever {
                changed: format!("{more} generator threads instead of {threads}"),
                resources: vec!["generator thread"],
                factor: Some(float(more.get()) / float(threads.get())),
                how: How::Load(users, more),
            },
            Lever {
                changed: format!("{twice} users instead of {users}"),
                resources: vec!["users", "delayed ack"],
                factor: Some(2.0),
                how: How::Load(twice, threads),
            },
        ]
    }

    /// Measures pairs without and with the change; nothing when fewer than two of them are valid.
    pub(super) fn pull(
        &self,
        lever: &Lever,
        opened: &mut OpenedSubject<'_>,
        notebook: &mut Notebook,
    ) -> anyhow::Result<Option<Change>> {
        let other = match &lever.how {
            How::Other { cores, told, .. } => {
                Some(self.subject.open_other(cores.as_deref(), told)?)
            }
            How::Quota(_) | How::Load(..) => None,
        };
        let told = |server: Option<&OpenedSubject<'_>>| {
            server.and_then(OpenedSubject::resp).and_then(Stages::ask)
        };
        let before = (told(Some(opened)), told(other.as_ref()));
        let pairs = self.pairs_of(lever, opened, other.as_ref(), notebook);
        let after = (told(Some(opened)), told(other.as_ref()));
        if let Some(other) = other {
            other.stop()?;
        }
        let PairedPoints { places, rates } = pairs?;
        let factor = match lever.how {
            How::Other {
                is_of_log: true, ..
            } => faster(before.0, after.0, before.1, after.1).or(lever.factor),
            _ => lever.factor,
        };
        let Some(throughput) = ratio(&rates) else {
            notebook.note(&format!("{}: too few valid pairs", lever.changed));
            return Ok(None);
        };
        let change = Change {
            changed: lever.changed.clone(),
            resources: lever.resources.iter().map(ToString::to_string).collect(),
            factor,
            throughput,
            elasticity: factor.and_then(|factor| elasticity(&rates, factor)),
            pairs: places,
        };
        notebook.note(&shown::change(&change));
        Ok(Some(change))
    }

    fn pairs_of(
        &self,
        lever: &Lever,
        opened: &mut OpenedSubject<'_>,
        other: Option<&OpenedSubject<'_>>,
        notebook: &mut Notebook,
    ) -> anyhow::Result<PairedPoints> {
        let pacing = self.pacing(self.connections);
        let threads = self.subject.threads();
        let mut pairs = PairedPoints::default();
        for pair in 0..self.pairs {
            let without = opened.measure(&pacing, notebook)?;
            let with = match (&lever.how, other) {
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
            let rate = |place: usize| {
                let point = &notebook.points()[place];
                let is_sound = !matches!(point.verdict, Verdict::Invalid | Verdict::Violated);
                Some(point.throughput).filter(|rate| is_sound && *rate > 0.0)
            };
            pairs.rates.extend(rate(without).zip(rate(with)));
            pairs.places.push((narrow(without), narrow(with)));
        }
        Ok(pairs)
    }
}

fn quota(most: f64) -> Lever {
    let quota = most * QUOTA;
    Lever {
        changed: format!("the server within a quota of {quota:.2} processors"),
        resources: vec!["server cpu", "server thread"],
        factor: Some(QUOTA),
        how: How::Quota(quota),
    }
}

fn fewer(cores: &[usize]) -> Lever {
    let fewer = cores.len() - 1;
    Lever {
        changed: format!("the server on {fewer} of {} processors", cores.len()),
        resources: vec!["server cpu"],
        factor: Some(float(fewer) / float(cores.len())),
        how: How::Other {
            cores: Some(cores[..fewer].to_vec()),
            told: Vec::new(),
            is_of_log: false,
        },
    }
}

/// Of a server whose groups take so long to become durable.
fn slower_sync(group_ns: f64) -> Lever {
    let by = (group_ns * SYNC).max(SYNC_NS_MIN);
    let us = format!("{:.0}", by / 1e3);
    Lever {
        changed: format!("each sync of the journal slower by {us} us"),
        resources: vec!["log", "disk"],
        factor: Some(group_ns / (group_ns + by)),
        how: How::Other {
            cores: None,
            told: vec![("--slow-sync-us".to_owned(), us)],
            is_of_log: true,
        },
    }
}

/// Of a server with a thread that decides; nothing where none is seen to do anything.
fn slower_decision(found: &Bottleneck) -> Option<Lever> {
    let thread = suspect(found, "server thread").or_else(|| suspect(found, "server cpu"))?;
    let by = thread.busy_ns.estimate * (1.0 / DECISION - 1.0);
    let ns = format!("{by:.0}");
    (by >= 1.0).then(|| Lever {
        changed: format!("each command slower to decide by {ns} ns"),
        resources: if is_one_thread(found) {
            vec!["server thread", "server cpu"]
        } else {
            vec!["server thread"]
        },
        factor: Some(DECISION),
        how: How::told("--slow-command-ns", ns),
    })
}

/// How much faster a group of the other server was made durable than one of the first.
fn faster(
    before: Option<Stages>,
    after: Option<Stages>,
    other_before: Option<Stages>,
    other_after: Option<Stages>,
) -> Option<f64> {
    let group = |before: Option<Stages>, after: Option<Stages>| after?.since(before?).group_ns();
    let (without, with) = (group(before, after)?, group(other_before, other_after)?);
    let factor = without / with;
    // As much as before is no change that anything could be told from.
    (factor < 1.0).then_some(factor)
}

fn suspect<'a>(found: &'a Bottleneck, name: &str) -> Option<&'a turnstile_result::Suspect> {
    let mut suspects = found.suspects.iter();
    suspects.find(|suspect| suspect.resource == name)
}

/// Processors that this resource keeps busy.
fn busy(found: &Bottleneck, name: &str) -> Option<f64> {
    let suspect = suspect(found, name)?;
    Some(suspect.used.estimate * suspect.servers)
}

/// Whether one thread of the server does nearly all the work.
fn is_one_thread(found: &Bottleneck) -> bool {
    let busiest = busy(found, "server thread").unwrap_or(0.0);
    busy(found, "server cpu").is_some_and(|all| busiest > 0.6 * all)
}

/// The processors that the server can keep busy: all it may use, or what one thread can, when one does
/// nearly all the work.
fn usable(found: &Bottleneck) -> Option<f64> {
    let servers = suspect(found, "server cpu")?.servers;
    let all = busy(found, "server cpu")?;
    let busiest = busy(found, "server thread").unwrap_or(0.0);
    Some(if is_one_thread(found) {
        (1.0 + all - busiest).min(servers)
    } else {
        servers
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

    fn found(suspects: &[(&str, f64, f64)]) -> Bottleneck {
        let suspect = |&(resource, used, servers): &(&str, f64, f64)| Suspect {
            resource: resource.to_owned(),
            servers,
            busy_ns: Interval::about(4_000.0, 100.0),
            background: 0.0,
            used: Interval::about(used, 0.01),
            probability: 0.0,
        };
        Bottleneck {
            users: 8,
            named: "server thread".to_owned(),
            probability: 0.9,
            why: String::new(),
            cure: String::new(),
            suspects: suspects.iter().map(suspect).collect(),
            stages: Vec::new(),
            changes: Vec::new(),
            confirmed: None,
        }
    }

    const ONE_OF_FOUR: [(&str, f64, f64); 2] =
        [("server cpu", 0.3, 4.0), ("server thread", 1.0, 1.0)];
    const ALL_OF_FOUR: [(&str, f64, f64); 2] =
        [("server cpu", 0.9, 4.0), ("server thread", 0.9, 1.0)];

    #[test]
    fn a_server_of_one_busy_thread_can_use_one_processor() {
        let usable = |suspects: &[_]| usable(&found(suspects)).map(|most| format!("{most:.1}"));
        assert_eq!(usable(&ONE_OF_FOUR).as_deref(), Some("1.2"));
        assert_eq!(usable(&ALL_OF_FOUR).as_deref(), Some("4.0"));
        assert_eq!(usable(&[]), None);
    }

    /// What is changed, of what, by which factor, and what the other server is told.
    fn check(lever: &Lever, changed: &str, resources: &[&str], factor: f64, told: [&str; 2]) {
        assert_eq!(lever.changed, changed);
        assert_eq!(lever.resources, resources);
        let found = lever.factor.unwrap();
        assert!((found - factor).abs() < 1e-9, "{found} is not {factor}");
        let How::Other { told: words, .. } = &lever.how else {
            panic!("{changed} needs another server");
        };
        assert_eq!(words[..], [(told[0].to_owned(), told[1].to_owned())]);
    }

    #[derive(Debug, clap::Parser)]
    struct Line {
        #[command(flatten)]
        arguments: Arguments,
    }

    /// An interrupted lab left the server that it was pointed at within a quota.
    #[test]
    fn a_running_server_is_not_changed() {
        let words = [
            "lab",
            "rooms",
            "--resp",
            "127.0.0.1:1",
            "-c",
            "8",
            "-t",
            "1",
        ];
        let Line { arguments } = clap::Parser::parse_from(words);
        let opened = arguments.subject.open(None, None).unwrap();
        let levers = arguments.levers(&opened, &found(&ALL_OF_FOUR), None);
        let changed: Vec<&str> = levers.iter().map(|lever| &*lever.changed).collect();
        let of_the_load = ["2 generator threads instead of 1", "16 users instead of 8"];
        assert_eq!(changed, of_the_load);
    }

    #[test]
    fn a_sync_is_slower_by_a_half_and_by_a_fifth_of_a_millisecond_at_least() {
        check(
            &slower_sync(2_000_000.0),
            "each sync of the journal slower by 1000 us",
            &["log", "disk"],
            2.0 / 3.0,
            ["--slow-sync-us", "1000"],
        );
        check(
            &slower_sync(50_000.0),
            "each sync of the journal slower by 200 us",
            &["log", "disk"],
            0.2,
            ["--slow-sync-us", "200"],
        );
    }

    #[test]
    fn a_decision_is_slower_by_a_quarter_of_what_its_thread_does_for_a_request() {
        let slower = |suspects: &[_]| slower_decision(&found(suspects));
        let (changed, told) = (
            "each command slower to decide by 1000 ns",
            ["--slow-command-ns", "1000"],
        );
        let one = slower(&ONE_OF_FOUR).unwrap();
        check(&one, changed, &["server thread", "server cpu"], 0.8, told);
        let all = slower(&ALL_OF_FOUR).unwrap();
        check(&all, changed, &["server thread"], 0.8, told);
        assert!(slower(&[]).is_none());
    }
}
