//! Games through the door.

use serde_json::json;

use super::*;

/// A server that plays games, and keeps everything in memory.
pub(super) struct Arena {
    running: Running,
    pub(super) address: SocketAddr,
}

impl Arena {
    pub(super) fn open() -> Self {
        Self::with(HttpLimits::STANDARD)
    }

    pub(super) fn with(limits: HttpLimits) -> Self {
        let mut settings = settings(Some("127.0.0.1:0".parse().unwrap()));
        settings.limits.http = limits;
        let running = start(&settings).unwrap();
        let [("http", address)] = *running.doors() else {
            panic!("one door: {:?}", running.doors());
        };
        Self { running, address }
    }

    pub(super) fn peer(&self) -> Peer {
        Peer::connect(self.address)
    }

    /// Begins a match of two; its path.
    pub(super) fn begin(&self, game: &str, first: &str, second: &str) -> String {
        let body = json!({"game": game, "first": first, "second": second});
        let begun = self.peer().post("/v1/games/matches", "", &body.to_string());
        assert_eq!(begun.status, 201, "{begun:?}");
        begun.header("location").unwrap()
    }

    pub(super) fn close(self) {
        self.running.stopper().stop();
        self.running.join().unwrap();
    }
}

pub(super) fn make_move(peer: &mut Peer, path: &str, player: &str, ply: u16, choice: u8) -> Reply {
    let body = json!({"player": player, "ply": ply, "choice": choice});
    peer.post(&format!("{path}/moves"), "", &body.to_string())
}

/// Plays a match of tic-tac-toe that `ada` wins over `bob` in five moves.
fn win(peer: &mut Peer, path: &str) -> Reply {
    for (ply, (player, choice)) in (0..).zip([("ada", 1), ("bob", 4), ("ada", 2), ("bob", 5)]) {
        let moved = make_move(peer, path, player, ply, choice);
        assert_eq!(moved.status, 200, "{moved:?}");
    }
    make_move(peer, path, "ada", 4, 3)
}

fn challenge(peer: &mut Peer, player: &str, opponent: &str) -> Reply {
    let body = json!({"player": player, "opponent": opponent, "game": "tic-tac-toe"});
    peer.post("/v1/games/challenges", "", &body.to_string())
}

/// Asserts that the scores have one match, which `ada` has won from `bob`.
fn assert_counted(peer: &mut Peer) {
    let stats = peer.get("/v1/games/players/ada/stats", "").json();
    assert_eq!(
        json!([
            stats["played"],
            stats["won"],
            stats["lost"],
            stats["drawn"],
            stats["elo"]
        ]),
        json!([1, 1, 0, 0, "1516.000"])
    );
    let tally = json!({"played": 1, "won": 0, "lost": 1, "drawn": 0});
    let met = peer.get("/v1/games/players/bob/opponents/ada", "").json();
    assert_eq!(met, tally);
    let nobody = peer.get("/v1/games/players/bob/opponents/eve", "").json();
    assert_eq!(
        nobody,
        json!({"played": 0, "won": 0, "lost": 0, "drawn": 0})
    );
    let opponents = peer.get("/v1/games/players/bob/opponents", "").json();
    assert_eq!(opponents["opponents"][0]["opponent"], "ada");
    assert_eq!(opponents["opponents"][0]["lost"], 1);
    let totals = peer.get("/v1/games/totals", "").json();
    assert_eq!(
        totals,
        json!({"players": 2, "open_matches": 0, "seeking": 0, "away": 0, "rated_players": 2,
            "unreported": 0, "matches_total": 1, "moves_total": 5, "results_total": 1})
    );
}

