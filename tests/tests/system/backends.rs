//! Services in a database: the same doors, the same answers, and what is not offered there.

mod documents;
mod exchange;

use serde_json::{Value, json};
use turnstile_trial::{MariaServer, PostgresServer, RedisServer};

use crate::{
    door::{Door, door_with, redis_cli},
    program::output,
};

const GUEST: &str = "234123412346";

fn cli(door: &Door, line: &str) -> String {
    redis_cli(door, &line.split(' ').collect::<Vec<_>>(), "")
}

/// An answer of the HTTP door, and its status.
fn curl(door: &Door, path: &str, more: &[&str]) -> (Value, String) {
    let url = format!("{}{path}", door.url);
    let arguments = [
        "--silent",
        "--show-error",
        "--write-out",
        "\n%{http_code}",
        &url,
    ];
    let answer = output("curl", &[&arguments, more].concat(), b"");
    let (body, status) = answer
        .rsplit_once('\n')
        .expect("the status is the last line");
    let body = serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {answer}"));
    (body, status.to_owned())
}

fn info(door: &Door) -> Vec<String> {
    let info = cli(door, "INFO backends");
    info.lines()
        .map(|line| line.trim_end().to_owned())
        .collect()
}

/// Asks until a database that was killed is missed: its last processes may answer once more.
fn await_away(door: &Door, query: &str) {
    while !cli(door, query).starts_with("UNAVAILABLE ") {}
}

fn served_from(url: &str) -> Door {
    door_with(&["--rooms-backend", url])
}

#[test]
fn rooms_in_postgres_are_booked_at_all_doors_of_all_servers() {
    let server = PostgresServer::start();
    are_booked_at_all_doors(&server.database());
}

#[test]
fn rooms_in_mariadb_are_booked_at_all_doors_of_all_servers() {
    let server = MariaServer::start();
    are_booked_at_all_doors(&server.database());
}

#[test]
fn rooms_in_redis_are_booked_at_all_doors_of_all_servers() {
    let server = RedisServer::start();
    are_booked_at_all_doors(&server.url());
}

fn are_booked_at_all_doors(url: &str) {
    let door = served_from(url);
    let booked = cli(
        &door,
        &format!("ROOMS.BOOK hotel type:double 2027-03-01 2027-03-03 ada {GUEST}"),
    );
    let ["1", reference, "104", _] = booked.lines().collect::<Vec<_>>()[..] else {
        panic!("not booked: {booked}");
    };
    let (entry, status) = curl(&door, &format!("/v1/rooms/bookings/{reference}"), &[]);
    assert_eq!((&entry["room"], status.as_str()), (&json!("104"), "200"));

    // One pipeline: each command sees what those before it have done.
    let line = format!("ROOMS.BOOK bench r1 2027-03-01 2027-03-03 ada {GUEST}\n");
    let holds = "ROOMS.HOLD bench r2 2027-03-01 2027-03-03 TTL_SECONDS 60\n";
    let again = format!("{line}{line}PING\n{holds}{holds}");
    let answers = redis_cli(&door, &[], &again);
    assert!(answers.starts_with("1\nR"), "{answers}");
    assert_eq!(answers.matches("sold_out").count(), 2, "{answers}");
    assert_eq!(answers.matches("PONG").count(), 1, "{answers}");

    // A key is remembered by the database, at whichever door and server it comes.
    let keyed = "/v1/rooms/holds";
    let body = r#"{"property":"bench","wish":"r3","arrival":"2027-03-01","departure":"2027-03-02","ttl_seconds":60}"#;
    let post = ["--json", body, "--header", "Idempotency-Key: one"];
    let (first, status) = curl(&door, keyed, &post);
    assert_eq!(status, "201", "{first}");
    let other = served_from(url);
    let (second, _) = curl(&other, keyed, &post);
    assert_eq!(second["reference"], first["reference"]);
    let (entry, _) = curl(&other, &format!("/v1/rooms/bookings/{reference}"), &[]);
    assert_eq!(entry["id_number"], "********2346");
    let cancelled = cli(&other, &format!("ROOMS.CANCEL {reference} {GUEST}"));
    assert!(cancelled.starts_with("1\n104\n"), "{cancelled}");
    assert_eq!(
        cli(&door, &format!("ROOMS.LOOK-UP {reference}")),
        "0\nended\n"
    );
}

