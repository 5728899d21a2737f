//! The figures of `/proc` that the lab reads. What a system does not tell is none.

use std::{fs, path::Path};

use turnstile_result::Stall;
use turnstile_stats::units::to_float;

use super::threads::{self, Threads};

/// What a process has used since it began; times in seconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Usage {
    pub(super) user: f64,
    pub(super) system: f64,
    /// Of those who are there.
    pub(super) of_threads: Threads,
    pub(super) threads: u32,
    pub(super) memory_bytes: u64,
    pub(super) written: Option<u64>,
    pub(super) read: Option<u64>,
}

/// What the machine has used since it was started.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Machine {
    pub(super) times: Option<CpuTimes>,
    pub(super) cpu_stall: Option<Stall>,
    pub(super) memory_stall: Option<Stall>,
    pub(super) io_stall: Option<Stall>,
    /// Bytes that all network devices have sent.
    pub(super) sent: Option<u64>,
    /// Seconds in which each disk had something to do, of those that ever had.
    pub(super) disks: Vec<(String, f64)>,
}

/// Times of all processors, in ticks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct CpuTimes {
    pub(super) all: f64,
    pub(super) busy: f64,
    pub(super) stolen: f64,
    /// How many there are.
    pub(super) processors: u32,
}

/// What a process of its own has used, without those that it has started.
pub(super) fn usage(pid: u32) -> Option<Usage> {
    let mut usage = of_process(pid)?.0;
    usage.of_threads = Threads::of(&[pid], false);
    Some(usage)
}

/// What a process has used with all that descend from it, those who have ended included, but for
/// `others` and theirs.
pub(super) fn usage_of_family(pid: u32, others: &[u32]) -> Option<Usage> {
    let family = threads::family(pid, others);
    let mut members = family.iter().filter_map(|&pid| {
        let (mut usage, ended) = of_process(pid)?;
        usage.user += ended.0;
        usage.system += ended.1;
        Some(usage)
    });
    let mut all = members.next()?;
    for member in members {
        all.user += member.user;
        all.system += member.system;
        all.threads += member.threads;
        all.memory_bytes += member.memory_bytes;
        let sum = |one: Option<u64>, other: Option<u64>| Some(one? + other?);
        all.written = sum(all.written, member.written);
        all.read = sum(all.read, member.read);
    }
    all.of_threads = Threads::of(&family, true);
    Some(all)
}

/// What a process has used itself, and the user and system time of its children that have ended.
fn of_process(pid: u32) -> Option<(Usage, (f64, f64))> {
    let folder = Path::new("/proc").join(pid.to_string());
    let read = |name: &str| fs::read_to_string(folder.join(name)).ok();
    let (mut usage, ended) = parse_stat(&read("stat")?)?;
    if let Some(io) = read("io") {
        let count = |name| field(&io, name).and_then(|value| value.parse().ok());
        usage.written = count("write_bytes:");
        usage.read = count("read_bytes:");
    }
    Some((usage, ended))
}

/// Resident memory of this process in bytes, counted page by page.
pub(super) fn exact_memory() -> Option<u64> {
    let told = fs::read_to_string("/proc/self/smaps_rollup").ok()?;
    let kibibytes: u64 = field(&told, "\nRss:")?.parse().ok()?;
    Some(kibibytes * 1_024)
}

/// Who listens at a port, whatever the address.
pub(super) fn listener(port: u16) -> Option<u32> {
    let socket = ["/proc/net/tcp", "/proc/net/tcp6"]
        .iter()
        .find_map(|path| {
            let table = fs::read_to_string(path).ok()?;
            table
                .lines()
                .skip(1)
                .find_map(|line| listening(line, port).map(str::to_owned))
        })?;
    let socket = format!("socket:[{socket}]");
    fs::read_dir("/proc").ok()?.flatten().find_map(|process| {
        let pid = process.file_name().to_str()?.parse().ok()?;
        let mut files = fs::read_dir(process.path().join("fd")).ok()?.flatten();
        let holds = files.any(|file| {
            fs::read_link(file.path()).is_ok_and(|link| link.as_os_str() == socket.as_str())
        });
        holds.then_some(pid)
    })
}

/// The number of the socket, when a line of the table is of one that listens at this port.
fn listening(line: &str, port: u16) -> Option<&str> {
    const LISTEN: &str = "0A";
    let fields: Vec<&str> = line.split_ascii_whitespace().collect();
    let (_, local) = fields.get(1)?.split_once(':')?;
    let here = u16::from_str_radix(local, 16).ok()? == port && *fields.get(3)? == LISTEN;
    here.then(|| fields.get(9).copied()).flatten()
}

fn parse_stat(stat: &str) -> Option<(Usage, (f64, f64))> {
    // The name stands in brackets and may hold anything.
    let (_, rest) = stat.rsplit_once(") ")?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
    let ticks = to_float(rustix::param::clock_ticks_per_second());
    let page = u64::try_from(rustix::param::page_size()).ok()?;
    let seconds = |at: usize| Some(to_float(number(at)?) / ticks);
    let usage = Usage {
        user: seconds(11)?,
        system: seconds(12)?,
        threads: u32::try_from(number(17)?).ok()?,
        memory_bytes: number(21)? * page,
        ..Usage::default()
    };
    Some((usage, (seconds(13)?, seconds(14)?)))
}

