//! Several servers on one log: what is asked here becomes entries of it, and what comes from it is
//! applied here.

mod joining;

use std::{fmt, sync::Arc};

use turnstile_contract::{Failure, Reply, Request};
use turnstile_embedded::{Embedded, ExecuteError, Services};
use turnstile_jetstream::{Fatal, LogEvent, LogStatus, NodeName, ProposalId, SharedLog};
use turnstile_record::RecordRef;
use turnstile_replica::{
    AppliedEntry, NotApplied, ProposalLimits, Replica, ServerRun, SettledJob, UnansweredJobs,
};
use turnstile_sequencer::State;
use turnstile_types::{Author, Hosts, Key, Name, Timestamp};

use crate::core::{
    caller::Caller,
    node_status::ClusterStatus,
    remote::{Housed, Job, Landed, Landing, RequestOrigin},
};

pub use joining::NotJoined;
pub(crate) use joining::join;

/// Entries that are applied in one turn: the clients are not to wait for all that others did.
const ENTRIES_PER_TURN: usize = 64;

/// What becomes of the commands of a job, as stable bytes.
type JobOutcomes = Vec<Result<turnstile_sequencer::Reply<Vec<u8>>, ExecuteError>>;

/// Why a server has left the shared log. It stops; the others go on.
#[derive(Debug)]
pub enum ClusterEnded {
    NotApplied(NotApplied),
    Log(Fatal),
}

impl fmt::Display for ClusterEnded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotApplied(cause) => cause.fmt(f),
            Self::Log(cause) => cause.fmt(f),
        }
    }
}

/// A service that a shared log may decide.
pub(crate) trait Clustered: Housed {
    /// Who waits for a job of the shared log.
    fn asker(caller: Caller, job: Job<Self>) -> ClusterAsker;
}

macro_rules! askers {
    ($($name:ident: $machine:ident),+ $(,)?) => {
        /// Who waits for an entry, and for what.
        pub(crate) enum ClusterAsker {
            /// The server itself, which needs no answer.
            Nobody,
            $($machine(Caller, Job<turnstile_services::$name::$machine>),)+
        }

        $(
            impl Clustered for turnstile_services::$name::$machine {
                fn asker(caller: Caller, job: Job<Self>) -> ClusterAsker {
                    ClusterAsker::$machine(caller, job)
                }
            }
        )+

        impl ClusterAsker {
            /// The answers to a job that was decided in the last entry.
            fn settle(self, outcomes: JobOutcomes, seen: (&Embedded, Timestamp)) -> Option<Landed> {
                match self {
                    Self::Nobody => None,
                    $(Self::$machine(_, job) => Some(settle(job, outcomes, seen)),)+
                }
            }

            /// The answers to a job that was not decided, or of which that is not known.
            pub(crate) fn fail(self, failure: &Failure) -> Option<Landed> {
                match self {
                    Self::Nobody => None,
                    $(Self::$machine(_, job) => Some(fail(job, failure)),)+
                }
            }
        }
    };
}

turnstile_services::services!(askers);

impl fmt::Debug for ClusterAsker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ClusterAsker")
    }
}

/// What the entries of a turn have brought.
#[derive(Default)]
pub(crate) struct OrderedAnswers {
    /// Answers to who asked here.
    pub(crate) landed: Vec<Landed>,
    /// Who is to be asked about again: rights have changed before the order came to them.
    pub(crate) void: Vec<ClusterAsker>,
}

/// The loop's side of a shared log.
pub(crate) struct Cluster {
    log: SharedLog,
    node: NodeName,
    incarnation: u64,
    replica: Replica<ClusterAsker>,
    /// Answers that need no entry.
    landed: Vec<Landed>,
    /// Whether the last turn has left entries.
    has_more: bool,
}

impl Cluster {
    /// A node of this name, in a run of this number, of an installation, on its log.
    pub(crate) fn new(
        log: SharedLog,
        (node, name): (NodeName, Name),
        (incarnation, installation): (u64, u64),
    ) -> Self {
        let run = ServerRun {
            node: name,
            incarnation,
            installation,
        };
        Self {
            log,
            node,
            incarnation,
            replica: Replica::new(run, ProposalLimits::USUAL),
            landed: Vec::new(),
            has_more: false,
        }
    }

