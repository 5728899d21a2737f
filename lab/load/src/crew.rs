//! The threads of a generator: all begin at one instant, and somebody watches.

use std::{
    io,
    net::TcpStream,
    sync::{
        Barrier, RwLock,
        mpsc::{self, RecvTimeoutError},
    },
    thread,
    time::{Duration, Instant},
};

use rustix::time::{ClockId, clock_gettime};
use turnstile_client::{PeerStream, ServerAddress, descriptors};

use crate::Error;

/// The most users of one run: each is a socket, and systems allow some ten thousand.
pub(crate) const USERS_MAX: usize = 50_000;

/// How often progress is told.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(200);

/// Lets each worker do its work on a thread of its own, and calls `watch` with the time since the
/// start: at the start, now and then, and when all have done it. Until then none of them ends: what a
/// thread has used goes with it, and with its connections the threads of a server that has one for each.
pub(crate) fn run<W: Send, E: Send>(
    workers: Vec<W>,
    work: fn(&mut W) -> io::Result<()>,
    end: fn(W) -> E,
    mut watch: impl FnMut(Duration),
) -> Result<Vec<E>, Error> {
    let barrier = Barrier::new(workers.len() + 1);
    let (working, done) = mpsc::sync_channel::<()>(0);
    let seen = RwLock::new(());
    thread::scope(|scope| {
        let looking = seen.write();
        let mut handles = Vec::new();
        for mut worker in workers {
            let (barrier, seen, working) = (&barrier, &seen, working.clone());
            handles.push(scope.spawn(move || {
                barrier.wait();
                let worked = work(&mut worker);
                drop(working);
                // Whoever looked may have panicked: its guard is gone as well.
                drop(seen.read());
                worked.map(|()| end(worker))
            }));
        }
        drop(working);
        barrier.wait();
        let start = Instant::now();
        watch(Duration::ZERO);
        while done.recv_timeout(PROGRESS_INTERVAL) == Err(RecvTimeoutError::Timeout) {
            watch(start.elapsed());
        }
        // A run that is shorter than the interval is looked at once at least.
        watch(start.elapsed());
        drop(looking);
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

/// How long a server may take to be connected to.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Connects before the start, and agrees on how to encrypt and who one is. `no_delay`: whether what is
/// sent leaves at once.
pub(crate) fn connect(
    address: &ServerAddress,
    no_delay: bool,
) -> io::Result<PeerStream<TcpStream>> {
    let stream = address.connect(CONNECT_TIMEOUT)?;
    stream.socket.set_nodelay(no_delay)?;
    stream.socket.set_nonblocking(true)?;
    Ok(stream)
}

/// User and system time of this thread so far.
pub(crate) fn thread_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    let seconds = u64::try_from(time.tv_sec).expect("a thread's time is not negative");
    let nanos = u32::try_from(time.tv_nsec).expect("a second has 10^9 nanoseconds");
    Duration::new(seconds, nanos)
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path, sync::Mutex};

    use rustix::thread::gettid;

    use super::*;

    /// What each worker says of itself: its thread.
    type Told = Mutex<Vec<String>>;

    fn tell(told: &mut &Told) -> io::Result<()> {
        let thread = gettid().as_raw_nonzero().to_string();
        told.lock().unwrap().push(thread);
        Ok(())
    }

    #[test]
    fn threads_are_there_until_they_have_been_looked_at() {
        let told = Told::default();
        let mut there = Vec::new();
        let ends = run(
            vec![&told; 4],
            tell,
            |_| (),
            |_| {
                let told = told.lock().unwrap();
                let tasks = told
                    .iter()
                    .map(|number| Path::new("/proc/self/task").join(number));
                there.push(tasks.filter(|task| fs::exists(task).unwrap()).count());
            },
        );
        assert_eq!(ends.unwrap().len(), 4);
        assert_eq!(there.last(), Some(&4), "{there:?}");
    }

    /// What the preparation had used counted as used by the run.
    #[test]
    fn the_first_look_is_when_all_begin() {
        let mut looks = Vec::new();
        let ends = run(vec![&Told::default(); 2], tell, |_| (), |at| looks.push(at));
        assert_eq!(ends.unwrap().len(), 2);
        assert!(looks.len() > 1, "{looks:?}");
        assert_eq!(looks[0], Duration::ZERO);
    }

    #[test]
    fn one_that_fails_is_told_when_all_have_been_looked_at() {
        let fails = |_: &mut &Told| Err(io::Error::other("gone"));
        let mut looks = 0;
        let ends = run(vec![&Told::default(); 2], fails, |_| (), |_| looks += 1);
        assert!(matches!(ends, Err(Error::Poll(_))), "{ends:?}");
        assert!(looks > 0);
    }
}
