//! Runs: requests that came together are read together before the first is executed.

use std::time::{Duration, Instant};

use turnstile_resp::{
    Arguments, Decoded, Decoder, Fault, Protocol, Request, Spoken as _, catalogue::Action,
};
use turnstile_types::Machine;

use super::{Next, ReplyMode, Session, Surroundings};
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

macro_rules! commands_ahead {
    ($($name:ident: $machine:ident),+ $(,)?) => {
        /// A command to one of the machines.
        enum CommandAhead<'a> {
            $($machine(RequestTo<'a, turnstile_services::$name::$machine>),)+
        }

        impl<'a> CommandAhead<'a> {
            /// Reads a request; nothing if it is no command to one of these machines, or no good one.
            #[inline]
            fn read(engine: &Engine, arguments: Arguments<'a, '_>) -> Option<Self> {
                match engine.catalogue.resolve(&arguments).ok()? {
                    $(Action::$machine(call) => {
                        type Service = turnstile_services::$name::$machine;
                        let request = Service::parse(call, arguments, engine.door()).ok()?;
                        request.command().is_some().then_some(Self::$machine(request))
                    })+
                    _ => None,
                }
            }

            fn prefetch(&self, engine: &Engine) {
                match self {
                    $(Self::$machine(request) => {
                        if let Some(command) = request.command() {
                            engine.backend().prefetch::<turnstile_services::$name::$machine>(command);
                        }
                    })+
                }
            }
        }

        impl Session {
            #[inline]
            fn decide_ahead(
                &mut self,
                around: &mut Surroundings<'_>,
                request: &CommandAhead<'_>,
                out: &mut Vec<u8>,
            ) {
                match request {
                    $(CommandAhead::$machine(request) => {
                        self.decided::<turnstile_services::$name::$machine>(around, request, out);
                    })+
                }
            }
        }
    };
}

type RequestTo<'a, M> = Request<'a, <M as Machine>::Command<'a>, <M as Machine>::Query>;

// Commands of travel may have to wait, and what is behind them waits then, too. Those of other services
// are larger: every command that is kept would take as much memory.
commands_ahead! {
    rooms: Rooms,
    exchange: Exchange,
    games: Games,
}

/// Commands to the machines, decoded ahead, so that what they touch is loaded from memory while
/// the others are read. One alone is not worth a hint: it is executed next. Queries are not read
/// ahead: their answers are long, and the bound on what a connection is owed is looked at first.
struct Ahead<'a> {
    requests: [Option<CommandAhead<'a>>; AHEAD],
    count: usize,
}

impl<'a> Ahead<'a> {
    const fn new() -> Self {
        Self {
            requests: [const { None }; AHEAD],
            count: 0,
        }
    }

    #[inline]
    fn push(&mut self, engine: &Engine, request: CommandAhead<'a>) {
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
            self.note_slow(around.engine, (began, took), (bytes, run.requests));
        }
        run
    }

    /// Keeps a run of requests in the slow log, unless nothing came of it.
    #[cold]
    fn note_slow(
        &self,
        engine: &mut Engine,
        (began, took): (Instant, Duration),
        (bytes, requests): (&[u8], usize),
    ) {
        let Some(others) = requests.checked_sub(1) else {
            return;
        };
        let mut decoder = Decoder::new();
        if let Ok(Decoded::Request { arguments, .. }) = decoder.decode(bytes)
            && engine.catalogue.resolve(&arguments).is_ok()
        {
            let client = (self.peer, self.name.as_str());
            let times = (engine.notes.queued(began), took);
            let entry = engine.slow_log.note(times, (arguments, others), client);
            engine.notes.add_slow(entry);
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
        let is_stranger = around.engine.is_stranger();
        decoder.bound(is_stranger);
        // Each request that is noted, or belongs to a trace, is answered by itself.
        let is_single = around.engine.notes.is_on || self.trace.is_some();
        let is_plain =
            self.is_plain() && !is_single && around.engine.recovery().is_none() && !is_stranger;
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
            if is_plain && let Some(request) = CommandAhead::read(around.engine, arguments) {
                ahead.push(around.engine, request);
                continue;
            }
            if self.decide_all(around, &ahead, start, out) {
                // It must wait for what a database decides.
                run.length -= length;
                run.requests -= 1;
                return run;
            }
            if self.answer_noted(around, arguments, out) == Next::Close {
                run.end = RunEnd::Close;
            }
            self.depart(around);
            around.engine.caller.name_request(None);
            return run;
        }
        if self.decide_all(around, &ahead, start, out) && matches!(run.end, RunEnd::Fault(_)) {
            // The same bytes are found broken again when what came before them is answered.
            run.end = RunEnd::More;
        }
        run
    }

    /// Whether a command to a machine is simply executed and answered.
    fn is_plain(&self) -> bool {
        self.batch.is_none()
            && self.replies == ReplyMode::On
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
            self.decide_ahead(around, request, out);
        }
        if self.waits() {
            self.late.hold(out, start, false);
            self.depart(around);
        }
        self.waits()
    }
}
