//! What the server's threads wait for, followed to its end: who stands before a lock waits for whoever
//! has it, and what limits is what that one is at.

use std::fmt;

use turnstile_result::{Point, Stands};

/// What a run did of the last at least, so that its threads were at the same.
const AS_MUCH: f64 = 0.9;

/// Threads of the server on average, with all users.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Waiting {
    /// Before a lock, beside those who stand there even with the fewest users, such as the idle of a
    /// pool.
    pub(super) lock: f64,
    pub(super) disk: f64,
    pub(super) asleep: f64,
    /// On a processor. Those who wait for one are not counted, so that this is by the processors' own
    /// account and not by looks at threads.
    pub(super) computes: f64,
}

/// What threads are at for whom others wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    Disk,
    Asleep,
    Computes,
    /// An answer of another process, for example.
    Unseen,
}

impl Waiting {
    /// Nothing when nobody looked at the server's threads. How many wait depends on the users; what those
    /// are at who have their turn does not, and is asked of all runs that did as much as the last: of
    /// one alone there may be few looks.
    pub(super) fn of(points: &[&Point]) -> Option<Self> {
        let (first, last) = (points.first()?, points.last()?);
        let (few, many) = (first.resources.stands?, last.resources.stands?);
        let did_as_much = |point: &&&Point| point.throughput >= AS_MUCH * last.throughput;
        let full: Vec<(Stands, f64)> = points
            .iter()
            .filter(did_as_much)
            .filter_map(|point| Some((point.resources.stands?, computes(point))))
            .collect();
        let looks: f64 = full.iter().map(|(at, _)| f64::from(at.looks)).sum();
        let mean = |of: fn(&(Stands, f64)) -> f64| {
            let all = full.iter().map(|one| of(one) * f64::from(one.0.looks));
            all.sum::<f64>() / looks.max(1.0)
        };
        Some(Self {
            lock: (many.lock - few.lock).max(0.0),
            disk: mean(|(at, _)| at.disk),
            asleep: mean(|(at, _)| at.asleep),
            computes: mean(|(_, computes)| *computes),
        })
    }

    /// How many have their turn, as far as can be seen.
    pub(super) fn within(&self) -> f64 {
        self.disk + self.asleep + self.computes
    }

    /// What most of the time goes into of those who have their turn; of one at least there is always
    /// one, whether it is seen or not.
    pub(super) fn turn(&self) -> Turn {
        let unseen = 1.0 - self.within();
        let parts = [
            (Turn::Unseen, unseen),
            (Turn::Computes, self.computes),
            (Turn::Asleep, self.asleep),
            (Turn::Disk, self.disk),
        ];
        let most = parts.iter().max_by(|one, other| one.1.total_cmp(&other.1));
        most.map_or(Turn::Unseen, |(turn, _)| *turn)
    }
}

/// Processors that the server kept busy.
fn computes(point: &Point) -> f64 {
    let mut processes = point.resources.processes.iter();
    let server = processes.find(|process| process.role == "server");
    server.map_or(0.0, |server| server.user + server.system)
}

impl fmt::Display for Turn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Disk => "at the disk",
            Self::Asleep => "asleep",
            Self::Computes => "computing",
            Self::Unseen => "waiting for what cannot be seen from here",
        })
    }
}

impl fmt::Display for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:.1} of the server's threads wait for others, {:.1} are at the disk, {:.1} asleep, {:.2} \
             compute",
            self.lock, self.disk, self.asleep, self.computes
        )
    }
}
