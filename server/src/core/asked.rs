//! What other threads ask of one machine, and the answers that wait for their group.

use serde_json::Value;
use tokio::sync::oneshot;
use turnstile_contract as contract;
use turnstile_embedded::Services;
use turnstile_travel::{LateAnswer, Outcome};
use turnstile_types::{Hosts, Key, Machine};

use crate::{
    core::{
        cluster::Clustered,
        engine::Engine,
        gate::{Answered, Ask, Executed, Request, RequestsAway, ServerStatus},
        remote::{Job, RequestOrigin, Requester},
        shares::{Opens, Shares},
        tickets::{LateWaiter, Tickets},
    },
    counters::ErrorCode,
};

/// A service that other threads can ask.
pub(crate) trait Asked: Opens + Clustered {
    fn ask(request: Request<Self>) -> Ask;
}

/// An answer of one machine that waits for its group, and who waits for it.
pub(crate) enum HeldAnswer<M: Machine> {
    Command(oneshot::Sender<Executed<M>>, Executed<M>),
    Query(oneshot::Sender<Answered<M>>, Answered<M>),
}

impl<M: Opens> HeldAnswer<M>
where
    Services: Hosts<M>,
{
    /// Has a request decided. One whose bytes are no command is dropped: its sender hears that
    /// nothing happened.
    fn of(request: Request<M>, engine: &mut Engine, shares: &mut Shares) -> Option<Self> {
        match request {
            Request::Command {
                caller,
                key,
                command,
                reply,
            } => {
                engine.take_caller(caller);
                let bytes = command;
                let (key, command) = understood::<M>(key.as_deref(), &bytes, engine)?;
                let executed = engine.execute_within::<M>(shares, key, &command, Some(&bytes));
                Some(Self::Command(reply, executed))
            }
            Request::Query {
                caller,
                query,
                reply,
                ..
            } => {
                engine.take_caller(caller);
                let answer = engine.query::<M>(&query);
                let position = engine.backend().sequencer().firm_position();
                Some(Self::Query(reply, answer.map(|answer| (position, answer))))
            }
        }
    }
}

/// The key and the command of a request; nothing when its bytes are none.
fn understood<'a, M: Machine>(
    key: Option<&'a str>,
    command: &'a [u8],
    engine: &Engine,
) -> Option<(Option<Key<'a>>, M::Command<'a>)> {
    let key = key.map(|key| Key::parse(key.as_bytes())).transpose();
    let (Ok(key), Ok(command)) = (key, M::decode_command(command)) else {
        engine.counters.error(ErrorCode::Invalid);
        return None;
    };
    Some((key, command))
}

/// Sends the request to where its service is decided, or gives it back when that is here.
fn sent_away<M: Asked>(
    request: Request<M>,
    engine: &mut Engine,
    (shares, away): (&mut Shares, &RequestsAway),
) -> Option<Request<M>>
where
    Services: Hosts<M>,
{
    if !engine.is_away::<M>() {
        return Some(request);
    }
    if let Request::Query {
        may_be_stale: true,
        query,
        ..
    } = &request
        && engine.is_answered_here(query)
    {
        return Some(request);
    }
    match request {
        Request::Command {
            caller,
            key,
            command,
            reply,
        } => {
            engine.take_caller(caller);
            let (key, command) = understood::<M>(key.as_deref(), &command, engine)?;
            let scope = match engine.admit_away_within::<M>(shares, key, &command) {
                Ok(scope) => scope,
                Err(denied) => {
                    drop(reply.send(Err(denied)));
                    return None;
                }
            };
            let principal = engine.caller.principal;
            let timed = engine
                .stopwatch
                .time::<M>([M::command_place(&command)].into_iter());
            let request = contract::Request::new::<M>(principal, key, &command).within(scope);
            let who = RequestOrigin::Asked(reply);
            let asker = Requester::new(who, timed).away(away.begin());
            let asker = asker.of(engine.partition_of(&command));
            engine.send_away::<M>(Job::Commands(vec![request], asker));
        }
        Request::Query {
            caller,
            query,
            reply,
            ..
        } => {
            engine.take_caller(caller);
            let scope = match engine.admit_query_away::<M>(&query) {
                Ok(scope) => scope,
                Err(denied) => {
                    drop(reply.send(Err(denied.into())));
                    return None;
                }
            };
            engine.counters.query::<M>(&query);
            let timed = engine
                .stopwatch
                .time::<M>([M::query_place(&query)].into_iter());
            let who = RequestOrigin::Asked((reply, engine.seen::<M>()));
            let asker = Requester::new(who, timed).away(away.begin());
            engine.ask_away::<M>((query, scope), asker);
        }
    }
    None
}

impl<M: Machine> HeldAnswer<M> {
    fn answer(self) {
        match self {
            Self::Command(sender, executed) => drop(sender.send(executed)),
            Self::Query(sender, answer) => drop(sender.send(answer)),
        }
    }
}

macro_rules! waiting {
    ($($name:ident: $machine:ident),+ $(,)?) => {
        $(
            impl Asked for turnstile_services::$name::$machine {
                fn ask(request: Request<Self>) -> Ask {
                    Ask::$machine(request)
                }
            }
        )+

        /// An answer that waits for its group.
        pub(crate) enum Waiting {
            $($machine(HeldAnswer<turnstile_services::$name::$machine>),)+
            Late(oneshot::Sender<Option<Outcome>>, Option<Outcome>),
            Status(oneshot::Sender<ServerStatus>, Box<ServerStatus>),
            Cluster(oneshot::Sender<Option<Value>>, Option<Value>),
        }

        impl Waiting {
            /// Has the request decided; see [`HeldAnswer::of`]. Nothing waits for the group either when a
            /// database decides it, or when it is a late answer that was asked for and is not given
            /// yet.
            pub(crate) fn decide(
                ask: Ask,
                engine: &mut Engine,
                tickets: &mut Tickets,
                (shares, away): (&mut Shares, &RequestsAway),
            ) -> Option<Self> {
                Some(match ask {
                    $(Ask::$machine(request) => {
                        let request = sent_away(request, engine, (shares, away))?;
                        Self::$machine(HeldAnswer::of(request, engine, shares)?)
                    })+
                    Ask::Late { ticket, reply } => match engine.late_answer(ticket) {
                        LateAnswer::Pending => {
                            tickets.add(ticket, LateWaiter::Asked(reply));
                            return None;
                        }
                        LateAnswer::Given(outcome) => Self::Late(reply, Some(outcome)),
                        LateAnswer::Unknown => Self::Late(reply, None),
                    },
                    Ask::Status { reply } => Self::Status(reply, Box::new(engine.status())),
                    Ask::Cluster { is_draining, reply } => {
                        Self::Cluster(reply, engine.cluster_report(is_draining))
                    }
                    Ask::NoteUse(key) => {
                        engine.note_use(key);
                        return None;
                    }
                })
            }

            /// One who has gone meanwhile is not waited for: the answer is dropped.
            pub(crate) fn answer(self) {
                match self {
                    $(Self::$machine(decided) => decided.answer(),)+
                    Self::Late(sender, answer) => drop(sender.send(answer)),
                    Self::Cluster(sender, report) => drop(sender.send(report)),
                    Self::Status(sender, status) => drop(sender.send(*status)),
                }
            }
        }
    };
}

turnstile_services::services!(waiting);
