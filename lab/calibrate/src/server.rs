//! A server of known delays on a thread of this process, which writes down what it really did.

use std::{
    fs,
    io::{self, ErrorKind, Read as _, Write as _},
    net::{Ipv4Addr, SocketAddr},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::sync_channel,
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};

use mio::{
    Events, Interest, Poll, Token, Waker,
    net::{TcpListener, TcpStream},
};
use rustix::{process::Pid, thread::gettid};
use turnstile_load::{
    alarm::Alarms,
    pace::{Vigil, Wait},
    priority, processors,
};

use crate::{
    delay::{Clockwork, Delay},
    wire::{self, FRAME_BYTES, Wire},
};

const LISTENER: Token = Token(usize::MAX - 2);
const TIMER: Token = Token(usize::MAX - 3);
const BELL: Token = Token(usize::MAX - 4);

/// It waits for the last part of a delay awake, for being woken takes time, too.
const AWAKE_NANOS: u64 = 100_000;

/// What is read from a socket at once: more than a deep pipeline sends.
const READ_BYTES: usize = 64 * 1024;

/// The longest part of a request that is kept until the rest of it comes.
const REST_BYTES_MAX: usize = 8 * 1024;

/// How a server is set up.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    pub delay: Delay,
    pub wire: Wire,
    /// The processor that it keeps to.
    pub core: Option<usize>,
    /// So many answers are written down.
    pub kept: usize,
    /// How it waits; it has real-time priority where that is allowed and it sleeps at all.
    pub wait: Wait,
}

impl Setup {
    /// Answers at once, and writes nothing down.
    #[must_use]
    pub const fn at_once(wire: Wire, core: Option<usize>) -> Self {
        Self {
            delay: Delay::None,
            wire,
            core,
            kept: 0,
            wait: Wait::Asleep,
        }
    }
}

/// The server, until it is asked to stop.
#[derive(Debug)]
pub struct Server {
    pub address: SocketAddr,
    /// What its instants are counted from.
    pub epoch: Instant,
    stop: Arc<AtomicBool>,
    bell: Waker,
    task: Pid,
    thread: JoinHandle<io::Result<Record>>,
}

/// One answer; instants in nanoseconds since the server's epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Served {
    pub number: u64,
    /// When the server last looked whether anything had come, and this had not.
    pub looked: u64,
    pub came: u64,
    /// When it was to be answered.
    pub due: u64,
    /// When it was.
    pub left: u64,
}

/// What a server has done.
#[derive(Clone, Debug, Default)]
pub struct Record {
    /// The first so many answers, in the order in which they left.
    pub served: Vec<Served>,
    /// All answers.
    pub answers: u64,
}

