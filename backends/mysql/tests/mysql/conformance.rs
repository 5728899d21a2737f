//! The suite of the contract, on MariaDB and on MySQL, with tables of both engines.

use tokio::runtime::Builder;
use turnstile_contract::conformance::{
    check_crowds, check_guesses, check_histories, check_keys_in_a_crowd, check_keys_of_failures,
};

use turnstile_trial::MariaServer;

use crate::stand::Maria;

fn check(server: MariaServer, engine: &'static str) -> Result<(), String> {
    let stand = Maria::on(server.without_syncs(), engine);
    let runtime = Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(async {
        check_keys_of_failures(&stand).await?;
        check_keys_in_a_crowd(&stand, 20).await?;
        check_guesses(&stand, 20).await?;
        check_histories(&stand, 0..20, 120).await?;
        check_crowds(&stand, 0..8).await
    })?;
    match stand.deadlocks() {
        0 => Ok(()),
        deadlocks => Err(format!("{deadlocks} deadlocks")),
    }
}

#[test]
fn tables_in_transactions_do_as_the_machine_does() {
    check(MariaServer::start(), "innodb").unwrap_or_else(|difference| panic!("{difference}"));
}

#[test]
fn tables_in_memory_do_as_the_machine_does() {
    check(MariaServer::start(), "memory").unwrap_or_else(|difference| panic!("{difference}"));
}

#[test]
fn tables_of_mysql_in_transactions_do_as_the_machine_does() {
    check(MariaServer::start_mysql(), "innodb").unwrap_or_else(|difference| panic!("{difference}"));
}

#[test]
fn tables_of_mysql_in_memory_do_as_the_machine_does() {
    check(MariaServer::start_mysql(), "memory").unwrap_or_else(|difference| panic!("{difference}"));
}
