//! Requests that are decided elsewhere: how they leave, and how their answers are written.

use std::{collections::BTreeMap, mem};

use turnstile_contract::{self as contract, Failure};
use turnstile_embedded::Services;
use turnstile_resp::{Encoder, Request};
use turnstile_types::{Hosts, PartitionNumber};

use super::{Prompt, Session, Surroundings, late::ForGap, put_undecided};
use crate::core::{
    gate::Undecided,
    remote::{Job, Landed, Landing, RequestOrigin, Requester},
};

/// A command, and where it is decided.
#[derive(Debug)]
pub(super) struct Departing {
    to: Elsewhere,
    command: contract::Request,
}

/// Where a request is decided that is not decided at once: the number of its service, and its partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Elsewhere {
    service: u8,
    partition: PartitionNumber,
}

impl Elsewhere {
    pub(super) const fn of(service: u8, partition: PartitionNumber) -> Self {
        Self { service, partition }
    }
}

macro_rules! depart_to_all {
    ($($name:ident: $machine:ident),+ $(,)?) => {
        fn depart_to_all(&self, around: &mut Surroundings<'_>, departing: &[Departing]) {
            $(self.depart_to::<turnstile_services::$name::$machine>(around, departing);)+
        }

        /// Writes what was answered elsewhere, as soon as all is there that the reply waits for.
        pub(super) fn put_any_landed(&mut self, landed: &Landed, out: &mut Vec<u8>) {
            match landed {
                $(Landed::$machine(landing) => self.put_landed(landing, out),)+
            }
        }
    };
}

impl Session {
    /// Leaves a gap in the reply. A command goes with the others of its run, so that they are decided in
    /// their order; a query is alone in its run, and goes at once.
    pub(super) fn send_away<M: Prompt>(
        &mut self,
        around: &mut Surroundings<'_>,
        request: &Request<'_, M::Command<'_>, M::Query>,
        out: &mut Vec<u8>,
    ) where
        Services: Hosts<M>,
    {
        let engine = &mut around.engine;
        let admitted = match request {
            Request::Command { command, key } => {
                engine.admit_away_within::<M>(&mut self.shares, *key, command)
            }
            Request::Query(query) => engine
                .spend()
                .and_then(|()| engine.check_under_way())
                .and_then(|()| engine.permit_query_away::<M>(query))
                .map_err(Undecided::from),
        };
        let scope = match admitted {
            Ok(scope) => scope,
            Err(undecided) => {
                return put_undecided(&mut Encoder::new(out, self.protocol), &undecided);
            }
        };
        let partition = match request {
            Request::Command { command, .. } => engine.partition_of(command),
            Request::Query(query) => engine.partition_of(query),
        };
        let to = Elsewhere::of(M::SERVICE, partition);
        self.late.leave_gap_for(to, out);
        let principal = around.engine.caller.principal;
        match request {
            Request::Command { command, key } => {
                let command = contract::Request::new::<M>(principal, *key, command).within(scope);
                if let Some(run) = &mut self.executing {
                    let operation = operation_of::<M>(&command);
                    let caller = as_requester::<M, _>(around, self.id, operation.into_iter());
                    let caller = caller.of(partition);
                    let job = Job::Commands(vec![command], caller);
                    run.push(M::asker(around.engine.caller.clone(), job));
                    return;
                }
                self.departing.push(Departing { to, command });
            }
            Request::Query(query) => {
                around.engine.counters.query::<M>(query);
                let operation = [M::query_place(query)].into_iter();
                let caller = as_requester::<M, _>(around, self.id, operation);
                let query = (query.clone(), scope);
                match &mut self.executing {
                    // No query of a batch asks several partitions.
                    Some(run) => {
                        let job = Job::Queries(principal, vec![query], caller.of(partition));
                        run.push(M::asker(around.engine.caller.clone(), job));
                    }
                    None => around.engine.ask_away::<M>(query, caller),
                }
            }
        }
    }

