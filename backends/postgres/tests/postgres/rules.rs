//! What the suite of all back ends does not reach: limits, ages, and what is in the tables.

use futures_util::future::join_all;
use turnstile_contract::{Backend, conformance::Stand};
use turnstile_rooms::{CancelReason, Command, Done, Outcome, Refusal, limits};

use crate::{
    stand::Cluster,
    words::{NOW, add_property, book, execute, given, hold, request, totals},
};

#[tokio::test]
async fn a_room_is_sold_once_to_a_rush_through_two_servers() {
    let cluster = Cluster::start();
    let (first, second) = (cluster.fresh().await, cluster.another().await);
    execute(&first, NOW, add_property()).await.unwrap();
    let rush = (0..100).map(|caller| {
        let backend = if caller % 2 == 0 { &first } else { &second };
        execute(backend, NOW, book("", "1", "Ada"))
    });
    let replies = join_all(rush).await;
    let sold = replies
        .iter()
        .filter(|reply| matches!(reply.as_ref().unwrap().outcome, Outcome::Done(_)));
    assert_eq!(sold.count(), 1);
    assert_eq!(
        cluster
            .server
            .sql("test_0", "SELECT count(*) FROM rooms.night"),
        "2\n"
    );
}

#[tokio::test]
async fn who_cancelled_for_a_guest_and_why_is_in_the_tables() {
    let cluster = Cluster::start();
    let backend = cluster.fresh().await;
    execute(&backend, NOW, add_property()).await.unwrap();
    let booking = given(&execute(&backend, NOW, book("", "1", "Ada")).await);
    let reason = CancelReason::parse("l'h\u{f4}tel ferme".as_bytes()).unwrap();
    let cancel = Command::CancelForGuest { booking, reason };
    for _ in 0..2 {
        let reply = execute(&backend, NOW, request("c", &cancel)).await.unwrap();
        assert!(matches!(
            reply.outcome,
            Outcome::Done(Done::Cancelled { .. })
        ));
    }
    let told = "SELECT reference, principal, reason FROM rooms.cancellation";
    assert_eq!(
        cluster.server.sql("test_0", told),
        "0|local|l'h\u{f4}tel ferme\n"
    );
}

#[tokio::test]
async fn a_principal_holds_so_many_rooms_and_no_more() {
    let cluster = Cluster::start();
    let backend = cluster.fresh().await;
    let limit = limits::HOLDS_PER_PRINCIPAL_MAX;
    execute(&backend, NOW, add_property()).await.unwrap();
    let holds: Vec<_> = (0..=limit)
        .map(|room| hold(&room.to_string(), 1_000))
        .collect();
    let mut results = backend.execute(NOW, &holds).await;
    let last = results.pop().unwrap().unwrap().outcome;
    assert_eq!(last, Outcome::Refused(Refusal::TooManyHolds { limit }));
    assert!(results.iter().map(given).is_sorted());
    let later = NOW.plus_ms(1_000);
    given(&execute(&backend, later, hold("one-more", 1_000)).await);
    assert_eq!(totals(&backend).await.held_total, u64::from(limit) + 1);
}

#[tokio::test]
async fn ticks_expire_and_forget_in_the_tables_too() {
    let cluster = Cluster::start();
    let backend = cluster.fresh().await;
    execute(&backend, NOW, add_property()).await.unwrap();
    given(&execute(&backend, NOW, hold("1", 1_000)).await);
    given(&execute(&backend, NOW, book("key", "2", "Ada")).await);
    let rows = "SELECT (SELECT string_agg(state::text, ' ' ORDER BY reference) FROM rooms.booking),
                       (SELECT count(*) FROM rooms.night),
                       (SELECT count(*) FROM rooms.idempotency_key)";
    let told = |at: u64| {
        let (backend, cluster) = (&backend, &cluster);
        async move {
            backend.tick(NOW.plus_ms(at)).await.unwrap();
            cluster.server.sql("test_0", rows)
        }
    };
    assert_eq!(told(999).await, "held booked|4|1\n");
    assert_eq!(told(1_000).await, "expired booked|2|1\n");
    assert_eq!(
        told(999 + limits::LATE_CONFIRM_MS).await,
        "expired booked|2|0\n"
    );
    assert_eq!(
        told(1_000 + limits::LATE_CONFIRM_MS).await,
        "forgotten booked|2|0\n"
    );
}
