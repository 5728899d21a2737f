//! What is spoken on a connection of the fast doors: the protocol, and what its client has agreed on.

use std::{fmt, net::SocketAddr, time::Duration};

use turnstile_duel::Player;
use turnstile_resp::{Decoder, Encoder, Fault, travel::Decided};
use turnstile_travel::Outcome;
use turnstile_types::Position;

use crate::{
    core::{
        engine::Engine,
        remote::{Housed, Landing},
        shares::Shares,
    },
    counters::ErrorCode,
    doors::{
        arena::PlayerSession,
        desk::PeerSession,
        lines::{LinesSession, end_of_input},
        resp::{Prompt, Run, RunEnd, Session, Surroundings},
        scores::{ScoresSession, run_teller},
        xml::XmlSession,
    },
    limits::AHEAD,
};

/// Why the server does not wait for the rest of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InputRefused {
    /// All connections together keep too much.
    TooMuch,
    /// The rest has not come within this.
    TooLate { limit: Duration },
}

impl fmt::Display for InputRefused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooMuch => {
                f.write_str("the server keeps too much unfinished input, try again later")
            }
            Self::TooLate { limit } => {
                write!(f, "the request did not arrive whole within {limit:?}")
            }
        }
    }
}

/// A fast door.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FastDoor {
    Resp,
    Xml,
    Lines,
    /// Between the processes of travel.
    Desk,
    /// Where two play on the ancestor's wire.
    Arena,
    /// Where arenas tell results.
    Scores,
}

/// What the clients of each door are offered.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Choices {
    pub(crate) xml: turnstile_xml::Options,
    pub(crate) lines: turnstile_lines::Options,
}

/// One side of a conversation; the other is the client.
#[derive(Debug)]
pub(crate) enum Conversation {
    Resp {
        session: Session,
        decoder: Decoder,
    },
    Xml(XmlSession),
    Lines(LinesSession),
    Peer(PeerSession),
    Player(PlayerSession),
    Scores(ScoresSession),
    /// With distant scores; see [`Teller`](crate::doors::arena::hall::Teller).
    Teller,
}

/// What became of a piece of input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Progress {
    /// Bytes that need not be looked at again.
    pub(crate) length: usize,
    pub(crate) requests: usize,
    pub(crate) next: Next,
}

/// How a conversation goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// There may be another request.
    More,
    /// The next request is not whole.
    Incomplete,
    /// The client is to be closed when it has its answers.
    Close,
    /// The client is to be closed at once.
    Drop,
}

impl Conversation {
    pub(crate) fn new(
        door: FastDoor,
        (id, peer): (u64, SocketAddr),
        since_ms: u64,
        choices: Choices,
    ) -> Self {
        match door {
            FastDoor::Resp => Self::Resp {
                session: Session::new(id, peer, since_ms),
                decoder: Decoder::new(),
            },
            FastDoor::Xml => Self::Xml(XmlSession::new(id, choices.xml)),
            FastDoor::Lines => Self::Lines(LinesSession::new(choices.lines)),
            FastDoor::Desk => Self::Peer(PeerSession::answering()),
            FastDoor::Arena => Self::Player(PlayerSession::default()),
            FastDoor::Scores => Self::Scores(ScoresSession::default()),
        }
    }

    pub(crate) const fn door(&self) -> FastDoor {
        match self {
            Self::Resp { .. } => FastDoor::Resp,
            Self::Xml(_) => FastDoor::Xml,
            Self::Lines(_) => FastDoor::Lines,
            Self::Peer(_) => FastDoor::Desk,
            Self::Player(_) => FastDoor::Arena,
            Self::Scores(_) | Self::Teller => FastDoor::Scores,
        }
    }

    /// The client's session, where the protocol has one that others may list.
    pub(crate) const fn session(&self) -> Option<&Session> {
        match self {
            Self::Resp { session, .. } => Some(session),
            _ => None,
        }
    }

