//! Where a service may lie: in our journal, or in a private database on the server's core.

use std::{cell::OnceCell, fmt, path::Path, str::FromStr, thread, time::Duration};

use anyhow::{Context as _, Result};
use rustix::{
    event::{PollFd, PollFlags, poll},
    process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open},
};
use turnstile_trial::{MariaServer, PostgresServer};

use crate::{
    ground::Ground,
    pin,
    probe::joined,
    process,
    server::{Kind, Persistence, Server},
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Home {
    Embedded,
    Postgres,
    InnoDb,
    /// MariaDB with `ENGINE=MEMORY`.
    Memory,
    Redis(Persistence),
}

/// Database servers, each started when it is first needed, on the server's core, with durable
/// settings and files on the disk that is measured. They end when this is dropped.
#[derive(Debug, Default)]
pub(crate) struct OwnServers {
    postgres: OnceCell<PostgresServer>,
    maria: OnceCell<MariaServer>,
}

/// An empty database. What lies in it is dropped with this, so that nothing of it is written while
/// somebody else is measured.
#[derive(Debug)]
pub(crate) struct Empty<'a> {
    url: String,
    host: Host<'a>,
}

#[derive(Debug)]
enum Host<'a> {
    Postgres(&'a PostgresServer),
    Maria(&'a MariaServer),
    /// A server of its own: it starts in no time.
    Redis(Box<Server>),
}

impl OwnServers {
    /// An empty database of this kind; none for the embedded journal.
    pub(crate) fn empty(&self, home: Home, ground: &Ground) -> Result<Option<Empty<'_>>> {
        let empty = |url, host| Ok(Some(Empty { url, host }));
        match home {
            Home::Embedded => Ok(None),
            Home::Postgres => {
                let server = first(&self.postgres, &ground.scratch, PostgresServer::start_in)?;
                empty(server.database(), Host::Postgres(server))
            }
            Home::InnoDb | Home::Memory => {
                let server = first(&self.maria, &ground.scratch, MariaServer::start_in)?;
                let engine = if home == Home::InnoDb {
                    "innodb"
                } else {
                    "memory"
                };
                let url = format!("{}?engine={engine}", server.database());
                empty(url, Host::Maria(server))
            }
            Home::Redis(persistence) => {
                let server = ground.start(Kind::Redis(persistence))?;
                let url = format!("redis://{}/0", server.resp());
                empty(url, Host::Redis(Box::new(server)))
            }
        }
    }
}

/// The server in a cell; it is started on the server's core when there is none.
fn first<'a, S: Send + 'static>(
    cell: &'a OnceCell<S>,
    scratch: &Path,
    start: fn(&Path) -> S,
) -> Result<&'a S> {
    if cell.get().is_none() {
        let scratch = scratch.to_owned();
        // What a thread starts is born on its core.
        let started = joined(thread::spawn(move || {
            pin::pin(pin::SERVER_CORE)?;
            Ok(start(&scratch))
        }))?;
        drop(cell.set(started));
    }
    cell.get().context("a server was started just now")
}

impl Drop for OwnServers {
    /// Lets PostgreSQL end its children, so that what they have used is counted as ours. Where that
    /// fails, the server is killed all the same.
    fn drop(&mut self) {
        if let Some(server) = self.postgres.get() {
            drop(end(server.pid()));
        }
    }
}

/// Has a process end by itself, and waits for that.
fn end(pid: u32) -> Result<()> {
    let pid = Pid::from_raw(i32::try_from(pid)?).context("no process is 0")?;
    let process = pidfd_open(pid, PidfdFlags::empty())?;
    kill_process(pid, Signal::QUIT)?;
    poll(&mut [PollFd::new(&process, PollFlags::IN)], None)?;
    Ok(())
}

impl Empty<'_> {
    /// Where it is, as our server is told.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Its name there.
    pub(crate) fn name(&self) -> &str {
        let path = self.url.split('?').next().unwrap_or_default();
        path.rsplit('/').next().unwrap_or_default()
    }

    /// What all processes of its server have used since they began.
    pub(crate) fn cpu(&self) -> Result<Duration> {
        match &self.host {
            Host::Postgres(server) => process::cpu_of_tree(server.pid()),
            Host::Maria(server) => process::cpu_of_tree(server.pid()),
            Host::Redis(server) => server.cpu(),
        }
    }

    /// The MariaDB that it is in.
    pub(crate) fn maria(&self) -> Result<&MariaServer> {
        match &self.host {
            Host::Maria(server) => Ok(server),
            _ => anyhow::bail!("{} is in no MariaDB", self.url),
        }
    }

    /// The PostgreSQL that it is in.
    pub(crate) fn postgres(&self) -> Result<&PostgresServer> {
        match &self.host {
            Host::Postgres(server) => Ok(server),
            _ => anyhow::bail!("{} is in no PostgreSQL", self.url),
        }
    }

    /// The Redis that it is.
    pub(crate) fn redis(&self) -> Result<&Server> {
        match &self.host {
            Host::Redis(server) => Ok(server),
            _ => anyhow::bail!("{} is no Redis", self.url),
        }
    }
}

impl Drop for Empty<'_> {
    fn drop(&mut self) {
        let drop_it = format!("DROP DATABASE {}", self.name());
        match &self.host {
            Host::Postgres(server) => drop(server.sql("postgres", &(drop_it + " WITH (FORCE)"))),
            Host::Maria(server) => drop(server.sql(&drop_it)),
            Host::Redis(_) => {}
        }
    }
}

impl FromStr for Home {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Ok(match text {
            "embedded" => Self::Embedded,
            "postgres" => Self::Postgres,
            "innodb" => Self::InnoDb,
            "memory" => Self::Memory,
            "redis" => Self::Redis(Persistence::None),
            "redis always" => Self::Redis(Persistence::Always),
            other => return Err(format!("there is no back end `{other}`")),
        })
    }
}

impl fmt::Display for Home {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Embedded => f.write_str("embedded, sync"),
            Self::Postgres => f.write_str("PostgreSQL"),
            Self::InnoDb => f.write_str("MariaDB InnoDB"),
            Self::Memory => f.write_str("MariaDB MEMORY"),
            Self::Redis(persistence) => write!(f, "Redis, {persistence}"),
        }
    }
}
