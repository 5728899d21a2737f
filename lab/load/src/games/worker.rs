//! One thread of the generator: a poller and the players it owns.

use std::{
    io::{self, ErrorKind, Read as _, Write as _},
    net::Shutdown,
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};

use mio::{Events, Interest, Poll, Token, event::Event, net::TcpStream};
use turnstile_duel::{Parcel, limits::MESSAGE_BYTES_MAX};
use turnstile_stats::Histogram;

use super::player::{Fault, Player, Step};
use crate::crew::thread_time;

/// How many ready sockets are taken in one turn.
const EVENTS: usize = 1_024;

/// How often the count is shown to others, and the longest sleep.
const SHOW_INTERVAL: Duration = Duration::from_millis(100);

/// One read takes at most so much: many messages, so that those that meet are seen.
const READ_BYTES: usize = 1_024;

#[derive(Debug)]
pub(super) struct Worker<'a> {
    poll: Poll,
    events: Events,
    clients: Vec<Client>,
    desk: Desk,
    patience: Duration,
    board: &'a AtomicU64,
}

/// What a worker leaves.
#[derive(Debug)]
pub(super) struct End {
    pub(super) players: Vec<Player>,
    pub(super) times: Histogram,
    /// From the start to the last statistics.
    pub(super) took: Duration,
    /// The thread's processor time.
    pub(super) cpu: Duration,
}

/// A player on its connection.
#[derive(Debug)]
struct Client {
    player: Player,
    stream: TcpStream,
    /// The beginning of a message whose end has not come.
    rest: Vec<u8>,
    /// When its game began.
    began: Duration,
}

/// What all clients of a thread share.
#[derive(Debug)]
struct Desk {
    start: Instant,
    times: Histogram,
    /// When anything was heard last, and when a game was counted last.
    heard: Duration,
    counted: Duration,
    /// Players who still play.
    playing: usize,
    games: u64,
}

impl<'a> Worker<'a> {
    pub(super) fn new(
        share: Vec<(Player, std::net::TcpStream)>,
        patience: Duration,
        board: &'a AtomicU64,
    ) -> io::Result<Self> {
        let poll = Poll::new()?;
        let mut clients = Vec::with_capacity(share.len());
        for (number, (player, stream)) in share.into_iter().enumerate() {
            let mut stream = TcpStream::from_std(stream);
            poll.registry()
                .register(&mut stream, Token(number), Interest::READABLE)?;
            clients.push(Client {
                player,
                stream,
                rest: Vec::with_capacity(MESSAGE_BYTES_MAX),
                began: Duration::ZERO,
            });
        }
        let desk = Desk {
            start: Instant::now(),
            times: Histogram::new(),
            heard: Duration::ZERO,
            counted: Duration::ZERO,
            playing: clients.len(),
            games: 0,
        };
        Ok(Self {
            poll,
            events: Events::with_capacity(EVENTS),
            clients,
            desk,
            patience,
            board,
        })
    }

    /// Lets all play to the end, or until nothing comes any more.
    pub(super) fn run(mut self) -> io::Result<End> {
        let cpu = thread_time();
        self.desk.start = Instant::now();
        for client in &mut self.clients {
            let greeting = client.player.greet();
            client.said(greeting, &mut self.desk);
        }
        while self.desk.playing > 0 {
            match self.poll.poll(&mut self.events, Some(SHOW_INTERVAL)) {
                Ok(()) => {}
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
            for event in &self.events {
                let Token(number) = event.token();
                self.clients[number].on_ready(event, &mut self.desk);
            }
            self.board.store(self.desk.games, Ordering::Relaxed);
            if self.desk.start.elapsed() > self.desk.heard + self.patience {
                for client in &mut self.clients {
                    client.end(Fault::Lost, &mut self.desk);
                }
            }
        }
        Ok(End {
            players: self
                .clients
                .into_iter()
                .map(|client| client.player)
                .collect(),
            times: self.desk.times,
            took: self.desk.counted,
            cpu: thread_time().saturating_sub(cpu),
        })
    }
}

impl Client {
    /// Reads until nothing more can be there: what comes after this player has spoken makes the
    /// socket ready anew. What a mark holds back does not, and an end that came with the last
    /// bytes does not either.
    fn on_ready(&mut self, event: &Event, desk: &mut Desk) {
        let to_the_end = event.is_read_closed() || event.is_error();
        let mut buffer = [0; READ_BYTES];
        while self.is_playing() {
            match self.stream.read(&mut buffer) {
                Ok(0) => self.end(Fault::Lost, desk),
                Ok(read) => {
                    desk.heard = desk.start.elapsed();
                    let spoke = self.hear(&buffer[..read], desk);
                    if spoke && read < READ_BYTES && !to_the_end {
                        return;
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_lost) => self.end(Fault::Lost, desk),
            }
        }
    }

    const fn is_playing(&self) -> bool {
        !self.player.is_through() && self.player.fault.is_none()
    }

    /// Takes what one read gave: one message, where the arena keeps them apart. Whether the player
    /// has spoken after the last of it.
    fn hear(&mut self, bytes: &[u8], desk: &mut Desk) -> bool {
        self.rest.extend_from_slice(bytes);
        let (mut used, mut messages, mut spoke) = (0, 0, false);
        while self.player.fault.is_none() && used < self.rest.len() {
            messages += 1;
            match self.player.hear(&self.rest[used..]) {
                Err(fault) => self.end(fault, desk),
                Ok(None) => break,
                Ok(Some((step, length))) => {
                    used += length;
                    spoke = step.speaks();
                    self.step(step, desk);
                }
            }
        }
        // What is left is the beginning of one more.
        self.player.met += u64::max(messages, 1) - 1;
        self.rest.drain(..used);
        spoke && self.rest.is_empty()
    }

    fn step(&mut self, step: Step, desk: &mut Desk) {
        match step {
            Step::Waits => {}
            Step::Says(parcel) => self.said(parcel, desk),
            Step::SaysTwice([first, second]) => {
                self.said(first, desk);
                self.said(second, desk);
            }
            Step::Counted(next) => {
                let game = desk.heard.saturating_sub(self.began);
                desk.times
                    .record(u64::try_from(game.as_nanos()).expect("a game ends within 584 years"));
                self.began = desk.heard;
                desk.counted = desk.heard;
                desk.games += 1;
                desk.playing -= usize::from(self.player.is_through());
                if let Some(parcel) = next {
                    self.said(parcel, desk);
                }
            }
        }
    }

    /// Sends one message in one write. A socket that does not take it whole is broken: the arena
    /// has read everything before.
    fn said(&mut self, parcel: Parcel, desk: &mut Desk) {
        if !self.is_playing() {
            return;
        }
        let written = self.stream.write(parcel.bytes());
        if !written.is_ok_and(|written| written == parcel.bytes().len()) {
            self.end(Fault::Lost, desk);
        }
    }

    fn end(&mut self, fault: Fault, desk: &mut Desk) {
        if self.is_playing() {
            self.player.fault = Some(fault);
            desk.playing -= 1;
            // So that the arena does not wait, nor the opponent. It may be closed already.
            self.stream.shutdown(Shutdown::Both).ok();
        }
    }
}