    /// What its client has open in tables that all share, where its door counts that.
    pub(crate) fn into_shares(self) -> Option<Shares> {
        match self {
            Self::Resp { session, .. } => Some(session.into_shares()),
            Self::Lines(session) => Some(session.into_shares()),
            Self::Xml(_) | Self::Peer(_) | Self::Player(_) | Self::Scores(_) | Self::Teller => None,
        }
    }

    /// Whether it is told of events that it did not ask for one by one.
    pub(crate) fn follows(&self) -> bool {
        self.session()
            .is_some_and(|session| !session.following().is_empty())
    }

    /// The session, where the client is another process of travel.
    pub(crate) const fn peer(&self) -> Option<&PeerSession> {
        match self {
            Self::Peer(session) => Some(session),
            _ => None,
        }
    }

    /// The player, where the client is one at the arena's door who was let in.
    pub(crate) const fn player(&self) -> Option<Player> {
        match self {
            Self::Player(session) => session.own(),
            _ => None,
        }
    }

    /// Whether its client is owed late answers. It is not [run](Self::run) before it has them:
    /// answers keep the order of the requests.
    pub(crate) fn waits(&self) -> bool {
        match self {
            Self::Lines(session) => session.awaits().is_some() || session.is_arming(),
            Self::Resp { session, .. } => session.waits(),
            Self::Xml(session) => session.waits(),
            Self::Peer(_) | Self::Player(_) | Self::Scores(_) | Self::Teller => false,
        }
    }

    /// The tickets of the late answers that its client is owed.
    pub(crate) fn awaited(&self) -> impl Iterator<Item = Position> {
        let (one, session) = match self {
            Self::Lines(session) => (session.awaits(), None),
            Self::Resp { session, .. } => (None, Some(session)),
            Self::Xml(_) | Self::Peer(_) | Self::Player(_) | Self::Scores(_) | Self::Teller => {
                (None, None)
            }
        };
        one.into_iter()
            .chain(session.into_iter().flat_map(Session::awaited))
    }

    /// Tells a late answer, as soon as every other is there that its reply waits for.
    pub(crate) fn put_late(
        &mut self,
        late: (Position, Decided),
        outcome: &Outcome,
        out: &mut Vec<u8>,
    ) {
        match self {
            Self::Lines(session) => session.put_late(outcome, out),
            Self::Resp { session, .. } => session.put_late(late, outcome, out),
            Self::Xml(_) | Self::Peer(_) | Self::Player(_) | Self::Scores(_) | Self::Teller => {}
        }
    }

    /// Whether its client waits for a database and for nothing else: that will be answered soon, be it
    /// by a failure.
    pub(crate) fn waits_for_database(&self) -> bool {
        self.waits() && self.awaited().next().is_none() && !self.is_arming()
    }

    /// Whether its client waits for desks in other processes to have their fault points.
    pub(crate) const fn is_arming(&self) -> bool {
        match self {
            Self::Lines(session) => session.is_arming(),
            _ => false,
        }
    }

    /// Answers that client when they have them; says whether it did.
    pub(crate) fn settle_arming(&mut self, engine: &Engine, out: &mut Vec<u8>) -> bool {
        match self {
            Self::Lines(session) => session.settle_arming(engine, out),
            _ => false,
        }
    }

    /// Tells what a database has answered to this client, if it is still the one.
    pub(crate) fn put_landed<M: Prompt + Housed>(
        &mut self,
        client: u64,
        landing: Landing<M>,
        out: &mut Vec<u8>,
    ) {
        match self {
            Self::Resp { session, .. } if session.is(client) => session.put_landed(&landing, out),
            Self::Xml(session) if session.is(client) => session.take_landed(M::landed(landing)),
            _ => {}
        }
    }

    /// Bytes that it keeps of requests that are not answered, beside the input.
    pub(crate) fn held(&self) -> usize {
        match self {
            Self::Resp { session, .. } => session.held(),
            Self::Xml(session) => session.held(),
            Self::Lines(_) | Self::Peer(_) | Self::Player(_) | Self::Scores(_) | Self::Teller => 0,
        }
    }

