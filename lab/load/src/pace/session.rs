//! One user and its connection.

mod connecting;

use std::{
    collections::VecDeque,
    io::{self, ErrorKind, Read as _, Write as _},
};

use mio::{Interest, Token, event::Event, net::TcpStream};
use turnstile_client::PeerStream;

use super::{
    Answer, ConnectedUser, Ended, ParsedAnswer, User,
    desk::{Desk, READ_BYTES},
    tally::Instants,
};

/// Room that is made before the start for the rest of an answer.
const REST_BYTES: usize = 32 * 1024;

/// How long a user without a connection waits before it connects again.
const RETRY_NANOS: u64 = 100_000_000;

/// A user on its connection: a state machine fed by readiness.
///
/// Invariant: `flights` holds, in order, the requests that were asked and not answered, at most as
/// many as the pipeline is deep; the last `unsent` of them have not met the socket yet.
#[derive(Debug)]
pub(super) struct Session<U: User> {
    user: U,
    token: Token,
    /// The number of the first of its group among all users of the run.
    first: usize,
    line: Line,
    outbox: Vec<u8>,
    /// How much of `outbox` the socket has taken.
    written: usize,
    /// The beginning of an answer whose end has not come, and when it was read.
    rest: Vec<u8>,
    rest_since: u64,
    flights: VecDeque<Flight<U::Ask>>,
    unsent: usize,
    finished: bool,
    waits: Waits,
    /// When it has thought about the last answer.
    thinks_until: u64,
    /// Whether it goes when it will never ask again.
    leaves: bool,
    /// Since when its user has been free, but without a connection: the server has closed it.
    parted: Option<u64>,
}

/// What it waits for before it asks again, beside an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Waits {
    Nothing,
    /// An alarm will wake it.
    Alarm,
    /// It stands in the line of those who can take the next arrival.
    Arrival,
}

#[derive(Debug)]
enum Line {
    Up(PeerStream<TcpStream>),
    Connecting(TcpStream),
    Down {
        retry_at: u64,
    },
    /// Not wanted: it has not had its turn, or has left.
    Away,
}

#[derive(Clone, Copy, Debug)]
struct Flight<A> {
    ask: A,
    due: u64,
    free: u64,
    ready: u64,
    sent: u64,
    scheduled: bool,
}

impl<U: User> Session<U> {
    /// A session on a connection, or one that connects when it [arrives](Self::arrive).
    pub(super) fn new(guest: ConnectedUser<U>, token: Token, desk: &Desk) -> io::Result<Self> {
        let leaves = guest.stream.is_none();
        let line = match guest.stream {
            None => Line::Away,
            Some(stream) => {
                let mut stream = stream.map(TcpStream::from_std);
                let interest = Interest::READABLE | Interest::WRITABLE;
                desk.registry
                    .register(&mut stream.socket, token, interest)?;
                Line::Up(stream)
            }
        };
        Ok(Self {
            user: guest.user,
            token,
            first: guest.first,
            line,
            outbox: Vec::with_capacity(desk.pipeline * U::REQUEST_BYTES_MAX),
            written: 0,
            // Most answers come whole; the longest are rare.
            rest: Vec::with_capacity(U::ANSWER_BYTES_MAX.min(REST_BYTES)),
            rest_since: 0,
            flights: VecDeque::with_capacity(desk.pipeline),
            unsent: 0,
            finished: false,
            waits: Waits::Nothing,
            thinks_until: 0,
            leaves,
            parted: None,
        })
    }

    pub(super) fn into_user(self) -> U {
        self.user
    }

    /// Begins the run: who thinks between requests does so before the first, too.
    pub(super) fn start(&mut self, desk: &mut Desk) {
        self.thinks_until = desk.thought();
        self.user.connected();
        self.begin(desk);
    }

    /// Asks as much as the pipeline holds, and sends it.
    pub(super) fn begin(&mut self, desk: &mut Desk) {
        self.ask(desk, desk.now());
        if self.flush(desk).is_err() {
            self.lose(desk);
        }
    }

    /// Its alarm rings.
    pub(super) fn wake(&mut self, desk: &mut Desk) {
        if let Line::Up(_) = self.line {
            return self.begin(desk);
        }
        self.waits = Waits::Nothing;
    }

    /// Does what the socket is ready for.
    pub(super) fn on_ready(&mut self, event: &Event, desk: &mut Desk) {
        self.serve(event, desk);
        let done = self.leaves && self.finished && self.flights.is_empty();
        if done && let Line::Up(_) = self.line {
            // Dropping the stream takes it from the poller, too.
            self.line = Line::Away;
            desk.there -= 1;
        }
    }

