//! A generator of our own, for requests that depend on earlier answers: an order is cancelled by
//! the number that the server gave it.
//!
//! One thread holds all connections. Like redis-benchmark it sends as many requests as may be under
//! way in one write, and the next ones when all of these are answered.

mod flow;
mod journeys;
mod matches;
mod orders;
mod world;

use std::{
    fmt,
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Result, bail, ensure};
use rustix::event::{Timespec, epoll};
use turnstile_client::resp::{self, Limits, Token};

use super::{Load, Tally, us_each};
use crate::{
    dice::Dice,
    pin::{CLIENT_CORE, pin},
    probe::joined,
    process,
    server::Server,
};

pub(crate) use journeys::{Journey, Managers, Places, REQUESTS, done, put_line, travel};
use journeys::{Traveler, Tripper};
use matches::Host;
pub(crate) use matches::REQUESTS as REQUESTS_OF_A_GAME;
pub(crate) use orders::Order;
use orders::Trader;
pub(crate) use world::{LinesClient, World, started};

/// Bytes of one read: all answers to one write fit.
const READ_BYTES: usize = 64 << 10;

/// A server that says nothing for so long says nothing any more.
const PATIENCE: Timespec = Timespec {
    tv_sec: 30,
    tv_nsec: 0,
};

/// Connections that are looked at together.
const EVENTS: usize = 256;

/// What all connections say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Speech {
    /// Bookings over RESP, each of another room.
    Bookings,
    /// Orders and cancels, as [`flow`] has them.
    Orders(Order),
    /// Transactions of nine requests over the lines door, one request under way.
    Journeys(Journey),
    /// Trips by flight and car to a room, each in one command over RESP.
    Itineraries(Places),
    /// Games over RESP, one at a table for each request that may be under way.
    Matches,
}

/// One side of a conversation.
trait Talk {
    /// Appends the next request.
    fn ask(&mut self, out: &mut Vec<u8>);

    /// Takes the first answer, if it is whole.
    fn hear(&mut self, bytes: &[u8]) -> Result<Option<Heard>>;

