//! Services whose state lies in a database: a thread beside the loop asks it, many commands at a time.

mod carrier;
mod landing;
pub(crate) mod opening;
mod queue;
mod url;

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc},
};

use tokio::sync::oneshot;
use turnstile_contract::{Backend, Facts, Failure, Request, Scope, Service};
use turnstile_jetstream::ReplyAddress;
use turnstile_types::{Key, Machine, PartitionNumber, Position, Principal};

pub(crate) use self::url::Kind;
pub use self::url::{DatabaseUrl, InvalidUrl};

pub(crate) use self::carrier::{BATCH_COMMANDS, OpenedBackend, Opening, open};
pub(crate) use self::landing::{Decided, Landing};

use self::queue::Sender;
use crate::{
    core::{
        gate::{Answered, BackendStatus, Executed, Gate, RequestAway, TotalsOfServices},
        request_log::SentNotes,
    },
    counters::TimedRequests,
    registry::{Registered, SERVICES},
};

/// A service whose state may lie in a database.
pub(crate) trait Housed: Registered {
    fn landed(landing: Landing<Self>) -> Landed;

    /// Its part of the totals of all services.
    fn totals_in(totals: &TotalsOfServices) -> &Self::Totals;

    /// Its database, where it has one.
    fn remote(remotes: &Remotes) -> Option<&Remote<Self>>;

    fn remote_mut(remotes: &mut Remotes) -> Option<&mut Remote<Self>>;
}

macro_rules! remotes {
    ($($name:ident: $machine:ident),+ $(,)?) => {
        /// The databases of the services that are not decided by the loop.
        #[derive(Debug, Default)]
        pub(crate) struct Remotes {
            $(pub(crate) $name: Option<Remote<turnstile_services::$name::$machine>>,)+
        }

        impl Remotes {
            /// Lets go what a turn has asked of databases.
            pub(crate) fn depart(&self) {
                $(if let Some(remote) = &self.$name {
                    remote.depart();
                })+
            }

            /// What each database has done.
            pub(crate) fn status(&self) -> [Option<BackendStatus>; SERVICES.len()] {
                [$(self.$name.as_ref().map(Remote::status)),+]
            }
        }

        /// An answer of any service.
        pub(crate) enum Landed {
            $($machine(Landing<turnstile_services::$name::$machine>),)+
        }

        impl Landed {
            /// The partition that was asked.
            pub(crate) const fn partition(&self) -> PartitionNumber {
                match self {
                    $(Self::$machine(landing) => landing.partition(),)+
                }
            }

            /// The number of the answers to which it belongs, if all partitions were asked.
            pub(crate) const fn gathering(&self) -> Option<u64> {
                match self {
                    $(Self::$machine(landing) => landing.gathering(),)+
                }
            }

            /// Adds the answer of another partition to the same query.
            pub(crate) fn add(&mut self, part: Self) {
                match (self, part) {
                    $((Self::$machine(sum), Self::$machine(part)) => sum.add(part),)+
                    (_, part) => {
                        tracing::error!(partition = ?part.partition(), "an answer to another query");
                    }
                }
            }
        }

        $(
            impl Housed for turnstile_services::$name::$machine {
                fn landed(landing: Landing<Self>) -> Landed {
                    Landed::$machine(landing)
                }

                fn totals_in(totals: &TotalsOfServices) -> &Self::Totals {
                    &totals.$name
                }

                fn remote(remotes: &Remotes) -> Option<&Remote<Self>> {
                    remotes.$name.as_ref()
                }

                fn remote_mut(remotes: &mut Remotes) -> Option<&mut Remote<Self>> {
                    remotes.$name.as_mut()
                }
            }
        )+
    };
}

turnstile_services::services!(remotes);

/// Why nobody can follow what happens in a service that a database decides.
pub(crate) fn silence_of<M: Housed>() -> String {
    let service = M::NAME;
    format!("a database decides {service}, and does not tell what happens there")
}

