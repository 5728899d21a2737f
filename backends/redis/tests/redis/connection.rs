//! What is said on a connection, and to whom.

use std::{
    io::{Read as _, Write as _},
    net::TcpListener,
    thread,
};

use turnstile_contract::{Backend as _, Failure, NotOpened, Unready};
use turnstile_redis::Redis;
use turnstile_rooms::Query;
use turnstile_trial::RedisServer;
use turnstile_types::{Principal, Timestamp};

use crate::stand::open;

async fn reason(url: &str) -> String {
    match Redis::open(url).await {
        Err(NotOpened {
            why: Unready::Unavailable(reason),
            ..
        }) => reason,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn the_address_says_which_database_and_who_we_are() {
    let server = RedisServer::start();
    let third = |who: &str| format!("redis://{who}127.0.0.1:{}/3", server.port());
    drop(open(&third("")).await);
    let found = ["0", "3"].map(|number| server.cli(&["-n", number, "EXISTS", "{rooms}/schema"]));
    assert_eq!(found.map(|found| found.trim().to_owned()), ["0", "1"]);
    server.cli(&["ACL", "SETUSER", "house", "on", ">secret", "~*", "+@all"]);
    server.cli(&["CONFIG", "SET", "requirepass", "word"]);
    for right in [":word@", "house:secret@"] {
        drop(open(&third(right)).await);
    }
    for (wrong, why) in [
        ("", "Authentication required"),
        (":no@", "WRONGPASS"),
        ("house:word@", "WRONGPASS"),
    ] {
        let reason = reason(&third(wrong)).await;
        assert!(reason.contains(why), "{wrong}: {reason}");
    }
}

#[tokio::test]
async fn who_answers_nonsense_is_no_redis() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("redis://{}", listener.local_addr().unwrap());
    let answering = thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        let mut asked = [0; 1];
        socket.read_exact(&mut asked).unwrap();
        socket.write_all(b"?\r\n").unwrap();
        // It is left when we are believed to be no Redis.
        drop(socket.read_to_end(&mut Vec::new()));
    });
    let reason = reason(&url).await;
    assert!(
        reason.contains("a reply begins with the byte 63"),
        "{reason}"
    );
    answering.join().unwrap();
}

#[tokio::test]
async fn a_connection_that_redis_has_closed_is_made_anew() {
    let server = RedisServer::start();
    let backend = open(&server.url()).await;
    let (now, principal) = (Timestamp(1_798_761_600_000), Principal::local());
    server.cli(&["CLIENT", "KILL", "TYPE", "normal"]);
    // The first may still be sent on the old one.
    let first = backend.query(now, &principal, &Query::Totals).await;
    assert!(
        matches!(first, Ok(_) | Err(Failure::Unavailable { .. })),
        "{first:?}"
    );
    let second = backend.query(now, &principal, &Query::Totals).await;
    assert!(second.is_ok(), "{second:?}");
    assert_eq!(backend.tally().reconnects.get(), 1);
}
