//! The exchange in PostgreSQL.

use std::{
    io::{Read as _, Write as _},
    net::{Shutdown, TcpStream},
};

use serde_json::json;
use turnstile_trial::PostgresServer;

use super::{await_away, cli, curl, info};
use crate::{
    door::{Door, door_with, redis_cli},
    program::output,
};

pub(super) fn served_from(url: &str) -> Door {
    door_with(&["--exchange-backend", url])
}

/// Sends documents to the XML door and reads what it answers, until it closes.
fn talk(door: &Door, documents: &[&str]) -> String {
    let mut socket = TcpStream::connect(door.xml).expect("the XML door is open");
    for xml in documents {
        let framed = format!("{}\n{xml}", xml.len());
        socket.write_all(framed.as_bytes()).expect("the door reads");
    }
    socket.shutdown(Shutdown::Write).expect("it is connected");
    let mut answer = String::new();
    let read = socket.read_to_string(&mut answer);
    read.expect("the door answers and closes");
    answer
}

#[test]
fn the_exchange_in_postgres_trades_at_all_doors_of_all_servers() {
    let database = PostgresServer::start();
    let url = database.database();
    let (one, two) = (served_from(&url), served_from(&url));

    // One pipeline: each command sees what those before it have done.
    let answers = redis_cli(
        &one,
        &[],
        "EXCHANGE.CREATE-ACCOUNT 7 1000\nEXCHANGE.CREATE-SYMBOL NEW\nEXCHANGE.GRANT 7 NEW 20\n\
         EXCHANGE.PLACE-ORDER 7 NEW SELL 5 10 CLIENT_ID mine\nPING\nEXCHANGE.PLACE-ORDER 7 NEW SELL 100 10\n",
    );
    assert_eq!(answers.matches("PONG").count(), 1, "{answers}");
    assert!(answers.contains("insufficient_shares"), "{answers}");

    // A key is remembered by the database, at whichever server it comes.
    let body = json!({"account": "1003", "symbol": "NEW", "side": "buy", "quantity": "2",
        "limit": "10"})
    .to_string();
    let post = ["--json", &body, "--header", "Idempotency-Key: one"];
    let (first, status) = curl(&one, "/v1/exchange/orders", &post);
    assert_eq!(
        (&first["filled"], status.as_str()),
        (&json!("2"), "201"),
        "{first}"
    );
    let (second, _) = curl(&two, "/v1/exchange/orders", &post);
    assert_eq!(second["order"], first["order"]);

    // What one has on the book, another takes from it, and a third asks about.
    let taken = talk(
        &two,
        &[
            "<transactions id=\"1003\"><order sym=\"NEW\" amount=\"1\" limit=\"11\"/>\
           <order sym=\"NEW\" amount=\"1\" limit=\"oops\"/></transactions>",
        ],
    );
    assert!(taken.starts_with("<results><opened sym=\"NEW\""), "{taken}");
    assert!(taken.contains("<error sym=\"NEW\""), "{taken}");
    let (book, _) = curl(&one, "/v1/exchange/books/NEW", &[]);
    assert_eq!(
        book["asks"],
        json!([{"price": "10", "quantity": "2", "orders": 1}])
    );
    let (mine, _) = curl(&two, "/v1/exchange/orders/id:mine?account=7", &[]);
    assert_eq!(
        mine["executions"].as_array().map(Vec::len),
        Some(2),
        "{mine}"
    );
    let cancelled = cli(&two, "EXCHANGE.CANCEL-ORDER 7 id:mine");
    assert!(cancelled.starts_with("1\n"), "{cancelled}");
    assert_eq!(
        cli(&one, "EXCHANGE.CANCEL-ORDER 7 id:mine"),
        "0\nnot_open\n"
    );
}

