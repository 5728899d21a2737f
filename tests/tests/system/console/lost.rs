//! Answers that are lost or late, streams that the server does not give, and sessions that end.

use serde_json::json;
use turnstile_trial::{Chromium, RedisServer};

use super::{
    console, done,
    frame::{as_boss, console_of_boss, console_of_clerk, guarded},
    others::{keys_of, login, shown_key},
    press,
    rooms::{BOARD, ID, bar, book, wish},
    shows, until,
};
use crate::door::{Door, door, door_with, redis_cli};

/// Stays between the page and the server: `meet` gets each request, and sends it by `pass`.
fn intercept(browser: &mut Chromium, meet: &str) {
    browser.value(&format!(
        "(() => {{ const fetched = window.fetch; \
             window.fetch = async (place, how) => {{ \
                 const pass = () => fetched(place, how); \
                 const method = how?.method ?? 'GET'; \
                 {meet} \
             }}; return true; }})()"
    ));
}

/// What the server counts of bookings since it began.
fn assert_booked_total(door: &Door, expected: u32) {
    let totals = redis_cli(door, &["ROOMS.GET-TOTALS"], "");
    let line = format!("booked_total\n{expected}\n");
    assert!(totals.contains(&line), "{totals}");
}

/// A stream tells of everything, so the server gives it to nobody who may see a part only. The page showed a full
/// hotel as empty then, and asked for the stream for ever.
#[test]
fn who_may_see_one_hotel_one_show_and_one_player_sees_them_without_a_stream() {
    let door = door();
    done(&door, "SEATS.ADD-SHOW opera 2030-05-01T19:00:00Z");
    done(&door, "SEATS.ADD-SECTION opera stalls 4 10");
    done(&door, "GAMES.REPORT ada bob first_won");
    book(&door, "101", "2027-05-03", "2027-05-05", "ada");
    let grants = ["rooms.user hotel", "seats.user opera", "games.user ada"];
    let door = guarded(door, &grants);
    let mut browser = console_of_clerk(&door, BOARD);
    bar(&mut browser, "room 101, 2027-05-03 to 2027-05-05");
    shows(&mut browser, "no stream");
    shows(&mut browser, "missing_right");
    // What others do is read again.
    let booking = format!("ROOMS.BOOK hotel 102 2027-05-03 2027-05-05 bob {ID}");
    let booked = as_boss(&door, &booking);
    assert!(booked.starts_with("1\n"), "{booked}");
    bar(&mut browser, "room 102, 2027-05-03 to 2027-05-05");

    browser.value("location.hash = '#/seats?show=opera'");
    press(&mut browser, "Seat 2-3, free");
    browser.value("location.hash = '#/games'");
    until(
        &mut browser,
        "document.querySelector('section[aria-labelledby=leaders] tbody')?.innerText.includes('ada')",
    );
}

/// A database has no listings for a board either: the page says so, and asks for the stream once.
#[test]
fn a_page_of_rooms_in_a_database_says_what_is_not_offered_there() {
    let redis = RedisServer::start();
    let door = door_with(&["--rooms-backend", &redis.url()]);
    let mut browser = console(&door, BOARD);
    shows(
        &mut browser,
        "The database behind this service does not offer it",
    );
    shows(&mut browser, "no stream");
    let count = "if (!place.startsWith('/v1/rooms')) return pass(); \
         const kind = place.endsWith('/events') ? 'streams' : 'reads'; \
         window[kind] = (window[kind] ?? 0) + 1; document.title = `${kind} again`; return pass();";
    intercept(&mut browser, count);
    until(&mut browser, "window.reads >= 2");
    assert_eq!(browser.value("window.streams ?? 0"), json!(0));
}

/// The ways in which a page does not learn what its command came to, as answers to a request that was passed on.
const UNKNOWN: [&str; 2] = [
    "throw new TypeError('the connection is gone');",
    "return Response.json({status: 504, code: 'outcome_unknown', title: 'Done or not'}, {status: 504});",
];

#[test]
fn an_answer_that_is_lost_is_asked_for_again_under_its_key() {
    for unknown in UNKNOWN {
        let door = door();
        let mut browser = console(&door, BOARD);
        shows(&mut browser, "live");
        let lose = format!(
            "if (method === 'GET' || (window.lost ??= 3) === 0) return pass(); \
                 window.lost -= 1; await pass(); {unknown}"
        );
        intercept(&mut browser, &lose);
        wish(&mut browser, "type:double", "2027-05-03", "2027-05-05");
        press(&mut browser, "Book");
        shows(&mut browser, "Booked room");
        assert_booked_total(&door, 1);
    }
}

/// The page said that it tries again by itself, threw the key away, and booked a second room at the next click.
#[test]
fn a_second_click_after_no_answer_came_books_no_second_room() {
    for unknown in UNKNOWN {
        let door = door();
        let mut browser = console(&door, BOARD);
        shows(&mut browser, "live");
        let lose = format!(
            "if (method === 'GET' || window.isWell) return pass(); await pass(); {unknown}"
        );
        intercept(&mut browser, &lose);
        wish(&mut browser, "type:double", "2027-05-03", "2027-05-05");
        press(&mut browser, "Book");
        shows(&mut browser, "may have been done");
        browser.value("window.isWell = true");
        press(&mut browser, "Book");
        shows(&mut browser, "Booked room");
        assert_booked_total(&door, 1);
        // What is known is no repetition: another room for the same guest is another booking.
        press(&mut browser, "Book");
        until(
            &mut browser,
            "document.querySelectorAll('.bar').length === 2",
        );
        assert_booked_total(&door, 2);
    }
}