    fn serve(&mut self, event: &Event, desk: &mut Desk) {
        if let Line::Connecting(_) = self.line {
            return self.on_connected(desk);
        }
        let read = if event.is_readable() || event.is_read_closed() || event.is_error() {
            // A short read has emptied the socket, unless its end is there to be read, too.
            let to_the_end = event.is_read_closed() || event.is_error();
            self.read(desk, to_the_end)
        } else {
            Ok(())
        };
        if read.and_then(|()| self.flush(desk)).is_err() {
            self.lose(desk);
        }
    }

    /// Gives up what is still owed: nobody knows whether it was carried out.
    pub(super) fn abandon(&mut self, desk: &mut Desk) {
        self.user.at(desk.instant(desk.now()));
        for flight in self.flights.drain(..) {
            if U::is_owed(&flight.ask) {
                desk.tally().operations[U::operation(&flight.ask)].unknown += 1;
                desk.give_up(flight.due);
            }
            self.user.lost(&flight.ask);
        }
        self.unsent = 0;
        self.outbox.clear();
        self.written = 0;
        self.rest.clear();
    }

    fn read(&mut self, desk: &mut Desk, to_the_end: bool) -> io::Result<()> {
        let mut scratch = std::mem::take(&mut desk.scratch);
        let read = self.read_into(&mut scratch, desk, to_the_end);
        desk.scratch = scratch;
        read
    }

