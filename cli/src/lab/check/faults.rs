//! Faults that `lab check` causes in the server.

use std::{
    net::{Ipv4Addr, SocketAddr, TcpListener},
    path::PathBuf,
    process::ExitStatus,
    str::FromStr,
    sync::mpsc::{Receiver, RecvTimeoutError},
    time::{Duration, Instant},
};

use anyhow::{Context as _, ensure};
use rustix::process::Signal;
use turnstile_client::Connection;

use crate::{
    child::Server,
    exit::{Coded, DISK},
};

/// Between two faults pass at least so much and at most three times that: users have connected again
/// by then.
const CALM_MS: u64 = 500;

/// No fault comes later than this before the end: what follows needs a server.
const LAST: Duration = Duration::from_secs(1);

/// A pause lasts at least so long, and at most three times that. So long a disk stays full once the
/// server has noticed it, and so long is a server let go on whose disk loses everything.
const PAUSE_MS: u64 = 200;

/// The sync that fails is one of so many that come next, but never the very next.
const SYNCS: u64 = 50;

/// A server that has written so many groups since one of its next syncs was to fail takes no notice. It
/// syncs after each group, or after a few.
const GROUPS_MAX: u64 = 10 * SYNCS;

/// A server that has written so many records to a full disk takes no notice. They are several times what
/// its segments of 128 KiB hold.
const RECORDS_MAX: u64 = 32_768;

/// So long it is not asked what it has written.
const PATIENCE: Duration = Duration::from_secs(10);

/// How often it is looked whether a server has ended, or is read-only.
const LOOK: Duration = Duration::from_millis(5);

/// Ports that the system gives to nobody by itself. A client that connects to a port of those that it
/// does give, while nobody listens there, may get that very port for itself and speak to itself.
const PORTS: std::ops::Range<u16> = 20_000..30_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// Nothing in the server gets a chance to finish; then it is started again.
    Kill,
    /// The server stands still, and goes on.
    Pause,
    /// A sync fails, and most of what it was for is lost. The server must end by itself; then it is
    /// started again.
    SyncError,
    /// A sync, and all after it, lose what they are for and say nothing; then the server is killed and
    /// started again. No server can keep its promises then.
    SyncLost,
    /// There is no room on the disk, and then there is again.
    FullDisk,
}

/// Faults at instants that a seed decides.
#[derive(Debug)]
pub(super) struct Storm {
    faults: Vec<Fault>,
    seed: u64,
    program: Option<PathBuf>,
    data: PathBuf,
    /// What else the server is told.
    flags: Vec<(String, String)>,
}

/// The server after the storm, and what it has been through.
#[derive(Debug)]
pub(super) struct Survived {
    pub(super) server: Server,
    kills: u32,
    pauses: u32,
    /// Syncs that failed, after each of which it ended.
    sync_errors: u32,
    syncs_lost: u32,
    full_disks: u32,
}

/// Whether the load goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LoadState {
    GoesOn,
    HasEnded,
}

impl Fault {
    const ALL: [Self; 5] = [
        Self::Kill,
        Self::Pause,
        Self::SyncError,
        Self::SyncLost,
        Self::FullDisk,
    ];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Kill => "kill",
            Self::Pause => "pause",
            Self::SyncError => "sync-error",
            Self::SyncLost => "sync-lost",
            Self::FullDisk => "full-disk",
        }
    }

    /// Whether the server must take orders about its disk.
    const fn is_of_disk(self) -> bool {
        matches!(self, Self::SyncError | Self::SyncLost | Self::FullDisk)
    }
}

impl FromStr for Fault {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, &'static str> {
        let mut all = Self::ALL.into_iter();
        all.find(|fault| fault.name() == text)
            .ok_or("a fault is kill, pause, sync-error, full-disk or sync-lost")
    }
}

impl Storm {
    /// Of a server that is this program or another, with its data here, and is told this.
    pub(super) fn new(
        faults: Vec<Fault>,
        seed: u64,
        program: Option<PathBuf>,
        data: PathBuf,
        mut flags: Vec<(String, String)>,
    ) -> Self {
        if faults.iter().any(|fault| fault.is_of_disk()) {
            flags.push(("--disk-orders".to_owned(), true.to_string()));
        }
        Self {
            faults,
            seed,
            program,
            data,
            flags,
        }
    }

    pub(super) fn start(&self, address: SocketAddr) -> anyhow::Result<Server> {
        Server::start_at(self.program.as_deref(), &self.data, address, &self.flags)
    }

