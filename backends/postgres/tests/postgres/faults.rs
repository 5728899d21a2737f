//! Cut connections, killed servers, and databases that refuse.

use std::sync::Arc;

use turnstile_contract::{Backend, Failure, Unready, conformance::Stand};
use turnstile_postgres::Postgres;
use turnstile_rooms::{Answer, Outcome, Query, Refusal, Rooms};
use turnstile_trial::PostgresServer;
use turnstile_types::Principal;

use crate::{
    proxy::{Cut, Proxy},
    stand::Cluster,
    words::{NOW, add_property, book, execute, given, totals},
};

async fn furnished(url: &str) -> Postgres<Rooms> {
    let backend = Postgres::open(url).await.expect("the database opens");
    execute(&backend, NOW, add_property())
        .await
        .expect("the property is opened");
    backend
}

fn count(backend: &Postgres<Rooms>, name: &str) -> u64 {
    let named = backend.tally().named();
    named
        .into_iter()
        .find(|(other, _)| *other == name)
        .expect("it is counted")
        .1
}

#[tokio::test]
async fn a_command_cut_on_the_way_is_found_by_its_key() {
    let server = PostgresServer::start();
    let proxy = Proxy::start(server.port()).await;
    let backend = furnished(&proxy.through(&server.database(), server.port())).await;
    for (number, (cut, replayed)) in [(Cut::Answer, true), (Cut::Request, false)]
        .into_iter()
        .enumerate()
    {
        let (key, room) = (format!("key-{number}"), format!("room-{number}"));
        execute(&backend, NOW, book("", &format!("{room}-before"), "Ada"))
            .await
            .unwrap();
        proxy.cut(cut);
        let reply = execute(&backend, NOW, book(&key, &room, "Ada")).await;
        let reference = given(&reply);
        assert_eq!(reply.unwrap().replayed, replayed, "{cut:?}");
        let again = execute(&backend, NOW, book(&key, &room, "Ada")).await;
        assert_eq!(given(&again), reference, "{cut:?}");
    }
    assert_eq!(totals(&backend).await.bookings, 4);
    assert_eq!(count(&backend, "resolved"), 2);
    assert_eq!(count(&backend, "reconnects"), 2);
}

#[tokio::test]
async fn a_command_cut_on_the_way_without_a_key_is_unknown() {
    let server = PostgresServer::start();
    let proxy = Proxy::start(server.port()).await;
    let backend = furnished(&proxy.through(&server.database(), server.port())).await;
    for (room, cut) in [("done", Cut::Answer), ("not-done", Cut::Request)] {
        execute(&backend, NOW, book("", &format!("{room}-before"), "Ada"))
            .await
            .unwrap();
        proxy.cut(cut);
        let failed = execute(&backend, NOW, book("", room, "Ada"))
            .await
            .unwrap_err();
        assert_eq!(failed.code(), "unknown", "{failed}");
    }
    let again = execute(&backend, NOW, book("", "done", "Bob"))
        .await
        .unwrap()
        .outcome;
    assert!(
        matches!(again, Outcome::Refused(Refusal::SoldOut { .. })),
        "{again:?}"
    );
    given(&execute(&backend, NOW, book("", "not-done", "Bob")).await);
    assert_eq!(totals(&backend).await.bookings, 4);
}

#[tokio::test]
async fn what_was_acknowledged_survives_a_killed_database_and_keys_tell_the_rest() {
    let mut server = PostgresServer::start();
    let url = server.database();
    let backend = Arc::new(furnished(&url).await);
    let callers: Vec<_> = (0..6)
        .map(|caller| tokio::spawn(call(Arc::clone(&backend), caller)))
        .collect();
    for _ in 0..2 {
        let before = totals_or_nothing(&backend).await;
        while totals_or_nothing(&backend).await < before + 20 {}
        server = tokio::task::spawn_blocking(move || {
            server.kill();
            server.restart();
            server
        })
        .await
        .unwrap();
    }
    let mut references = Vec::new();
    for caller in callers {
        references.extend(caller.await.unwrap());
    }
    assert_eq!(totals(&backend).await.bookings, references.len() as u64);
    for reference in references {
        let asked = Query::LookUp { reference };
        let found = backend
            .query(NOW, &Principal::local(), &asked)
            .await
            .unwrap();
        assert!(matches!(found, Answer::Entry(_)), "{reference}: {found:?}");
    }
}

/// Books forty rooms, each under a key, and each until the database has answered.
async fn call(backend: Arc<Postgres<Rooms>>, caller: u32) -> Vec<turnstile_rooms::Reference> {
    let mut references = Vec::new();
    for number in 0..40 {
        let key = format!("{caller}-{number}");
        let reply = loop {
            let reply = execute(&backend, NOW, book(&key, &key, "Ada")).await;
            match reply {
                Err(Failure::Unavailable { .. } | Failure::Unknown { .. }) => {
                    tokio::task::yield_now().await;
                }
                other => break other,
            }
        };
        references.push(given(&reply));
    }
    references
}

async fn totals_or_nothing(backend: &Postgres<Rooms>) -> u64 {
    tokio::task::yield_now().await;
    let answer = backend
        .query(NOW, &Principal::local(), &Query::Totals)
        .await;
    match answer {
        Ok(Answer::Totals(totals)) => totals.bookings,
        _ => 0,
    }
}

