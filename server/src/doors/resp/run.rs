//! Runs: requests that came together are read together before the first is executed.

use std::time::{Duration, Instant};

use turnstile_embedded::Services;
use turnstile_exchange::Exchange;
use turnstile_games::Games;
use turnstile_resp::{
    Arguments, Decoded, Decoder, Fault, Protocol, Request as Asked, catalogue::Action, exchange,
    games, rooms,
};
use turnstile_rooms::Rooms;
use turnstile_types::{Hosts, Machine};

use super::{Next, Replies, Session, Surroundings};
use crate::{core::engine::Engine, limits::AHEAD};

/// What became of a piece of input.
#[derive(Debug)]
pub(super) struct Run {
    /// Bytes that were understood.
    pub(crate) length: usize,
    pub(crate) requests: usize,
    pub(crate) end: RunEnd,
}

/// Why a run ended.
#[derive(Debug)]
pub(super) enum RunEnd {
    /// There may be another.
    More,
    /// The next request is not whole.
    Incomplete,
    /// The client is to be closed when it has its answers.
    Close,
    Fault(Fault),
}

/// A command to one of the machines.
enum Request<'a> {
    Rooms(rooms::Request<'a>),
    Exchange(exchange::Request<'a>),
    Games(games::Request<'a>),
}

/// Commands to the machines, decoded ahead, so that what they touch is loaded from memory while
/// the others are read. One alone is not worth a hint: it is executed next. Queries are not read
/// ahead: their answers are long, and the bound on what a connection is owed is looked at first.
struct Ahead<'a> {
    requests: [Option<Request<'a>>; AHEAD],
    count: usize,
}

impl<'a> Request<'a> {
    /// Reads a request; none when it is no command to a machine, or no good one.
    #[inline]
    fn read(engine: &Engine, arguments: Arguments<'a, '_>) -> Option<Self> {
        match engine.catalogue.resolve(&arguments).ok()? {
            Action::Rooms(verb) => {
                only_command(rooms::parse(verb, arguments, engine.door())).map(Self::Rooms)
            }
            Action::Exchange(verb) => {
                only_command(exchange::parse(verb, arguments)).map(Self::Exchange)
            }
            Action::Games(verb) => only_command(games::parse(verb, arguments)).map(Self::Games),
            // It may have to wait, and whatever is behind it then waits too.
            _ => None,
        }
    }

    fn prefetch(&self, engine: &Engine) {
        match self {
            Self::Rooms(request) => hint::<Rooms>(engine, request),
            Self::Exchange(request) => hint::<Exchange>(engine, request),
            Self::Games(request) => hint::<Games>(engine, request),
        }
    }
}

fn only_command<'a, C, Q, E>(parsed: Result<Asked<'a, C, Q>, E>) -> Option<Asked<'a, C, Q>> {
    parsed.ok().filter(|request| request.command().is_some())
}

fn hint<M: Machine>(engine: &Engine, request: &Asked<'_, M::Command<'_>, M::Query>)
where
    Services: Hosts<M>,
{
    if let Some(command) = request.command() {
        engine.prefetch::<M>(command);
    }
}

impl<'a> Ahead<'a> {
    const fn new() -> Self {
        Self {
            requests: [const { None }; AHEAD],
            count: 0,
        }
    }

    #[inline]
    fn push(&mut self, engine: &Engine, request: Request<'a>) {
        if self.count > 0 {
            if self.count == 1
                && let Some(Some(first)) = self.requests.first()
            {
                first.prefetch(engine);
            }
            request.prefetch(engine);
        }
        let slot = self
            .requests
            .get_mut(self.count)
            .expect("a run is no longer than its room");
        *slot = Some(request);
        self.count += 1;
    }
}

impl Session {
    /// Answers the requests at the start of `bytes`: up to `budget` commands to the machines,
    /// and the first of another kind behind them.
    #[inline]
    pub(super) fn run(
        &mut self,
        around: &mut Surroundings<'_>,
        decoder: &mut Decoder,
        bytes: &[u8],
        budget: usize,
        out: &mut Vec<u8>,
    ) -> Run {
        // After the last whole request there is mostly nothing: not worth any preparation.
        if bytes.is_empty() {
            return Run {
                length: 0,
                requests: 0,
                end: RunEnd::Incomplete,
            };
        }
        let began = Instant::now();
        let run = self.run_requests(around, decoder, bytes, budget, out);
        if let Some(took) = around.engine.slow_log.slow(began) {
            self.note_slow(around.engine, took, (bytes, run.requests));
        }
        run
    }

    /// Keeps a run of requests in the slow log, unless nothing came of it.
    #[cold]
    fn note_slow(&self, engine: &mut Engine, took: Duration, (bytes, requests): (&[u8], usize)) {
        let Some(others) = requests.checked_sub(1) else {
            return;
        };
        let mut decoder = Decoder::new();
        if let Ok(Decoded::Request { arguments, .. }) = decoder.decode(bytes)
            && engine.catalogue.resolve(&arguments).is_ok()
        {
            let client = (self.peer, self.name.as_str());
            engine.slow_log.note(took, (arguments, others), client);
        }
    }

    #[inline]
    fn run_requests(
        &mut self,
        around: &mut Surroundings<'_>,
        decoder: &mut Decoder,
        bytes: &[u8],
        budget: usize,
        out: &mut Vec<u8>,
    ) -> Run {
        let mut run = Run {
            length: 0,
            requests: 0,
            end: RunEnd::More,
        };
        let is_plain = self.is_plain() && around.engine.recovery().is_none();
        let start = out.len();
        let mut ahead = Ahead::new();
        while run.requests < budget {
            let rest = bytes.get(run.length..).unwrap_or_default();
            let (arguments, length) = match decoder.decode(rest) {
                Ok(Decoded::Request { arguments, length }) => (arguments, length),
                Ok(Decoded::Incomplete) => {
                    run.end = RunEnd::Incomplete;
                    break;
                }
                Err(fault) => {
                    run.end = RunEnd::Fault(fault);
                    break;
                }
            };
            run.length += length;
            run.requests += 1;
            if is_plain && let Some(request) = Request::read(around.engine, arguments) {
                ahead.push(around.engine, request);
                continue;
            }
            if self.decide_all(around, &ahead, start, out) {
                // It must wait for what a database decides.
                run.length -= length;
                run.requests -= 1;
                return run;
            }
            if self.answer(around, arguments, out) == Next::Close {
                run.end = RunEnd::Close;
            }
            self.depart(around);
            return run;
        }
        self.decide_all(around, &ahead, start, out);
        run
    }

    /// Whether a command to a machine is simply executed and answered.
    fn is_plain(&self) -> bool {
        self.batch.is_none()
            && self.replies == Replies::On
            && (self.protocol == Protocol::Resp3 || self.following.is_empty())
    }

    /// Has what was read decided, and answers whether some of it is on its way to a database: then
    /// what was written since `start` is held back.
    #[inline]
    fn decide_all(
        &mut self,
        around: &mut Surroundings<'_>,
        ahead: &Ahead<'_>,
        start: usize,
        out: &mut Vec<u8>,
    ) -> bool {
        for request in ahead.requests.iter().take(ahead.count).flatten() {
            match request {
                Request::Rooms(request) => self.decided::<Rooms>(around, request, out),
                Request::Exchange(request) => self.decided::<Exchange>(around, request, out),
                Request::Games(request) => self.decided::<Games>(around, request, out),
            }
        }
        if self.waits() {
            self.late.hold(out, start, false);
            self.depart(around);
        }
        self.waits()
    }
}
