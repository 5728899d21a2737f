//! What drives a connection: what a user asks, and how it reads the answers.

use std::{fmt, time::Instant};

/// One user on one connection: what it asks, and how it reads the answers.
pub trait User: fmt::Debug + Send {
    /// What must be remembered of a request until its answer comes.
    type Ask: Copy + fmt::Debug + Send;

    /// The names of the operations, by their number.
    const OPERATIONS: &'static [&'static str];

    /// The names of what is made of several requests, by their number. Where there are any, they are
    /// what is paced and measured, and a connection has one request under way.
    const WHOLES: &'static [&'static str] = &[];

    /// So many neighbours make a whole together, each on a connection of its own. They are on one
    /// thread, and there at the same time.
    const TOGETHER: usize = 1;

    /// The most bytes that one request takes; room for a whole pipeline is made before the start.
    const REQUEST_BYTES_MAX: usize;

    /// The most bytes of an unfinished answer that are kept between two reads.
    const ANSWER_BYTES_MAX: usize = 32 * 1024;

    /// Appends the next request; nothing when this user will never ask again. MUST NOT allocate.
    fn ask(&mut self, out: &mut Vec<u8>) -> Option<Self::Ask>;

    /// When the next request is due, in nanoseconds since the start, where that was fixed for this user
    /// alone; nothing: when the rhythm has it.
    fn due(&self) -> Option<u64> {
        None
    }

    /// Whether it is at something that it has begun: it asks whenever it can, at whatever rate others
    /// begin, and though the window is over.
    fn goes_on(&self) -> bool {
        false
    }

    /// Whether somebody must answer this. Not when it only waits to be spoken to; then it may have
    /// asked with no bytes at all, and nobody waits for the answer at the end.
    fn is_owed(_ask: &Self::Ask) -> bool {
        true
    }

    /// How many of these bytes go in one write, 1 at least; the others go in others.
    fn write_length(bytes: &[u8]) -> usize {
        bytes.len()
    }

    /// Whether more may lie in the socket though a read has left room: what the peer's urgent mark
    /// holds back does not tell that it is there.
    fn reads_on(&self) -> bool {
        false
    }

    /// Is told what time it is: before it hears, and asks, anything of what comes in one go, when it
    /// has heard all of that, and before something is lost. MUST NOT allocate.
    fn at(&mut self, _now: Instant) {}

    /// Is told, before it hears anything, when the generator last looked whether something had come, and
    /// what comes now had not. MUST NOT allocate.
    fn looked(&mut self, _in_vain: Instant) {}

    /// Is told that it has a new connection, on which nothing was said yet.
    fn connected(&mut self) {}

    /// Is told that a request will never be answered: its connection is lost, or the run has waited
    /// long enough. Requests are told of in the order in which they were asked. MUST NOT allocate.
    fn lost(&mut self, _ask: &Self::Ask) {}

    /// Is told that its connection is lost, and says whether to connect again.
    fn disconnected(&mut self) -> bool {
        true
    }

    /// Whether the server closes this connection after the answer that was heard last. A new one is
    /// made at once; what was asked behind that answer counts as not answered.
    fn parts(&self) -> bool {
        false
    }

    /// Whether a server may close its connection while nothing is owed, as those that serve anybody
    /// do: a new one is made, and it is no fault.
    fn is_replaced(&self) -> bool {
        false
    }

    /// Reads the answer to `ask` that ends with the connection: nothing when these bytes are none.
    /// MUST NOT allocate.
    fn hear_end(&mut self, _ask: &Self::Ask, _bytes: &[u8]) -> Option<Answer<'static>> {
        None
    }

    /// Whether the times of a request belong to what is measured, where that is not only a matter
    /// of the window.
    fn measures(_ask: &Self::Ask) -> bool {
        true
    }

    /// Is told that an answer has been counted, when its request was due, and from when on this
    /// user was free for it; says whether something is whole by it. MUST NOT allocate.
    fn heard(&mut self, _ask: &Self::Ask, _due: u64, _free: u64) -> Option<Ended> {
        None
    }

    /// Which operation a request was.
    fn operation(ask: &Self::Ask) -> usize;

    /// Reads the answer to `ask` at the front of `bytes`; nothing when more bytes are needed.
    /// MUST NOT allocate.
    ///
    /// # Errors
    /// The bytes are no answer to it.
    fn hear<'a>(
        &mut self,
        ask: &Self::Ask,
        bytes: &'a [u8],
    ) -> Result<Option<ParsedAnswer<'a>>, Garbled>;
}

/// An answer, and how many bytes it took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParsedAnswer<'a> {
    pub length: usize,
    pub answer: Answer<'a>,
}

/// What was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer<'a> {
    Done,
    /// A business "no", with its reason.
    Refused(&'a [u8]),
    /// A broken, forbidden or overloaded request, with its code.
    Error(&'a [u8]),
}

/// Something made of several requests that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Its number among the wholes.
    pub whole: usize,
    /// When its first request was due, and its user free for it, in nanoseconds since the start.
    pub due: u64,
    pub free: u64,
    /// Whether its times belong to what is measured, if the window says so, too.
    pub measured: bool,
    pub answer: Answer<'static>,
}

/// Bytes that are no answer: the connection is given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Garbled;

impl fmt::Display for Garbled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the bytes are no answer to what was asked")
    }
}

impl std::error::Error for Garbled {}