/// Who asked, and what is timed until the answer.
#[derive(Debug)]
pub(crate) struct Requester<T> {
    pub(crate) who: RequestOrigin<T>,
    pub(crate) timed: TimedRequests,
    /// The partition that decides, or is asked first.
    pub(crate) partition: PartitionNumber,
    /// Whether a page of a listing is asked for that goes from partition to partition.
    pub(crate) is_page: bool,
    /// What is to be said about the requests, where their door does not.
    pub(crate) noted: Option<Box<SentNotes>>,
    /// Counts it among the requests from the gate that are decided elsewhere.
    _away: Option<RequestAway>,
}

impl<T> Requester<T> {
    /// Who asks the first partition, or a database.
    pub(crate) const fn new(who: RequestOrigin<T>, timed: TimedRequests) -> Self {
        Self {
            who,
            timed,
            partition: PartitionNumber::FIRST,
            is_page: false,
            noted: None,
            _away: None,
        }
    }

    /// The same, who asked through the gate.
    pub(crate) fn away(self, away: RequestAway) -> Self {
        Self {
            _away: Some(away),
            ..self
        }
    }

    /// The same, about whose requests this is to be said.
    pub(crate) fn noted(self, noted: Option<Box<SentNotes>>) -> Self {
        Self { noted, ..self }
    }

    /// The same, who asks this partition.
    pub(crate) fn of(self, partition: PartitionNumber) -> Self {
        Self { partition, ..self }
    }
}

/// A client of a fast door, or somebody at the gate, who is answered through a `T`.
#[derive(Debug)]
pub(crate) enum RequestOrigin<T> {
    /// The connection at this place, if it is still that of this client.
    Connection {
        place: usize,
        client: u64,
    },
    Asked(T),
    /// Answers of all partitions are gathered under this number.
    Gathering(u64),
    /// Another node, which does not hold the partition.
    Node(Box<NodeReply>),
}

/// Where the answer to another node goes.
#[derive(Clone, Debug)]
pub(crate) struct NodeReply {
    pub(crate) to: ReplyAddress,
    /// The position behind which its queries were answered.
    pub(crate) seen: Position,
}

impl<T> RequestOrigin<T> {
    const fn connection(&self) -> Option<(usize, u64)> {
        match self {
            Self::Connection { place, client } => Some((*place, *client)),
            Self::Asked(_) | Self::Gathering(_) | Self::Node(_) => None,
        }
    }

    const fn gathering(&self) -> Option<u64> {
        match self {
            Self::Gathering(number) => Some(*number),
            Self::Connection { .. } | Self::Asked(_) | Self::Node(_) => None,
        }
    }

    pub(crate) fn node(&self) -> Option<&NodeReply> {
        match self {
            Self::Node(reply) => Some(reply),
            Self::Connection { .. } | Self::Asked(_) | Self::Gathering(_) => None,
        }
    }
}

impl<T> RequestOrigin<(T, Position)> {
    /// Notes the position behind which a query was answered, for those who want to know.
    pub(crate) fn note_seen(&mut self, position: Position) {
        match self {
            Self::Asked((_, seen)) => *seen = position,
            Self::Node(reply) => reply.seen = position,
            Self::Connection { .. } | Self::Gathering(_) => {}
        }
    }
}

/// Who asked for a command.
pub(crate) type Commander<M> = Requester<oneshot::Sender<Executed<M>>>;

/// Who asked for a query; with the last position that was known then.
pub(crate) type Questioner<M> = Requester<(oneshot::Sender<Answered<M>>, Position)>;

/// A query, and what it may name.
pub(crate) type ScopedQuery<M> = (<M as Machine>::Query, Scope);

/// What a database is asked.
pub(crate) enum Job<M: Service> {
    /// Commands of one caller, decided in their order.
    Commands(Vec<Request>, Commander<M>),
    /// Queries of one caller and what each may name, answered one after the other.
    Queries(Principal, Vec<ScopedQuery<M>>, Questioner<M>),
}

impl<M: Service> Job<M> {
    /// Its commands, if it has any.
    pub(crate) const fn commands(&self) -> &[Request] {
        match self {
            Self::Commands(commands, _) => commands.as_slice(),
            Self::Queries(..) => &[],
        }
    }

    /// The partition that is asked.
    pub(crate) const fn partition(&self) -> PartitionNumber {
        match self {
            Self::Commands(_, caller) => caller.partition,
            Self::Queries(_, _, caller) => caller.partition,
        }
    }

