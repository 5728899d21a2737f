//! The least that an arena can do: each message is passed on, and nobody decides, counts or writes
//! anything down. What it costs is what the sockets cost.

use std::{
    collections::HashMap,
    io::Read as _,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use anyhow::{Result, ensure};
use mio::{
    Events, Interest, Poll, Token,
    net::{TcpListener, TcpStream},
};
use rustix::net::{SendFlags, send, sockopt::set_tcp_quickack};
use turnstile_duel::{Claim, Duel, DuelSeat, Entry, Heard, Triple};

use crate::{
    pin::{SERVER_CORE, pin},
    probe::joined,
    process::cpu_of_this_thread,
};

/// The poll's name for the door; players are named by their places, from 0.
const DOOR: Token = Token(usize::MAX);

/// How often it looks whether it is to end.
const LOOK: Duration = Duration::from_millis(20);

const EVENTS: usize = 1_024;
const READ_BYTES: usize = 64;

/// A running relay, on the server's core.
#[derive(Debug)]
pub(crate) struct MessageRelay {
    pub(crate) address: SocketAddr,
    ends: Arc<AtomicBool>,
    thread: JoinHandle<Result<Duration>>,
}

impl MessageRelay {
    pub(crate) fn start() -> Result<Self> {
        let mut listener = TcpListener::bind("127.0.0.1:0".parse()?)?;
        let address = listener.local_addr()?;
        let poll = Poll::new()?;
        poll.registry()
            .register(&mut listener, DOOR, Interest::READABLE)?;
        let ends = Arc::new(AtomicBool::new(false));
        let room = RelayServer {
            poll,
            listener,
            guests: Vec::new(),
            waiting: HashMap::new(),
            tables: Vec::new(),
        };
        let ending = Arc::clone(&ends);
        let thread = thread::spawn(move || {
            pin(SERVER_CORE)?;
            room.run(&ending)
        });
        Ok(Self {
            address,
            ends,
            thread,
        })
    }

    /// Ends it, and returns the CPU time that it has used.
    pub(crate) fn end(self) -> Result<Duration> {
        self.ends.store(true, Ordering::Relaxed);
        joined(self.thread)
    }
}

struct RelayServer {
    poll: Poll,
    listener: TcpListener,
    guests: Vec<RelayClient>,
    /// Who has greeted and waits for the opponent, by own number.
    waiting: HashMap<u32, usize>,
    tables: Vec<Table>,
}

struct RelayClient {
    stream: TcpStream,
    entry: Entry,
    unread: Vec<u8>,
    seat: Option<(usize, DuelSeat)>,
}

struct Table {
    duel: Duel,
    places: [usize; 2],
    /// Played, won and lost.
    counts: [[u64; 3]; 2],
}

impl RelayServer {
    fn run(mut self, ends: &AtomicBool) -> Result<Duration> {
        let begun = cpu_of_this_thread();
        let mut events = Events::with_capacity(EVENTS);
        while !ends.load(Ordering::Relaxed) {
            self.poll.poll(&mut events, Some(LOOK))?;
            for event in &events {
                match event.token() {
                    DOOR => self.accept()?,
                    Token(place) => self.serve(place)?,
                }
            }
        }
        Ok(cpu_of_this_thread() - begun)
    }

    fn accept(&mut self) -> Result<()> {
        while let Ok((mut stream, _)) = self.listener.accept() {
            stream.set_nodelay(true)?;
            let token = Token(self.guests.len());
            let registry = self.poll.registry();
            registry.register(&mut stream, token, Interest::READABLE)?;
            self.guests.push(RelayClient {
                stream,
                entry: Entry::default(),
                unread: Vec::with_capacity(READ_BYTES),
                seat: None,
            });
        }
        Ok(())
    }

    fn serve(&mut self, place: usize) -> Result<()> {
        let guest = &mut self.guests[place];
        let mut bytes = [0; READ_BYTES];
        let Ok(read @ 1..) = guest.stream.read(&mut bytes) else {
            return Ok(());
        };
        guest.unread.extend_from_slice(&bytes[..read]);
        if guest.seat.is_none() {
            self.greet(place)?;
        }
        while let Some((number, seat)) = self.guests[place].seat {
            let guest = &mut self.guests[place];
            let table = &mut self.tables[number];
            let heard = table.duel.hear(seat, &guest.unread)?;
            let Some((heard, length)) = heard else { break };
            guest.unread.drain(..length);
            match heard {
                Heard::Move(play) if play.claim == Claim::Ordinary => table.duel.accept(),
                Heard::Move(_) => {
                    table.duel.accept_last();
                    set_tcp_quickack(&guest.stream, true)?;
                }
                Heard::Done => table.tell(),
            }
            self.say(number)?;
        }
        Ok(())
    }

    fn greet(&mut self, place: usize) -> Result<()> {
        let guest = &mut self.guests[place];
        let Some((greeting, length)) = guest.entry.hear(&guest.unread)? else {
            return Ok(());
        };
        guest.unread.drain(..length);
        let Some(first) = self.waiting.remove(&greeting.opponent.0) else {
            self.waiting.insert(greeting.own.0, place);
            return Ok(());
        };
        let number = self.tables.len();
        for (place, seat) in [first, place].into_iter().zip(DuelSeat::BOTH) {
            self.guests[place].seat = Some((number, seat));
        }
        self.tables.push(Table {
            duel: Duel::default(),
            places: [first, place],
            counts: [[0; 3]; 2],
        });
        self.say(number)
    }

    fn say(&mut self, number: usize) -> Result<()> {
        let table = &mut self.tables[number];
        while let Some((to, parcel)) = table.duel.next_parcel() {
            let mark = if parcel.is_marked() {
                SendFlags::OOB
            } else {
                SendFlags::empty()
            };
            let stream = &self.guests[table.places[to.index()]].stream;
            let sent = send(stream, parcel.bytes(), SendFlags::NOSIGNAL | mark);
            ensure!(
                sent.is_ok_and(|sent| sent == parcel.bytes().len()),
                "a player does not read"
            );
        }
        Ok(())
    }
}

impl Table {
    /// Counts the game for whoever does not begin the next, once both are done.
    fn tell(&mut self) {
        if !self.duel.awaits_triples() {
            return;
        }
        let winner = self.duel.turn().other();
        for seat in DuelSeat::BOTH {
            let [played, won, lost] = &mut self.counts[seat.index()];
            *played += 1;
            *(if seat == winner { won } else { lost }) += 1;
        }
        let [first, second] = self.counts.map(|[played, won, lost]| {
            Triple::new(played, won, lost).expect("what is played is won or lost")
        });
        self.duel.tell(first, second);
    }
}
