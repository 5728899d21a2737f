//! A path of bytes between two processes that can be held, slowed and cut.

use std::{
    io::{self, Read as _, Write as _},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

/// Bytes that are carried at once.
const PIECE: usize = 64 << 10;

/// A direction of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathWay {
    /// From the process that connects to the one that it connects to.
    There,
    /// The other way.
    Back,
}

/// How bytes are carried one way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carriage {
    /// At once.
    Open,
    /// Not at all, as when a network is cut: connections stay, and what was held arrives when the path
    /// is open again.
    Held,
    /// Each piece, of up to 64 KiB, after so long.
    Slow(Duration),
    /// In turns open and held, so long each.
    Flapping(Duration),
}

/// A TCP proxy on the loopback in front of one process.
#[derive(Debug)]
pub struct FaultyPath {
    address: SocketAddr,
    shared: Arc<PathShared>,
}

#[derive(Debug)]
struct PathShared {
    state: Mutex<PathState>,
    changed: Condvar,
    is_closed: AtomicBool,
}

#[derive(Debug)]
struct PathState {
    there: Carriage,
    back: Carriage,
    since: Instant,
    connections: Vec<TcpStream>,
}

impl FaultyPath {
    /// Makes an open path to `target`.
    ///
    /// # Errors
    /// The loopback has no free port.
    pub fn to(target: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let address = listener.local_addr()?;
        let shared = Arc::new(PathShared {
            state: Mutex::new(PathState {
                there: Carriage::Open,
                back: Carriage::Open,
                since: Instant::now(),
                connections: Vec::new(),
            }),
            changed: Condvar::new(),
            is_closed: AtomicBool::new(false),
        });
        let path = Arc::clone(&shared);
        thread::Builder::new()
            .name("path".to_owned())
            .spawn(move || path.accept(&listener, target))?;
        Ok(Self { address, shared })
    }

    /// Where to connect instead.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Changes how bytes are carried one way.
    pub fn set(&self, way: PathWay, carriage: Carriage) {
        let mut state = self.shared.state();
        match way {
            PathWay::There => state.there = carriage,
            PathWay::Back => state.back = carriage,
        }
        state.since = Instant::now();
        drop(state);
        self.shared.changed.notify_all();
    }

    /// Changes how bytes are carried both ways.
    pub fn set_both(&self, carriage: Carriage) {
        self.set(PathWay::There, carriage);
        self.set(PathWay::Back, carriage);
    }

    /// Ends all connections, and takes new ones.
    pub fn reset(&self) {
        for connection in self.shared.state().connections.drain(..) {
            // It may have ended by itself.
            drop(connection.shutdown(Shutdown::Both));
        }
        self.shared.changed.notify_all();
    }
}

impl Drop for FaultyPath {
    fn drop(&mut self) {
        self.shared.is_closed.store(true, Ordering::SeqCst);
        self.reset();
        // The thread that accepts looks up.
        drop(TcpStream::connect(self.address));
    }
}

