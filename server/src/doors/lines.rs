//! One client of the door of travel: command lines in, an answer to each, in their order.

mod crashing;

use std::fmt;

use turnstile_contract::Reply;
use turnstile_lines::{
    Ask, Invalid, LineScan, Lines, Options, Wording, put_exception, put_help, put_itinerary,
    put_ok, put_outcome, read,
};
use turnstile_resp::travel::Decided;
use turnstile_travel::{Answer, Command, Locator, Outcome, Query, Travel};
use turnstile_types::Position;

use crate::{
    core::{
        conversation::{
            ClientProof, Continuation, Conversation, FastDoor, InputRefused, Progress, Surroundings,
        },
        engine::Engine,
        post::DeskMessage,
        remote::{Landed, Landing},
        shares::Shares,
    },
    counters::{DoorName, ErrorCode},
};

use self::crashing::Arming;

/// The door of travel for command lines.
pub(crate) static LINES: FastDoor = FastDoor {
    name: DoorName::Lines,
    refusal: |why| format!("Command exception: {why}\n").into(),
    most: None,
    serves_early: false,
    has_frames: true,
    proof: ClientProof::Certificate,
};

const UNFINISHED: &str = "the last line has no line end and was not done";

const ENDING: &str = "the server is stopping, whatever is open will be aborted";

/// The client's side of the conversation.
///
/// A command may have to wait for a lock, and the lines behind it wait with it, so that answers come
/// in the order of their lines. They stay unread meanwhile: a client cannot make the server keep
/// more than it has read already. A client that leaves aborts nothing at once; that is up to
/// the time to live, unless [too many](crate::core::shares::LeftOpen) are left.
#[derive(Debug)]
pub(crate) struct LinesSession {
    options: Options,
    lines: Lines,
    id: u64,
    /// What the order of a shared log is to decide.
    ordered: Option<OrderedLine>,
    /// The command that waits for a lock, and how its answer is told.
    waiting: Option<(Position, Wording)>,
    /// The command that waits for desks to have their fault points.
    arming: Option<Arming>,
    shares: Shares,
}

/// A line whose answer comes with the order of a shared log.
#[derive(Clone, Copy, Debug)]
enum OrderedLine {
    Command(Wording),
    Itinerary,
}

impl LinesSession {
    pub(crate) fn new(id: u64, options: Options) -> Self {
        Self {
            options,
            lines: Lines::default(),
            id,
            ordered: None,
            waiting: None,
            arming: None,
            shares: Shares::default(),
        }
    }

    fn answer(
        &mut self,
        around: &mut Surroundings<'_>,
        line: &[u8],
        out: &mut Vec<u8>,
    ) -> Continuation {
        let asked = read(line);
        if let Ok(Ask::Crash(_) | Ask::Shutdown) = &asked
            && let Err(denied) = around.engine.permit_operating()
        {
            put_exception(out, denied);
            return Continuation::More;
        }
        match asked {
            Ok(Ask::Nothing) => {}
            Ok(Ask::Command { command, wording }) => {
                self.execute(around, &command, wording, out);
            }
            Ok(Ask::Help(verb)) => put_help(out, verb),
            Ok(Ask::Crash(crash)) => match crashing::arm(around.engine, crash) {
                Ok(left) => {
                    self.arming = Some(Arming::begin(around.engine, left));
                    self.settle_arming(around.engine, out);
                }
                Err(why) => refuse(around.engine, why, out),
            },
            Ok(Ask::Itinerary(locator)) => self.show(around, locator, out),
            Ok(Ask::Shutdown) => {
                tracing::info!("a client asked the server to stop");
                if around.engine.travel().settings().roles.coordinator {
                    around.engine.switchboard.say_to_all(DeskMessage::Shutdown);
                }
                around.signals.end();
                return Continuation::Close;
            }
            Ok(Ask::Quit) => return Continuation::Close,
            Err(why) => refuse(around.engine, why, out),
        }
        Continuation::More
    }

    fn execute(
        &mut self,
        around: &mut Surroundings<'_>,
        command: &Command,
        wording: Wording,
        out: &mut Vec<u8>,
    ) {
        let engine = &mut *around.engine;
        if engine.is_away::<Travel>() {
            let admitted = engine.admit_away_within::<Travel>(&mut self.shares, None, command);
            return match admitted {
                Ok(scope) => {
                    engine.send_command::<Travel>((around.place, self.id), command, scope);
                    self.ordered = Some(OrderedLine::Command(wording));
                }
                Err(undecided) => put_exception(out, undecided),
            };
        }
        match engine.execute_within::<Travel>(&mut self.shares, None, command, None) {
            Ok(reply) => match reply.outcome {
                Outcome::Waiting { ticket } => self.waiting = Some((ticket, wording)),
                outcome => put_outcome(out, self.options, wording, &outcome),
            },
            Err(error) => put_exception(out, error),
        }
    }

