//! Users who may have a witness: with one they ask under idempotency keys until each answer is known.
//!
//! What is asked again is the same bytes, but for the greeting of the new connection. The interval of
//! such an operation reaches from the first question to the answer that is heard at last.

use std::{
    collections::VecDeque,
    fmt,
    io::{self, Read as _, Write as _},
    net::TcpStream,
    time::{Duration, Instant},
};

use turnstile_check::{Compact, Seen, Witness};
use turnstile_client::{PeerStream, ServerAddress, resp};

use crate::{
    door,
    pace::{Answer, Ended, Garbled, ParsedAnswer, User},
    reply,
};

/// How long the server may take for any one answer when the load is over.
const PATIENCE: Duration = Duration::from_secs(10);

/// How many connections in a row may be lost without a word when the load is over.
const SILENT_LOSSES_MAX: usize = 5;

/// How many words of a request are its key.
const KEY_WORDS: usize = 2;

/// What a user asked. A witness notes it when it is asked for the first time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ask<W> {
    pub(crate) what: W,
    /// Whether it asked for RESP3 first: refusals tell their position only there.
    greets: bool,
    /// The number of its key, where it has one.
    key: u64,
}

/// A user's witness, its keys, and what it asked on connections before and has no answer to, in order.
/// Everything it will need is allocated when it is made.
#[derive(Debug)]
pub(crate) struct KeyedWitness<O, W> {
    witness: Witness<O>,
    /// The unchanging beginning of its keys.
    stem: Vec<u8>,
    key: Vec<u8>,
    /// How many keys it has used.
    keys: u64,
    waiting: VecDeque<Ask<W>>,
    /// How many at the front were lost with the last connection.
    lost: usize,
    /// Whether the connection speaks RESP2 still.
    is_new: bool,
}

/// A user, and its witness if it has one. Without one it speaks RESP2, whose answers are shorter, and asks
/// once. With one it speaks RESP3, in which refusals tell their position, too.
#[derive(Debug)]
pub(crate) struct Keyed<U: KeyedUser> {
    pub(crate) user: U,
    checked: Option<WitnessOf<U>>,
}

/// What was answered to a user with a witness.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyedReply<'a, A> {
    Error(&'a [u8]),
    /// Nothing was done: there is a line.
    Waits,
    Answered {
        /// Of what may change anything.
        position: Option<u64>,
        answer: A,
        /// Why it was refused.
        refused: Option<&'a [u8]>,
    },
}

/// The witness of a user.
pub(crate) type WitnessOf<U> = KeyedWitness<<U as KeyedUser>::Operation, <U as KeyedUser>::What>;

/// What a user asks, and how it reads the answers.
pub(crate) trait KeyedUser: fmt::Debug + Send {
    /// What it asks.
    type What: Copy + fmt::Debug + Send;

    /// What its witness is told.
    type Operation: Compact + fmt::Debug;

    /// As of [`User`].
    const OPERATIONS: &'static [&'static str];

    /// As of [`User`].
    const WHOLES: &'static [&'static str] = &[];

    /// Is told what time it is. MUST NOT allocate.
    fn at(&mut self, _now: Instant) {}

    /// What it asks next, for the first time; nothing when it will never ask again. With a witness there
    /// is always something.
    fn choose(&mut self) -> Option<Self::What>;

    /// Appends the request, of which so many words are put behind these.
    fn put(&mut self, out: &mut Vec<u8>, what: &Self::What, more: usize);

    /// As of [`User`].
    fn operation(what: &Self::What) -> usize;

    /// Whether it may change something: only that has a key.
    fn changes(what: &Self::What) -> bool;

    /// Whether the witness notes it.
    fn is_noted(_what: &Self::What) -> bool {
        true
    }

    /// What the witness is told when nobody will ever know what became of this; nothing when that does not
    /// matter.
    fn unknown(&mut self, what: &Self::What) -> Option<Self::Operation>;

    /// Whether it is at something that it has begun.
    fn goes_on(&self) -> bool {
        false
    }

    /// Is told that something was lost with its connection; whether it is asked again.
    fn lost(&mut self, _what: &Self::What) -> bool {
        true
    }

    /// As [`User::heard`].
    fn heard(&mut self, _what: &Self::What, _due: u64, _free: u64) -> Option<Ended> {
        None
    }

    /// As [`User::disconnected`].
    fn disconnected(&mut self) -> bool {
        true
    }

    /// Reads an answer in RESP2, which nobody checks. Who always has a witness hears none.
    fn hear_briefly<'a>(
        &mut self,
        _what: &Self::What,
        _bytes: &'a [u8],
    ) -> Result<Option<ParsedAnswer<'a>>, Garbled> {
        Err(Garbled)
    }

    /// Reads a whole answer in RESP3, and tells the witness.
    fn hear_whole<'a>(
        &mut self,
        what: &Self::What,
        reply: &'a [u8],
        witness: &mut WitnessOf<Self>,
    ) -> Result<Answer<'a>, Garbled>
    where
        Self: Sized;
}

