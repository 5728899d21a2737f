//! Games over RESP: two who play, whoever comes too late, and what is kept of it.

use super::client::Server;

/// With every instant as `AT`, and `|` for a line end.
fn shown(bytes: &str) -> String {
    let text = bytes.replace("\r\n", "|");
    let mut parts = text.split("$24|");
    let mut shown = parts.next().unwrap().to_owned();
    for part in parts {
        let (_, rest) = part.split_once('|').unwrap();
        shown = format!("{shown}AT|{rest}");
    }
    shown
}

#[test]
fn two_play_over_two_connections_and_a_stale_move_gets_the_state() {
    let directory = tempfile::tempdir().unwrap();
    let server = Server::durable(directory.path());
    let (mut ada, mut bob) = (server.client(), server.client());
    ada.exchange(
        "GAMES.CHALLENGE ada bob tic-tac-toe\n",
        "*5|:1|$-1|$-1|$11|challenging|:1|",
    );
    bob.send("GAMES.CHALLENGE bob ada tic-tac-toe\n");
    let begun = shown(&bob.until("$7\r\nplaying\r\n:2\r\n"));
    assert!(begun.starts_with("*5|:1|*30|$5|match|:1|"), "{begun}");
    ada.exchange(
        "GAMES.MOVE 1 ada 0 1\nGAMES.MOVE 1 bob 1 4 CLAIM ordinary\n",
        "*9|:1|:1|:1|:1|:1|$3|bob|$-1|$-1|:3|*9|:1|:1|:2|:2|:4|$3|ada|$-1|$-1|:4|",
    );
    bob.send("GAMES.MOVE 1 bob 1 9\n");
    let stale = shown(&bob.until("$6\r\nwinner\r\n$-1\r\n"));
    assert_eq!(
        stale,
        "*3|:0|$5|stale|*30|$5|match|:1|$4|game|$11|tic-tac-toe|$5|first|$3|ada|$6|second|$3|bob|\
         $5|board|$9|x..o.....|$3|ply|:2|$3|seq|:2|$4|last|:4|$7|to_move|$3|ada|$5|offer|$-1|\
         $10|first_away|$-1|$11|second_away|$-1|$8|moved_at|AT|$6|ending|$-1|$6|winner|$-1|"
    );
    let last = "*9|:1|:1|:5|:5|:3|$-1|$4|line|$3|ada|:8|";
    bob.exchange(
        "GAMES.MOVE 1 ada 2 2\nGAMES.MOVE 1 bob 3 5\nGAMES.MOVE 1 ada 4 3 CLAIM wins KEY m\n",
        &format!("*9|:1|:1|:3|:3|:2|$3|bob|$-1|$-1|:6|*9|:1|:1|:4|:4|:5|$3|ada|$-1|$-1|:7|{last}"),
    );
    let replayed = format!("*10{}$8|replayed|", last.trim_start_matches("*9"));
    ada.exchange("GAMES.MOVE 1 ada 4 3 CLAIM wins KEY m\n", &replayed);
    server.stop();
}

#[test]
fn what_was_played_is_counted_and_listed_page_by_page() {
    let directory = tempfile::tempdir().unwrap();
    let server = Server::durable(directory.path());
    let mut client = server.client();
    client.send(
        "GAMES.BEGIN ada bob gomoku\nGAMES.RESIGN 1 bob\nGAMES.GET-TALLY ada bob\n\
         GAMES.LIST-LEADERS MEASURE won LIMIT 1\nGAMES.LIST-LEADERS MEASURE won LIMIT 1 CURSOR r000000000000000100000000\n\
         GAMES.LIST-OPPONENTS bob\nGAMES.GET-STANDING eve\nGAMES.LIST-MATCHES\nINFO games\nQUIT\n",
    );
    let told = shown(&client.rest());
    for expected in [
        "*9|:1|:1|:0|:1|$-1|$-1|$8|resigned|$3|ada|:2|*8|$6|played|:1|$3|won|:1|$4|lost|:0|$5|drawn|:0|",
        "*4|$7|leaders|*1|*20|$5|place|:1|$6|player|$3|ada|$6|played|:1|$3|won|:1|$4|lost|:0|\
         $5|drawn|:0|$3|elo|$8|1516.000|",
        "$4|next|$25|r000000000000000100000000|*4|$7|leaders|*1|*20|$5|place|:2|$6|player|$3|bob|",
        "$4|next|$-1|*4|$9|opponents|*1|*10|$8|opponent|$3|ada|$6|played|:1|$3|won|:0|$4|lost|:1|\
         $5|drawn|:0|$4|next|$-1|*2|:0|$14|no_such_player|*4|$7|matches|*0|$4|next|$-1|",
        "# Games|games_players:2|games_open_matches:0|",
        "|games_results_total:1|",
    ] {
        assert!(told.contains(expected), "{expected} in {told}");
    }
    server.stop();
}

