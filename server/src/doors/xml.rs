//! One client of the XML door: frames in, one `results` for each, item by item.

mod away;

use std::{fmt, ops::Range};

use turnstile_exchange::{Answer, Command, Exchange, Outcome, Query};
use turnstile_xml::{
    Answers, Ask, Batch, Fault, Framed, Options, RequestItem, Requests, frame, put_error,
};

use crate::{
    core::{
        conversation::{
            ClientProof, Continuation, Conversation, FastDoor, InputRefused, Progress, Surroundings,
        },
        engine::Engine,
        gate::Undecided,
        remote::Landed,
    },
    counters::{Counters, DoorName, ErrorCode},
};

use self::away::Away;

/// Items of one request that are answered before the loop looks whether they have taken long.
const ITEMS: usize = 64;

/// The door of exchange XML.
pub(crate) static XML: FastDoor = FastDoor {
    name: DoorName::Xml,
    refusal: |why| format!("<results><error>{why}</error></results>").into(),
    most: None,
    serves_early: false,
    has_frames: true,
    proof: ClientProof::Certificate,
};

/// The client's side of the conversation.
///
/// A request may hold more items than one turn has time for. It is answered over several turns
/// then, and its bytes stay where they are until its last item is; what is said so far waits here,
/// because a line with the length of the whole may have to go before it. So does every request that a
/// database decides.
#[derive(Debug)]
pub(crate) struct XmlSession {
    id: u64,
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
    /// Items from the next on that a database was asked for.
    away: Option<Away>,
}

impl XmlSession {
    pub(crate) const fn new(id: u64, options: Options) -> Self {
        Self {
            id,
            options,
            requests: Requests::new(options),
            under_way: None,
        }
    }

    fn go_on(
        &mut self,
        around: &mut Surroundings<'_>,
        mut under_way: UnderWay,
        (bytes, budget): (&[u8], usize),
        out: &mut Vec<u8>,
    ) -> Progress {
        let content = bytes.get(under_way.xml.clone()).unwrap_or_default();
        let batch = self.requests.batch(content);
        let requests = if around.engine.is_away::<Exchange>() {
            under_way.go_on_away(self.id, around, batch, budget)
        } else {
            under_way.go_on_here(around.engine, batch, budget.min(ITEMS))
        };
        if under_way.next < batch.len() {
            self.under_way = Some(under_way);
            return Progress {
                length: 0,
                requests,
                next: Continuation::More,
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
            next: Continuation::Close,
        }
    }
}

impl Conversation for XmlSession {
    type Shared = ();

    fn door(&self) -> &'static FastDoor {
        &XML
    }

