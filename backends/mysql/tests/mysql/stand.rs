//! A server with databases for tests.

use std::sync::Mutex;

use turnstile_contract::conformance::Stand;
use turnstile_mysql::{Address, Mysql};
use turnstile_trial::MariaServer;

/// A server, and the address of its last database.
pub(crate) struct Maria {
    pub(crate) server: MariaServer,
    engine: &'static str,
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

    /// The last database, as whoever connects to this port finds it.
    pub(crate) async fn through(&self, port: u16) -> Mysql {
        let url = self.last.lock().expect("nobody panicked").clone();
        let ours = format!(":{}/", self.server.port());
        open(&url.replace(&ours, &format!(":{port}/"))).await
    }
}

pub(crate) async fn open(url: &str) -> Mysql {
    let address = Address::parse(url).expect("an address of the tests");
    Mysql::open(&address).await.expect("the database opens")
}

impl Stand for Maria {
    type Backend = Mysql;

    async fn fresh(&self) -> Mysql {
        let url = format!("{}?engine={}", self.server.database(), self.engine);
        *self.last.lock().expect("nobody panicked") = url;
        self.another().await
    }

    async fn another(&self) -> Mysql {
        self.through(self.server.port()).await
    }
}
