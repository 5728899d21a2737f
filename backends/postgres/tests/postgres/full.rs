//! A database whose disk is full.

use turnstile_contract::{Failure, Unready, conformance::House};
use turnstile_postgres::Postgres;
use turnstile_rooms::Rooms;
use turnstile_trial::{PostgresServer, SmallDisk};

/// Enough for an empty database with two segments of its log, in MiB.
const DISK: u32 = 128;

/// Tables that cannot grow refuse commands, and those who read are served. A log that cannot grow ends the
/// database, which somebody starts again when there is room. Each time the same server goes on by itself, and
/// what was acknowledged is there.
#[tokio::test]
async fn a_full_disk_refuses_loses_nothing_and_goes_on() {
    let Some(disk) = SmallDisk::mount(DISK, "PostgreSQL on a full disk") else {
        return;
    };
    let mut server = PostgresServer::start_in(disk.path());
    let url = server.database();
    let backend = Postgres::<Rooms>::open(&url).await.unwrap();
    let mut house = House::open(&backend).await.unwrap();

    let filler = disk.fill();
    let full = house.book_until_full(|reason| reason.contains("(53100)"));
    assert_eq!(full.await, Ok(()));
    assert_eq!(house.compare().await, Ok(()));
    drop(filler);
    assert_eq!(house.book("late").await, Ok(()));

    let filler = disk.fill();
    server.sql("postgres", "SELECT pg_switch_wal()");
    let failure = house.book("cut").await.unwrap_err();
    assert!(is_passing(&failure), "{failure:?}");
    let ended = Postgres::<Rooms>::open(&url).await.unwrap_err();
    assert!(matches!(ended.why, Unready::Unavailable(_)), "{ended}");
    drop(filler);
    server.restart();
    while let Err(failure) = house.book("cut").await {
        assert!(is_passing(&failure), "{failure:?}");
    }
    assert_eq!(house.compare().await, Ok(()));
}

/// Whether the same command under the same key may be sent again.
fn is_passing(failure: &Failure) -> bool {
    matches!(
        failure,
        Failure::Unavailable { .. } | Failure::Unknown { .. }
    )
}
