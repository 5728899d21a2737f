//! A server under measurement: started on the server's core, in a directory of its own.

mod protection;
mod redis;
mod relay;
mod turnstile;

use std::{
    fmt,
    fs::{self, File},
    io::ErrorKind,
    net::{Ipv4Addr, SocketAddr, TcpListener},
    path::Path,
    process::{Child, Command, Stdio},
    rc::Rc,
    str::FromStr,
    sync::atomic::{AtomicU16, Ordering},
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, bail};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    process::{Pid, PidfdFlags, pidfd_open},
};
use tempfile::TempDir;
use turnstile_client::{Connection, ConnectionError as ClientError, ServerAddress, resp::Value};

pub(crate) use protection::Protection;
pub(crate) use redis::Persistence;
pub(crate) use relay::MessageRelay;
pub(crate) use turnstile::{ServerDurability, build};

use crate::{
    pin, process,
    program::{run, spawn},
};

/// A server that starts, or writes a snapshot, for longer will never end.
const PATIENCE: Duration = Duration::from_secs(120);

/// The longest silence on the connection that asks a server about itself.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);

/// Between two attempts to reach a server that starts.
const KNOCK_INTERVAL: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 1_000_000,
};

/// The first port at which servers listen, and the number of ports.
const PORTS_FROM: u16 = 11_000;
const PORTS: u16 = 20_000;

/// The file of a server's output, in its directory.
const OUTPUT: &str = "output";

/// How much of its output is shown when a server does not start.
const LAST_WORDS_BYTES: usize = 2_000;

/// What Redis counts.
pub(crate) const KEYS: &str = "keys";

/// Which server, and how durable it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Turnstile(ServerDurability),
    /// Ours, durable, with an administrator whose key all clients show.
    Keyed,
    /// Ours, durable, with TLS.
    Encrypted,
    /// An older program of ours, durable.
    Older,
    /// Travel in five durable processes: the middleware, and four resource managers.
    Five,
    Redis(Persistence),
    /// Redis with `appendfsync always` and TLS.
    RedisEncrypted,
}

/// Where a server listens.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DoorAddresses {
    pub(crate) resp: SocketAddr,
    pub(crate) http: SocketAddr,
    pub(crate) xml: SocketAddr,
    /// Travel.
    pub(crate) lines: SocketAddr,
    /// Players on the original's wire.
    pub(crate) arena: SocketAddr,
}

/// A running server. It is killed when this is dropped.
#[derive(Debug)]
pub(crate) struct Server {
    kind: Kind,
    child: Child,
    /// Where it keeps its files; a server that is started again takes it over.
    home: Rc<TempDir>,
    doors: DoorAddresses,
    start_time: Duration,
    /// The resource managers behind a middleware.
    managers: Vec<Self>,
    protection: Protection,
}

impl DoorAddresses {
    /// Five that are free.
    fn any() -> Result<Self> {
        Ok(Self {
            resp: free_address()?,
            http: free_address()?,
            xml: free_address()?,
            lines: free_address()?,
            arena: free_address()?,
        })
    }

    /// The same address for each door.
    pub(crate) const fn at(address: SocketAddr) -> Self {
        Self {
            resp: address,
            http: address,
            xml: address,
            lines: address,
            arena: address,
        }
    }
}

impl Server {
    /// Starts a server with nothing in it and with more arguments; `scratch` is where its directory is
    /// made.
    pub(crate) fn start(
        kind: Kind,
        more: &[String],
        turnstile: &Path,
        scratch: &Path,
    ) -> Result<Self> {
        if kind == Kind::Five {
            return Self::start_five(more, turnstile, scratch);
        }
        let home = TempDir::with_prefix_in("turnstile-bench-", scratch)
            .with_context(|| format!("cannot make a directory in {}", scratch.display()))?;
        let server = Self::start_at(kind, more, turnstile, Rc::new(home))?;
        if !server.is_ours() {
            redis::load_function(&mut server.connect()?)?;
        }
        Ok(server)
    }

    /// Starts resource managers and a middleware, and waits until they know each other.
    fn start_five(more: &[String], turnstile: &Path, scratch: &Path) -> Result<Self> {
        let start = |role: &[String]| {
            Self::start(
                Kind::Turnstile(ServerDurability::Sync),
                role,
                turnstile,
                scratch,
            )
        };
        let mut role = more.to_vec();
        role.extend(["--role", "middleware"].map(str::to_owned));
        let mut managers = Vec::new();
        for manager in turnstile::MANAGERS {
            let door = free_address()?.to_string();
            managers.push(start(
                &["--role", manager, "--desk", &door].map(str::to_owned),
            )?);
            role.extend([format!("--peer-{manager}"), door]);
        }
        let mut server = start(&role)?;
        server.managers = managers;
        server.await_until(Instant::now(), |server| {
            turnstile::has_lines(&mut server.connect()?)
        })?;
        Ok(server)
    }

