//! A server with databases for tests.

use std::sync::Mutex;

use turnstile_contract::conformance::Stand;
use turnstile_mysql::{Address, Mysql};
use turnstile_trial::MariaServer;

/// A server, and the address of its last database.
pub(crate) struct Maria {
    pub(crate) server: MariaServer,
    /// Of the tables that are opened from now on.
    pub(crate) engine: &'static str,
    last: Mutex<String>,
}

impl Maria {
    pub(crate) fn start(engine: &'static str) -> Self {
        Self::on(MariaServer::start(), engine)
    }

    pub(crate) fn on(server: MariaServer, engine: &'static str) -> Self {
        Self {
            server,
            engine,
            last: Mutex::default(),
        }
    }

    /// Deadlocks that the server has ended since its start.
    pub(crate) fn deadlocks(&self) -> u64 {
        let count = self
            .server
            .sql("SELECT count FROM information_schema.innodb_metrics WHERE name='lock_deadlocks'");
        count.trim().parse().expect("it is counted")
    }

    /// The address of the last database, without its engine.
    pub(crate) fn url(&self) -> String {
        self.last.lock().expect("nobody panicked").clone()
    }

    /// Runs some SQL as root in the last database.
    pub(crate) fn sql(&self, sql: &str) -> String {
        let url = self.url();
        let (_, database) = url.rsplit_once('/').expect("an address names it");
        self.server.sql(&format!("USE {database}; {sql}"))
    }

    /// The last database, as whoever connects to this port finds it.
    pub(crate) async fn through(&self, port: u16) -> Mysql {
        let ours = format!(":{}/", self.server.port());
        let url = self.url().replace(&ours, &format!(":{port}/"));
        open(&format!("{url}?engine={}", self.engine)).await
    }
}

async fn open(url: &str) -> Mysql {
    let address = Address::parse(url).expect("an address of the tests");
    Mysql::open(&address).await.expect("the database opens")
}

impl Stand for Maria {
    type Backend = Mysql;

    async fn fresh(&self) -> Mysql {
        *self.last.lock().expect("nobody panicked") = self.server.database();
        self.another().await
    }

    async fn another(&self) -> Mysql {
        self.through(self.server.port()).await
    }
}
