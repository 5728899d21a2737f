//! A connection's socket: strict framing on the way in, and deadlines that are looked at from
//! outside.

use std::{
    cell::RefCell,
    collections::HashMap,
    io,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    pin::Pin,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering},
    },
    task::{Context, Poll, Waker, ready},
    time::Duration,
};

use hyper::rt::{Read, ReadBufCursor, Write};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::Instant,
};
use turnstile_http::{Framing, FramingViolation, Scanner};

use super::{
    Door,
    limits::READ_BYTES,
    secured::HttpStream,
    socket::Invitation,
    unsent::{Dropped, Unsent},
};
use crate::{
    counters::{Counters, DoorName},
    limits::HttpLimits,
};

thread_local! {
    /// Where sockets are read to before they are judged: one for all connections of the thread, as
    /// no reading is interrupted.
    static SCRATCH: RefCell<Box<[u8]>> = RefCell::new(vec![0; READ_BYTES].into());
}

/// One connection, shared by the library that speaks HTTP on it and the task that owns it.
///
/// Every byte passes the [`Scanner`] before the library sees it. A violation ends the input there:
/// requests before it are answered, and then the owner says what was wrong. Deadlines cost a
/// request next to nothing: a sweep judges all lines, instead of a timer in each, and what happens
/// to a line is noted with the time of the last sweep.
#[derive(Debug)]
pub(super) struct Line {
    socket: Mutex<Socket>,
    /// Whether what is written may stay in records for a while.
    is_secured: bool,
    /// The address of the client.
    peer: Option<SocketAddr>,
    /// The names in the certificate that the client has shown.
    names: Vec<String>,
    verdict: AtomicU8,
    /// The task to wake when there is a verdict.
    owner: Mutex<Option<Waker>>,
    /// What the connection becomes after its last answer.
    invitation: Mutex<Option<Invitation>>,
    /// How many requests have been answered.
    answered: AtomicU64,
    /// Whether an answer was a stream, which has no end that is known here.
    streams: AtomicBool,
    /// Whether a request has come from somebody who may ask for more than what is public.
    is_known: AtomicBool,
    /// Whether nothing of the library that speaks HTTP is kept, until the client asks for more.
    is_asleep: AtomicBool,
    dropped: Arc<Dropped>,
    counters: Arc<Counters>,
    clock: Arc<Clock>,
}

/// The time of the last sweep.
#[derive(Debug)]
pub(super) struct Clock {
    began: Instant,
    swept_ms: AtomicU64,
}

/// Milliseconds since the door began, as of a sweep.
pub(super) type SweptMs = u64;

impl Clock {
    pub(super) fn new() -> Self {
        Self {
            began: Instant::now(),
            swept_ms: AtomicU64::new(0),
        }
    }

    fn sweep(&self) {
        let ms = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.swept_ms.store(ms, Ordering::Relaxed);
    }

    pub(super) fn swept(&self) -> SweptMs {
        self.swept_ms.load(Ordering::Relaxed)
    }

    /// How much time has passed at least since something that happened after this sweep: it may have
    /// happened right before the next.
    fn since(&self, swept: SweptMs, sweep: Duration) -> Duration {
        Duration::from_millis(self.swept().saturating_sub(swept)).saturating_sub(sweep)
    }
}

#[derive(Debug)]
struct Socket {
    stream: HttpStream,
    scanner: Scanner,
    violation: Option<FramingViolation>,
    /// The violation is in the body of a request whose head the library has.
    in_body: bool,
    unsent: Unsent,
    /// When the current head or body began.
    since: SweptMs,
    /// When bytes moved last, in or out.
    moved: SweptMs,
}

/// Why a connection is to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    None,
    /// The server stops: after the current answer.
    Stop,
    Idle,
    /// A head or a body did not arrive in time.
    Late,
    /// Its place is needed.
    Evicted,
    /// Not yet, but it rests: what is kept for its next request can go.
    Rests,
}

