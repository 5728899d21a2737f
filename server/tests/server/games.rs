//! The doors of games, with clients that are as the ancestor's: each message is one `recv`.

use std::{
    io::{ErrorKind, Read as _, Write as _},
    net::{Shutdown, TcpStream},
};

use super::client::{Client, Server};

/// A client that reads one message with each `recv`, as the ancestor's do.
pub(crate) struct Peer(TcpStream);

impl Peer {
    pub(crate) fn at(server: &Server, door: &str) -> Self {
        Self(server.client_of(door).socket)
    }

    /// A player who greets.
    pub(crate) fn player(server: &Server, own: u32, opponent: u32) -> Self {
        let mut player = Self::at(server, "games-arena");
        player.say(format!("\u{1}{own}:{opponent}:").as_bytes());
        player
    }

    pub(crate) fn say(&mut self, bytes: &[u8]) {
        self.0.write_all(bytes).unwrap();
    }

    /// The same to a server that may have closed already.
    pub(crate) fn try_say(&mut self, bytes: &[u8]) {
        if let Err(failure) = self.0.write_all(bytes) {
            let kind = failure.kind();
            let is_closed = [ErrorKind::ConnectionReset, ErrorKind::BrokenPipe].contains(&kind);
            assert!(is_closed, "{failure}");
        }
    }

    pub(crate) fn moves(&mut self, claim: u8, cell: u8) {
        self.say(&[claim, cell]);
    }

    /// One `recv`; nothing at the end of the connection.
    pub(crate) fn hear(&mut self) -> Vec<u8> {
        let mut message = [0; 64];
        match self.0.read(&mut message) {
            Ok(length) => message[..length].to_vec(),
            Err(failure) => {
                assert_eq!(failure.kind(), ErrorKind::ConnectionReset);
                Vec::new()
            }
        }
    }

    /// The same, if there is something to hear already.
    pub(crate) fn try_hear(&mut self) -> Option<Vec<u8>> {
        self.0.set_nonblocking(true).unwrap();
        let mut message = [0; 64];
        let heard = match self.0.read(&mut message) {
            Ok(length) => Some(message[..length].to_vec()),
            Err(failure) if failure.kind() == ErrorKind::WouldBlock => None,
            Err(failure) => {
                assert_eq!(failure.kind(), ErrorKind::ConnectionReset);
                Some(Vec::new())
            }
        };
        self.0.set_nonblocking(false).unwrap();
        heard
    }

    #[track_caller]
    pub(crate) fn hears(&mut self, message: &[u8]) {
        assert_eq!(self.hear(), message);
    }

    /// It was closed without a word.
    #[track_caller]
    pub(crate) fn is_closed(&mut self) {
        assert_eq!(self.hear(), b"");
    }
}

const ORDINARY: u8 = 4;
const WINS: u8 = 8;
const FILLS: u8 = 16;

/// Two who play each other, whoever came first first; both have read their start bytes.
pub(crate) fn pair(server: &Server) -> [Peer; 2] {
    let [mut one, mut two] = [(1, 2), (2, 1)].map(|(own, other)| Peer::player(server, own, other));
    match [one.hear(), two.hear()].map(|start| start[..] == [1]) {
        [true, false] => [one, two],
        [false, true] => [two, one],
        both => panic!("one of them begins: {both:?}"),
    }
}

/// Waits until `INFO` says so.
fn until(server: &Server, fact: &str) {
    let mut client = server.client();
    for _ in 0..10_000 {
        if info(&mut client).contains(fact) {
            return;
        }
    }
    panic!("{fact} is not in {}", info(&mut client));
}

fn info(client: &mut Client) -> String {
    client.send("INFO games\nPING\n");
    client.until("+PONG\r\n").replace("\r\n", "|")
}