/// The page made another key at each click, so the server got two different commands.
#[test]
fn a_second_click_after_no_answer_came_makes_no_second_key() {
    for unknown in UNKNOWN {
        let door = guarded(door(), &["rooms.user *"]);
        let mut browser = console_of_boss(&door, "access");
        let lose = format!(
            "if (method === 'GET' || window.isWell) return pass(); await pass(); {unknown}"
        );
        press(&mut browser, "Make a key for clerk");
        intercept(&mut browser, &lose);
        press(&mut browser, "Make the key");
        shows(&mut browser, "may have been done");
        browser.value("window.isWell = true");
        press(&mut browser, "Make the key");
        let key = shown_key(&mut browser);
        assert!(login(&door, &key).starts_with("OK"));
        assert_eq!(keys_of(&mut browser, "clerk").len(), 2);
    }
}

/// The first new key was shown only when the old one's end was known too, and a second click made another.
#[test]
fn a_new_key_is_shown_when_no_answer_comes_to_the_end_of_the_old_one() {
    for unknown in UNKNOWN {
        let door = guarded(door(), &["rooms.user *"]);
        let mut browser = console_of_boss(&door, "access");
        let lose = format!(
            "if (!place.endsWith('/expiry') || window.isWell) return pass(); await pass(); {unknown}"
        );
        press(&mut browser, "Rotate bbbbbbbbbbbb");
        intercept(&mut browser, &lose);
        press(&mut browser, "Rotate");
        shows(&mut browser, "may have been done");
        shows(&mut browser, "The new key of clerk");
        let key = shown_key(&mut browser);
        browser.value("window.isWell = true");
        press(&mut browser, "Rotate");
        until(&mut browser, "!document.querySelector('dialog[open]')");
        assert_eq!(shown_key(&mut browser), key);
        assert!(login(&door, &key).starts_with("OK"));
        assert_eq!(keys_of(&mut browser, "clerk").len(), 2);
    }
}

/// The card kept what was chosen before until the new choice was read, so a click on *Cancel* meant the old one.
#[test]
fn a_card_shows_nothing_of_the_choice_before_and_no_late_answer() {
    let door = door();
    let first = book(&door, "101", "2027-05-03", "2027-05-05", "ada");
    let second = book(&door, "102", "2027-05-03", "2027-05-05", "bob");
    let mut browser = console(&door, &format!("{BOARD}&ref={first}"));
    let card = "document.querySelector('section[aria-labelledby=chosen]')?.innerText ?? ''";
    until(&mut browser, &format!("({card}).includes('101 in hotel')"));
    let keep = format!(
        "if (!place.endsWith('/bookings/{second}')) return pass(); \
             window.isAsked = true; document.title = 'asked'; \
             await new Promise(done => window.release = done); \
             const answer = await pass(); window.isAnswered = true; return answer;"
    );
    intercept(&mut browser, &keep);
    let choose = |reference: &str| format!("location.hash = '#/{BOARD}&ref={reference}'");
    browser.value(&choose(&second));
    until(&mut browser, "window.isAsked");
    assert_eq!(
        browser.value(&format!("({card}).includes('101 in hotel')")),
        json!(false)
    );

    browser.value(&choose(&first));
    until(&mut browser, &format!("({card}).includes('101 in hotel')"));
    // The late answer is there, and a turn of the page's loop later it would have been shown.
    browser.value(
        "window.release(), new Promise(done => { const look = () => \
             window.isAnswered ? setTimeout(done, 0) : setTimeout(look, 10); look(); })",
    );
    let shown = browser.value(card);
    assert!(shown.as_str().unwrap().contains("101 in hotel"), "{shown}");
}

#[test]
fn a_session_that_ends_leads_to_the_login_also_where_only_a_socket_is_open() {
    let door = guarded(door(), &["exchange.user *"]);
    let mut browser = console_of_clerk(&door, "exchange?symbol=ACME");
    shows(&mut browser, "live");
    let revoked = as_boss(&door, "ACCESS.REVOKE-KEY bbbbbbbbbbbb");
    assert!(revoked.starts_with("1\n"), "{revoked}");
    shows(&mut browser, "This server asks for a key");
}

#[test]
fn a_page_logs_out_also_when_the_server_does_not_hear_of_it() {
    let door = guarded(door(), &["rooms.user *"]);
    let mut browser = console_of_clerk(&door, "try");
    shows(&mut browser, "clerk");
    let lose = "if (method !== 'DELETE') return pass(); throw new TypeError('no network');";
    intercept(&mut browser, lose);
    press(&mut browser, "Log out");
    shows(&mut browser, "This server asks for a key");
    shows(&mut browser, "The server does not answer");
}

/// What a page reads by itself is no use of it: a desk that nobody sits at stayed logged in.
#[test]
fn a_page_that_nobody_touches_for_an_hour_logs_out() {
    let door = guarded(door(), &["rooms.user *"]);
    let mut browser = console_of_clerk(&door, "try");
    shows(&mut browser, "clerk");
    browser.value(
        "(() => { const now = Date.now; Date.now = () => now() + 3_600_001; return true; })()",
    );
    shows(&mut browser, "This server asks for a key");
}
