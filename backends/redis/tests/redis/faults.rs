//! Servers that die, lose everything, or take no writes.

use turnstile_contract::{Backend, Failure, Request, Unready};
use turnstile_redis::Redis;
use turnstile_rooms::{
    Answer, CancelReason, Command, Done, GuestName, IdNumber, Outcome, Query, Reference, Refusal,
    Rooms, Wish,
};
use turnstile_trial::{RedisServer, SmallDisk};
use turnstile_types::{Key, Name, Night, Principal, Stay, Timestamp};

use crate::stand::open;

const NOW: Timestamp = Timestamp(1_798_761_600_000);

fn name(text: &str) -> Name {
    Name::parse(text.as_bytes()).expect("a step of the test")
}

fn stay() -> Stay {
    Stay::new(Night::from_days(30), Night::from_days(33)).expect("a step of the test")
}

async fn ask(
    backend: &Redis,
    key: Option<&str>,
    command: &Command<'_>,
) -> Result<Outcome, Failure> {
    let key = key.map(|key| Key::parse(key.as_bytes()).expect("a step of the test"));
    let request = [Request::new::<Rooms>(Principal::local(), key, command)];
    let mut results = backend.execute(NOW, &request).await;
    results
        .pop()
        .expect("a step of the test")
        .map(|reply| reply.outcome)
}

async fn open_house(backend: &Redis) {
    let property = name("bench");
    let open = Command::AddProperty {
        property,
        open: true,
    };
    let added = ask(backend, None, &open).await.expect("a step of the test");
    assert_eq!(added, Outcome::Done(Done::PropertyAdded));
}

fn book<'a>(backend: &Redis, room: &str) -> Command<'a> {
    let id = IdNumber::parse(b"234123412346", false).expect("a step of the test");
    Command::Book {
        property: name("bench"),
        wish: Wish::Room(name(room)),
        stay: stay(),
        guest: GuestName::parse(b"Ada").expect("a step of the test"),
        id: backend.id_key().seal(id),
    }
}

fn reference(outcome: &Outcome) -> Reference {
    match outcome {
        Outcome::Done(Done::Booked { reference, .. }) => *reference,
        other => panic!("not booked: {other:?}"),
    }
}

#[tokio::test]
async fn what_was_acknowledged_survives_kill_9_and_is_not_sold_again() {
    let mut server = RedisServer::start();
    let backend = open(&server.url()).await;
    open_house(&backend).await;
    for number in 0..20 {
        let room = format!("r{number}");
        let booked = ask(&backend, None, &book(&backend, &room)).await.unwrap();
        server.kill();
        let away = ask(&backend, None, &book(&backend, "other"))
            .await
            .unwrap_err();
        assert!(
            matches!(away, Failure::Unavailable { .. } | Failure::Unknown { .. }),
            "{away}"
        );
        server.restart();
        let keyed = ask(&backend, Some(&room), &book(&backend, &room)).await;
        let again = match keyed {
            Err(Failure::Unavailable { .. }) => {
                let backend = open(&server.url()).await;
                ask(&backend, None, &book(&backend, &room)).await.unwrap()
            }
            decided => decided.unwrap(),
        };
        assert!(
            matches!(again, Outcome::Refused(Refusal::SoldOut { .. })),
            "{again:?}"
        );
        let backend = open(&server.url()).await;
        let query = Query::LookUp {
            reference: reference(&booked),
        };
        let answer = backend
            .query(NOW, &Principal::local(), &query)
            .await
            .unwrap();
        assert!(matches!(answer, Answer::Entry(_)), "{answer:?}");
    }
}

#[tokio::test]
async fn who_cancelled_for_a_guest_and_why_is_in_a_stream() {
    let server = RedisServer::start();
    let backend = open(&server.url()).await;
    open_house(&backend).await;
    let booked = ask(&backend, None, &book(&backend, "r1")).await.unwrap();
    let cancel = Command::CancelForGuest {
        booking: reference(&booked),
        reason: CancelReason::parse(b"the house is closed").unwrap(),
    };
    for _ in 0..2 {
        let cancelled = ask(&backend, Some("c"), &cancel).await.unwrap();
        assert!(matches!(cancelled, Outcome::Done(Done::Cancelled { .. })));
    }
    let told = server.cli(&["XRANGE", "{rooms}/cancellations", "-", "+"]);
    let fields: Vec<&str> = told.lines().skip(1).collect();
    assert_eq!(
        fields,
        [
            "booking",
            "0",
            "principal",
            "local",
            "at",
            "1798761600000",
            "reason",
            "the house is closed"
        ]
    );
}

#[tokio::test]
async fn a_server_that_forgets_everything_is_served_again_under_the_same_secret() {
    let server = RedisServer::start();
    let backend = open(&server.url()).await;
    open_house(&backend).await;
    server.cli(&["FLUSHALL"]);
    server.cli(&["FUNCTION", "FLUSH"]);
    open_house(&backend).await;
    ask(&backend, None, &book(&backend, "r1")).await.unwrap();
    let other = open(&server.url()).await;
    let refused = ask(&other, None, &book(&other, "r1")).await.unwrap();
    assert!(
        matches!(refused, Outcome::Refused(Refusal::SoldOut { .. })),
        "{refused:?}"
    );
    let number = IdNumber::parse(b"234123412346", false).unwrap();
    assert_eq!(backend.id_key().seal(number), other.id_key().seal(number));
}

