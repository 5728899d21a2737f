//! The one pacing loop: users over non-blocking sockets, a thread per core.
//!
//! In a closed loop a user asks when it has been answered, and has thought. An operation is *due* when
//! its user's slot becomes free, and *ready* at once. In an open loop operations are due at instants
//! that were fixed before, whatever is answered, those of one schedule for all connections. Somebody is
//! *free* for it at that instant or later, and what comes late counts.
//!
//! What is paced is what users *begin*: a request or, where several make a whole, the first of them.
//! The others follow as soon as the one before is answered, and the whole is what is measured.
//!
//! Invariant: between the end of the start and the end of the run, a worker neither allocates nor
//! locks, unless a connection is lost. (Users of a check lock an outbox to put in what they tell.)

mod agenda;
mod desk;
mod lateness;
mod length;
mod reader;
mod schedule;
mod session;
mod slices;
mod tally;
mod user;
mod vigil;
mod worker;

use std::{
    net::TcpStream,
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};

use serde::Serialize;
use turnstile_client::{PeerStream, ServerAddress};
use turnstile_stats::{Histogram, Interval, Little, fit::AndersonDarling, throughput};

pub use lateness::lateness;
pub use length::{Known, Length};
pub use schedule::{Law, Profile, Schedule};
pub use slices::{Bin, MEMORY_TAKEN};
pub use tally::{LatencyBreakdown, Operation, Tally, WholeTally, Words};
pub use user::{Answer, Ended, Garbled, ParsedAnswer, User};
pub use vigil::Vigil;

use crate::{
    Error,
    crew::{self, USERS_MAX, connect},
    priority,
};
use reader::Reader;
use slices::Album;
use worker::{Place, Worker, WorkerView};

/// The deepest pipeline: beyond this a server's own limit answers, not its speed.
const PIPELINE_MAX: usize = 1_024;

/// The longest run.
const DURATION_MAX: Duration = Duration::from_secs(86_400);

/// How a run is paced.
#[derive(Clone, Debug, PartialEq)]
pub struct Pace {
    /// The door to drive, and how it is spoken to.
    pub address: ServerAddress,
    /// Generator threads; no more than there are users are started.
    pub threads: usize,
    /// How many requests each connection has under way, 1 to 1,024.
    pub pipeline: usize,
    pub rhythm: Rhythm,
    pub length: Length,
    /// What an operation may take from its due instant on; later answers count as late, too.
    pub deadline: Option<Duration>,
    /// How long nobody may be answered at all before those who wait are given up; none: to the end.
    pub patience: Option<Duration>,
    /// Whether what is written leaves at once (`TCP_NODELAY`). Without it a second small message
    /// waits until the first is acknowledged.
    pub no_delay: bool,
    /// Decides instants and thoughts.
    pub seed: u64,
    pub wait: Wait,
}

/// How the generator's threads wait for what is due.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Wait {
    #[default]
    Asleep,
    /// Asleep, and with real-time priority, so that they run as soon as they are woken.
    RealTime,
    /// They never sleep, so that nobody has to wake them: each takes a processor of its own whole.
    /// The system would stop one that had real-time priority, too.
    Awake,
    /// With real-time priority, and awake for nine tenths of the time: nobody has to wake them, and nobody
    /// delays them. They sleep where nothing is due, so that others have their share without taking it.
    Alert,
}

impl Wait {
    /// Whether they ask for real-time priority.
    #[must_use]
    pub const fn is_real_time(self) -> bool {
        matches!(self, Self::RealTime | Self::Alert)
    }
}

/// When users ask.
#[derive(Clone, Debug, PartialEq)]
pub enum Rhythm {
    /// When they have been answered, and have thought.
    Closed {
        think: Think,
        /// How many users there are over time; none: all, always.
        stages: Option<Profile>,
    },
    /// At instants of one schedule, of which each goes to a connection that is free.
    Open { law: Law, rate: Profile },
}

/// How long a user takes from an answer to its next request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Think {
    None,
    Fixed(Duration),
    /// With this mean.
    Exponential(Duration),
}

impl Rhythm {
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Closed { .. } => "closed",
            Self::Open { .. } => "open",
        }
    }
}

impl Pace {
    /// Whether all users ask at once when they are answered, so that their number is that of the
    /// requests under way.
    #[must_use]
    pub const fn is_busy(&self) -> bool {
        matches!(
            self.rhythm,
            Rhythm::Closed {
                think: Think::None,
                stages: None
            }
        )
    }

    /// Users who ask when they have been answered, for a given time.
    #[must_use]
    pub fn closed(
        address: impl Into<ServerAddress>,
        warm_up: Duration,
        duration: Duration,
    ) -> Self {
        Self {
            address: address.into(),
            threads: 1,
            pipeline: 1,
            rhythm: Rhythm::Closed {
                think: Think::None,
                stages: None,
            },
            length: Length::Fixed { warm_up, duration },
            deadline: None,
            patience: None,
            no_delay: true,
            seed: 1,
            wait: Wait::Asleep,
        }
    }
}