#[test]
fn a_search_says_why_it_waits_and_a_batch_is_played_as_one() {
    let server = Server::of_travel(None);
    let mut client = server.client();
    client.send("HELLO 3\nGAMES.SEEK ada gomoku\nGAMES.GET-PLAYER ada\nQUIT\n");
    let told = shown(&client.rest());
    let ticket = "%7|$6|player|$3|ada|$4|game|$6|gomoku|$6|rating|:1500|$5|since|AT|$6|window|:100|\
                  $9|widens_at|AT|$6|reason|$5|alone|";
    for expected in [
        format!(
            "%5|$7|outcome|$4|done|$5|state|_|$6|ticket|{ticket}$8|activity|$7|seeking|$8|position|:1|"
        ),
        format!("%4|$6|player|$3|ada|$9|connected|#f|$8|activity|$7|seeking|$6|ticket|{ticket}"),
    ] {
        assert!(told.contains(&expected), "{expected} in {told}");
    }
    let mut batch = server.client();
    batch.exchange(
        "MULTI\nGAMES.WITHDRAW ada\nGAMES.MOVE 1 ada 0 x\nEXEC\n",
        "+OK|+QUEUED|-ERR GAMES.MOVE choice: a whole number from 0 to 255|\
         -EXECABORT Transaction discarded because of previous errors.|",
    );
    batch.send("MULTI\nGAMES.WITHDRAW ada\nGAMES.CONNECT ada\nGAMES.DISCONNECT ada\nEXEC\n");
    batch.expect("+OK|+QUEUED|+QUEUED|+QUEUED|*3|*2|:1|:2|*3|:1|$-1|:3|*2|:1|:4|");
    server.stop();
}

#[test]
fn whoever_subscribes_hears_of_every_move() {
    let directory = tempfile::tempdir().unwrap();
    let server = Server::durable(directory.path());
    let mut follower = server.client();
    follower.exchange(
        "SUBSCRIBE games.events\n",
        "*3|$9|subscribe|$12|games.events|:1|",
    );
    let mut client = server.client();
    client.send("GAMES.BEGIN ada bob tic-tac-toe\nGAMES.MOVE 1 ada 0 5\nQUIT\n");
    let told = follower.until("\"to_move\":\"bob\",\"moved_at\":");
    for expected in [
        "{\"position\":1,\"ordinal\":0,",
        "\"kind\":\"begun\"",
        "{\"position\":2,\"ordinal\":0,",
        "\"board\":\"....x....\"",
    ] {
        assert!(told.contains(expected), "{expected} in {told}");
    }
    server.stop();
}

#[test]
fn whoever_subscribes_while_others_play_hears_of_what_comes_behind() {
    let directory = tempfile::tempdir().unwrap();
    let server = Server::durable(directory.path());
    let mut client = server.client();
    client.send("GAMES.BEGIN ada bob tic-tac-toe\n");
    client.until("$7\r\nplaying\r\n:1\r\n");
    let moved = |ply: u8, next: &str| {
        let [ply, cell] = [ply + 1, ply + 5];
        format!(
            "*9|:1|:1|:{ply}|:{ply}|:{cell}|$3|{next}|$-1|$-1|:{}|",
            ply + 1
        )
    };
    client.exchange("GAMES.MOVE 1 ada 0 5\n", &moved(0, "bob"));
    let mut player = server.client();
    player.send("HELLO 3\nSUBSCRIBE games.events\nGAMES.MOVE 1 bob 1 6\n");
    let told = player.until("\"to_move\":\"ada\",\"moved_at\":");
    assert!(told.contains("{\"position\":3,\"ordinal\":0,"), "{told}");
    for earlier in ["\"kind\":\"begun\"", "\"position\":2,"] {
        assert!(!told.contains(earlier), "{earlier} in {told}");
    }
    client.exchange("GAMES.MOVE 1 ada 2 7\n", &moved(2, "bob"));
    let told = player.until("\"to_move\":\"bob\",\"moved_at\":");
    assert!(told.contains("{\"position\":4,\"ordinal\":0,"), "{told}");
    server.stop();
}
