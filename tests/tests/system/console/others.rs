//! Seats, games, travel and access: what each page shows and does.

use std::process::{Command, Stdio};

use serde_json::{Value, json};
use turnstile_trial::Chromium;

use super::{
    assert_accessible, console, done, fill,
    frame::{as_boss, console_of_boss, guarded},
    press, shows, until,
};
use crate::door::{Door, door, redis_cli};

#[test]
fn seats_are_chosen_on_the_map_and_those_of_others_appear_taken() {
    let door = door();
    done(&door, "SEATS.ADD-SHOW opera 2030-05-01T19:00:00Z");
    done(&door, "SEATS.ADD-SECTION opera stalls 4 10");
    let mut browser = console(&door, "seats?show=opera");
    shows(&mut browser, "live");
    press(&mut browser, "Seat 2-3, free");
    press(&mut browser, "Seat 2-4, free");
    shows(&mut browser, "Chosen: 2-3, 2-4");
    fill(&mut browser, "Buyer", "ada");
    press(&mut browser, "Book");
    shows(&mut browser, "Booked 2-3, 2-4");
    done(&door, "SEATS.HOLD opera stalls 1-1");
    until(
        &mut browser,
        "document.querySelectorAll('.map .taken').length === 2 && \
             document.querySelectorAll('.map .held').length === 1",
    );
    assert_accessible(&mut browser);
    let totals = redis_cli(&door, &["SEATS.GET-TOTALS"], "");
    assert!(totals.contains("seats_booked\n2\n"), "{totals}");
}

#[test]
fn two_people_play_in_two_browsers() {
    let door = door();
    let mut ada = console(&door, "games?player=ada");
    let mut bob = console(&door, "games?player=bob");
    for (browser, opponent) in [(&mut ada, "bob"), (&mut bob, "ada")] {
        shows(browser, "connected");
        fill(browser, "Opponent", opponent);
        press(browser, "Challenge");
    }
    // Who named the other first moves first: a row on top against the row below.
    for (of_ada, of_bob) in [(1, Some(4)), (2, Some(5)), (3, None)] {
        let cell = |number: u8| {
            format!(
                "Move to row {}, column {}",
                (number - 1) / 3 + 1,
                (number - 1) % 3 + 1
            )
        };
        shows(&mut ada, "Your move");
        press(&mut ada, &cell(of_ada));
        if let Some(of_bob) = of_bob {
            shows(&mut bob, "Your move");
            press(&mut bob, &cell(of_bob));
        }
    }
    for browser in [&mut ada, &mut bob] {
        shows(browser, "ada won");
    }
    until(
        &mut ada,
        "document.querySelector('section[aria-labelledby=leaders] tbody')?.innerText.includes('ada')",
    );
    assert_accessible(&mut ada);
    let standing = redis_cli(&door, &["GAMES.GET-STANDING", "ada"], "");
    assert!(standing.contains("won\n1\n"), "{standing}");

    // Her history, and every statistic counted again from the moves in the journal.
    shows(&mut ada, "History of ada");
    press(&mut ada, "Count again");
    shows(&mut ada, "every statistic follows from them");
    let row = |label: &str| {
        format!(
            "[...document.querySelectorAll('[aria-label=\"{label} of ada\"] tbody tr')]\
                 .map(row => [...row.cells].slice(-5).map(cell => cell.innerText))"
        )
    };
    let statistics = ada.value(&row("Statistics"));
    assert_eq!(statistics[0], statistics[1], "{statistics}");
    assert_eq!(statistics[0][0], "1", "{statistics}");
    let results = ada.value(&row("Results"));
    assert_eq!(
        [&results[0][1], &results[0][2]],
        ["bob", "won"],
        "{results}"
    );
    assert_accessible(&mut ada);
}

#[test]
fn a_player_whose_move_is_on_its_way_makes_no_other() {
    let door = door();
    let mut ada = console(&door, "games?player=ada");
    shows(&mut ada, "connected");
    done(&door, "GAMES.CHALLENGE bob ada tic-tac-toe");
    fill(&mut ada, "Opponent", "bob");
    press(&mut ada, "Challenge");
    shows(&mut ada, "bob is to move");
    done(&door, "GAMES.MOVE 1 bob 0 1");
    // Two presses before the server could answer the first.
    until(
        &mut ada,
        "(() => { const [one, other] = document.querySelectorAll('button.cell'); \
             one?.click(); other?.click(); return !!other; })()",
    );
    shows(&mut ada, "bob is to move");
    done(&door, "GAMES.MOVE 1 bob 2 9");
    shows(&mut ada, "Your move");
    let text = ada.value("document.body.innerText");
    assert!(!text.as_str().unwrap().contains("stale"), "{text}");
}

