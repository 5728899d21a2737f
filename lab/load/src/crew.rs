//! The threads of a generator: all begin at one instant, and somebody watches.

use std::{
    io,
    net::{SocketAddr, TcpStream},
    sync::{
        Barrier,
        mpsc::{self, RecvTimeoutError},
    },
    thread,
    time::{Duration, Instant},
};

use rustix::time::{ClockId, clock_gettime};
use turnstile_client::descriptors;

use crate::Error;

/// The most users of one run: each is a socket, and systems allow some ten thousand.
pub(crate) const USERS_MAX: usize = 50_000;

/// How often progress is told.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(200);

/// Lets each worker do its work on a thread of its own, and calls `watch` with the time since the
/// start now and then, and when all have ended.
pub(crate) fn run<W: Send, E: Send>(
    workers: Vec<W>,
    work: fn(W) -> io::Result<E>,
    mut watch: impl FnMut(Duration),
) -> Result<Vec<E>, Error> {
    let barrier = Barrier::new(workers.len() + 1);
    let (alive, ended) = mpsc::sync_channel::<()>(0);
    thread::scope(|scope| {
        let mut handles = Vec::new();
        for worker in workers {
            let (barrier, alive) = (&barrier, alive.clone());
            handles.push(scope.spawn(move || {
                barrier.wait();
                let end = work(worker);
                drop(alive);
                end
            }));
        }
        drop(alive);
        barrier.wait();
        let start = Instant::now();
        while ended.recv_timeout(PROGRESS_INTERVAL) == Err(RecvTimeoutError::Timeout) {
            watch(start.elapsed());
        }
        // A run that is shorter than the interval is looked at once at least.
        watch(start.elapsed());
        let joined = handles.into_iter().map(|handle| {
            handle
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
                .map_err(Error::Poll)
        });
        joined.collect()
    })
}

/// Descriptors beside those of users: pollers, files, the connections that prepare and prove.
const OTHERS: usize = 128;

/// Has the system allow this process so many sockets.
pub(crate) fn allow(users: usize) -> Result<(), Error> {
    let needed = u64::try_from(users + OTHERS).expect("users are at most 50,000");
    descriptors::allow(needed).map_err(Error::Descriptors)
}

/// Connects before the start. `no_delay`: whether what is sent leaves at once.
pub(crate) fn connect(address: SocketAddr, no_delay: bool) -> io::Result<TcpStream> {
    let stream = TcpStream::connect_timeout(&address, Duration::from_secs(5))?;
    stream.set_nodelay(no_delay)?;
    stream.set_nonblocking(true)?;
    Ok(stream)
}

/// User and system time of this thread so far.
pub(crate) fn thread_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    let seconds = u64::try_from(time.tv_sec).expect("a thread's time is not negative");
    let nanos = u32::try_from(time.tv_nsec).expect("a second has 10^9 nanoseconds");
    Duration::new(seconds, nanos)
}