    /// How it stands, behind this state.
    pub(crate) fn status(&self, state: &State<Services>) -> ClusterStatus {
        let log = self.log.state();
        let under_way = u64::try_from(self.replica.under_way());
        ClusterStatus {
            entry: state.shared().map_or(0, |place| place.sequence),
            lag: log.lag,
            under_way: under_way.unwrap_or(u64::MAX),
            retries: log.retries,
            is_taking: log.status.is_taking,
            is_disputed: self.replica.is_disputed(),
        }
    }

    /// The names that it goes by, for whoever operates it.
    pub(crate) fn names(&self) -> [(&'static str, String); 3] {
        let LogStatus {
            connected, leader, ..
        } = self.log.state().status;
        let or_none = |name: Option<String>| name.unwrap_or_else(|| "none".to_owned());
        [
            ("node", self.node.to_string()),
            ("broker", or_none(connected)),
            ("leader", or_none(leader)),
        ]
    }

    /// Puts a job of this caller in the next entry.
    pub(crate) fn ask<M: Clustered>(
        &mut self,
        at: (Timestamp, &State<Services>),
        caller: &Caller,
        job: Job<M>,
    ) {
        let requests = match &job {
            Job::Commands(requests, _) => requests.as_slice(),
            Job::Queries(..) => &[],
        };
        let put = caller.as_author(|author| {
            let records: Vec<_> = requests
                .iter()
                .map(|request| record_of::<M>(author, request))
                .collect();
            self.replica.put(at, &records)
        });
        match put {
            Ok(put) => self.replica.wait(put, M::asker(caller.clone(), job)),
            Err(too_large) => self.refuse(job, too_large.to_string()),
        }
    }

    /// Answers a job that is not proposed.
    pub(crate) fn refuse<M: Housed>(&mut self, job: Job<M>, reason: String) {
        self.landed
            .push(fail(job, &Failure::Unavailable { reason }));
    }

    /// Has a command decided to which nobody waits for an answer.
    pub(crate) fn note(&mut self, at: (Timestamp, &State<Services>), record: &RecordRef<'_>) {
        if let Ok(put) = self.replica.put(at, &[*record]) {
            self.replica.wait(put, ClusterAsker::Nobody);
        }
    }

    /// Applies the entries that have come, as many as a turn may.
    ///
    /// # Errors
    /// Final: the process must stop.
    pub(crate) fn take(
        &mut self,
        backend: &mut Embedded,
        now: Timestamp,
    ) -> Result<OrderedAnswers, ClusterEnded> {
        let mut ordered = OrderedAnswers::default();
        ordered.landed.append(&mut self.landed);
        self.has_more = true;
        for _ in 0..ENTRIES_PER_TURN {
            let Some(event) = self.log.next_event() else {
                self.has_more = false;
                break;
            };
            self.heed(event, (backend, now), &mut ordered)?;
        }
        let given = self.replica.expire(now);
        ordered.fail(given);
        Ok(ordered)
    }

    fn heed(
        &mut self,
        event: LogEvent,
        (backend, now): (&mut Embedded, Timestamp),
        ordered: &mut OrderedAnswers,
    ) -> Result<(), ClusterEnded> {
        match event {
            LogEvent::Entry(entry) => {
                let sequence = entry.sequence.0;
                let applied = backend.apply_entry(&mut self.replica, sequence, &entry.bytes);
                match applied.map_err(ClusterEnded::NotApplied)? {
                    AppliedEntry::Foreign => {}
                    AppliedEntry::Own(jobs) => {
                        let now = now.max(backend.status().time);
                        let settled =
                            jobs.into_iter()
                                .filter_map(|SettledJob { caller, outcomes }| {
                                    caller.settle(outcomes, (backend, now))
                                });
                        ordered.landed.extend(settled);
                    }
                    AppliedEntry::Void(askers) => ordered.void.extend(askers),
                }
            }
            LogEvent::Refused { id, why } => {
                tracing::warn!(%why, "the shared log did not take an entry");
                let reason = why.to_string();
                let undone = self.replica.refuse(id.number);
                ordered.fail_all(undone, &Failure::Unavailable { reason });
            }
            LogEvent::Published { .. } => {}
            LogEvent::Status(status) => tracing::info!(?status, "the shared log"),
            LogEvent::Warning(warning) => tracing::warn!("the shared log: {warning}"),
            LogEvent::Fatal(fatal) => return Err(ClusterEnded::Log(fatal)),
        }
        Ok(())
    }

    /// Has the log take what was asked in this turn.
    pub(crate) fn propose(&mut self, now: Timestamp, state: &State<Services>) {
        while let Some(proposal) = self.replica.propose(now, state) {
            let id = ProposalId {
                node: self.node.clone(),
                incarnation: self.incarnation,
                number: proposal.number,
            };
            let proposed = self.log.propose(id, Arc::from(proposal.bytes));
            if let Err(full) = proposed {
                // The log takes more than a replica has under way.
                tracing::error!(%full, "an entry was not proposed");
            }
        }
    }

    /// When there is something to do though nothing comes; `due` is when something is due in the state.
    pub(crate) fn deadline(&self, due: Option<Timestamp>) -> Option<Timestamp> {
        if self.has_more || !self.landed.is_empty() {
            return Some(Timestamp(0));
        }
        // What is due is done by the entry that is under way.
        let due = due.filter(|_| self.replica.under_way() == 0);
        [due, self.replica.deadline()].into_iter().flatten().min()
    }
}

impl OrderedAnswers {
    /// Answers those who wait no longer.
    fn fail(&mut self, given: UnansweredJobs<ClusterAsker>) {
        let reason = || "the shared log has not answered in time".to_owned();
        self.fail_all(given.unknown, &Failure::Unknown { reason: reason() });
        self.fail_all(given.undone, &Failure::Unavailable { reason: reason() });
    }

