//! Two players on the ancestor's wire who play the same game over and over, and come back when the
//! arena was killed.

use std::{
    io::{ErrorKind, Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    time::{Duration, Instant},
};

use crate::travel::glance;

/// How long one message may take: the scores may be away.
const PATIENCE: Duration = Duration::from_secs(60);

/// How often who waits for a message looks whether the other's connection is still there.
const GLANCE: Duration = Duration::from_millis(20);

/// The first player's cells are odd, and win with the last.
const LAST_CELL: u8 = 7;

/// Played, won and lost.
type Triple = [u64; 3];

pub(crate) struct Pair {
    /// Where each of them plays: at one arena, or at two nodes of one cluster.
    arenas: [SocketAddr; 2],
    numbers: [u32; 2],
    /// What each was told last.
    told: [Triple; 2],
    /// Matches that may have begun since then: each counts at most once.
    open: u64,
    /// Times that the arena went before the first move: a match that had begun then may be aborted, and count
    /// nowhere.
    unmoved: u64,
}

/// The arena has gone.
struct Gone;

impl Pair {
    pub(crate) const fn new(arenas: [SocketAddr; 2], numbers: [u32; 2]) -> Self {
        Self {
            arenas,
            numbers,
            told: [[0; 3]; 2],
            open: 0,
            unmoved: 0,
        }
    }

    /// How many games of this pair the scores have counted.
    pub(crate) const fn counted(&self) -> u64 {
        self.told[0][0]
    }

    /// How many matches of this pair at most have begun and did not count.
    pub(crate) const fn unmoved(&self) -> u64 {
        self.unmoved
    }

    /// Plays until it is to stop, and stops when both were told of a game and before the next.
    pub(crate) fn play(&mut self, stops: &AtomicBool, told: &AtomicU64) {
        loop {
            match self.sit(stops, told) {
                Ok(()) => return,
                Err(Gone) => glance(),
            }
        }
    }

    /// Plays on two connections until the arena goes, or it is to stop.
    fn sit(&mut self, stops: &AtomicBool, told: &AtomicU64) -> Result<(), Gone> {
        let [one, other] = self.numbers;
        let mut seats = [
            Seat::at(self.arenas[0], one, other)?,
            Seat::at(self.arenas[1], other, one)?,
        ];
        // The match begins with the second greeting, if neither is refused; later ones begin with
        // their first move.
        self.open += 1;
        self.unmoved += 1;
        let mut has_moved = false;
        let starts = [hear(&mut seats, 0)?, hear(&mut seats, 1)?];
        let mut mover = usize::from(starts[1] == [1]);
        assert_eq!([&*starts[mover], &*starts[1 - mover]], [&[1][..], &[2][..]]);
        loop {
            for cell in 1..=LAST_CELL {
                seats[mover].say(&[if cell == LAST_CELL { 8 } else { 4 }, cell])?;
                assert_eq!(hear(&mut seats, 1 - mover)?, [cell]);
                self.unmoved -= u64::from(!std::mem::replace(&mut has_moved, true));
                mover = 1 - mover;
            }
            for seat in &mut seats {
                seat.say(b"d")?;
            }
            let triples = [triple(&hear(&mut seats, 0)?), triple(&hear(&mut seats, 1)?)];
            self.take(triples, 1 - mover);
            told.fetch_add(1, Ordering::Relaxed);
            if stops.load(Ordering::Relaxed) {
                return Ok(());
            }
            self.open += 1;
        }
    }

    /// What was told before still stands, this game is in it, and no more than may have begun.
    fn take(&mut self, triples: [Triple; 2], winner: usize) {
        let told = self.told;
        for (seat, ([played, won, lost], before)) in triples.into_iter().zip(told).enumerate() {
            let new = played - before[0];
            assert!((1..=self.open).contains(&new), "{before:?} {triples:?}");
            assert_eq!(played, won + lost);
            let own = [won, lost][usize::from(seat != winner)];
            let own_before = before[1 + usize::from(seat != winner)];
            assert!(own > own_before, "{before:?} {triples:?}");
        }
        let [[played, won, lost], other] = triples;
        assert_eq!(other, [played, lost, won], "two who play only each other");
        self.told = triples;
        self.open = 0;
    }
}

/// A client that reads one message with each `recv`.
struct Seat(TcpStream);

impl Seat {
    fn at(arena: SocketAddr, own: u32, opponent: u32) -> Result<Self, Gone> {
        let stream = TcpStream::connect(arena).map_err(|_refused| Gone)?;
        stream.set_nodelay(true).expect("a socket");
        stream.set_read_timeout(Some(GLANCE)).expect("a socket");
        let mut seat = Self(stream);
        seat.say(format!("\u{1}{own}:{opponent}:").as_bytes())?;
        Ok(seat)
    }

    fn say(&mut self, bytes: &[u8]) -> Result<(), Gone> {
        self.0.write_all(bytes).map_err(|_broken| Gone)
    }

    /// Whether its arena has closed it, or has died.
    fn has_ended(&self) -> bool {
        match self.0.peek(&mut [0]) {
            Ok(waiting) => waiting == 0,
            Err(failure) => failure.kind() != ErrorKind::WouldBlock,
        }
    }
}

/// The next message to one of the two. A node says nothing of a player whose own node has died or is still
/// starting: both are gone when either connection is.
fn hear(seats: &mut [Seat; 2], who: usize) -> Result<Vec<u8>, Gone> {
    let end = Instant::now() + PATIENCE;
    let mut message = [0; 64];
    loop {
        match seats[who].0.read(&mut message) {
            Ok(0) => return Err(Gone),
            Ok(length) => return Ok(message[..length].to_vec()),
            Err(failure) if failure.kind() == ErrorKind::WouldBlock => {
                if seats[1 - who].has_ended() {
                    return Err(Gone);
                }
                let in_time = Instant::now() < end;
                assert!(in_time, "the arena says nothing for {PATIENCE:?}");
            }
            Err(_broken) => return Err(Gone),
        }
    }
}

fn triple(message: &[u8]) -> Triple {
    let text = str::from_utf8(message).expect("digits and colons");
    let counts = text.split_terminator(':').map(|count| count.parse());
    let counts: Result<Vec<u64>, _> = counts.collect();
    let counts = counts.unwrap_or_else(|_no_count| panic!("no statistics: {text}"));
    counts.try_into().expect("three counts")
}
