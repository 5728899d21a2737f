//! How much a principal may ask for, with real sockets.

use std::{
    fs,
    io::{ErrorKind, Read},
    num::NonZeroU32,
    path::Path,
    time::Instant,
};

use tempfile::TempDir;
use turnstile_server::Limits;

use super::{
    access::{guarded, is_done, key, logged_in, said, with_role},
    client::{Client, Server},
};

const REQUESTS: usize = 300;

/// Sends many requests at once; answers how many were answered, and how many were told to come later.
fn ask_often(client: &mut Client) -> (usize, usize) {
    client.send("ROOMS.GET-TOTALS\n".repeat(REQUESTS) + "ECHO marker\n");
    let answers = client.until("$6\r\nmarker\r\n");
    let refused = answers.matches("-BUSY ").count();
    (REQUESTS - refused, refused)
}

#[test]
fn whoever_asks_too_often_is_told_when_to_come_again_and_nobody_else_is() {
    let server = Server::new();
    let mut root = guarded(&server);
    let mut shop = with_role(&server, &mut root, ("shop", "rooms.user *", 2));
    let mut desk = with_role(&server, &mut root, ("desk", "rooms.user *", 3));
    assert_eq!(ask_often(&mut shop), (REQUESTS, 0));
    is_done(&mut root, "ACCESS.SET-QUOTA shop REQUESTS_PER_SECOND 10");
    let begun = Instant::now();
    let (answered, refused) = ask_often(&mut shop);
    let seconds = begun.elapsed().as_secs() + 1;
    let most = 10 + 10 * usize::try_from(seconds).unwrap();
    assert!((10..=most).contains(&answered), "{answered} of {most}");
    assert_eq!(answered + refused, REQUESTS);
    for other in [&mut desk, &mut root] {
        assert_eq!(ask_often(other), (REQUESTS, 0));
    }
    // A second connection of the same principal has nothing of its own.
    let mut again = logged_in(&server, &key(2));
    let (more, _) = ask_often(&mut again);
    let seconds = begun.elapsed().as_secs() + 1;
    let most = 10 + 10 * usize::try_from(seconds).unwrap();
    assert!(answered + more <= most, "{answered} and {more} of {most}");
    let told = said(&mut again, "ROOMS.GET-TOTALS");
    if told.starts_with('-') {
        let begin = "-BUSY your quota is 10 requests a second; retry in ";
        let wait = told
            .strip_prefix(begin)
            .and_then(|rest| rest.strip_suffix(" ms"));
        let wait: u64 = wait.expect("it says when").parse().expect("milliseconds");
        assert!((1..=100).contains(&wait), "{told}");
    }
    is_done(&mut root, "ACCESS.SET-QUOTA shop");
    assert_eq!(ask_often(&mut shop), (REQUESTS, 0));
    server.stop();
}

#[test]
fn a_quota_of_everyone_is_for_each_principal() {
    let server = Server::new();
    let mut root = guarded(&server);
    let mut shop = with_role(&server, &mut root, ("shop", "rooms.user *", 2));
    let mut desk = with_role(&server, &mut root, ("desk", "rooms.user *", 3));
    is_done(
        &mut root,
        "ACCESS.SET-QUOTA root REQUESTS_PER_SECOND 1000000",
    );
    is_done(&mut root, "ACCESS.SET-DEFAULT-QUOTA REQUESTS_PER_SECOND 20");
    for client in [&mut shop, &mut desk] {
        let (answered, refused) = ask_often(client);
        assert!(answered >= 20 && refused > 0, "{answered}, {refused}");
    }
    assert_eq!(ask_often(&mut root), (REQUESTS, 0));
    server.stop();
}

#[test]
fn long_answers_are_paid_for() {
    let server = Server::new();
    let mut root = guarded(&server);
    let mut shop = with_role(&server, &mut root, ("shop", "rooms.user *", 2));
    is_done(&mut root, "ACCESS.SET-QUOTA shop BYTES_OUT_PER_SECOND 1000");
    // All at once are answered: what they cost is known afterwards.
    assert_eq!(ask_often(&mut shop).0, REQUESTS);
    let told = said(&mut shop, "ROOMS.GET-TOTALS");
    let begin = "-BUSY your quota is 1000 bytes of answers a second; retry in ";
    assert!(told.starts_with(begin), "{told}");
    server.stop();
}

