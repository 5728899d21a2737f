//! A machine behind the codec, and as many sessions as one likes.

use std::collections::BTreeMap;

use turnstile_lines::{
    Ask, LineScan, Lines, Options, Wording, put_exception, put_help, put_itinerary, put_outcome,
    read,
};
use turnstile_travel::{Answer, Command, EventKind, Outcome, Query, Travel};
use turnstile_types::{Context, Machine, Position, Principal, Timestamp};

/// The machine, the time on it, and who waits.
pub(crate) struct Office {
    travel: Travel,
    position: u64,
    now: u64,
    options: Options,
    waiting: BTreeMap<Position, Wording>,
}

impl Office {
    pub(crate) fn new(options: Options) -> Self {
        Self {
            travel: Travel::empty(),
            position: 0,
            now: 1_798_761_600_000,
            options,
            waiting: BTreeMap::new(),
        }
    }

    pub(crate) fn apply(&mut self, command: &Command) -> Outcome {
        self.position += 1;
        let context = Context {
            position: Position(self.position),
            now: Timestamp(self.now),
            principal: &Principal::local(),
        };
        self.travel.apply(&context, command)
    }

    /// The answer to one line; nothing while it waits, and to a line that ends the session.
    pub(crate) fn line(&mut self, line: &[u8]) -> String {
        let mut out = Vec::new();
        match read(line) {
            Err(why) => put_exception(&mut out, why),
            Ok(Ask::Help(verb)) => put_help(&mut out, verb),
            Ok(Ask::Command { command, wording }) => match self.apply(&command) {
                Outcome::Waiting { ticket } => {
                    self.waiting.insert(ticket, wording);
                }
                outcome => put_outcome(&mut out, self.options, wording, &outcome),
            },
            Ok(Ask::Itinerary(locator)) => {
                let now = Timestamp(self.now);
                let query = Query::Itinerary { locator };
                match self.travel.query(now, &Principal::local(), &query) {
                    Answer::Itinerary(view) => put_itinerary(&mut out, view.as_ref()),
                    other => panic!("another answer: {other:?}"),
                }
            }
            Ok(other) => return format!("({other:?})\n"),
        }
        String::from_utf8(out).unwrap()
    }

    /// The answers to commands that waited.
    pub(crate) fn late(&mut self) -> String {
        let mut out = Vec::new();
        let (waiting, options) = (&mut self.waiting, self.options);
        self.travel.drain_events(&mut |event| {
            if let EventKind::Answered { ticket, outcome } = event.kind
                && let Some(wording) = waiting.remove(&ticket)
            {
                put_outcome(&mut out, options, wording, &outcome);
            }
        });
        String::from_utf8(out).unwrap()
    }

    pub(crate) fn pass(&mut self, seconds: u64) {
        self.now += seconds * 1_000;
        self.position += 1;
        let context = Context {
            position: Position(self.position),
            now: Timestamp(self.now),
            principal: &Principal::local(),
        };
        self.travel.tick(&context);
    }
}

/// Everything that one session answers to a stream that comes in pieces; it waits for nobody.
pub(crate) fn serve(stream: &[u8], piece: usize) -> String {
    let mut office = Office::new(Options::default());
    let mut lines = Lines::default();
    let (mut out, mut start, mut end) = (String::new(), 0, 0);
    loop {
        match lines.next(&stream[start..end]) {
            LineScan::Incomplete { skipped } => {
                start += skipped;
                if end == stream.len() {
                    return out;
                }
                end = (end + piece).min(stream.len());
            }
            LineScan::TooLong { consumed } => {
                out.push_str("(too long)\n");
                start += consumed;
            }
            LineScan::Line { line, consumed } => {
                out.push_str(&office.line(&stream[start..][line]));
                start += consumed;
            }
        }
    }
}