/// The game of the ancestor's generator: whoever begins takes 1, 3, 5 and 7 and wins.
fn play([first, second]: [&mut Peer; 2]) {
    for cell in (1..7).step_by(2) {
        first.moves(ORDINARY, cell);
        second.hears(&[cell]);
        second.moves(ORDINARY, cell + 1);
        first.hears(&[cell + 1]);
    }
    first.moves(WINS, 7);
    second.hears(&[7]);
    first.say(b"d");
    second.say(b"d");
}

#[test]
fn a_pair_plays_games_one_after_the_other_and_the_starter_changes() {
    let server = Server::new();
    let [mut one, mut two] = pair(&server);
    play([&mut one, &mut two]);
    one.hears(b"1:1:0:");
    two.hears(b"1:0:1:");
    play([&mut two, &mut one]);
    one.hears(b"2:1:1:");
    two.hears(b"2:1:1:");
    play([&mut one, &mut two]);
    one.hears(b"3:2:1:");
    two.hears(b"3:1:2:");
    until(&server, "games_moves_total:21|games_results_total:3|");
    server.stop();
}

#[test]
fn messages_that_wait_together_are_read_one_by_one() {
    let server = Server::new();
    let mut one = Peer::player(&server, 1, 2);
    until(&server, "games_players:2|");
    let mut two = Peer::player(&server, 2, 1);
    one.hears(&[1]);
    one.moves(ORDINARY, 1);
    until(&server, "games_moves_total:1|");
    two.hears(&[2]);
    two.hears(&[1]);
    // The first wins; the second hears its statistics and the next game's first move late.
    for (cell, reply) in [(4, 2), (5, 3)] {
        two.moves(ORDINARY, cell);
        one.hears(&[cell]);
        one.moves(if reply == 3 { WINS } else { ORDINARY }, reply);
        two.hears(&[reply]);
    }
    one.say(b"d");
    two.say(b"d");
    two.hears(b"1:0:1:");
    two.moves(ORDINARY, 9);
    until(&server, "games_moves_total:6|");
    one.hears(b"1:1:0:");
    one.hears(&[9]);
    server.stop();
}

#[test]
fn a_drawn_game_is_counted_as_none_won() {
    let server = Server::new();
    let [mut one, mut two] = pair(&server);
    for (first, second) in [(1, 2), (3, 5), (4, 6), (8, 7)] {
        one.moves(ORDINARY, first);
        two.hears(&[first]);
        two.moves(ORDINARY, second);
        one.hears(&[second]);
    }
    one.moves(FILLS, 9);
    two.hears(&[9]);
    two.say(b"d");
    one.say(b"d");
    two.hears(b"1:0:0:");
    one.hears(b"1:0:0:");
    server.stop();
}

/// Both are closed, and so many results are counted.
#[track_caller]
fn check_refused(claim: u8, cell: u8, results: u64) {
    let server = Server::new();
    let [mut one, mut two] = pair(&server);
    one.moves(ORDINARY, 1);
    two.hears(&[1]);
    two.moves(claim, cell);
    two.is_closed();
    one.is_closed();
    until(
        &server,
        &format!(
            "games_open_matches:0|games_seeking:0|games_away:0|games_unreported:0|games_rated_players:{}|games_matches_total:1|games_moves_total:1|games_results_total:{results}|",
            results * 2
        ),
    );
    server.stop();
}

#[test]
fn a_move_that_does_not_stand_loses_the_game() {
    check_refused(ORDINARY, 1, 1);
    check_refused(WINS, 5, 1);
    check_refused(FILLS, 5, 1);
    check_refused(ORDINARY, 10, 1);
    check_refused(5, 5, 1);
}

#[test]
fn a_byte_out_of_turn_before_the_first_move_harms_nobody() {
    let server = Server::new();
    let [mut one, mut two] = pair(&server);
    two.moves(ORDINARY, 1);
    two.is_closed();
    one.is_closed();
    until(&server, "games_moves_total:0|games_results_total:0|");
    server.stop();
}