impl Line {
    /// A new connection of the door.
    pub(super) fn of(door: &Door, stream: HttpStream) -> Self {
        let unsent = door.backlog.join();
        let (counters, clock) = (Arc::clone(&door.counters), Arc::clone(&door.clock));
        let now = clock.swept();
        let dropped = Arc::clone(unsent.dropped());
        // One that has gone already asks for nothing more.
        let peer = stream.peer().ok();
        Self {
            is_secured: stream.is_secured(),
            names: stream.names().unwrap_or_default(),
            peer,
            socket: Mutex::new(Socket {
                stream,
                scanner: Scanner::new(),
                violation: None,
                in_body: false,
                unsent,
                since: now,
                moved: now,
            }),
            verdict: AtomicU8::new(0),
            owner: Mutex::new(None),
            invitation: Mutex::new(None),
            answered: AtomicU64::new(0),
            streams: AtomicBool::new(false),
            is_known: AtomicBool::new(false),
            is_asleep: AtomicBool::new(false),
            dropped,
            counters,
            clock,
        }
    }

    /// The address of the client, and the names in its certificate.
    pub(super) fn peer(&self) -> (IpAddr, &[String]) {
        let address = self.peer.map(|peer| peer.ip());
        let address = address.unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED));
        (address, &self.names)
    }

    /// The address of the client with its port, if it was there when the connection began.
    pub(super) const fn peer_address(&self) -> Option<SocketAddr> {
        self.peer
    }

    pub(super) fn verdict(&self) -> Verdict {
        match self.verdict.load(Ordering::Acquire) {
            0 => Verdict::None,
            1 => Verdict::Stop,
            2 => Verdict::Idle,
            3 => Verdict::Late,
            4 => Verdict::Evicted,
            _ => Verdict::Rests,
        }
    }

    /// Falls asleep if it still rests; says whether it does.
    pub(super) fn fall_asleep(&self) -> bool {
        self.verdict.store(0, Ordering::Release);
        let is_asleep = self.resting_since().is_some();
        self.is_asleep.store(is_asleep, Ordering::Relaxed);
        is_asleep
    }

    /// Ready when the client asks for more, or has gone.
    pub(super) fn poll_wake(&self, cx: &mut Context<'_>) -> Poll<()> {
        let woken = self.socket().stream.poll_readable(cx);
        woken.map(|()| self.is_asleep.store(false, Ordering::Relaxed))
    }

    /// Whether it is to end because its client does not read.
    pub(super) fn is_dropped(&self) -> bool {
        self.dropped.get()
    }

    /// The task that [`Self::judge`] wakes.
    pub(super) fn set_owner(&self, waker: &Waker) {
        *self.owner.lock().unwrap_or_else(PoisonError::into_inner) = Some(waker.clone());
        self.dropped.wakes(waker);
    }

    pub(super) fn note_answer(&self) {
        self.answered.fetch_add(1, Ordering::Relaxed);
    }

    /// Notes that the answer that is sent now is a stream.
    pub(super) fn note_stream(&self) {
        self.streams.store(true, Ordering::Relaxed);
    }

    /// Notes that the server knows who has sent a request.
    pub(super) fn note_known(&self) {
        self.is_known.store(true, Ordering::Relaxed);
    }

    /// Since when it has been without a request: its client has been told all, and has not begun to
    /// ask for more.
    fn resting_since(&self) -> Option<SweptMs> {
        let socket = self.socket();
        let answered = self.answered.load(Ordering::Relaxed);
        let rests = socket.scanner.framing() == Framing::Between
            && socket.scanner.requests() == answered
            && socket.unsent.is_empty()
            && !self.streams.load(Ordering::Relaxed);
        rests.then_some(socket.moved)
    }

    /// When its turn comes to give up its place, if it can: first those that rest, since then, and behind
    /// them those of whom nobody knows who they are, whatever they do.
    fn gives_way_after(&self) -> Option<(bool, SweptMs)> {
        let rests = self.resting_since().map(|since| (false, since));
        let is_unknown = !self.is_known.load(Ordering::Relaxed);
        rests.or_else(|| is_unknown.then_some((true, 0)))
    }

    /// Whether it gives up its place; one that was asked for something meanwhile keeps it.
    pub(super) fn gives_way(&self) -> bool {
        let gives_way = self.gives_way_after().is_some();
        if !gives_way {
            self.verdict.store(0, Ordering::Release);
        }
        gives_way
    }

    /// Notes that the answer that is sent now is the connection's last in HTTP.
    pub(super) fn invite(&self, invitation: Invitation) {
        *self.invitation() = Some(invitation);
    }

    pub(super) fn take_invitation(&self) -> Option<Invitation> {
        self.invitation().take()
    }

    fn invitation(&self) -> MutexGuard<'_, Option<Invitation>> {
        self.invitation
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn judge(&self, verdict: Verdict) {
        let number = match verdict {
            Verdict::None => return,
            Verdict::Stop => 1,
            Verdict::Idle => 2,
            Verdict::Late => 3,
            Verdict::Evicted => 4,
            Verdict::Rests if self.verdict() != Verdict::None => return,
            Verdict::Rests => 5,
        };
        self.verdict.store(number, Ordering::Release);
        let owner = self.owner.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(owner) = owner.as_ref() {
            owner.wake_by_ref();
        }
    }

    /// A peer that is owed an answer is neither idle nor late with what it sends meanwhile: a
    /// verdict would stand where it expects the answer.
    fn overdue(&self, limits: &HttpLimits) -> Verdict {
        let socket = self.socket();
        let [started, moved] =
            [socket.since, socket.moved].map(|swept| self.clock.since(swept, limits.sweep));
        let answered = self.answered.load(Ordering::Relaxed);
        let owed = socket.scanner.requests().saturating_sub(answered);
        match (socket.scanner.framing(), owed) {
            (Framing::Head, 0) if started > limits.head => Verdict::Late,
            // The request whose body comes is one of those that are not answered.
            (Framing::Body, 0 | 1) if started > limits.body => Verdict::Late,
            (_, 0) if moved > limits.idle => Verdict::Idle,
            (Framing::Between, 0)
                if moved > limits.sweep / 2 && !self.is_asleep.load(Ordering::Relaxed) =>
            {
                Verdict::Rests
            }
            _ => Verdict::None,
        }
    }

    /// What was wrong with the bytes, when something was, and no answer says it.
    pub(super) fn violation(&self) -> Option<FramingViolation> {
        let socket = self.socket();
        socket.violation.filter(|_| !socket.in_body)
    }

    /// What was wrong with the body of the request that is to be answered now. Requests are answered
    /// one after the other, and none is read after a violation.
    pub(super) fn broken_body(&self) -> Option<FramingViolation> {
        let socket = self.socket();
        let is_last = self.answered.load(Ordering::Relaxed) + 1 == socket.scanner.requests();
        socket.violation.filter(|_| socket.in_body && is_last)
    }

    /// The socket, once nobody else has the line.
    pub(super) fn into_stream(self) -> HttpStream {
        self.socket
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner)
            .stream
    }

    fn socket(&self) -> MutexGuard<'_, Socket> {
        self.socket.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Socket {
    /// How many of these bytes the library may see.
    fn take(&mut self, bytes: &[u8], now: SweptMs) -> usize {
        self.moved = now;
        let before = self.scanner.framing();
        let taken = match self.scanner.follow(bytes) {
            Ok(()) => bytes.len(),
            Err((sound, violation)) => {
                self.violation = Some(violation);
                self.in_body = before == Framing::Body && sound == 0;
                sound
            }
        };
        // A part that goes on keeps its start; every other began with these bytes.
        if self.scanner.framing() != before {
            self.since = now;
        }
        taken
    }
}

