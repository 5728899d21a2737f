//! Answers that clients have not taken yet, bounded over all connections of the door.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    task::{Context, Poll, Waker},
};

use futures_util::task::AtomicWaker;

use super::line::{Clock, SweptMs};
use crate::{
    core::log_limit::LogLimit,
    counters::{Counters, DoorName},
    limits::SHED_PART,
};

/// Added to the age of what is unread, so that of two that began at once the larger is dropped.
const YOUNGEST_MS: u64 = 1_000;

/// What all clients of the door have left unread.
///
/// Only what a socket has refused is here, so an answer that is taken at once costs nothing. When the
/// whole exceeds its bound, those connections are dropped that have left the most unread for the
/// longest. To read no more from them instead would keep the memory, and the others would wait.
#[derive(Debug)]
pub(super) struct Backlog {
    bytes_max: AtomicUsize,
    counters: Arc<Counters>,
    clock: Arc<Clock>,
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    clients: BTreeMap<u64, Client>,
    last: u64,
    bytes: usize,
    drops: LogLimit,
}

#[derive(Debug)]
struct Client {
    bytes: usize,
    /// When it last took something.
    since: SweptMs,
    dropped: Arc<Dropped>,
}

/// Whether a connection is to end because it does not read.
#[derive(Debug, Default)]
pub(super) struct Dropped {
    is_dropped: AtomicBool,
    task: AtomicWaker,
}

impl Dropped {
    pub(super) fn get(&self) -> bool {
        self.is_dropped.load(Ordering::Acquire)
    }

    /// Says which task to wake when it is dropped.
    pub(super) fn wakes(&self, task: &Waker) {
        self.task.register(task);
    }

    /// Ready when it is dropped.
    pub(super) fn poll(&self, cx: &Context<'_>) -> Poll<()> {
        self.wakes(cx.waker());
        if self.get() {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }
}

/// What one connection has left unread.
#[derive(Debug)]
pub(super) struct Unsent {
    backlog: Arc<Backlog>,
    number: u64,
    bytes: usize,
    dropped: Arc<Dropped>,
}

impl Unsent {
    pub(super) const fn dropped(&self) -> &Arc<Dropped> {
        &self.dropped
    }

    /// Whether the socket has taken everything.
    pub(super) const fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// The socket has left so many bytes of what it was given.
    pub(super) fn note(&mut self, left: usize) {
        if left == self.bytes {
            return;
        }
        let before = std::mem::replace(&mut self.bytes, left);
        if !self.dropped.get() {
            self.backlog.note(self, before);
        }
    }
}

impl Drop for Unsent {
    fn drop(&mut self) {
        self.note(0);
    }
}

impl Backlog {
    pub(super) fn new(bytes_max: usize, counters: Arc<Counters>, clock: Arc<Clock>) -> Self {
        Self {
            bytes_max: AtomicUsize::new(bytes_max),
            counters,
            clock,
            table: Mutex::default(),
        }
    }

    /// Bounds what is unread from now on; it is shed when more comes.
    pub(super) fn bound(&self, bytes_max: usize) {
        self.bytes_max.store(bytes_max, Ordering::Relaxed);
    }

    /// A new connection.
    pub(super) fn join(self: &Arc<Self>) -> Unsent {
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        table.last += 1;
        Unsent {
            backlog: Arc::clone(self),
            number: table.last,
            bytes: 0,
            dropped: Arc::default(),
        }
    }

    fn note(&self, client: &Unsent, before: usize) {
        let now = self.clock.swept();
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        table.bytes = table.bytes - before + client.bytes;
        if client.bytes == 0 {
            table.clients.remove(&client.number);
        } else {
            let entry = table.clients.entry(client.number);
            let known = entry.or_insert_with(|| Client {
                bytes: 0,
                since: now,
                dropped: Arc::clone(&client.dropped),
            });
            if client.bytes < known.bytes {
                known.since = now;
            }
            known.bytes = client.bytes;
        }
        if table.bytes > self.bytes_max.load(Ordering::Relaxed) {
            self.shed(&mut table, now);
        }
        self.counters.http_unsent_bytes.set(number(table.bytes));
    }

    /// Drops the slowest until there is some room again.
    fn shed(&self, table: &mut Table, now: SweptMs) {
        let unsent = table.bytes;
        let most = self.bytes_max.load(Ordering::Relaxed);
        let enough = most - most / SHED_PART;
        let weight = |client: &Client| {
            let age = now.saturating_sub(client.since) + YOUNGEST_MS;
            u128::from(age) * u128::from(number(client.bytes))
        };
        let clients = table.clients.iter();
        let mut slowest: Vec<_> = clients.map(|(&place, one)| (weight(one), place)).collect();
        slowest.sort_unstable();
        let mut count = 0_u64;
        while table.bytes > enough
            && let Some((_, place)) = slowest.pop()
        {
            let client = table.clients.remove(&place).expect("it was just found");
            table.bytes -= client.bytes;
            client.dropped.is_dropped.store(true, Ordering::Release);
            client.dropped.task.wake();
            count += 1;
        }
        self.counters.of(DoorName::Http).dropped.add(count);
        let Some(dropped) = table.drops.count(count) else {
            return;
        };
        tracing::warn!(
            unsent,
            dropped,
            "HTTP clients left more unread than limits.output_bytes allows: the slowest were dropped"
        );
    }
}

fn number(length: usize) -> u64 {
    u64::try_from(length).expect("a length fits 64 bits")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_are_dropped_first_that_leave_most_unread_for_the_longest() {
        let counters = Arc::<Counters>::default();
        let clock = Arc::new(Clock::new());
        let backlog = Arc::new(Backlog::new(1_600, Arc::clone(&counters), clock));
        let mut clients: Vec<Unsent> = (0..5).map(|_| backlog.join()).collect();
        for (client, left) in clients.iter_mut().zip([700, 300, 600]) {
            client.note(left);
        }
        assert_eq!(counters.http_unsent_bytes.get(), 1_600);
        // What is taken makes room, and nobody is dropped for it.
        clients[1].note(200);
        clients[3].note(100);
        assert_eq!(counters.of(DoorName::Http).dropped.get(), 0);
        clients[4].note(1);
        let dropped: Vec<bool> = clients.iter().map(|one| one.dropped().get()).collect();
        assert_eq!(dropped, [true, false, false, false, false]);
        assert_eq!(counters.http_unsent_bytes.get(), 901);
        // One that is dropped counts no more, whatever it still has.
        clients[0].note(900);
        assert_eq!(counters.http_unsent_bytes.get(), 901);
        drop(clients);
        assert_eq!(counters.http_unsent_bytes.get(), 0);
        assert_eq!(counters.of(DoorName::Http).dropped.get(), 1);
    }
}
