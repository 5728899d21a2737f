//! Requests that a database decides: how they leave, and how their answers are written.

use std::mem;

use turnstile_contract::{self as contract, Failure, Scope};
use turnstile_embedded::Services;
use turnstile_resp::{Encoder, Request};
use turnstile_types::Hosts;

use super::{Prompt, Session, Surroundings, late::ForGap};
use crate::core::remote::{Job, Landed, Landing, RequestOrigin, Requester};

/// A command, and the number of the service whose database decides it.
#[derive(Debug)]
pub(super) struct Departing {
    service: u8,
    command: contract::Request,
}

macro_rules! depart_to_all {
    ($($name:ident: $machine:ident),+ $(,)?) => {
        fn depart_to_all(&self, around: &mut Surroundings<'_>, departing: &[Departing]) {
            $(self.depart_to::<turnstile_services::$name::$machine>(around, departing);)+
        }

        /// Writes what a database has answered, as soon as all is there that the reply waits for.
        pub(super) fn put_any_landed(&mut self, landed: &Landed, out: &mut Vec<u8>) {
            match landed {
                $(Landed::$machine(landing) => self.put_landed(landing, out),)+
            }
        }
    };
}

impl Session {
    /// Leaves a gap in the reply. A command goes with the others of its run, so that the database
    /// decides them in their order; a query is alone in its run, and goes at once.
    pub(super) fn send_away<M: Prompt>(
        &mut self,
        around: &mut Surroundings<'_>,
        request: &Request<'_, M::Command<'_>, M::Query>,
        out: &mut Vec<u8>,
    ) where
        Services: Hosts<M>,
    {
        let engine = &mut around.engine;
        let admitted = engine
            .spend()
            .and_then(|()| engine.check_under_way())
            .and_then(|()| match request {
                Request::Command { command, key } => engine.permit_away::<M>(*key, command),
                Request::Query(query) => {
                    engine.permit_query::<M>(query).map(|()| Scope::EVERYTHING)
                }
            });
        let scope = match admitted {
            Ok(scope) => scope,
            Err(denied) => return self.put_denied(denied, out),
        };
        self.late.leave_gap_for_database(M::SERVICE, out);
        let principal = around.engine.caller.principal;
        match request {
            Request::Command { command, key } => self.departing.push(Departing {
                service: M::SERVICE,
                command: contract::Request::new::<M>(principal, *key, command).within(scope),
            }),
            Request::Query(query) => {
                around.engine.counters.query::<M>(query);
                let caller = self.as_requester::<M, _>(around, [M::query_place(query)].into_iter());
                let job = Job::Queries(principal, vec![query.clone()], caller);
                around.engine.send_away::<M>(job);
            }
        }
    }

    /// Sends the commands of a run to their databases.
    pub(super) fn depart(&mut self, around: &mut Surroundings<'_>) {
        let departing = mem::take(&mut self.departing);
        if !departing.is_empty() {
            self.depart_to_all(around, &departing);
        }
    }

    turnstile_services::services!(depart_to_all);

    fn depart_to<M: Prompt>(&self, around: &mut Surroundings<'_>, departing: &[Departing]) {
        let commands: Vec<_> = departing
            .iter()
            .filter(|departing| departing.service == M::SERVICE)
            .map(|departing| departing.command.clone())
            .collect();
        if !commands.is_empty() {
            let operations = commands.iter().filter_map(operation_of::<M>);
            let caller = self.as_requester::<M, _>(around, operations);
            around
                .engine
                .send_away::<M>(Job::Commands(commands, caller));
        }
    }

    fn as_requester<M: Prompt, T>(
        &self,
        around: &Surroundings<'_>,
        operations: impl Iterator<Item = usize>,
    ) -> Requester<T> {
        let (place, client) = (around.place, self.id);
        Requester {
            who: RequestOrigin::Connection { place, client },
            timed: around.engine.stopwatch.time::<M>(operations),
        }
    }

    fn put_landed<M: Prompt>(&mut self, landing: &Landing<M>, out: &mut Vec<u8>) {
        let protocol = self.protocol;
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
        self.late.fill_from_database(M::SERVICE, answers, out);
    }
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