    /// Whether it may end here, once it has asked for its share.
    fn may_end(&self) -> bool {
        true
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Heard {
    /// The bytes of the answer.
    length: usize,
    /// Whether it was done, and not refused.
    accepted: bool,
}

/// Makes what the requests will name.
pub(super) fn prepare(speech: Speech, server: &Server, load: Load) -> Result<()> {
    match speech {
        Speech::Bookings | Speech::Matches => Ok(()),
        Speech::Orders(_) => orders::prepare(&mut server.connect()?, load.connections),
        Speech::Journeys(_) | Speech::Itineraries(_) => World::make(server.lines()),
    }
}

pub(super) fn drive(speech: Speech, server: &Server, load: Load) -> Result<Tally> {
    let address = match speech {
        Speech::Bookings | Speech::Itineraries(_) | Speech::Matches => server.resp(),
        Speech::Orders(order) => order.address(server),
        Speech::Journeys(_) => server.lines(),
    };
    let callers = thread::spawn(move || {
        pin(CLIENT_CORE)?;
        match speech {
            Speech::Bookings => told(call(address, load, Booker::new)),
            Speech::Orders(order) => told(call(address, load, |number| Trader::new(order, number))),
            Speech::Journeys(journey) => {
                told(call(address, load, |number| Traveler::new(journey, number)))
            }
            Speech::Itineraries(places) => {
                told(call(address, load, |number| Tripper::new(places, number)))
            }
            Speech::Matches => told(call(address, load, |number| Host::new(number, load.depth))),
        }
    });
    joined(callers)
}

fn told<T>(called: Result<(Tally, Vec<T>)>) -> Result<Tally> {
    called.map(|(tally, _talks)| tally)
}

/// Has the whole load done, over connections that are numbered from 0; what they talked is given back.
fn call<T: Talk>(
    address: SocketAddr,
    load: Load,
    talk: impl Fn(u32) -> T,
) -> Result<(Tally, Vec<T>)> {
    let (requests, surplus) = (
        load.requests / load.connections,
        load.requests % load.connections,
    );
    let mut callers = (0..load.connections)
        .map(|number| {
            Caller::connect(
                address,
                talk(number),
                requests + u32::from(number < surplus),
            )
        })
        .collect::<Result<Vec<_>>>()?;
    let poll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    for (place, caller) in (0..).zip(&callers) {
        let data = epoll::EventData::new_u64(place);
        epoll::add(&poll, &caller.stream, data, epoll::EventFlags::IN)?;
    }
    let (begin, cpu) = (Instant::now(), process::cpu_of_this_thread());
    for caller in &mut callers {
        caller.ask(load.depth)?;
    }
    let mut busy = load.connections;
    let mut events = Vec::with_capacity(EVENTS);
    let mut buffer = vec![0; READ_BYTES];
    while busy > 0 {
        events.clear();
        epoll::wait(
            &poll,
            rustix::buffer::spare_capacity(&mut events),
            Some(&PATIENCE),
        )?;
        ensure!(!events.is_empty(), "the server does not answer");
        for event in &events {
            let caller = &mut callers[usize::try_from(event.data.u64())?];
            if caller.go_on(load.depth, &mut buffer)? {
                busy -= 1;
            }
        }
    }
    let (elapsed, cpu) = (begin.elapsed(), process::cpu_of_this_thread() - cpu);
    let tally = tally(&callers, elapsed, cpu);
    let talks = callers.into_iter().map(|caller| caller.talk);
    Ok((tally, talks.collect()))
}

fn tally<T>(callers: &[Caller<T>], elapsed: Duration, cpu: Duration) -> Tally {
    let requests = callers.iter().map(|caller| caller.asked).sum();
    Tally {
        requests,
        accepted: Some(callers.iter().map(|caller| caller.accepted).sum()),
        rate: f64::from(requests) / elapsed.as_secs_f64(),
        client_us: us_each(cpu, requests),
    }
}

/// One connection.
struct Caller<T> {
    stream: TcpStream,
    talk: T,
    out: Vec<u8>,
    /// The beginning of an answer that is not whole.
    partial: Vec<u8>,
    /// Requests of its share that are not yet sent.
    left: u32,
    asked: u32,
    under_way: u32,
    accepted: u32,
}

impl<T: Talk> Caller<T> {
    fn connect(address: SocketAddr, talk: T, left: u32) -> Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream,
            talk,
            out: Vec::new(),
            partial: Vec::new(),
            left,
            asked: 0,
            under_way: 0,
            accepted: 0,
        })
    }

    fn ask(&mut self, depth: u32) -> Result<()> {
        self.under_way = if self.left > 0 {
            depth.min(self.left)
        } else {
            1
        };
        self.left -= self.under_way.min(self.left);
        self.asked += self.under_way;
        self.out.clear();
        for _ in 0..self.under_way {
            self.talk.ask(&mut self.out);
        }
        // All earlier ones are answered: the socket has room for these.
        self.stream.write_all(&self.out)?;
        Ok(())
    }

    /// Reads what has come, and asks again when everything is answered. Says whether this was the
    /// last answer of all.
    fn go_on(&mut self, depth: u32, buffer: &mut [u8]) -> Result<bool> {
        let length = self.stream.read(buffer)?;
        ensure!(length > 0, "the server hung up");
        if self.partial.is_empty() {
            let used = self.hear_all(&buffer[..length])?;
            self.partial.extend_from_slice(&buffer[used..length]);
        } else {
            let mut whole = std::mem::take(&mut self.partial);
            whole.extend_from_slice(&buffer[..length]);
            let used = self.hear_all(&whole)?;
            whole.drain(..used);
            self.partial = whole;
        }
        if self.under_way > 0 {
            return Ok(false);
        }
        ensure!(self.partial.is_empty(), "an answer to nothing");
        if self.left == 0 && self.talk.may_end() {
            return Ok(true);
        }
        self.ask(depth)?;
        Ok(false)
    }

    /// Takes all whole answers; returns their bytes.
    fn hear_all(&mut self, bytes: &[u8]) -> Result<usize> {
        let mut used = 0;
        while self.under_way > 0
            && let Some(heard) = self.talk.hear(&bytes[used..])?
        {
            used += heard.length;
            self.accepted += u32::from(heard.accepted);
            self.under_way -= 1;
        }
        Ok(used)
    }
}