    /// Sends the commands of a run to where they are decided.
    pub(super) fn depart(&mut self, around: &mut Surroundings<'_>) {
        let departing = mem::take(&mut self.departing);
        if !departing.is_empty() {
            self.depart_to_all(around, &departing);
        }
    }

    turnstile_services::services!(depart_to_all);

    fn depart_to<M: Prompt>(&self, around: &mut Surroundings<'_>, departing: &[Departing]) {
        let mut of_partitions: BTreeMap<PartitionNumber, Vec<contract::Request>> = BTreeMap::new();
        for Departing { to, command } in departing {
            if to.service == M::SERVICE {
                let commands = of_partitions.entry(to.partition).or_default();
                commands.push(command.clone());
            }
        }
        for (partition, commands) in of_partitions {
            let operations = commands.iter().filter_map(operation_of::<M>);
            let caller = as_requester::<M, _>(around, self.id, operations).of(partition);
            around
                .engine
                .send_away::<M>(Job::Commands(commands, caller));
        }
    }

    fn put_landed<M: Prompt>(&mut self, landing: &Landing<M>, out: &mut Vec<u8>) {
        let protocol = self.protocol;
        if let Landing::Commands(decided, _) = landing {
            for reply in decided
                .iter()
                .filter_map(|(_, result)| result.as_ref().ok())
            {
                self.shares.note::<M>(&reply.outcome, reply.replayed);
            }
        }
        if let Landing::Commands(decided, _) = landing {
            decided
                .iter()
                .for_each(|(_, result)| self.note_landed::<M>(result));
        }
        let written = |put: &dyn Fn(&mut Encoder<'_>)| {
            let mut answer = Vec::new();
            put(&mut Encoder::new(&mut answer, protocol));
            ForGap::Answer(answer)
        };
        let answers: Vec<_> = match landing {
            Landing::Commands(decided, _) => decided
                .iter()
                .map(|(_, result)| match result {
                    Ok(decided) => {
                        let (position, replayed) = (decided.position, decided.replayed);
                        match M::late_ticket(&decided.outcome) {
                            Some(ticket) => ForGap::Waits { ticket, replayed },
                            None => written(&|reply| {
                                M::put_outcome(reply, &decided.outcome, position, replayed);
                            }),
                        }
                    }
                    Err(failure) => written(&|reply| put_failure(reply, failure)),
                })
                .collect(),
            Landing::Queries(answers, _) => answers
                .iter()
                .map(|answer| {
                    written(&|reply| match answer {
                        Ok(answer) => M::put_answer(reply, answer),
                        Err(failure) => put_failure(reply, failure),
                    })
                })
                .collect(),
        };
        let from = Elsewhere::of(M::SERVICE, landing.partition());
        self.late.fill_from(from, answers, out);
    }
}

fn as_requester<M: Prompt, T>(
    around: &Surroundings<'_>,
    client: u64,
    operations: impl Iterator<Item = usize>,
) -> Requester<T> {
    let place = around.place;
    Requester::new(
        RequestOrigin::Connection { place, client },
        around.engine.stopwatch.time::<M>(operations),
    )
}

/// Which of the operations a command is.
fn operation_of<M: Prompt>(request: &contract::Request) -> Option<usize> {
    let command = request.command::<M>().ok()?;
    Some(M::command_place(&command))
}

pub(super) fn put_failure(reply: &mut Encoder<'_>, failure: &Failure) {
    let word = match failure {
        Failure::KeyReused { .. } => "IDEMMISMATCH",
        Failure::Forbidden(_) => "NOPERM",
        Failure::Unsupported { .. } => "UNSUPPORTED",
        Failure::Unavailable { .. } => "UNAVAILABLE",
        Failure::Unknown { .. } => "UNKNOWN",
        Failure::Broken { .. } => "BROKEN",
    };
    reply.error(format_args!("{word} {failure}"));
}
