//! The board of rooms and nights.

use serde_json::json;

use super::{assert_accessible, console, fill, press, shows, until};
use crate::door::{Door, door, redis_cli};

pub(super) const ID: &str = "234123412346";

/// Books over RESP, as somebody else does.
pub(super) fn book(door: &Door, room: &str, arrival: &str, departure: &str, guest: &str) -> String {
    let words = ["ROOMS.BOOK", "hotel", room, arrival, departure, guest, ID];
    let answer = redis_cli(door, &words, "");
    let mut lines = answer.lines();
    assert_eq!(lines.next(), Some("1"), "{answer}");
    lines.next().expect("a reference").to_owned()
}

/// The board of the sample hotel in May.
pub(super) const BOARD: &str = "rooms?property=hotel&from=2027-05-01&nights=30";

/// Fills the form of a new booking.
pub(super) fn wish(
    browser: &mut turnstile_trial::Chromium,
    room: &str,
    arrival: &str,
    departure: &str,
) {
    for (name, value) in [
        ("Room, type:NAME or any", room),
        ("Arrival", arrival),
        ("Departure", departure),
        ("Guest", "ada"),
        ("Id number", ID),
    ] {
        fill(browser, name, value);
    }
}

/// Waits until the board shows a bar with this name.
pub(super) fn bar(browser: &mut turnstile_trial::Chromium, name: &str) {
    let name = json!(name);
    let found =
        format!("[...document.querySelectorAll('.bar')].some(one => one.title.includes({name}))");
    until(browser, &found);
}

#[test]
fn a_clerk_holds_confirms_moves_and_cancels_by_clicks() {
    let door = door();
    let mut browser = console(&door, BOARD);
    shows(&mut browser, "live");
    wish(&mut browser, "101", "2027-05-03", "2027-05-05");
    press(&mut browser, "Hold");
    shows(&mut browser, "Held room 101");
    bar(&mut browser, "room 101, 2027-05-03 to 2027-05-05");
    shows(&mut browser, "Open holds on the board");

    press(&mut browser, "Confirm");
    fill(&mut browser, "Guest", "ada");
    fill(&mut browser, "Id number", ID);
    press(&mut browser, "Confirm");
    shows(&mut browser, "Confirmed room 101");

    press(&mut browser, "Move");
    fill(&mut browser, "Room, type:NAME or any", "102");
    fill(&mut browser, "Id number of the guest", ID);
    press(&mut browser, "Move");
    shows(&mut browser, "Moved");
    bar(&mut browser, "room 102, 2027-05-03 to 2027-05-05");

    press(&mut browser, "Cancel");
    fill(&mut browser, "Id number of the guest", ID);
    press(&mut browser, "Cancel the booking");
    until(
        &mut browser,
        "document.querySelectorAll('.bar').length === 0",
    );
    let totals = redis_cli(&door, &["ROOMS.GET-TOTALS"], "");
    assert!(totals.contains("bookings\n0\n"), "{totals}");
    assert!(totals.contains("booked_total\n1\n"), "{totals}");
    assert!(totals.contains("cancelled_total\n1\n"), "{totals}");
}

