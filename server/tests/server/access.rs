//! Keys and rights at the RESP door, with real sockets.

use std::time::Duration;

use serde_json::{Value as Json, json};
use turnstile_access::SecretKey;
use turnstile_server::DoorName;
use turnstile_server::{Durability, Limits, ListenerPrincipals, Options, Settings, start};
use turnstile_types::{Name, Principal};

use super::{
    client::{Client, Server, book},
    quotas_at_doors::{TOTALS, busy_server, get},
};

/// A key that nobody guesses, for tests.
pub(crate) fn key(number: u8) -> SecretKey {
    SecretKey::new("test", [number; 8], [number; 32]).unwrap()
}

/// What is answered in one line.
pub(crate) fn said(client: &mut Client, request: &str) -> String {
    client.send(format!("{request}\r\n"));
    client.until("\r\n").trim_end().to_owned()
}

#[track_caller]
pub(crate) fn is_done(client: &mut Client, request: &str) {
    client.send(format!("{request}\r\n"));
    let first = client.until("\r\n");
    assert!(!first.starts_with('-'), "{request}: {first}");
    // Position and whether it was a repeat, and then perhaps data: whatever it is, nothing is left.
    client.send("ECHO marker\r\n");
    client.until("$6\r\nmarker\r\n");
}

/// Adds a key of a principal.
fn add_key(client: &mut Client, principal: &str, key: &SecretKey) {
    let (id, digest) = (key.id(), key.digest().hex());
    is_done(client, &format!("ACCESS.ADD-KEY {principal} {id} {digest}"));
}

/// A server whose principal `root` has key 1 and the role admin, and a client with that key.
pub(crate) fn guarded(server: &Server) -> Client {
    let mut root = server.client();
    is_done(&mut root, "ROOMS.ADD-PROPERTY bench OPEN");
    is_done(&mut root, "ROOMS.ADD-PROPERTY other OPEN");
    is_done(&mut root, "ACCESS.ADD-PRINCIPAL root");
    is_done(&mut root, "ACCESS.GRANT root admin *");
    let (id, digest) = (key(1).id(), key(1).digest().hex());
    let added = said(&mut root, &format!("ACCESS.ADD-KEY root {id} {digest}"));
    assert!(!added.starts_with('-'), "{added}");
    drop(root);
    logged_in(server, &key(1))
}

pub(crate) fn logged_in(server: &Server, key: &SecretKey) -> Client {
    let mut client = server.client();
    assert_eq!(said(&mut client, &format!("AUTH {}", key.expose())), "+OK");
    client
}

/// A principal with one role and a key, and a client with that.
pub(crate) fn with_role(server: &Server, root: &mut Client, who: (&str, &str, u8)) -> Client {
    let (name, grant, number) = who;
    is_done(root, &format!("ACCESS.ADD-PRINCIPAL {name}"));
    is_done(root, &format!("ACCESS.GRANT {name} {grant}"));
    add_key(root, name, &key(number));
    logged_in(server, &key(number))
}

const NOAUTH: &str = "-NOAUTH Authentication required.";

/// What a principal `local` held was everybody's.
#[test]
fn no_principal_gets_a_name_that_is_the_servers() {
    let server = Server::new();
    let mut root = guarded(&server);
    for name in ["local", "engine"] {
        let told = said(&mut root, &format!("ACCESS.ADD-PRINCIPAL {name}"));
        let reason = "principal: a name other than local and engine";
        assert!(
            told.starts_with("-ERR ") && told.ends_with(reason),
            "{told}"
        );
    }
    server.stop();
}

#[test]
fn a_directory_with_a_key_answers_nothing_but_a_login_without_one() {
    let server = Server::new();
    let mut early = server.client();
    assert_eq!(said(&mut early, "PING"), "+PONG");
    let mut root = guarded(&server);
    let mut stranger = server.client();
    for client in [&mut early, &mut stranger] {
        for request in [
            "PING",
            "INFO",
            "ROOMS.BOOK bench 1 2027-01-01 2027-01-02 ada 234123412346",
            "ROOMS.GET-TOTALS",
            "SUBSCRIBE rooms.events",
            "MULTI",
            "CLIENT LIST",
            "NO.SUCH COMMAND",
        ] {
            assert_eq!(said(client, request), NOAUTH, "{request}");
        }
        assert!(said(client, "HELLO 3").starts_with("-NOAUTH HELLO must be called"));
        let unknown = "AUTH ts_test_aaaaaaaaaaaa_".to_owned() + &"a".repeat(52);
        for wrong in ["AUTH secret", "AUTH default secret", &unknown] {
            assert_eq!(said(client, wrong), "-WRONGPASS there is no such key");
        }
        assert_eq!(said(client, "PING"), NOAUTH);
    }
    let other = format!("AUTH guest {}", key(1).expose());
    assert_eq!(
        said(&mut stranger, &other),
        "-WRONGPASS the key is not one of this principal"
    );
    let named = format!("AUTH root {}", key(1).expose());
    assert_eq!(said(&mut stranger, &named), "+OK");
    stranger.exchange("ACL WHOAMI\n", "$4|root|");
    assert_eq!(said(&mut root, "PING"), "+PONG");
    let hello = format!("HELLO 3 AUTH default {} SETNAME pool", key(1).expose());
    early.exchange(&format!("{hello}\n"), "%7|$6|server|");
    server.stop();
}

