//! A small arena on real sockets, a thread for each pair: honest, or with one fault.

use std::{
    collections::BTreeMap,
    io::Read as _,
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
};

use rustix::net::{SendFlags, send};
use turnstile_duel::{Claim, Duel, DuelSeat, Entry, Heard, Parcel, Triple};

/// What is wrong with an arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    None,
    /// The third game of a pair is counted twice.
    CountsTwice,
    /// The third game of a pair is not counted.
    CountsNone,
    /// The third game of a pair is counted for the loser.
    CountsOther,
    /// The second game of a pair tells another cell than was played.
    OtherCell,
    /// The second player is told the start and the first cell in one write.
    Meets,
    /// A pair is left after its second game.
    Leaves,
    /// Nobody is told anything.
    Silent,
}

/// An arena that is open until the process ends.
#[derive(Debug)]
pub(crate) struct Arena {
    pub(crate) address: SocketAddr,
}

#[derive(Debug)]
struct Hall {
    fault: Fault,
    /// Who waits, by own number and opponent's.
    lobby: Mutex<BTreeMap<(u32, u32), TcpStream>>,
    /// Played, won, lost.
    scores: Mutex<BTreeMap<u32, [u64; 3]>>,
}

impl Arena {
    pub(crate) fn open(fault: Fault) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let hall = Arc::new(Hall {
            fault,
            lobby: Mutex::default(),
            scores: Mutex::default(),
        });
        thread::spawn(move || {
            for stream in listener.incoming() {
                let hall = Arc::clone(&hall);
                thread::spawn(move || hall.greet(stream.unwrap()));
            }
        });
        Self { address }
    }
}

impl Hall {
    fn greet(&self, mut stream: TcpStream) -> Option<()> {
        stream.set_nodelay(true).unwrap();
        let (mut entry, mut bytes) = (Entry::default(), Vec::new());
        let greeting = loop {
            fill(&mut stream, &mut bytes)?;
            if let Some((greeting, length)) = entry.hear(&bytes).unwrap() {
                assert_eq!(length, bytes.len());
                break greeting;
            }
        };
        let (own, opponent) = (greeting.own.0, greeting.opponent.0);
        let mut lobby = self.lobby.lock().unwrap();
        let Some(first) = lobby.remove(&(opponent, own)) else {
            lobby.insert((own, opponent), stream);
            return None;
        };
        drop(lobby);
        if self.fault == Fault::Silent {
            let mut bytes = Vec::new();
            return fill(&mut stream, &mut bytes);
        }
        Pair {
            hall: self,
            names: [opponent, own],
            streams: [first, stream],
            unread: Default::default(),
            duel: Duel::default(),
            games: 0,
            held: None,
        }
        .play()
    }

    fn count(&self, name: u32, won: bool, times: u64) {
        let mut scores = self.scores.lock().unwrap();
        let own = scores.entry(name).or_default();
        own[0] += times;
        own[if won { 1 } else { 2 }] += times;
    }

    fn triple(&self, name: u32) -> Triple {
        let [played, won, lost] = self.scores.lock().unwrap()[&name];
        Triple::new(played, won, lost).unwrap()
    }
}

struct Pair<'a> {
    hall: &'a Hall,
    names: [u32; 2],
    streams: [TcpStream; 2],
    unread: [Vec<u8>; 2],
    duel: Duel,
    /// Games that are over.
    games: u64,
    held: Option<Parcel>,
}

impl Pair<'_> {
    /// Until either goes, or the fault says so.
    fn play(&mut self) -> Option<()> {
        loop {
            self.push()?;
            if self.hall.fault == Fault::Leaves && self.games == 2 {
                return None;
            }
            match self.hear(self.duel.turn())? {
                Heard::Done => self.hear(self.duel.turn().other()).map(|_| self.tell())?,
                Heard::Move(play) if play.claim == Claim::Ordinary => self.duel.accept(),
                Heard::Move(_) => self.duel.accept_last(),
            }
        }
    }

    fn hear(&mut self, seat: DuelSeat) -> Option<Heard> {
        let unread = &mut self.unread[seat.index()];
        loop {
            if let Some((heard, length)) = self.duel.hear(seat, unread).unwrap() {
                unread.drain(..length);
                return Some(heard);
            }
            fill(&mut self.streams[seat.index()], unread)?;
        }
    }

    fn tell(&mut self) {
        self.games += 1;
        let is_third = self.games == 3;
        let times = match self.hall.fault {
            Fault::CountsTwice if is_third => 2,
            Fault::CountsNone if is_third => 0,
            _ => 1,
        };
        let swaps = is_third && self.hall.fault == Fault::CountsOther;
        for seat in DuelSeat::BOTH {
            let won = (seat != self.duel.turn()) != swaps;
            self.hall.count(self.names[seat.index()], won, times);
        }
        let [first, second] = self.names.map(|name| self.hall.triple(name));
        self.duel.tell(first, second);
    }

    fn push(&mut self) -> Option<()> {
        while let Some((to, parcel)) = self.duel.next_parcel() {
            let mut bytes = parcel.bytes().to_vec();
            if self.hall.fault == Fault::Meets && self.games == 0 && to == DuelSeat::Second {
                match self.held.take() {
                    None if parcel.is_marked() => {
                        self.held = Some(parcel);
                        continue;
                    }
                    None => {}
                    Some(held) => bytes.insert(0, held.bytes()[0]),
                }
            }
            if self.hall.fault == Fault::OtherCell && self.games == 1 && bytes == [3] {
                bytes = vec![4];
            }
            let mark = if parcel.is_marked() {
                SendFlags::OOB
            } else {
                SendFlags::empty()
            };
            let sent = send(
                &self.streams[to.index()],
                &bytes,
                SendFlags::NOSIGNAL | mark,
            );
            sent.ok().filter(|&sent| sent == bytes.len())?;
        }
        Some(())
    }
}

/// Reads once; nothing when the peer is gone.
fn fill(stream: &mut TcpStream, bytes: &mut Vec<u8>) -> Option<()> {
    let mut buffer = [0; 64];
    let read = stream.read(&mut buffer).ok().filter(|&read| read > 0)?;
    bytes.extend_from_slice(&buffer[..read]);
    Some(())
}
