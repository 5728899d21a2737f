//! What other threads ask of one machine, and the answers that wait for their group.

use tokio::sync::oneshot;
use turnstile_embedded::{ExecuteError, Reply, Services};
use turnstile_exchange::Exchange;
use turnstile_games::Games;
use turnstile_rooms::Rooms;
use turnstile_travel::{LateAnswer, Travel};
use turnstile_types::{Hosts, Key, Machine, Position, Principal};

use crate::{
    counters::{Counted, ErrorCode},
    engine::Engine,
    gate::{Ask, ServerStatus},
    tickets::{Tickets, Waiter},
};

/// What a command comes to.
pub type Executed<M> = Result<Reply<M>, ExecuteError>;

/// What a query comes to, and the position of the last record that its answer has surely seen: what
/// happened after it is told to those who follow the machine.
pub type Answered<M> = (Position, <M as Machine>::Answer);

/// One request to a machine, and where its answer goes.
#[derive(Debug)]
pub enum Request<M: Machine> {
    Command {
        principal: Principal,
        key: Option<Box<str>>,
        /// What the machine's `encode_command` wrote.
        command: Vec<u8>,
        reply: oneshot::Sender<Executed<M>>,
    },
    Query {
        principal: Principal,
        query: M::Query,
        reply: oneshot::Sender<Answered<M>>,
    },
}

/// A machine that other threads can ask.
pub(crate) trait Asked: Counted {
    fn ask(request: Request<Self>) -> Ask;
}

impl Asked for Rooms {
    fn ask(request: Request<Self>) -> Ask {
        Ask::Rooms(request)
    }
}

impl Asked for Exchange {
    fn ask(request: Request<Self>) -> Ask {
        Ask::Exchange(request)
    }
}

impl Asked for Travel {
    fn ask(request: Request<Self>) -> Ask {
        Ask::Travel(request)
    }
}

impl Asked for Games {
    fn ask(request: Request<Self>) -> Ask {
        Ask::Games(request)
    }
}

/// An answer of one machine that waits for its group, and who waits for it.
pub(crate) enum Decided<M: Machine> {
    Command(oneshot::Sender<Executed<M>>, Executed<M>),
    Query(oneshot::Sender<Answered<M>>, Answered<M>),
}

/// An answer that waits for its group.
pub(crate) enum Waiting {
    Rooms(Decided<Rooms>),
    Exchange(Decided<Exchange>),
    Travel(Decided<Travel>),
    Games(Decided<Games>),
    Late(oneshot::Sender<LateAnswer>, LateAnswer),
    Status(oneshot::Sender<ServerStatus>, Box<ServerStatus>),
}

impl<M: Counted> Decided<M>
where
    Services: Hosts<M>,
{
    /// Has a request decided. One whose bytes are no command is dropped: its sender hears that
    /// nothing happened.
    fn of(request: Request<M>, engine: &mut Engine) -> Option<Self> {
        match request {
            Request::Command {
                principal,
                key,
                command,
                reply,
            } => {
                let key = key
                    .as_deref()
                    .map(|key| Key::parse(key.as_bytes()))
                    .transpose();
                let decoded = M::decode_command(&command);
                let (Ok(key), Ok(command)) = (key, decoded) else {
                    engine.counters.error(ErrorCode::Invalid);
                    return None;
                };
                let executed = engine.execute::<M>(&principal, key, &command);
                Some(Self::Command(reply, executed))
            }
            Request::Query {
                principal,
                query,
                reply,
            } => {
                let answer = engine.query::<M>(&principal, &query);
                Some(Self::Query(reply, (engine.firm_position(), answer)))
            }
        }
    }
}

impl<M: Machine> Decided<M> {
    fn answer(self) {
        match self {
            Self::Command(sender, executed) => drop(sender.send(executed)),
            Self::Query(sender, answer) => drop(sender.send(answer)),
        }
    }
}

impl Waiting {
    /// Has the request decided; see [`Decided::of`]. Nothing waits for the group either when it is a
    /// late answer that was asked for and is not given yet.
    pub(crate) fn decide(ask: Ask, engine: &mut Engine, tickets: &mut Tickets) -> Option<Self> {
        Some(match ask {
            Ask::Rooms(request) => Self::Rooms(Decided::of(request, engine)?),
            Ask::Exchange(request) => Self::Exchange(Decided::of(request, engine)?),
            Ask::Travel(request) => Self::Travel(Decided::of(request, engine)?),
            Ask::Games(request) => Self::Games(Decided::of(request, engine)?),
            Ask::Late { ticket, reply } => match engine.late_answer(ticket) {
                LateAnswer::Pending => {
                    tickets.add(ticket, Waiter::Asked(reply));
                    return None;
                }
                known => Self::Late(reply, known),
            },
            Ask::Status { reply } => Self::Status(reply, Box::new(engine.status())),
        })
    }

    /// One who has gone meanwhile is not waited for: the answer is dropped.
    pub(crate) fn answer(self) {
        match self {
            Self::Rooms(decided) => decided.answer(),
            Self::Exchange(decided) => decided.answer(),
            Self::Travel(decided) => decided.answer(),
            Self::Games(decided) => decided.answer(),
            Self::Late(sender, answer) => drop(sender.send(answer)),
            Self::Status(sender, status) => drop(sender.send(*status)),
        }
    }
}
