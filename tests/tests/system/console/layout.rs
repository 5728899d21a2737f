//! Every page at three widths, in both colour schemes: nothing overlaps, and nothing leaves its place.

use serde_json::json;

use super::{assert_quiet, until};
use crate::door::{Door, door, redis_cli};

/// A phone, a laptop and a 4K screen, in pixels.
const SIZES: [[u32; 2]; 3] = [[390, 844], [1_366, 768], [3_840, 2_160]];

/// A name as long as guests and players may have it, without a place to break.
const LONG: &str = "wolfeschlegelsteinhausenbergerdorff-wolfeschlegelsteinhausen";

const PAGES: [&str; 9] = [
    "overview?range=60",
    "rooms?property=hotel&from=2027-05-01&nights=30",
    "exchange?symbol=ACME&account=1001",
    "seats?show=opera",
    "games?player=ada",
    "travel",
    "access",
    "lab",
    "try?op=roomsBook",
];

/// What is wrong with the boxes of the page. Boxes that scroll cut off what they hold; the board of rooms
/// and drawings place their parts by themselves.
const FAULTS: &str = "(() => { \
    const wrong = []; \
    const name = one => `${one.tagName} ${(one.textContent || one.ariaLabel || '').trim().slice(0, 40)}`; \
    const root = document.documentElement; \
    if (root.scrollWidth > root.clientWidth) wrong.push(`the page is ${root.scrollWidth} wide`); \
    const box = one => { \
        let {left, top, right, bottom} = one.getBoundingClientRect(); \
        for (let up = one.parentElement; up; up = up.parentElement) { \
            if (getComputedStyle(up).overflow === 'visible') continue; \
            const cut = up.getBoundingClientRect(); \
            [left, top] = [Math.max(left, cut.left), Math.max(top, cut.top)]; \
            [right, bottom] = [Math.min(right, cut.right), Math.min(bottom, cut.bottom)]; \
        } \
        return {one, left, top, right, bottom}; \
    }; \
    const kinds = 'h1, h2, h3, p, button, a, input, select, textarea, td, th, dt, dd, .pill, .plot'; \
    const boxes = [...document.querySelectorAll(kinds)] \
        .filter(one => !one.closest('.unseen, .board, svg, dialog')) \
        .map(box).filter(one => one.right - one.left > 2 && one.bottom - one.top > 2); \
    boxes.forEach((a, place) => { \
        for (const b of boxes.slice(place + 1)) { \
            if (a.one.contains(b.one) || b.one.contains(a.one)) continue; \
            const across = Math.min(a.right, b.right) - Math.max(a.left, b.left); \
            const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top); \
            if (across > 2 && down > 2) wrong.push(`${name(a.one)} lies on ${name(b.one)}`); \
        } \
    }); \
    for (const one of document.querySelectorAll('main *')) { \
        if (one.closest('.unseen, .board, svg') || one.clientWidth === 0) continue; \
        const style = getComputedStyle(one); \
        if (style.overflowX === 'visible' && style.display !== 'inline' && one.scrollWidth > one.clientWidth + 2) \
            wrong.push(`${name(one)} is wider than its box`); \
    } \
    return [boxes.length, wrong.slice(0, 10)]; \
})()";

fn fill(door: &Door) {
    let guest = [
        "ROOMS.BOOK",
        "hotel",
        "101",
        "2027-05-03",
        "2027-05-05",
        LONG,
        "234123412346",
    ];
    assert!(redis_cli(door, &guest, "").starts_with("1\n"));
    for command in [
        "ROOMS.HOLD hotel 102 2027-05-03 2027-05-09".to_owned(),
        "SEATS.ADD-SHOW opera 2030-05-01T19:00:00Z".to_owned(),
        "SEATS.ADD-SECTION opera stalls 20 40".to_owned(),
        format!("SEATS.BOOK opera stalls 1-1,1-2,1-3 {LONG}"),
        "SEATS.HOLD opera stalls 2-1,2-2,2-3,2-4,2-5,2-6,2-7,2-8".to_owned(),
        "GAMES.BEGIN ada bob gomoku".to_owned(),
        "GAMES.BEGIN bartholomew-the-third-of-oxford cy connect-four".to_owned(),
        "TRAVEL.START".to_owned(),
        format!("ACCESS.ADD-PRINCIPAL {LONG}"),
        format!("ACCESS.GRANT {LONG} rooms.user *"),
    ] {
        let words: Vec<&str> = command.split(' ').collect();
        let answer = redis_cli(door, &words, "");
        assert!(answer.starts_with("1\n"), "{command}: {answer}");
    }
}

#[test]
fn nothing_overlaps_or_leaves_its_place_from_phone_to_4k() {
    let door = door();
    fill(&door);
    let mut browser = turnstile_trial::Chromium::start();
    let mut faults = Vec::new();
    let open = |browser: &mut turnstile_trial::Chromium, page: &str| {
        browser.open("about:blank");
        assert_quiet(&browser.open(&format!("{}/console/#/{page}", door.url)));
        until(browser, "document.querySelector('main h1')");
        // What is asked for first has come.
        until(
            browser,
            "document.querySelectorAll('main :is(h2, h3, p, button, td, th, dt)').length > 5",
        );
        until(
            browser,
            "!/Reading|Loading|connecting/.test(document.querySelector('main').innerText)",
        );
    };
    for page in PAGES {
        open(&mut browser, page);
        for size in SIZES {
            for scheme in ["light", "dark"] {
                browser.resize(size, scheme);
                // Two frames: what watches the size of its box has drawn again.
                browser.value(
                    "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))",
                );
                let found = browser.value(FAULTS);
                assert!(
                    found[0].as_u64() > Some(10),
                    "{page} shows nothing: {found}"
                );
                if found[1] != json!([]) {
                    faults.push(format!("{page}, {size:?}, {scheme}: {:#}", found[1]));
                }
            }
        }
    }
    assert_eq!(faults, Vec::<String>::new(), "{}", faults.join("\n"));
}
