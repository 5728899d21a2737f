//! What a process has used, as the kernel accounts for it.

use std::{
    fs,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, bail};
use rustix::time::{ClockId, clock_gettime};

/// The CPU time (user and system) of all threads of a process, in the kernel's ticks.
pub(crate) fn cpu(pid: u32) -> Result<Duration> {
    Ok(read_stat(&pid.to_string())?.own)
}

/// How often a family is looked at before one of its members that has just ended counts as lost.
const LOOKS_MAX: u32 = 100;

/// The CPU time of a process and of all that it has started, whether these still run or have ended
/// and were waited for.
pub(crate) fn cpu_of_tree(root: u32) -> Result<Duration> {
    for _ in 0..LOOKS_MAX {
        let before = read_stat(&root.to_string())?;
        let everybody = everybody()?;
        // A child that was waited for meanwhile would count twice, or not at all.
        if read_stat(&root.to_string())?.children == before.children {
            return Ok(cpu_of_family(root, &everybody));
        }
    }
    bail!("the children of process {root} come and go too fast")
}

fn cpu_of_family(root: u32, everybody: &[(u32, Stat)]) -> Duration {
    let mut pids = vec![root];
    let mut at = 0;
    while let Some(&parent) = pids.get(at) {
        let children = everybody.iter().filter(|(_, stat)| stat.parent == parent);
        pids.extend(children.map(|(pid, _)| *pid));
        at += 1;
    }
    let family = everybody.iter().filter(|(pid, _)| pids.contains(pid));
    family.map(|(_, stat)| stat.own + stat.children).sum()
}

/// All processes of this machine. Those that end meanwhile are left out.
fn everybody() -> Result<Vec<(u32, Stat)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").context("cannot read /proc")? {
        let name = entry?.file_name();
        let pid = name.to_str().and_then(|name| name.parse::<u32>().ok());
        let stat = pid.and_then(|pid| Some((pid, read_stat(&pid.to_string()).ok()?)));
        found.extend(stat);
    }
    Ok(found)
}

/// The CPU time of all children of this process that have ended and were waited for.
pub(crate) fn cpu_of_ended_children() -> Result<Duration> {
    Ok(read_stat("self")?.children)
}

/// The CPU time of the calling thread.
pub(crate) fn cpu_of_this_thread() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(time).expect("a thread's CPU time is not negative")
}

/// Microseconds for each of some requests.
pub(crate) fn us_each(time: Duration, requests: u32) -> f64 {
    time.as_secs_f64() * 1e6 / f64::from(requests)
}

/// Bytes for each of so many things, in steps of a kibibyte of all.
pub(crate) fn bytes_each(bytes: u64, count: u32) -> Result<f64> {
    let kib = u32::try_from(bytes / 1_024)?;
    Ok(f64::from(kib) * 1_024.0 / f64::from(count))
}

/// The resident memory of a process, in bytes.
pub(crate) fn resident_bytes(pid: u32) -> Result<u64> {
    let path = format!("/proc/{pid}/status");
    let status = fs::read_to_string(&path).with_context(|| format!("cannot read {path}"))?;
    parse_resident(&status).with_context(|| format!("{path} names no resident memory"))
}

/// Watches what is used on this machine by neither this process nor its children: builds, other
/// programs, and what the host takes for other machines.
#[derive(Debug)]
pub(crate) struct Neighbours {
    begin: Instant,
    machine: Duration,
    ours: Duration,
}

impl Neighbours {
    pub(crate) fn watch() -> Result<Self> {
        let stat = read_stat("self")?;
        Ok(Self {
            begin: Instant::now(),
            machine: cpu_of_the_machine()?,
            ours: stat.own + stat.children,
        })
    }

