//! A database whose disk is full.

use std::path::Path;

use turnstile_contract::conformance::{House, Stand};
use turnstile_trial::{MariaServer, SmallDisk};

use crate::{hotel::runtime, stand::Maria};

/// What the database says of it: it has no room to write a row, or is still looking for some to take back the
/// rows of the last batch, which it does with their locks held.
const FULL: [&str; 2] = ["is full (1114)", "Lock wait timeout exceeded"];

/// While the disk of the database is full, commands are answered as unavailable, with the reason that the
/// database gives, and those who read are served. Then there is room again, and the same server goes
/// on; what was acknowledged is there, also after a crash, and what was refused is not.
fn check(start: impl Fn(&Path) -> MariaServer, mebibytes: u32) {
    let Some(disk) = SmallDisk::mount(mebibytes, "InnoDB on a full disk") else {
        return;
    };
    let mut stand = Maria::on(start(disk.path()), "innodb");
    runtime().block_on(async {
        let backend = stand.fresh().await;
        let house = House::open(&backend).await;
        let mut house = house.expect("there is room for it");
        let filler = disk.fill();
        assert_eq!(house.book_until_full(&FULL).await, Ok(()));
        assert_eq!(house.compare().await, Ok(()));
        drop(filler);
        assert_eq!(house.book("late").await, Ok(()));
        stand.server.restart();
        assert_eq!(house.compare().await, Ok(()));
    });
}

#[test]
fn a_full_disk_refuses_loses_nothing_and_goes_on() {
    check(MariaServer::start_in, 192);
}

#[test]
fn a_full_disk_of_mysql_refuses_loses_nothing_and_goes_on() {
    check(MariaServer::start_mysql_in, 320);
}