impl PathShared {
    fn state(&self) -> MutexGuard<'_, PathState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn accept(self: &Arc<Self>, listener: &TcpListener, target: SocketAddr) {
        while let Ok((near, _)) = listener.accept() {
            if self.is_closed.load(Ordering::SeqCst) {
                return;
            }
            // A target that is down refuses, and so do we.
            if let Ok(far) = TcpStream::connect(target) {
                drop(self.begin(&near, &far));
            }
        }
    }

    fn begin(self: &Arc<Self>, near: &TcpStream, far: &TcpStream) -> io::Result<()> {
        near.set_nodelay(true)?;
        far.set_nodelay(true)?;
        let mut state = self.state();
        state.connections.retain(|one| one.peer_addr().is_ok());
        state.connections.push(near.try_clone()?);
        state.connections.push(far.try_clone()?);
        drop(state);
        for (way, from, to) in [(PathWay::There, near, far), (PathWay::Back, far, near)] {
            let (from, to, path) = (from.try_clone()?, to.try_clone()?, Arc::clone(self));
            thread::Builder::new()
                .name("path".to_owned())
                .spawn(move || path.carry(way, from, to))?;
        }
        Ok(())
    }

    /// Carries bytes until one side ends, or the path is reset.
    fn carry(&self, way: PathWay, mut from: TcpStream, mut to: TcpStream) {
        let mut piece = vec![0; PIECE];
        while let Ok(length @ 1..) = from.read(&mut piece) {
            if !self.pass(way, &from) || to.write_all(&piece[..length]).is_err() {
                break;
            }
        }
        drop(from.shutdown(Shutdown::Both));
        drop(to.shutdown(Shutdown::Both));
    }

    /// Waits until a piece may go on; says whether the connection is still there.
    fn pass(&self, way: PathWay, connection: &TcpStream) -> bool {
        let arrived = Instant::now();
        let mut state = self.state();
        loop {
            if self.is_closed.load(Ordering::SeqCst) || connection.peer_addr().is_err() {
                return false;
            }
            let carriage = match way {
                PathWay::There => state.there,
                PathWay::Back => state.back,
            };
            let Some(pause) = pause(carriage, arrived, state.since, Instant::now()) else {
                return true;
            };
            let waited = self.changed.wait_timeout(state, pause);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// For how long a piece stays where it is; nothing if it goes on now.
fn pause(carriage: Carriage, arrived: Instant, since: Instant, now: Instant) -> Option<Duration> {
    match carriage {
        Carriage::Open => None,
        // Until something changes; a connection that has ended is noticed now and then.
        Carriage::Held => Some(Duration::from_secs(1)),
        Carriage::Slow(delay) => {
            let left = (arrived + delay).saturating_duration_since(now);
            (!left.is_zero()).then_some(left)
        }
        Carriage::Flapping(period) => {
            let period = period.max(Duration::from_millis(1)).as_micros();
            let elapsed = now.saturating_duration_since(since).as_micros();
            let is_open = (elapsed / period).is_multiple_of(2);
            let left = u64::try_from(period - elapsed % period).unwrap_or(u64::MAX);
            (!is_open).then_some(Duration::from_micros(left))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(carriage: Carriage, elapsed: u64, expected: Option<u64>) {
        let start = Instant::now();
        let now = start + Duration::from_millis(elapsed);
        let told = pause(carriage, start, start, now);
        assert_eq!(
            told,
            expected.map(Duration::from_millis),
            "{carriage:?} {elapsed}"
        );
    }

    #[test]
    fn a_piece_waits_as_its_carriage_says() {
        let ten = Duration::from_millis(10);
        check(Carriage::Open, 0, None);
        check(Carriage::Held, 0, Some(1_000));
        check(Carriage::Slow(ten), 3, Some(7));
        check(Carriage::Slow(ten), 10, None);
        check(Carriage::Flapping(ten), 9, None);
        check(Carriage::Flapping(ten), 10, Some(10));
        check(Carriage::Flapping(ten), 19, Some(1));
        check(Carriage::Flapping(ten), 20, None);
    }

    /// A process that answers each byte with the same byte.
    fn echo() -> SocketAddr {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        thread::spawn(move || {
            while let Ok((mut stream, _)) = listener.accept() {
                thread::spawn(move || {
                    let mut byte = [0];
                    while stream.read_exact(&mut byte).is_ok() && stream.write_all(&byte).is_ok() {}
                });
            }
        });
        address
    }

    fn read(stream: &mut TcpStream) -> Option<u8> {
        let mut byte = [0];
        stream.read_exact(&mut byte).ok().map(|()| byte[0])
    }

    #[test]
    fn what_was_held_arrives_when_the_path_is_open_again() {
        for way in [PathWay::There, PathWay::Back] {
            let path = FaultyPath::to(echo()).expect("a free port");
            let mut stream = TcpStream::connect(path.address()).expect("the path takes it");
            stream.write_all(&[1]).expect("it is open");
            assert_eq!(read(&mut stream), Some(1));
            path.set(way, Carriage::Held);
            stream.write_all(&[2]).expect("the near side takes it");
            let moment = Some(Duration::from_millis(100));
            stream.set_read_timeout(moment).expect("a socket can");
            assert_eq!(read(&mut stream), None, "{way:?} is held");
            stream.set_read_timeout(None).expect("a socket can");
            path.set(way, Carriage::Open);
            assert_eq!(read(&mut stream), Some(2));
        }
    }

    #[test]
    fn a_reset_ends_connections_and_takes_new_ones() {
        let path = FaultyPath::to(echo()).expect("a free port");
        let mut stream = TcpStream::connect(path.address()).expect("the path takes it");
        stream.write_all(&[1]).expect("it is open");
        assert_eq!(read(&mut stream), Some(1));
        path.set_both(Carriage::Held);
        stream.write_all(&[2]).expect("the near side takes it");
        path.reset();
        assert_eq!(read(&mut stream), None);
        path.set_both(Carriage::Open);
        let mut stream = TcpStream::connect(path.address()).expect("the path takes it");
        stream.write_all(&[3]).expect("it is open");
        assert_eq!(read(&mut stream), Some(3));
    }

    #[test]
    fn without_a_target_the_path_refuses() {
        let gone = TcpListener::bind(("127.0.0.1", 0)).and_then(|one| one.local_addr());
        let path = FaultyPath::to(gone.expect("it was bound")).expect("a free port");
        let mut stream = TcpStream::connect(path.address()).expect("the path takes it");
        assert_eq!(read(&mut stream), None);
    }
}