#[test]
fn a_principal_has_no_more_connections_than_its_quota() {
    let server = Server::new();
    let mut root = guarded(&server);
    let first = with_role(&server, &mut root, ("shop", "rooms.user *", 2));
    is_done(&mut root, "ACCESS.SET-QUOTA shop CONNECTIONS 2");
    let mut second = logged_in(&server, &key(2));
    let login = format!("AUTH {}", key(2).expose());
    // Whoever logs in once more on its connection has one as before.
    assert_eq!(said(&mut second, &login), "+OK");
    let mut third = server.client();
    let busy = "-BUSY your quota is 2 connections; end one and retry";
    assert_eq!(said(&mut third, &login), busy);
    assert_eq!(said(&mut third, "PING"), "-NOAUTH Authentication required.");
    // As another it may, and it may become the other when one has gone.
    assert_eq!(
        said(&mut second, &format!("AUTH {}", key(1).expose())),
        "+OK"
    );
    assert_eq!(said(&mut third, &login), "+OK");
    let mut fourth = server.client();
    assert_eq!(said(&mut fourth, &login), busy);
    drop(first);
    let mut attempts = 0;
    while said(&mut fourth, &login) == busy {
        attempts += 1;
        assert!(
            attempts < 1_000_000,
            "the place of a closed connection stays taken"
        );
    }
    server.stop();
}

#[test]
fn a_principal_has_no_more_open_holds_than_its_quota() {
    let server = Server::new();
    let mut root = guarded(&server);
    let mut shop = with_role(&server, &mut root, ("shop", "rooms.user *", 2));
    is_done(&mut root, "ACCESS.SET-QUOTA shop OPEN_HOLDS 2");
    let hold =
        |room| format!("ROOMS.HOLD bench {room} 2027-01-01 2027-01-02 TTL_SECONDS 600 KEY k{room}");
    is_done(&mut shop, &hold(1));
    is_done(&mut shop, &hold(2));
    let busy = "-BUSY your quota is 2 open holds; end one and retry";
    assert_eq!(said(&mut shop, &hold(3)), busy);
    // What it has done it is told again, and others hold as they like.
    is_done(&mut shop, &hold(2));
    for room in 4..8 {
        is_done(&mut root, &hold(room));
    }
    server.stop();
}

/// The whole answer to a request.
fn whole(client: &mut Client, request: &str) -> String {
    client.send(format!("{request}\r\nECHO marker\r\n"));
    client.until("$6\r\nmarker\r\n")
}

#[test]
fn a_command_that_is_refused_keeps_its_turn_in_the_waiting_room() {
    let server = Server::with(&Limits {
        waiting_room: NonZeroU32::new(1),
        ..Limits::STANDARD
    });
    let mut root = guarded(&server);
    let mut shop = with_role(&server, &mut root, ("shop", "rooms.user *", 2));
    is_done(&mut root, "ACCESS.SET-QUOTA shop OPEN_HOLDS 1");
    let hold =
        |room| format!("ROOMS.HOLD bench {room} 2027-01-01 2027-01-02 TTL_SECONDS 600 KEY k{room}");
    let has = |told: &str, outcome: u8| told.lines().nth(1) == Some(&format!(":{outcome}"));
    let come = |client: &mut Client, room| loop {
        let told = whole(client, &hold(room));
        if !has(&told, 2) {
            return told;
        }
    };
    assert!(has(&come(&mut shop, 1), 1));
    let mut others = 10..;
    let mut waits = |client: &mut Client| has(&whole(client, &hold(others.next().unwrap())), 2);
    while !waits(&mut root) {}
    whole(&mut shop, &hold(2));
    for _ in 0..60 {
        assert!(waits(&mut root));
    }
    let told = come(&mut shop, 2);
    assert!(
        told.starts_with("-BUSY your quota is 1 open holds"),
        "{told}"
    );
    is_done(&mut root, "ACCESS.SET-QUOTA shop OPEN_HOLDS 2");
    let told = whole(&mut shop, &hold(2));
    assert!(has(&told, 1), "{told}");
    server.stop();
}

