//! The metrics that every process has, by the names that Prometheus gives them.

use std::{fs, time::Duration};

use rustix::process::{Resource, getrlimit};

use super::exposition::{Exposition, Value};
use crate::{core::clock, memory_limit::memory_limit};

/// Adds what the system tells about this process; what it does not tell is left out.
pub(super) fn put_process(all: &mut Exposition) {
    if let Some([cpu, started]) = times() {
        let help = "Processor time of the process, in user and system mode, in seconds.";
        all.begin_plain("process_cpu_seconds_total", "counter", help);
        all.sample(&[], Value::Real(cpu));
        let help = "When the process started, in seconds since 1970.";
        all.begin_plain("process_start_time_seconds", "gauge", help);
        all.sample(&[], Value::Real(started));
    }
    let now = Duration::from_millis(clock::system().wall.0);
    let help = "The time of day by the clock of the machine, in seconds since 1970.";
    all.begin("time_seconds", "gauge", help);
    all.sample(&[], Value::Real(now.as_secs_f64()));
    if let Some(resident) = resident_bytes() {
        let help = "Memory of the process that is resident, in bytes.";
        all.begin_plain("process_resident_memory_bytes", "gauge", help);
        all.sample(&[], Value::Whole(resident));
    }
    if let Ok(open) = fs::read_dir("/proc/self/fd") {
        let open = u64::try_from(open.count()).unwrap_or(u64::MAX);
        all.begin_plain("process_open_fds", "gauge", "Open descriptors.");
        all.sample(&[], Value::Whole(open));
    }
    let most = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    let help = "Descriptors that the process may have open.";
    all.begin_plain("process_max_fds", "gauge", help);
    all.sample(&[], Value::Whole(most));
    let help =
        "Memory that the control group of the process may take, in bytes; 0 where none is bounded.";
    all.begin("memory_limit_bytes", "gauge", help);
    all.sample(&[], Value::Whole(memory_limit().unwrap_or(0)));
}

/// Processor time, and the time of start since 1970, in seconds.
fn times() -> Option<[f64; 2]> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    // The name of the program stands in brackets and may hold anything; fields after it are counted
    // from the third.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |place: usize| fields.get(place - 3)?.parse::<f64>().ok();
    let each = u32::try_from(rustix::param::clock_ticks_per_second()).ok()?;
    let each = f64::from(each);
    let system = fs::read_to_string("/proc/stat").ok()?;
    let booted = system
        .lines()
        .find_map(|line| line.strip_prefix("btime "))?;
    let booted: f64 = booted.trim().parse().ok()?;
    let cpu = (ticks(14)? + ticks(15)?) / each;
    Some([cpu, booted + ticks(22)? / each])
}

fn resident_bytes() -> Option<u64> {
    let statm = fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = statm.split_whitespace().nth(1)?.parse().ok()?;
    let page = u64::try_from(rustix::param::page_size()).ok()?;
    pages.checked_mul(page)
}
