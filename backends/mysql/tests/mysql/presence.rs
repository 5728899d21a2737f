//! Servers and copies at one database.

use turnstile_contract::{NotOpened, Unready, conformance::Stand};
use turnstile_mysql::{Address, Mysql, MysqlCopy};
use turnstile_trial::MariaServer;

use crate::{hotel::runtime, stand::Maria};

/// What is said of a database that is occupied.
fn said(error: &NotOpened) -> String {
    assert!(matches!(error.why, Unready::Occupied(_)), "{error}");
    error.to_string()
}

/// Any number of servers may be there, or one who copies.
fn check(stand: &Maria) {
    runtime().block_on(async {
        let first = stand.fresh().await;
        let second = stand.another().await;
        let url = format!("{}?engine={}", stand.url(), stand.engine);
        let address = Address::parse(&url).expect("an address of the tests");
        let refused = said(&MysqlCopy::open(&address).await.expect_err("it is served"));
        assert!(refused.contains("2 servers are connected"), "{refused}");
        assert!(refused.contains(", at 127.0.0.1:"), "{refused}");
        // Whoever was refused keeps nobody out.
        let third = stand.another().await;
        drop((first, second, third));
        let copy = MysqlCopy::open(&address).await.expect("nobody is there");
        let served = said(&Mysql::open(&address).await.expect_err("it is copied"));
        assert!(served.contains("its rooms are being copied"), "{served}");
        let copied = said(&MysqlCopy::open(&address).await.expect_err("it is copied"));
        assert!(copied.contains("its rooms are being copied"), "{copied}");
        drop(copy);
        drop(stand.another().await);
    });
}

#[test]
fn servers_and_copies_keep_each_other_out() {
    check(&Maria::start("innodb"));
}

#[test]
fn servers_and_copies_of_mysql_keep_each_other_out() {
    let mut stand = Maria::on(MariaServer::start_mysql(), "innodb");
    check(&stand);
    stand.engine = "memory";
    check(&stand);
}
