//! The handle of a log, for a house without an executor: the brokers are the business of a thread.

use std::{
    collections::HashSet,
    fmt,
    sync::{
        Arc, PoisonError,
        atomic::{AtomicU64, Ordering},
        mpsc::sync_channel,
    },
    thread::{self, JoinHandle},
};

use bytes::Bytes;
use tokio::sync::mpsc;

use crate::{
    error::OpenLogError,
    event::{BrokerWarning, Fatal, LogEvent, LogExtent, LogFigures},
    id::{ProposalId, Sequence},
    opening::LogOpening,
    settings::LogSettings,
    shared::{
        EVENTS_MAX, LogShared, ORDERS_MAX, OUTSTANDING_MAX, Order, StreamIdentity, StreamStart,
    },
    worker,
};

/// A log that all nodes of a partition share.
///
/// It owns a thread with the connection to the brokers. No method waits for brokers, except
/// [`Self::open`]. Dropped, it ends the thread and leaves proposals without a fate to theirs.
#[derive(Debug)]
pub struct SharedLog {
    orders: Option<mpsc::Sender<Order>>,
    events: mpsc::Receiver<LogEvent>,
    shared: Arc<LogShared>,
    outstanding: HashSet<ProposalId>,
    taken: Sequence,
    has_ended: bool,
    opened: StreamStart,
    thread: Option<JoinHandle<()>>,
}

/// As much is outstanding as a log takes: propose again after the next [`LogEvent::Entry`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backlogged;

impl SharedLog {
    /// Connects, checks the brokers and the stream, creates the stream if there is none, and begins
    /// with the entry after `after`. Waits until that is done, at most for `timeouts.open`.
    ///
    /// `identity` is that of the stream whose entries up to `after` the node has; without it the node
    /// takes any. From the thread of the log, `wake` is called whenever [`Self::next_event`] has something
    /// after it had nothing; it must not block.
    ///
    /// # Errors
    /// See [`OpenLogError`]; only `Unavailable` is worth another try.
    pub fn open(
        settings: &LogSettings,
        after: Sequence,
        identity: Option<StreamIdentity>,
        wake: impl Fn() + Send + 'static,
    ) -> Result<Self, OpenLogError> {
        let opening = (Arc::default(), false);
        Self::open_as(settings, (after, identity), opening, Box::new(wake))
    }

    /// The same, as long as what it waits for may pass by itself. Other threads see in `opening` what that
    /// is, and may end it.
    ///
    /// # Errors
    /// See [`OpenLogError`].
    pub fn open_patiently(
        settings: &LogSettings,
        after: Sequence,
        identity: Option<StreamIdentity>,
        opening: Arc<LogOpening>,
        wake: impl Fn() + Send + 'static,
    ) -> Result<Self, OpenLogError> {
        let opening = (opening, true);
        Self::open_as(settings, (after, identity), opening, Box::new(wake))
    }

    fn open_as(
        settings: &LogSettings,
        (after, identity): (Sequence, Option<StreamIdentity>),
        (opening, is_patient): (Arc<LogOpening>, bool),
        wake: Box<dyn Fn() + Send>,
    ) -> Result<Self, OpenLogError> {
        let (orders, to_do) = mpsc::channel(ORDERS_MAX);
        let (tell, events) = mpsc::channel(EVENTS_MAX);
        let (report, reported) = sync_channel(1);
        let shared = Arc::new(LogShared::default());
        let start = worker::LogStart {
            settings: settings.clone(),
            after,
            identity,
            orders: to_do,
            events: tell,
            shared: Arc::clone(&shared),
            wake,
            opening,
            is_patient,
        };
        let thread = thread::Builder::new()
            .name("shared-log".to_owned())
            .spawn(move || worker::run(start, &report))
            .map_err(OpenLogError::Thread)?;
        let opened = reported.recv();
        let opened = opened.unwrap_or(Err(OpenLogError::Stream(Fatal::Ended)))?;
        Ok(Self {
            orders: Some(orders),
            events,
            shared,
            outstanding: HashSet::new(),
            taken: after,
            has_ended: false,
            opened,
            thread: Some(thread),
        })
    }

    /// Which stream this is.
    #[must_use]
    pub const fn identity(&self) -> &StreamIdentity {
        &self.opened.identity
    }

    /// What an operator must know of the brokers, as found at the start.
    #[must_use]
    pub fn warnings(&self) -> &[BrokerWarning] {
        &self.opened.warnings
    }

    /// Publishes an entry until it is in the stream, with the same bytes and id. Its fate is one of:
    /// the entry itself from [`Self::next_event`], [`LogEvent::Refused`], or [`Self::withdraw`]. Entries need
    /// not come in the order of their proposals. An id is proposed once.
    ///
    /// # Errors
    /// [`OUTSTANDING_MAX`] proposals have no fate yet, or the log has ended. Nothing was done.
    pub fn propose(&mut self, id: ProposalId, bytes: Arc<[u8]>) -> Result<(), Backlogged> {
        if self.outstanding.len() >= OUTSTANDING_MAX {
            return Err(Backlogged);
        }
        self.order(Order::Propose(id.clone(), Bytes::from_owner(bytes)))?;
        self.outstanding.insert(id);
        Ok(())
    }

