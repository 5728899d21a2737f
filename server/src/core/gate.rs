//! The gate: how other threads reach the loop.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    time::Duration,
};

use mio::Waker;
use serde_json::Value;
use tokio::sync::{oneshot, watch};
use turnstile_access::{Access, KeyId};
use turnstile_chassis::{Field, Fields as _};
use turnstile_contract::Failure;
use turnstile_embedded::{ExecuteError, Reply, Status};
use turnstile_rooms::IdKey;
use turnstile_travel::{Outcome, PerDesk};
use turnstile_types::{Machine, Position};

use crate::{
    core::{
        caller::{Caller, NotPermitted},
        clock::ClockStatus,
        loading::Loading,
        node_status::ClusterStatus,
        quotas::QuotaMeters,
        security_log::SecurityLog,
        shares::ShareFull,
        waiting_room::{NotYourTurn, WaitingLine},
    },
    limits::GATE_QUEUE,
    registry::{SERVICES, SomeServices},
};

/// What a command comes to.
pub type Executed<M> = Result<Reply<M>, Undecided>;

/// What a query comes to, and the position of the last record that its answer has surely seen: what
/// happened after it is told to those who follow the machine.
pub type Answered<M> = Result<(Position, <M as Machine>::Answer), Undecided>;

/// Why a command was not decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Undecided {
    /// The journal did not take it.
    Journal(ExecuteError),
    /// The database behind the service did not.
    Backend(Failure),
    /// The client has as much open as it may.
    Share(ShareFull),
    /// The caller may not ask for it.
    NotPermitted(NotPermitted),
    /// It is not the caller's turn in the waiting room.
    InLine(NotYourTurn),
}

impl fmt::Display for Undecided {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Journal(cause) => cause.fmt(f),
            Self::Backend(cause) => cause.fmt(f),
            Self::Share(cause) => cause.fmt(f),
            Self::NotPermitted(cause) => cause.fmt(f),
            Self::InLine(cause) => cause.fmt(f),
        }
    }
}

impl From<NotPermitted> for Undecided {
    fn from(denied: NotPermitted) -> Self {
        Self::NotPermitted(denied)
    }
}

impl std::error::Error for Undecided {}

/// One request to a machine, and where its answer goes.
#[derive(Debug)]
pub enum Request<M: Machine> {
    Command {
        caller: Caller,
        key: Option<Box<str>>,
        /// What the machine's `encode_command` wrote.
        command: Vec<u8>,
        reply: oneshot::Sender<Executed<M>>,
    },
    Query {
        caller: Caller,
        query: M::Query,
        /// Whether the state of a node may answer that others are ahead of.
        may_be_stale: bool,
        reply: oneshot::Sender<Answered<M>>,
    },
}

macro_rules! asks {
    ($($name:ident: $machine:ident),+ $(,)?) => {
        /// One request to the loop, and where its answer goes. The answer comes when it is durable; when
        /// the server stops instead, the sender is dropped.
        #[derive(Debug)]
        pub enum Ask {
            $($machine(Request<turnstile_services::$name::$machine>),)+
            /// Waits for the late answer under a ticket; nothing if it is forgotten.
            Late {
                ticket: Position,
                reply: oneshot::Sender<Option<Outcome>>,
            },
            Status {
                reply: oneshot::Sender<ServerStatus>,
            },
            /// How the node stands in its cluster; nothing where there is none.
            Cluster {
                is_draining: bool,
                reply: oneshot::Sender<Option<Value>>,
            },
            /// Keeps that a key was used, if that was not kept in the last hour. Nobody is answered.
            NoteUse(KeyId),
        }
    };
}

turnstile_services::services!(asks);