/// Copies what is durable of a directory while its server runs: as a power cut would leave it.
fn cut(from: &Path) -> TempDir {
    let copy = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        match fs::copy(entry.path(), copy.path().join(entry.file_name())) {
            // A file that gets its name when it is whole.
            Err(failure) if failure.kind() == ErrorKind::NotFound => {}
            copied => drop(copied.unwrap()),
        }
    }
    copy
}

/// A value of a quota, what opens one of it, and what ends the first.
const OPENED: [(&str, &str, &str); 3] = [
    (
        "open holds",
        "SEATS.HOLD gala stalls best:1 TTL_SECONDS 900",
        "SEATS.RELEASE S1",
    ),
    ("open transactions", "TRAVEL.START", "TRAVEL.COMMIT 1"),
    (
        "open orders",
        "EXCHANGE.PLACE-ORDER ada X BUY 1 1",
        "EXCHANGE.CANCEL-ORDER ada 1",
    ),
];

/// A client of `shop`, which may use everything and have two of each open.
fn shop_with_two_of_each(server: &Server, root: &mut Client) -> Client {
    for command in [
        "SEATS.ADD-SHOW gala 2090-01-01T00:00:00Z",
        "SEATS.ADD-SECTION gala stalls 9 9",
        "EXCHANGE.CREATE-ACCOUNT ada 1000",
    ] {
        is_done(root, command);
    }
    let shop = with_role(server, root, ("shop", "seats.user *", 2));
    for role in ["rooms.user", "travel.user", "exchange.user"] {
        is_done(root, &format!("ACCESS.GRANT shop {role} *"));
    }
    let quota = OPENED.map(|(value, ..)| format!("{} 2", value.to_uppercase().replace(' ', "_")));
    is_done(root, &format!("ACCESS.SET-QUOTA shop {}", quota.join(" ")));
    shop
}

fn busy(value: &str) -> String {
    format!("-BUSY your quota is 2 {value}; end one and retry")
}

#[test]
fn a_principal_has_no_more_open_than_its_quota() {
    let server = Server::new();
    let mut root = guarded(&server);
    let mut shop = shop_with_two_of_each(&server, &mut root);
    for (value, open, end) in OPENED {
        is_done(&mut shop, &format!("{open} KEY {}", &value[5..]));
        is_done(&mut shop, open);
        assert_eq!(said(&mut shop, open), busy(value));
        // What it has done it is told again, and others have their own.
        is_done(&mut shop, &format!("{open} KEY {}", &value[5..]));
        is_done(&mut root, open);
        is_done(&mut shop, end);
        is_done(&mut shop, open);
        assert_eq!(said(&mut shop, open), busy(value));
    }
    // Holds of seats and rooms are counted together.
    let hold = "ROOMS.HOLD bench 1 2027-01-01 2027-01-02 TTL_SECONDS 600";
    assert_eq!(said(&mut shop, hold), busy("open holds"));
    is_done(&mut root, hold);
    // What does not stay open needs no room.
    is_done(&mut shop, "EXCHANGE.PLACE-ORDER ada X BUY 1 1 ioc");
    server.stop();
}

