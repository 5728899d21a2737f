//! Players on sockets, and those who watch them.

use serde_json::json;

use super::{
    games::{Arena, make_move},
    socket::Socket,
    *,
};

fn sit(arena: &Arena, player: &str) -> Socket {
    Socket::at(arena.address, &format!("/v1/games/play?player={player}"))
}

/// Reads until there was a message of each of these ops or kinds; in this order, in whichever they
/// came.
fn gather<const COUNT: usize>(socket: &mut Socket, words: [&str; COUNT]) -> [Value; COUNT] {
    let mut found = [const { None }; COUNT];
    while found.iter().any(Option::is_none) {
        let message = socket.hear();
        let is = |word: &str| message["op"] == word || message["data"]["kind"] == word;
        if let Some(at) = words.iter().position(|word| is(word)) {
            found[at].get_or_insert(message);
        }
    }
    found.map(Option::unwrap)
}

fn hear_kind(socket: &mut Socket, kind: &str) -> Value {
    let [event] = gather(socket, [kind]);
    event
}

fn movement(ply: u16, choice: u8) -> Value {
    json!({"op": "move", "match": 1, "ply": ply, "choice": choice, "id": ply})
}

/// Two players in match 1, `ada` to move, and where it began.
fn pair(arena: &Arena) -> ([Socket; 2], u64) {
    let mut ada = sit(arena, "ada");
    let mut bob = sit(arena, "bob");
    for socket in [&mut ada, &mut bob] {
        assert_eq!(socket.hear()["data"]["activity"], "idle");
    }
    let challenge =
        |opponent| json!({"op": "challenge", "opponent": opponent, "game": "tic-tac-toe"});
    ada.say(&challenge("bob"));
    let [done, _told] = gather(&mut ada, ["done", "challenged"]);
    assert_eq!(done["data"]["activity"], "challenging");
    assert_eq!(hear_kind(&mut bob, "challenged")["data"]["player"], "ada");
    bob.say(&challenge("ada"));
    let [done, begun] = gather(&mut bob, ["done", "begun"]);
    assert_eq!(done["data"]["state"], begun["data"]["state"]);
    assert_eq!(
        hear_kind(&mut ada, "begun")["data"]["state"]["to_move"],
        "ada"
    );
    ([ada, bob], done["data"]["position"].as_u64().unwrap())
}

#[test]
fn two_players_play_a_match_to_its_end() {
    let arena = Arena::open();
    let ([mut ada, mut bob], _) = pair(&arena);
    for (ply, choice) in (0..).zip([1, 4, 2, 5]) {
        let (mover, other) = match ply % 2 {
            0 => (&mut ada, &mut bob),
            _ => (&mut bob, &mut ada),
        };
        mover.say(&movement(ply, choice));
        let [done, moved] = gather(mover, ["done", "moved"]);
        assert_eq!(done["id"], ply);
        let event = hear_kind(other, "moved");
        assert_eq!(event, moved);
        assert_eq!(event["data"]["state"], done["data"]["state"]);
        assert_eq!(event["data"]["state"]["ply"], ply + 1);
    }
    ada.say(&movement(4, 3));
    let [done, moved, counted] = gather(&mut ada, ["done", "moved", "counted"]);
    let state = &done["data"]["state"];
    assert_eq!(
        json!([state["board"], state["ending"], state["winner"]]),
        json!(["xxxoo....", "line", "ada"])
    );
    assert_eq!(
        json!([counted["data"]["match"], counted["data"]["verdict"]]),
        json!([1, "first_won"])
    );
    assert_eq!(gather(&mut bob, ["moved", "counted"]), [moved, counted]);
    let state = loop {
        let told = ada.ask(&json!({"op": "look", "id": "l"}));
        if told["op"] == "state" {
            break told;
        }
    };
    assert_eq!(
        json!([state["id"], state["data"]["activity"]]),
        json!(["l", "idle"])
    );
    arena.close();
}

#[test]
fn whoever_is_refused_is_told_why_and_stays() {
    let arena = Arena::open();
    let ([mut ada, mut bob], _) = pair(&arena);
    bob.say(&json!({"op": "move", "match": 1, "ply": 0, "choice": 1, "id": "b"}));
    let refused = bob.hear();
    assert_eq!(
        json!([refused["op"], refused["id"], refused["code"]]),
        json!(["refused", "b", "not_your_turn"])
    );
    assert_eq!(refused["state"]["to_move"], "ada");
    ada.say(&movement(0, 5));
    hear_kind(&mut bob, "moved");
    bob.say(&movement(0, 1));
    let stale = bob.hear();
    assert_eq!(
        json!([stale["code"], stale["state"]["board"]]),
        json!(["stale", "....x...."])
    );
    let wrong = bob.ask(&json!({"op": "move", "match": 1, "ply": 1, "choice": 300, "id": 9}));
    assert_eq!(
        json!([wrong["op"], wrong["id"], wrong["code"]]),
        json!(["error", 9, "invalid_request"])
    );
    assert_eq!(
        bob.ask(&json!({"op": "ping", "id": 1})),
        json!({"op": "pong", "id": 1})
    );
    arena.close();
}

