//! Travel beside the others: what is told of it, and what a restart does with what was open.

use std::{net::SocketAddr, path::Path};

use tokio::sync::oneshot;
use turnstile_server::{Ask, Durability, Options, Request, Running, Settings, StartError, start};
use turnstile_travel::{Command, Done, Outcome, Travel, TravelRoles, Xid};
use turnstile_types::Machine;

use super::client::{Client, Server};

fn tell(running: &Running, command: &Command) -> Outcome {
    let (reply, answer) = oneshot::channel();
    let mut bytes = Vec::new();
    Travel::encode_command(command, &mut bytes);
    let asked = running.gate().ask(Ask::Travel(Request::Command {
        caller: turnstile_server::Caller::server(),
        key: None,
        command: bytes,
        reply,
    }));
    asked.unwrap();
    answer.blocking_recv().unwrap().unwrap().outcome
}

fn started(xid: u64) -> Outcome {
    Outcome::Done(Done::Started { xid: Xid(xid) })
}

#[test]
fn events_of_travel_are_told_to_followers_and_its_figures_stand_in_info_and_metrics() {
    let directory = tempfile::tempdir().unwrap();
    let server = Server::durable(directory.path());
    let mut follower = server.client();
    follower.exchange(
        "SUBSCRIBE travel.events\n",
        "*3|$9|subscribe|$13|travel.events|:1|",
    );
    assert_eq!(tell(server.running(), &Command::Start), started(1));
    let aborted = tell(server.running(), &Command::Abort { xid: Xid(1) });
    assert_eq!(aborted, Outcome::Done(Done::Aborted));
    let told = follower.until("\"cause\":\"asked\"}\r\n");
    assert!(told.contains("$13\r\ntravel.events\r\n"), "{told}");
    assert!(told.contains("{\"position\":2,\"ordinal\":0,"), "{told}");

    assert_eq!(tell(server.running(), &Command::Start), started(2));
    let mut client = server.client();
    client.send("INFO travel\nQUIT\n");
    let info = client.rest();
    let expected = "# Travel|travel_open_transactions:1|travel_itineraries:0|";
    assert!(info.contains(expected), "{info}");
    let mut scraper = server.client_of("http");
    scraper.send("GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    let metrics = scraper.rest();
    for line in [
        "turnstile_travel_operations_total{operation=\"start\"} 2|",
        "turnstile_travel_outcomes_total{code=\"done\"} 3|",
        "turnstile_travel_xids_total 2|",
        "turnstile_late_waiters 0|",
    ] {
        assert!(metrics.replace('\n', "|").contains(line), "{line}{metrics}");
    }
    server.stop();
}

fn settings(data: &Path, travel: Option<turnstile_travel::Settings>) -> Settings {
    Settings {
        data: Some(data.to_owned()),
        resp: Some(SocketAddr::from(([127, 0, 0, 1], 0))),
        travel,
        ..Settings::closed(Options::with(Durability::Sync))
    }
}

fn stop(running: Running) {
    running.stopper().stop();
    running.join().unwrap();
}

#[test]
fn a_start_tells_travel_before_anybody_asks_and_refuses_other_roles() {
    let directory = tempfile::tempdir().unwrap();
    let used = settings(directory.path(), None);
    let running = start(&used).unwrap();
    assert_eq!(tell(&running, &Command::Start), started(1));
    stop(running);

    let running = start(&used).unwrap();
    assert_eq!(running.recovery().position.0, 1);
    let (_, address) = running.doors()[0];
    let socket = std::net::TcpStream::connect(address).unwrap();
    let mut client = Client { socket };
    client.send("INFO travel\nQUIT\n");
    let info = client.rest();
    assert!(info.contains("|travel_open_transactions:0|"), "{info}");
    assert_eq!(tell(&running, &Command::Start), started(1_001));
    stop(running);

    let mut other = turnstile_travel::Settings::FIRST;
    other.roles = TravelRoles {
        coordinator: false,
        ..TravelRoles::ALL
    };
    let refused = start(&settings(directory.path(), Some(other)));
    assert!(matches!(refused, Err(StartError::Unsound(_))));
}