/// What is open is counted in the machines, so a restart forgets nothing and counts nothing twice.
#[test]
fn what_is_open_is_counted_as_before_after_a_restart() {
    let directory = tempfile::tempdir().unwrap();
    let server = Server::durable(directory.path());
    let mut root = guarded(&server);
    let mut shop = shop_with_two_of_each(&server, &mut root);
    for (value, open, _) in OPENED {
        is_done(&mut shop, open);
        is_done(&mut shop, open);
        assert_eq!(said(&mut shop, open), busy(value));
    }
    let crashed = cut(directory.path());
    drop((root, shop));
    server.stop();
    for data in [crashed.path(), directory.path()] {
        let server = Server::durable(data);
        let mut shop = logged_in(&server, &key(2));
        // No transaction outlives its server.
        is_done(&mut shop, OPENED[1].1);
        is_done(&mut shop, OPENED[1].1);
        for (value, open, end) in OPENED {
            assert_eq!(said(&mut shop, open), busy(value));
            is_done(&mut shop, &end.replace("COMMIT 1", "COMMIT 1001"));
            is_done(&mut shop, open);
            assert_eq!(said(&mut shop, open), busy(value));
        }
        server.stop();
    }
}

#[test]
fn a_principal_has_no_more_keys_remembered_than_its_quota() {
    let directory = tempfile::tempdir().unwrap();
    let server = Server::durable(directory.path());
    let mut root = guarded(&server);
    let mut shop = with_role(&server, &mut root, ("shop", "rooms.user *", 2));
    is_done(&mut root, "ACCESS.SET-QUOTA shop IDEMPOTENCY_KEYS 2");
    let book = |room: u32, key: &str| {
        let stay = "2027-01-01 2027-01-02";
        format!("ROOMS.BOOK bench {room} {stay} ada 234123412346 {key}")
    };
    let begin = "-BUSY your quota is 2 idempotency keys, each for a day; retry in ";
    is_done(&mut shop, &book(1, "KEY one"));
    // The room is taken: a refusal is remembered too.
    is_done(&mut shop, &book(1, "KEY two"));
    let told = said(&mut shop, &book(2, "KEY three"));
    let wait = told
        .strip_prefix(begin)
        .and_then(|rest| rest.strip_suffix(" ms"));
    let wait: u64 = wait.expect(&told).parse().unwrap();
    assert!((80_000_000..=86_400_000).contains(&wait), "{told}");
    // Known keys, commands without one and other principals go on.
    is_done(&mut shop, &book(1, "KEY one"));
    is_done(&mut shop, &book(1, "KEY two"));
    is_done(&mut shop, &book(2, ""));
    is_done(&mut root, &book(3, "KEY three"));
    let crashed = cut(directory.path());
    drop((root, shop));
    server.stop();
    for data in [crashed.path(), directory.path()] {
        let server = Server::durable(data);
        let mut shop = logged_in(&server, &key(2));
        is_done(&mut shop, &book(1, "KEY one"));
        let told = said(&mut shop, &book(4, "KEY three"));
        assert!(told.starts_with(begin), "{told}");
        server.stop();
    }
}

#[test]
fn http_tells_a_quota_and_when_to_come_again() {
    let server = Server::with_room_for_keys(1_000_000);
    let mut root = guarded(&server);
    is_done(&mut root, "ACCESS.SET-QUOTA root REQUESTS_PER_SECOND 2");
    let mut http = server.client_of("http");
    let mut refused = None;
    let request = format!(
        "GET /v1/rooms/totals HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\n\r\n",
        key(1).expose()
    );
    for _ in 0..1_000 {
        http.send(&request);
        let head = http.until("\r\n\r\n");
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "));
        let length: usize = length.expect("a length").parse().expect("a number");
        let mut body = vec![0; length];
        http.socket.read_exact(&mut body).unwrap();
        if !head.starts_with("HTTP/1.1 200 ") {
            refused = Some((head, String::from_utf8(body).unwrap()));
            break;
        }
    }
    let (head, body) = refused.expect("two requests a second");
    for line in [
        "HTTP/1.1 429 Too Many Requests",
        "retry-after: 1",
        "ratelimit-policy: \"requests\";q=2;w=1",
        "ratelimit: \"requests\";r=0;t=1",
    ] {
        assert!(head.lines().any(|one| one == line), "{line}: {head}");
    }
    assert!(
        body.contains("\"code\":\"quota_exceeded\",\"retryable\":true"),
        "{body}"
    );
    server.stop();
}