#[test]
fn what_a_database_does_not_offer_is_refused_as_unsupported() {
    let database = PostgresServer::start();
    let door = served_from(&database.database());
    let facts = info(&door);
    assert!(
        facts.contains(&"rooms_backend:PostgreSQL".to_owned()),
        "{facts:?}"
    );
    assert!(
        facts.contains(&"exchange_backend:embedded".to_owned()),
        "{facts:?}"
    );
    assert!(
        facts
            .iter()
            .any(|line| line.starts_with("rooms_backend_durability:") && line.contains("fsync=on"))
    );

    let batch = "MULTI\nROOMS.RELEASE R00\nEXEC\n";
    let answers = redis_cli(&door, &[], batch);
    assert!(answers.contains("UNSUPPORTED"), "{answers}");
    assert!(answers.contains("EXECABORT"), "{answers}");
    let answer = redis_cli(&door, &["SUBSCRIBE", "rooms.events"], "");
    assert!(answer.contains("UNSUPPORTED"), "{answer}");
    let (problem, status) = curl(&door, "/v1/rooms/events", &[]);
    assert_eq!(
        (&problem["code"], status.as_str()),
        (&json!("unsupported"), "501")
    );

    // The other services are decided by this server as ever, in one pipeline with rooms.
    let mixed = format!(
        "GAMES.GET-TOTALS\nROOMS.BOOK bench r1 2027-03-01 2027-03-03 ada {GUEST}\nTRAVEL.START\n"
    );
    let answers = redis_cli(&door, &[], &mixed);
    assert!(answers.contains("r1\n"), "{answers}");
}

#[test]
fn a_database_that_is_away_is_an_answer_and_comes_back() {
    let mut database = PostgresServer::start();
    let door = served_from(&database.database());
    let book = |room: &str| {
        cli(
            &door,
            &format!("ROOMS.BOOK bench {room} 2027-03-01 2027-03-03 ada {GUEST}"),
        )
    };
    assert!(book("r1").starts_with("1\n"));
    database.kill();
    await_away(&door, "ROOMS.LOOK-UP R00");
    let away = book("r2");
    assert!(
        away.starts_with("UNAVAILABLE ") || away.starts_with("UNKNOWN "),
        "{away}"
    );
    let body = json!({"property": "bench", "wish": "r2", "arrival": "2027-03-01",
        "departure": "2027-03-03", "guest": "ada", "id_number": GUEST});
    let (problem, status) = curl(&door, "/v1/rooms/bookings", &["--json", &body.to_string()]);
    assert_eq!(
        (&problem["code"], status.as_str()),
        (&json!("unavailable"), "503")
    );
    assert!(
        !cli(&door, "GAMES.GET-TOTALS").starts_with("ERR"),
        "others are served"
    );

    database.restart();
    // It says when it may be asked again: connections are made anew after a pause.
    let mut again = book("r1");
    while again.starts_with("UNAVAILABLE ") {
        again = book("r1");
    }
    assert!(
        again.starts_with("0\nsold_out"),
        "nothing is forgotten: {again}"
    );
    let (_, status) = curl(&door, "/v1/rooms/bookings", &["--json", &body.to_string()]);
    assert_eq!(status, "201");
}

#[test]
fn a_server_does_not_start_on_a_database_that_is_not_there() {
    let data = tempfile::tempdir().expect("a temporary folder");
    let arguments = ["--rooms-backend", "postgres://turnstile@127.0.0.1:1/none"].map(str::to_owned);
    let starting = turnstile_tests::Turnstile::begin(data.path(), &arguments);
    assert_eq!(starting.ended().code(), Some(1));
}
