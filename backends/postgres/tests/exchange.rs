//! The exchange on a private PostgreSQL server, held to the machine.

use turnstile_contract::conformance::{Stand, exchange};
use turnstile_exchange::Exchange;
use turnstile_postgres::Postgres;
use turnstile_trial::PostgresServer;

/// Each fresh back end has a database of its own.
struct Databases {
    server: PostgresServer,
    last: std::cell::RefCell<String>,
}

impl Databases {
    fn new() -> Self {
        Self {
            server: PostgresServer::start(),
            last: std::cell::RefCell::default(),
        }
    }
}

impl Stand<Exchange> for Databases {
    type Backend = Postgres<Exchange>;

    async fn fresh(&self) -> Postgres<Exchange> {
        *self.last.borrow_mut() = self.server.database();
        self.another().await
    }

    async fn another(&self) -> Postgres<Exchange> {
        let url = self.last.borrow().clone();
        Postgres::open(&url).await.unwrap()
    }
}

#[tokio::test]
async fn histories_are_those_of_the_machine() {
    let stand = Databases::new();
    exchange::check_histories(&stand, 0..12, 60).await.unwrap();
}

#[tokio::test]
async fn crowds_could_have_come_one_by_one() {
    let stand = Databases::new();
    exchange::check_crowds(&stand, 0..4).await.unwrap();
}

#[tokio::test]
async fn a_key_is_decided_once_in_a_crowd() {
    let stand = Databases::new();
    exchange::check_keys_in_a_crowd(&stand, 5).await.unwrap();
}