#[test]
fn whoever_goes_is_missed_and_comes_back_to_what_happened() {
    let arena = Arena::open();
    let ([mut ada, bob], since) = pair(&arena);
    drop(bob);
    let left = hear_kind(&mut ada, "left");
    assert!(left["data"]["state"]["second_away"].is_string(), "{left}");
    ada.say(&movement(0, 5));
    gather(&mut ada, ["done", "moved"]);
    let mut bob = Socket::at(
        arena.address,
        &format!("/v1/games/play?player=bob&since={since}"),
    );
    let state = bob.hear();
    assert_eq!(
        json!([state["op"], state["data"]["state"]["board"]]),
        json!(["state", "....x...."])
    );
    let kinds: Vec<Value> = (0..3).map(|_| bob.hear()["data"]["kind"].clone()).collect();
    assert_eq!(kinds, ["left", "moved", "returned"]);
    assert_eq!(hear_kind(&mut ada, "returned")["data"]["state"]["ply"], 1);

    let mut second = sit(&arena, "bob");
    let state = second.hear();
    assert_eq!(state["data"]["state"]["ply"], 1);
    drop(bob);
    second.say(&movement(1, 1));
    let moved = ada.hear();
    assert_eq!(
        moved["data"]["kind"], "moved",
        "one of two sockets is no absence"
    );
    arena.close();
}

#[test]
fn whoever_was_away_for_too_long_is_told_so_and_gets_the_state() {
    let limits = HttpLimits {
        events: 2,
        ..HttpLimits::STANDARD
    };
    let arena = Arena::with(limits);
    let ([mut ada, _bob], _) = pair(&arena);
    for ply in 0..2 {
        let player = if ply == 0 { "ada" } else { "bob" };
        let choice = u8::try_from(ply + 1).unwrap();
        let moved = make_move(
            &mut arena.peer(),
            "/v1/games/matches/1",
            player,
            ply,
            choice,
        );
        assert_eq!(moved.status, 200);
        hear_kind(&mut ada, "moved");
    }
    let mut again = Socket::at(arena.address, "/v1/games/play?player=ada&since=0");
    assert_eq!(again.hear()["op"], "reset");
    let state = again.hear();
    assert_eq!(
        json!([state["op"], state["data"]["state"]["ply"]]),
        json!(["state", 2])
    );
    let target = "/v1/games/matches/1/events?since=0";
    let mut watcher = events::open_stream(arena.peer(), target, "");
    assert!(events::block(&mut watcher).starts_with("event: reset\n"));
    let state = data(&mut watcher);
    assert_eq!(
        json!([state["kind"], state["state"]["ply"]]),
        json!(["state", 2])
    );
    arena.close();
}

#[test]
fn whoever_rests_is_not_overtaken_by_the_matches_of_others() {
    let limits = HttpLimits {
        events: 64,
        ..HttpLimits::STANDARD
    };
    let arena = Arena::with(limits);
    let mut cy = sit(&arena, "cy");
    assert_eq!(cy.hear()["data"]["activity"], "idle");
    let mut peer = arena.peer();
    for _match in 0..40 {
        let path = arena.begin("tic-tac-toe", "ada", "bob");
        let body = json!({"player": "bob"}).to_string();
        assert_eq!(peer.post(&format!("{path}/resign"), "", &body).status, 200);
    }
    let body = json!({"player": "ada", "opponent": "cy", "game": "gomoku"}).to_string();
    let challenged = peer.post("/v1/games/challenges", "", &body);
    assert_eq!(challenged.status, 201, "{challenged:?}");
    let told = cy.hear();
    assert_eq!(
        json!([told["op"], told["data"]["kind"], told["data"]["player"]]),
        json!(["event", "challenged", "ada"])
    );
    arena.close();
}

/// The data of the next event of a stream.
fn data(peer: &mut Peer) -> Value {
    let block = events::block(peer);
    let data = block.split("data: ").nth(1).unwrap();
    serde_json::from_str(data).unwrap()
}