/// Has the database refuse bookings for a guest in one way.
fn refuse(server: &PostgresServer, url: &str, guest: &str, state: &str) {
    let database = url.rsplit('/').next().expect("the name of the database");
    let sql = format!(
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
             IF NEW.guest = '{guest}' THEN
                 RAISE EXCEPTION 'refused' USING ERRCODE = '{state}';
             END IF;
             RETURN NEW;
         END $$;
         CREATE TRIGGER refuse BEFORE INSERT ON rooms.booking
         FOR EACH ROW EXECUTE FUNCTION refuse()"
    );
    server.sql(database, &sql);
}

#[tokio::test]
async fn what_the_database_refuses_is_told_by_what_it_means() {
    let server = PostgresServer::start();
    let rows = [
        ("53100", "unavailable", 0, 0, 0),
        ("25006", "unavailable", 0, 0, 0),
        ("55P03", "unavailable", 0, 0, 0),
        ("40001", "unavailable", 9, 0, 1),
        ("23505", "unavailable", 9, 0, 1),
        ("40P01", "unavailable", 0, 9, 1),
        ("22003", "broken", 0, 0, 0),
    ];
    for (state, code, serialization, deadlock, given_up) in rows {
        let url = server.database();
        let backend = furnished(&url).await;
        refuse(&server, &url, "Mallory", state);
        let failed = execute(&backend, NOW, book("", "1", "Mallory"))
            .await
            .unwrap_err();
        assert_eq!(failed.code(), code, "{state}: {failed}");
        assert_eq!(
            count(&backend, "serialization_retries"),
            serialization,
            "{state}"
        );
        assert_eq!(count(&backend, "deadlock_retries"), deadlock, "{state}");
        assert_eq!(count(&backend, "given_up"), given_up, "{state}");
        assert_eq!(totals(&backend).await.bookings, 0, "{state}");
        given(&execute(&backend, NOW, book("", "1", "Ada")).await);
    }
}

#[tokio::test]
async fn a_command_that_the_database_refuses_does_not_spoil_the_others() {
    let server = PostgresServer::start();
    let url = server.database();
    let backend = furnished(&url).await;
    refuse(&server, &url, "Mallory", "22003");
    let requests = [
        book("", "1", "Ada"),
        book("", "2", "Mallory"),
        book("", "3", "Ada"),
    ];
    let results = backend.execute(NOW, &requests).await;
    let [first, second, third] = results.as_slice() else {
        panic!("{} answers to three commands", results.len());
    };
    assert!(given(first) < given(third));
    assert_eq!(second.as_ref().unwrap_err().code(), "broken");
    assert_eq!(totals(&backend).await.bookings, 2);
}

#[tokio::test]
async fn a_database_that_takes_no_writes_still_answers_questions() {
    let server = PostgresServer::start();
    let url = server.database();
    given(&execute(&furnished(&url).await, NOW, book("", "1", "Ada")).await);
    server.sql(
        "postgres",
        "ALTER DATABASE test_0 SET default_transaction_read_only = on",
    );
    let backend = Postgres::<Rooms>::open(&url).await.unwrap();
    let failed = execute(&backend, NOW, book("", "2", "Ada"))
        .await
        .unwrap_err();
    assert_eq!(failed.code(), "unavailable", "{failed}");
    assert_eq!(totals(&backend).await.bookings, 1);
}

#[tokio::test]
async fn a_database_is_opened_or_refused_for_a_reason() {
    let mut cluster = Cluster::start();
    let first = cluster.fresh().await;
    let second = cluster.another().await;
    let sealed = [&first, &second].map(|backend| {
        let number = turnstile_rooms::IdNumber::parse(b"234123412346", false).unwrap();
        backend.id_key().seal(number)
    });
    assert_eq!(sealed[0], sealed[1], "servers on one database seal alike");
    let facts = first.facts().await.unwrap();
    assert_eq!((facts.product.as_str(), facts.schema), ("PostgreSQL", 9));
    assert!(
        facts
            .durability
            .contains(&("fsync".to_owned(), "on".to_owned()))
    );

    cluster.server.sql(
        "test_0",
        "INSERT INTO turnstile.migration VALUES ('rooms', 99)",
    );
    let port = cluster.server.port();
    let place = format!("127.0.0.1:{port}/test_0");
    let url = format!("postgres://turnstile:sesame@{place}");
    let refused = Postgres::<Rooms>::open(&url).await.unwrap_err();
    let (found, known) = (99, 9);
    assert_eq!(refused, Unready::Newer { found, known }.at(&place));

    let known = "DELETE FROM turnstile.migration WHERE number = 99";
    cluster.server.sql("test_0", known);
    let open = Postgres::<Rooms>::open(&url).await.unwrap();
    cluster.server.kill();
    let refused = Postgres::<Rooms>::open(&url).await.unwrap_err();
    assert!(matches!(refused.why, Unready::Unavailable(_)), "{refused}");
    assert!(!format!("{refused} {refused:?} {open:?}").contains("sesame"));
    let invalid = Postgres::<Rooms>::open("hotel").await.unwrap_err();
    assert_eq!(
        invalid.to_string(),
        "a PostgreSQL database is named as postgres://USER:PASSWORD@HOST:PORT/DATABASE"
    );
}
