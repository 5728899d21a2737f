//! Clients of a cluster: each asks some node, and another one again under the same keys when that gives
//! no answer.

use std::{
    net::SocketAddr,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use anyhow::{Context as _, anyhow, bail};
use turnstile_client::{Connection, resp::Value};
use turnstile_stats::units::Count;

use super::super::crash::Wish;
use crate::{
    exit::Coded,
    resp::{self, Outcome},
    season::AcknowledgedBooking,
};

/// Clients, in pairs that want the same rooms.
const CLIENTS: u32 = 6;

/// Requests that each has under way.
const PIPELINE: u32 = 16;

/// A client that found no node asks again after this time.
const REST: Duration = Duration::from_millis(20);

/// Answers that say: nothing was done, or nobody knows. Asking again under the same key is right for both.
const ASK_AGAIN: [&str; 3] = ["UNAVAILABLE", "UNKNOWN", "LOADING"];

/// When clients were answered.
#[derive(Clone, Copy, Debug)]
struct Pulse {
    answers: u64,
    /// The same when the phase began.
    before: u64,
    last: Instant,
    /// The longest time of the phase without an answer to anybody.
    longest: Duration,
    has_failed: bool,
}

/// Where nodes can be reached, and how clients fare.
pub(super) struct ClusterScene {
    addresses: Mutex<Vec<Option<SocketAddr>>>,
    pulse: Mutex<Pulse>,
    bell: Condvar,
    is_over: AtomicBool,
}

/// What clients were told.
#[derive(Debug, Default)]
pub(super) struct ToldBookings {
    pub(super) acknowledged: Vec<AcknowledgedBooking>,
    refused: u64,
    /// Requests that were not answered and asked again.
    again: u64,
    /// Those of them that turned out to have been done before.
    done_before: u64,
}

pub(super) struct ClusterClients(Vec<JoinHandle<anyhow::Result<ToldBookings>>>);

impl ClusterScene {
    pub(super) fn new(addresses: Vec<SocketAddr>) -> Self {
        Self {
            addresses: Mutex::new(addresses.into_iter().map(Some).collect()),
            pulse: Mutex::new(Pulse {
                answers: 0,
                before: 0,
                last: Instant::now(),
                longest: Duration::ZERO,
                has_failed: false,
            }),
            bell: Condvar::new(),
            is_over: AtomicBool::new(false),
        }
    }

    /// A node can be reached here, or not at all.
    pub(super) fn set(&self, number: usize, address: Option<SocketAddr>) {
        let mut addresses = self
            .addresses
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = addresses.get_mut(number) {
            *place = address;
        }
    }

    /// The node with this number, if it can be reached.
    fn node(&self, number: usize) -> Option<SocketAddr> {
        let addresses = self
            .addresses
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *addresses.get(number % addresses.len())?
    }

    fn pulse(&self) -> MutexGuard<'_, Pulse> {
        self.pulse.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn begin_phase(&self) {
        let mut pulse = self.pulse();
        pulse.before = pulse.answers;
        pulse.longest = Duration::ZERO;
        pulse.last = Instant::now();
    }

    /// The answers of the phase, and the longest time without any.
    pub(super) fn phase(&self) -> (u64, Duration) {
        let pulse = self.pulse();
        (pulse.answers - pulse.before, pulse.longest)
    }

    /// Waits for so many answers more.
    ///
    /// # Errors
    /// A client was told something wrong.
    pub(super) fn await_answers(&self, more: u64) -> anyhow::Result<()> {
        let pulse = self.pulse();
        let goal = pulse.answers + more;
        let waits = |pulse: &mut Pulse| pulse.answers < goal && !pulse.has_failed;
        let waited = self.bell.wait_while(pulse, waits);
        let pulse = waited.unwrap_or_else(PoisonError::into_inner);
        if pulse.has_failed {
            bail!("a client has failed");
        }
        Ok(())
    }

    fn note_answers(&self, count: u64) {
        let mut pulse = self.pulse();
        pulse.longest = pulse.longest.max(pulse.last.elapsed());
        pulse.last = Instant::now();
        pulse.answers += count;
        self.bell.notify_all();
    }

    /// Lets time pass, unless a client fails.
    pub(super) fn rest(&self, time: Duration) {
        let waits = |pulse: &mut Pulse| !pulse.has_failed;
        let waited = self.bell.wait_timeout_while(self.pulse(), time, waits);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }

    fn fail(&self) {
        self.pulse().has_failed = true;
        self.bell.notify_all();
    }

    /// Has clients end when they have their answers.
    pub(super) fn end(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }
}

impl ClusterClients {
    pub(super) fn start(scene: &Arc<ClusterScene>) -> anyhow::Result<Self> {
        let start = |number| {
            let scene = Arc::clone(scene);
            thread::Builder::new().spawn(move || {
                let told = ClusterClient::new(&scene, number).ask_to_the_end();
                told.inspect_err(|_| scene.fail())
            })
        };
        let clients: Result<_, _> = (0..CLIENTS).map(start).collect();
        Ok(Self(clients?))
    }

    /// What all of them were told.
    pub(super) fn join(self) -> anyhow::Result<ToldBookings> {
        let mut all = ToldBookings::default();
        for client in self.0 {
            let ended = client.join().map_err(|_panic| anyhow!("a client panicked"));
            let told = ended??;
            all.acknowledged.extend(told.acknowledged);
            all.refused += told.refused;
            all.again += told.again;
            all.done_before += told.done_before;
        }
        Ok(all)
    }
}

impl ToldBookings {
    pub(super) fn summary(&self) -> String {
        format!(
            "{} booked, {} refused (every room was wanted twice); {} asked again, {} of which had been done",
            Count(self.acknowledged.len().try_into().unwrap_or(u64::MAX)),
            Count(self.refused),
            Count(self.again),
            Count(self.done_before),
        )
    }
}

struct ClusterClient<'a> {
    scene: &'a ClusterScene,
    number: u32,
    /// The node that it asks, by its number.
    node: usize,
    door: Option<Connection>,
    told: ToldBookings,
}