fn number(length: usize) -> u64 {
    u64::try_from(length).expect("a length fits 64 bits")
}

/// How many of these bytes the socket has left.
pub(super) fn left_of(bytes: &[u8], written: &Poll<io::Result<usize>>) -> usize {
    match written {
        Poll::Ready(Ok(length)) => bytes.len() - length,
        Poll::Ready(Err(_)) | Poll::Pending => bytes.len(),
    }
}

/// What the HTTP library reads and writes.
#[derive(Debug)]
pub(super) struct LineIo(pub(super) Arc<Line>);

impl Read for LineIo {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        mut cursor: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let line = &self.0;
        let mut socket = line.socket();
        if socket.violation.is_some() {
            return Poll::Ready(Ok(()));
        }
        SCRATCH.with_borrow_mut(|scratch| {
            let room = cursor.remaining().min(scratch.len());
            let mut room = ReadBuf::new(scratch.get_mut(..room).expect("at most its length"));
            ready!(Pin::new(&mut socket.stream).poll_read(cx, &mut room))?;
            line.counters
                .of(DoorName::Http)
                .bytes_in
                .add(number(room.filled().len()));
            let sound = socket.take(room.filled(), line.clock.swept());
            cursor.put_slice(room.filled().get(..sound).expect("at most what was read"));
            Poll::Ready(Ok(()))
        })
    }
}

