//! The other side of the door: answers told apart, without allocating.

use memchr::memchr;
use turnstile_travel::Xid;

use crate::LineVerb;

/// What was answered to one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply<'a> {
    /// It was done. What was answered, without its last line end: a line, or the lines of a block
    /// without the empty one.
    Done(&'a [u8]),
    /// It could not be done, and the transaction goes on.
    Refused,
    /// The transaction was aborted, now or before; the sentence that says why.
    Aborted(&'a [u8]),
    /// There is no such transaction any more, or never was; the sentence that says so.
    Invalid(&'a [u8]),
    /// The line asked for nothing that there is, or is not taken now; the sentence that says so.
    Exception(&'a [u8]),
}

/// Reads the answer to a line with this command, which is not `Help`, at the start of `bytes`, and
/// says how many bytes it takes; nothing when more are needed.
#[must_use]
pub fn reply(verb: LineVerb, bytes: &[u8]) -> Option<(Reply<'_>, usize)> {
    let (line, length) = line(bytes)?;
    if let Some(failure) = failure(line) {
        return Some((failure, length));
    }
    if is_refusal(verb, line) {
        return Some((Reply::Refused, length));
    }
    if !matches!(
        verb,
        LineVerb::QueryCustomer | LineVerb::Summary | LineVerb::Itinerary
    ) {
        return Some((Reply::Done(line), length));
    }
    let mut end = 0;
    loop {
        let (line, length) = self::line(bytes.get(end..)?)?;
        if line.is_empty() {
            let block = bytes.get(..end.saturating_sub(1)).unwrap_or_default();
            return Some((Reply::Done(block), end + length));
        }
        end += length;
    }
}

/// What no command is answered when it is done.
fn failure(line: &[u8]) -> Option<Reply<'_>> {
    let sentence = |begins: &[u8]| line.strip_prefix(begins);
    sentence(b"TransactionAborted: ")
        .map(Reply::Aborted)
        .or_else(|| sentence(b"InvalidTransaction: ").map(Reply::Invalid))
        .or_else(|| sentence(b"Itinerary in doubt: ").map(Reply::Invalid))
        .or_else(|| sentence(b"Command exception: ").map(Reply::Exception))
}

/// Whether a line says that it could not be done; of itineraries it says why, too.
fn is_refusal(verb: LineVerb, line: &[u8]) -> bool {
    let refused = verb.refused().as_bytes();
    let rest = line.strip_prefix(refused).filter(|_| !refused.is_empty());
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b": "))
}

/// The first line without its end, and how many bytes it takes with it.
fn line(bytes: &[u8]) -> Option<(&[u8], usize)> {
    let end = memchr(b'\n', bytes)?;
    Some((bytes.get(..end)?, end + 1))
}

/// The xid that the answer to `Start` tells.
#[must_use]
pub fn started(done: &[u8]) -> Option<Xid> {
    let text = str::from_utf8(done).ok()?;
    let number = text
        .strip_prefix("Transaction ")?
        .strip_suffix(" started")?;
    number.parse().ok().map(Xid)
}

/// The number that the answer to a query tells.
#[must_use]
pub fn number(verb: LineVerb, done: &[u8]) -> Option<u32> {
    let text = str::from_utf8(done).ok()?;
    text.strip_prefix(verb.done())?.parse().ok()
}
