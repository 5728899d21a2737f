//! What is done to a server while it is checked.

use std::{
    net::{Ipv4Addr, SocketAddr, TcpListener},
    path::PathBuf,
    str::FromStr,
    sync::mpsc::{Receiver, RecvTimeoutError},
    time::{Duration, Instant},
};

use anyhow::{Context as _, ensure};
use rustix::process::Signal;

use crate::child::Server;

/// Between two faults pass at least so much and at most three times that: users have connected again
/// by then.
const CALM_MS: u64 = 500;

/// No fault comes later than this before the end: what follows needs a server.
const LAST: Duration = Duration::from_secs(1);

/// A pause lasts at least so long, and at most three times that.
const PAUSE_MS: u64 = 200;

/// Ports that the system gives to nobody by itself. A client that connects to a port of those that it
/// does give, while nobody listens there, may get that very port for itself and speak to itself.
const PORTS: std::ops::Range<u16> = 20_000..30_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// Nothing in the server gets a chance to finish; then it is started again.
    Kill,
    /// The server stands still, and goes on.
    Pause,
}

/// Faults at instants that a seed decides.
#[derive(Debug)]
pub(super) struct Storm {
    pub(super) faults: Vec<Fault>,
    pub(super) seed: u64,
    pub(super) program: Option<PathBuf>,
    pub(super) data: PathBuf,
    /// What else the server is told.
    pub(super) flags: Vec<(String, String)>,
}

/// The server after the storm, and what it has been through.
#[derive(Debug)]
pub(super) struct Survived {
    pub(super) server: Server,
    pub(super) kills: u32,
    pub(super) pauses: u32,
}

impl Fault {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Kill => "kill",
            Self::Pause => "pause",
        }
    }
}

impl FromStr for Fault {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, &'static str> {
        match text {
            "kill" => Ok(Self::Kill),
            "pause" => Ok(Self::Pause),
            "fsync" | "fsync-error" => Err(
                "a server cannot be told from outside to fail a sync; simulated disks do that in \
                 the tests",
            ),
            _ => Err("a fault is kill or pause"),
        }
    }
}

impl Storm {
    pub(super) fn start(&self, address: SocketAddr) -> anyhow::Result<Server> {
        Server::start_at(self.program.as_deref(), &self.data, address, &self.flags)
    }

    /// Does one fault after the other until the load ends, or would within the next. The server that
    /// is left.
    pub(super) fn rage(
        &self,
        server: Server,
        end: Duration,
        load_ends: &Receiver<()>,
    ) -> anyhow::Result<Survived> {
        let began = Instant::now();
        let mut draw = turnstile_load::dice(self.seed);
        let mut within = |least: u64| Duration::from_millis(least + draw() % (2 * least));
        let mut survived = Survived {
            server,
            kills: 0,
            pauses: 0,
        };
        if self.faults.is_empty() {
            load_ends.recv().ok();
            return Ok(survived);
        }
        for fault in self.faults.iter().cycle() {
            let calm = within(CALM_MS);
            let last = began.elapsed() + calm + LAST >= end;
            let calm = if last { end * 2 } else { calm };
            if load_ends.recv_timeout(calm) != Err(RecvTimeoutError::Timeout) {
                break;
            }
            match fault {
                Fault::Kill => {
                    let address = survived.server.resp();
                    survived.server.kill().context("SIGKILL")?;
                    survived.server = self.start(address).context("after SIGKILL")?;
                    survived.kills += 1;
                }
                Fault::Pause => {
                    let server = &survived.server;
                    server.signal(Signal::STOP).context("SIGSTOP")?;
                    let ended = load_ends.recv_timeout(within(PAUSE_MS));
                    server.signal(Signal::CONT).context("SIGCONT")?;
                    survived.pauses += 1;
                    if ended != Err(RecvTimeoutError::Timeout) {
                        break;
                    }
                }
            }
        }
        Ok(survived)
    }
}

impl Survived {
    pub(super) fn summary(&self) -> String {
        format!(
            "the server was killed and started again {} times, and paused {} times",
            self.kills, self.pauses
        )
    }
}

/// An address of loopback at which nobody listens, and which no client gets by chance.
pub(super) fn free_port() -> anyhow::Result<SocketAddr> {
    let mut draw = turnstile_load::dice(u64::from(std::process::id()));
    let span = u64::from(PORTS.end - PORTS.start);
    let free = (0..100).find_map(|_try| {
        let port = PORTS.start + u16::try_from(draw() % span).ok()?;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        TcpListener::bind(address).is_ok().then_some(address)
    });
    ensure!(free.is_some(), "no free port of {PORTS:?}");
    free.context("a free port")
}