    fn show(&mut self, around: &mut Surroundings<'_>, locator: Locator, out: &mut Vec<u8>) {
        let engine = &mut *around.engine;
        let query = Query::Itinerary { locator };
        if let Err(denied) = engine.admit_query::<Travel>(&query) {
            return put_exception(out, denied);
        }
        if engine.is_away::<Travel>() {
            engine.send_query::<Travel>((around.place, self.id), query);
            self.ordered = Some(OrderedLine::Itinerary);
            return;
        }
        engine.count_query::<Travel>(&query);
        put_itinerary(out, engine.travel().itinerary(locator).as_ref());
    }

    /// Tells what the order has decided, or that it has not.
    fn land(&mut self, line: OrderedLine, landing: Landing<Travel>, out: &mut Vec<u8>) {
        let result = match landing {
            Landing::Commands(decided, _) => {
                let decided = decided.into_iter().next();
                decided.map(|(_, result)| result.map(LandedLine::Command))
            }
            Landing::Queries(answers, _) => {
                let answer = answers.into_iter().next();
                answer.map(|result| result.map(LandedLine::Answer))
            }
        };
        match (line, result) {
            (OrderedLine::Command(wording), Some(Ok(LandedLine::Command(reply)))) => {
                self.shares.note::<Travel>(&reply.outcome, reply.replayed);
                match reply.outcome {
                    Outcome::Waiting { ticket } => self.waiting = Some((ticket, wording)),
                    outcome => put_outcome(out, self.options, wording, &outcome),
                }
            }
            (OrderedLine::Itinerary, Some(Ok(LandedLine::Answer(Answer::Itinerary(view))))) => {
                put_itinerary(out, view.as_ref());
            }
            (_, Some(Err(failure))) => {
                put_exception(out, format_args!("{}: {failure}", failure.code()));
            }
            (_, Some(Ok(_)) | None) => put_exception(out, "the answer is not one to this line"),
        }
    }
}

/// What has come for a line.
enum LandedLine {
    Command(Reply<Travel>),
    Answer(Answer),
}

impl Conversation for LinesSession {
    type Shared = ();

    fn door(&self) -> &'static FastDoor {
        &LINES
    }

    /// Answers the line at the start of the input.
    fn run(
        &mut self,
        (): &mut (),
        around: &mut Surroundings<'_>,
        (bytes, _budget): (&[u8], usize),
        out: &mut Vec<u8>,
    ) -> Progress {
        let (line, length) = match self.lines.next(bytes) {
            LineScan::Line { line, consumed } => (line, consumed),
            LineScan::Incomplete { skipped } => {
                return Progress {
                    length: skipped,
                    requests: 0,
                    next: Continuation::Incomplete,
                };
            }
            LineScan::TooLong { consumed } => {
                refuse(around.engine, Invalid::TooLong, out);
                return Progress {
                    length: consumed,
                    requests: 1,
                    next: Continuation::More,
                };
            }
        };
        let line = bytes.get(line).unwrap_or_default();
        Progress {
            length,
            requests: 1,
            next: self.answer(around, line, out),
        }
    }

    fn into_shares(self) -> Option<Shares> {
        Some(self.shares)
    }

    /// A command waits, and every line behind it.
    fn waits(&self) -> bool {
        self.ordered.is_some() || self.waiting.is_some() || self.is_arming()
    }

    fn awaited(&self, name: &mut impl FnMut(Position)) {
        if let Some((ticket, _)) = self.waiting {
            name(ticket);
        }
    }

    fn put_late(&mut self, _late: (Position, Decided), outcome: &Outcome, out: &mut Vec<u8>) {
        if let Some((_, wording)) = self.waiting.take() {
            put_outcome(out, self.options, wording, outcome);
        }
    }

    fn put_landed(&mut self, client: u64, landed: Landed, out: &mut Vec<u8>) {
        if client == self.id
            && let Landed::Travel(landing) = landed
            && let Some(line) = self.ordered.take()
        {
            self.land(line, landing, out);
        }
    }

    fn is_arming(&self) -> bool {
        self.arming.is_some()
    }

    /// Answers the command that waits for desks, if they have all said something.
    fn settle_arming(&mut self, engine: &Engine, out: &mut Vec<u8>) -> bool {
        let settled = self
            .arming
            .as_mut()
            .and_then(|arming| arming.settle(engine));
        match settled {
            None => return false,
            Some(Ok(())) => put_ok(out),
            Some(Err(why)) => refuse(engine, why, out),
        }
        self.arming = None;
        true
    }

    fn refuse_input(&mut self, why: InputRefused, out: &mut Vec<u8>) {
        put_exception(out, why);
    }

    fn end_of_input(&self, engine: &Engine, left: &[u8], out: &mut Vec<u8>) {
        if !left.trim_ascii().is_empty() {
            refuse(engine, UNFINISHED, out);
        }
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        let arms = self.arming.take().is_some();
        if self.waiting.take().is_some() || arms {
            put_exception(out, ENDING);
        }
    }
}

fn refuse(engine: &Engine, why: impl fmt::Display, out: &mut Vec<u8>) {
    engine.counters.error(ErrorCode::Invalid);
    put_exception(out, why);
}