impl<'a> ClusterClient<'a> {
    fn new(scene: &'a ClusterScene, number: u32) -> Self {
        Self {
            scene,
            number,
            node: usize::try_from(number).unwrap_or_default(),
            door: None,
            told: ToldBookings::default(),
        }
    }

    /// Asks for one batch after the other, each until all of it is answered.
    fn ask_to_the_end(mut self) -> anyhow::Result<ToldBookings> {
        let mut first = 0;
        while !self.scene.is_over.load(Ordering::Relaxed) {
            let numbers = first..first + PIPELINE;
            let wish = |number| Wish {
                connection: self.number,
                number,
            };
            let mut open: Vec<Wish> = numbers.map(wish).collect();
            first += PIPELINE;
            while !open.is_empty() {
                open = self.ask(open)?;
                self.told.again += u64::try_from(open.len())?;
            }
            // Clients change their nodes also while all is well.
            if first % (PIPELINE * 64) == 0 {
                self.leave();
            }
        }
        Ok(self.told)
    }

    /// Goes to the next node.
    fn leave(&mut self) {
        self.door = None;
        self.node += 1;
    }

    /// Asks some node for all of these; gives those that were not answered.
    fn ask(&mut self, open: Vec<Wish>) -> anyhow::Result<Vec<Wish>> {
        let Some(mut door) = self.door.take().or_else(|| self.connect()) else {
            self.node += 1;
            self.scene.rest(REST);
            return Ok(open);
        };
        for wish in &open {
            wish.send(&mut door);
        }
        let mut left = Vec::new();
        let mut wishes = open.into_iter();
        for wish in wishes.by_ref() {
            let Ok(value) = door.receive() else {
                left.push(wish);
                break;
            };
            if !self.hear(wish, &value)? {
                left.push(wish);
            }
        }
        let is_lost = wishes.len() > 0;
        left.extend(wishes);
        if left.is_empty() {
            self.door = Some(door);
        } else {
            self.leave();
            if !is_lost {
                self.scene.rest(REST);
            }
        }
        Ok(left)
    }

    fn connect(&self) -> Option<Connection> {
        resp::connect(self.scene.node(self.node)?).ok()
    }

    /// Takes an answer; says whether it is one.
    fn hear(&mut self, wish: Wish, value: &Value) -> anyhow::Result<bool> {
        if let Value::Error(error) = value
            && ASK_AGAIN.iter().any(|word| error.starts_with(word))
        {
            return Ok(false);
        }
        let answer = resp::answer(value)?;
        self.told.done_before += u64::from(answer.replayed);
        match answer.outcome {
            Outcome::Done(words) => self.told.acknowledged.push(wish.booked(&words)?),
            Outcome::Refused(code) if code == "sold_out" => self.told.refused += 1,
            Outcome::Refused(code) => {
                let told = format!("a booking of a free room was refused as {code}");
                return Err(Coded::violation(told)).context("the load");
            }
        }
        self.scene.note_answers(1);
        Ok(true)
    }
}