    fn run(
        &mut self,
        (): &mut (),
        around: &mut Surroundings<'_>,
        (bytes, budget): (&[u8], usize),
        out: &mut Vec<u8>,
    ) -> Progress {
        if let Some(under_way) = self.under_way.take() {
            return self.go_on(around, under_way, (bytes, budget), out);
        }
        let engine = &mut *around.engine;
        let (xml, consumed) = match frame(bytes, self.options.frame_bytes_max) {
            Framed::Frame { xml, consumed } => (xml, consumed),
            Framed::Incomplete { skipped, .. } => {
                return Progress {
                    length: skipped,
                    requests: 0,
                    next: Continuation::Incomplete,
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
        if batch.len() > budget.min(ITEMS) || engine.is_away::<Exchange>() {
            let mut said = Vec::new();
            let under_way = UnderWay {
                answers: Answers::begin(&mut said, &self.options),
                xml,
                consumed,
                next: 0,
                said,
                away: None,
            };
            return self.go_on(around, under_way, (bytes, budget), out);
        }
        let answers = Answers::begin(out, &self.options);
        let items = batch.len();
        answer_items(engine, batch, 0..items, answers, out);
        answers.finish(out);
        self.requests.forget();
        whole(consumed, items.max(1))
    }

    fn waits(&self) -> bool {
        let away = self.under_way.as_ref().and_then(|it| it.away.as_ref());
        away.is_some_and(Away::waits)
    }

    fn put_landed(&mut self, client: u64, landed: Landed, _out: &mut Vec<u8>) {
        let away = self.under_way.as_mut().and_then(|it| it.away.as_mut());
        if let (true, Some(away), Landed::Exchange(landing)) = (self.id == client, away, landed) {
            away.land(landing);
        }
    }

    fn held(&self) -> usize {
        self.requests.size()
    }

    fn unfinished_answer(&self) -> usize {
        let under_way = self.under_way.as_ref();
        under_way.map_or(0, |it| it.said.capacity())
    }

    fn refuse_input(&mut self, why: InputRefused, out: &mut Vec<u8>) {
        self.requests.forget();
        put_error(out, &self.options, why);
    }
}

impl UnderWay {
    /// Answers up to `budget` items; says how many.
    fn go_on_here(&mut self, engine: &mut Engine, batch: Batch<'_>, budget: usize) -> usize {
        let items = self.next..batch.len().min(self.next + budget);
        self.next = items.end;
        let requests = items.len();
        answer_items(engine, batch, items, self.answers, &mut self.said);
        requests
    }
}

/// A request that is done.
const fn whole(length: usize, requests: usize) -> Progress {
    Progress {
        length,
        requests,
        next: Continuation::More,
    }
}

/// Who answers items: the engine at once, or what has landed of a database's answers.
trait Answering {
    type Error: fmt::Display;

    fn counters(&self) -> &Counters;

    fn decide(&mut self, command: &Command) -> Result<Outcome, Self::Error>;

    fn ask(&mut self, query: &Query) -> Result<Answer, Self::Error>;
}

impl Answering for Engine {
    type Error = Undecided;

    fn counters(&self) -> &Counters {
        &self.counters
    }

    #[inline]
    fn decide(&mut self, command: &Command) -> Result<Outcome, Undecided> {
        let reply = self.execute::<Exchange>(None, command, None)?;
        Ok(reply.outcome)
    }

    fn ask(&mut self, query: &Query) -> Result<Answer, Undecided> {
        self.query::<Exchange>(query)
    }
}

fn answer_items<A: Answering>(
    by: &mut A,
    batch: Batch<'_>,
    items: Range<usize>,
    answers: Answers,
    out: &mut Vec<u8>,
) {
    for item in items.filter_map(|place| batch.get(place)) {
        if let Err(error) = answer(by, &item, answers, out) {
            answers.error(out, &item.echo, error);
        }
    }
}

/// Answers one item, or says why it cannot be answered.
#[inline]
fn answer<A: Answering>(
    by: &mut A,
    item: &RequestItem<'_>,
    answers: Answers,
    out: &mut Vec<u8>,
) -> Result<(), A::Error> {
    let echo = &item.echo;
    match &item.ask {
        Ask::Command(command) => answers.outcome(out, echo, &by.decide(command)?),
        Ask::Query(query) => answers.status(out, echo, &by.ask(query)?),
        Ask::Cancel { command, then } => match by.decide(command)? {
            Outcome::Done(_) => match by.ask(then) {
                Ok(order) => answers.cancelled(out, echo, &order),
                Err(error) => answers.cancelled_unseen(out, echo, error),
            },
            Outcome::Refused(refusal) => answers.refused(out, echo, &refusal),
        },
        Ask::Nothing(invalid) => {
            by.counters().error(ErrorCode::Invalid);
            answers.invalid(out, echo, invalid);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_is_not_whole_is_counted() {
        let options = Options::default();
        let mut session = XmlSession::new(1, options);
        assert_eq!(session.unfinished_answer(), 0);
        let mut said = Vec::with_capacity(3 << 20);
        session.under_way = Some(UnderWay {
            xml: 0..0,
            consumed: 0,
            next: 0,
            answers: Answers::begin(&mut said, &options),
            said,
            away: None,
        });
        assert_eq!(session.unfinished_answer(), 3 << 20);
        assert_eq!(session.held(), session.requests.size());
    }
}
