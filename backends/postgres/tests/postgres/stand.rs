//! A server with databases for tests.

use std::sync::Mutex;

use turnstile_contract::conformance::Stand;
use turnstile_postgres::Postgres;
use turnstile_rooms::Rooms;
use turnstile_trial::PostgresServer;

/// A server, and the address of its last database.
pub(crate) struct Cluster {
    pub(crate) server: PostgresServer,
    last: Mutex<String>,
}

impl Cluster {
    pub(crate) fn start() -> Self {
        Self::on(PostgresServer::start())
    }

    pub(crate) fn on(server: PostgresServer) -> Self {
        Self {
            server,
            last: Mutex::default(),
        }
    }
}

impl Stand for Cluster {
    type Backend = Postgres<Rooms>;

    async fn fresh(&self) -> Postgres<Rooms> {
        *self.last.lock().expect("nobody panicked") = self.server.database();
        self.another().await
    }

    async fn another(&self) -> Postgres<Rooms> {
        let url = self.last.lock().expect("nobody panicked").clone();
        Postgres::open(&url).await.expect("the database opens")
    }
}
