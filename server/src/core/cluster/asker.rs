//! Who waits for the order of a shared log, and what they are answered.

use std::fmt;

use turnstile_contract::{Failure, Reply, Request};
use turnstile_embedded::{ExecuteError, Services};
use turnstile_record::RecordRef;
use turnstile_sequencer::State;
use turnstile_types::{Author, Hosts, Key, PartitionNumber, Principal, Timestamp};

use crate::core::{
    caller::Caller,
    remote::{Housed, Job, Landed, Landing},
};

/// What becomes of the commands of a job, as stable bytes.
type JobOutcomes = Vec<Result<turnstile_sequencer::Reply<Vec<u8>>, ExecuteError>>;

/// A service that a shared log may decide.
pub(crate) trait Clustered: Housed {
    /// Who waits for a job of the shared log.
    fn asker(caller: Caller, job: Job<Self>) -> ClusterAsker;
}

macro_rules! askers {
    ($($name:ident: $machine:ident),+ $(,)?) => {
        /// Who waits for an entry, and for what.
        pub(crate) enum ClusterAsker {
            /// The server itself, which needs no answer and asks again by itself.
            Nobody,
            /// The server itself with a command of this service, as these bytes. It is proposed until it is
            /// decided.
            Note(u8, Vec<u8>),
            /// Who asks another partition, and waits here until all is known that was ordered at this
            /// instant.
            Onward(Timestamp, Box<ClusterAsker>),
            /// A batch of one caller on its way to the loop of another partition, which decides its jobs one
            /// right after the other.
            Batch(Vec<ClusterAsker>),
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
            /// The answers to a job that was decided, in the state right behind it.
            pub(super) fn settle(
                self,
                outcomes: JobOutcomes,
                seen: (&State<Services>, Timestamp),
            ) -> Option<Landed> {
                match self {
                    Self::Nobody | Self::Note(..) | Self::Onward(..) | Self::Batch(_) => None,
                    $(Self::$machine(_, job) => Some(settle(job, outcomes, seen)),)+
                }
            }

            /// Who asked; nobody where the server did.
            pub(crate) fn caller(&self) -> Option<&Caller> {
                match self {
                    Self::Nobody | Self::Note(..) => None,
                    Self::Onward(_, asker) => asker.caller(),
                    Self::Batch(askers) => askers.first()?.caller(),
                    $(Self::$machine(caller, _) => Some(caller),)+
                }
            }

            /// The records of its commands, by this author.
            pub(super) fn records<'a>(&'a self, author: Author<'a>) -> Vec<RecordRef<'a>> {
                match self {
                    Self::Nobody | Self::Note(..) | Self::Onward(..) | Self::Batch(_) => Vec::new(),
                    $(Self::$machine(_, job) => {
                        type Service = turnstile_services::$name::$machine;
                        let commands = job.commands().iter();
                        commands.map(|request| record_of::<Service>(author, request)).collect()
                    })+
                }
            }

            /// Whether it has commands, so that the log would grow by more than its head.
            pub(super) fn has_commands(&self) -> bool {
                match self {
                    Self::Nobody | Self::Note(..) | Self::Onward(..) => false,
                    Self::Batch(askers) => askers.iter().any(Self::has_commands),
                    $(Self::$machine(_, job) => !job.commands().is_empty(),)+
                }
            }

            /// Asks for each key of its commands whether there is room.
            pub(crate) fn check_keys(
                &self,
                check: &dyn Fn(&Principal, Key<'_>) -> Result<(), ExecuteError>,
            ) -> Result<(), ExecuteError> {
                match self {
                    Self::Nobody | Self::Note(..) | Self::Onward(..) => Ok(()),
                    Self::Batch(askers) => askers.iter().try_for_each(|one| one.check_keys(check)),
                    $(Self::$machine(_, job) => {
                        job.keys().try_for_each(|(principal, key)| check(principal, key))
                    })+
                }
            }

            /// The partition that is asked.
            pub(crate) fn partition(&self) -> PartitionNumber {
                match self {
                    Self::Nobody | Self::Note(..) => PartitionNumber::FIRST,
                    Self::Onward(_, asker) => asker.partition(),
                    Self::Batch(askers) => {
                        askers.first().map_or(PartitionNumber::FIRST, Self::partition)
                    }
                    $(Self::$machine(_, job) => job.partition(),)+
                }
            }

            /// The answers to a job that was not decided, or of which that is not known.
            pub(crate) fn fail(self, failure: &Failure) -> Vec<Landed> {
                match self {
                    Self::Nobody | Self::Note(..) => Vec::new(),
                    // What was proposed is nothing: the other partition was not asked.
                    Self::Onward(_, asker) => asker.fail(&nothing_done(failure)),
                    Self::Batch(askers) => {
                        askers.into_iter().flat_map(|asker| asker.fail(failure)).collect()
                    }
                    $(Self::$machine(_, job) => vec![fail(job, failure)],)+
                }
            }
        }
    };
}

turnstile_services::services!(askers);

impl ClusterAsker {
    /// How many jobs it has, each with an answer of its own.
    pub(crate) const fn jobs(&self) -> usize {
        match self {
            Self::Batch(askers) => askers.len(),
            _ => 1,
        }
    }
}

impl fmt::Debug for ClusterAsker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ClusterAsker")
    }
}

pub(super) fn record_of<'a, M: Housed>(author: Author<'a>, request: &'a Request) -> RecordRef<'a> {
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
    (state, now): (&State<Services>, Timestamp),
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
            let machine: &M = state.machines().machine();
            let now = now.max(state.time());
            // A node has judged them before.
            let answer = |(query, _): &_| Ok(machine.query(now, &principal, query));
            let answers = queries.iter().map(answer).collect();
            questioner.who.note_seen(state.position());
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
    Ok(reply.map(|_bytes| outcome))
}

pub(super) fn fail<M: Housed>(job: Job<M>, failure: &Failure) -> Landed {
    M::landed(match job {
        Job::Commands(requests, commander) => {
            let failed = requests.into_iter().map(|one| (one, Err(failure.clone())));
            Landing::Commands(failed.collect(), commander)
        }
        Job::Queries(_, queries, questioner) => {
            // A query does nothing, so that nothing is unknown of it.
            let failure = nothing_done(failure);
            let failed = queries.iter().map(|_| Err(failure.clone()));
            Landing::Queries(failed.collect(), questioner)
        }
    })
}

/// The same, of which it is known that nothing was done.
pub(super) fn nothing_done(failure: &Failure) -> Failure {
    match failure {
        Failure::Unknown { reason } => Failure::Unavailable {
            reason: reason.clone(),
        },
        other => other.clone(),
    }
}
