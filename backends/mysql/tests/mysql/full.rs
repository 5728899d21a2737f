//! A database whose disk is full.

use std::{path::Path, time::Duration};

use turnstile_contract::conformance::{House, Stand};
use turnstile_trial::{MariaServer, SmallDisk};

use crate::{hotel::runtime, stand::Maria};

/// What the database says of it: it has no room to write a row, or is still looking for some to take back the
/// rows of the last batch, which it does with their locks held.
const FULL: [&str; 2] = ["is full (1114)", "Lock wait timeout exceeded"];

/// How long a server that has closed its connections may take to end.
const END: Duration = Duration::from_secs(60);

/// While the disk of the database is full, commands are answered as unavailable, with the reason that the
/// database gives, and those who read are served. Then there is room again, and the same server goes
/// on; what was acknowledged is there, also after a crash, and what was refused is not.
///
/// One that `may_end` is started again when it has ended by itself.
fn check(start: impl Fn(&Path) -> MariaServer, mebibytes: u32, may_end: bool) {
    let Some(disk) = SmallDisk::mount(mebibytes, "InnoDB on a full disk") else {
        return;
    };
    let mut stand = Maria::on(start(disk.path()), "innodb");
    runtime().block_on(async {
        let backend = stand.fresh().await;
        let house = House::open(&backend).await;
        let mut house = house.expect("there is room for it");
        // So the tables lie on the disk, and not in the log alone.
        stand.server.sql("SHUTDOWN");
        assert!(stand.server.has_ended(END));
        stand.server.restart();
        let mut has_ended = || may_end && stand.server.has_ended(END);
        let filler = disk.fill();
        let full = house.book_until_full(|reason| {
            FULL.iter().any(|words| reason.contains(words)) || has_ended()
        });
        assert_eq!(full.await, Ok(()));
        if let Err(why) = house.compare().await {
            assert!(has_ended(), "{why}");
        }
        drop(filler);
        if let Err(why) = house.book("late").await {
            assert!(has_ended(), "{why}");
            stand.server.restart();
            assert_eq!(house.book("late").await, Ok(()));
        }
        stand.server.restart();
        assert_eq!(house.compare().await, Ok(()));
    });
}

#[test]
fn a_full_disk_refuses_loses_nothing_and_goes_on() {
    check(MariaServer::start_in, 192, false);
}

/// MySQL ends itself where taking back a batch needs room that there is not ("Out of tablespace during
/// rollback").
#[test]
fn a_full_disk_of_mysql_refuses_and_loses_nothing() {
    check(MariaServer::start_mysql_in, 320, true);
}
