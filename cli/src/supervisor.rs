//! The service manager that started this process, such as systemd, and what it hears: `sd_notify(3)`.

use std::{
    env,
    ffi::OsStr,
    io,
    os::{
        linux::net::SocketAddrExt as _,
        unix::{
            ffi::OsStrExt as _,
            net::{SocketAddr, UnixDatagram},
        },
    },
    process,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use anyhow::Context as _;
use rustix::time::{ClockId, clock_gettime};
use turnstile_server::{LoopPulse, Stopper};

/// Signs of life in the time after which the service manager takes the server for dead: one may be late.
const BEATS: u32 = 4;

/// How long a message waits while the service manager has not read earlier ones: one that is lost, such as
/// `READY=1`, is not sent again.
const ROOM_WAIT: Duration = Duration::from_secs(10);

/// Hears that the server is ready, reloads, stops and lives. Without a service manager nothing is sent.
#[derive(Debug, Default)]
pub(crate) struct Supervisor {
    socket: Option<UnixDatagram>,
    /// How long it waits for a sign of life; nothing if it does not watch.
    patience: Option<Duration>,
    is_ready: AtomicBool,
}

impl Supervisor {
    /// The one that the environment names.
    ///
    /// # Errors
    /// The environment names a socket that cannot be used, or a time that is not a number.
    pub(crate) fn from_environment() -> anyhow::Result<Self> {
        let Some(name) = env::var_os("NOTIFY_SOCKET") else {
            return Ok(Self::default());
        };
        let socket = connect(&name)
            .with_context(|| format!("cannot use the socket {name:?} of NOTIFY_SOCKET"))?;
        let is_other = env::var("WATCHDOG_PID").is_ok_and(|pid| pid != process::id().to_string());
        let patience = match env::var("WATCHDOG_USEC") {
            Ok(us) if !is_other => {
                let us: u64 = us
                    .parse()
                    .with_context(|| format!("WATCHDOG_USEC is {us:?}, not a number"))?;
                Some(Duration::from_micros(us)).filter(|patience| !patience.is_zero())
            }
            _ => None,
        };
        Ok(Self {
            socket: Some(socket),
            patience,
            is_ready: AtomicBool::new(false),
        })
    }

    /// Sends signs of life from now on. Each says that all loops have turned since the one before, also
    /// those of other partitions: while one hangs, none is sent. The thread ends with the process.
    pub(crate) fn watch(self: &Arc<Self>, server: Stopper) -> io::Result<()> {
        let Some(patience) = self.patience else {
            return Ok(());
        };
        let supervisor = Arc::clone(self);
        let mut beats = Beats::new(patience);
        thread::Builder::new()
            .name("watchdog".to_owned())
            .spawn(move || {
                loop {
                    let is_ready = supervisor.is_ready();
                    if let Some(message) = beats.beat(server.pulse(), is_ready) {
                        supervisor.tell(&message);
                    }
                    // Nobody unparks this thread, and an early return does no harm.
                    thread::park_timeout(patience / BEATS);
                }
            })?;
        Ok(())
    }

    pub(crate) fn note_ready(&self) {
        self.is_ready.store(true, Ordering::Release);
        self.tell("READY=1\nSTATUS=serving\n");
    }

    /// Whether the server was ever ready.
    pub(crate) fn is_ready(&self) -> bool {
        self.is_ready.load(Ordering::Acquire)
    }

    pub(crate) fn note_stop(&self) {
        self.tell("STOPPING=1\nSTATUS=stopping: accepted requests are answered\n");
    }

    /// Reloads, and says when that begins and ends. A start is not over because of a reload in it.
    pub(crate) fn around_reload(&self, reload: impl FnOnce()) {
        let is_ready = self.is_ready();
        if is_ready {
            let now = clock_gettime(ClockId::Monotonic);
            let us = i128::from(now.tv_sec) * 1_000_000 + i128::from(now.tv_nsec) / 1_000;
            self.tell(&format!("RELOADING=1\nMONOTONIC_USEC={us}\n"));
        }
        reload();
        if is_ready {
            self.tell("READY=1\n");
        }
    }

    fn tell(&self, message: &str) {
        let Some(socket) = &self.socket else {
            return;
        };
        if let Err(failure) = socket.send(message.as_bytes()) {
            tracing::warn!(%failure, "the service manager was not told: {}", message.trim_end());
        }
    }
}

/// A socket that sends to this address: a path, or an abstract name after `@`.
fn connect(name: &OsStr) -> io::Result<UnixDatagram> {
    let address = match name.as_bytes().strip_prefix(b"@") {
        Some(name) => SocketAddr::from_abstract_name(name)?,
        None => SocketAddr::from_pathname(name)?,
    };
    let socket = UnixDatagram::unbound()?;
    socket.set_write_timeout(Some(ROOM_WAIT))?;
    socket.connect_addr(&address)?;
    Ok(socket)
}

/// What is sent by a server whose loops turn.
struct Beats {
    /// Of each loop at the last look; nothing before the first.
    turns: Vec<u64>,
    /// A start may take longer than the service manager waits for it; each beat asks for this much more.
    more: Duration,
}

impl Beats {
    const fn new(more: Duration) -> Self {
        Self {
            turns: Vec::new(),
            more,
        }
    }

    /// The message after this look at the loops; none if one has not turned since the last look.
    fn beat(&mut self, pulse: LoopPulse, is_ready: bool) -> Option<String> {
        let LoopPulse { turns, start } = pulse;
        let hangs = self.turns.iter().zip(&turns).any(|(then, now)| then == now);
        self.turns = turns;
        if hangs {
            return None;
        }
        if is_ready {
            return Some("WATCHDOG=1\n".to_owned());
        }
        let us = self.more.as_micros();
        Some(format!("EXTEND_TIMEOUT_USEC={us}\nSTATUS={start}\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_finds_no_room_waits_until_the_service_manager_has_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notify");
        let manager = UnixDatagram::bind(&path).unwrap();
        manager.set_nonblocking(true).unwrap();
        let crowd = UnixDatagram::unbound().unwrap();
        crowd.set_nonblocking(true).unwrap();
        let supervisor = Supervisor {
            socket: Some(connect(path.as_os_str()).unwrap()),
            ..Supervisor::default()
        };
        let mut message = [0; 4096];
        // The room of one message may be there before it is looked for, but not in all of these rounds.
        for _round in 0..100 {
            while crowd.send_to(b"WATCHDOG=1\n", &path).is_ok() {}
            thread::scope(|scope| {
                let teller = scope.spawn(|| supervisor.note_ready());
                thread::yield_now();
                manager.recv(&mut message).unwrap();
                teller.join().unwrap();
            });
            let mut last = 0;
            while let Ok(length) = manager.recv(&mut message) {
                last = length;
            }
            assert_eq!(&message[..last], b"READY=1\nSTATUS=serving\n");
        }
    }

    fn pulse(turns: &[u64]) -> LoopPulse {
        LoopPulse {
            turns: turns.to_vec(),
            start: "half of it is read".to_owned(),
        }
    }

    #[test]
    fn a_loop_that_hangs_sends_no_sign_of_life() {
        let mut beats = Beats::new(Duration::from_secs(1));
        let alive = || Some("WATCHDOG=1\n".to_owned());
        assert_eq!(beats.beat(pulse(&[7]), true), alive());
        assert_eq!(beats.beat(pulse(&[7]), true), None);
        assert_eq!(beats.beat(pulse(&[8]), true), alive());
    }

    #[test]
    fn no_loop_hides_that_another_one_hangs() {
        let mut beats = Beats::new(Duration::from_secs(1));
        let alive = || Some("WATCHDOG=1\n".to_owned());
        assert_eq!(beats.beat(pulse(&[7]), true), alive());
        assert_eq!(
            beats.beat(pulse(&[8, 0]), true),
            alive(),
            "a partition begins"
        );
        assert_eq!(beats.beat(pulse(&[9, 0]), true), None);
        assert_eq!(
            beats.beat(pulse(&[9, 1]), true),
            None,
            "now the first hangs"
        );
        assert_eq!(beats.beat(pulse(&[10, 2]), true), alive());
    }

    #[test]
    fn a_long_start_asks_for_more_time_while_the_loop_turns() {
        let mut beats = Beats::new(Duration::from_secs(1));
        let more = "EXTEND_TIMEOUT_USEC=1000000\nSTATUS=half of it is read\n";
        assert_eq!(beats.beat(pulse(&[0]), false).as_deref(), Some(more));
        assert_eq!(beats.beat(pulse(&[0]), false), None);
    }
}
