//! The threads of a family of processes: what each has used, and what it is at.

use std::{
    fs,
    path::{Path, PathBuf},
};

use turnstile_stats::units::to_float;

/// Of more threads than this, the others are not looked at.
const THREADS_MAX: usize = 256;

/// Of few threads each is looked at several times in a row for what it is at, until so many have been.
/// What takes less time than a look is found at something else the next time; of what takes longer more
/// looks would not say more.
const GLANCES_MAX: usize = 128;

/// So often at most.
const GLANCES_EACH_MAX: usize = 4;

/// So many of the busiest are remembered from look to look.
const KEPT_MAX: usize = 64;

/// What the threads have used since they began, and what they are at now.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Threads {
    /// Seconds on a processor, by the number of the thread: the busiest, in order of their numbers.
    used: Vec<(u32, f64)>,
    /// Seconds in which a thread could have run but did not.
    pub(super) run_delay: Option<f64>,
    /// How many were at what, over all looks.
    pub(super) at: [u32; Place::ALL.len()],
    pub(super) looks: u32,
}

/// What a thread is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Running,
    Lock,
    Disk,
    Asleep,
    Elsewhere,
}

impl Place {
    pub(super) const ALL: [Self; 5] = [
        Self::Running,
        Self::Lock,
        Self::Disk,
        Self::Asleep,
        Self::Elsewhere,
    ];

    /// By the letter of its state, and the function of the kernel in which it waits, which is `0`
    /// where that is not told.
    fn of(state: char, function: &str) -> Self {
        const DISK: [&str; 8] = [
            "jbd2",
            "xfs_",
            "btrfs",
            "io_schedule",
            "bit_wait",
            "folio_wait",
            "blk",
            "submit_bio",
        ];
        match state {
            'R' => Self::Running,
            'D' => Self::Disk,
            _ if function.contains("futex") => Self::Lock,
            _ if function.contains("nanosleep") => Self::Asleep,
            _ if DISK.iter().any(|name| function.contains(name)) => Self::Disk,
            _ => Self::Elsewhere,
        }
    }
}

impl Threads {
    /// Those of these processes. `looks`: whether it is asked what they are at, too.
    pub(super) fn of(processes: &[u32], looks: bool) -> Self {
        let mut threads = Self::default();
        let folders = processes.iter().filter_map(|pid| {
            let tasks = Path::new("/proc").join(pid.to_string()).join("task");
            fs::read_dir(tasks).ok()
        });
        let tasks = folders.flatten().flatten().take(THREADS_MAX);
        let tasks: Vec<PathBuf> = tasks.map(|task| task.path()).collect();
        for task in &tasks {
            let number = task
                .file_name()
                .and_then(|name| name.to_str()?.parse().ok());
            if let Some(number) = number {
                threads.add(number, task);
            }
        }
        if looks {
            threads.look(&tasks);
        }
        threads.used.sort_by(|one, other| other.1.total_cmp(&one.1));
        threads.used.truncate(KEPT_MAX);
        threads.used.sort_by_key(|(number, _)| *number);
        threads
    }

    fn look(&mut self, tasks: &[PathBuf]) {
        let glances = GLANCES_MAX / tasks.len().max(1);
        for _ in 0..glances.clamp(1, GLANCES_EACH_MAX) {
            for place in tasks.iter().filter_map(|task| place(task)) {
                self.at[place as usize] += 1;
            }
            self.looks += 1;
        }
    }

    fn add(&mut self, number: u32, task: &Path) {
        let Ok(told) = fs::read_to_string(task.join("schedstat")) else {
            return;
        };
        let mut seconds = told
            .split_ascii_whitespace()
            .map_while(|nanos| nanos.parse().ok())
            .map(|nanos: u64| to_float(nanos) / 1e9);
        if let Some((used, delay)) = seconds.next().zip(seconds.next()) {
            self.used.push((number, used));
            *self.run_delay.get_or_insert(0.0) += delay;
        }
    }

