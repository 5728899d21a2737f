//! A part of the processors for a process: a control group of its own, of whichever version the system
//! has.

use std::{
    fs, io,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use crate::exit::Coded;

/// The time over which a quota is kept. The system's own 100 ms would let a server of half a processor
/// stand still for 50 ms at a time.
const PERIOD_US: f64 = 20_000.0;

/// The system refuses less time than this in a period.
const QUOTA_US_MIN: f64 = 1_000.0;

/// Threads with a real-time priority, such as that of a journal, may not enter a group of version one
/// that leaves them no time of their own: microseconds of a second, beside the quota. What all groups
/// have together is bounded, so that one that comes later gets less of it.
const REAL_TIME_US: [&str; 5] = ["500000", "200000", "100000", "50000", "20000"];

/// A group of version one keeps its real-time share for a moment after it was removed: so long one waits
/// for some.
const RELEASE: Duration = Duration::from_secs(5);

/// Processes that may use a part of the processors, until this is dropped: then they are where they were.
#[derive(Debug)]
pub(super) struct Quota {
    processors: f64,
    folder: PathBuf,
    /// Who was moved, and the group it came from.
    moved: Vec<(u32, PathBuf)>,
}

/// A tree of control groups that can share out processors.
#[derive(Clone, Debug, PartialEq, Eq)]
struct CgroupTree {
    root: PathBuf,
    version: Version,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    One,
    Two,
}

impl Quota {
    /// Lets these processes together use so many processors and no more.
    ///
    /// # Errors
    /// Nothing here lets this user do so, and why not.
    pub(super) fn of(pids: &[u32], processors: f64) -> anyhow::Result<Self> {
        let mounts = fs::read_to_string("/proc/mounts").unwrap_or_default();
        let mut refused = Vec::new();
        for tree in trees(&mounts) {
            match Self::within(&tree, pids, processors) {
                Ok(quota) => return Ok(quota),
                Err(error) => refused.push(format!("{}: {error}", tree.root.display())),
            }
        }
        let why = if refused.is_empty() {
            "this system has no control groups for processors".to_owned()
        } else {
            refused.join("; ")
        };
        Err(Coded::usage(format!(
            "no quota of {processors} processors can be set: {why} (it takes root, or a control group \
             with the controller `cpu` that was given to this user)"
        ))
        .into())
    }

    pub(super) const fn processors(&self) -> f64 {
        self.processors
    }

    fn within(tree: &CgroupTree, pids: &[u32], processors: f64) -> io::Result<Self> {
        let own = tree.group_of(std::process::id())?;
        // Version two lets no group have both processes and groups with controllers, but the root.
        let parent = match (tree.version, own.parent()) {
            (Version::Two, Some(parent)) if own != tree.root => parent.to_owned(),
            _ => own,
        };
        let free = (0..).map(|number| format!("turnstile-lab-{}-{number}", std::process::id()));
        let mut names = free.map(|name| parent.join(name));
        let folder = names.find(|folder| !folder.exists()).unwrap_or_default();
        fs::create_dir(&folder)?;
        let mut quota = Self {
            processors,
            folder,
            moved: Vec::new(),
        };
        tree.limit(&quota.folder, processors)?;
        for &pid in pids {
            let home = tree.group_of(pid)?;
            write(&quota.folder.join("cgroup.procs"), &pid.to_string())?;
            quota.moved.push((pid, home));
        }
        Ok(quota)
    }
}

impl Drop for Quota {
    fn drop(&mut self) {
        for (pid, home) in &self.moved {
            // Who has ended is in no group any more.
            write(&home.join("cgroup.procs"), &pid.to_string()).ok();
        }
        // A group in which somebody is left stays, and limits who is in it: that is told.
        if let Err(error) = fs::remove_dir(&self.folder) {
            crate::terminal::note(format_args!(
                "the control group {} stays: {error}",
                self.folder.display()
            ));
        }
    }
}

impl CgroupTree {
    fn group_of(&self, pid: u32) -> io::Result<PathBuf> {
        let told = fs::read_to_string(format!("/proc/{pid}/cgroup"))?;
        let group = group(&told, self.version);
        let group = group.ok_or_else(|| io::Error::other("this process is in no group of it"))?;
        Ok(self.root.join(group.trim_start_matches('/')))
    }

    fn limit(&self, folder: &Path, processors: f64) -> io::Result<()> {
        let quota = (processors * PERIOD_US).max(QUOTA_US_MIN);
        match self.version {
            Version::One => {
                write(
                    &folder.join("cpu.cfs_period_us"),
                    &format!("{PERIOD_US:.0}"),
                )?;
                write(&folder.join("cpu.cfs_quota_us"), &format!("{quota:.0}"))?;
                give_real_time(folder);
                Ok(())
            }
            Version::Two => write(
                &folder.join("cpu.max"),
                &format!("{quota:.0} {PERIOD_US:.0}"),
            ),
        }
    }
}

/// Gives a group time for real-time threads, if the group above it has some.
fn give_real_time(folder: &Path) {
    const FILE: &str = "cpu.rt_runtime_us";
    // Not every kernel keeps their time apart; on others there is no such file.
    let above = fs::read_to_string(folder.with_file_name(FILE)).unwrap_or_default();
    let begin = Instant::now();
    let has_some = || {
        let mut parts = REAL_TIME_US.iter();
        parts.any(|us| write(&folder.join(FILE), us).is_ok())
    };
    while !["", "0"].contains(&above.trim()) && !has_some() && begin.elapsed() < RELEASE {
        thread::park_timeout(Duration::from_millis(5));
    }
}

/// Where control groups for processors are, the newer version first.
fn trees(mounts: &str) -> Vec<CgroupTree> {
    let mut trees: Vec<CgroupTree> = mounts
        .lines()
        .filter_map(|line| {
            let fields: Vec<&str> = line.split(' ').collect();
            let (root, kind) = (PathBuf::from(fields.get(1)?), *fields.get(2)?);
            let version = match kind {
                "cgroup2" => Version::Two,
                "cgroup" if fields.get(3)?.split(',').any(|option| option == "cpu") => Version::One,
                _ => return None,
            };
            Some(CgroupTree { root, version })
        })
        .collect();
    trees.sort_by_key(|tree| tree.version == Version::One);
    trees
}

/// The group of a process, of what its file says.
fn group(told: &str, version: Version) -> Option<&str> {
    told.lines().find_map(|line| {
        let mut fields = line.splitn(3, ':');
        let (number, controllers, path) = (fields.next()?, fields.next()?, fields.next()?);
        let is_of_it = match version {
            Version::One => controllers.split(',').any(|one| one == "cpu"),
            Version::Two => number == "0" && controllers.is_empty(),
        };
        is_of_it.then_some(path)
    })
}

/// Only what is there: a file of a control group cannot be made.
fn write(path: &Path, text: &str) -> io::Result<()> {
    let named = |error: io::Error| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        io::Error::new(error.kind(), format!("{name}: {error}"))
    };
    let mut file = fs::OpenOptions::new()
        .write(true)
        .open(path)
        .map_err(named)?;
    io::Write::write_all(&mut file, text.as_bytes()).map_err(named)
}