    /// Does one fault after the other until the load ends, or would within the next. The server that
    /// is left.
    ///
    /// # Errors
    /// The server cannot be handled, or broke a promise: it did not end as it must, or does not start
    /// on its data.
    pub(super) fn rage(
        &self,
        server: Server,
        end: Duration,
        load_ends: &Receiver<()>,
    ) -> anyhow::Result<Survived> {
        let began = Instant::now();
        let mut draw = turnstile_load::dice(self.seed);
        let mut survived = Survived::calm(server);
        if self.faults.is_empty() {
            load_ends.recv().ok();
            return Ok(survived);
        }
        for fault in self.faults.iter().cycle() {
            let calm = Duration::from_millis(CALM_MS + draw() % (2 * CALM_MS));
            if began.elapsed() + calm + LAST >= end {
                // What is left as the load ends is read in peace, however long that takes.
                load_ends.recv().ok();
                break;
            }
            if wait(load_ends, calm) == LoadState::HasEnded {
                break;
            }
            if self.strike(*fault, &mut survived, &mut draw, load_ends)? == LoadState::HasEnded {
                break;
            }
        }
        Ok(survived)
    }

    fn strike(
        &self,
        fault: Fault,
        survived: &mut Survived,
        draw: &mut impl FnMut() -> u64,
        load_ends: &Receiver<()>,
    ) -> anyhow::Result<LoadState> {
        let pause = Duration::from_millis(PAUSE_MS + draw() % (2 * PAUSE_MS));
        let nth = 2 + draw() % SYNCS;
        let server = &mut survived.server;
        match fault {
            Fault::Kill => {
                survived.kills += 1;
                self.kill(survived, "SIGKILL")?;
                Ok(LoadState::GoesOn)
            }
            Fault::Pause => {
                server.signal(Signal::STOP).context("SIGSTOP")?;
                let load = wait(load_ends, pause);
                server.signal(Signal::CONT).context("SIGCONT")?;
                survived.pauses += 1;
                Ok(load)
            }
            Fault::SyncError => {
                let mut groups = WrittenBefore::so_far(server, "groups")?;
                order(server, &format!("sync-error {nth}"))?;
                let (status, load) = await_end(server, &mut groups, load_ends)?;
                match status {
                    Some(status) => {
                        ends_well(status)?;
                        survived.sync_errors += 1;
                        self.start_again(survived, "a failed sync")?;
                    }
                    // Nothing of the order may be left when the server is stopped.
                    None if load == LoadState::HasEnded => self.kill(survived, "SIGKILL")?,
                    None => return Err(went_on()),
                }
                Ok(load)
            }
            Fault::SyncLost => {
                order(server, &format!("sync-lost {nth}"))?;
                let load = wait(load_ends, pause);
                survived.syncs_lost += 1;
                self.kill(survived, "SIGKILL on a disk that lost what was synced")?;
                Ok(load)
            }
            Fault::FullDisk => {
                order(server, "full-disk")?;
                let (noticed, mut load) = until_read_only(server, load_ends)?;
                if load == LoadState::GoesOn {
                    load = wait(load_ends, pause);
                }
                order(server, "room")?;
                survived.full_disks += u32::from(noticed);
                Ok(load)
            }
        }
    }

    fn kill(&self, survived: &mut Survived, after: &'static str) -> anyhow::Result<()> {
        survived.server.signal(Signal::KILL).context("SIGKILL")?;
        self.start_again(survived, after)
    }

    /// Starts a server on the data of one that has ended or is about to.
    fn start_again(&self, survived: &mut Survived, after: &'static str) -> anyhow::Result<()> {
        survived.server.await_end()?;
        let address = survived.server.resp();
        survived.server = self.start(address).map_err(|error| {
            let broken = format!("after {after} the server does not start on its data: {error:#}");
            Coded::violation(broken)
        })?;
        Ok(())
    }
}

fn order(server: &mut Server, order: &str) -> anyhow::Result<()> {
    server
        .order(order)
        .with_context(|| format!("the order `{order}`"))
}

/// Waits while the load goes on.
fn wait(load_ends: &Receiver<()>, time: Duration) -> LoadState {
    match load_ends.recv_timeout(time) {
        Err(RecvTimeoutError::Timeout) => LoadState::GoesOn,
        Ok(()) | Err(RecvTimeoutError::Disconnected) => LoadState::HasEnded,
    }
}