/// How a run is going.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Since the start, warm-up included.
    pub elapsed: Duration,
    /// Warm-up and window together.
    pub planned: Duration,
    /// Answers so far, of any kind.
    pub answered: u64,
    /// Of them, refusals.
    pub refused: u64,
    /// Error answers, and requests whose answer will never come.
    pub failed: u64,
    /// Answers a second since the last progress.
    pub rate: f64,
    /// Response times of about the last second; none before the window, or where too few were answered.
    pub times: Option<RecentTimes>,
    /// What was checked so far, of a load that is checked meanwhile.
    pub checked: Option<CheckProgress>,
}

/// Percentiles of what was measured lately, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecentTimes {
    pub p50: u64,
    /// None where too few were answered.
    pub p99: Option<u64>,
}

/// How far a check is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckProgress {
    /// Answers that were held against the replay.
    pub answers: u64,
    pub violations: u64,
}

/// What a run gave.
#[derive(Debug)]
pub struct Totals<U> {
    /// When the first of the threads began: what instants of a schedule are counted from.
    pub started: Instant,
    /// All threads' counts.
    pub tally: Tally,
    /// The users, as the run left them, in no order.
    pub users: Vec<U>,
    /// How many requests were meant to be under way at any time.
    pub slots: u64,
    /// Left out at the start.
    pub warm_up: Duration,
    /// The measured window. It ends with the run, where all was over before its time.
    pub window: Duration,
    /// The whole run in pieces of 100 ms, warm-up included.
    pub bins: Vec<Bin>,
    /// What is known of its steady state.
    pub known: Known,
    /// Of p99 of the response, from one p99 of each of several pieces of the window.
    pub p99: Option<Interval>,
    /// How well the gaps between arrivals that left follow their law, where chance decides them at one
    /// rate.
    pub arrivals: Option<AndersonDarling>,
    /// Operations that were due in the window of an open loop.
    pub planned: Option<u64>,
    /// User and system time of the generator's threads in the window.
    pub cpu: Duration,
    /// From the start to the last answer, warm-up included.
    pub took: Duration,
}

/// The figures of a measured window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figures {
    /// Answers a second, done and refused.
    pub throughput: f64,
    /// The check of Little's law.
    pub little: Little,
    /// What the generator itself used, in nanoseconds of processor time for each answer.
    pub cpu_per_request: f64,
    /// Where each request's time went.
    pub split: LatencyBreakdown,
}

/// A user who comes to a thread, with its connection, if it has one.
#[derive(Debug)]
struct ConnectedUser<U> {
    user: U,
    /// The number of the first of its group; without groups, its own.
    first: usize,
    stream: Option<PeerStream<TcpStream>>,
}

/// What a worker lets others see, a few times a second. A cache line of its own.
#[derive(Debug, Default)]
#[repr(align(64))]
struct ProgressCounters {
    answered: AtomicU64,
    refused: AtomicU64,
    failed: AtomicU64,
}

/// What was told last.
#[derive(Clone, Copy, Debug, Default)]
struct LastProgress {
    elapsed: Duration,
    answered: u64,
}

