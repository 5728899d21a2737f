//! What the server itself says of its stages, and where the users stand by that.

use turnstile_client::ServerAddress;
use turnstile_result::{OfferedLoad, Point, Stage, Station};
use turnstile_stats::units::to_float;

use crate::door::{self, ServerFacts};

/// The counters of the journal, as `INFO` tells them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stages {
    groups: u64,
    commit_ns: u64,
}

impl Stages {
    /// What the server at this door says; nothing when it says nothing of it.
    #[must_use]
    pub fn ask(resp: &ServerAddress) -> Option<Self> {
        Self::of(&door::persistence(resp)?)
    }

    fn of(facts: &ServerFacts) -> Option<Self> {
        Some(Self {
            groups: facts.count("groups").ok()?,
            commit_ns: facts.count("commit_ns_total").ok()?,
        })
    }

    /// What was done since then.
    #[must_use]
    pub const fn since(self, before: Self) -> Self {
        Self {
            groups: self.groups.saturating_sub(before.groups),
            commit_ns: self.commit_ns.saturating_sub(before.commit_ns),
        }
    }

    /// How long a group was on its way to the disk, on average; nothing when there was none.
    #[must_use]
    pub fn group_ns(self) -> Option<f64> {
        (self.groups > 0).then(|| to_float(self.commit_ns) / to_float(self.groups))
    }

    /// Adds the journal to what a point may have filled: the time in which a group was on its way to
    /// the disk, of which at most one is, as much for each answer of the run as for every other.
    pub fn add_to(self, point: &mut Point) {
        let answers = to_float(point.bins.answered.iter().sum::<u64>().max(1));
        let each = to_float(self.commit_ns) / answers / 1e9;
        let width = to_float(point.bins.width_ns.max(1)) / 1e9;
        #[expect(
            clippy::cast_possible_truncation,
            reason = "a share of time needs few digits"
        )]
        let busy = |answered: &u64| (to_float(*answered) * each / width) as f32;
        point.resources.stations.push(Station {
            resource: "log".to_owned(),
            servers: 1.0,
            busy: point.throughput * each,
            bins: point.bins.answered.iter().map(busy).collect(),
        });
    }

    /// Where the users of a closed loop stand, by Little's law over the parts of the mean response: a
    /// request is at the log as long as its group.
    #[must_use]
    pub fn standing(stages: Option<Self>, point: &Point) -> Vec<Stage> {
        let OfferedLoad::Closed { users, .. } = point.load else {
            return Vec::new();
        };
        let here = |nanos: f64| point.throughput * nanos / 1e9;
        let split = &point.split;
        let generator = here(split.lag_ns + split.sending_ns + split.reading_ns + split.backlog_ns);
        let commit = stages.and_then(Self::group_ns).unwrap_or(0.0);
        let at_server = here(split.answering_ns);
        let log = here(commit).min(at_server);
        let rest = f64::from(users) - generator - at_server;
        let rows = [
            ("generator", generator),
            ("log", log),
            ("network and rest of the server", at_server - log),
            ("thinking", rest.max(0.0)),
        ];
        let rows = rows.into_iter().filter(|(_, users)| *users > 0.005);
        rows.map(|(name, users)| Stage {
            name: name.to_owned(),
            users,
        })
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use turnstile_result::{Bins, Split};

    use super::*;

    #[test]
    fn the_log_is_as_busy_as_the_server_says_and_users_stand_there() {
        let before = Stages {
            groups: 10,
            commit_ns: 5_000_000,
        };
        let after = Stages {
            groups: 110,
            commit_ns: 105_000_000,
        };
        let spent = after.since(before);
        assert_eq!(spent.group_ns(), Some(1_000_000.0));
        assert_eq!(after.since(after).group_ns(), None);
        let mut point = Point::blank("rooms");
        point.load = OfferedLoad::Closed {
            users: 10,
            pipeline: 1,
            think_ns: None,
        };
        // 1 000 answers in 200 ms: each has a tenth of a millisecond of commits.
        point.throughput = 5_000.0;
        point.bins = Bins {
            width_ns: 100_000_000,
            answered: vec![500, 500],
            ..Bins::default()
        };
        point.split = Split {
            sending_ns: 100_000.0,
            answering_ns: 1_800_000.0,
            reading_ns: 100_000.0,
            ..Split::default()
        };
        spent.add_to(&mut point);
        let [log] = &point.resources.stations[..] else {
            panic!("{point:?}");
        };
        assert!((log.busy - 0.5).abs() < 1e-9, "{log:?}");
        assert_eq!((&*log.resource, &log.bins[..]), ("log", &[0.5, 0.5][..]));
        // A group takes 1 ms, so that 5 000 a second are 5 users.
        let stages = Stages::standing(Some(spent), &point);
        let rows: Vec<String> = stages
            .iter()
            .map(|stage| format!("{} {:.1}", stage.name, stage.users))
            .collect();
        let expected = [
            "generator 1.0",
            "log 5.0",
            "network and rest of the server 4.0",
        ];
        assert_eq!(rows, expected);
    }
}