#[test]
fn a_user_of_one_property_has_that_and_no_other() {
    let server = Server::new();
    let mut root = guarded(&server);
    let mut desk = with_role(&server, &mut root, ("desk", "rooms.user bench", 2));
    is_done(&mut desk, book("1").trim_end());
    for (request, missing) in [
        (
            "ROOMS.BOOK other 1 2027-01-01 2027-01-02 ada 234123412346",
            "-NOPERM your right rooms.use is not for this",
        ),
        (
            "ROOMS.LIST-BOOKINGS other 2027-01-01 2027-01-02",
            "-NOPERM your right rooms.read is not for this",
        ),
        (
            "ROOMS.ADD-PROPERTY third OPEN",
            "-NOPERM this needs the right rooms.manage",
        ),
        ("CLUSTER STATUS", "-NOPERM this needs the right operate"),
        ("CLUSTER DRAIN n1", "-NOPERM this needs the right operate"),
        ("CLUSTER STEPDOWN", "-NOPERM this needs the right operate"),
        (
            "EXCHANGE.CREATE-ACCOUNT a 10",
            "-NOPERM this needs the right exchange.manage",
        ),
        (
            "ACCESS.ADD-PRINCIPAL mallory",
            "-NOPERM this needs the right access.manage",
        ),
        (
            "SUBSCRIBE rooms.events",
            "-NOPERM this needs the right rooms.read for all names, yours is for some",
        ),
        ("CLIENT LIST", "-NOPERM this needs the right operate"),
        ("ACL LIST", "-NOPERM this needs the right admin"),
    ] {
        assert_eq!(said(&mut desk, request), missing, "{request}");
    }
    is_done(&mut desk, "ROOMS.LIST-BOOKINGS bench 2027-01-01 2027-01-02");
    is_done(&mut desk, "INFO");
    server.stop();
}

#[test]
fn a_hold_belongs_to_who_made_it_and_to_managers() {
    let server = Server::new();
    let mut root = guarded(&server);
    let mut one = with_role(&server, &mut root, ("one", "rooms.user *", 2));
    let mut two = with_role(&server, &mut root, ("two", "rooms.user *", 3));
    let mut manager = with_role(&server, &mut root, ("boss", "rooms.manager *", 4));
    let hold = |client: &mut Client, room: &str| {
        let held = format!("ROOMS.HOLD bench {room} 2027-01-01 2027-01-02");
        client.send(format!("{held}\r\nECHO marker\r\n"));
        let answer = client.until("$6\r\nmarker\r\n");
        let reference = answer.split("\r\n").nth(3);
        reference.unwrap_or_else(|| panic!("{answer}")).to_owned()
    };
    let (first, second) = (hold(&mut one, "1"), hold(&mut one, "2"));
    assert_eq!(
        said(&mut two, &format!("ROOMS.RELEASE {first}")),
        "-NOPERM another principal holds it: this needs the right rooms.manage"
    );
    is_done(&mut one, &format!("ROOMS.RELEASE {first}"));
    is_done(&mut manager, &format!("ROOMS.RELEASE {second}"));
    server.stop();
}

#[test]
fn an_open_transaction_belongs_to_who_started_it_and_to_managers() {
    let server = Server::new();
    let mut root = guarded(&server);
    let mut one = with_role(&server, &mut root, ("one", "travel.user 7", 2));
    let mut two = with_role(&server, &mut root, ("two", "travel.user *", 3));
    let mut manager = with_role(&server, &mut root, ("boss", "travel.manager *", 4));
    is_done(&mut one, "TRAVEL.START");
    is_done(&mut one, "TRAVEL.START");
    for request in [
        "TRAVEL.ABORT 1",
        "TRAVEL.COMMIT 1",
        "TRAVEL.QUERY-ITEM 1 flight-1",
        "TRAVEL.QUERY-CUSTOMERS 1",
        "TRAVEL.RESERVE 1 7 flight-1",
    ] {
        assert_eq!(
            said(&mut two, request),
            "-NOPERM another principal holds it: this needs the right travel.manage",
            "{request}"
        );
    }
    is_done(&mut one, "TRAVEL.QUERY-ITEM 1 flight-1");
    is_done(&mut one, "TRAVEL.COMMIT 1");
    is_done(&mut manager, "TRAVEL.ABORT 2");
    server.stop();
}