macro_rules! totals {
    ($($name:ident: $machine:ident),+ $(,)?) => {
        /// How much there is in each service.
        #[derive(Clone, Copy, Debug)]
        pub struct TotalsOfServices {
            $(pub $name: turnstile_services::$name::Totals,)+
        }

        impl TotalsOfServices {
            /// Each number: the service, the field, and the value.
            pub(crate) fn each(&self, take: &mut impl FnMut(&str, &Field, u64)) {
                $(
                    let fields = turnstile_services::$name::Totals::describe();
                    for (name, value) in turnstile_json::numbers(&self.$name) {
                        if let Some(field) = fields.iter().find(|field| field.name == name) {
                            take(stringify!($name), field, value);
                        }
                    }
                )+
            }
        }
    };
}

turnstile_services::services!(totals);

/// What the loop knows about the server at one moment.
#[derive(Clone, Copy, Debug)]
pub struct ServerStatus {
    pub backend: Status,
    /// How long ago the oldest idempotency key that is kept was used first.
    pub key_age: Duration,
    pub totals: TotalsOfServices,
    /// Lines to other processes of travel.
    pub lines: PerDesk<Option<LineStatus>>,
    /// What the databases of services have done, where there are any; in the order of the services.
    pub databases: [Option<BackendStatus>; SERVICES.len()],
    /// Since the loop began, in whole seconds.
    pub uptime: Duration,
    pub read_only: bool,
    pub(crate) waiting_room: WaitingLine,
    /// How it stands in its cluster, if it is a node of one.
    pub cluster: Option<ClusterStatus>,
    /// How logged time goes beside the wall clock.
    pub clock: ClockStatus,
}

/// How a database is that decides a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BackendStatus {
    /// Whether it answered when it was last asked, at most about a second ago.
    pub answers: bool,
    /// What was counted since the start, each with its name.
    pub counts: [(&'static str, u64); 9],
}

/// One line to another process of travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineStatus {
    /// How often this end has started anew.
    pub life: u64,
    /// The same of the peer, as far as it is known; 0 before it was met.
    pub peer_life: u64,
    /// Parcels that the peer has not said to have taken.
    pub unacknowledged: usize,
    /// Transactions that wait for their decision at the desk, if it is played here.
    pub in_doubt: usize,
}

/// Too many requests wait, or the server is stopping: come again later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overloaded;

impl fmt::Display for Overloaded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "too many requests wait, try again later")
    }
}

impl std::error::Error for Overloaded {}

/// Requests from the gate that the loop has sent elsewhere: to a database, or to a shared log. Their
/// answers may take longer than a turn.
#[derive(Clone, Debug, Default)]
pub(crate) struct RequestsAway(Arc<AtomicUsize>);

/// One of them, until it is dropped.
#[derive(Debug)]
pub(crate) struct RequestAway(RequestsAway);

impl RequestsAway {
    pub(crate) fn begin(&self) -> RequestAway {
        self.0.fetch_add(1, Ordering::Relaxed);
        RequestAway(self.clone())
    }

