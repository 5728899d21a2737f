//! A server under measurement: started on the server's core, in a directory of its own.

mod company;
mod redis;
mod turnstile;

use std::{
    fmt,
    fs::{self, File},
    io::{self, ErrorKind},
    net::{Ipv4Addr, SocketAddr, TcpListener},
    path::Path,
    process::{Child, Command, Stdio},
    rc::Rc,
    sync::atomic::{AtomicU16, Ordering},
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, bail, ensure};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    process::{Pid, PidfdFlags, pidfd_open},
};
use tempfile::TempDir;
use turnstile_client::{Connection, Error as ClientError, resp::Value};

pub(crate) use company::Company;
pub(crate) use redis::Persistence;
pub(crate) use turnstile::{Durability, build};

use crate::{
    pin, process,
    program::{run, spawn},
};

/// A server that starts, or writes a snapshot, for longer will never end.
const PATIENCE: Duration = Duration::from_secs(120);

/// The longest silence on the connection over which a server is asked about itself.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);

/// While a server starts, it is asked again after so long.
const KNOCK_INTERVAL: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 1_000_000,
};

/// The ports at which servers listen: so many, from this one on.
const PORTS_FROM: u16 = 11_000;
const PORTS: u16 = 20_000;

/// Where a server's own words go, in its directory.
const OUTPUT: &str = "output";

/// How much of a server's own words is shown when it does not start.
const LAST_WORDS_BYTES: usize = 2_000;

/// Which server, and how it keeps what it is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Turnstile(Durability),
    Redis(Persistence),
}

/// A running server. It is killed when this is dropped.
#[derive(Debug)]
pub(crate) struct Server {
    kind: Kind,
    child: Child,
    /// Where it keeps its files; a server that is started again takes it over.
    home: Rc<TempDir>,
    resp: SocketAddr,
    http: SocketAddr,
    xml: SocketAddr,
    lines: SocketAddr,
    arena: SocketAddr,
    start_time: Duration,
}

impl Server {
    /// Starts a server with nothing in it; `scratch` is where its directory is made.
    pub(crate) fn start(kind: Kind, turnstile: &Path, scratch: &Path) -> Result<Self> {
        Self::start_as(kind, &[], turnstile, scratch)
    }

    /// The same, with more to be told.
    pub(crate) fn start_as(
        kind: Kind,
        more: &[String],
        turnstile: &Path,
        scratch: &Path,
    ) -> Result<Self> {
        let home = TempDir::with_prefix_in("turnstile-bench-", scratch)
            .with_context(|| format!("cannot make a directory in {}", scratch.display()))?;
        let server = Self::start_at(kind, more, turnstile, Rc::new(home))?;
        if matches!(kind, Kind::Redis(_)) {
            redis::load_function(&mut server.connect()?)?;
        }
        Ok(server)
    }

    /// Starts a server on what another has left.
    fn start_at(kind: Kind, more: &[String], turnstile: &Path, home: Rc<TempDir>) -> Result<Self> {
        let (resp, http, xml) = (free_address()?, free_address()?, free_address()?);
        let (lines, arena) = (free_address()?, free_address()?);
        let mut command = match kind {
            Kind::Turnstile(durability) => {
                let mut command = pin::command(pin::SERVER_CORE, turnstile);
                turnstile::arguments(
                    &mut command,
                    durability,
                    home.path(),
                    [resp, http, xml, lines, arena],
                );
                command
            }
            Kind::Redis(persistence) => {
                let mut command = pin::command(pin::SERVER_CORE, "redis-server");
                redis::arguments(&mut command, persistence, home.path(), resp);
                command
            }
        };
        let words = File::create(home.path().join(OUTPUT))?;
        command
            .args(more)
            .stdin(Stdio::null())
            .stdout(words.try_clone()?)
            .stderr(words);
        let begin = Instant::now();
        let child = spawn(&mut command)?;
        let mut server = Self {
            kind,
            child,
            home,
            resp,
            http,
            xml,
            lines,
            arena,
            start_time: Duration::ZERO,
        };
        server.await_answer(begin)?;
        server.start_time = begin.elapsed();
        if matches!(kind, Kind::Turnstile(_)) {
            server.await_ready(begin)?;
        }
        Ok(server)
    }

    /// Kills it, and starts it again on its files.
    pub(crate) fn restart(mut self, turnstile: &Path) -> Result<Self> {
        self.child.kill()?;
        self.child.wait()?;
        let home = Rc::clone(&self.home);
        Self::start_at(self.kind, &[], turnstile, home)
    }

    /// From its start to its first answer.
    pub(crate) const fn start_time(&self) -> Duration {
        self.start_time
    }

    pub(crate) const fn resp(&self) -> SocketAddr {
        self.resp
    }

    pub(crate) const fn http(&self) -> SocketAddr {
        self.http
    }

    pub(crate) const fn xml(&self) -> SocketAddr {
        self.xml
    }

    /// The door of travel.
    pub(crate) const fn lines(&self) -> SocketAddr {
        self.lines
    }

    /// The door of players on the ancestor's wire.
    pub(crate) const fn arena(&self) -> SocketAddr {
        self.arena
    }

    pub(crate) fn cpu(&self) -> Result<Duration> {
        process::cpu(self.child.id())
    }

    pub(crate) fn resident_bytes(&self) -> Result<u64> {
        process::resident_bytes(self.child.id())
    }

    /// The bytes of all its files.
    pub(crate) fn disk_bytes(&self) -> Result<u64> {
        bytes_below(self.home.path())
    }

    pub(crate) fn connect(&self) -> Result<Connection> {
        Connection::connect(self.resp, ANSWER_TIMEOUT)
            .with_context(|| format!("cannot connect to {}", self.resp))
    }