    fn fail_all(&mut self, askers: Vec<ClusterAsker>, failure: &Failure) {
        let failed = askers.into_iter().filter_map(|asker| asker.fail(failure));
        self.landed.extend(failed);
    }
}

fn record_of<'a, M: Housed>(author: Author<'a>, request: &'a Request) -> RecordRef<'a> {
    let key = request.key().map(str::as_bytes);
    RecordRef {
        service: M::SERVICE,
        author,
        key: key.map(|key| Key::parse(key).expect("it was a key when it came")),
        payload: request.bytes(),
    }
}

fn settle<M: Housed>(
    job: Job<M>,
    outcomes: JobOutcomes,
    (backend, now): (&Embedded, Timestamp),
) -> Landed
where
    Services: Hosts<M>,
{
    M::landed(match job {
        Job::Commands(requests, commander) => {
            let decided = requests.into_iter().zip(outcomes);
            let decided = decided.map(|(request, outcome)| (request, reply_of::<M>(outcome)));
            Landing::Commands(decided.collect(), commander)
        }
        Job::Queries(principal, queries, mut questioner) => {
            let answer = |query| Ok(backend.query::<M>(now, &principal, query));
            let answers = queries.iter().map(answer).collect();
            if let RequestOrigin::Asked((_, seen)) = &mut questioner.who {
                *seen = backend.sequencer().firm_position();
            }
            Landing::Queries(answers, questioner)
        }
    })
}

fn reply_of<M: Housed>(
    outcome: Result<turnstile_sequencer::Reply<Vec<u8>>, ExecuteError>,
) -> Result<Reply<M>, Failure> {
    let reply = outcome.map_err(|error| match error {
        ExecuteError::KeyReused { first } => Failure::KeyReused { first },
        other => Failure::Broken {
            reason: other.to_string(),
        },
    })?;
    let outcome = M::decode_outcome(&reply.outcome).map_err(|malformed| Failure::Broken {
        reason: malformed.to_string(),
    })?;
    Ok(Reply::<M> {
        position: reply.position,
        replayed: reply.replayed,
        outcome,
    })
}

fn fail<M: Housed>(job: Job<M>, failure: &Failure) -> Landed {
    M::landed(match job {
        Job::Commands(requests, commander) => {
            let failed = requests.into_iter().map(|one| (one, Err(failure.clone())));
            Landing::Commands(failed.collect(), commander)
        }
        Job::Queries(_, queries, questioner) => {
            // A query does nothing, so that nothing is unknown of it.
            let failure = match failure {
                Failure::Unknown { reason } => Failure::Unavailable {
                    reason: reason.clone(),
                },
                other => other.clone(),
            };
            let failed = queries.iter().map(|_| Err(failure.clone()));
            Landing::Queries(failed.collect(), questioner)
        }
    })
}
