//! How every page looks: pictures that are compared with kept ones, and controls that can be reached.

use std::{env, fs, path::PathBuf};

use serde_json::{Value, json};
use turnstile_trial::Chromium;

use super::{console, done, until};
use crate::door::{Door, door};

/// Every page, and what it shows once all of it is there.
const PAGES: [(&str, &str, &str); 9] = [
    ("overview", "overview", "Journal and disk"),
    (
        "rooms",
        "rooms?property=grand&from=2027-05-01&nights=30",
        "4 bookings and holds",
    ),
    (
        "exchange",
        "exchange?symbol=TULIP&account=north&span=60",
        "north",
    ),
    ("seats", "seats?show=tosca", "stalls"),
    ("games", "games?player=ada", "connected"),
    ("travel", "travel", "No transaction waits for another"),
    ("access", "access?service=access", "shop"),
    ("lab", "lab", "Start a load on this server"),
    ("try", "try?op=roomsBook", "The same from elsewhere"),
];

/// Kept pictures: a desk in both colour schemes, and a phone.
const SCREENS: [(&str, [u32; 2], &str); 3] = [
    ("desk", [1_280, 800], "light"),
    ("desk-dark", [1_280, 800], "dark"),
    ("phone", [400, 800], "light"),
];

/// The widths, from a phone to 4K, at which every control must be reached.
const WIDTHS: [u32; 3] = [390, 1_280, 3_840];

/// Pixels on each side of a block. How much ink it has hardly depends on how letters are drawn.
const BLOCK: u32 = 20;

/// Of 16 levels of ink, how many a block may differ.
const LEVELS: u32 = 2;

/// Of 100 blocks, how many may differ by more.
const BLOCKS_PER_100: usize = 2;

/// What differs each time is left out of the pictures: charts of the time, ages, rates, ports.
const HIDE: &str = "(() => { const sheet = new CSSStyleSheet(); \
    sheet.replaceSync('canvas, time, dd, td, pre, .pill {visibility: hidden !important} \
        * {transition: none !important; animation: none !important; caret-color: transparent !important}'); \
    document.adoptedStyleSheets = [sheet]; document.activeElement?.blur(); scrollTo(0, 0); return true; })()";

/// Turns a picture into its blocks: a line of text for each row of them, with a hexadecimal digit for each.
/// It says how far the block's pixels are from the background on average; all is `f` from a quarter on.
const SHRINK: &str = "(async () => { \
    const bytes = Uint8Array.from(atob(PICTURE), letter => letter.charCodeAt(0)); \
    const image = await createImageBitmap(new Blob([bytes], {type: 'image/png'})); \
    const canvas = new OffscreenCanvas(image.width, image.height); \
    const context = canvas.getContext('2d'); \
    context.drawImage(image, 0, 0); \
    const bright = (data, at) => 0.2126 * data[at] + 0.7152 * data[at + 1] + 0.0722 * data[at + 2]; \
    const all = context.getImageData(0, 0, image.width, image.height).data; \
    const counts = new Array(256).fill(0); \
    for (let at = 0; at < all.length; at += 4) counts[Math.round(bright(all, at))] += 1; \
    const background = counts.indexOf(Math.max(...counts)); \
    let text = ''; \
    for (let y = 0; y < image.height; y += BLOCK) { \
        for (let x = 0; x < image.width; x += BLOCK) { \
            let ink = 0; \
            for (let row = y; row < y + BLOCK; row++) \
                for (let at = row * image.width + x, end = at + BLOCK; at < end; at++) \
                    ink += Math.abs(bright(all, at * 4) - background); \
            const level = Math.floor(ink / (BLOCK * BLOCK) / 4); \
            text += Math.min(level, 15).toString(16); \
        } \
        text += '\\n'; \
    } \
    return text; })()";

/// The controls that something else covers, or that lie outside of the page, by their beginning.
const COVERED: &str = "[...document.querySelectorAll('button, a[href], input, select, textarea, summary')] \
    .filter(one => one.checkVisibility({visibilityProperty: true}) && !one.disabled && one.type !== 'file') \
    .filter(one => { \
        one.scrollIntoView({block: 'center', inline: 'center', behavior: 'instant'}); \
        const box = one.getBoundingClientRect(); \
        const hit = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2); \
        return !one.contains(hit) && ![...(one.labels ?? [])].some(label => label.contains(hit)); \
    }) \
    .map(one => one.outerHTML.slice(0, 120))";

