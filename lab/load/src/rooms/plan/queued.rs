//! A plan to book once for each of many callers, who wait in line where there is one.

use std::{
    cmp::Reverse,
    collections::BinaryHeap,
    io::Write as _,
    sync::Arc,
    time::{Duration, Instant},
};

use turnstile_check::rooms::InlineReference;

use super::{AskEnd, Plan};
use crate::{
    line::{LineCaller, LineFigures, LineWatch},
    pace::{Answer, Ended},
    rooms::what::What,
};

/// The longest key: that of a property, and the number of a caller.
const KEY_BYTES_MAX: usize = 128;

/// The callers of one connection, which takes one question at a time: each asks with a key of its own
/// until it is let in.
#[derive(Debug)]
pub(crate) struct Queued {
    callers: Vec<QueuedUser>,
    /// When each asks next, in nanoseconds since the start. One that will never ask again is not there.
    due: BinaryHeap<Reverse<(u64, usize)>>,
    watch: Arc<LineWatch>,
    figures: LineFigures,
    /// What keys begin with.
    stem: String,
    key: Vec<u8>,
    /// Who has asked, and how that ended.
    asking: usize,
    end: Option<AskEnd>,
    now: Instant,
    asked_at: Instant,
    /// When instants are counted from; it is known with the first answer.
    start: Option<Instant>,
    /// Callers that nobody has let in, or turned away.
    left: u64,
}

#[derive(Debug)]
struct QueuedUser {
    /// Its number among all callers.
    number: usize,
    what: What,
    line: LineCaller,
    /// When it was to ask first, and when its connection was free for that.
    began: Option<(u64, u64)>,
}

impl Queued {
    /// Callers by their numbers, with what each wants; their keys begin with this.
    pub(crate) fn new(
        stem: &str,
        wants: impl Iterator<Item = (usize, What)>,
        watch: Arc<LineWatch>,
    ) -> Self {
        let now = Instant::now();
        let user = |(number, what)| QueuedUser {
            number,
            what,
            line: LineCaller::new(now),
            began: None,
        };
        let callers: Vec<_> = wants.map(user).collect();
        Self {
            due: (0..callers.len())
                .map(|caller| Reverse((0, caller)))
                .collect(),
            left: callers.len() as u64,
            callers,
            watch,
            figures: LineFigures::default(),
            stem: stem.to_owned(),
            key: Vec::with_capacity(KEY_BYTES_MAX),
            asking: 0,
            end: None,
            now,
            asked_at: now,
            start: None,
        }
    }

    /// What the callers saw of the line.
    pub(crate) const fn figures(&self) -> &LineFigures {
        &self.figures
    }

    /// How many are neither let in nor turned away.
    pub(crate) const fn left(&self) -> u64 {
        self.left
    }
}

impl Plan for Queued {
    const OPERATIONS: &'static [&'static str] = &["book"];

    const WHOLES: &'static [&'static str] = &["caller"];

    fn at(&mut self, now: Instant) {
        self.now = now;
    }

    fn due(&self) -> Option<u64> {
        self.due.peek().map(|Reverse((due, _))| *due)
    }

    fn choose(&mut self) -> Option<What> {
        let Reverse((_, caller)) = self.due.pop()?;
        (self.asking, self.asked_at, self.end) = (caller, self.now, None);
        let user = &mut self.callers[caller];
        self.watch.asks(&mut user.line, self.now);
        self.key.clear();
        let written = write!(self.key, "{}-{}", self.stem, user.number);
        written.expect("writing to memory does not fail");
        Some(user.what)
    }

    fn key(&self) -> Option<&[u8]> {
        Some(&self.key)
    }

    fn learn(&mut self, _what: &What, _reference: Option<InlineReference>) {}

    fn ends(&mut self, end: AskEnd) {
        let (now, line) = (self.now, &mut self.callers[self.asking].line);
        match end {
            AskEnd::Waits(told) => self.watch.waits(line, told, now, &mut self.figures),
            AskEnd::Decided => self.watch.lets_in(line, now, &mut self.figures),
            AskEnd::Failed => {}
        }
        self.left -= u64::from(!matches!(end, AskEnd::Waits(_)));
        self.end = Some(end);
    }

    fn heard(&mut self, due: u64, free: u64) -> Option<Ended> {
        let begun = self.asked_at.checked_sub(Duration::from_nanos(free));
        let start = *self
            .start
            .get_or_insert_with(|| begun.unwrap_or(self.asked_at));
        let (due, free) = *self.callers[self.asking].began.get_or_insert((due, free));
        let answer = match self.end.take()? {
            AskEnd::Waits(told) => {
                let again =
                    self.now.saturating_duration_since(start) + Duration::from_secs(told.retry_s);
                let again = u64::try_from(again.as_nanos()).unwrap_or(u64::MAX);
                self.due.push(Reverse((again, self.asking)));
                return None;
            }
            AskEnd::Decided => Answer::Done,
            AskEnd::Failed => Answer::Error(b"error"),
        };
        Some(Ended {
            whole: 0,
            due,
            free,
            measured: true,
            answer,
        })
    }
}
