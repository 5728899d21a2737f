//! Lines between processes over TLS: travel in two processes, an arena and its scores, and strangers.

use std::{io::Read, net::SocketAddr, sync::Arc};

use rustls::version::TLS13;
use turnstile_server::{Duels, Peers, Running, ScoresWire, Settings, start};
use turnstile_travel::{Desk, Desks, TravelRoles};

use super::{
    certificates::{Authority, Issued, SecureClient, VERSIONS},
    client::PATIENCE,
    tls::settings,
};

/// Processes of one installation: each has a certificate of its own with the name of all.
struct Installation {
    authority: Authority,
    running: Vec<Running>,
}

impl Installation {
    fn new() -> Self {
        Self {
            authority: Authority::new(),
            running: Vec::new(),
        }
    }

    /// Starts a process, and says at which number it is found.
    fn start(&mut self, change: impl FnOnce(&mut Settings)) -> usize {
        let number = self.running.len();
        let common = format!("process{number}");
        let names = ["turnstile.example", "localhost"];
        let own = self.authority.issue(&common, &names);
        let mut settings = settings(self.authority.files(&own));
        change(&mut settings);
        self.running.push(start(&settings).unwrap());
        number
    }

    fn address(&self, number: usize, door: &str) -> SocketAddr {
        let mut doors = self.running[number].doors().iter();
        doors.find(|(name, _)| *name == door).unwrap().1
    }

    /// A client with a certificate of its own, for doors that carry no key.
    fn client(&self, number: usize, door: &str) -> SecureClient {
        let own = self.authority.issue("client", &["client.example"]);
        let config = Arc::new(self.authority.trusted(Some(&own), &TLS13));
        SecureClient::connect(self.address(number, door), &config)
    }

    /// A stranger connects, with a certificate or without, in each version: nothing is said to it.
    fn check_stranger(&self, number: usize, door: &str, own: Option<&Issued>) {
        for version in VERSIONS {
            let config = Arc::new(self.authority.trusted(own, version));
            let mut stranger = SecureClient::connect(self.address(number, door), &config);
            let mut rest = Vec::new();
            let refused = stranger
                .shake()
                .and_then(|()| stranger.stream.read_to_end(&mut rest));
            assert!(refused.is_err(), "{door}: {refused:?}");
            assert_eq!(rest, b"", "{door}");
        }
    }

    fn stop(self) {
        for running in self.running.into_iter().rev() {
            running.stopper().stop();
            running.join().unwrap();
        }
    }
}

fn anywhere() -> Option<SocketAddr> {
    Some(SocketAddr::from(([127, 0, 0, 1], 0)))
}

/// Waits until this holds, and fails where it never does.
fn wait_for(what: &str, mut holds: impl FnMut() -> bool) {
    let end = std::time::Instant::now() + PATIENCE;
    while !holds() {
        assert!(std::time::Instant::now() < end, "never: {what}");
    }
}

fn travel(coordinator: bool, desks: Desks) -> Option<turnstile_travel::Settings> {
    Some(turnstile_travel::Settings {
        roles: TravelRoles { coordinator, desks },
        ..turnstile_travel::Settings::FIRST
    })
}

#[test]
fn processes_of_one_installation_know_each_other_by_a_name() {
    let mut installation = Installation::new();
    let desk = installation.start(|settings| {
        settings.travel = travel(false, Desks::ALL);
        settings.peers.door = anywhere();
        settings.duels.scores = anywhere();
    });
    let address = installation.address(desk, "desk");
    let middleware = installation.start(|settings| {
        settings.travel = travel(true, Desks::NONE);
        settings.peers = Peers {
            desks: Desk::ALL.map(|one| (one, address)).to_vec(),
            ..Peers::default()
        };
    });
    wait_for("all lines are open", || {
        let mut client = installation.client(middleware, "resp");
        client.send("INFO travel\nQUIT\n");
        client.rest().matches(":connected=1").count() == Desk::ALL.len()
    });
    let mut clerk = installation.client(middleware, "travel");
    for (line, answer) in [
        ("Start", "Transaction 1 started"),
        ("AddFlight,1,7,10,100", "Flight added"),
        ("AddCustomerID,1,42", "Add customer ID: 42"),
        ("ReserveFlight,1,42,7", "Flight Reserved"),
        ("Commit,1", "Transaction 1 committed"),
    ] {
        clerk.exchange(&format!("{line}\n"), &format!("{answer}\n"));
    }

    // A client of the same authority is no process, and nor is one without a certificate.
    let authority = &installation.authority;
    let guest = authority.issue("turnstile.example.guest", &["guest.example"]);
    for door in ["desk", "games-scores"] {
        installation.check_stranger(desk, door, Some(&guest));
        installation.check_stranger(desk, door, None);
    }
    installation.stop();
}

#[test]
fn an_arena_tells_its_results_over_a_secured_line() {
    let mut installation = Installation::new();
    let games = |arena| {
        Some(turnstile_games::Settings {
            roles: turnstile_games::Roles {
                arena,
                scores: !arena,
            },
            ..turnstile_games::Settings::FIRST
        })
    };
    let scores = installation.start(|settings| {
        settings.games = games(false);
        settings.duels = Duels {
            scores: anywhere(),
            ..Duels::default()
        };
    });
    let door = installation.address(scores, "games-scores");
    let arena = installation.start(|settings| {
        settings.games = games(true);
        settings.duels.tells = Some((door, ScoresWire::Numbered));
    });
    let mut player = installation.client(arena, "resp");
    player.send("GAMES.BEGIN ada bob gomoku\nGAMES.RESIGN 1 bob\nQUIT\n");
    player.rest();
    let mut reader = installation.client(scores, "resp");
    wait_for("the scores have counted the match", || {
        reader.send("GAMES.GET-STANDING ada\nPING\n");
        reader.until("+PONG|").contains("won|:1|")
    });
    installation.stop();
}
