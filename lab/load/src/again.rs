//! Requests under idempotency keys that are asked again until their answer is known.
//!
//! What is asked again is the same bytes, but for the greeting of the new connection. The interval of
//! such an operation reaches from the first question to the answer that is heard at last.

use std::{
    collections::VecDeque,
    io::{self, Read as _, Write as _},
    net::TcpStream,
    time::{Duration, Instant},
};

use turnstile_client::{PeerStream, ServerAddress, resp};

use crate::{
    door,
    pace::{Garbled, User},
};

/// How long the server may take for any one answer when the load is over.
const PATIENCE: Duration = Duration::from_secs(10);

/// How many connections in a row may be lost without a word when the load is over.
const SILENT_LOSSES_MAX: usize = 5;

/// How many words of a request are its key.
pub(crate) const KEY_WORDS: usize = 2;

/// What a user asked. It is noted when it is asked for the first time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ask<W> {
    /// Whether it asked for RESP3 first: refusals tell their position only there.
    pub(crate) greets: bool,
    pub(crate) what: W,
}

/// A user's keys, and what it asked on connections before and has no answer to, in order. Everything
/// it will need is allocated when it is made.
#[derive(Debug)]
pub(crate) struct Unanswered<W> {
    /// The unchanging beginning of its keys.
    stem: Vec<u8>,
    key: Vec<u8>,
    /// How many keys it has used.
    keys: u64,
    waiting: VecDeque<W>,
    /// How many at the front were lost with the last connection.
    lost: usize,
    /// Whether the connection speaks RESP2 still.
    is_new: bool,
}

/// A user who asks again.
pub(crate) trait Insistent: User<Ask = Ask<Self::What>> {
    type What: Copy;

    fn unanswered(&mut self) -> &mut Unanswered<Self::What>;

    /// What it asks next, for the first time: to be noted.
    fn choose(&mut self) -> Self::What;

    /// Appends the request, with its key.
    fn put(&mut self, out: &mut Vec<u8>, what: &Self::What);

    /// Notes that nobody will ever know what became of this.
    fn gives_up(&mut self, what: &Self::What);
}

impl<W: Copy> Unanswered<W> {
    /// Of a user of the run that begins at this position, with so many requests under way at most.
    pub(crate) fn new(position: u64, user: usize, pipeline: usize) -> Self {
        Self {
            stem: format!("check{position}-{user}-").into_bytes(),
            key: Vec::with_capacity(64),
            keys: 0,
            waiting: VecDeque::with_capacity(pipeline),
            lost: 0,
            is_new: true,
        }
    }

    pub(crate) const fn next_key(&mut self) -> u64 {
        self.keys += 1;
        self.keys
    }

    /// Appends the two words that are a key.
    pub(crate) fn put_key(&mut self, out: &mut Vec<u8>, key: u64) {
        self.key.clear();
        self.key.extend_from_slice(&self.stem);
        resp::put_decimal(&mut self.key, key);
        resp::put_bulk(out, b"KEY");
        resp::put_bulk(out, &self.key);
    }

    pub(crate) const fn connected(&mut self) {
        self.is_new = true;
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Asks for RESP3 on a new connection; whether it did.
    pub(crate) fn greet(&mut self, out: &mut Vec<u8>) -> bool {
        let greets = std::mem::take(&mut self.is_new);
        if greets {
            resp::put_command(out, &[b"HELLO", b"3"]);
        }
        greets
    }

    /// What is to be asked again first.
    pub(crate) fn next(&mut self) -> Option<W> {
        self.lost = 0;
        self.waiting.pop_front()
    }

    /// A request is lost with its connection. They are told of in the order in which they were asked,
    /// and come before those that could not be asked again yet.
    pub(crate) fn lose(&mut self, what: W) {
        self.waiting.insert(self.lost, what);
        self.lost += 1;
    }
}

/// Asks what was lost before anything else.
pub(crate) fn ask<U: Insistent>(user: &mut U, out: &mut Vec<u8>) -> Ask<U::What> {
    let greets = user.unanswered().greet(out);
    let again = user.unanswered().next();
    let what = again.unwrap_or_else(|| user.choose());
    user.put(out, &what);
    Ask { greets, what }
}

/// Asks again, when the load is over and the server has recovered, what was never answered, on as many
/// connections as it takes. What a user does not learn now it will not learn.
pub(crate) fn settle<U: Insistent>(user: &mut U, address: &ServerAddress) {
    let mut silent_losses = 0;
    while !user.unanswered().is_empty() && silent_losses < SILENT_LOSSES_MAX {
        let before = user.unanswered().waiting.len();
        if ask_alone(user, address).is_err_and(|error| !is_loss(&error)) {
            break;
        }
        let is_silent = user.unanswered().waiting.len() == before;
        silent_losses = if is_silent { silent_losses + 1 } else { 0 };
    }
    while let Some(what) = user.unanswered().next() {
        user.gives_up(&what);
    }
}

/// Whether the server closed the connection, and may answer on another.
fn is_loss(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
    matches!(
        error.kind(),
        BrokenPipe | ConnectionAborted | ConnectionReset | UnexpectedEof
    )
}

fn ask_alone<U: Insistent>(user: &mut U, address: &ServerAddress) -> io::Result<()> {
    door::connect_again(address).map_err(io::Error::other)?;
    let mut line = Line::connect(address)?;
    user.connected();
    user.at(Instant::now());
    while let Some(what) = user.unanswered().waiting.front().copied() {
        let mut request = Vec::new();
        let greets = user.unanswered().greet(&mut request);
        user.put(&mut request, &what);
        let ask = Ask { greets, what };
        let hear = |answer: &[u8]| {
            user.at(Instant::now());
            Ok(user.hear(&ask, answer)?.map(|heard| heard.length))
        };
        line.ask(&request, hear)?;
        user.unanswered().next();
    }
    Ok(())
}

/// A connection beside the load, with one request under way.
pub(crate) struct Line(PeerStream<TcpStream>);

impl Line {
    pub(crate) fn connect(address: &ServerAddress) -> io::Result<Self> {
        Ok(Self(address.connect(PATIENCE)?))
    }

    /// Sends a request, and reads until all of its answer is there.
    pub(crate) fn ask<T>(
        &mut self,
        request: &[u8],
        mut hear: impl FnMut(&[u8]) -> Result<Option<T>, Garbled>,
    ) -> io::Result<T> {
        self.0.write_all(request)?;
        self.0.flush()?;
        let (mut answer, mut buffer) = (Vec::new(), [0; 4_096]);
        loop {
            match self.0.read(&mut buffer)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                read => answer.extend_from_slice(&buffer[..read]),
            }
            if let Some(heard) = hear(&answer).map_err(io::Error::other)? {
                return Ok(heard);
            }
        }
    }
}