#[test]
fn two_who_name_each_other_play_and_stand_where_they_should() {
    let arena = Arena::open();
    let mut peer = arena.peer();
    let named = challenge(&mut peer, "ada", "bob");
    assert_eq!(
        (named.status, &named.json()["activity"]),
        (201, &"challenging".into())
    );
    let waiting = peer.get("/v1/games/players/ada", "").json();
    assert_eq!(
        waiting,
        json!({"player": "ada", "connected": false, "activity": "challenging", "opponent": "bob",
            "game": "tic-tac-toe"})
    );
    let begun = challenge(&mut peer, "bob", "ada");
    let path = begun.header("location").unwrap();
    assert_eq!((begun.status, &*path), (201, "/v1/games/matches/1"));
    assert_eq!(
        begun.json()["state"]["first"],
        "ada",
        "who named the other first moves first"
    );
    let listed = peer.get("/v1/games/matches?limit=1", "").json();
    assert_eq!(listed["matches"][0]["match"], 1);
    let rest = format!(
        "/v1/games/matches?cursor={}",
        listed["next"].as_str().unwrap()
    );
    assert_eq!(peer.get(&rest, "").json(), json!({"matches": []}));

    let won = win(&mut peer, &path);
    let mut state = won.json()["state"].clone();
    state["moved_at"].take();
    assert_eq!(
        state,
        json!({"match": 1, "game": "tic-tac-toe", "first": "ada", "second": "bob",
            "board": "xxxoo....", "ply": 5, "seq": 5, "last": 3, "moved_at": null,
            "ending": "line", "winner": "ada"})
    );
    let shown = peer.get(&path, "");
    assert_eq!(shown.json()["board"], "xxxoo....");
    let etag = shown.header("etag").unwrap();
    let same = peer.get(&path, &format!("If-None-Match: {etag}\r\n"));
    assert_eq!((same.status, &*same.body), (304, ""));

    assert_counted(&mut peer);
    arena.close();
}

#[test]
fn a_leaderboard_is_read_by_pages_and_around_somebody() {
    let arena = Arena::open();
    let mut peer = arena.peer();
    for (winner, loser) in [("ada", "bob"), ("cy", "dan"), ("ada", "eve")] {
        let path = arena.begin("gomoku", winner, loser);
        let body = json!({"player": loser}).to_string();
        assert_eq!(peer.post(&format!("{path}/resign"), "", &body).status, 200);
    }
    let mut found = Vec::new();
    let mut target = "/v1/games/leaderboards/won?limit=2".to_owned();
    loop {
        let page = peer.get(&target, "");
        for leader in page.json()["leaders"].as_array().unwrap() {
            found.push(json!([leader["place"], leader["player"], leader["won"]]));
        }
        let Some(next) = page.json()["next"].as_str().map(str::to_owned) else {
            assert_eq!(page.header("link"), None);
            break;
        };
        target = format!("/v1/games/leaderboards/won?limit=2&cursor={next}");
        assert_eq!(
            page.header("link"),
            Some(format!("<{target}>; rel=\"next\""))
        );
    }
    let expected = json!([
        [1, "ada", 2],
        [2, "cy", 1],
        [3, "bob", 0],
        [4, "dan", 0],
        [5, "eve", 0]
    ]);
    assert_eq!(Value::from(found), expected);
    let around = peer
        .get("/v1/games/leaderboards/won/around/cy?each_side=1", "")
        .json();
    let names: Vec<&Value> = around["leaders"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["player"])
        .collect();
    assert_eq!(names, ["ada", "cy", "bob"]);
    let best = peer.get("/v1/games/leaderboards/elo?limit=1", "").json();
    assert_eq!(best["leaders"][0]["player"], "ada");
    arena.close();
}

#[test]
fn a_ticket_says_why_it_waits_and_two_of_about_the_same_strength_are_matched() {
    let arena = Arena::open();
    let mut peer = arena.peer();
    let seek = |peer: &mut Peer, player: &str| {
        let body = json!({"player": player, "game": "connect-four"}).to_string();
        peer.post("/v1/games/seeks", "", &body)
    };
    let waits = seek(&mut peer, "ada");
    assert_eq!(waits.header("location").unwrap(), "/v1/games/players/ada");
    let ticket = waits.json()["ticket"].clone();
    assert_eq!(
        json!([ticket["rating"], ticket["window"], ticket["reason"]]),
        json!([1500, 100, "alone"])
    );
    let tickets = peer.get("/v1/games/tickets?game=connect-four", "").json();
    assert_eq!(tickets["tickets"][0]["player"], "ada");
    let matched = seek(&mut peer, "bob").json();
    assert_eq!(
        json!([matched["activity"], matched["state"]["match"]]),
        json!(["playing", 1])
    );
    let again = peer.get("/v1/games/tickets?game=connect-four", "").json();
    assert_eq!(again, json!({"tickets": []}));
    seek(&mut peer, "cy");
    let gone = peer.request("POST", "/v1/games/players/cy/withdraw", "", "");
    assert_eq!(gone.status, 200, "{gone:?}");
    let idle = peer.get("/v1/games/players/cy", "").json();
    assert_eq!(idle["activity"], "idle");
    arena.close();
}