impl<O: Compact, W: Copy> KeyedWitness<O, W> {
    /// Notes the answer to what was asked first.
    pub(crate) fn hears(&mut self, seen: Seen, operation: O) {
        self.witness.hears(seen, operation);
    }

    /// Notes that nothing was done, and nothing else.
    pub(crate) fn hears_nothing(&mut self) {
        self.witness.hears_nothing();
    }

    /// Notes what nobody will ever know; nothing when that does not matter.
    pub(crate) fn gives_up(&mut self, unknown: Option<O>) {
        match unknown {
            Some(operation) => self.witness.hears(Seen::Unknown, operation),
            None => self.witness.hears_nothing(),
        }
    }

    /// Notes a reply. An error says that nothing was done, unless its code says that nobody knows.
    pub(crate) fn takes<'a, A>(
        &mut self,
        reply: KeyedReply<'a, A>,
        unknown: Option<O>,
        operation: impl FnOnce(A) -> O,
    ) -> Answer<'a> {
        match reply {
            KeyedReply::Error(code) => {
                self.gives_up(unknown.filter(|_operation| door::is_outcome_unknown(code)));
                Answer::Error(code)
            }
            KeyedReply::Waits => {
                self.hears_nothing();
                Answer::Refused(reply::IN_LINE)
            }
            KeyedReply::Answered {
                position,
                answer,
                refused,
            } => {
                let seen = position.map_or(Seen::Reading, Seen::At);
                self.hears(seen, operation(answer));
                refused.map_or(Answer::Done, Answer::Refused)
            }
        }
    }

    /// Appends the two words that are a key.
    fn put_key(&mut self, out: &mut Vec<u8>, key: u64) {
        self.key.clear();
        self.key.extend_from_slice(&self.stem);
        resp::put_decimal(&mut self.key, key);
        resp::put_bulk(out, b"KEY");
        resp::put_bulk(out, &self.key);
    }

    /// Asks for RESP3 on a new connection; whether it did.
    fn greet(&mut self, out: &mut Vec<u8>) -> bool {
        let greets = std::mem::take(&mut self.is_new);
        if greets {
            resp::put_command(out, &[b"HELLO", b"3"]);
        }
        greets
    }

    /// What is to be asked again first.
    fn next(&mut self) -> Option<Ask<W>> {
        self.lost = 0;
        self.waiting.pop_front()
    }

    /// A request is lost with its connection. They are told of in the order in which they were asked,
    /// and come before those that could not be asked again yet.
    fn lose(&mut self, ask: Ask<W>) {
        self.waiting.insert(self.lost, ask);
        self.lost += 1;
    }
}

impl<U: KeyedUser> Keyed<U> {
    /// Without a witness.
    pub(crate) const fn plain(user: U) -> Self {
        let checked = None;
        Self { user, checked }
    }

    /// With one, in a run that begins at this position, with so many requests under way at most.
    pub(crate) fn checked(
        user: U,
        witness: Witness<U::Operation>,
        (position, pipeline): (u64, usize),
    ) -> Self {
        let checked = KeyedWitness {
            stem: format!("check{position}-{}-", witness.user()).into_bytes(),
            witness,
            key: Vec::with_capacity(64),
            keys: 0,
            waiting: VecDeque::with_capacity(pipeline),
            lost: 0,
            is_new: true,
        };
        let checked = Some(checked);
        Self { user, checked }
    }

    /// Appends a request, on a new connection behind a greeting, and with a witness before its key.
    fn put(&mut self, out: &mut Vec<u8>, ask: &mut Ask<U::What>) {
        let Some(checked) = &mut self.checked else {
            return self.user.put(out, &ask.what, 0);
        };
        ask.greets = checked.greet(out);
        if !U::changes(&ask.what) {
            return self.user.put(out, &ask.what, 0);
        }
        self.user.put(out, &ask.what, KEY_WORDS);
        checked.put_key(out, ask.key);
    }