#[test]
fn a_spectator_sees_the_state_and_every_move_to_the_end() {
    let arena = Arena::open();
    let path = arena.begin("tic-tac-toe", "ada", "bob");
    let target = format!("{path}/events");
    let mut watcher = events::open_stream(arena.peer(), &target, "");
    let first = data(&mut watcher);
    assert_eq!(
        json!([first["kind"], first["state"]["ply"]]),
        json!(["state", 0])
    );
    let mut peer = arena.peer();
    assert_eq!(make_move(&mut peer, &path, "ada", 0, 5).status, 200);
    let moved = events::block(&mut watcher);
    let id = moved
        .lines()
        .next()
        .unwrap()
        .strip_prefix("id: ")
        .unwrap()
        .to_owned();
    drop(watcher);
    let other = arena.begin("gomoku", "cy", "dan");
    assert_eq!(make_move(&mut peer, &path, "bob", 1, 1).status, 200);
    assert_eq!(make_move(&mut peer, &other, "cy", 0, 1).status, 200);
    let mut resumed =
        events::open_stream(arena.peer(), &target, &format!("Last-Event-ID: {id}\r\n"));
    let next = data(&mut resumed);
    assert_eq!(
        json!([next["kind"], next["state"]["board"]]),
        json!(["moved", "o...x...."])
    );
    let body = json!({"player": "bob"}).to_string();
    assert_eq!(peer.post(&format!("{path}/resign"), "", &body).status, 200);
    let ended = data(&mut resumed);
    assert_eq!(
        json!([
            ended["kind"],
            ended["state"]["ending"],
            ended["state"]["winner"]
        ]),
        json!(["ended", "resigned", "ada"])
    );
    assert!(
        resumed.read_to("0\r\n\r\n").is_some(),
        "the stream ends with the match"
    );
    let mut late = events::open_stream(arena.peer(), &target, "");
    let over = data(&mut late);
    assert_eq!(
        json!([over["kind"], over["state"]["ending"]]),
        json!(["state", "resigned"])
    );
    assert!(late.read_to("0\r\n\r\n").is_some());
    arena.close();
}

#[test]
fn a_spectator_may_read_lines() {
    let limits = HttpLimits {
        heartbeat: Duration::from_millis(20),
        ..HttpLimits::STANDARD
    };
    let arena = Arena::with(limits);
    let path = arena.begin("tic-tac-toe", "ada", "bob");
    let mut peer = arena.peer();
    let request = format!(
        "GET {path}/events HTTP/1.1\r\nHost: localhost\r\nAccept: application/x-ndjson\r\n\r\n"
    );
    peer.send(request.as_bytes());
    let head = peer.read_to("\r\n\r\n").unwrap();
    assert!(
        head.contains("content-type: application/x-ndjson\r\n"),
        "{head}"
    );
    let line = |peer: &mut Peer| loop {
        let line = peer.read_to("\n").unwrap();
        if line.starts_with('{') {
            return serde_json::from_str::<Value>(&line).unwrap();
        }
    };
    assert_eq!(line(&mut peer)["kind"], "state");
    let heartbeat = "1\r\n\n\r\n";
    assert!(peer.read_to(heartbeat).is_some(), "an empty line");
    assert_eq!(make_move(&mut arena.peer(), &path, "ada", 0, 5).status, 200);
    let moved = line(&mut peer);
    assert_eq!(
        json!([moved["kind"], moved["state"]["seq"]]),
        json!(["moved", 1])
    );
    arena.close();
}

#[test]
fn the_feed_of_games_tells_everything() {
    let arena = Arena::open();
    let mut follower = events::open_stream(arena.peer(), "/v1/games/events", "");
    let path = arena.begin("tic-tac-toe", "ada", "bob");
    assert_eq!(data(&mut follower)["state"]["match"], 1);
    let body = json!({"player": "ada"}).to_string();
    assert_eq!(
        arena
            .peer()
            .post(&format!("{path}/resign"), "", &body)
            .status,
        200
    );
    let ended = data(&mut follower);
    assert_eq!(
        json!([ended["kind"], ended["ordinal"]]),
        json!(["ended", 0])
    );
    let counted = data(&mut follower);
    assert_eq!(
        json!([counted["kind"], counted["verdict"]]),
        json!(["counted", "second_won"])
    );
    assert_eq!(counted["standings"][1]["won"], 1);
    arena.close();
}

#[test]
fn whoever_follows_games_first_is_told_what_comes_and_that_the_rest_is_gone() {
    let arena = Arena::open();
    let path = arena.begin("tic-tac-toe", "ada", "bob");
    assert_eq!(make_move(&mut arena.peer(), &path, "ada", 0, 5).status, 200);
    let mut first = events::open_stream(arena.peer(), "/v1/games/events", "");
    assert_eq!(make_move(&mut arena.peer(), &path, "bob", 1, 1).status, 200);
    let moved = data(&mut first);
    assert_eq!(
        json!([moved["kind"], moved["state"]["ply"]]),
        json!(["moved", 2])
    );
    let mut late = events::open_stream(arena.peer(), "/v1/games/events?since=1", "");
    assert!(events::block(&mut late).starts_with("event: reset\n"));
    arena.close();
}