    /// Stops publishing a proposal. It may be in the stream all the same, or come into it later.
    ///
    /// # Errors
    /// Too many orders are on their way to the brokers, or the log has ended. Nothing was done.
    pub fn withdraw(&mut self, id: &ProposalId) -> Result<(), Backlogged> {
        self.order(Order::Withdraw(id.clone()))?;
        self.outstanding.remove(id);
        Ok(())
    }

    /// Has the brokers forget all entries before `sequence`, as soon as they can; the highest one asked
    /// for counts. All nodes must have a snapshot that holds those entries.
    ///
    /// # Errors
    /// As [`Self::withdraw`].
    pub fn purge_below(&mut self, sequence: Sequence) -> Result<(), Backlogged> {
        self.order(Order::PurgeBelow(sequence))
    }

    /// Asks the broker that leads the stream to leave that to another one, which takes a fraction of a
    /// second. Without it, the others wait for some seconds when that broker ends. Needs a right of its
    /// own; without it nothing happens, and there is a warning.
    ///
    /// # Errors
    /// As [`Self::withdraw`].
    pub fn step_down(&self) -> Result<(), Backlogged> {
        self.order(Order::StepDown)
    }

    fn order(&self, order: Order) -> Result<(), Backlogged> {
        let orders = self.orders.as_ref().ok_or(Backlogged)?;
        orders.try_send(order).map_err(|_full_or_ended| Backlogged)
    }

    /// The next event, if there is one. Nothing comes after [`LogEvent::Fatal`].
    pub fn next_event(&mut self) -> Option<LogEvent> {
        if self.has_ended {
            return None;
        }
        if let Some(event) = self.received() {
            return Some(event);
        }
        // From here on the thread wakes us. What it has sent before, without waking us, is taken now.
        self.shared.is_woken.store(false, Ordering::SeqCst);
        self.received()
    }

    fn received(&mut self) -> Option<LogEvent> {
        let event = match self.events.try_recv() {
            Ok(event) => event,
            Err(mpsc::error::TryRecvError::Empty) => return None,
            Err(mpsc::error::TryRecvError::Disconnected) => LogEvent::Fatal(Fatal::Ended),
        };
        match &event {
            LogEvent::Entry(entry) => {
                self.taken = entry.sequence;
                if let Some(id) = &entry.id {
                    self.outstanding.remove(id);
                }
                let unread = &self.shared.unread_bytes;
                unread.fetch_sub(entry.bytes.len(), Ordering::SeqCst);
                self.shared.room.notify_one();
            }
            LogEvent::Refused { id, .. } => {
                self.outstanding.remove(id);
            }
            LogEvent::Fatal(_) => self.has_ended = true,
            LogEvent::Published { .. } | LogEvent::Status(_) | LogEvent::Warning(_) => {}
        }
        Some(event)
    }

    /// The last entry of the stream as far as known, for figures: it may be old, and no read is
    /// linearizable by it.
    #[must_use]
    pub fn last_sequence_hint(&self) -> Sequence {
        Sequence(self.shared.hint.load(Ordering::Relaxed)).max(self.taken)
    }

    /// What the stream holds, as far as known: its first and last entry, and its bytes on each broker.
    #[must_use]
    pub fn extent(&self) -> LogExtent {
        LogExtent {
            first: Sequence(self.shared.first.load(Ordering::Relaxed)),
            last: self.last_sequence_hint(),
            bytes: self.shared.bytes.load(Ordering::Relaxed),
        }
    }

    /// Figures for metrics.
    #[must_use]
    pub fn state(&self) -> LogFigures {
        let status = self.shared.status.lock();
        let status = status.unwrap_or_else(PoisonError::into_inner).clone();
        let figure = |figure: &AtomicU64| figure.load(Ordering::Relaxed);
        LogFigures {
            status,
            taken: self.taken,
            lag: self.last_sequence_hint().0 - self.taken.0,
            outstanding: self.outstanding.len(),
            retries: figure(&self.shared.retries),
            reattached: figure(&self.shared.reattached),
            connects: figure(&self.shared.connects),
        }
    }
}

impl Drop for SharedLog {
    fn drop(&mut self) {
        // Without a sender the thread ends, and it waits for nothing that we hold.
        self.orders = None;
        self.events.close();
        if let Some(thread) = self.thread.take() {
            let ended = thread.join();
            assert!(
                ended.is_ok() || thread::panicking(),
                "the thread of the log has no way to fail"
            );
        }
    }
}

impl fmt::Display for Backlogged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{OUTSTANDING_MAX} proposals wait for the brokers, or the log has ended"
        )
    }
}

impl std::error::Error for Backlogged {}