#[test]
fn the_leaderboard_follows_play_that_never_pauses() {
    let door = door();
    let mut browser = console(&door, "games");
    shows(&mut browser, "live");
    let leads = "!!document.querySelector('section[aria-labelledby=leaders] tbody')?.innerText.includes('ada')";
    let followed = (0..2_000).any(|_| {
        done(&door, "GAMES.REPORT ada bob first_won");
        browser.value(leads) == json!(true)
    });
    assert!(followed);
}

#[test]
fn a_transaction_that_waits_is_drawn_and_aborted() {
    let door = door();
    // The page is there first: a transaction is given up when nothing is asked of it for long.
    let mut browser = console(&door, "travel");
    shows(&mut browser, "live");
    let xid = |answer: String| answer.lines().nth(1).unwrap_or("").to_owned();
    let first = xid(redis_cli(&door, &["TRAVEL.START"], ""));
    let second = xid(redis_cli(&door, &["TRAVEL.START"], ""));
    let item = ["TRAVEL.ADD-ITEM", &first, "flight-9001", "3", "100"];
    assert!(redis_cli(&door, &item, "").starts_with("1\n"));
    // It waits for the lock of the first, so its answer comes when that ends.
    let waiting = Command::new("redis-cli")
        .args([
            "-p",
            &door.port,
            "TRAVEL.QUERY-ITEM",
            &second,
            "flight-9001",
        ])
        .stdout(Stdio::null())
        .spawn();
    let mut waiting = waiting.expect("redis-cli is installed");
    browser.value(&format!("location.hash = '#/travel?xid={first}'"));
    let waits = format!(
        "document.querySelector('[aria-labelledby=waits] svg')?.textContent.includes({})",
        json!(second)
    );
    until(&mut browser, &waits);
    shows(&mut browser, "flight-9001 (exclusive)");
    press(&mut browser, "Abort");
    press(&mut browser, "Abort");
    shows(&mut browser, &format!("Transaction {first} is aborted"));
    shows(&mut browser, "No transaction waits for another");
    assert_accessible(&mut browser);
    assert!(waiting.wait().unwrap().success());
}

#[test]
fn an_administrator_grants_a_role_and_finds_that_in_the_audit() {
    let door = door();
    let mut browser = console(&door, "access?service=access");
    press(&mut browser, "Add a principal");
    fill(&mut browser, "Name", "shop");
    press(&mut browser, "Add");
    press(&mut browser, "Grant");
    fill(&mut browser, "Role", "rooms.user");
    press(&mut browser, "Grant");
    shows(&mut browser, "Done.");
    // The server decides its whole journal again for an audit: only who asks for one gets it.
    shows(&mut browser, "The server decides its whole journal again");
    press(&mut browser, "Read the audit");
    shows(&mut browser, "access.grant");
    // What was done last stands first.
    let operations = "[...document.querySelectorAll('[aria-label=\"Audited commands\"] tbody tr')]\
                      .map(row => row.cells[3].innerText)";
    let operations = browser.value(operations);
    let first = [&operations[0], &operations[1]];
    assert_eq!(
        first,
        ["access.grant", "access.add_principal"],
        "{operations}"
    );
    assert_accessible(&mut browser);
    let shown = redis_cli(&door, &["ACCESS.GET-PRINCIPAL", "shop"], "");
    assert!(shown.contains("rooms.user"), "{shown}");
    press(&mut browser, "Remove");
    press(&mut browser, "Remove");
    shows(&mut browser, "There is none yet");
}

