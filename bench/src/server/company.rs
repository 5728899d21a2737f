//! Travel as one process plays it, or five: the middleware, and a desk each.

use std::{net::SocketAddr, path::Path, time::Duration, time::Instant};

use anyhow::Result;
use turnstile_client::Connection;

use super::{Durability, Kind, Server, free_address, turnstile};

const DESKS: [&str; 4] = ["flights", "cars", "rooms", "customers"];

/// All processes that play travel, each durable in a directory of its own, on the server's core.
#[derive(Debug)]
pub(crate) struct Company {
    /// The one that clients know.
    middleware: Server,
    /// The others; none where one process plays everything.
    desks: Vec<Server>,
}

impl Company {
    pub(crate) const fn of_one(server: Server) -> Self {
        Self {
            middleware: server,
            desks: Vec::new(),
        }
    }

    /// Starts five processes, and waits until they know each other.
    pub(crate) fn of_five(turnstile: &Path, scratch: &Path) -> Result<Self> {
        let start = |role: Vec<String>| {
            Server::start_as(Kind::Turnstile(Durability::Sync), &role, turnstile, scratch)
        };
        let (mut desks, mut peers) = (Vec::new(), Vec::new());
        for desk in DESKS {
            let door = free_address()?.to_string();
            let role = ["--role", desk, "--desk", &door].map(str::to_owned);
            desks.push(start(role.to_vec())?);
            peers.extend([format!("--peer-{desk}"), door]);
        }
        peers.extend(["--role", "middleware"].map(str::to_owned));
        let company = Self {
            middleware: start(peers)?,
            desks,
        };
        company.middleware.await_until(Instant::now(), |server| {
            turnstile::has_lines(&mut server.connect()?, &DESKS)
        })?;
        Ok(company)
    }

    /// The door of travel.
    pub(crate) const fn lines(&self) -> SocketAddr {
        self.middleware.lines()
    }

    /// Connects to the middleware over RESP.
    pub(crate) fn connect(&self) -> Result<Connection> {
        self.middleware.connect()
    }

    /// How many groups all of them have made durable.
    pub(crate) fn groups(&self) -> Result<u64> {
        self.all().map(Server::groups).sum()
    }

    /// What all of them have used.
    pub(crate) fn cpu(&self) -> Result<Duration> {
        self.all().map(Server::cpu).sum()
    }

    fn all(&self) -> impl Iterator<Item = &Server> {
        self.desks.iter().chain([&self.middleware])
    }
}
