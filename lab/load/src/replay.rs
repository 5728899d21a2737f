//! Sends a recorded stream again, byte for byte, at its instants or faster, and compares the answers.

use std::{fmt, time::Duration};

use turnstile_client::resp::{self, ReplyLimits, Token};
use turnstile_result::Point;
use turnstile_stats::units::Count;
use turnstile_trace::{Kind, SentHash, StreamHash, Trace};

use crate::{
    Error,
    door::code,
    pace::{self, Answer, Garbled, Length, Pace, ParsedAnswer, Progress, User},
    point,
};

/// The deepest pipeline that is sent as it was recorded.
const PIPELINE_MAX: usize = 1_024;

/// What is left for the last answers.
const REST: Duration = Duration::from_secs(1);

/// The longest request and answer of a trace that can be sent again.
const REQUEST_BYTES_MAX: usize = 16 * 1024;
const ANSWER_BYTES_MAX: usize = 4 << 20;

/// What to send again, and how fast.
#[derive(Clone, Copy, Debug)]
pub struct Config<'a> {
    pub pace: &'a Pace,
    pub trace: &'a Trace,
    /// 2: in half the time. Above 0.
    pub speed: f64,
}

/// What became of a stream that was sent again.
#[derive(Clone, Debug)]
pub struct Report {
    pub connections: u64,
    /// Recorded requests, how many of them were sent, and how many of those were never answered: their
    /// connection was lost, perhaps before all of their bytes had left.
    pub requests: u64,
    pub sent: u64,
    pub unanswered: u64,
    /// Answers that are those that were recorded, and those that are not.
    pub same: u64,
    pub different: u64,
    /// Answers to requests whose answer was not recorded.
    pub unrecorded: u64,
    /// Of the recorded stream, and of what was sent; the same where all of it was.
    pub recorded_hash: String,
    pub sent_hash: String,
    /// The first few answers that are different: request, recorded answer and answer.
    pub examples: Vec<String>,
    pub point: Point,
}

/// One request of a connection.
#[derive(Clone, Copy, Debug)]
struct Step<'a> {
    /// Nanoseconds after the first of the trace, at the speed that was asked for.
    due: u64,
    request: &'a [u8],
    answer: Option<&'a [u8]>,
}

/// A connection of the trace.
#[derive(Debug)]
struct Speaker<'a> {
    steps: Vec<Step<'a>>,
    connection: usize,
    next: usize,
    sent: SentHash,
    same: u64,
    different: u64,
    unrecorded: u64,
    /// The first answer that was different: its step and its bytes.
    example: Option<(usize, Vec<u8>)>,
}

/// Sends it.
///
/// # Errors
/// The trace has nothing to send or cannot be sent in this way, or as [`pace::run`].
pub fn run(config: &Config<'_>, progress: &mut dyn FnMut(&Progress)) -> Result<Report, Error> {
    if !config.speed.is_finite() || config.speed <= 0.0 {
        return Err(Error::Setting("a speed is above 0"));
    }
    let (steps, depth) = steps(config.trace, config.speed)?;
    let last = steps.iter().flatten().map(|step| step.due).max();
    let pace = Pace {
        pipeline: depth,
        length: Length::Fixed {
            warm_up: Duration::ZERO,
            duration: Duration::from_nanos(last.unwrap_or(0)) + REST,
        },
        ..config.pace.clone()
    };
    let requests: usize = steps.iter().map(Vec::len).sum();
    let speaker = |(connection, steps)| Speaker {
        steps,
        connection,
        next: 0,
        sent: SentHash::default(),
        same: 0,
        different: 0,
        unrecorded: 0,
        example: None,
    };
    let speakers = steps.into_iter().enumerate().map(speaker).collect();
    let mut totals = pace::run(&pace, speakers, progress)?;
    totals.users.sort_by_key(|speaker| speaker.connection);
    let mut point = point::point("replay", &pace, &totals, Vec::new());
    let count = |number| u64::try_from(number).expect("a count fits 64 bits");
    point::count(
        &mut point,
        totals.took,
        count(totals.users.len()),
        count(requests),
    );
    let sum = |of: fn(&Speaker<'_>) -> u64| totals.users.iter().map(of).sum::<u64>();
    let sent = totals.users.iter().map(|speaker| speaker.sent.clone());
    Ok(Report {
        connections: count(totals.users.len()),
        requests: count(requests),
        sent: totals.users.iter().map(|speaker| count(speaker.next)).sum(),
        unanswered: totals.tally.operations.iter().map(|one| one.unknown).sum(),
        same: sum(|speaker| speaker.same),
        different: sum(|speaker| speaker.different),
        unrecorded: sum(|speaker| speaker.unrecorded),
        recorded_hash: shown(&recorded(config.trace)),
        sent_hash: shown(&StreamHash::of(sent.collect())),
        examples: totals
            .users
            .iter()
            .filter_map(Speaker::told)
            .take(5)
            .collect(),
        point,
    })
}

fn shown(hash: &StreamHash) -> String {
    format!("{:016x}", hash.value())
}

/// The hash of the recorded stream.
fn recorded(trace: &Trace) -> StreamHash {
    let mut hash = StreamHash::default();
    for entry in trace.entries() {
        match entry.kind {
            Kind::Opened => hash.add(entry.connection, &[]),
            Kind::Request => hash.add(entry.connection, entry.payload),
            Kind::Answer | Kind::Closed => {}
        }
    }
    hash
}

/// The requests of each connection with their answers, and the most that were under way on one.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "nanoseconds of a trace are positive and far below 2^64"
)]
fn steps(trace: &Trace, speed: f64) -> Result<(Vec<Vec<Step<'_>>>, usize), Error> {
    let mut steps: Vec<Vec<Step<'_>>> = Vec::new();
    let mut answered: Vec<usize> = Vec::new();
    let (mut began, mut depth) = (None, 1);
    for entry in trace.entries() {
        let place = usize::try_from(entry.connection).expect("32 bits fit");
        if entry.kind == Kind::Opened {
            if place != steps.len() {
                return Err(Error::Trace(
                    "the connections of a trace are opened in order",
                ));
            }
            steps.push(Vec::new());
            answered.push(0);
            continue;
        }
        let (Some(own), Some(answers)) = (steps.get_mut(place), answered.get_mut(place)) else {
            return Err(Error::Trace("a connection of a trace is opened first"));
        };
        match entry.kind {
            Kind::Request if entry.payload.len() > REQUEST_BYTES_MAX => {
                return Err(Error::Trace("a request of the trace is longer than 16 KiB"));
            }
            Kind::Request => {
                let began = *began.get_or_insert(entry.at);
                let later = turnstile_stats::units::to_float(entry.at.saturating_sub(began));
                own.push(Step {
                    due: (later / speed) as u64,
                    request: entry.payload,
                    answer: None,
                });
                depth = depth.max(own.len() - *answers);
            }
            Kind::Answer => {
                let step = own.get_mut(*answers);
                let step = step.ok_or(Error::Trace("an answer of a trace comes to a request"))?;
                step.answer = Some(entry.payload);
                *answers += 1;
            }
            Kind::Opened | Kind::Closed => {}
        }
    }
    // Who only connected has nothing to say, and its number is kept for the hash.
    if steps.iter().all(Vec::is_empty) {
        return Err(Error::Trace("there is no request in the trace"));
    }
    Ok((steps, depth.min(PIPELINE_MAX)))
}