#[test]
fn a_move_that_is_sent_twice_with_its_key_is_made_once() {
    let arena = Arena::open();
    let path = arena.begin("tic-tac-toe", "ada", "bob");
    let mut peer = arena.peer();
    let target = format!("{path}/moves");
    let key = "Idempotency-Key: \"m-1\"\r\n";
    let body = r#"{"player":"ada","ply":0,"choice":5,"claim":"ordinary"}"#;
    let first = peer.post(&target, key, body);
    assert_eq!(
        (first.status, &first.json()["state"]["ply"]),
        (200, &1.into())
    );
    let again = peer.post(&target, key, body);
    assert_eq!(again.header("idempotent-replayed").as_deref(), Some("true"));
    assert_eq!(again.json()["state"], first.json()["state"]);
    let other = peer.post(&target, key, r#"{"player":"ada","ply":0,"choice":6}"#);
    assert_eq!(other.problem(), (422, "idempotency_key_reused".to_owned()));
    arena.close();
}

/// Asserts that a request is refused so; the problem.
fn refused(reply: &Reply, status: u16, code: &str) -> Value {
    assert_eq!(reply.problem(), (status, code.to_owned()), "{reply:?}");
    reply.json()
}

#[test]
fn every_refused_move_says_what_is_needed_to_go_on() {
    let arena = Arena::open();
    let path = arena.begin("tic-tac-toe", "ada", "bob");
    let mut peer = arena.peer();
    assert_eq!(make_move(&mut peer, &path, "ada", 0, 5).status, 200);
    let stale = refused(&make_move(&mut peer, &path, "bob", 0, 1), 409, "stale");
    assert_eq!(
        json!([
            stale["state"]["board"],
            stale["state"]["ply"],
            stale["state"]["to_move"]
        ]),
        json!(["....x....", 1, "bob"])
    );
    assert!(
        stale["position"].as_u64() > Some(0),
        "a refusal is a record: {stale}"
    );
    let turn = refused(
        &make_move(&mut peer, &path, "ada", 1, 1),
        409,
        "not_your_turn",
    );
    assert_eq!(turn["state"]["to_move"], "bob");
    refused(
        &make_move(&mut peer, &path, "bob", 1, 10),
        400,
        "no_such_cell",
    );
    refused(&make_move(&mut peer, &path, "bob", 1, 5), 409, "taken");
    refused(&make_move(&mut peer, &path, "eve", 1, 1), 403, "not_seated");
    refused(
        &make_move(&mut peer, "/v1/games/matches/9", "bob", 1, 1),
        404,
        "no_such_match",
    );
    let lie = r#"{"player":"bob","ply":1,"choice":1,"claim":"wins"}"#;
    refused(
        &peer.post(&format!("{path}/moves"), "", lie),
        409,
        "false_claim",
    );
    assert_eq!(
        peer.get(&path, "").json()["ply"],
        1,
        "nothing of that happened"
    );
    arena.close();
}

#[test]
fn what_else_a_match_does_not_allow_is_refused_with_its_reason() {
    let arena = Arena::open();
    let path = arena.begin("tic-tac-toe", "ada", "bob");
    let mut peer = arena.peer();
    assert_eq!(make_move(&mut peer, &path, "ada", 0, 5).status, 200);
    let by = |player: &str| json!({"player": player}).to_string();
    let draw = |peer: &mut Peer, player: &str, word: &str| {
        peer.post(&format!("{path}/draw/{word}"), "", &by(player))
    };
    refused(&draw(&mut peer, "bob", "accept"), 409, "no_offer");
    assert_eq!(
        draw(&mut peer, "ada", "offer").json()["state"]["offer"],
        "ada"
    );
    refused(&draw(&mut peer, "ada", "offer"), 409, "offer_stands");
    assert_eq!(draw(&mut peer, "bob", "decline").status, 200);
    let claims = format!("{path}/claim");
    let early = refused(&peer.post(&claims, "", &by("ada")), 409, "too_early");
    assert!(early["until"].as_str().unwrap().ends_with('Z'), "{early}");
    refused(&peer.post(&claims, "", &by("bob")), 409, "nothing_to_claim");
    assert_eq!(make_move(&mut peer, &path, "bob", 1, 1).status, 200);
    refused(
        &peer.post(&format!("{path}/abort"), "", &by("ada")),
        409,
        "too_late",
    );

    let playing = refused(&challenge(&mut peer, "ada", "cy"), 409, "playing");
    assert_eq!(
        json!([playing["player"], playing["match"]]),
        json!(["ada", 1])
    );
    refused(&challenge(&mut peer, "cy", "cy"), 400, "same_player");
    let nobody = peer.request("POST", "/v1/games/players/cy/withdraw", "", "");
    refused(&nobody, 409, "not_waiting");
    assert_eq!(draw(&mut peer, "bob", "offer").status, 200);
    let drawn = draw(&mut peer, "ada", "accept").json();
    assert_eq!(
        json!([drawn["state"]["ending"], drawn["state"]["winner"]]),
        json!(["agreed", null])
    );
    let over = refused(&make_move(&mut peer, &path, "ada", 2, 2), 410, "over");
    assert_eq!(over["state"]["ending"], "agreed");
    arena.close();
}

#[test]
fn what_is_no_request_of_games_is_told_by_field() {
    let arena = Arena::open();
    let mut peer = arena.peer();
    let rows = [
        ("GET", "/v1/games/players/a%20b", "", "player"),
        ("GET", "/v1/games/matches/x", "", "match"),
        ("GET", "/v1/games/matches?cursor=1", "", "cursor"),
        ("GET", "/v1/games/tickets", "", "game"),
        ("GET", "/v1/games/leaderboards/luck", "", "measure"),
        ("GET", "/v1/games/leaderboards/elo?cursor=c1", "", "cursor"),
        (
            "GET",
            "/v1/games/leaderboards/elo/around/ada?each_side=501",
            "",
            "each_side",
        ),
        (
            "GET",
            "/v1/games/players/ada/opponents?limit=0",
            "",
            "limit",
        ),
        ("GET", "/v1/games/matches/1/events?format=xml", "", "format"),
        ("GET", "/v1/games/matches/1/events?since=x", "", "since"),
        ("GET", "/v1/games/play", "", "player"),
        (
            "POST",
            "/v1/games/seeks",
            r#"{"player":"ada","game":"go"}"#,
            "game",
        ),
    ];
    for (method, target, body, field) in rows {
        let json = "Content-Type: application/json\r\n";
        let told = peer.request(method, target, json, body);
        assert_eq!(
            told.problem(),
            (400, "invalid_request".to_owned()),
            "{target}"
        );
        assert_eq!(told.json()["errors"][0]["field"], field, "{target}");
    }
    for target in [
        "/v1/games/players/eve",
        "/v1/games/players/eve/stats",
        "/v1/games/leaderboards/elo/around/eve",
    ] {
        assert_eq!(
            peer.get(target, "").problem(),
            (404, "no_such_player".to_owned())
        );
    }
    let events = peer.get("/v1/games/matches/7/events", "");
    assert_eq!(events.problem(), (404, "no_such_match".to_owned()));
    let plain = peer.get("/v1/games/play?player=ada", "");
    assert_eq!(plain.problem(), (426, "upgrade_required".to_owned()));
    let shape = peer.post("/v1/games/seeks", "", r#"{"player":"ada"}"#);
    assert_eq!(shape.problem(), (400, "invalid_request".to_owned()));
    let text = peer.request("POST", "/v1/games/seeks", "", "{}");
    assert_eq!(text.problem(), (415, "unsupported_media_type".to_owned()));
    arena.close();
}