    /// The keys of its commands, with who uses them.
    pub(crate) fn keys(&self) -> impl Iterator<Item = (&Principal, Key<'_>)> {
        self.commands().iter().filter_map(|request| {
            let key = Key::parse(request.key()?.as_bytes()).ok()?;
            Some((&request.principal, key))
        })
    }

    /// What is answered when there is no place for it.
    fn refused(self) -> Landing<M> {
        let failure = || Failure::Unavailable {
            reason: "too many requests wait for the database".to_owned(),
        };
        match self {
            Self::Commands(commands, caller) => {
                let decided = commands.into_iter().map(|one| (one, Err(failure())));
                Landing::Commands(decided.collect(), caller)
            }
            Self::Queries(_, queries, caller) => {
                let answers = queries.iter().map(|_| Err(failure()));
                Landing::Queries(answers.collect(), caller)
            }
        }
    }
}

/// What was last heard of a database.
#[derive(Clone, Debug)]
pub(crate) struct Known<M: Service> {
    pub(crate) facts: Facts,
    /// What it answered when it was last asked for its totals.
    pub(crate) totals: Option<M::Answer>,
    /// Why it did not answer when it was last asked.
    pub(crate) trouble: Option<String>,
}

/// The loop's side of a database.
pub(crate) struct Remote<M: Service> {
    jobs: Sender<Job<M>>,
    /// Where an answer goes for which it is not asked, and what it is there.
    way: ReturnPath,
    landed: fn(Landing<M>) -> Landed,
    backend: Arc<dyn Backend<M>>,
    known: Arc<Mutex<Known<M>>>,
    /// The last position that it has told the loop.
    pub(crate) seen: Position,
}

impl<M: Service> fmt::Debug for Remote<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Remote").field(&self.backend).finish()
    }
}

impl<M: Service> Remote<M> {
    /// Has work done, when the turn ends that asks. Each caller waits for its answer before it asks
    /// this database again, so that the queue has a place for it, unless many have gone without waiting.
    pub(crate) fn ask(&self, job: Job<M>) {
        if let Err(job) = self.jobs.put(job) {
            tracing::warn!(backend = ?self.backend, "too many requests wait for a database");
            self.way.tell((self.landed)(job.refused()));
            self.way.ring();
        }
    }

    /// Wakes the thread for what a turn has asked.
    pub(crate) fn depart(&self) {
        self.jobs.ring();
    }

    pub(crate) fn backend(&self) -> &dyn Backend<M> {
        &*self.backend
    }

    pub(crate) fn status(&self) -> BackendStatus {
        BackendStatus {
            answers: self.known().trouble.is_none(),
            counts: self.backend.tally().named(),
        }
    }

    pub(crate) fn known(&self) -> MutexGuard<'_, Known<M>> {
        lock(&self.known)
    }
}

fn lock<T>(known: &Mutex<T>) -> MutexGuard<'_, T> {
    known.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Where answers come back to the loop.
#[derive(Debug)]
pub(crate) struct Landings {
    sender: mpsc::SyncSender<Landed>,
    receiver: mpsc::Receiver<Landed>,
}

impl Landings {
    /// For so many callers of each of so many databases; each has one answer of each on its way at
    /// most. And for so many requests that other partitions decide.
    pub(crate) fn of(callers: usize, databases: usize, relayed: usize) -> Self {
        let (sender, receiver) = mpsc::sync_channel(callers * databases + relayed);
        Self { sender, receiver }
    }

    /// The way here from another thread.
    pub(crate) fn way(&self, gate: Gate) -> ReturnPath {
        ReturnPath {
            landings: self.sender.clone(),
            gate,
        }
    }

    pub(crate) fn next(&self) -> Option<Landed> {
        self.receiver.try_recv().ok()
    }
}

/// How a thread gives answers back.
#[derive(Clone)]
pub(crate) struct ReturnPath {
    landings: mpsc::SyncSender<Landed>,
    gate: Gate,
}

impl ReturnPath {
    pub(crate) fn tell(&self, landed: Landed) {
        if self.landings.try_send(landed).is_err() {
            tracing::debug!("an answer came after the loop had ended");
        }
    }

    pub(crate) fn ring(&self) {
        self.gate.wake();
    }
}
