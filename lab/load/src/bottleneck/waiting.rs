//! What the server's threads wait for, followed to its end: who stands before a lock waits for whoever
//! has it, and what limits is what that one is at.

use std::fmt;

use turnstile_result::{Point, Process, Stands};
use turnstile_stats::chance::normal;

/// What a run did of the last at least, so that its threads were at the same.
const AS_MUCH: f64 = 0.9;

/// Threads of the server on average, with all users.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ThreadStates {
    /// Before a lock, beside those who stand there even with the fewest users, such as the idle of a
    /// pool.
    pub(super) lock: f64,
    pub(super) disk: f64,
    pub(super) asleep: f64,
    /// On a processor, by the processors' own account: looks at threads do not tell these from those who
    /// wait for one.
    pub(super) computes: f64,
    /// Of that, within the kernel.
    pub(super) kernel: f64,
    /// Waiting for a processor.
    pub(super) delayed: f64,
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

impl ThreadStates {
    /// Nothing when nobody looked at the server's threads. How many wait depends on the users; what those
    /// are at who have their turn does not, and is asked of all runs that did as much as the last: of
    /// one alone there may be few looks.
    pub(super) fn of(points: &[&Point]) -> Option<Self> {
        Self::of_looks(points, &mut |stands| *stands)
    }

    /// What might have been seen by as many looks.
    pub(super) fn drawn(points: &[&Point], dice: &mut impl FnMut() -> u64) -> Option<Self> {
        Self::of_looks(points, &mut |stands| drawn(stands, dice))
    }

    fn of_looks(points: &[&Point], look: &mut dyn FnMut(&Stands) -> Stands) -> Option<Self> {
        let seen = points.iter().map(|point| point.resources.stands.as_ref());
        let stands: Vec<Option<Stands>> = seen.map(|stands| stands.map(&mut *look)).collect();
        let (few, many, last) = ((*stands.first()?)?, (*stands.last()?)?, points.last()?);
        let full = points.iter().zip(&stands);
        let full: Vec<(Stands, Option<&Process>)> = full
            .filter(|(point, _)| point.throughput >= AS_MUCH * last.throughput)
            .filter_map(|(point, stands)| Some(((*stands)?, server(point))))
            .collect();
        let looks: f64 = full.iter().map(|(at, _)| f64::from(at.looks)).sum();
        let mean = |of: fn(&Stands, Option<&Process>) -> Option<f64>| {
            let each = full.iter().map(|(at, server)| {
                let found = of(at, *server).unwrap_or(0.0);
                found * f64::from(at.looks)
            });
            each.sum::<f64>() / looks.max(1.0)
        };
        Some(Self {
            lock: (many.lock - few.lock).max(0.0),
            disk: mean(|at, _| Some(at.disk)),
            asleep: mean(|at, _| Some(at.asleep)),
            computes: mean(|_, server| Some(server?.used())),
            kernel: mean(|_, server| Some(server?.system)),
            delayed: mean(|_, server| server?.run_delay),
        })
    }

    /// How many have their turn, as far as can be seen.
    pub(super) fn within(&self) -> f64 {
        self.disk + self.asleep + self.computes
    }

    /// What most of the time goes into of those who have their turn. There is always one, whether it is
    /// seen or not, if it does not wait for a processor.
    ///
    /// A call that waits for a disk computes, too, before and after: the kernel's time is the disk's, as
    /// long at most as threads wait there.
    pub(super) fn turn(&self) -> Turn {
        let of_disk = self.kernel.min(self.disk);
        let unseen = 1.0 - self.within() - self.delayed;
        let parts = [
            (Turn::Unseen, unseen),
            (Turn::Computes, self.computes - of_disk),
            (Turn::Asleep, self.asleep),
            (Turn::Disk, self.disk + of_disk),
        ];
        let most = parts.iter().max_by(|one, other| one.1.total_cmp(&other.1));
        most.map_or(Turn::Unseen, |(turn, _)| *turn)
    }
}

/// Looks drawn anew. Each thread is somewhere at each look: how many of all these were at one place
/// scatters as in a multinomial distribution, here by a normal one with its variance.
fn drawn(stands: &Stands, dice: &mut impl FnMut() -> u64) -> Stands {
    let Stands {
        looks,
        running,
        lock,
        disk,
        asleep,
        elsewhere,
    } = *stands;
    let threads = running + lock + disk + asleep + elsewhere;
    let mut at = |there: f64| {
        let variance = there * (1.0 - there / threads) / f64::from(looks);
        if variance > 0.0 {
            (there + variance.sqrt() * normal(dice)).clamp(0.0, threads)
        } else {
            there
        }
    };
    Stands {
        looks,
        running: at(running),
        lock: at(lock),
        disk: at(disk),
        asleep: at(asleep),
        elsewhere: at(elsewhere),
    }
}

fn server(point: &Point) -> Option<&Process> {
    let mut processes = point.resources.processes.iter();
    processes.find(|process| process.role == "server")
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

impl fmt::Display for ThreadStates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:.1} of the server's threads wait for others, {:.1} are at the disk, {:.1} asleep, {:.2} \
             compute",
            self.lock, self.disk, self.asleep, self.computes
        )
    }
}