/// Runs `users` at this pace and tells `progress` how it goes.
///
/// # Errors
/// Settings that make no sense, or users that cannot connect before the start. Connections lost
/// later are counted.
pub fn run<U: User>(
    pace: &Pace,
    users: Vec<U>,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Totals<U>, Error> {
    check::<U>(pace, users.len())?;
    crew::allow(users.len())?;
    let mut connected = Vec::with_capacity(users.len());
    for (number, user) in users.into_iter().enumerate() {
        let stream = connect(&pace.address, pace.no_delay);
        let stream = stream.map_err(|error| Error::Connect {
            user: number,
            error,
        })?;
        connected.push((user, Some(stream)));
    }
    drive(pace, connected, usize::MAX, progress)
}

/// Runs `users` in turn: each connects, asks until it will never ask again, and goes; at most
/// `at_once` are there at a time. Connecting is part of the run, but not of the response times.
///
/// # Errors
/// Settings that make no sense. Connections that fail are counted, and made again.
pub fn run_in_turn<U: User>(
    pace: &Pace,
    users: Vec<U>,
    at_once: usize,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Totals<U>, Error> {
    check::<U>(pace, users.len())?;
    if at_once == 0 {
        return Err(Error::Setting("at least one user is there at a time"));
    }
    crew::allow(users.len().min(at_once))?;
    let waiting = users.into_iter().map(|user| (user, None)).collect();
    drive(pace, waiting, at_once, progress)
}

/// Runs users with their connections; who has none connects when fewer than `at_once` have one.
fn drive<U: User>(
    pace: &Pace,
    users: Vec<(U, Option<PeerStream<TcpStream>>)>,
    at_once: usize,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Totals<U>, Error> {
    let slots = users.len() / U::TOGETHER * pace.pipeline;
    let threads = pace.threads.min(users.len() / U::TOGETHER).min(at_once);
    let mut shares: Vec<Vec<ConnectedUser<U>>> = (0..threads).map(|_| Vec::new()).collect();
    for (number, (user, stream)) in users.into_iter().enumerate() {
        let group = number / U::TOGETHER;
        shares[group % threads].push(ConnectedUser {
            user,
            first: group * U::TOGETHER,
            stream,
        });
    }
    let boards: Vec<ProgressCounters> = (0..threads).map(|_| ProgressCounters::default()).collect();
    let until = AtomicU64::new(desk::nanos(pace.length.most()));
    let blank = || Tally::new(U::OPERATIONS, U::WHOLES);
    let (mut workers, mut inboxes) = (Vec::new(), Vec::new());
    for (thread, (share, board)) in shares.into_iter().zip(&boards).enumerate() {
        let (recorder, inbox) = slices::pair(blank);
        inboxes.push(inbox);
        let place = Place { thread, threads };
        let until = &until;
        let shared = WorkerView { board, until };
        let at_once = at_once / threads + usize::from(thread < at_once % threads);
        let worker = Worker::new(pace, place, share, at_once, recorder, shared);
        workers.push(worker.map_err(Error::Poll)?);
    }
    let mut reader = Reader::new(pace, Album::new(blank, inboxes, pace.length.bins_max()));
    let mut watch = LastProgress::default();
    let ends = crew::run(workers, Worker::run, Worker::end, |elapsed| {
        reader.look(pace, &until);
        progress(&Progress {
            times: reader.recent_times(),
            ..watch.look(pace, &boards, elapsed)
        });
    })?;
    let slots = u64::try_from(slots).expect("users and pipeline are bounded");
    Ok(reader.totals(pace, slots, ends))
}

fn check<U: User>(pace: &Pace, users: usize) -> Result<(), Error> {
    if users == 0 || users > USERS_MAX {
        return Err(Error::Setting("there are 1 to 50,000 users"));
    }
    if !users.is_multiple_of(U::TOGETHER) {
        return Err(Error::Setting(
            "the number of users must be a multiple of the size of a group",
        ));
    }
    if !U::WHOLES.is_empty() && pace.pipeline > 1 {
        return Err(Error::Setting(
            "who makes a whole of requests has one under way: no pipeline",
        ));
    }
    if pace.threads == 0 {
        return Err(Error::Setting("there is at least one thread"));
    }
    if pace.pipeline == 0 || pace.pipeline > PIPELINE_MAX {
        return Err(Error::Setting("the pipeline is 1 to 1,024 deep"));
    }
    let (window, precise) = match pace.length {
        Length::Fixed { duration, .. } => (duration, true),
        Length::Precise { relative, most } => (most, relative.is_finite() && relative > 0.0),
    };
    if window.is_zero() {
        return Err(Error::Setting("the measured window is longer than nothing"));
    }
    if !precise {
        return Err(Error::Setting("a precision is a share above 0"));
    }
    if pace.wait.is_real_time() {
        priority::try_out().map_err(Error::RealTime)?;
    }
    if window > DURATION_MAX {
        return Err(Error::Setting("a run takes a day at most"));
    }
    if let Rhythm::Closed { think, .. } = pace.rhythm
        && think != Think::None
        && pace.pipeline > 1
    {
        return Err(Error::Setting(
            "who thinks has one request under way: no pipeline",
        ));
    }
    Ok(())
}

impl LastProgress {
    fn look(&mut self, pace: &Pace, boards: &[ProgressCounters], elapsed: Duration) -> Progress {
        let sum = |count: fn(&ProgressCounters) -> &AtomicU64| -> u64 {
            boards
                .iter()
                .map(|board| count(board).load(Ordering::Relaxed))
                .sum()
        };
        let answered = sum(|board| &board.answered);
        let since = elapsed.saturating_sub(self.elapsed);
        let rate = throughput(answered - self.answered, since);
        *self = Self { elapsed, answered };
        Progress {
            elapsed,
            planned: pace.length.most(),
            answered,
            refused: sum(|board| &board.refused),
            failed: sum(|board| &board.failed),
            rate,
            times: None,
            checked: None,
        }
    }
}

impl<U> Totals<U> {
    /// From due to done, of all that users began: wholes, where there are any.
    #[must_use]
    pub fn times(&self) -> Histogram {
        self.tally.response()
    }

    #[must_use]
    pub fn figures(&self) -> Figures {
        let times = self.times();
        let throughput = throughput(times.count(), self.window);
        let answered = turnstile_stats::units::to_float(times.count().max(1));
        Figures {
            throughput,
            little: Little::new(self.slots, throughput, times.mean()),
            cpu_per_request: self.cpu.as_secs_f64() * 1e9 / answered,
            split: self.tally.split(),
        }
    }
}