    /// Starts a server on the files of another.
    fn start_at(kind: Kind, more: &[String], turnstile: &Path, home: Rc<TempDir>) -> Result<Self> {
        let doors = DoorAddresses::any()?;
        let ours = |durability| {
            let mut command = pin::command(pin::SERVER_CORE, turnstile);
            turnstile::arguments(&mut command, durability, home.path(), doors);
            command
        };
        let mut command = match kind {
            Kind::Turnstile(durability) => ours(durability),
            Kind::Older | Kind::Keyed | Kind::Encrypted => ours(ServerDurability::Sync),
            Kind::Redis(persistence) => {
                let mut command = pin::command(pin::SERVER_CORE, "redis-server");
                redis::arguments(&mut command, persistence, home.path(), doors.resp);
                command
            }
            Kind::RedisEncrypted => {
                let mut command = pin::command(pin::SERVER_CORE, "redis-server");
                redis::arguments(&mut command, Persistence::Always, home.path(), doors.resp);
                command
            }
            Kind::Five => bail!("five processes have no directory of their own"),
        };
        let mut protection = Protection::NONE;
        let mut keyed = None;
        if matches!(kind, Kind::Keyed | Kind::Encrypted | Kind::RedisEncrypted) {
            let (key_file, files) = protection::make(turnstile, home.path())?;
            match kind {
                Kind::Encrypted => turnstile::encrypt(&mut command, &files),
                Kind::RedisEncrypted => redis::encrypt(&mut command, &files, doors.resp),
                _ => keyed = Some(key_file),
            }
            protection.ca = keyed.is_none().then_some(files.certificate);
        }
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
            doors,
            start_time: Duration::ZERO,
            managers: Vec::new(),
            protection,
        };
        server.await_answer(begin)?;
        server.start_time = begin.elapsed();
        if server.is_ours() {
            server.await_ready(begin)?;
        }
        if let Some(key_file) = keyed {
            protection::guard(server.resp(), &key_file, ANSWER_TIMEOUT)?;
            server.protection.key_file = Some(key_file);
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

    pub(crate) const fn doors(&self) -> DoorAddresses {
        self.doors
    }

    /// What its clients need.
    pub(crate) const fn protection(&self) -> &Protection {
        &self.protection
    }

    pub(crate) const fn resp(&self) -> SocketAddr {
        self.doors.resp
    }

    /// CPU time of all its processes.
    pub(crate) fn cpu(&self) -> Result<Duration> {
        let managers = self
            .managers
            .iter()
            .map(Self::cpu)
            .sum::<Result<Duration>>()?;
        Ok(managers + process::cpu(self.child.id())?)
    }

    pub(crate) fn resident_bytes(&self) -> Result<u64> {
        process::resident_bytes(self.child.id())
    }

    /// The bytes of all its files.
    pub(crate) fn disk_bytes(&self) -> Result<u64> {
        bytes_below(self.home.path())
    }

    pub(crate) fn connect(&self) -> Result<Connection> {
        let address = self.protection.address(self.resp())?;
        Connection::connect(address, ANSWER_TIMEOUT)
            .with_context(|| format!("cannot connect to {}", self.resp()))
    }

    /// The number of requests that it has accepted: a number in `INFO`, or [`KEYS`] of Redis.
    pub(crate) fn accepted(&self, counter: &str) -> Result<u64> {
        match counter {
            KEYS => redis::keys(&mut self.connect()?),
            fact => self.count(fact),
        }
    }

    /// Whether it is a program of ours, whatever its age.
    pub(crate) const fn is_ours(&self) -> bool {
        !matches!(self.kind, Kind::Redis(_) | Kind::RedisEncrypted)
    }

    /// The number of groups of records that our server, in all its processes, has made durable.
    pub(crate) fn groups(&self) -> Result<u64> {
        let managers = self
            .managers
            .iter()
            .map(Self::groups)
            .sum::<Result<u64>>()?;
        Ok(managers + self.count("groups")?)
    }

    /// A number in `INFO` of our server.
    pub(crate) fn count(&self, name: &str) -> Result<u64> {
        Ok(self.fact(name)?.parse()?)
    }

    /// A field in `INFO` of our server.
    pub(crate) fn fact(&self, name: &str) -> Result<String> {
        turnstile::fact(&mut self.connect()?, name)
    }

    /// Moves it to another core.
    pub(crate) fn move_to(&self, core: usize) -> Result<()> {
        let mut taskset = Command::new("taskset");
        taskset.args(["-a", "-p", "-c", &core.to_string()]);
        run(taskset.arg(self.child.id().to_string()))?;
        Ok(())
    }

    fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// Asks until it has loaded its files: until then, what needs them is answered with `LOADING`.
    fn await_answer(&self, begin: Instant) -> Result<()> {
        // Ours answers `PING` at once.
        let command = match self.kind {
            Kind::Redis(_) | Kind::RedisEncrypted => "PING",
            Kind::Older => "ROOMS.TOTALS",
            Kind::Turnstile(_) | Kind::Keyed | Kind::Encrypted | Kind::Five => "ROOMS.GET-TOTALS",
        };
        self.await_until(begin, |server| {
            let address = server.protection.address(server.resp())?;
            Ok(ask(address, command).is_ok_and(|answer| !is_loading(&answer)))
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

    /// The end of its output.
    pub(crate) fn last_words(&self) -> Result<String> {
        let words = fs::read(self.home.path().join(OUTPUT))?;
        let start = words.len().saturating_sub(LAST_WORDS_BYTES);
        Ok(String::from_utf8_lossy(&words[start..]).into_owned())
    }
}

impl FromStr for Kind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Ok(match text {
            "turnstile" => Self::Turnstile(ServerDurability::Sync),
            "turnstile in memory" => Self::Turnstile(ServerDurability::Memory),
            "turnstile with a key" => Self::Keyed,
            "turnstile with TLS" => Self::Encrypted,
            "older turnstile" => Self::Older,
            "turnstile in five processes" => Self::Five,
            "redis" => Self::Redis(Persistence::None),
            "redis always" => Self::Redis(Persistence::Always),
            "redis always with TLS" => Self::RedisEncrypted,
            other => return Err(format!("there is no server `{other}`")),
        })
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Turnstile(durability) => write!(f, "turnstile {durability}"),
            Self::Keyed => f.write_str("turnstile with a key"),
            Self::Encrypted => f.write_str("turnstile with TLS"),
            Self::Older => f.write_str("older turnstile"),
            Self::Five => f.write_str("turnstile in five processes"),
            Self::Redis(persistence) => write!(f, "redis {persistence}"),
            Self::RedisEncrypted => f.write_str("redis always with TLS"),
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

fn ask(address: ServerAddress, command: &str) -> Result<Value, ClientError> {
    Connection::connect(address, ANSWER_TIMEOUT)?.command(&[command.as_bytes()])
}

/// Whether a server refuses because it has not yet read its files. Another refusal is an answer: a
/// process that has only one role knows no totals of rooms.
fn is_loading(answer: &Value) -> bool {
    matches!(answer, Value::Error(error) if error.starts_with("LOADING"))
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

#[cfg(test)]
mod tests {
    use turnstile_client::resp::Value;

    use super::{Kind, field, is_loading};

    #[test]
    fn a_server_that_reads_its_files_has_not_answered() {
        let error = |text: &str| Value::Error(text.to_owned());
        assert!(is_loading(&error(
            "LOADING the server recovers its journal, try again later: checking"
        )));
        assert!(!is_loading(&error(
            "ERR unknown command 'ROOMS.GET-TOTALS'"
        )));
        assert!(!is_loading(&Value::Simple("PONG".to_owned())));
    }

    #[test]
    fn a_field_is_found_by_its_whole_name() {
        let text = "# Rooms\r\nrooms_booked_total_x:3\r\nrooms_booked_total:41\r\n";
        assert_eq!(field(text, "rooms_booked_total"), Some("41"));
        assert_eq!(field(text, "rooms_booked"), None);
    }

    #[test]
    fn a_kind_is_named_in_scenarios() {
        let names = ["turnstile", "turnstile in memory", "redis always"];
        let shown = names.map(|name| name.parse::<Kind>().unwrap().to_string());
        let expected = [
            "turnstile sync",
            "turnstile memory",
            "redis appendfsync always",
        ];
        assert_eq!(shown, expected);
        assert!("postgres".parse::<Kind>().is_err());
    }
}