impl Speaker<'_> {
    /// The first answer that was different, in words.
    fn told(&self) -> Option<String> {
        let (step, found) = self.example.as_ref()?;
        let step = self.steps.get(*step)?;
        let text = |bytes: &[u8]| {
            let short = &bytes[..bytes.len().min(200)];
            String::from_utf8_lossy(short).replace("\r\n", " ")
        };
        Some(format!(
            "connection {}: {} was answered {}, and now {}",
            self.connection,
            text(step.request).trim(),
            text(step.answer.unwrap_or_default()).trim(),
            text(found).trim()
        ))
    }
}

impl User for Speaker<'_> {
    type Ask = usize;

    const OPERATIONS: &'static [&'static str] = &["request"];

    const REQUEST_BYTES_MAX: usize = REQUEST_BYTES_MAX;

    const ANSWER_BYTES_MAX: usize = ANSWER_BYTES_MAX;

    fn due(&self) -> Option<u64> {
        self.steps.get(self.next).map(|step| step.due)
    }

    fn goes_on(&self) -> bool {
        self.next < self.steps.len()
    }

    fn ask(&mut self, out: &mut Vec<u8>) -> Option<usize> {
        let step = self.steps.get(self.next)?;
        out.extend_from_slice(step.request);
        self.sent.add(step.request);
        self.next += 1;
        Some(self.next - 1)
    }

    fn operation(_ask: &usize) -> usize {
        0
    }

    fn hear<'a>(
        &mut self,
        ask: &usize,
        bytes: &'a [u8],
    ) -> Result<Option<ParsedAnswer<'a>>, Garbled> {
        let reply = resp::reply(bytes, &ReplyLimits::REPLY).map_err(|_malformed| Garbled)?;
        let Some((first, length)) = reply else {
            return Ok(None);
        };
        let found = &bytes[..length];
        match self.steps.get(*ask).and_then(|step| step.answer) {
            None => self.unrecorded += 1,
            Some(known) if known == found => self.same += 1,
            Some(_) => {
                self.different += 1;
                if self.example.is_none() {
                    let short = &found[..length.min(1_024)];
                    self.example = Some((*ask, short.to_vec()));
                }
            }
        }
        let answer = match first {
            Token::Error(text) => Answer::Error(code(text)),
            _ => Answer::Done,
        };
        Ok(Some(ParsedAnswer { length, answer }))
    }
}

impl Report {
    /// Whether what was sent is what was recorded, byte for byte, and all of it was answered.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.sent_hash == self.recorded_hash && self.unanswered == 0
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} of {} requests sent on {} connections, stream {}{}",
            Count(self.sent),
            Count(self.requests),
            Count(self.connections),
            self.sent_hash,
            if self.is_whole() {
                ", as it was recorded"
            } else if self.sent_hash == self.recorded_hash {
                ", NOT answered in full"
            } else {
                ", NOT the recorded one"
            }
        )?;
        write!(
            f,
            "answers: {} the same, {} different, {} without a recorded one",
            Count(self.same),
            Count(self.different),
            Count(self.unrecorded)
        )?;
        if self.unanswered > 0 {
            write!(f, "; {} never answered", Count(self.unanswered))?;
        }
        self.examples
            .iter()
            .try_for_each(|example| write!(f, "\n  {example}"))
    }
}