    /// What they used since then, in percent of a core. Children count as ours when they have
    /// ended and were waited for.
    pub(crate) fn percent(&self) -> Result<f64> {
        let now = Self::watch()?;
        let ours = now.ours - self.ours;
        let used = (now.machine - self.machine).saturating_sub(ours);
        let elapsed = now.begin - self.begin;
        Ok(used.as_secs_f64() / elapsed.as_secs_f64() * 100.0)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stat {
    parent: u32,
    own: Duration,
    children: Duration,
}

fn cpu_of_the_machine() -> Result<Duration> {
    let stat = fs::read_to_string("/proc/stat").context("cannot read /proc/stat")?;
    let ticks_per_second = rustix::param::clock_ticks_per_second();
    parse_machine(&stat, ticks_per_second).context("/proc/stat is not as proc(5) says")
}

fn read_stat(process: &str) -> Result<Stat> {
    let path = format!("/proc/{process}/stat");
    let stat = fs::read_to_string(&path).with_context(|| format!("cannot read {path}"))?;
    let ticks_per_second = rustix::param::clock_ticks_per_second();
    parse_stat(&stat, ticks_per_second).with_context(|| format!("{path} is not as proc(5) says"))
}

/// Fields 4 and 14 to 17 of proc(5): ppid, utime, stime, cutime, cstime. The second field, the name
/// in parentheses, may itself hold spaces and parentheses.
fn parse_stat(stat: &str, ticks_per_second: u64) -> Option<Stat> {
    let (_, after_name) = stat.rsplit_once(')')?;
    let mut fields = after_name.split_ascii_whitespace().skip(1);
    let parent = fields.next()?.parse().ok()?;
    let mut fields = fields.skip(9);
    let mut next = || time(fields.next()?, ticks_per_second);
    let own = next()? + next()?;
    let children = next()? + next()?;
    Some(Stat {
        parent,
        own,
        children,
    })
}

/// The first line of proc(5): user, nice, system, idle, iowait, irq, softirq, steal.
fn parse_machine(stat: &str, ticks_per_second: u64) -> Option<Duration> {
    const IDLE_AND_IOWAIT: [usize; 2] = [3, 4];
    const STEAL: usize = 7;
    let line = stat.lines().next()?.strip_prefix("cpu ")?;
    let mut sum = Duration::ZERO;
    for (number, field) in line.split_ascii_whitespace().enumerate() {
        if number <= STEAL && !IDLE_AND_IOWAIT.contains(&number) {
            sum += time(field, ticks_per_second)?;
        }
    }
    Some(sum)
}

fn time(ticks: &str, ticks_per_second: u64) -> Option<Duration> {
    let ticks: u64 = ticks.parse().ok()?;
    let ms = ticks.checked_mul(1_000)?.checked_div(ticks_per_second)?;
    Some(Duration::from_millis(ms))
}

fn parse_resident(status: &str) -> Option<u64> {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim_end().parse().ok()?;
    kib.checked_mul(1_024)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{
        Stat, cpu_of_family, cpu_of_tree, everybody, parse_machine, parse_resident, parse_stat,
    };

    const STAT: &str = "4711 (a (b) c) S 1 4711 4711 0 -1 4194560 1200 0 0 0 250 31 7 12 20 0 3 0";

    #[test]
    fn cpu_time_is_user_and_system_and_the_name_may_hold_anything() {
        let expected = Stat {
            parent: 1,
            own: Duration::from_millis(2_810),
            children: Duration::from_millis(190),
        };
        assert_eq!(parse_stat(STAT, 100), Some(expected));
    }

    #[test]
    fn a_family_is_a_process_and_what_it_has_started_and_what_these_have() {
        let one = |parent, own, children| Stat {
            parent,
            own: Duration::from_millis(own),
            children: Duration::from_millis(children),
        };
        let everybody = [
            (30, one(20, 1, 2)),
            (10, one(1, 4, 8)),
            (11, one(1, 1_000, 0)),
            (20, one(10, 16, 32)),
        ];
        let expected = Duration::from_millis(63);
        assert_eq!(cpu_of_family(10, &everybody), expected);
    }

    #[test]
    fn a_child_is_seen_with_its_parent() {
        let mut child = std::process::Command::new("cat")
            .stdin(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let found = everybody().unwrap();
        let of_child = found.iter().find(|(pid, _)| *pid == child.id());
        let parent = of_child.map(|(_, stat)| stat.parent);
        assert_eq!(parent, Some(std::process::id()));
        drop(child.stdin.take());
        child.wait().unwrap();
        assert!(cpu_of_tree(u32::MAX).is_err());
    }

    #[test]
    fn a_line_that_is_no_stat_gives_nothing() {
        assert_eq!(parse_stat("", 100), None);
        assert_eq!(parse_stat("1 (init) S 1 2 3", 100), None);
        assert_eq!(parse_stat(&STAT.replace("250", "many"), 100), None);
    }

    #[test]
    fn a_machine_is_busy_when_it_is_neither_idle_nor_waiting_nor_counted_twice() {
        let stat = "cpu  100 20 300 99999 88888 4 5 6 77 66\ncpu0 1 1 1 1 1 1 1 1 1 1\n";
        assert_eq!(parse_machine(stat, 100), Some(Duration::from_millis(4_350)));
        assert_eq!(parse_machine("intr 1\n", 100), None);
        assert_eq!(parse_machine("cpu  1 x\n", 100), None);
    }

    #[test]
    fn resident_memory_is_read_in_kibibytes() {
        let status = "Name:\tx\nVmHWM:\t  9000 kB\nVmRSS:\t    7300 kB\nThreads:\t1\n";
        assert_eq!(parse_resident(status), Some(7_475_200));
        assert_eq!(parse_resident("Name:\tx\n"), None);
        assert_eq!(parse_resident("VmRSS:\t 12 MB\n"), None);
    }
}
