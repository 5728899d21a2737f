//! The figures of the server.

use serde_json::json;

use super::{assert_accessible, console, press, shows, until};
use crate::door::{door, redis_cli};

#[test]
fn what_is_refused_is_counted_by_its_reason_while_one_looks() {
    let door = door();
    let mut browser = console(&door, "overview?range=60");
    shows(&mut browser, "live");
    let book = [
        "ROOMS.BOOK",
        "bench",
        "r1",
        "2027-03-01",
        "2027-03-03",
        "ada",
        "234123412346",
    ];
    assert!(redis_cli(&door, &book, "").starts_with("1\n"));
    assert!(redis_cli(&door, &book, "").starts_with("0\n"));
    // Service, reason, since one looks, since the start.
    until(
        &mut browser,
        "[...document.querySelectorAll('tbody tr')].some(row => \
             row.innerText.replaceAll('\\t', ' ').trim() === 'rooms sold out 1 1')",
    );
    assert_accessible(&mut browser);
}

#[test]
fn a_range_stands_in_the_link_and_a_pause_keeps_what_is_shown() {
    let door = door();
    let mut browser = console(&door, "overview?range=900");
    shows(&mut browser, "live");
    let pressed = "[...document.querySelectorAll('[aria-label=\"Time range\"] [aria-pressed=true]')]\
                   .map(one => one.textContent)";
    assert_eq!(browser.value(pressed), json!(["15 min"]));
    press(&mut browser, "1 min");
    until(&mut browser, "location.hash === '#/overview?range=60'");

    press(&mut browser, "Pause");
    shows(&mut browser, "paused");
    let up = "[...document.querySelectorAll('.tiles div')].map(one => one.innerText).join()";
    let before = browser.value(up);
    // Two readings of the figures later the page still shows the same.
    browser.value(
        "new Promise(done => { let seen = 0; \
             new PerformanceObserver(list => { \
                 seen += list.getEntries().filter(one => one.name.endsWith('/metrics')).length; \
                 if (seen >= 2) done(true); \
             }).observe({type: 'resource'}); })",
    );
    assert_eq!(browser.value(up), before);
    press(&mut browser, "Go on");
    shows(&mut browser, "live");
}