/// A click between the bars means the room and the night under it, wherever the board is scrolled to.
#[test]
fn a_click_on_the_board_fills_the_form() {
    let door = door();
    let mut browser = console(&door, "rooms?property=hotel&from=2027-05-01&nights=60");
    shows(&mut browser, "live");
    until(
        &mut browser,
        "document.querySelectorAll('.name').length > 1",
    );
    browser.value("document.querySelector('.board').scrollLeft = 340");
    let click = |within: &str, across: u32| {
        format!(
            "(() => {{ \
                 const board = document.querySelector('.board').getBoundingClientRect(); \
                 const row = document.querySelector({within}).getBoundingClientRect(); \
                 const [x, y] = [board.left + {across}, row.top + 10]; \
                 document.elementFromPoint(x, y).dispatchEvent( \
                     new MouseEvent('click', {{bubbles: true, clientX: x, clientY: y}})); \
             }})()"
        )
    };
    let form = "JSON.stringify([...document.querySelectorAll('form[aria-labelledby=new] input')] \
         .slice(0, 3).map(one => one.value))";
    let head = click("'.board'", 88 + 34 + 17);
    let name = click("'.name[title^=\"102\"]'", 40);
    // Ten nights are to the left, and the names take 88 pixels.
    let between = click("'.name[title^=\"102\"]'", 88 + 34 + 17);
    for (nowhere, why) in [
        (head, "no room is under the head"),
        (name, "a name has no night"),
    ] {
        browser.value(&nowhere);
        assert_eq!(browser.value(form), json!(r#"["","",""]"#), "{why}");
    }
    browser.value(&between);
    let filled = json!(r#"["102","2027-05-12","2027-05-13"]"#);
    assert_eq!(browser.value(form), filled);
}

/// A stop of the sale is no booking: only an explanation shows it.
#[test]
fn a_stopped_sale_is_on_the_board_and_explained() {
    let door = door();
    let mut browser = console(&door, BOARD);
    shows(&mut browser, "live");
    wish(&mut browser, "301", "2027-05-03", "2027-05-05");
    press(&mut browser, "Stop the sale");
    shows(&mut browser, "The sale of 301 is stopped");
    until(
        &mut browser,
        "document.querySelectorAll('.stop').length === 2",
    );
    press(&mut browser, "Book");
    shows(&mut browser, "stop_sell");
    press(&mut browser, "Explain");
    shows(&mut browser, "Room 301: stop sell");
    press(&mut browser, "Resume it");
    until(
        &mut browser,
        "document.querySelectorAll('.stop').length === 0",
    );
    let explained = ["ROOMS.EXPLAIN", "hotel", "301", "2027-05-03", "2027-05-05"];
    let explained = redis_cli(&door, &explained, "");
    assert!(!explained.contains("stop_sell"), "{explained}");
}

#[test]
fn of_two_browsers_that_want_one_room_one_sees_why_not() {
    let door = door();
    let mut one = console(&door, BOARD);
    let mut other = console(&door, BOARD);
    for browser in [&mut one, &mut other] {
        shows(browser, "live");
        wish(browser, "101", "2027-05-03", "2027-05-05");
    }
    press(&mut one, "Book");
    press(&mut other, "Book");
    let told =
        "['Booked room 101', 'sold_out'].find(text => document.body.innerText.includes(text))";
    let mut ends = [until(&mut one, told), until(&mut other, told)];
    let lost = usize::from(ends[1] == json!("sold_out"));
    ends.sort_by_key(ToString::to_string);
    assert_eq!(ends, [json!("Booked room 101"), json!("sold_out")]);
    let loser = if lost == 1 { &mut other } else { &mut one };
    press(loser, "Why not?");
    shows(loser, "Room 101: booking");
    // Both boards show the one booking, without a reload.
    for browser in [&mut one, &mut other] {
        until(browser, "document.querySelectorAll('.bar').length === 1");
    }
}

#[test]
fn names_are_text_and_what_others_do_appears_at_once() {
    let door = door();
    let mut browser = console(&door, BOARD);
    shows(&mut browser, "live");
    let hostile =
        "<img src=x onerror=document.title='taken'><script>document.title='taken'</script>";
    let reference = book(&door, "101", "2027-05-03", "2027-05-05", hostile);
    bar(&mut browser, "room 101");
    browser.value("document.querySelector('.bar').click()");
    shows(&mut browser, hostile);
    assert!(
        browser
            .value("location.hash")
            .as_str()
            .unwrap()
            .contains(&reference),
        "the choice stands in the link"
    );
    let taken = "document.title.includes('taken') || document.querySelector('main img, main script') !== null";
    assert_eq!(browser.value(taken), json!(false));
    assert_accessible(&mut browser);

    // By reference, and by the name of a guest on the board.
    fill(&mut browser, "Reference, guest or id number", &reference);
    press(&mut browser, "Search");
    shows(&mut browser, "Found 1");
    fill(&mut browser, "Reference, guest or id number", ID);
    press(&mut browser, "Search");
    shows(&mut browser, "Found 1");
    assert!(
        !browser
            .value("location.href")
            .as_str()
            .unwrap()
            .contains(ID)
    );
}

/// The rooms of an open property are those that somebody named, if only to stop their sale.
#[test]
fn a_room_that_only_a_stop_names_comes_and_goes() {
    let door = door();
    let mut browser = console(&door, "rooms?property=bench&from=2027-05-01&nights=30");
    shows(&mut browser, "live");
    shows(&mut browser, "This property has no room yet");
    for (command, shown) in [("ROOMS.STOP-SELL", 1), ("ROOMS.RESUME-SELL", 0)] {
        let words = [command, "bench", "r9", "2027-05-03", "2027-05-05"];
        redis_cli(&door, &words, "");
        for class in [".name", ".stop"] {
            let expected = shown * if class == ".stop" { 2 } else { 1 };
            until(
                &mut browser,
                &format!("document.querySelectorAll('{class}').length === {expected}"),
            );
        }
    }
}

/// The board draws what is in sight: many rooms cost no more than few.
#[test]
fn a_board_of_many_rooms_draws_only_what_is_in_sight() {
    let door = door();
    let mut commands = String::new();
    for room in 0..3_000 {
        let night = 1 + room % 10;
        commands += &format!(
            "ROOMS.BOOK bench r{room} 2027-05-{night:02} 2027-05-{:02} guest{room} {ID}\n",
            night + 2
        );
    }
    redis_cli(&door, &[], &commands);
    let mut browser = console(&door, "rooms?property=bench&from=2027-05-01&nights=400");
    shows(&mut browser, "3,000 rooms");
    for place in [0, 40_000, 1_000_000] {
        browser.value(&format!(
            "document.querySelector('.board').scrollTop = {place}"
        ));
        until(&mut browser, "document.querySelectorAll('.bar').length > 0");
        let drawn = browser.value("document.querySelectorAll('.board *').length");
        assert!(drawn.as_u64() < Some(1_500), "{drawn} elements");
    }
    bar(&mut browser, "room r2999");
}