#[test]
fn a_batch_with_a_command_that_is_not_allowed_does_nothing() {
    let server = Server::new();
    let mut root = guarded(&server);
    let mut desk = with_role(&server, &mut root, ("desk", "rooms.user bench", 2));
    desk.exchange("MULTI\n", "+OK|");
    desk.exchange(&book("1"), "+QUEUED|");
    let denied = said(&mut desk, "ROOMS.ADD-PROPERTY third OPEN");
    assert!(denied.starts_with("-NOPERM"), "{denied}");
    assert!(said(&mut desk, "EXEC").starts_with("-EXECABORT"));
    is_done(&mut root, book("1").trim_end());
    server.stop();
}

#[test]
fn a_revoked_key_ends_its_sessions_and_those_who_follow() {
    let server = Server::new();
    let mut root = guarded(&server);
    let mut reader = with_role(&server, &mut root, ("reader", "reader *", 2));
    reader.exchange(
        "SUBSCRIBE rooms.events\n",
        "*3|$9|subscribe|$12|rooms.events|:1|",
    );
    let mut idle = logged_in(&server, &key(2));
    is_done(&mut root, &format!("ACCESS.REVOKE-KEY {}", key(2).id()));
    assert_eq!(idle.rest(), "");
    assert_eq!(reader.rest(), "");
    let mut again = server.client();
    let refused = said(&mut again, &format!("AUTH {}", key(2).expose()));
    assert!(
        refused.starts_with("-WRONGPASS the key was revoked at"),
        "{refused}"
    );
    server.stop();
}

/// It stayed logged in, and whoever took the connection from a pool asked in the name of the one before.
#[test]
fn a_reset_logs_out() {
    let server = Server::with(&Limits {
        connections: 4,
        ..Limits::STANDARD
    });
    let mut root = guarded(&server);
    is_done(&mut root, "ACCESS.SET-QUOTA root CONNECTIONS 1");
    assert_eq!(said(&mut root, "RESET"), "+RESET");
    assert_eq!(said(&mut root, "PING"), NOAUTH);
    // Its place among the connections of its principal is free, and it gives way as others do.
    let _other = logged_in(&server, &key(1));
    let _newcomers: Vec<Client> = (0..3).map(|_| server.client()).collect();
    assert_eq!(root.rest(), "");
    server.stop();
}

/// One without keys has nothing to take back.
#[test]
fn a_reset_changes_nobody_without_keys() {
    let server = Server::new();
    let mut client = server.client();
    assert_eq!(said(&mut client, "RESET"), "+RESET");
    assert_eq!(said(&mut client, "PING"), "+PONG");
    server.stop();
}

#[test]
fn a_right_that_is_withdrawn_is_gone_with_the_next_request() {
    let server = Server::new();
    let mut root = guarded(&server);
    let mut desk = with_role(&server, &mut root, ("desk", "rooms.user *", 2));
    is_done(&mut desk, book("1").trim_end());
    is_done(&mut root, "ACCESS.WITHDRAW-GRANT desk rooms.user");
    assert_eq!(
        said(&mut desk, book("2").trim_end()),
        "-NOPERM this needs the right rooms.use"
    );
    server.stop();
}

#[test]
fn a_client_that_does_not_log_in_is_closed_and_sends_little_before() {
    let limits = Limits {
        login: Duration::from_secs(1),
        ..Limits::STANDARD
    };
    let server = Server::with(&limits);
    let mut root = guarded(&server);
    let mut idle = server.client();
    let mut large = server.client();
    large.send("*2\r\n$4\r\nAUTH\r\n$16385\r\n");
    assert!(
        large
            .rest()
            .starts_with("-ERR Protocol error: before its login")
    );
    let mut many = server.client();
    many.send("*11\r\n");
    assert!(
        many.rest()
            .starts_with("-ERR Protocol error: before its login")
    );
    assert_eq!(idle.rest(), "");
    // One who has logged in may be silent, and send more.
    is_done(&mut root, "PING");
    root.send(format!(
        "*2\r\n$4\r\nECHO\r\n$20000\r\n{}\r\n",
        "x".repeat(20_000)
    ));
    root.until("x\r\n");
    server.stop();
}