/// A secret is shown once and nowhere else. The key that it replaces ends when its owner has the new one, since
/// that may be the key of the page itself.
#[test]
fn an_administrator_makes_and_rotates_keys_and_sets_quotas() {
    let door = door();
    done(&door, "ACCESS.ADD-PRINCIPAL boss");
    done(&door, "ACCESS.GRANT boss admin *");
    let mut browser = console(&door, "access");
    press(&mut browser, "as everyone, quota of boss");
    fill(&mut browser, "requests per second", "500");
    press(&mut browser, "Set the quota");
    shows(&mut browser, "requests per second 500");

    press(&mut browser, "Make a key for boss");
    fill(&mut browser, "What it is for", "page");
    press(&mut browser, "Make the key");
    shows(&mut browser, "The new key of boss");
    let key = shown_key(&mut browser);
    // From now on the server asks for it.
    press(&mut browser, "I have it");
    shows(&mut browser, "This server asks for a key");
    fill(&mut browser, "Key", &key);
    press(&mut browser, "Log in");
    shows(&mut browser, "boss");
    let text = browser.value("document.body.innerText");
    assert!(!text.as_str().unwrap().contains(&key), "it was shown once");
    assert_accessible(&mut browser);

    press(&mut browser, "Rotate ");
    fill(&mut browser, "The old key ends after days", "0");
    press(&mut browser, "Rotate");
    shows(&mut browser, "The new key of boss");
    let second = shown_key(&mut browser);
    assert_ne!(key, second);
    assert!(login(&door, &key).starts_with("OK"));
    press(&mut browser, "I have it: end key");
    shows(&mut browser, "This server asks for a key");
    assert!(login(&door, &second).starts_with("OK"));
    assert!(login(&door, &key).contains("WRONGPASS"));
}

/// The page always let the old key live for the overlap, and the new one for ever.
#[test]
fn a_rotated_key_lives_no_longer_and_the_new_one_as_long_as_it_was_made_for() {
    let door = guarded(door(), &["rooms.user *"]);
    let mut browser = console_of_boss(&door, "access");
    shows(&mut browser, "bbbbbbbbbbbb");
    let ends = browser.value("new Date(Date.now() + 12 * 3_600_000).toISOString()");
    let ends = ends.as_str().expect("an instant is text");
    let digest = "c".repeat(64);
    let add = format!("ACCESS.ADD-KEY clerk cccccccccccc {digest} EXPIRES {ends}");
    let added = as_boss(&door, &add);
    assert!(added.starts_with("1\n"), "{added}");
    press(&mut browser, "Read again");
    press(&mut browser, "Rotate cccccccccccc");
    // The clock of the page stands, so that the new key's end is known.
    browser.value("(() => { const now = Date.now(); Date.now = () => now; return true; })()");
    press(&mut browser, "Rotate");
    shows(&mut browser, "The new key of clerk");
    let id = shown_key(&mut browser);
    let id = id.split('_').nth(2).expect("a key names its id");
    until(&mut browser, "!document.querySelector('dialog[open]')");
    let lives = browser.value(&format!(
        "fetch('/v1/access/keys').then(answer => answer.json()).then(({{keys}}) => {{ \
             const [old, made] = ['cccccccccccc', '{id}'].map(id => keys.find(one => one.id === id)); \
             const [since, end] = [old.since, '{ends}'].map(at => Date.parse(at)); \
             return {{old: Date.parse(old.expires) - end, \
                 made: Date.parse(made.expires) - Date.now() - (end - since)}}; }})"
    ));
    assert_eq!(lives, json!({"old": 0, "made": 0}));
}

/// The server keeps a key of an administrator that does not expire. That is known only after the new key was added.
#[test]
fn a_rotation_that_is_refused_halfway_shows_the_new_key_and_keeps_the_old_one() {
    let door = guarded(door(), &["rooms.user *"]);
    let mut browser = console_of_boss(&door, "access");
    press(&mut browser, "Rotate aaaaaaaaaaaa");
    fill(&mut browser, "The new key ends after days", "30");
    press(&mut browser, "Rotate");
    shows(&mut browser, "last_administrator");
    shows(&mut browser, "The new key of boss");
    let key = shown_key(&mut browser);
    assert!(login(&door, &key).starts_with("OK"));
    shows(&mut browser, "key aaaaaaaaaaaa stays as it is");
    assert_accessible(&mut browser);
    let keys = keys_of(&mut browser, "boss");
    let old = keys.iter().find(|key| key["id"] == "aaaaaaaaaaaa");
    assert!(old.is_some_and(|key| key["expires"].is_null()), "{keys:?}");
}

/// The keys of a principal, as the server lists them to the page.
pub(super) fn keys_of(browser: &mut Chromium, principal: &str) -> Vec<Value> {
    let listed = browser.value(&format!(
        "fetch('/v1/access/keys?principal={principal}').then(answer => answer.json())"
    ));
    listed["keys"].as_array().expect("a list").clone()
}

/// The key that the page shows.
pub(super) fn shown_key(browser: &mut Chromium) -> String {
    let key = until(browser, "document.querySelector('code.mono').textContent");
    key.as_str().expect("a key is text").to_owned()
}

/// What the RESP door answers to a key.
pub(super) fn login(door: &Door, key: &str) -> String {
    redis_cli(door, &[], &format!("AUTH {key}\n"))
}
