//! How a server begins and ends.

use std::net::SocketAddr;

use tokio::sync::oneshot;
use turnstile_embedded::Durability;
use turnstile_rooms::{Command, Done, Outcome, Rooms};
use turnstile_server::{Ask, Options, Request, Settings, StartError, start};
use turnstile_types::{Machine, Name};

use super::client::{Server, book};

fn settings(resp: SocketAddr) -> Settings {
    Settings {
        resp: Some(resp),
        ..Settings::closed(Options::with(Durability::Memory))
    }
}

#[test]
fn an_address_of_others_is_served_neither_in_clear_nor_without_keys() {
    let anywhere = SocketAddr::from(([0, 0, 0, 0], 0));
    let refused = start(&settings(anywhere)).unwrap_err();
    assert!(matches!(refused, StartError::InClear { name: "resp", .. }));
    let lines = "Add\n\n[tls]\ncertificate = \"/etc/turnstile/server.pem\"\n\
                 key = \"/etc/turnstile/server.key\"\n\nor";
    assert!(refused.to_string().contains(lines), "{refused}");

    // The network may be somebody else's affair; who comes may not.
    let plain = Settings {
        plain: true,
        ..settings(anywhere)
    };
    let refused = start(&plain).unwrap_err();
    assert!(matches!(
        refused,
        StartError::WithoutKeys { name: "resp", .. }
    ));

    // The protocol of this door carries no key.
    let keyless = Settings {
        plain: true,
        xml: Some(anywhere),
        ..Settings::closed(Options::with(Durability::Memory))
    };
    let refused = start(&keyless).unwrap_err();
    assert!(matches!(
        refused,
        StartError::WithoutCertificates { name: "xml", .. }
    ));
    let line = "\nclient_ca = \"/etc/turnstile/clients.pem\"\n";
    assert!(refused.to_string().contains(line), "{refused}");
}

#[test]
fn a_taken_port_is_an_error_with_its_address() {
    let server = Server::new();
    let (_, address) = server.running().doors()[0];
    let refused = start(&settings(address)).unwrap_err();
    assert!(matches!(refused, StartError::Bind { door: "resp", address: a, .. } if a == address));
    server.stop();
}

#[test]
fn a_stop_answers_all_that_was_accepted() {
    let server = Server::new();
    let mut clients: Vec<_> = (0..20).map(|_| server.client()).collect();
    for (number, client) in clients.iter_mut().enumerate() {
        client.exchange("PING\n", "+PONG|");
        let lines: String = (0..100)
            .map(|room| book(&format!("r{number}-{room}")))
            .collect();
        client.send(lines);
    }
    let counters = server.running().counters().clone();
    server.stop();
    let answered: usize = clients
        .iter_mut()
        .map(|client| client.rest().matches("*4|:1|").count())
        .sum();
    assert_eq!(answered, 2_000);
    assert!(
        counters
            .service("rooms")
            .unwrap()
            .operations
            .iter()
            .any(|counted| counted == ("book", 2_000))
    );
    assert_eq!(counters.records.get(), 2_001);
}

#[test]
fn the_gate_reaches_the_loop_until_its_end() {
    let server = Server::new();
    let gate = server.running().gate();
    let add = |name: &str| {
        let property = Name::parse(name.as_bytes()).unwrap();
        let mut command = Vec::new();
        Rooms::encode_command(
            &Command::AddProperty {
                property,
                open: false,
            },
            &mut command,
        );
        let (reply, answer) = oneshot::channel();
        let ask = Ask::Rooms(Request::Command {
            caller: turnstile_server::Caller::server(),
            key: None,
            command,
            reply,
        });
        (gate.ask(ask), answer)
    };
    let (asked, answer) = add("inn");
    assert_eq!(asked, Ok(()));
    let reply = answer.blocking_recv().unwrap().unwrap();
    assert_eq!(reply.outcome, Outcome::Done(Done::PropertyAdded));
    server
        .client()
        .exchange("ROOMS.LOOK-UP R00\n", "*2|:0|$9|not_found|");
    server.stop();
    let (asked, answer) = add("late");
    assert!(asked.is_err() && answer.blocking_recv().is_err());
}

#[test]
fn what_was_answered_is_there_after_a_restart() {
    let directory = tempfile::tempdir().unwrap();
    let address = SocketAddr::from(([127, 0, 0, 1], 0));
    let durable = Settings {
        data: Some(directory.path().to_owned()),
        storage: Options::with(Durability::Sync),
        ..settings(address)
    };
    for (expected, position) in [("*2|:1|:1|", 0), ("*2|:0|$15|property_exists|", 2)] {
        let running = start(&durable).unwrap();
        assert_eq!(running.recovery().position.0, position);
        let (_, address) = running.doors()[0];
        let socket = std::net::TcpStream::connect(address).unwrap();
        let mut client = super::client::Client { socket };
        client.exchange("ROOMS.ADD-PROPERTY bench OPEN\n", expected);
        client.send(book(&format!("r{position}")));
        client.end_writing();
        assert!(client.rest().starts_with("*4|:1|"));
        running.stopper().stop();
        running.join().unwrap();
    }
}