    pub(crate) fn count(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

impl Drop for RequestAway {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Reaches the loop from any thread. Cheap to clone.
#[derive(Clone)]
pub struct Gate {
    asks: SyncSender<Ask>,
    bell: Arc<LoopWaker>,
    answered: watch::Receiver<()>,
    /// Nothing before the journal is recovered.
    access: watch::Receiver<Option<Arc<Access>>>,
    loading: Arc<Loading>,
    /// What principals have asked for.
    pub(crate) meters: Arc<QuotaMeters>,
    pub(crate) away: RequestsAway,
    verhoeff: bool,
    pub(crate) security: Arc<SecurityLog>,
    /// The services that databases decide. Their events are not told: others may write there too.
    pub(crate) in_databases: SomeServices,
    /// Whether several partitions decide what is spread over them.
    pub(crate) is_spread: bool,
}

/// Wakes the loop, once for whatever has come since it last looked.
struct LoopWaker {
    rung: AtomicBool,
    waker: Waker,
}

impl LoopWaker {
    fn ring(&self) {
        if !self.rung.swap(true, Ordering::AcqRel)
            && let Err(failure) = self.waker.wake()
        {
            tracing::error!(%failure, "cannot wake the loop");
        }
    }
}

/// The loop's side of the gate.
pub(crate) struct GateInbox {
    asks: Receiver<Ask>,
    bell: Arc<LoopWaker>,
    access: watch::Sender<Option<Arc<Access>>>,
    pub(crate) meters: Arc<QuotaMeters>,
    pub(crate) away: RequestsAway,
    /// The last, so that whoever hears of its end finds all others ended.
    answered: watch::Sender<()>,
}

impl fmt::Debug for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Gate")
    }
}

impl Gate {
    pub(crate) fn new(waker: Waker, loading: Arc<Loading>, verhoeff: bool) -> (Self, GateInbox) {
        let (sender, receiver) = sync_channel(GATE_QUEUE);
        let bell = Arc::new(LoopWaker {
            rung: AtomicBool::new(false),
            waker,
        });
        let (answering, answered) = watch::channel(());
        let (publishing, access) = watch::channel(None);
        let inbox = GateInbox {
            asks: receiver,
            bell: Arc::clone(&bell),
            access: publishing,
            meters: Arc::default(),
            away: RequestsAway::default(),
            answered: answering,
        };
        (
            Self {
                asks: sender,
                bell,
                answered,
                access,
                loading,
                meters: Arc::clone(&inbox.meters),
                away: inbox.away.clone(),
                verhoeff,
                security: Arc::new(SecurityLog::new()),
                in_databases: SomeServices::NONE,
                is_spread: false,
            },
            inbox,
        )
    }

    /// Puts a request in the loop's queue.
    ///
    /// # Errors
    /// The queue is full, or the loop has ended; nothing of the request happened.
    pub fn ask(&self, ask: Ask) -> Result<(), Overloaded> {
        self.put(ask)?;
        self.bell.ring();
        Ok(())
    }

    /// Puts a request in the loop's queue without waking the loop, for callers that have several
    /// and wake it once after them: on a shared core each wake-up would interrupt the caller.
    ///
    /// # Errors
    /// As [`Self::ask`].
    pub(crate) fn put(&self, ask: Ask) -> Result<(), Overloaded> {
        self.asks.try_send(ask).map_err(|_returned| Overloaded)
    }

    /// The key that seals id numbers.
    ///
    /// # Panics
    /// It is asked for before the journal is recovered.
    #[must_use]
    pub fn id_key(&self) -> &IdKey {
        self.loading.id_key()
    }

    /// The recovery, while it goes on: nothing may be asked then.
    pub(crate) fn recovery(&self) -> Option<&Loading> {
        (!self.loading.is_over()).then_some(&*self.loading)
    }

    /// Whether the last digit of id numbers is checked.
    #[must_use]
    pub const fn verhoeff(&self) -> bool {
        self.verhoeff
    }

    /// Changes when the loop has answered a turn's requests, and closes when it never will again. One
    /// task waits for it on behalf of all who asked, so that the loop pays for one wake-up only.
    pub(crate) fn answered(&self) -> watch::Receiver<()> {
        self.answered.clone()
    }

    /// Who has which keys and rights, after every change of it; nothing before the journal is recovered.
    #[must_use]
    pub fn access(&self) -> watch::Receiver<Option<Arc<Access>>> {
        self.access.clone()
    }

    /// Wakes the loop for something that it finds elsewhere.
    pub(crate) fn wake(&self) {
        self.bell.ring();
    }
}

impl GateInbox {
    /// Whether something may have come since this was last asked.
    pub(crate) fn has_rung(&self) -> bool {
        self.bell.rung.load(Ordering::Relaxed) && self.bell.rung.swap(false, Ordering::AcqRel)
    }

    pub(crate) fn next(&self) -> Option<Ask> {
        self.asks.try_recv().ok()
    }

    /// Lets other threads know who has which keys and rights.
    pub(crate) fn publish(&self, access: Arc<Access>) {
        self.access.send_replace(Some(access));
    }

    /// Says that a turn's requests are answered.
    pub(crate) fn note_answered(&self) {
        self.answered.send_replace(());
    }
}
