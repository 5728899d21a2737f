//! Jobs that another node decides: how they are sent, and what becomes of the answers. And jobs of other
//! nodes that are decided here.

use turnstile_chassis::{PartitionRoute, Routed};
use turnstile_contract::{Failure, Request, Scope};
use turnstile_jetstream::ReplyAddress;
use turnstile_record::{EntryBuilder, PAYLOAD_BYTES_MAX, RecordRef};
use turnstile_replica::RelayAnswer;
use turnstile_types::{Author, PartitionNumber, Position};

use super::{
    asker::{ClusterAsker, Clustered, fail, nothing_done, record_of},
    other_nodes::{NodeRequest, hear_answer, hear_outcome, tell_answer, tell_outcome},
};
use crate::{
    core::remote::{Housed, Job, Landed, Landing, NodeReply, RequestOrigin, Requester},
    counters::Stopwatch,
};

macro_rules! relayed {
    ($($name:ident: $machine:ident),+ $(,)?) => {
        impl ClusterAsker {
            /// Whether it has queries.
            pub(crate) fn is_query(&self) -> bool {
                match self {
                    Self::Nobody | Self::Note(..) | Self::Onward(..) | Self::Batch(_) => false,
                    $(Self::$machine(_, job) => matches!(job, Job::Queries(..)),)+
                }
            }

            /// Whether it does nothing more when it is sent once more.
            pub(crate) fn may_repeat(&self) -> bool {
                match self {
                    Self::Nobody | Self::Note(..) | Self::Onward(..) | Self::Batch(_) => false,
                    $(Self::$machine(_, job) => {
                        job.commands().iter().all(|command| command.key().is_some())
                    })+
                }
            }

            /// Adds what is asked to an entry for another node, as records of this author; says whether it
            /// fits.
            pub(crate) fn write(&self, author: Author<'_>, entry: &mut EntryBuilder) -> bool {
                match self {
                    Self::Nobody | Self::Note(..) | Self::Onward(..) | Self::Batch(_) => false,
                    $(Self::$machine(_, job) => write(job, author, entry),)+
                }
            }

            /// What another node has answered; that it has done nothing says nothing of a third one that
            /// got it before.
            pub(crate) fn land(self, answer: RelayAnswer, was_repeated: bool) -> Vec<Landed> {
                match self {
                    Self::Nobody | Self::Note(..) | Self::Onward(..) | Self::Batch(_) => Vec::new(),
                    $(Self::$machine(_, job) => vec![land(job, answer, was_repeated)],)+
                }
            }

            /// Whom another node asks for, and what.
            ///
            /// # Errors
            /// Why it is not taken, in words.
            pub(crate) fn of_node(
                request: NodeRequest<'_>,
                (from, count): (ReplyAddress, u8),
                stopwatch: &Stopwatch,
            ) -> Result<Self, String> {
                match request.service {
                    $(number if is::<turnstile_services::$name::$machine>(number) => {
                        read::<turnstile_services::$name::$machine>(
                            request,
                            (from, count),
                            stopwatch,
                        )
                    })+
                    _ => Err("this node does not know the service".to_owned()),
                }
            }
        }

        impl Landed {
            /// What another node is answered, if it has asked.
            pub(crate) fn for_node(&self) -> Option<(ReplyAddress, RelayAnswer)> {
                match self {
                    $(Self::$machine(landing) => for_node(landing),)+
                }
            }
        }
    };
}

turnstile_services::services!(relayed);

const fn is<M: Housed>(service: u8) -> bool {
    service == M::SERVICE
}

fn write<M: Housed>(job: &Job<M>, author: Author<'_>, entry: &mut EntryBuilder) -> bool {
    let mut push = |record: &RecordRef<'_>| {
        let fits = record.payload.len() <= PAYLOAD_BYTES_MAX && entry.fits(record.size());
        if fits {
            entry.push(record);
        }
        fits
    };
    match job {
        Job::Commands(commands, _) => {
            let mut records = commands.iter().map(|one| record_of::<M>(author, one));
            records.all(|record| push(&record))
        }
        Job::Queries(_, queries, _) => queries.iter().all(|(query, _)| {
            let mut payload = Vec::new();
            M::encode_query(query, &mut payload);
            push(&RecordRef {
                service: M::SERVICE,
                author,
                key: None,
                payload: &payload,
            })
        }),
    }
}