impl Server {
    /// Listens at a port of the loopback.
    ///
    /// # Errors
    /// The system has no socket, timer or thread to give, or no such processor.
    pub fn start(setup: Setup) -> io::Result<Self> {
        let mut listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0).into())?;
        let address = listener.local_addr()?;
        let poll = Poll::new()?;
        poll.registry()
            .register(&mut listener, LISTENER, Interest::READABLE)?;
        let bell = Waker::new(poll.registry(), BELL)?;
        let alarms = Alarms::new(poll.registry(), TIMER, 1_024)?;
        let (epoch, stop) = (Instant::now(), Arc::new(AtomicBool::new(false)));
        let desk = Desk {
            poll,
            alarms,
            listener,
            guests: Vec::new(),
            clockwork: Clockwork::new(setup.delay),
            at_once: setup.delay == Delay::None,
            wire: setup.wire,
            epoch,
            record: Record {
                served: Vec::with_capacity(setup.kept),
                answers: 0,
            },
            kept: setup.kept,
            wait: setup.wait,
            vigil: Vigil::alert(),
            looked: 0,
            stop: Arc::clone(&stop),
            scratch: vec![0; READ_BYTES].into_boxed_slice(),
        };
        let thread = std::thread::Builder::new().name("delays".to_owned());
        let (tell, told) = sync_channel(1);
        let thread = thread.spawn(move || {
            tell.send(gettid()).map_err(io::Error::other)?;
            let _stay = setup
                .core
                .map(|core| processors::stay_on(&[core]))
                .transpose()?;
            if setup.delay != Delay::None && setup.wait != Wait::Awake {
                // Without it answers leave late on a busy machine, which the record tells. The system
                // would stop one that has it and never sleeps.
                priority::claim().ok();
            }
            desk.run()
        })?;
        Ok(Self {
            address,
            epoch,
            stop,
            bell,
            task: told.recv().map_err(io::Error::other)?,
            thread,
        })
    }

    /// The processor time that its thread has used, as far as the system tells.
    #[must_use]
    pub fn cpu(&self) -> Duration {
        let task = self.task.as_raw_nonzero();
        let told = fs::read_to_string(format!("/proc/self/task/{task}/schedstat"));
        let nanos = told
            .ok()
            .and_then(|told| told.split(' ').next()?.parse().ok());
        Duration::from_nanos(nanos.unwrap_or(0))
    }

    /// Ends it, and tells what it did.
    ///
    /// # Errors
    /// What its thread failed of.
    pub fn stop(self) -> io::Result<Record> {
        self.stop.store(true, Ordering::Relaxed);
        self.bell.wake()?;
        self.thread
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

#[derive(Debug)]
struct Desk {
    poll: Poll,
    alarms: Alarms,
    listener: TcpListener,
    /// By token; none where one has gone.
    guests: Vec<Option<DelayedClient>>,
    clockwork: Clockwork,
    at_once: bool,
    wire: Wire,
    epoch: Instant,
    record: Record,
    kept: usize,
    wait: Wait,
    vigil: Vigil,
    /// When it looked for requests before the look that found these.
    looked: u64,
    stop: Arc<AtomicBool>,
    scratch: Box<[u8]>,
}

#[derive(Debug)]
struct DelayedClient {
    stream: TcpStream,
    rest: Vec<u8>,
    out: Vec<u8>,
    /// What it waits for: one request at a time, unless all are answered at once.
    waits: Option<Served>,
}

impl Desk {
    fn now(&self) -> u64 {
        u64::try_from(self.epoch.elapsed().as_nanos())
            .expect("a server runs for less than 584 years")
    }

    fn run(mut self) -> io::Result<Record> {
        let mut events = Events::with_capacity(1_024);
        let mut looks = 0;
        while !self.stop.load(Ordering::Relaxed) {
            let wait = self.rest()?;
            self.looked = std::mem::replace(&mut looks, self.now());
            match self.poll.poll(&mut events, wait) {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                polled => polled?,
            }
            for event in &events {
                match event.token() {
                    LISTENER => self.accept()?,
                    TIMER => self.alarms.rang(),
                    BELL => {}
                    Token(guest) => {
                        self.serve(guest);
                        self.vigil.stirs(self.now());
                    }
                }
                self.answer();
            }
            self.answer();
        }
        Ok(self.record)
    }

    /// How long to sleep at most: not at all, or until somebody wakes it.
    fn rest(&mut self) -> io::Result<Option<Duration>> {
        let (now, next) = (self.now(), self.alarms.first());
        let (stays, ahead) = match self.wait {
            Wait::Awake => (true, 0),
            Wait::Alert => (self.vigil.stays(now, next), self.vigil.ahead()),
            Wait::Asleep | Wait::RealTime => {
                let soon = next.is_some_and(|next| next <= now + AWAKE_NANOS);
                (soon, AWAKE_NANOS)
            }
        };
        if stays {
            return Ok(Some(Duration::ZERO));
        }
        self.alarms.arm(now, None, ahead)?;
        Ok(None)
    }

    fn accept(&mut self) -> io::Result<()> {
        loop {
            let mut stream = match self.listener.accept() {
                Ok((stream, _peer)) => stream,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            };
            stream.set_nodelay(true)?;
            let token = Token(self.guests.len());
            let readable = Interest::READABLE;
            self.poll
                .registry()
                .register(&mut stream, token, readable)?;
            self.guests.push(Some(DelayedClient {
                stream,
                rest: Vec::new(),
                out: Vec::new(),
                waits: None,
            }));
        }
    }

    /// Reads what a guest has sent. Who breaks the rules, or has gone, is let go.
    fn serve(&mut self, number: usize) {
        let Some(mut guest) = self.guests[number].take() else {
            return;
        };
        if self.read(number, &mut guest).is_ok() {
            self.guests[number] = Some(guest);
        }
    }

    fn read(&mut self, number: usize, guest: &mut DelayedClient) -> io::Result<()> {
        loop {
            let kept = guest.rest.len();
            self.scratch[..kept].copy_from_slice(&guest.rest);
            let read = match guest.stream.read(&mut self.scratch[kept..]) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(read) => read,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let (came, whole) = (self.now(), kept + read < self.scratch.len());
            let used = self.take(number, guest, kept + read, came)?;
            guest.rest.clear();
            guest
                .rest
                .extend_from_slice(&self.scratch[used..kept + read]);
            if guest.rest.len() > REST_BYTES_MAX {
                return Err(ErrorKind::InvalidData.into());
            }
            if !guest.out.is_empty() {
                // Answers are short, and who does not take them is no generator.
                guest.stream.write_all(&guest.out)?;
                guest.out.clear();
            }
            if whole {
                return Ok(());
            }
        }
    }

    /// Takes the requests at the front of what was read; how many bytes they had.
    fn take(
        &mut self,
        guest_number: usize,
        guest: &mut DelayedClient,
        read: usize,
        came: u64,
    ) -> io::Result<usize> {
        let mut used = 0;
        while let Some((length, number)) = self.wire.request(&self.scratch[used..read])? {
            used += length;
            if self.at_once {
                self.wire.put_answer(number, &mut guest.out);
                self.record.answers += 1;
                continue;
            }
            let due = self.clockwork.answers(number, came);
            let served = Served {
                number,
                looked: self.looked,
                came,
                due,
                left: due,
            };
            if guest.waits.replace(served).is_some() {
                return Err(ErrorKind::InvalidData.into());
            }
            self.alarms.set(due, guest_number);
        }
        Ok(used)
    }

    /// Answers what is due.
    fn answer(&mut self) {
        while let Some(number) = self.alarms.take(self.now()) {
            let Some(mut guest) = self.guests[number].take() else {
                continue;
            };
            let Some(mut served) = guest.waits.take() else {
                continue;
            };
            let mut frame = [0; FRAME_BYTES];
            wire::put_frame(served.number, &mut frame);
            served.left = self.now();
            if guest.stream.write_all(&frame).is_err() {
                continue;
            }
            self.record.answers += 1;
            if self.record.served.len() < self.kept {
                self.record.served.push(served);
            }
            self.guests[number] = Some(guest);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io::{Read as _, Write as _},
        net::TcpStream,
    };

    use super::{Server, Setup};
    use crate::{delay::Delay, wire::Wire};

    fn start(delay: Delay, wire: Wire) -> Server {
        let setup = Setup {
            delay,
            kept: 2,
            ..Setup::at_once(wire, None)
        };
        Server::start(setup).unwrap()
    }

    #[test]
    fn nobody_is_answered_before_it_is_time_and_all_is_written_down() {
        let server = start(Delay::Fixed(3_000_000), Wire::Numbers);
        let mut stream = TcpStream::connect(server.address).unwrap();
        for number in [7_u64, 8, 9] {
            stream.write_all(&number.to_le_bytes()).unwrap();
            let mut answer = [0; 8];
            stream.read_exact(&mut answer).unwrap();
            assert_eq!(u64::from_le_bytes(answer), number);
        }
        let record = server.stop().unwrap();
        assert_eq!(record.answers, 3);
        let numbers: Vec<u64> = record.served.iter().map(|served| served.number).collect();
        assert_eq!(numbers, [7, 8], "two are kept");
        for served in &record.served {
            assert_eq!(served.due, served.came + 3_000_000);
            assert!(served.left >= served.due, "{served:?}");
        }
    }

    #[test]
    fn who_asks_again_before_it_is_answered_is_let_go() {
        let server = start(Delay::Fixed(60_000_000_000), Wire::Numbers);
        let mut stream = TcpStream::connect(server.address).unwrap();
        stream.write_all(&[0; 16]).unwrap();
        assert_eq!(stream.read(&mut [0; 8]).unwrap_or(0), 0);
        assert_eq!(server.stop().unwrap().answers, 0);
    }

    #[test]
    fn resp_and_http_are_answered_at_once_however_they_are_cut() {
        let rows: [(Wire, &[u8], &[u8]); 2] = [
            (
                Wire::Resp,
                b"*1\r\n$4\r\nPING\r\n*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1\r\nb\r\n",
                b"+OK\r\n+OK\r\n",
            ),
            (
                Wire::Http,
                b"GET / HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n",
                b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
            ),
        ];
        for (wire, requests, answers) in rows {
            let server = start(Delay::None, wire);
            let mut stream = TcpStream::connect(server.address).unwrap();
            stream.set_nodelay(true).unwrap();
            for piece in requests.chunks(7) {
                stream.write_all(piece).unwrap();
            }
            let mut found = vec![0; answers.len()];
            stream.read_exact(&mut found).unwrap();
            assert_eq!(found, answers);
            assert_eq!(server.stop().unwrap().answers, 2);
        }
    }
}
