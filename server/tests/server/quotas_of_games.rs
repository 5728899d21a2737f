//! Quotas at the doors of games, whose wires have no word for a refusal: whoever asks for too much is
//! closed.

use std::thread;

use super::{
    access::{is_done, key, said},
    client::{Client, Server},
    games::{Peer, pair},
    quotas_at_doors::{TOTALS, busy_server, get, is_refused},
};

/// What an arena says of a game that the first player has won.
const WON: &[u8] = b"1:7:8:";

/// Has `shop`, which all at these doors are, in debt for almost a minute.
fn spend_bytes(server: &Server, root: &mut Client) {
    is_done(root, "ACCESS.SET-QUOTA shop BYTES_OUT_PER_SECOND 1");
    let mut http = server.client_of("http");
    while !is_refused(&get(&mut http, "/openapi.json", &key(2)).0) {}
}

/// How many requests of all were refused because of a quota.
fn refused(server: &Server) -> u64 {
    let mut errors = server.running().counters().errors.iter();
    errors
        .find_map(|(word, count)| (word == "quota_exceeded").then_some(count))
        .unwrap()
}

/// Waits until each of two has heard something; says whether one of them was closed.
fn is_one_closed(mut peers: [&mut Peer; 2]) -> bool {
    let mut heard = [false; 2];
    while heard != [true; 2] {
        for (peer, heard) in peers.iter_mut().zip(&mut heard) {
            match peer.try_hear() {
                Some(word) if word.is_empty() => return true,
                word => *heard |= word.is_some(),
            }
        }
        thread::yield_now();
    }
    false
}

#[test]
fn a_principal_has_no_more_connections_at_the_doors_of_games_than_its_quota() {
    let (server, mut root, shop) = busy_server();
    let [mut one, mut two] = pair(&server);
    // The two players, the client over RESP, and one more.
    is_done(&mut root, "ACCESS.SET-QUOTA shop CONNECTIONS 4");
    let mut arena = Peer::at(&server, "games-scores");
    arena.say(WON);
    arena.hears(b"1:1:0:");
    for door in ["games-arena", "games-scores"] {
        Peer::at(&server, door).is_closed();
    }
    // Who is there plays on, and each end gives its place back.
    one.moves(4, 5);
    two.hears(&[5]);
    drop((arena, shop));
    loop {
        let mut again = Peer::at(&server, "games-scores");
        again.try_say(b"1:70:80:");
        match &again.hear()[..] {
            b"" => {}
            told => {
                assert_eq!(told, b"1:1:0:");
                break;
            }
        }
    }
    server.stop();
}

#[test]
fn what_was_sent_at_other_doors_is_paid_for_at_those_of_games() {
    let (server, mut root, _shop) = busy_server();
    let [mut one, two] = pair(&server);
    let mut arena = Peer::at(&server, "games-scores");
    arena.say(WON);
    arena.hears(b"1:1:0:");
    spend_bytes(&server, &mut root);
    let before = refused(&server);
    one.moves(4, 5);
    one.is_closed();
    arena.say(&[1]);
    arena.hears(b"1:0:1:");
    // That was the rest of an answer; a new result is not counted.
    arena.say(WON);
    arena.is_closed();
    assert_eq!(refused(&server), before + 2);
    drop(two);
    let head = get(&mut server.client_of("http"), TOTALS, &key(1)).0;
    assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
    // With the quota gone, both doors serve again.
    is_done(&mut root, "ACCESS.SET-QUOTA shop");
    let mut arena = Peer::at(&server, "games-scores");
    arena.say(WON);
    arena.hears(b"2:2:0:");
    server.stop();
}

#[test]
fn answers_at_the_doors_of_games_are_paid_for_at_every_door() {
    let (server, mut root, mut shop) = busy_server();
    let mut arena = Peer::at(&server, "games-scores");
    is_done(&mut root, "ACCESS.SET-QUOTA shop BYTES_OUT_PER_SECOND 1");
    // Each result is answered with six bytes, and the second player's standing with six more.
    let mut players = 100;
    loop {
        players += 2;
        arena.try_say(format!("1:{players}:{}:", players + 1).as_bytes());
        if arena.hear().is_empty() {
            break;
        }
        arena.try_say(&[1]);
        if arena.hear().is_empty() {
            break;
        }
    }
    let told = said(&mut shop, "ROOMS.GET-TOTALS");
    let begin = "-BUSY your quota is 1 bytes of answers a second; retry in ";
    assert!(told.starts_with(begin), "{told}");
    server.stop();
}

#[test]
fn an_arena_that_sends_too_many_results_a_second_is_closed() {
    let (server, mut root, mut shop) = busy_server();
    is_done(&mut root, "ACCESS.SET-QUOTA shop REQUESTS_PER_SECOND 1");
    let mut arena = Peer::at(&server, "games-scores");
    let mut counted = 0;
    while {
        arena.try_say(format!("2:{}:{}:", 100 + counted, 200 + counted).as_bytes());
        !arena.hear().is_empty()
    } {
        counted += 1;
    }
    assert!(counted >= 1, "a second's worth may come at once");
    // The same bucket is that of players and of other doors.
    let mut number = 1_000;
    loop {
        number += 2;
        said(&mut shop, "ROOMS.GET-TOTALS");
        let mut player = Peer::player(&server, number, number + 1);
        let mut other = Peer::player(&server, number + 1, number);
        if is_one_closed([&mut player, &mut other]) {
            break;
        }
    }
    // With the quota gone they come back, once the server has seen that they were gone.
    is_done(&mut root, "ACCESS.SET-QUOTA shop");
    let mut comes = 0;
    while is_one_closed([
        &mut Peer::player(&server, number, number + 1),
        &mut Peer::player(&server, number + 1, number),
    ]) {
        comes += 1;
        assert!(comes < 10_000, "they may not come back");
    }
    server.stop();
}
