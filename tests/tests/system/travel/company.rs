//! The processes of travel: the middleware and four desks, or one that plays all.

use std::{
    net::Ipv4Addr,
    path::PathBuf,
    process::{self, ExitStatus},
    sync::{
        atomic::{AtomicU8, Ordering},
        mpsc::sync_channel,
    },
    time::{Duration, Instant},
};

use tempfile::TempDir;
use turnstile_tests::{Starting, Turnstile, run};

use super::clerk::Clerk;
use crate::crash::listing::{ask, connect};

pub(super) const MIDDLEWARE: usize = 0;
pub(super) const FLIGHTS: usize = 1;

/// The roles, the middleware first.
pub(super) const ROLES: [&str; 5] = ["middleware", "flights", "cars", "rooms", "customers"];

/// The port of the middleware's door, and those of the desks behind it.
const PORT: u16 = 12_346;

/// How long something may take that happens by itself.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long a lock is waited for, and a desk may be silent: long enough for a desk on a machine that
/// has other work.
const WAIT_MS: u64 = 2_000;

/// Processes that find each other at an address of the loopback that is theirs alone, so that one
/// that comes back finds its port free.
pub(super) struct Company {
    folder: TempDir,
    host: Ipv4Addr,
    processes: Vec<Option<Turnstile>>,
}

/// Lets others work for a moment.
pub(crate) fn glance() {
    let (_never, nothing) = sync_channel::<()>(0);
    let waited = nothing.recv_timeout(Duration::from_millis(2));
    assert!(waited.is_err(), "nobody sends anything");
}

static COMPANIES: AtomicU8 = AtomicU8::new(1);

impl Company {
    /// Each role in a process of its own.
    pub(super) fn separate() -> Self {
        Self::of(ROLES.len())
    }

    /// Everybody in one process, which is called the middleware.
    pub(super) fn alone() -> Self {
        Self::of(1)
    }

    fn of(count: usize) -> Self {
        let [high, low] = u16::try_from(process::id() % 0x4000)
            .expect("14 bits")
            .to_be_bytes();
        let own = COMPANIES.fetch_add(1, Ordering::Relaxed);
        let mut company = Self {
            folder: tempfile::tempdir().expect("a temporary folder"),
            host: Ipv4Addr::new(127, 128 + high, low, own),
            processes: (0..count).map(|_| None).collect(),
        };
        let starting: Vec<Starting> = (0..count).map(|role| company.begin(role)).collect();
        for (process, starting) in company.processes.iter_mut().zip(starting) {
            *process = Some(starting.ready());
        }
        company.until_all_have_met();
        company
    }

    pub(super) fn count(&self) -> usize {
        self.processes.len()
    }

    /// The data directory of a role.
    pub(super) fn data(&self, role: usize) -> PathBuf {
        self.folder.path().join(ROLES[role])
    }

    fn begin(&self, role: usize) -> Starting {
        let address = |port: usize| format!("{}:{}", self.host, usize::from(PORT) + port);
        let mut arguments = vec!["--travel-fault-points".to_owned()];
        let mut say = |flag: &str, value: String| arguments.extend([flag.to_owned(), value]);
        say("--travel-wait-ms", WAIT_MS.to_string());
        if role == MIDDLEWARE {
            say("--travel", address(0));
        }
        if self.count() > 1 {
            say("--role", ROLES[role].to_owned());
            for (port, desk) in ROLES.iter().enumerate().skip(1) {
                say(&format!("--peer-{desk}"), address(port));
            }
        }
        Turnstile::begin(&self.data(role), &arguments)
    }

    /// Starts a role again, and waits until it serves.
    pub(super) fn start(&mut self, role: usize) {
        let ready = self.begin(role).ready();
        assert!(self.processes[role].replace(ready).is_none());
    }

    /// Starts a role that ends by itself.
    pub(super) fn start_in_vain(&mut self, role: usize) -> ExitStatus {
        self.begin(role).ended()
    }

    /// Kills a role as `kill -9` does.
    pub(super) fn kill(&mut self, role: usize) {
        self.processes[role].take().expect("it runs").kill();
    }

    /// Waits until a role ends by itself.
    pub(super) fn ended(&mut self, role: usize) -> ExitStatus {
        self.processes[role].take().expect("it runs").ended()
    }

    pub(super) fn process(&self, role: usize) -> &Turnstile {
        self.processes[role].as_ref().expect("it runs")
    }

    /// Somebody at the middleware's door, once it is open.
    pub(super) fn clerk(&self) -> Clerk {
        Clerk::at((self.host, PORT).into())
    }

    pub(super) fn address(&self) -> std::net::SocketAddr {
        (self.host, PORT).into()
    }

    /// What a process tells of the line of a desk, such as `in_doubt`.
    pub(super) fn line(&self, role: usize, desk: usize, name: &str) -> u64 {
        let mut connection = connect(self.process(role).resp()).expect("its door is open");
        let info = ask(&mut connection, &["INFO", "travel"]).expect("it tells of itself");
        let info = info.as_str().unwrap_or_default();
        let start = format!("travel_line_{}:", ROLES[desk]);
        let line = info.lines().find_map(|line| line.strip_prefix(&start));
        let mut facts = line.into_iter().flat_map(|line| line.split(','));
        let fact = facts.find_map(|fact| fact.strip_prefix(&format!("{name}=")));
        let fact = fact.unwrap_or_else(|| panic!("no {name} of {} in {info}", ROLES[desk]));
        fact.parse().expect("a number")
    }

    /// Waits until it is so.
    #[track_caller]
    pub(super) fn until(&self, what: &str, holds: impl Fn(&Self) -> bool) {
        let end = Instant::now() + PATIENCE;
        while !holds(self) {
            assert!(Instant::now() < end, "{what}: not within {PATIENCE:?}");
            glance();
        }
    }

    /// Waits until the middleware has met every desk.
    #[track_caller]
    pub(super) fn until_all_have_met(&self) {
        self.until("everybody has met", |company| {
            let mut desks = FLIGHTS..company.count();
            desks.all(|desk| company.line(MIDDLEWARE, desk, "connected") == 1)
        });
    }

    /// Stops everybody, and looks whether their directories are sound.
    pub(super) fn stop_and_verify(&mut self) {
        for (role, process) in self.processes.iter_mut().enumerate() {
            let status = process.take().expect("it runs").stop();
            assert!(status.success(), "{}: {status}", ROLES[role]);
        }
        for role in 0..self.count() {
            let verdict = run(&["verify"], &self.data(role));
            assert!(verdict.status.success(), "{verdict:?}");
        }
    }
}
