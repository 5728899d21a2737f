//! Answers as bytes: one `results` for each request.

use std::{fmt, io::Write};

use turnstile_exchange::{Answer, Done, Execution, OrderView, Outcome, Refusal};
use turnstile_types::Timestamp;

use crate::{
    Echo, Invalid, Options,
    digits::{put_decimal, put_integer, put_length_line},
    limits::ANSWER_BYTES_MAX,
    sentence::Sentence,
};

/// Before the reason why an order that was just cancelled is not shown.
const CANCELLED: &str = "the order was cancelled, query it to learn what of it";

/// The answer to one request, under way: the output is appended to piece by piece, an answer to
/// each item in order. It holds no reference, so that it can wait between two items.
#[derive(Clone, Copy, Debug)]
pub struct Answers {
    /// Where the answer starts in the output.
    start: usize,
    length_line: bool,
}

/// Appends a whole answer with one `error`: to a frame that is malformed, or before a connection
/// is closed.
pub fn put_error(out: &mut Vec<u8>, options: &Options, sentence: impl fmt::Display) {
    let answers = Answers::begin(out, options);
    answers.error(out, &Echo::Unknown, sentence);
    answers.finish(out);
}

impl Answers {
    #[must_use]
    #[inline]
    pub fn begin(out: &mut Vec<u8>, options: &Options) -> Self {
        let start = out.len();
        out.extend_from_slice(b"<results>");
        Self {
            start,
            length_line: options.reply_length_line,
        }
    }

    /// Ends the answer. Nothing else may have been put into the output since it began.
    #[inline]
    pub fn finish(self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"</results>");
        if self.length_line {
            put_length_line(out, self.start);
        }
    }

    /// What became of an account, a grant or an order; or why an item was refused.
    #[inline]
    pub fn outcome(&self, out: &mut Vec<u8>, echo: &Echo<'_>, outcome: &Outcome) {
        match outcome {
            Outcome::Done(Done::Accepted { ticket, .. }) => {
                begin(out, b"<opened", echo);
                out.extend_from_slice(b" id=\"");
                put_integer(out, ticket.order.0);
                out.extend_from_slice(b"\"/>");
            }
            Outcome::Done(_) => {
                begin(out, b"<created", echo);
                out.extend_from_slice(b"/>");
            }
            Outcome::Refused(refusal) => self.refused(out, echo, refusal),
        }
    }

    /// An order as a query found it.
    pub fn status(&self, out: &mut Vec<u8>, echo: &Echo<'_>, answer: &Answer) {
        let order = match self.order(out, answer) {
            Ok(order) => order,
            Err(why) => return self.error(out, echo, why),
        };
        begin(out, b"<status", echo);
        out.push(b'>');
        if order.open.is_zero() {
            put_cancelled(out, order);
        } else {
            out.extend_from_slice(b"<open shares=\"");
            put_decimal(out, order.open);
            out.extend_from_slice(b"\"/>");
        }
        put_executions(out, &order.executions);
        out.extend_from_slice(b"</status>");
    }

    /// An order that was just cancelled, as a query found it then.
    pub fn cancelled(&self, out: &mut Vec<u8>, echo: &Echo<'_>, answer: &Answer) {
        let order = match self.order(out, answer) {
            Ok(order) => order,
            Err(why) => return self.cancelled_unseen(out, echo, why),
        };
        begin(out, b"<canceled", echo);
        out.push(b'>');
        put_cancelled(out, order);
        put_executions(out, &order.executions);
        out.extend_from_slice(b"</canceled>");
    }

    /// An order that was just cancelled, and why it cannot be shown.
    pub fn cancelled_unseen(&self, out: &mut Vec<u8>, echo: &Echo<'_>, why: impl fmt::Display) {
        self.error(out, echo, format_args!("{CANCELLED}: {why}"));
    }

    pub fn refused(&self, out: &mut Vec<u8>, echo: &Echo<'_>, refusal: &Refusal) {
        self.error(out, echo, Sentence(refusal));
    }

    pub fn invalid(&self, out: &mut Vec<u8>, echo: &Echo<'_>, why: &Invalid) {
        self.error(out, echo, why);
    }

    /// An `error` with what the item carried and a sentence.
    #[expect(
        clippy::unused_self,
        reason = "only within an answer may an item be answered"
    )]
    pub fn error(&self, out: &mut Vec<u8>, echo: &Echo<'_>, sentence: impl fmt::Display) {
        begin(out, b"<error", echo);
        out.push(b'>');
        write!(EscapingWriter(out), "{sentence}").expect("writing to memory does not fail");
        out.extend_from_slice(b"</error>");
    }

    /// The order of an answer, where there is one and room for it.
    fn order<'a>(&self, out: &[u8], answer: &'a Answer) -> Result<&'a OrderView, Unshown<'a>> {
        match answer {
            Answer::Order(order) if out.len() - self.start < ANSWER_BYTES_MAX => Ok(order),
            Answer::Order(_) => Err(Unshown::TooLong),
            Answer::Refused(refusal) => Err(Unshown::Refused(refusal)),
            _ => Err(Unshown::NoOrder),
        }
    }
}

/// Why an order is not shown.
enum Unshown<'a> {
    TooLong,
    Refused(&'a Refusal),
    NoOrder,
}

impl fmt::Display for Unshown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong => Invalid::AnswerTooLong.fmt(f),
            Self::Refused(refusal) => Sentence(refusal).fmt(f),
            Self::NoOrder => f.write_str("the answer is not about an order"),
        }
    }
}

/// Text with the characters of markup written as references.
struct EscapingWriter<'a>(&'a mut Vec<u8>);

impl Write for EscapingWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        for &byte in bytes {
            match byte {
                b'<' => self.0.extend_from_slice(b"&lt;"),
                b'>' => self.0.extend_from_slice(b"&gt;"),
                b'&' => self.0.extend_from_slice(b"&amp;"),
                byte => self.0.push(byte),
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// The name of an element and the attributes that it repeats. What was sent is the text of an
/// attribute already; only a quote that stood in the other kind of quotes is written differently.
#[inline]
fn begin(out: &mut Vec<u8>, name: &[u8], echo: &Echo<'_>) {
    out.extend_from_slice(name);
    for (attribute, value) in echo.attributes() {
        let Some(value) = value else { continue };
        out.push(b' ');
        out.extend_from_slice(attribute.as_bytes());
        out.extend_from_slice(b"=\"");
        if value.as_bytes().contains(&b'"') {
            out.extend_from_slice(value.replace('"', "&quot;").as_bytes());
        } else {
            out.extend_from_slice(value.as_bytes());
        }
        out.push(b'"');
    }
}

fn put_cancelled(out: &mut Vec<u8>, order: &OrderView) {
    if let Some((shares, at, _)) = order.cancelled {
        out.extend_from_slice(b"<canceled shares=\"");
        put_decimal(out, shares);
        put_time(out, at);
    }
}

fn put_executions(out: &mut Vec<u8>, executions: &[Execution]) {
    for execution in executions {
        out.extend_from_slice(b"<executed shares=\"");
        put_decimal(out, execution.quantity);
        out.extend_from_slice(b"\" price=\"");
        put_decimal(out, execution.price);
        put_time(out, execution.at);
    }
}

/// The last attribute of an element, in seconds, and its end.
fn put_time(out: &mut Vec<u8>, at: Timestamp) {
    out.extend_from_slice(b"\" time=\"");
    put_integer(out, at.0 / 1_000);
    out.extend_from_slice(b"\"/>");
}
