//! Every request that was sent, and every answer that came.

use rand::rngs::StdRng;
use turnstile_client::resp::Value;

use super::answer::Answer;
use super::books::Books;

/// The number of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Number(pub(crate) usize);

/// What is known of one request.
#[derive(Clone, Debug)]
pub(crate) struct Record<R> {
    pub(crate) key: String,
    pub(crate) request: R,
    pub(crate) reply: Reply,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reply {
    /// Nobody knows whether it happened.
    Missing,
    /// It did not happen: the disk was full, or the database was away.
    NotDone,
    Answered(Answer),
}

/// The memory of a test; it lives outside the server.
#[derive(Clone, Debug)]
pub(crate) struct Recorder<B: Books> {
    pub(crate) records: Vec<Record<B::Request>>,
    /// The books after the first `entered` requests, which all have their answers.
    pub(crate) books: B,
    pub(crate) entered: usize,
    /// The last position in the books.
    pub(crate) last: u64,
    /// Whether a first answer may be told as one that was given before: a server that lost its database
    /// finds out by asking again.
    pub(crate) may_replay: bool,
    /// Requests that were not done, or whose answers were lost on the way to the server.
    pub(crate) failures: u32,
}

impl<B: Books> Recorder<B> {
    pub(crate) fn new() -> Self {
        Self {
            records: Vec::new(),
            books: B::default(),
            entered: 0,
            last: 0,
            may_replay: false,
            failures: 0,
        }
    }

    /// Makes the next request; it is to be sent now.
    pub(crate) fn next(&mut self, rng: &mut StdRng) -> Number {
        let request = self.books.next(rng);
        self.add(request)
    }

    pub(crate) fn add(&mut self, request: B::Request) -> Number {
        let number = self.records.len();
        self.records.push(Record {
            key: format!("{}-{number}", B::KEYS),
            request,
            reply: Reply::Missing,
        });
        Number(number)
    }

    pub(crate) fn words(&self, number: Number) -> Vec<String> {
        let record = &self.records[number.0];
        B::words(&record.request, &record.key)
    }

    /// Takes note of the first answer to a request.
    pub(crate) fn note(&mut self, number: Number, value: &Value) -> Result<Reply, String> {
        let record = &mut self.records[number.0];
        if let Value::Error(error) = value {
            self.failures += 1;
            let code = error.split(' ').next().unwrap_or_default();
            record.reply = match code {
                "READONLY" | "UNAVAILABLE" => Reply::NotDone,
                "UNKNOWN" => Reply::Missing,
                _ => return Err(format!("{record:?}: {error}")),
            };
            return Ok(record.reply.clone());
        }
        let answer = Answer::parse(value).map_err(|why| format!("{record:?}: {why}"))?;
        self.settle(number, answer.clone());
        Ok(Reply::Answered(answer))
    }

    /// Takes note of what a request was answered in the end.
    pub(crate) fn settle(&mut self, number: Number, answer: Answer) {
        let record = &mut self.records[number.0];
        self.books.learn(&record.request, &answer);
        record.reply = Reply::Answered(answer);
    }

    /// The highest position that was acknowledged.
    pub(crate) fn last_acknowledged(&self) -> u64 {
        let open = self.records[self.entered..].iter();
        let positions = open.filter_map(|record| match &record.reply {
            Reply::Answered(answer) => Some(answer.position),
            Reply::Missing | Reply::NotDone => None,
        });
        positions.max().unwrap_or(self.last)
    }

    /// Enters what was answered since the last time, in the order of positions: each answer must be
    /// the one that the books demand, and every position is used once.
    pub(crate) fn enter(&mut self) -> Result<(), String> {
        self.enter_up_to(u64::MAX)
    }

    /// The same without what has a later position: for a directory that lost its tail.
    pub(crate) fn enter_up_to(&mut self, last: u64) -> Result<(), String> {
        let mut answered = Vec::new();
        for record in &self.records[self.entered..] {
            match &record.reply {
                Reply::Answered(answer) if answer.position <= last => {
                    answered.push((answer, &record.request));
                }
                Reply::Answered(_) => {}
                Reply::Missing | Reply::NotDone => {
                    return Err(format!("{record:?} was never answered"));
                }
            }
        }
        answered.sort_by_key(|(answer, _)| answer.position);
        for (answer, request) in answered {
            if answer.position <= self.last {
                return Err(format!(
                    "position {} of {request:?} was passed before, at {}",
                    answer.position, self.last
                ));
            }
            self.last = answer.position;
            self.books.enter(request, answer)?;
        }
        self.entered = self.records.len();
        Ok(())
    }
}