#[test]
fn a_restart_keeps_the_keys() {
    let directory = tempfile::tempdir().unwrap();
    let anywhere = Some(std::net::SocketAddr::from(([127, 0, 0, 1], 0)));
    let settings = Settings {
        data: Some(directory.path().to_owned()),
        resp: anywhere,
        xml: anywhere,
        principals: ListenerPrincipals::default(),
        ..Settings::closed(Options::with(Durability::Sync))
    };
    let server = Server::started(&settings);
    drop(guarded(&server));
    server.stop();
    let server = Server::started(&settings);
    let mut client = server.client();
    assert_eq!(said(&mut client, "PING"), NOAUTH);
    drop(logged_in(&server, &key(1)));
    // Nobody can log in at the XML door, and nothing says who comes there.
    let mut xml = server.client_of("xml");
    assert!(xml.rest().contains("no principal in the configuration"));
    server.stop();
    let named = Settings {
        principals: ListenerPrincipals {
            xml: Some(Principal(Name::parse(b"market").unwrap())),
            ..ListenerPrincipals::default()
        },
        ..settings
    };
    let server = Server::started(&named);
    let mut root = logged_in(&server, &key(1));
    is_done(&mut root, "ACCESS.ADD-PRINCIPAL market");
    is_done(&mut root, "ACCESS.GRANT market exchange.manager *");
    let create = r#"<create><account id="1" balance="10"/></create>"#;
    let mut xml = server.client_of("xml");
    xml.send(format!("{}\n{create}", create.len()));
    xml.end_writing();
    assert!(xml.rest().contains(r#"<created id="1"/>"#));
    server.stop();
    drop(start(&named).unwrap());
}

/// What is told on a channel of a RESP2 connection.
fn message(client: &mut Client) -> Json {
    let head = client.until("security.events\r\n");
    assert!(head.starts_with("*3\r\n$7\r\nmessage\r\n"), "{head}");
    client.until("\r\n");
    let text = client.until("\r\n");
    serde_json::from_str(&text).unwrap()
}

#[test]
fn failed_logins_of_all_doors_are_told_to_administrators_without_the_key() {
    let server = Server::over_http();
    let mut root = guarded(&server);
    let mut follower = logged_in(&server, &key(1));
    let subscribed = "*3|$9|subscribe|$15|security.events|:1|";
    follower.exchange("SUBSCRIBE security.events\n", subscribed);
    let mut wrong = server.client();
    let shown = key(9).expose().to_owned();
    assert_eq!(
        said(&mut wrong, &format!("AUTH {shown}")),
        "-WRONGPASS there is no such key"
    );
    let mut http = server.client_of("http");
    http.send(format!(
        "GET /v1/rooms/totals HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {shown}\r\n\r\n"
    ));
    http.until("wrong_key");
    // Both have one address, so the second is no news. The tenth is.
    for _ in 0..8 {
        said(&mut wrong, &format!("AUTH {shown}"));
    }
    assert_eq!(said(&mut root, "SLOWLOG RESET"), "+OK");
    let told = [(); 3].map(|()| message(&mut follower));
    let told = told.map(|mut event| {
        let members = event.as_object_mut().unwrap();
        for name in ["run", "at"] {
            assert!(members.remove(name).is_some(), "{name}");
        }
        event
    });
    let failed = |seq: u32, failures: u32| {
        json!({
            "seq": seq, "kind": "login_failed", "door": "resp", "address_class": "loopback",
            "reason": "there is no such key", "failures": failures,
        })
    };
    let cleared = json!({"seq": 3, "kind": "slow_log_cleared", "by": "root"});
    assert_eq!(told, [failed(1, 1), failed(2, 10), cleared]);
    let counters = server.running().counters();
    let counted =
        [DoorName::Resp, DoorName::Http].map(|door| counters.of(door).failed_logins.get());
    assert_eq!(counted, [9, 1]);
    // Others are not told, whatever they follow beside it.
    let mut reader = with_role(&server, &mut root, ("reader", "reader *", 2));
    for channels in ["SUBSCRIBE security.events", "PSUBSCRIBE *", "PSUBSCRIBE s*"] {
        let denied = said(&mut reader, channels);
        assert!(denied.starts_with("-NOPERM "), "{channels}: {denied}");
    }
    server.stop();
}

/// The position of a record that is made for this.
fn position(client: &mut Client, property: &str) -> u64 {
    client.send(format!("ROOMS.ADD-PROPERTY {property} OPEN\r\n"));
    assert_eq!(client.until("\r\n:1\r\n:"), "*2\r\n:1\r\n:");
    client.until("\r\n").trim_end().parse().unwrap()
}

/// The door of HTTP has a copy of the keys that does not say when each was used last.
#[test]
fn a_key_that_is_used_at_several_doors_is_noted_once_an_hour() {
    let (server, mut root, _shop) = busy_server();
    let before = position(&mut root, "one");
    let mut http = server.client_of("http");
    for number in [1, 2, 1, 2] {
        get(&mut http, TOTALS, &key(number));
    }
    assert_eq!(position(&mut root, "two"), before + 1);
    server.stop();
}