    /// What the busiest has used between two looks, in seconds.
    pub(super) fn busiest(&self, since: &Self) -> Option<f64> {
        let each = self.used.iter().map(|(number, used)| {
            let before = since
                .used
                .binary_search_by_key(number, |(number, _)| *number);
            used - before.map_or(0.0, |place| since.used[place].1)
        });
        each.reduce(f64::max)
    }
}

fn place(task: &Path) -> Option<Place> {
    let stat = fs::read_to_string(task.join("stat")).ok()?;
    let (_, rest) = stat.rsplit_once(") ")?;
    let state = rest.chars().next()?;
    // Of the others the state alone tells.
    let function = if state == 'S' {
        fs::read_to_string(task.join("wchan")).unwrap_or_default()
    } else {
        String::new()
    };
    Some(Place::of(state, &function))
}

/// A process and all that descend from it and live, it first; but for `others` and what descends from
/// them.
pub(super) fn family(root: u32, others: &[u32]) -> Vec<u32> {
    let mut all = vec![root];
    let mut next = 0;
    while let Some(pid) = all.get(next).copied() {
        next += 1;
        let tasks = Path::new("/proc").join(pid.to_string()).join("task");
        let Ok(tasks) = fs::read_dir(tasks) else {
            continue;
        };
        for task in tasks.flatten().take(THREADS_MAX) {
            let children = fs::read_to_string(task.path().join("children")).unwrap_or_default();
            let numbers = children.split_ascii_whitespace();
            let numbers = numbers.filter_map(|child| child.parse::<u32>().ok());
            all.extend(numbers.filter(|child| !others.contains(child)));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command, Stdio};

    use super::*;

    #[test]
    fn a_thread_is_where_the_kernel_says() {
        let rows = [
            ('R', "0", Place::Running),
            ('S', "futex_do_wait", Place::Lock),
            ('S', "futex_wait_queue", Place::Lock),
            ('S', "hrtimer_nanosleep", Place::Asleep),
            ('D', "0", Place::Disk),
            ('D', "futex_do_wait", Place::Disk),
            ('S', "jbd2_log_wait_commit", Place::Disk),
            ('S', "ep_poll", Place::Elsewhere),
            ('S', "wait_woken", Place::Elsewhere),
            ('S', "0", Place::Elsewhere),
        ];
        for (state, function, expected) in rows {
            assert_eq!(Place::of(state, function), expected, "{state} {function}");
        }
    }

    #[test]
    fn the_busiest_thread_is_the_one_that_gained_most() {
        let of = |used: &[(u32, f64)]| Threads {
            used: used.to_vec(),
            ..Threads::default()
        };
        let before = of(&[(1, 5.0), (2, 1.0)]);
        let after = of(&[(1, 5.25), (2, 1.5), (3, 0.25)]);
        assert_eq!(after.busiest(&before), Some(0.5));
        assert_eq!(of(&[]).busiest(&before), None);
    }

    #[test]
    fn what_a_process_starts_is_of_its_family() {
        /// Ends it, whatever the test says.
        struct Ended(Child);
        impl Drop for Ended {
            fn drop(&mut self) {
                self.0.kill().ok();
                self.0.wait().ok();
            }
        }
        // The shell tells when its own child is there.
        let script = "sleep 60 & echo there; wait";
        let mut shell = Command::new("sh");
        shell.args(["-c", script]).stdout(Stdio::piped());
        let mut shell = Ended(shell.spawn().unwrap());
        let mut told = [0; 6];
        let output = shell.0.stdout.as_mut().unwrap();
        std::io::Read::read_exact(output, &mut told).unwrap();
        let pid = shell.0.id();
        let found = family(pid, &[]);
        assert_eq!((found[0], found.len()), (pid, 2), "{found:?}");
        let threads = Threads::of(&found, true);
        let each = (threads.looks, threads.at.iter().sum::<u32>());
        assert_eq!(each, (4, 8), "{threads:?}");
        assert_eq!(family(pid, &found[1..]), [pid]);
        assert_eq!(family(u32::MAX, &[]), [u32::MAX]);
        // Its child does not end with it.
        Command::new("kill")
            .arg(found[1].to_string())
            .status()
            .unwrap();
    }
}