/// Books rooms, as redis-benchmark does elsewhere.
struct Booker {
    dice: Dice,
}

impl Booker {
    fn new(number: u32) -> Self {
        Self {
            dice: Dice::new(u64::from(number) << 32),
        }
    }
}

impl Talk for Booker {
    fn ask(&mut self, out: &mut Vec<u8>) {
        let mut room = *b"room:000000000000";
        let mut number = self.dice.below(100_000_000_u32);
        for digit in room.iter_mut().rev().take(8) {
            *digit += u8::try_from(number % 10).expect("a digit");
            number /= 10;
        }
        resp::put_command(out, &crate::booking::request(&room));
    }

    fn hear(&mut self, bytes: &[u8]) -> Result<Option<Heard>> {
        Ok(resp_answer(bytes)?.map(|(heard, _first)| heard))
    }
}

/// An answer, and the number of the order that it names first; none when it is not whole.
type Answer = Option<(Heard, Option<u64>)>;

/// Reads an answer over RESP2, and the number behind its 1, if it was done.
fn resp_answer(bytes: &[u8]) -> Result<Answer> {
    let limits = &Limits::REPLY;
    let Some((first, length)) = resp::reply(bytes, limits)? else {
        return Ok(None);
    };
    let mut heard = Heard {
        length,
        accepted: false,
    };
    let Token::Array(_) = first else {
        bail!("an error: {}", bytes[..length].escape_ascii());
    };
    let mut at = 0;
    let mut next = || -> Result<Option<Token<'_>>> {
        let token = resp::token(&bytes[at..length], limits)?;
        Ok(token.map(|(token, length)| {
            at += length;
            token
        }))
    };
    next()?;
    heard.accepted = next()? == Some(Token::Integer(1));
    let order = match next()? {
        Some(Token::Integer(order)) if heard.accepted => u64::try_from(order).ok(),
        _ => None,
    };
    Ok(Some((heard, order)))
}

impl fmt::Display for Speech {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bookings => f.write_str("ROOMS.BOOK"),
            Self::Orders(order) => order.fmt(f),
            Self::Journeys(journey) => write!(f, "nine requests, {journey}"),
            Self::Itineraries(places) => write!(f, "TRAVEL.BOOK, {places}"),
            Self::Matches => f.write_str("GAMES.BEGIN and 7 x GAMES.MOVE"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Answer, Booker, Heard, Talk as _, resp_answer};

    #[test]
    fn an_answer_is_taken_when_it_is_whole() {
        let heard = |length, accepted| Heard { length, accepted };
        let rows: [(&[u8], Answer); 4] = [
            (
                b"*3\r\n:1\r\n:17\r\n$1\r\n9\r\n*1",
                Some((heard(20, true), Some(17))),
            ),
            (
                b"*2\r\n:0\r\n$4\r\nfull\r\n",
                Some((heard(18, false), None)),
            ),
            (b"*3\r\n:1\r\n:17\r\n$1\r\n9", None),
            (b"", None),
        ];
        for (bytes, expected) in rows {
            assert_eq!(resp_answer(bytes).unwrap(), expected);
        }
        assert!(resp_answer(b"-ERR no\r\n").is_err());
    }

    #[test]
    fn every_booking_is_as_long_as_the_first() {
        let mut booker = Booker::new(7);
        let mut asked = Vec::new();
        booker.ask(&mut asked);
        let (first, length) = (asked.clone(), asked.len());
        assert!(first.ends_with(b"\r\n$12\r\n234123412346\r\n"));
        booker.ask(&mut asked);
        assert_eq!(asked.len(), 2 * length);
        assert_ne!(asked[length..], first);
    }
}