#[test]
fn a_number_that_is_connected_is_refused_and_another_waits_until_it_is_named() {
    let server = Server::new();
    let mut one = Peer::player(&server, 1, 2);
    until(&server, "games_players:2|");
    Peer::player(&server, 1, 2).is_closed();
    let three = Peer::player(&server, 3, 1);
    until(&server, "games_players:3|");
    let mut two = Peer::player(&server, 2, 1);
    one.hears(&[1]);
    two.hears(&[2]);
    drop(three);
    play([&mut one, &mut two]);
    one.hears(b"1:1:0:");
    // Whoever goes between two games has left none.
    one.0.shutdown(Shutdown::Both).unwrap();
    two.hears(b"1:0:1:");
    two.is_closed();
    let [mut one, mut two] = pair(&server);
    play([&mut one, &mut two]);
    until(&server, "games_results_total:2|");
    server.stop();
}

#[test]
fn whoever_goes_at_any_byte_leaves_nothing_open_and_loses_what_was_begun() {
    let server = Server::new();
    let script: &[u8] = b"\x011:2:\x04\x01\x04\x03\x04\x05\x08\x07d";
    let greeting = 5;
    for cut in 0..=script.len() {
        let mut one = Peer::at(&server, "games-arena");
        let greeted = cut.min(greeting);
        one.say(&script[..greeted]);
        if greeted < greeting {
            continue;
        }
        let mut two = Peer::player(&server, 2, 1);
        if one.hear() == [1] {
            two.hears(&[2]);
        } else {
            two.hears(&[1]);
            std::mem::swap(&mut one, &mut two);
        }
        let mut said = greeting;
        for cell in [1, 3, 5, 7] {
            let end = cut.min(said + 2);
            one.say(&script[said..end]);
            if end < said + 2 {
                break;
            }
            said = end;
            two.hears(&[cell]);
            if cell < 7 {
                two.moves(ORDINARY, cell + 1);
                one.hears(&[cell + 1]);
            } else {
                one.say(&script[said..cut]);
            }
        }
        drop(one);
        two.is_closed();
        until(
            &server,
            "games_open_matches:0|games_seeking:0|games_away:0|",
        );
        drop(two);
    }
    // With half a first move nothing was begun; each of the others counts.
    let counted = script.len() - greeting - 1;
    until(&server, &format!("games_results_total:{counted}|"));
    server.stop();
}

#[test]
fn an_arena_is_told_how_both_stand_or_only_how_the_first_does() {
    let server = Server::new();
    let mut arena = Peer::at(&server, "games-scores");
    arena.say(b"1:7:8:");
    arena.hears(b"1:1:0:");
    arena.say(&[1]);
    arena.hears(b"1:0:1:");
    arena.say(b"3:8:7:");
    arena.hears(b"2:0:1:");
    arena.say(b"2:7:9:");
    arena.hears(b"3:1:1:");
    arena.say(&[1]);
    arena.hears(b"1:1:0:");
    arena.say(b"4:7:9:");
    arena.is_closed();
    until(
        &server,
        "games_rated_players:3|games_matches_total:0|games_moves_total:0|games_results_total:3|",
    );
    server.stop();
}

#[test]
fn a_match_that_ends_by_the_clock_closes_both() {
    let settings = turnstile_games::Settings {
        move_ms: 50,
        ..turnstile_games::Settings::FIRST
    };
    let server = Server::of_games(settings);
    let [mut one, mut two] = pair(&server);
    one.moves(ORDINARY, 1);
    two.hears(&[1]);
    one.is_closed();
    two.is_closed();
    until(&server, "games_results_total:1|");
    server.stop();
}

#[test]
fn the_end_of_the_server_leaves_games_as_they_are() {
    let directory = tempfile::tempdir().unwrap();
    let server = Server::durable(directory.path());
    let [mut one, mut two] = pair(&server);
    one.moves(ORDINARY, 1);
    two.hears(&[1]);
    server.stop();
    one.is_closed();
    let server = Server::durable(directory.path());
    until(
        &server,
        "games_open_matches:1|games_seeking:0|games_away:2|",
    );
    Peer::player(&server, 1, 2).is_closed();
    server.stop();
}