pub(super) fn machine() -> Machine {
    let read = |name: &str| fs::read_to_string(Path::new("/proc").join(name)).unwrap_or_default();
    Machine {
        times: parse_times(&read("stat")),
        cpu_stall: parse_stall(&read("pressure/cpu")),
        memory_stall: parse_stall(&read("pressure/memory")),
        io_stall: parse_stall(&read("pressure/io")),
        sent: parse_sent(&read("net/dev")),
        disks: parse_disks(&read("diskstats")),
    }
}

fn parse_times(stat: &str) -> Option<CpuTimes> {
    let mut lines = stat.lines();
    let line = lines.next()?.strip_prefix("cpu ")?;
    let each = lines.take_while(|line| line.starts_with("cpu"));
    let processors = u32::try_from(each.count()).ok()?;
    // User, nice, system, idle, waiting for disks, two kinds of interrupts, stolen; what follows is
    // part of the first two.
    let parts: Vec<f64> = line
        .split_ascii_whitespace()
        .take(8)
        .map(|part| part.parse().ok())
        .collect::<Option<_>>()?;
    let all = parts.iter().sum();
    let idle = parts.get(3)? + parts.get(4)?;
    let stolen = *parts.get(7)?;
    Some(CpuTimes {
        all,
        busy: all - idle - stolen,
        stolen,
        processors,
    })
}

fn parse_stall(pressure: &str) -> Option<Stall> {
    let total = |kind: &str| {
        let line = pressure.lines().find(|line| line.starts_with(kind))?;
        let micros: u64 = field(&line.replace('=', " "), "total")?.parse().ok()?;
        Some(to_float(micros) / 1e6)
    };
    Some(Stall {
        some: total("some")?,
        full: total("full").unwrap_or(0.0),
    })
}

fn parse_sent(devices: &str) -> Option<u64> {
    let counts = devices.lines().filter_map(|line| {
        let (_, counts) = line.split_once(':')?;
        counts.split_ascii_whitespace().nth(8)?.parse::<u64>().ok()
    });
    counts.reduce(|sum, count| sum + count)
}

fn parse_disks(disks: &str) -> Vec<(String, f64)> {
    let busy = disks.lines().filter_map(|line| {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let millis: u64 = fields.get(12)?.parse().ok().filter(|millis| *millis > 0)?;
        Some(((*fields.get(2)?).to_owned(), to_float(millis) / 1e3))
    });
    busy.collect()
}

/// The word after a name.
fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(name)?;
    rest.split_ascii_whitespace().next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_may_have_any_name() {
        let stat = "7 (a) b (c) S 1 7 7 0 -1 4194560 1 0 0 0 150 50 7 9 20 0 3 0 9 1000 25 1 1";
        let (usage, ended) = parse_stat(stat).unwrap();
        let ticks = to_float(rustix::param::clock_ticks_per_second());
        assert_eq!((usage.user, usage.system), (150.0 / ticks, 50.0 / ticks));
        assert_eq!(ended, (7.0 / ticks, 9.0 / ticks));
        let page = u64::try_from(rustix::param::page_size()).unwrap();
        assert_eq!((usage.threads, usage.memory_bytes), (3, 25 * page));
        assert_eq!(parse_stat("7 (cut) S 1"), None);
    }

    #[test]
    fn the_machine_tells_times_pressure_disks_and_network() {
        let times =
            parse_times("cpu  10 1 20 60 5 2 1 1 0 0\ncpu0 1 2 3\ncpu1 4 5 6\nintr 7").unwrap();
        let expected = CpuTimes {
            all: 100.0,
            busy: 34.0,
            stolen: 1.0,
            processors: 2,
        };
        assert_eq!(times, expected);
        let pressure = "some avg10=1.00 avg60=1.00 avg300=1.00 total=2500000\n\
            full avg10=0.00 avg60=0.00 avg300=0.00 total=500000\n";
        let stall = Stall {
            some: 2.5,
            full: 0.5,
        };
        assert_eq!(parse_stall(pressure), Some(stall));
        let disks = "   8       0 sda 1 2 3 4 5 6 7 8 0 1500 11 0 0 0 0\n\
               7       0 loop0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0";
        assert_eq!(parse_disks(disks), [("sda".to_owned(), 1.5)]);
        let devices = "Inter-| Receive | Transmit\n face |bytes |bytes\n\
            lo: 100 1 0 0 0 0 0 0 100 1 0 0 0 0 0 0\n eth0: 7 1 0 0 0 0 0 0 9 1 0 0 0 0 0 0\n";
        assert_eq!(parse_sent(devices), Some(109));
    }

    #[test]
    fn what_is_not_there_is_none() {
        assert_eq!(usage(u32::MAX), None);
        assert_eq!(
            (parse_times(""), parse_stall(""), parse_sent("")),
            (None, None, None)
        );
        assert_eq!(parse_disks("nonsense"), []);
    }
}