    /// Asks again, when the load is over and the server has recovered, what was never answered, on as many
    /// connections as it takes. What a user does not learn now it will not learn.
    pub(crate) fn settle(&mut self, address: &ServerAddress) {
        let mut silent_losses = 0;
        while self.waiting() > 0 && silent_losses < SILENT_LOSSES_MAX {
            let before = self.waiting();
            if self.ask_alone(address).is_err_and(|error| !is_loss(&error)) {
                break;
            }
            let is_silent = self.waiting() == before;
            silent_losses = if is_silent { silent_losses + 1 } else { 0 };
        }
        let Some(checked) = &mut self.checked else {
            return;
        };
        while let Some(ask) = checked.next() {
            checked.gives_up(self.user.unknown(&ask.what));
        }
    }

    fn waiting(&self) -> usize {
        self.checked
            .as_ref()
            .map_or(0, |checked| checked.waiting.len())
    }

    fn ask_alone(&mut self, address: &ServerAddress) -> io::Result<()> {
        door::connect_again(address).map_err(io::Error::other)?;
        let mut line = Line::connect(address)?;
        self.connected();
        self.at(Instant::now());
        let first = |checked: &Option<WitnessOf<U>>| checked.as_ref()?.waiting.front().copied();
        while let Some(mut ask) = first(&self.checked) {
            let mut request = Vec::new();
            self.put(&mut request, &mut ask);
            let hear = |answer: &[u8]| {
                self.at(Instant::now());
                Ok(self.hear(&ask, answer)?.map(|heard| heard.length))
            };
            line.ask(&request, hear)?;
            self.checked.as_mut().and_then(KeyedWitness::next);
        }
        Ok(())
    }
}

impl<U: KeyedUser> User for Keyed<U> {
    type Ask = Ask<U::What>;

    const OPERATIONS: &'static [&'static str] = U::OPERATIONS;

    const WHOLES: &'static [&'static str] = U::WHOLES;

    const REQUEST_BYTES_MAX: usize = 512;

    fn at(&mut self, now: Instant) {
        self.user.at(now);
        if let Some(checked) = &mut self.checked {
            checked.witness.at(now);
        }
    }

    fn connected(&mut self) {
        if let Some(checked) = &mut self.checked {
            checked.is_new = true;
        }
    }

    fn disconnected(&mut self) -> bool {
        self.user.disconnected()
    }

    fn goes_on(&self) -> bool {
        self.user.goes_on() || self.waiting() > 0
    }

    /// Asks what was lost before anything else.
    fn ask(&mut self, out: &mut Vec<u8>) -> Option<Ask<U::What>> {
        let again = self.checked.as_mut().and_then(KeyedWitness::next);
        let mut ask = match again {
            Some(again) => again,
            None => {
                let (what, greets, mut key) = (self.user.choose()?, false, 0);
                if let Some(checked) = &mut self.checked
                    && U::is_noted(&what)
                {
                    checked.witness.asks();
                    checked.keys += 1;
                    key = checked.keys;
                }
                Ask { what, greets, key }
            }
        };
        self.put(out, &mut ask);
        Some(ask)
    }

    fn operation(ask: &Ask<U::What>) -> usize {
        U::operation(&ask.what)
    }

    fn hear<'a>(
        &mut self,
        ask: &Ask<U::What>,
        bytes: &'a [u8],
    ) -> Result<Option<ParsedAnswer<'a>>, Garbled> {
        let Some(checked) = &mut self.checked else {
            return self.user.hear_briefly(&ask.what, bytes);
        };
        let Some(whole) = reply::whole(bytes, ask.greets)? else {
            return Ok(None);
        };
        let length = whole.end;
        let answer = self.user.hear_whole(&ask.what, &bytes[whole], checked)?;
        Ok(Some(ParsedAnswer { length, answer }))
    }

    fn heard(&mut self, ask: &Ask<U::What>, due: u64, free: u64) -> Option<Ended> {
        self.user.heard(&ask.what, due, free)
    }

    fn lost(&mut self, ask: &Ask<U::What>) {
        let again = self.user.lost(&ask.what);
        if again && let Some(checked) = &mut self.checked {
            checked.lose(*ask);
        }
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