#[tokio::test]
async fn a_server_without_memory_takes_nothing_and_keeps_what_it_has() {
    let server = RedisServer::start();
    let backend = open(&server.url()).await;
    open_house(&backend).await;
    server.cli(&["CONFIG", "SET", "maxmemory", "1"]);
    let refused = ask(&backend, None, &book(&backend, "r1"))
        .await
        .unwrap_err();
    assert!(matches!(refused, Failure::Unavailable { .. }), "{refused}");
    server.cli(&["CONFIG", "SET", "maxmemory", "0"]);
    let booked = ask(&backend, None, &book(&backend, "r1")).await.unwrap();
    assert_eq!(reference(&booked).slot, 0, "nothing of the first was done");
}

/// Books rooms until the server fails; gives the bookings, and why it did.
async fn book_until_full(backend: &Redis) -> (Vec<Reference>, Failure) {
    let mut made = Vec::new();
    loop {
        let room = format!("room-{}", made.len());
        match ask(backend, None, &book(backend, &room)).await {
            Ok(outcome) => made.push(reference(&outcome)),
            Err(failure) => return (made, failure),
        }
    }
}

/// Books a room once the server takes it, and asks for all that was made.
async fn go_on(backend: &Redis, mut made: Vec<Reference>) {
    let outcome = loop {
        match ask(backend, Some("late"), &book(backend, "late")).await {
            Err(Failure::Unavailable { .. } | Failure::Unknown { .. }) => {}
            decided => break decided.expect("it is booked or refused"),
        }
    };
    made.push(reference(&outcome));
    for reference in made {
        let query = Query::LookUp { reference };
        let answer = backend.query(NOW, &Principal::local(), &query).await;
        assert!(matches!(answer, Ok(Answer::Entry(_))), "{answer:?}");
    }
}

/// A Redis that syncs each write ends when it cannot; whoever starts it again when there is room finds all that
/// was acknowledged.
#[tokio::test]
async fn a_full_disk_under_always_ends_the_server_and_loses_nothing() {
    let Some(disk) = SmallDisk::mount(8, "Redis that syncs each write, on a full disk") else {
        return;
    };
    let mut server = RedisServer::start_in(disk.path());
    let backend = open(&server.url()).await;
    open_house(&backend).await;
    let filler = disk.fill();
    let (made, failure) = book_until_full(&backend).await;
    assert!(matches!(failure, Failure::Unknown { .. }), "{failure:?}");
    let away = ask(&backend, None, &book(&backend, "away")).await;
    assert!(matches!(away, Err(Failure::Unavailable { .. })), "{away:?}");
    drop(filler);
    server.restart();
    go_on(&backend, made).await;
}

/// One that syncs each second refuses to write, and questions too, since each may note that a hold is over; it
/// goes on by itself when there is room.
#[tokio::test]
async fn a_full_disk_under_everysec_refuses_and_goes_on() {
    let Some(disk) = SmallDisk::mount(8, "Redis that syncs each second, on a full disk") else {
        return;
    };
    let server = RedisServer::start_in(disk.path());
    server.cli(&["CONFIG", "SET", "appendfsync", "everysec"]);
    let backend = open(&server.url()).await;
    open_house(&backend).await;
    let filler = disk.fill();
    let (made, failure) = book_until_full(&backend).await;
    let query = backend
        .query(NOW, &Principal::local(), &Query::Totals)
        .await;
    for failure in [failure, query.unwrap_err()] {
        assert!(
            matches!(&failure, Failure::Unavailable { reason } if reason.contains("No space left")),
            "{failure:?}"
        );
    }
    drop(filler);
    go_on(&backend, made).await;
}

/// Keys with an expiry go first where Redis may evict, and those are the idempotency keys: a retry would book
/// twice.
#[tokio::test]
async fn a_server_that_may_evict_is_not_opened() {
    let server = RedisServer::start();
    let set = |name: &str, value: &str| server.cli(&["CONFIG", "SET", name, value]);
    let rows = [
        ("volatile-random", "100mb", false),
        ("allkeys-lru", "100mb", false),
        ("noeviction", "100mb", true),
        ("volatile-random", "0", true),
    ];
    for (policy, memory, opens) in rows {
        set("maxmemory-policy", policy);
        set("maxmemory", memory);
        let opened = Redis::open(&server.url()).await;
        assert_eq!(opened.is_ok(), opens, "{policy}, {memory}: {opened:?}");
        let Err(refused) = opened else { continue };
        assert_eq!(
            refused.to_string(),
            format!(
                "127.0.0.1:{}/0 cannot be used: with maxmemory-policy {policy} and maxmemory 104857600 it \
                 may evict bookings or idempotency keys: set maxmemory-policy to noeviction, or maxmemory \
                 to 0",
                server.port()
            )
        );
    }
    // Where the user may not ask, its owner alone knows.
    set("maxmemory", "100mb");
    server.cli(&["ACL", "SETUSER", "default", "-info"]);
    drop(open(&server.url()).await);
}

#[tokio::test]
async fn keys_of_a_later_version_are_refused() {
    let server = RedisServer::start();
    drop(open(&server.url()).await);
    server.cli(&["SET", "{rooms}/schema", "2"]);
    let refused = Redis::open(&server.url()).await.unwrap_err();
    assert!(
        matches!(refused.why, Unready::Newer { found: 2, .. }),
        "{refused}"
    );
}