/// Processors such as `0.25,0.5,1`, of one that a flag names.
pub(super) fn parse(text: &str) -> Result<f64, String> {
    let least = QUOTA_US_MIN / PERIOD_US;
    let number = text
        .parse()
        .ok()
        .filter(|one: &f64| one.is_finite() && *one >= least);
    number.ok_or_else(|| format!("`{text}` is no number of processors of {least} or more"))
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command, Stdio};

    use super::*;

    #[test]
    fn both_versions_are_found_and_the_newer_is_tried_first() {
        let mounts = "cgroup /sys/fs/cgroup/cpu cgroup rw,nosuid,cpu,cpuacct 0 0\n\
            cgroup /sys/fs/cgroup/cpuset cgroup rw,cpuset 0 0\n\
            none /sys/fs/cgroup/unified cgroup2 rw 0 0\n\
            proc /proc proc rw 0 0\n";
        let found = trees(mounts);
        let tree = |root: &str, version| CgroupTree {
            root: root.into(),
            version,
        };
        let expected = [
            tree("/sys/fs/cgroup/unified", Version::Two),
            tree("/sys/fs/cgroup/cpu", Version::One),
        ];
        assert_eq!(found, expected);
        let told = "4:memory:/a\n2:cpu,cpuacct:/b/c\n0::/d\n";
        assert_eq!(group(told, Version::One), Some("/b/c"));
        assert_eq!(group(told, Version::Two), Some("/d"));
        assert_eq!(group("1:cpuset:/x\n", Version::One), None);
    }

    #[test]
    fn a_quota_is_a_number_of_processors() {
        assert_eq!(parse("0.25"), Ok(0.25));
        assert_eq!(parse("2"), Ok(2.0));
        for text in ["", "0", "0.01", "-1", "NaN", "inf", "half"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    /// Ends it, whatever the test says.
    struct Ended(Child);

    impl Drop for Ended {
        fn drop(&mut self) {
            self.0.kill().ok();
            self.0.wait().ok();
        }
    }

    #[test]
    fn a_process_is_in_its_group_as_long_as_the_quota_lasts_or_the_refusal_says_why() {
        let mut cat = Command::new("cat");
        cat.stdin(Stdio::piped());
        let cat = Ended(cat.spawn().unwrap());
        let told = || fs::read_to_string(format!("/proc/{}/cgroup", cat.0.id())).unwrap();
        let before = told();
        match Quota::of(&[cat.0.id()], 0.25) {
            Ok(quota) => {
                assert!(told().contains("turnstile-lab-"), "{}", told());
                let read = |name: &str| fs::read_to_string(quota.folder.join(name));
                let limit = read("cpu.max")
                    .or_else(|_one| read("cpu.cfs_quota_us"))
                    .unwrap();
                assert_eq!(limit.split_whitespace().next(), Some("5000"));
                let folder = quota.folder.clone();
                drop(quota);
                assert!(!folder.exists(), "{}", folder.display());
            }
            Err(refused) => {
                let said = refused.to_string();
                assert!(
                    said.contains("no quota of 0.25 processors can be set"),
                    "{said}"
                );
            }
        }
        assert_eq!(told(), before);
    }

    #[test]
    fn a_group_waits_for_the_real_time_of_another_that_goes() {
        let mounts = fs::read_to_string("/proc/mounts").unwrap();
        let Some(tree) = trees(&mounts).pop().filter(|t| t.version == Version::One) else {
            return;
        };
        let own = tree.group_of(std::process::id()).unwrap();
        let made = |name: &str| {
            let folder = own.join(format!("turnstile-test-{name}-{}", std::process::id()));
            fs::create_dir(&folder).map(|()| folder)
        };
        let Ok(greedy) = made("greedy") else { return };
        let real_time = "cpu.rt_runtime_us";
        // All that others leave.
        let mut parts = (1..=95).rev().map(|part| (part * 10_000).to_string());
        let is_kept_apart = parts.any(|us| write(&greedy.join(real_time), &us).is_ok());
        let modest = made("modest").unwrap();
        thread::scope(|scope| {
            scope.spawn(|| tree.limit(&modest, 0.5).unwrap());
            let quota = || fs::read_to_string(modest.join("cpu.cfs_quota_us")).unwrap();
            while quota().trim() != "10000" {
                thread::yield_now();
            }
            fs::remove_dir(&greedy).unwrap();
        });
        let has = fs::read_to_string(modest.join(real_time));
        fs::remove_dir(&modest).unwrap();
        assert!(!is_kept_apart || has.unwrap().trim() != "0");
    }

    #[test]
    fn a_process_that_is_not_there_gets_no_quota_and_leaves_no_group() {
        let refused = Quota::of(&[u32::MAX], 0.5).unwrap_err().to_string();
        assert!(refused.contains("can be set"), "{refused}");
    }
}
