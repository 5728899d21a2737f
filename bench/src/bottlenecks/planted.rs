//! A server with one known bottleneck, or one known fault, in a process of its own.
//!
//! It answers `PING` of RESP, a thread for each connection.

use std::{
    fs::File,
    io::{self, Read as _, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result};
use clap::{Args, ValueEnum};
use rustix::thread::{NanosleepRelativeResult, nanosleep};

use crate::process::cpu_of_this_thread;

/// What every request is.
const PING: &[u8] = b"*1\r\n$4\r\nPING\r\n";

/// Requests that wait for the one thread that works.
const QUEUE: usize = 10_000;

#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct Planted {
    kind: Kind,
    /// Time of one request at the bottleneck
    #[arg(long, default_value_t = 0)]
    micros: u64,
    /// How many have room there at once
    #[arg(long, default_value_t = 1)]
    slots: usize,
    /// The other process that does the work
    #[arg(long)]
    behind: Option<SocketAddr>,
}

/// What holds it back, or is wrong with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// Each connection's thread computes.
    Compute,
    /// One thread computes for all.
    Thread,
    /// Another process does the work.
    Behind,
    /// So many at once sleep in a pool.
    Pool,
    /// So many at once sync a file.
    Sync,
    /// Each answer waits for a time.
    Delay,
    /// An answer goes in two pieces, the second when the first is acknowledged.
    Pieces,
    /// Nothing.
    Echo,
    /// Every twentieth answer is an error.
    Errors,
    /// A connection is closed after two hundred answers.
    Closes,
    /// Every second connection is never answered.
    Silent,
    /// Bytes that are no answer.
    Garbled,
    /// Computes longer and longer.
    Drifts,
}

/// What the threads share.
struct PlantedState {
    planted: Planted,
    began: Instant,
    answered: AtomicU64,
    free: Mutex<usize>,
    freed: Condvar,
    file: File,
    work: SyncSender<SyncSender<()>>,
}

/// Serves until it is killed; prints its address first.
pub(crate) fn serve(planted: Planted) -> Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let (work, queue) = sync_channel(QUEUE);
    let shared = Arc::new(PlantedState {
        planted,
        began: Instant::now(),
        answered: AtomicU64::new(0),
        free: Mutex::new(planted.slots),
        freed: Condvar::new(),
        file: tempfile::tempfile_in("/var/tmp").context("a file to sync")?,
        work,
    });
    thread::spawn(move || compute_for_all(&queue, Duration::from_micros(planted.micros)));
    writeln!(io::stdout(), "{}", listener.local_addr()?)?;
    for (number, stream) in listener.incoming().enumerate() {
        let (stream, shared) = (stream?, Arc::clone(&shared));
        // A connection that fails has ended; the next is served.
        thread::spawn(move || shared.attend(number, stream).ok());
    }
    Ok(())
}

fn compute_for_all(queue: &Receiver<SyncSender<()>>, each: Duration) {
    for done in queue {
        compute(each);
        // Who asked may have gone.
        done.send(()).ok();
    }
}

/// Keeps a processor busy for so long, however often it is taken away.
fn compute(each: Duration) {
    let until = cpu_of_this_thread() + each;
    while cpu_of_this_thread() < until {
        std::hint::spin_loop();
    }
}

fn rest(each: Duration) {
    let time = rustix::time::Timespec {
        tv_sec: i64::try_from(each.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: each.subsec_nanos().into(),
    };
    if let NanosleepRelativeResult::Interrupted(left) = nanosleep(&time) {
        drop(nanosleep(&left));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl PlantedState {
    fn attend(&self, number: usize, mut stream: TcpStream) -> io::Result<()> {
        let kind = self.planted.kind;
        stream.set_nodelay(kind != Kind::Pieces)?;
        let mut behind = self.planted.behind.map(TcpStream::connect).transpose()?;
        if let Some(behind) = &behind {
            behind.set_nodelay(true)?;
        }
        let mut bytes = [0; 16 * 1024];
        let (mut kept, mut answers) = (0, 0_u64);
        loop {
            let read = stream.read(&mut bytes[kept..])?;
            if read == 0 || (kind == Kind::Closes && answers > 200) {
                return Ok(());
            }
            kept += read;
            let whole = kept / PING.len();
            if kind == Kind::Silent && !number.is_multiple_of(2) {
                kept -= whole * PING.len();
                continue;
            }
            let mut answer = Vec::with_capacity(whole * 7);
            for _ in 0..whole {
                self.work(&mut behind)?;
                answers += 1;
                answer.extend_from_slice(self.answer());
            }
            bytes.copy_within(whole * PING.len()..kept, 0);
            kept -= whole * PING.len();
            if kind == Kind::Pieces {
                let (first, second) = answer.split_at(answer.len() / 2);
                stream.write_all(first)?;
                stream.write_all(second)?;
            } else {
                stream.write_all(&answer)?;
            }
        }
    }

    fn answer(&self) -> &'static [u8] {
        let number = self.answered.fetch_add(1, Ordering::Relaxed);
        match self.planted.kind {
            Kind::Errors if number.is_multiple_of(20) => b"-ERR planted\r\n",
            Kind::Garbled => b"?what\r\n",
            _ => b"+PONG\r\n",
        }
    }

    /// What one request costs.
    fn work(&self, behind: &mut Option<TcpStream>) -> io::Result<()> {
        let each = Duration::from_micros(self.planted.micros);
        match self.planted.kind {
            Kind::Compute => compute(each),
            Kind::Drifts => compute(each.mul_f64(1.0 + self.began.elapsed().as_secs_f64())),
            Kind::Thread => {
                let (done, ended) = sync_channel(1);
                let gone = |_| io::Error::other("the thread that works has ended");
                self.work.send(done).map_err(gone)?;
                ended.recv().map_err(io::Error::other)?;
            }
            Kind::Behind => {
                if let Some(behind) = behind {
                    behind.write_all(PING)?;
                    behind.read_exact(&mut [0; 7])?;
                }
            }
            Kind::Pool => self.in_turn(|| {
                rest(each);
                Ok(())
            })?,
            Kind::Sync => self.in_turn(|| {
                (&self.file).write_all(&[1; 512])?;
                self.file.sync_data()
            })?,
            Kind::Delay => rest(each),
            Kind::Pieces
            | Kind::Echo
            | Kind::Errors
            | Kind::Closes
            | Kind::Silent
            | Kind::Garbled => {}
        }
        Ok(())
    }

    /// Does something when there is room.
    fn in_turn(&self, something: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        let mut free = lock(&self.free);
        while *free == 0 {
            free = self
                .freed
                .wait(free)
                .unwrap_or_else(PoisonError::into_inner);
        }
        *free -= 1;
        drop(free);
        let done = something();
        *lock(&self.free) += 1;
        self.freed.notify_one();
        done
    }
}
