//! The machine that a result was measured on.

use std::{fmt, fs, thread};

use serde::{Deserialize, Serialize};

/// What is known of the machine; empty text where the system does not tell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    pub processor: String,
    /// Cores that this process may use.
    pub cores: usize,
    pub kernel: String,
    /// The load average of the last minute when the run began, as the system prints it.
    pub load: String,
}

impl Machine {
    #[must_use]
    pub fn this() -> Self {
        let cpus = read("/proc/cpuinfo");
        let processor = cpus
            .lines()
            .find_map(|line| line.strip_prefix("model name")?.split_once(": "))
            .map_or("", |(_, name)| name);
        let load = read("/proc/loadavg");
        Self {
            processor: processor.to_owned(),
            cores: thread::available_parallelism().map_or(1, usize::from),
            kernel: read("/proc/sys/kernel/osrelease").trim().to_owned(),
            load: load.split(' ').next().unwrap_or("").to_owned(),
        }
    }
}

/// Only Linux has these files; elsewhere a report lacks a line, which is no reason to fail a run.
fn read(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}, {} cores, kernel {}, load {}",
            self.processor, self.cores, self.kernel, self.load
        )
    }
}