    /// How many requests changed its state until now: bookings made, or keys set.
    pub(crate) fn accepted(&self) -> Result<u64> {
        let mut connection = self.connect()?;
        match self.kind {
            Kind::Turnstile(_) => turnstile::booked_total(&mut connection),
            Kind::Redis(_) => redis::keys(&mut connection),
        }
    }

    /// How many groups of records our server has made durable.
    pub(crate) fn groups(&self) -> Result<u64> {
        turnstile::groups(&mut self.connect()?)
    }

    /// How many bookings our server holds.
    pub(crate) fn bookings(&self) -> Result<u64> {
        turnstile::bookings(&mut self.connect()?)
    }

    /// What `INFO` says of our server under a name.
    pub(crate) fn fact(&self, name: &str) -> Result<String> {
        turnstile::fact(&mut self.connect()?, name)
    }

    /// Has it go on on another core.
    pub(crate) fn move_to(&self, core: usize) -> Result<()> {
        let mut taskset = Command::new("taskset");
        taskset.args(["-a", "-p", "-c", &core.to_string()]);
        run(taskset.arg(self.child.id().to_string()))?;
        Ok(())
    }

    fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// Asks until there is an answer that is no error: a server that still loads says so.
    fn await_answer(&self, begin: Instant) -> Result<()> {
        self.await_until(begin, |server| {
            Ok(matches!(
                ping(server.resp),
                Ok(Value::Simple(_) | Value::Bulk(_))
            ))
        })
    }

    /// Our server says `ready` when it has also made its sample properties.
    fn await_ready(&self, begin: Instant) -> Result<()> {
        self.await_until(begin, |server| {
            let output = fs::read_to_string(server.home.path().join(OUTPUT))?;
            Ok(output.lines().any(|line| line == "ready"))
        })
    }

    /// Waits until our server has made a snapshot.
    pub(crate) fn await_snapshot(&self) -> Result<()> {
        self.await_until(Instant::now(), |server| {
            turnstile::has_snapshot(server.home.path())
        })
    }

    fn await_until(&self, begin: Instant, happened: impl Fn(&Self) -> Result<bool>) -> Result<()> {
        let process = pidfd_open(self.pid(), PidfdFlags::empty())?;
        while begin.elapsed() < PATIENCE {
            if happened(self)? {
                return Ok(());
            }
            // The wait ends early when the process does.
            let mut end = [PollFd::new(&process, PollFlags::IN)];
            if poll(&mut end, Some(&KNOCK_INTERVAL))? > 0 {
                bail!("{} ended: {}", self.kind, self.last_words()?);
            }
        }
        bail!("{} does not go on: {}", self.kind, self.last_words()?)
    }

    /// The end of what it has said.
    pub(crate) fn last_words(&self) -> Result<String> {
        let words = fs::read(self.home.path().join(OUTPUT))?;
        let start = words.len().saturating_sub(LAST_WORDS_BYTES);
        Ok(String::from_utf8_lossy(&words[start..]).into_owned())
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Turnstile(durability) => write!(f, "turnstile {durability}"),
            Self::Redis(persistence) => write!(f, "redis {persistence}"),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Both fail only when the process has ended already, which is what is wanted.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn ping(address: SocketAddr) -> Result<Value, ClientError> {
    Connection::connect(address, ANSWER_TIMEOUT)?.command(&[b"PING"])
}

/// An address of loopback that nobody listens on at this moment.
///
/// Its port is below those from which clients connect: one of them would take it before the server
/// does, every few hundred times.
pub(crate) fn free_address() -> Result<SocketAddr> {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    // Another bench that runs beside this one begins elsewhere.
    let first = std::process::id() % u32::from(PORTS);
    let first = u16::try_from(first).expect("it is less than the number of ports");
    for _port in 0..PORTS {
        let step = first.wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed)) % PORTS;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, PORTS_FROM + step));
        if TcpListener::bind(address).is_ok() {
            return Ok(address);
        }
    }
    bail!("no port from {PORTS_FROM} on is free")
}

fn bytes_below(dir: &Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let kind = match entry.metadata() {
            Ok(kind) => kind,
            // A server may remove what it does not need while it is counted.
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            Err(error) => return Err(error.into()),
        };
        bytes += if kind.is_dir() {
            bytes_below(&entry.path())?
        } else {
            kind.len()
        };
    }
    Ok(bytes)
}

/// The field of an `INFO` reply.
fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))
}

/// The integer of a reply that is nothing else.
fn integer(reply: &Value) -> Result<u64> {
    let Value::Integer(number) = reply else {
        bail!("expected a number, and got {reply:?}");
    };
    u64::try_from(*number).map_err(|_negative| io::Error::from(ErrorKind::InvalidData).into())
}

/// Fails on an error reply.
fn expect_done(reply: &Value) -> Result<()> {
    ensure!(!matches!(reply, Value::Error(_)), "refused: {reply:?}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use turnstile_client::resp::Value;

    use super::{expect_done, field, integer};

    #[test]
    fn a_field_is_found_by_its_whole_name() {
        let text = "# Rooms\r\nrooms_booked_total_x:3\r\nrooms_booked_total:41\r\n";
        assert_eq!(field(text, "rooms_booked_total"), Some("41"));
        assert_eq!(field(text, "rooms_booked"), None);
    }

    #[test]
    fn a_count_is_a_number_that_is_not_negative() {
        assert_eq!(integer(&Value::Integer(7)).unwrap(), 7);
        assert!(integer(&Value::Integer(-1)).is_err());
        assert!(integer(&Value::Null).is_err());
    }

    #[test]
    fn an_error_reply_is_an_error() {
        assert!(expect_done(&Value::Error("ERR no".into())).is_err());
        assert!(expect_done(&Value::Simple("OK".into())).is_ok());
    }
}