/// A hotel, a market, a theatre, two players and a principal, the same each time.
fn world() -> Door {
    let door = door();
    for command in [
        "ROOMS.ADD-PROPERTY grand",
        "ROOMS.ADD-ROOM grand 101 single",
        "ROOMS.ADD-ROOM grand 102 double",
        "ROOMS.ADD-ROOM grand 103 suite",
        "ROOMS.BOOK grand 101 2027-05-01 2027-05-06 Ada 234123412346",
        "ROOMS.BOOK grand 101 2027-05-08 2027-05-20 Alan 234123412346",
        "ROOMS.BOOK grand 102 2027-05-03 2027-05-11 Grace 234123412346",
        "ROOMS.BOOK grand 103 2027-05-15 2027-05-29 Barbara 234123412346",
        "ROOMS.STOP-SELL grand 103 2027-05-01 2027-05-08",
        "EXCHANGE.CREATE-ACCOUNT north 1000000",
        "EXCHANGE.CREATE-SYMBOL TULIP",
        "EXCHANGE.GRANT north TULIP 1000",
        "EXCHANGE.PLACE-ORDER north TULIP sell 100 12.50",
        "EXCHANGE.PLACE-ORDER north TULIP sell 50 13",
        "EXCHANGE.PLACE-ORDER north TULIP buy 40 11",
        "SEATS.ADD-SHOW tosca 2030-05-01T19:30:00Z",
        "SEATS.ADD-SECTION tosca stalls 8 20",
        "SEATS.BOOK tosca stalls 1-9,1-10,1-11,2-10 ada",
        "ACCESS.ADD-PRINCIPAL shop",
    ] {
        done(&door, command);
    }
    door
}

#[test]
fn every_page_looks_as_it_did_and_lets_its_controls_be_reached() {
    let door = world();
    let mut shrinker = Chromium::start();
    let mut wrong = Vec::new();
    for (name, page, there) in PAGES {
        let mut browser = console(&door, page);
        until(
            &mut browser,
            &format!("document.body.innerText.includes({})", json!(there)),
        );
        for width in WIDTHS {
            browser.shape(width, "light");
            let covered = browser.value(COVERED);
            assert_eq!(covered, json!([]), "{name} at {width}: {covered:#}");
        }
        browser.value(HIDE);
        for (screen, size, scheme) in SCREENS {
            browser.resize(size, scheme);
            browser.value("scrollTo(0, 0)");
            let picture = taken(&mut browser, &mut shrinker);
            wrong.extend(difference(&format!("{name}-{screen}"), &picture));
        }
        if name == "rooms" {
            assert_that_a_shift_is_seen(&mut browser, &mut shrinker);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A comparison that lets everything pass would be worth nothing.
fn assert_that_a_shift_is_seen(browser: &mut Chromium, shrinker: &mut Chromium) {
    let (screen, size, scheme) = SCREENS[0];
    browser.resize(size, scheme);
    browser.value("document.querySelector('main').style.paddingTop = '90px'");
    let shifted = taken(browser, shrinker);
    let kept = fs::read_to_string(kept(&format!("rooms-{screen}"))).unwrap_or_default();
    assert!(differing(&kept, &shifted) > allowed(&shifted), "{shifted}");
}

/// The blocks of what the browser shows, once it shows the same twice.
fn taken(browser: &mut Chromium, shrinker: &mut Chromium) -> String {
    let mut last = String::new();
    for _ in 0..30 {
        let format = json!({"format": "png"});
        let picture = browser.ask("Page.captureScreenshot", &format)["data"].to_string();
        let shrink = SHRINK
            .replace("BLOCK", &BLOCK.to_string())
            .replace("PICTURE", &picture);
        let Value::String(blocks) = shrinker.value(&shrink) else {
            panic!("blocks are text");
        };
        if blocks == last {
            return blocks;
        }
        last = blocks;
    }
    last
}

/// What is wrong with a picture, if anything is. `TURNSTILE_BLESS=1` keeps it as it is now.
fn difference(name: &str, picture: &str) -> Option<String> {
    let path = kept(name);
    if env::var_os("TURNSTILE_BLESS").is_some() {
        fs::write(&path, picture).expect("the folder of pictures can be written");
    }
    let before = fs::read_to_string(&path).unwrap_or_default();
    let differing = differing(&before, picture);
    (differing > allowed(picture))
        .then(|| format!("{name}: {differing} blocks differ; it was\n{before}and is\n{picture}"))
}

fn kept(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/system/console/pictures")
        .join(format!("{name}.txt"))
}

fn allowed(picture: &str) -> usize {
    picture.len() * BLOCKS_PER_100 / 100
}

/// How many blocks differ by more than they may; all, if there are not equally many.
fn differing(before: &str, now: &str) -> usize {
    if before.len() != now.len() {
        return now.len();
    }
    let levels =
        |text: &str| -> Vec<u32> { text.chars().filter_map(|one| one.to_digit(16)).collect() };
    let pairs = levels(before).into_iter().zip(levels(now));
    pairs
        .filter(|(before, now)| before.abs_diff(*now) > LEVELS)
        .count()
}
