//! The suite of the contract, with tables of both engines.

use std::cell::RefCell;

use tokio::runtime::Builder;
use turnstile_contract::conformance::{
    Stand, check_crowds, check_histories, check_keys_in_a_crowd, check_keys_of_failures,
};
use turnstile_mysql::{Address, Mysql};
use turnstile_trial::MariaServer;

/// A server, and the address of the database that was made last.
struct Maria {
    server: MariaServer,
    engine: &'static str,
    last: RefCell<String>,
}

impl Stand for Maria {
    type Backend = Mysql;

    async fn fresh(&self) -> Mysql {
        let url = format!("{}?engine={}", self.server.database(), self.engine);
        self.last.replace(url);
        self.another().await
    }

    async fn another(&self) -> Mysql {
        let address = Address::parse(&self.last.borrow()).unwrap();
        Mysql::open(&address).await.unwrap()
    }
}

fn check(engine: &'static str) -> Result<(), String> {
    let stand = Maria {
        server: MariaServer::start(),
        engine,
        last: RefCell::default(),
    };
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        check_keys_of_failures(&stand).await?;
        check_keys_in_a_crowd(&stand, 20).await?;
        check_histories(&stand, 0..20, 120).await?;
        check_crowds(&stand, 0..8).await
    })
}

#[test]
fn tables_in_transactions_do_as_the_machine_does() {
    check("innodb").unwrap_or_else(|difference| panic!("{difference}"));
}

#[test]
fn tables_in_memory_do_as_the_machine_does() {
    check("memory").unwrap_or_else(|difference| panic!("{difference}"));
}