    /// Whether what has come and is not answered is the start of a request, so that its rest can be
    /// late. The wires of games have no such thing, and processes of travel are trusted.
    pub(crate) const fn has_frames(&self) -> bool {
        matches!(self, Self::Resp { .. } | Self::Xml(_) | Self::Lines(_))
    }

    /// Answers a request that never came whole.
    pub(crate) fn refuse_input(&mut self, engine: &Engine, why: InputRefused, out: &mut Vec<u8>) {
        engine.counters.error(match why {
            InputRefused::TooMuch => ErrorCode::Busy,
            InputRefused::TooLate { .. } => ErrorCode::RequestTimeout,
        });
        tracing::info!(door = ?self.door(), "refused an unfinished request: {why}");
        match self {
            Self::Resp { session, .. } => session.refuse_input(why, out),
            Self::Xml(session) => session.refuse_input(why, out),
            Self::Lines(_) => turnstile_lines::put_exception(out, why),
            Self::Peer(_) => turnstile_parcels::put_refusal(out, why),
            // These wires have no word for it.
            Self::Player(_) | Self::Scores(_) | Self::Teller => {}
        }
    }

    /// Answers the requests at the start of `bytes`, up to `budget` of them.
    #[inline]
    pub(crate) fn run(
        &mut self,
        around: &mut Surroundings<'_>,
        bytes: &[u8],
        budget: usize,
        out: &mut Vec<u8>,
    ) -> Progress {
        match self {
            Self::Resp { session, decoder } => {
                let run = session.run(around, decoder, bytes, budget.min(AHEAD), out);
                let Run {
                    length, requests, ..
                } = run;
                let next = match run.end {
                    RunEnd::More => Next::More,
                    RunEnd::Incomplete => Next::Incomplete,
                    RunEnd::Close => Next::Close,
                    RunEnd::Fault(fault) => break_off(session, around, fault, out),
                };
                Progress {
                    length,
                    requests,
                    next,
                }
            }
            Self::Xml(session) => session.run(around, bytes, budget, out),
            Self::Lines(session) => session.run(around, bytes, out),
            Self::Peer(session) => session.run(around, bytes, out),
            Self::Player(session) => session.run(around, bytes, !out.is_empty()),
            Self::Scores(session) => session.run(around.engine, bytes, out),
            Self::Teller => run_teller(around.hall, around.engine, bytes, out),
        }
    }

    /// The client will send no more, and has left these bytes.
    pub(crate) fn end_of_input(&self, engine: &Engine, left: &[u8], out: &mut Vec<u8>) {
        match self {
            Self::Lines(_) => end_of_input(engine, left, out),
            Self::Resp { .. }
            | Self::Xml(_)
            | Self::Peer(_)
            | Self::Player(_)
            | Self::Scores(_)
            | Self::Teller => {}
        }
    }

    /// The server stops: a request that waits will not be answered by the machine any more.
    pub(crate) fn end(&mut self, out: &mut Vec<u8>) {
        match self {
            Self::Lines(session) => session.end(out),
            Self::Resp { session, .. } => session.end(out),
            Self::Xml(_) | Self::Peer(_) | Self::Player(_) | Self::Scores(_) | Self::Teller => {}
        }
    }

    /// Appends an event, a channel and what is told on it, to what a follower is owed.
    pub(crate) fn put_message(&self, message: (&str, &str), out: &mut Vec<u8>) {
        match self {
            Self::Resp { session, .. } => {
                session
                    .following()
                    .put_message(session.protocol(), message, out);
            }
            Self::Xml(_)
            | Self::Lines(_)
            | Self::Peer(_)
            | Self::Player(_)
            | Self::Scores(_)
            | Self::Teller => {}
        }
    }
}

/// The stream makes no sense any more.
fn break_off(
    session: &Session,
    around: &Surroundings<'_>,
    fault: Fault,
    out: &mut Vec<u8>,
) -> Next {
    around.engine.counters.error(ErrorCode::Protocol);
    tracing::info!(%fault, "a connection broke the protocol");
    if fault == Fault::Browser {
        return Next::Drop;
    }
    Encoder::new(out, session.protocol()).error(format_args!("ERR Protocol error: {fault}"));
    Next::Close
}