impl Write for LineIo {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let line = &self.0;
        let mut socket = line.socket();
        let written = Pin::new(&mut socket.stream).poll_write(cx, bytes);
        socket.unsent.note(left_of(bytes, &written));
        let length = ready!(written)?;
        socket.moved = line.clock.swept();
        line.counters
            .of(DoorName::Http)
            .bytes_out
            .add(number(length));
        Poll::Ready(Ok(length))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let line = &self.0;
        if !line.is_secured {
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut line.socket().stream).poll_flush(cx)
    }

    /// The socket is closed when its owner is done with it, after a last word perhaps.
    fn poll_shutdown(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// All lines of the door, to be judged.
#[derive(Debug, Default)]
pub(super) struct OpenLines {
    open: HashMap<u64, Arc<Line>>,
    next: u64,
}

impl OpenLines {
    pub(super) fn insert(&mut self, line: Arc<Line>) -> u64 {
        self.next += 1;
        self.open.insert(self.next, line);
        self.next
    }

    pub(super) fn remove(&mut self, number: u64) {
        self.open.remove(&number);
    }

    pub(super) fn judge_all(&self, verdict: Verdict) {
        for line in self.open.values() {
            line.judge(verdict);
        }
    }

    /// Has up to `count` lines give up their places, those first that have rested longest; answers how
    /// many will.
    pub(super) fn evict(&self, count: usize) -> usize {
        let going = self.open.iter().filter_map(|(&number, line)| {
            let turn = line.gives_way_after()?;
            matches!(line.verdict(), Verdict::None | Verdict::Rests).then_some((turn, number, line))
        });
        let mut going: Vec<_> = going.collect();
        going.sort_unstable_by_key(|&(turn, number, _)| (turn, number));
        going.truncate(count);
        for (_, _, line) in &going {
            line.judge(Verdict::Evicted);
        }
        going.len()
    }

    /// How many are asleep.
    #[cfg(test)]
    pub(super) fn asleep(&self) -> usize {
        let is_asleep = |line: &&Arc<Line>| line.is_asleep.load(Ordering::Relaxed);
        self.open.values().filter(is_asleep).count()
    }

    /// Sweeps: sets the clock of all lines, and judges each.
    pub(super) fn judge_overdue(&self, clock: &Clock, limits: &HttpLimits) {
        clock.sweep();
        for line in self.open.values() {
            line.judge(line.overdue(limits));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_time_is_counted_than_has_surely_passed() {
        let clock = Clock::new();
        clock.swept_ms.store(100, Ordering::Relaxed);
        let sweep = Duration::from_millis(10);
        let passed = |swept| clock.since(swept, sweep);
        // What happened after the sweep at 60 happened before that at 70.
        assert_eq!(passed(60), Duration::from_millis(30));
        assert_eq!([passed(90), passed(95), passed(100)], [Duration::ZERO; 3]);
    }
}