fn land<M: Housed>(job: Job<M>, answer: RelayAnswer, was_repeated: bool) -> Landed {
    let judged = |failure: Failure| match failure {
        Failure::Unavailable { reason } if was_repeated => Failure::Unknown { reason },
        other => other,
    };
    match (job, answer) {
        (Job::Commands(commands, commander), RelayAnswer::Decided(outcomes))
            if commands.len() == outcomes.len() =>
        {
            let decided = commands.into_iter().zip(outcomes);
            let decided = decided.map(|(command, outcome)| {
                let result = hear_outcome::<M>(outcome);
                (command, result.map_err(judged))
            });
            M::landed(Landing::Commands(decided.collect(), commander))
        }
        (Job::Queries(_, queries, mut questioner), RelayAnswer::Answered(position, answers))
            if queries.len() == answers.len() =>
        {
            questioner.who.note_seen(position);
            let answers = answers.into_iter().map(|answer| {
                let answer = hear_answer::<M>(answer);
                answer.map_err(|failure| nothing_done(&failure))
            });
            M::landed(Landing::Queries(answers.collect(), questioner))
        }
        (job, RelayAnswer::NotTaken(reason)) => {
            let reason = format!("another node did not take it: {reason}");
            fail(job, &judged(Failure::Unavailable { reason }))
        }
        (job, _) => {
            let reason = "another node has answered something else".to_owned();
            fail(job, &Failure::Broken { reason })
        }
    }
}

/// Whether a partition, of so many, decides what goes this way.
fn goes_to(route: &PartitionRoute, here: PartitionNumber, count: u8) -> bool {
    match route {
        PartitionRoute::First => here == PartitionNumber::FIRST,
        PartitionRoute::Named(name) => PartitionNumber::of_name(name, count) == here,
        PartitionRoute::Given(partition) => partition.among(count) == here,
        PartitionRoute::Pages(_) | PartitionRoute::All => true,
    }
}

fn read<M: Clustered>(
    request: NodeRequest<'_>,
    (from, count): (ReplyAddress, u8),
    stopwatch: &Stopwatch,
) -> Result<ClusterAsker, String> {
    if !<M::Query as Routed>::IS_SPREAD {
        return Err(format!("{} is not spread over partitions", M::NAME));
    }
    let elsewhere = || "another partition decides it".to_owned();
    let here = request.partition;
    let principal = request.caller.principal;
    let reply = Box::new(NodeReply {
        to: from,
        seen: Position(0),
    });
    let timed = stopwatch.time::<M>(std::iter::empty());
    let mut commands = Vec::new();
    let mut queries = Vec::new();
    for record in request.records() {
        if record.service != M::SERVICE || record.principal != principal {
            return Err("it has several callers or services".to_owned());
        }
        let malformed = |malformed: turnstile_types::Malformed| malformed.to_string();
        if request.is_query {
            let query = M::decode_query(record.payload).map_err(malformed)?;
            if !goes_to(&query.route(), here, count) {
                return Err(elsewhere());
            }
            queries.push((query, Scope::EVERYTHING));
        } else {
            let command = M::decode_command(record.payload).map_err(malformed)?;
            if !goes_to(&command.route(), here, count) {
                return Err(elsewhere());
            }
            commands.push(Request::new::<M>(principal, record.key, &command));
        }
    }
    let job = if request.is_query {
        Job::Queries(
            principal,
            queries,
            Requester::new(RequestOrigin::Node(reply), timed).of(here),
        )
    } else {
        Job::Commands(
            commands,
            Requester::new(RequestOrigin::Node(reply), timed).of(here),
        )
    };
    Ok(M::asker(request.caller, job))
}

fn for_node<M: Housed>(landing: &Landing<M>) -> Option<(ReplyAddress, RelayAnswer)> {
    match landing {
        Landing::Commands(decided, commander) => {
            let reply = commander.who.node()?;
            let outcomes = decided.iter().map(|(_, result)| tell_outcome::<M>(result));
            Some((reply.to.clone(), RelayAnswer::Decided(outcomes.collect())))
        }
        Landing::Queries(answers, questioner) => {
            let reply = questioner.who.node()?;
            let answers = answers.iter().map(tell_answer::<M>).collect();
            Some((reply.to.clone(), RelayAnswer::Answered(reply.seen, answers)))
        }
    }
}
