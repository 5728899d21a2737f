//! Hosts that take connections and never answer.

use std::{net::TcpListener, sync::Arc, time::Duration};

use futures_util::future::join_all;
use tokio::time::{Instant, sleep, timeout};
use turnstile_contract::{Backend, Failure, Unready};
use turnstile_postgres::{Postgres, PostgresCopy};
use turnstile_rooms::{Query, Rooms};
use turnstile_trial::PostgresServer;
use turnstile_types::Principal;

use crate::{
    proxy::Proxy,
    words::{NOW, add_property, book, execute, given, totals},
};

/// More than anything may take that waits for a silent host, where the address says a second.
const BOUND: Duration = Duration::from_secs(30);

#[tokio::test]
async fn a_host_that_never_answers_is_not_opened() {
    // Nobody accepts: the system completes connections itself.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let place = listener.local_addr().unwrap();
    let url = format!("postgres://ada@{place}/hotel?connect_timeout=1");
    let served = timeout(BOUND, Postgres::<Rooms>::open(&url)).await;
    let copied = timeout(BOUND, PostgresCopy::open(&url)).await;
    for refused in [
        served.expect("the start ends").map(drop),
        copied.expect("the copy ends").map(drop),
    ] {
        let silent = Unready::Unavailable("the database does not answer".to_owned());
        assert_eq!(refused.unwrap_err(), silent.at(&format!("{place}/hotel")));
    }
}

#[tokio::test]
async fn a_database_that_falls_silent_is_unavailable_until_it_answers() {
    let server = PostgresServer::start();
    let proxy = Proxy::start(server.port()).await;
    let url = proxy.through(&server.database(), server.port());
    let url = format!("{url}?connect_timeout=1");
    let backend = Postgres::<Rooms>::open(&url).await.expect("it opens");
    let backend = Arc::new(backend);
    execute(&backend, NOW, add_property()).await.unwrap();

    proxy.be_silent(true);
    // It was on the way when its connection ended.
    let cut = timeout(BOUND, execute(&backend, NOW, book("", "1", "Ada"))).await;
    let cut = cut.expect("it is answered").unwrap_err();
    assert_eq!(cut.code(), "unknown", "{cut}");
    let ask = async |number: usize| {
        let key = format!("key-{number}");
        let command = timeout(BOUND, execute(&backend, NOW, book(&key, &key, "Ada"))).await;
        let principal = Principal::local();
        let query = timeout(BOUND, backend.query(NOW, &principal, &Query::Totals)).await;
        (
            command.expect("a command is answered").unwrap_err(),
            query.expect("a query is answered").unwrap_err(),
        )
    };
    for (command, query) in join_all((0..12).map(ask)).await {
        for failure in [command, query] {
            assert!(
                matches!(failure, Failure::Unavailable { .. }),
                "{failure:?}"
            );
        }
    }
    // While one of them tries, the others are told at once.
    let before = Instant::now();
    join_all((0..12).map(ask)).await;
    assert!(before.elapsed() < Duration::from_secs(8), "they took turns");

    proxy.be_silent(false);
    let again = async {
        loop {
            match execute(&backend, NOW, book("late", "2", "Ada")).await {
                Err(Failure::Unavailable { .. }) => sleep(Duration::from_millis(20)).await,
                decided => break given(&decided),
            }
        }
    };
    timeout(BOUND, again).await.expect("it answers again");
    assert_eq!(totals(&backend).await.bookings, 1);
}
