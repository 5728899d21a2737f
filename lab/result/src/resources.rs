//! What processes and machine used in the window of a point.

use serde::{Deserialize, Serialize};

/// Who used what. What the system does not tell is absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Resources {
    /// The server, the generator (`generator`), databases; in this order.
    pub processes: Vec<Process>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pressure: Option<Pressure>,
    /// Of the processors of the machine, the share of time that the host gave to others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steal: Option<f64>,
    /// Of the processors of the machine, the share of time in use by anybody.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub busy: Option<f64>,
    /// Processors of the machine that were busy with what is none of the processes above, the kernel's own
    /// threads included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub others: Option<f64>,
    /// Bytes a second through all network devices, loopback included, in one direction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network_bytes: Option<f64>,
    /// The share of time in which the busiest disk had something to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_busy: Option<f64>,
    /// All that may be full, as far as it can be seen from outside.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stations: Vec<Station>,
    /// What the threads of the server were at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stands: Option<Stands>,
}

/// Something that does a number of things at once and no more.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Station {
    /// `server cpu`, `server thread` (whichever is busiest), the same of `database` and `generator`,
    /// `disk`, and of a server that tells it `log`, the writing and syncing of the journal.
    pub resource: String,
    /// How many can be busy at once: processors that may be used, which a quota makes a fraction.
    pub servers: f64,
    /// How many were busy in the window, on average.
    pub busy: f64,
    /// Likewise in each bin of [`crate::Bins`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bins: Vec<f32>,
}

/// How many threads were at what, on average over some looks at them in the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Stands {
    /// How often they were looked at.
    pub looks: u32,
    /// On a processor, or waiting for one.
    pub running: f64,
    /// Before a lock, a condition or a queue within the process.
    pub lock: f64,
    /// For a disk.
    pub disk: f64,
    /// Asleep for a time.
    pub asleep: f64,
    /// For the network or anything else.
    pub elsewhere: f64,
}

/// One process, all its threads. Shares are of one processor: 2.0 is two of them busy all the time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Process {
    /// `server`, `generator`, `database`, or the name of the program.
    pub role: String,
    pub pid: u32,
    pub threads: u32,
    pub user: f64,
    pub system: f64,
    /// Time in which a thread could have run but did not, as a share of the window, over all
    /// threads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_delay: Option<f64>,
    /// Resident at the end of the window.
    pub memory_bytes: u64,
    /// Bytes a second that reached the disk or came from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_written: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_read: Option<f64>,
    /// Busy in each bin of [`crate::Bins`], user and system together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub busy: Vec<f32>,
    /// Processor time of one answer.
    pub cpu_per_answer_ns: f64,
}

impl Process {
    /// Processors that it kept busy.
    #[must_use]
    pub fn used(&self) -> f64 {
        self.user + self.system
    }
}

/// The share of the window in which somebody had to wait, as the system counts it (PSI).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pressure {
    pub cpu: Stall,
    pub memory: Stall,
    pub io: Stall,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stall {
    /// At least one task waited.
    pub some: f64,
    /// All of them did.
    pub full: f64,
}
