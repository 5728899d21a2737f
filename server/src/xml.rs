//! One client of the XML door: frames in, one `results` for each, item by item.

use std::ops::Range;

use turnstile_exchange::{Answer, Command, Exchange, Outcome, Query};
use turnstile_xml::{
    Answers, Ask, Batch, Echo, Fault, Framed, Item, Options, Requests, frame, put_error,
};

use crate::{
    conversation::{Next, Progress},
    counters::ErrorCode,
    engine::Engine,
};

/// The client's side of the conversation.
///
/// A request may hold more items than one turn has time for. It is answered over several turns
/// then, and its bytes stay where they are until its last item is; what is said so far waits here,
/// because a line with the length of the whole may have to go before it.
#[derive(Debug)]
pub(crate) struct XmlSession {
    options: Options,
    requests: Requests,
    /// The request of which some items are answered.
    under_way: Option<UnderWay>,
}

#[derive(Debug)]
struct UnderWay {
    /// Where its XML lies in the unread bytes, and how many of these it takes.
    xml: Range<usize>,
    consumed: usize,
    /// The next item.
    next: usize,
    answers: Answers,
    said: Vec<u8>,
}

impl XmlSession {
    pub(crate) const fn new(options: Options) -> Self {
        Self {
            options,
            requests: Requests::new(options),
            under_way: None,
        }
    }

    /// Bytes kept of a request beside its XML.
    pub(crate) const fn held(&self) -> usize {
        self.requests.size()
    }

    /// Answers a request of which no more is kept.
    pub(crate) fn refuse_input(&mut self, sentence: &str, out: &mut Vec<u8>) {
        self.requests.forget();
        put_error(out, &self.options, sentence);
    }

    /// Answers up to `budget` items of the request at the start of `bytes`.
    pub(crate) fn run(
        &mut self,
        engine: &mut Engine,
        bytes: &[u8],
        budget: usize,
        out: &mut Vec<u8>,
    ) -> Progress {
        if let Some(under_way) = self.under_way.take() {
            return self.go_on(engine, under_way, bytes, budget, out);
        }
        let (xml, consumed) = match frame(bytes, self.options.frame_bytes_max) {
            Framed::Frame { xml, consumed } => (xml, consumed),
            Framed::Incomplete { skipped, .. } => {
                return Progress {
                    length: skipped,
                    requests: 0,
                    next: Next::Incomplete,
                };
            }
            Framed::Broken(fault) => return self.break_off(engine, fault, out),
        };
        let content = bytes.get(xml.clone()).unwrap_or_default();
        let batch = match self.requests.read(content) {
            Ok(batch) => batch,
            Err(malformed) => {
                engine.counters.error(ErrorCode::Invalid);
                put_error(out, &self.options, malformed);
                self.requests.forget();
                return whole(consumed, 1);
            }
        };
        if batch.len() > budget {
            let mut said = Vec::new();
            let under_way = UnderWay {
                answers: Answers::begin(&mut said, &self.options),
                xml,
                consumed,
                next: 0,
                said,
            };
            return self.go_on(engine, under_way, bytes, budget, out);
        }
        let answers = Answers::begin(out, &self.options);
        let items = batch.len();
        answer_items(engine, batch, 0..items, answers, out);
        answers.finish(out);
        self.requests.forget();
        whole(consumed, items.max(1))
    }

    fn go_on(
        &mut self,
        engine: &mut Engine,
        mut under_way: UnderWay,
        bytes: &[u8],
        budget: usize,
        out: &mut Vec<u8>,
    ) -> Progress {
        let content = bytes.get(under_way.xml.clone()).unwrap_or_default();
        let batch = self.requests.batch(content);
        let end = batch.len().min(under_way.next + budget);
        let items = under_way.next..end;
        let requests = items.len();
        answer_items(engine, batch, items, under_way.answers, &mut under_way.said);
        if end < batch.len() {
            under_way.next = end;
            self.under_way = Some(under_way);
            return Progress {
                length: 0,
                requests,
                next: Next::More,
            };
        }
        under_way.answers.finish(&mut under_way.said);
        out.extend_from_slice(&under_way.said);
        self.requests.forget();
        whole(under_way.consumed, requests)
    }

    fn break_off(&self, engine: &Engine, fault: Fault, out: &mut Vec<u8>) -> Progress {
        engine.counters.error(ErrorCode::Protocol);
        tracing::info!(%fault, "a connection broke the protocol");
        put_error(out, &self.options, fault);
        Progress {
            length: 0,
            requests: 0,
            next: Next::Close,
        }
    }
}

/// A request that is done.
const fn whole(length: usize, requests: usize) -> Progress {
    Progress {
        length,
        requests,
        next: Next::More,
    }
}

fn answer_items(
    engine: &mut Engine,
    batch: Batch<'_>,
    items: Range<usize>,
    answers: Answers,
    out: &mut Vec<u8>,
) {
    for item in items.filter_map(|place| batch.get(place)) {
        answer(engine, &item, answers, out);
    }
}

#[inline]
fn answer(engine: &mut Engine, item: &Item<'_>, answers: Answers, out: &mut Vec<u8>) {
    let echo = &item.echo;
    match &item.ask {
        Ask::Command(command) => {
            if let Some(outcome) = decide(engine, command, echo, answers, out) {
                answers.outcome(out, echo, &outcome);
            }
        }
        Ask::Query(query) => answers.status(out, echo, &ask(engine, query)),
        Ask::Cancel { command, then } => match decide(engine, command, echo, answers, out) {
            Some(Outcome::Done(_)) => answers.cancelled(out, echo, &ask(engine, then)),
            Some(Outcome::Refused(refusal)) => answers.refused(out, echo, &refusal),
            None => {}
        },
        Ask::Nothing(invalid) => {
            engine.counters.error(ErrorCode::Invalid);
            answers.invalid(out, echo, invalid);
        }
    }
}

/// Has a command decided; one that was not taken is answered here.
#[inline]
fn decide(
    engine: &mut Engine,
    command: &Command,
    echo: &Echo<'_>,
    answers: Answers,
    out: &mut Vec<u8>,
) -> Option<Outcome> {
    let principal = engine.principal;
    match engine.execute::<Exchange>(&principal, None, command) {
        Ok(reply) => Some(reply.outcome),
        Err(error) => {
            answers.error(out, echo, error);
            None
        }
    }
}

fn ask(engine: &Engine, query: &Query) -> Answer {
    engine.query::<Exchange>(&engine.principal, query)
}