    fn read_into(
        &mut self,
        scratch: &mut [u8],
        desk: &mut Desk,
        to_the_end: bool,
    ) -> io::Result<()> {
        loop {
            let Line::Up(stream) = &mut self.line else {
                return Ok(());
            };
            let in_pieces = stream.reads_in_pieces();
            let kept = self.rest.len();
            let read = match stream.read(&mut scratch[kept..kept + READ_BYTES]) {
                Ok(0) => return self.hear_end(desk),
                Ok(read) => read,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            scratch[..kept].copy_from_slice(&self.rest);
            let now = desk.now();
            self.hear(&scratch[..kept + read], now, desk)?;
            if self.user.parts() {
                self.part(now, desk);
                return Ok(());
            }
            self.ask(desk, now);
            if read < READ_BYTES && !to_the_end && !in_pieces && !self.user.reads_on() {
                return Ok(());
            }
        }
    }

    /// Takes all answers at the front of `bytes` and keeps the rest.
    fn hear(&mut self, bytes: &[u8], now: u64, desk: &mut Desk) -> io::Result<()> {
        self.user.at(desk.instant(now));
        self.user.looked(desk.instant(desk.looked));
        let mut used = 0;
        let mut first_byte = if self.rest.is_empty() {
            now
        } else {
            self.rest_since
        };
        while used < bytes.len() {
            // An answer to what was not even sent is none.
            if self.flights.len() == self.unsent && !self.listens(now, desk) {
                return Err(ErrorKind::InvalidData.into());
            }
            let Some(flight) = self.flights.front().copied() else {
                return Err(ErrorKind::InvalidData.into());
            };
            let heard = self
                .user
                .hear(&flight.ask, &bytes[used..])
                .map_err(io::Error::other)?;
            let Some(ParsedAnswer { length, answer }) = heard else {
                break;
            };
            used += length;
            self.answered(flight, answer, (first_byte, now), desk);
            first_byte = now;
            if self.user.parts() {
                return Ok(());
            }
        }
        let rest = &bytes[used..];
        if rest.len() > U::ANSWER_BYTES_MAX {
            return Err(ErrorKind::InvalidData.into());
        }
        self.rest.clear();
        self.rest.extend_from_slice(rest);
        self.rest_since = first_byte;
        Ok(())
    }

    /// The first of those that wait has its answer.
    fn answered(
        &mut self,
        flight: Flight<U::Ask>,
        answer: Answer<'_>,
        (first_byte, now): (u64, u64),
        desk: &mut Desk,
    ) {
        self.flights.pop_front();
        let instants = Instants {
            due: flight.due,
            free: flight.free,
            ready: flight.ready,
            sent: flight.sent,
            first_byte,
            done: now,
            scheduled: flight.scheduled,
        };
        Self::count(&flight.ask, answer, &instants, desk);
        let ended = self.user.heard(&flight.ask, flight.due, flight.free);
        if let Some(ended) = ended {
            Self::count_whole(&ended, now, desk);
        }
        if !self.user.goes_on() {
            self.thinks_until = now + desk.thought();
        }
    }

    fn count(ask: &U::Ask, answer: Answer<'_>, instants: &Instants, desk: &mut Desk) {
        let Instants { due, done, .. } = *instants;
        let measured = desk.measures(done) && U::measures(ask);
        let operation = U::operation(ask);
        desk.hear(answer, done, U::is_owed(ask));
        desk.tally().record(operation, answer, instants, measured);
        if U::WHOLES.is_empty() {
            let error = matches!(answer, Answer::Error(_));
            let late = desk.count(!error, error, due, done);
            desk.tally().operations[operation].late += u64::from(late);
        }
    }

    fn count_whole(ended: &Ended, done: u64, desk: &mut Desk) {
        let measured = desk.measures(done) && ended.measured;
        let counts = ended.answer == Answer::Done;
        let error = matches!(ended.answer, Answer::Error(_));
        desk.tally().record_whole(ended, done, measured);
        let late = desk.count(counts, error, ended.due, done);
        desk.tally().wholes[ended.whole].late += u64::from(late);
    }

    /// Whether bytes that have come may be the answer of somebody who is yet to say that it only
    /// waits to be spoken to. Who so waits has sent nothing.
    fn listens(&mut self, now: u64, desk: &mut Desk) -> bool {
        self.ask(desk, now);
        let heard = self.flights.len() == 1 && self.outbox.len() == self.written;
        if heard {
            self.unsent = 0;
        }
        heard
    }

    /// Fills the pipeline. Who is within something that it has begun asks at once. In a closed loop a
    /// slot is due, and ready, the moment it is free, or when its user has thought; where all share a
    /// schedule it stands by for the next arrival.
    fn ask(&mut self, desk: &mut Desk, now: u64) {
        self.user.at(desk.instant(now));
        while self.flights.len() < desk.pipeline && !self.finished {
            let (own, goes_on) = (self.user.due(), self.user.goes_on());
            if goes_on && own.is_none() {
                self.take(now, now, now, false, desk);
                continue;
            }
            if now >= desk.stop && !goes_on {
                return;
            }
            if desk.agenda.is_some() {
                return self.stand_by(desk, now);
            }
            let Some(active) = desk.active(self.first, now) else {
                return self.finish(desk);
            };
            let own = own.or_else(|| desk.thinks().then_some(self.thinks_until));
            let scheduled = own.is_some() || active > now;
            let due = own.unwrap_or(active).max(active);
            if due > now {
                return self.rest(due, desk);
            }
            // Who had to connect first has been free for longer.
            let parted = self.parted.take();
            let due = if scheduled {
                due
            } else {
                parted.unwrap_or(now)
            };
            let rested = self.waits == Waits::Alarm;
            let free = if rested { due } else { now };
            self.waits = Waits::Nothing;
            self.take(due, free, now, scheduled, desk);
        }
    }

    /// Asks for what was due then; whether there is anything to ask.
    fn take(&mut self, due: u64, free: u64, now: u64, scheduled: bool, desk: &mut Desk) -> bool {
        if self.written > 0 {
            self.outbox.drain(..self.written);
            self.written = 0;
        }
        let Some(ask) = self.user.ask(&mut self.outbox) else {
            self.finish(desk);
            return false;
        };
        self.flights.push_back(Flight {
            ask,
            due,
            free,
            ready: now,
            sent: now,
            scheduled,
        });
        self.unsent += 1;
        if U::is_owed(&ask) {
            desk.owe(now);
        }
        true
    }

    fn finish(&mut self, desk: &mut Desk) {
        desk.finished += usize::from(!self.finished);
        self.finished = true;
    }

    /// Gets into the line of those who can take the next arrival.
    fn stand_by(&mut self, desk: &mut Desk, since: u64) {
        let can = self.flights.len() < desk.pipeline && !self.finished;
        if can
            && self.waits == Waits::Nothing
            && let Some(agenda) = &mut desk.agenda
        {
            self.waits = Waits::Arrival;
            agenda.stand_by(self.token.0, since);
        }
    }

    /// Takes an arrival, having stood by since an instant; whether it could.
    pub(super) fn arrival(&mut self, due: u64, since: u64, now: u64, desk: &mut Desk) -> bool {
        self.waits = Waits::Nothing;
        self.user.at(desk.instant(now));
        if !matches!(self.line, Line::Up(_)) || !self.take(due, due.max(since), now, true, desk) {
            return false;
        }
        if self.flush(desk).is_err() {
            self.lose(desk);
        } else {
            self.stand_by(desk, since);
        }
        true
    }

    /// Nothing is asked before this instant.
    fn rest(&mut self, until: u64, desk: &mut Desk) {
        if self.waits == Waits::Nothing && until < desk.stop {
            self.waits = Waits::Alarm;
            desk.alarms.set(until, self.token.0);
        }
    }

    fn flush(&mut self, desk: &Desk) -> io::Result<()> {
        let Line::Up(stream) = &mut self.line else {
            return Ok(());
        };
        if self.unsent > 0 {
            let sent = desk.now();
            let first = self.flights.len() - self.unsent;
            for flight in self.flights.range_mut(first..) {
                flight.sent = sent;
            }
            self.unsent = 0;
        }
        while self.written < self.outbox.len() {
            let left = &self.outbox[self.written..];
            match stream.write(&left[..U::write_length(left)]) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(written) => self.written += written,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.outbox.clear();
        self.written = 0;
        stream.flush()
    }
}
