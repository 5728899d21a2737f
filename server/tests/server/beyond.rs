//! A server that other machines reach: only with keys, and in clear only where that is allowed.

use std::{net::SocketAddr, path::Path, sync::Arc};

use rustls::version::TLS13;
use turnstile_server::{
    Durability, ListenerPrincipals, Options, Running, Settings, StartError, start,
};
use turnstile_types::{Name, Principal};

use super::{
    access::{guarded, key},
    certificates::{Authority, SecureClient},
    client::{Client, PATIENCE, Server},
};

const EVERYWHERE: ([u8; 4], u16) = ([0, 0, 0, 0], 0);

/// A server of this directory that listens on all addresses of the machine.
fn open(data: &Path, change: impl FnOnce(&mut Settings)) -> Result<Running, StartError> {
    let everywhere = Some(SocketAddr::from(EVERYWHERE));
    let mut settings = Settings {
        data: Some(data.to_owned()),
        resp: everywhere,
        http: everywhere,
        ..Settings::closed(Options::with(Durability::Sync))
    };
    change(&mut settings);
    start(&settings)
}

/// The address of a door as a client of this machine reaches it.
fn address(running: &Running, door: &str) -> SocketAddr {
    let mut doors = running.doors().iter();
    let (_, address) = doors.find(|(name, _)| *name == door).unwrap();
    SocketAddr::from(([127, 0, 0, 1], address.port()))
}

fn stop(running: Running) {
    running.stopper().stop();
    running.join().unwrap();
}

/// A directory whose administrator has a key.
fn directory_with_a_key() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let server = Server::durable(directory.path());
    drop(guarded(&server));
    server.stop();
    directory
}

#[test]
fn a_directory_without_keys_stays_on_loopback() {
    let authority = Authority::new();
    let own = authority.issue("server", &["localhost"]);
    let directory = tempfile::tempdir().unwrap();
    let files = authority.files(&own);
    let refused = open(directory.path(), |settings| settings.tls = Some(files)).unwrap_err();
    assert!(
        matches!(refused, StartError::WithoutKeys { name: "resp", .. }),
        "{refused}"
    );
    assert!(refused.to_string().ends_with("\n\nturnstile init DIR\n"));
}

#[test]
fn with_keys_and_tls_other_machines_are_served() {
    let authority = Authority::new();
    let own = authority.issue("server", &["localhost"]);
    let directory = directory_with_a_key();
    let files = authority.files(&own);
    let running = open(directory.path(), |settings| settings.tls = Some(files)).unwrap();
    let config = Arc::new(authority.trusted(None, &TLS13));
    let mut client = SecureClient::connect(address(&running, "resp"), &config);
    client.exchange("PING\n", "-NOAUTH Authentication required.|");
    client.exchange(&format!("AUTH {}\n", key(1).expose()), "+OK|");
    client.send("INFO server\nQUIT\n");
    assert!(client.rest().contains("|transport:tls|"));

    let ask = |path: &str, key: Option<&str>| {
        let host = "10.20.30.40:8470";
        let key = key.map_or_else(String::new, |key| {
            format!("Authorization: Bearer {key}\r\n")
        });
        let mut client = SecureClient::connect(address(&running, "http"), &config);
        client.send(format!(
            "GET {path} HTTP/1.1\r\nHost: {host}\r\n{key}Connection: close\r\n\r\n"
        ));
        client.rest()
    };
    let rooms = "/v1/rooms/properties/bench/availability?arrival=2027-12-24&departure=2027-12-27";
    let refused = ask(rooms, None);
    assert!(refused.starts_with("HTTP/1.1 401 "), "{refused}");
    let answered = ask(rooms, Some(key(1).expose()));
    assert!(answered.starts_with("HTTP/1.1 200 "), "{answered}");
    let ready = ask("/readyz", Some(key(1).expose()));
    assert!(ready.ends_with(r#"{"status":"ready"}"#), "{ready}");
    stop(running);
}

#[test]
fn a_server_that_is_reached_in_clear_says_so() {
    let directory = directory_with_a_key();
    let market = Name::parse(b"market").unwrap();
    let running = open(directory.path(), |settings| {
        settings.plain = true;
        // Nothing to prove: all who come are one principal.
        settings.xml = Some(SocketAddr::from(EVERYWHERE));
        settings.principals = ListenerPrincipals {
            xml: Some(Principal(market)),
            ..ListenerPrincipals::default()
        };
    })
    .unwrap();
    let connect = |door| {
        let socket = std::net::TcpStream::connect(address(&running, door)).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        Client { socket }
    };
    let mut client = connect("resp");
    client.exchange(&format!("AUTH {}\n", key(1).expose()), "+OK|");
    client.send("INFO server\nQUIT\n");
    assert!(client.rest().contains("|transport:plain|"));
    let mut client = connect("http");
    client.send(format!(
        "GET /readyz HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\n\
         Connection: close\r\n\r\n",
        key(1).expose()
    ));
    let ready = client.rest();
    let warning = r#"{"status":"ready","warning":"clients reach this server without TLS"}"#;
    assert!(ready.ends_with(warning), "{ready}");
    stop(running);
}
