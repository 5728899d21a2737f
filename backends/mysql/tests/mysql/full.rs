//! A database whose disk is full.

use std::path::Path;

use turnstile_contract::{Backend, Failure, conformance::Stand};
use turnstile_mysql::Mysql;
use turnstile_rooms::{Answer, Done, Outcome, Query, Reference};
use turnstile_trial::{MariaServer, SmallDisk};

use crate::{
    hotel::{NOW, ask, book, booking, furnish, runtime, totals},
    stand::Maria,
};

/// Bookings that are sent at once.
const BATCH: u16 = 64;

/// Batches that must be refused in a row.
const REFUSED: u16 = 5;

/// Batches until a full disk must have been noticed: a table soon grows.
const BATCHES_MAX: u16 = 1_000;

/// While the disk of the database is full, commands are answered as unavailable, with the reason that the
/// database gives, and those who read are served. Then there is room again, and the same server goes
/// on; what was acknowledged is there, also after a crash, and what was refused is not.
fn check(start: impl Fn(&Path) -> MariaServer, mebibytes: u32) {
    let disk = SmallDisk::mount(mebibytes);
    let mut stand = Maria::on(start(disk.path()), "innodb");
    runtime().block_on(async {
        let backend = stand.fresh().await;
        furnish(&backend).await;
        let filler = disk.fill();
        let mut made = book_until_full(&backend).await;
        assert_eq!(totals(&backend).await.bookings, made.len() as u64);
        drop(filler);
        made.extend(book(&backend, &[booking(Some("late"), 10, None)]).await);
        stand.server.restart();
        assert_eq!(totals(&backend).await.bookings, made.len() as u64);
        for reference in made {
            let answer = ask(&backend, &Query::LookUp { reference }).await;
            assert!(matches!(answer, Answer::Entry(_)), "{answer:?}");
        }
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

/// What was acknowledged until the database said of some batches, one after another, that there was no room.
async fn book_until_full(backend: &Mysql) -> Vec<Reference> {
    let (mut made, mut refused) = (Vec::new(), 0);
    for batch in 0..BATCHES_MAX {
        let rooms = (0..BATCH).map(|number| format!("room-{batch}-{number}"));
        let requests: Vec<_> = rooms
            .map(|room| booking(Some(&room), 10, Some(&room)))
            .collect();
        let before = made.len();
        for reply in backend.execute(NOW, &requests).await {
            match reply.map(|reply| reply.outcome) {
                Ok(Outcome::Done(Done::Booked { reference, .. })) => made.push(reference),
                Err(Failure::Unavailable { reason }) if reason.contains("is full") => {}
                other => panic!("{other:?}"),
            }
        }
        refused = if made.len() == before { refused + 1 } else { 0 };
        if refused == REFUSED {
            return made;
        }
    }
    panic!("{} bookings lie on a full disk", made.len());
}