/// What a server had written when a fault was ordered, as `INFO` counts it.
struct WrittenBefore {
    door: Connection,
    what: &'static str,
    before: u64,
    since: Instant,
}

impl WrittenBefore {
    fn so_far(server: &Server, what: &'static str) -> anyhow::Result<Self> {
        let mut door = Connection::connect(server.resp(), PATIENCE).context("a fault")?;
        let before = persistence(&mut door, what)?;
        Ok(Self {
            door,
            what,
            before: before.with_context(|| format!("INFO does not count {what}"))?,
            since: Instant::now(),
        })
    }

    /// Whether it has written more than this since. A slow server is not hurried.
    fn is_beyond(&mut self, most: u64) -> bool {
        if self.since.elapsed() <= PATIENCE {
            return false;
        }
        // One that ends meanwhile does not answer.
        let now = persistence(&mut self.door, self.what).ok().flatten();
        now.is_some_and(|now| now > self.before + most)
    }
}

/// A figure of `INFO persistence`.
fn persistence(door: &mut Connection, name: &str) -> anyhow::Result<Option<u64>> {
    let info = door.command(&[b"INFO", b"persistence"]).context("INFO")?;
    let mut lines = info.as_str().unwrap_or_default().lines();
    let found = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    Ok(found.and_then(|figure| figure.parse().ok()))
}

/// Waits until a server ends by itself; nothing when it goes on, or as long as there is load.
fn await_end(
    server: &mut Server,
    groups: &mut WrittenBefore,
    load_ends: &Receiver<()>,
) -> anyhow::Result<(Option<ExitStatus>, LoadState)> {
    let mut load = LoadState::GoesOn;
    loop {
        let status = server.ended()?;
        let is_over = load == LoadState::HasEnded || groups.is_beyond(GROUPS_MAX);
        if status.is_some() || is_over {
            return Ok((status, load));
        }
        load = wait(load_ends, LOOK);
    }
}

/// Waits until a server says that it has no room; whether it does while there is load.
fn until_read_only(server: &Server, load_ends: &Receiver<()>) -> anyhow::Result<(bool, LoadState)> {
    let mut records = WrittenBefore::so_far(server, "records")?;
    loop {
        if persistence(&mut records.door, "read_only")? == Some(1) {
            return Ok((true, LoadState::GoesOn));
        }
        if wait(load_ends, LOOK) == LoadState::HasEnded {
            return Ok((false, LoadState::HasEnded));
        }
        if records.is_beyond(RECORDS_MAX) {
            return Err(Coded::invalid(format!(
                "the disk is full, but the server has written {RECORDS_MAX} records and is not \
                 read-only: it takes no notice"
            ))
            .into());
        }
    }
}

/// Of a server that has not ended when a sync should have failed.
fn went_on() -> anyhow::Error {
    Coded::invalid(format!(
        "one of the next {SYNCS} syncs was to fail, but the server has written {GROUPS_MAX} groups \
         and goes on: it takes no notice"
    ))
    .into()
}

/// A server whose journal failed says so and ends; it must not be stopped by anything else.
fn ends_well(status: ExitStatus) -> anyhow::Result<()> {
    if status.code() == Some(i32::from(DISK)) {
        return Ok(());
    }
    Err(Coded::violation(format!(
        "after a failed sync the server must say why it ends and answer {DISK}, but it ended with \
         {status}"
    ))
    .into())
}

impl Survived {
    const fn calm(server: Server) -> Self {
        Self {
            server,
            kills: 0,
            pauses: 0,
            sync_errors: 0,
            syncs_lost: 0,
            full_disks: 0,
        }
    }

    /// Whether anything was done to it.
    pub(super) const fn is_untouched(&self) -> bool {
        self.kills + self.pauses + self.sync_errors + self.syncs_lost + self.full_disks == 0
    }

    pub(super) fn summary(&self) -> String {
        let mut summary = format!(
            "the server was killed and started again {} times, and paused {} times",
            self.kills, self.pauses
        );
        for (times, what) in [
            (
                self.sync_errors,
                "a sync failed, it ended and was started again",
            ),
            (
                self.syncs_lost,
                "its disk lost what was synced, and it was killed",
            ),
            (self.full_disks, "its disk was full"),
        ] {
            if times > 0 {
                summary.push_str(&format!("; {times} times {what}"));
            }
        }
        summary
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