#[test]
fn what_a_database_does_not_offer_of_the_exchange_is_refused_as_unsupported() {
    let database = PostgresServer::start();
    let door = served_from(&database.database());
    let facts = info(&door);
    let has = |line: &str| facts.iter().any(|fact| fact == line);
    assert!(has("exchange_backend:PostgreSQL"), "{facts:?}");
    assert!(has("rooms_backend:embedded"), "{facts:?}");
    assert!(has("exchange_backend_trouble:none"), "{facts:?}");

    let url = format!("{}/metrics", door.url);
    let metrics = output("curl", &["--silent", "--show-error", &url], b"");
    let answers = "turnstile_backend_answers{service=\"exchange\"} 1";
    assert!(metrics.lines().any(|line| line == answers), "{metrics}");

    let answers = redis_cli(&door, &[], "MULTI\nEXCHANGE.GET-DEPTH ACME\nEXEC\n");
    assert!(answers.contains("UNSUPPORTED"), "{answers}");
    assert!(answers.contains("EXECABORT"), "{answers}");
    for follow in [
        "SUBSCRIBE exchange.events.ACME",
        "PSUBSCRIBE exchange.events.*",
    ] {
        let answer = cli(&door, follow);
        assert!(answer.starts_with("UNSUPPORTED "), "{follow}: {answer}");
    }
    let (problem, status) = curl(&door, "/v1/exchange/events", &[]);
    assert_eq!(
        (&problem["code"], status.as_str()),
        (&json!("unsupported"), "501")
    );

    // The other services are decided by this server as ever, in one pipeline with the exchange.
    let mixed = "GAMES.GET-TOTALS\nEXCHANGE.PLACE-ORDER 1003 ACME BUY 1 100.1\nTRAVEL.START\n";
    let answers = redis_cli(&door, &[], mixed);
    assert!(answers.contains("filled"), "{answers}");
}

#[test]
fn rooms_and_the_exchange_lie_in_one_database_and_are_asked_in_one_pipeline() {
    let database = PostgresServer::start();
    let url = database.database();
    let door = door_with(&["--rooms-backend", &url, "--exchange-backend", &url]);
    let facts = info(&door);
    for service in ["rooms", "exchange"] {
        let line = format!("{service}_backend:PostgreSQL");
        assert!(facts.contains(&line), "{facts:?}");
    }
    // The answers of both stand in the order of the requests, among those of this server.
    let answers = redis_cli(
        &door,
        &[],
        "EXCHANGE.PLACE-ORDER 1003 ACME BUY 1 100.1 CLIENT_ID mine\n\
         ROOMS.BOOK bench r1 2027-03-01 2027-03-03 ada 234123412346\n\
         GAMES.GET-TOTALS\n\
         EXCHANGE.CANCEL-ORDER 1003 id:mine\n\
         ROOMS.BOOK bench r1 2027-03-01 2027-03-03 bob 234123412346\n",
    );
    let places = ["filled", "\nr1\n", "players", "not_open", "sold_out"].map(|word| {
        answers
            .find(word)
            .unwrap_or_else(|| panic!("no {word}: {answers}"))
    });
    assert!(places.is_sorted(), "{answers}");
}

#[test]
fn the_sample_market_is_made_once_in_a_database() {
    let database = PostgresServer::start();
    let url = database.database();
    let depth = cli(&served_from(&url), "EXCHANGE.GET-DEPTH ACME");
    assert!(depth.contains("99.9"), "{depth}");
    assert_eq!(cli(&served_from(&url), "EXCHANGE.GET-DEPTH ACME"), depth);
}

#[test]
fn an_exchange_whose_database_is_away_says_so_and_comes_back() {
    let mut database = PostgresServer::start();
    let door = served_from(&database.database());
    let buy = "EXCHANGE.PLACE-ORDER 1003 ACME BUY 1 100.1";
    let document = "<transactions id=\"1003\"><order sym=\"ACME\" amount=\"1\" limit=\"50\"/>\
                    <cancel id=\"4\"/><query id=\"4\"/><query id=\"none\"/></transactions>";
    database.kill();
    await_away(&door, "EXCHANGE.GET-DEPTH ACME");
    let away = cli(&door, buy);
    assert!(
        away.starts_with("UNAVAILABLE ") || away.starts_with("UNKNOWN "),
        "{away}"
    );
    let (problem, status) = curl(&door, "/v1/exchange/books/ACME", &[]);
    assert_eq!(
        (&problem["code"], status.as_str()),
        (&json!("unavailable"), "503")
    );
    let errors = talk(&door, &[document, document]);
    let unavailable = errors.matches(">unavailable: nothing was done").count();
    assert_eq!(unavailable, 6, "{errors}");
    assert!(
        !cli(&door, "GAMES.GET-TOTALS").starts_with("ERR"),
        "others are served"
    );

    database.restart();
    let mut again = cli(&door, buy);
    while again.starts_with("UNAVAILABLE ") {
        again = cli(&door, buy);
    }
    assert!(again.starts_with("1\n"), "{again}");
    let answers = talk(&door, &[document]);
    assert!(!answers.contains("unavailable"), "{answers}");
}
