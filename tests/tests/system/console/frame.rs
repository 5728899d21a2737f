//! How the page is served, who may see what, and a server that goes away.

use serde_json::json;
use turnstile_tests::Turnstile;
use turnstile_trial::Chromium;

use super::{assert_accessible, console, done, fill, press, shows, until};
use crate::{
    browser_sessions::foreign_page,
    door::{Door, door, redis_cli},
    program::output,
};

/// The key of the administrator, and its SHA-256.
const KEY: &str = "ts_test_aaaaaaaaaaaa_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
const DIGEST: &str = "4e1a2f509aeaab95fdf8411d5f38a261c9d320b44afe54db699b0649c5aa03ba";

/// The key of a clerk, and its SHA-256.
const CLERK_KEY: &str = "ts_test_bbbbbbbbbbbb_bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";
const CLERK_DIGEST: &str = "9425aa3f57aa58b3dd5706d5eec139525aaedb08b8b29aa860dc8b21fdce4ae3";

/// The head of an answer, in small letters.
fn head(url: &str, more: &[&str]) -> String {
    let arguments = [&["--silent", "--head", url], more].concat();
    output("curl", &arguments, b"").to_ascii_lowercase()
}

#[test]
fn the_page_is_served_with_its_policy_and_its_files_for_ever() {
    let door = door();
    let place = format!("{}/console", door.url);
    let moved = head(&place, &[]);
    assert!(moved.starts_with("http/1.1 308"), "{moved}");
    assert!(moved.contains("location: /console/\r\n"), "{moved}");

    let page = head(&format!("{place}/"), &["-H", "Accept-Encoding: gzip"]);
    for line in [
        "http/1.1 200",
        "content-type: text/html; charset=utf-8\r\n",
        "cache-control: no-cache\r\n",
        "content-encoding: gzip\r\n",
        "x-content-type-options: nosniff\r\n",
        "content-security-policy: default-src 'none'; script-src 'self';",
        "frame-ancestors 'none'",
    ] {
        assert!(page.contains(line), "{line}: {page}");
    }
    assert!(!page.contains("unsafe"), "{page}");

    // A client that takes no gzip gets the text itself.
    let text = output("curl", &["--silent", &format!("{place}/")], b"");
    let script = text
        .split('"')
        .find(|part| part.ends_with(".js"))
        .expect("the page loads a script");
    let script = format!("{}{script}", door.url);
    let file = head(&script, &["-H", "Accept-Encoding: gzip"]);
    assert!(file.contains("max-age=31536000, immutable\r\n"), "{file}");
    assert!(output("curl", &["--silent", &script], b"").contains("function"));

    let missing = head(&format!("{place}/assets/none.js"), &[]);
    assert!(missing.starts_with("http/1.1 404"), "{missing}");
    assert!(!missing.contains("immutable"), "{missing}");
}

/// A server with keys: `boss` administers it, and `clerk` may do this, such as `rooms.user *`.
pub(super) fn guarded(door: Door, grants: &[&str]) -> Door {
    done(&door, "ACCESS.ADD-PRINCIPAL clerk");
    for grant in grants {
        done(&door, &format!("ACCESS.GRANT clerk {grant}"));
    }
    // The first key is that of an administrator; from then on every command needs one.
    done(&door, "ACCESS.ADD-PRINCIPAL boss");
    done(&door, "ACCESS.GRANT boss admin *");
    done(&door, &format!("ACCESS.ADD-KEY boss aaaaaaaaaaaa {DIGEST}"));
    let added = as_boss(
        &door,
        &format!("ACCESS.ADD-KEY clerk bbbbbbbbbbbb {CLERK_DIGEST}"),
    );
    assert!(added.starts_with("1\n"), "{added}");
    door
}

/// What the administrator is answered over RESP.
pub(super) fn as_boss(door: &Door, command: &str) -> String {
    let answer = redis_cli(door, &[], &format!("AUTH {KEY}\n{command}\n"));
    answer
        .strip_prefix("OK\n")
        .unwrap_or_else(|| panic!("{command}: {answer}"))
        .to_owned()
}

/// Logs the clerk in, at a page.
pub(super) fn console_of_clerk(door: &Door, page: &str) -> Chromium {
    console_with_key(door, page, CLERK_KEY)
}

/// Logs the administrator in, at a page.
pub(super) fn console_of_boss(door: &Door, page: &str) -> Chromium {
    console_with_key(door, page, KEY)
}

fn console_with_key(door: &Door, page: &str, key: &str) -> Chromium {
    let mut browser = console(door, page);
    fill(&mut browser, "Key", key);
    press(&mut browser, "Log in");
    browser
}

#[test]
fn who_has_a_key_logs_in_and_sees_what_the_role_may_do() {
    let door = guarded(door(), &["rooms.user *"]);
    let mut browser = console(&door, "try");
    shows(&mut browser, "This server asks for a key");
    assert_accessible(&mut browser);
    fill(&mut browser, "Key", "ts_test_wrong");
    press(&mut browser, "Log in");
    shows(&mut browser, "wrong_key");
    fill(&mut browser, "Key", CLERK_KEY);
    press(&mut browser, "Log in");
    shows(&mut browser, "clerk");
    assert_eq!(browser.value("document.cookie"), json!(""));

    // The clerk may not operate the server: the page of its figures is not offered.
    let pages =
        "[...document.querySelectorAll('nav[aria-label=Pages] a')].map(one => one.textContent)";
    let pages = browser.value(pages);
    let pages: Vec<_> = pages.as_array().unwrap().iter().collect();
    assert!(pages.contains(&&json!("Try it")), "{pages:?}");
    assert!(!pages.contains(&&json!("Overview")), "{pages:?}");
    browser.value("location.hash = '#/overview'");
    shows(&mut browser, "your role does not see it");

    // The session outlives the page, and ends when the user says so.
    browser.open(&format!("{}/livez", door.url));
    browser.open(&format!("{}/console/#/try", door.url));
    shows(&mut browser, "clerk");
    press(&mut browser, "Log out");
    shows(&mut browser, "This server asks for a key");
}

/// A browser keeps a page that was left, to show it again at once, and has six connections for a server. The
/// streams of kept pages took all of them, and the console did not come back.
#[test]
fn a_page_that_was_left_ends_its_stream_and_follows_again_when_one_comes_back() {
    let door = door();
    let mut browser = console(&door, "seats");
    shows(&mut browser, "live");
    browser.value(
        "(() => { const fetched = window.fetch; window.signals = []; \
             window.fetch = (place, how) => { if (how?.signal) signals.push(how.signal); \
                 return fetched(place, how); }; \
             location.hash = '#/games'; })()",
    );
    shows(&mut browser, "I am the player");
    shows(&mut browser, "live");
    browser.value(
        "addEventListener('pagehide', () => { window.left = signals.map(one => one.aborted); })",
    );
    browser.open(&format!("http://{}/", foreign_page()));
    browser.go_back();
    assert_eq!(browser.value("window.left"), json!([true]));
    done(&door, "GAMES.REPORT ada bob first_won");
    until(
        &mut browser,
        "document.querySelector('section[aria-labelledby=leaders] tbody')?.innerText.includes('ada')",
    );
}

/// A server without keys serves whoever reaches it, and a browser is told by every page where to go.
#[test]
fn a_page_of_another_origin_changes_nothing_while_the_console_works() {
    let door = door();
    let mut foreign = Chromium::start();
    foreign.open(&format!("http://{}/", foreign_page()));
    let base = format!("const base = {:?};", door.url);
    let add = "const send = (headers, mode) => fetch(base + '/v1/rooms/properties', {method: 'POST', \
               mode, headers, body: '{\"property\": \"foreign\"}'}) \
               .then(answer => answer.type === 'opaque' ? 'opaque' : answer.status, () => 'failed');";
    let socket = "const open = path => new Promise(done => { \
                  const socket = new WebSocket(base.replace('http', 'ws') + path); \
                  socket.onopen = () => done('open'); socket.onerror = () => done('failed'); });";
    let tried = foreign.value(&format!(
        "(async () => {{ {base} {add} {socket} \
             const json = {{'content-type': 'application/json'}}; \
             return [await send(json, 'cors'), await send({{}}, 'no-cors'), \
                 await open('/v1/games/play?player=ada'), await open('/v1/exchange/feed')]; }})()"
    ));
    assert_eq!(tried, json!(["failed", "opaque", "failed", "failed"]));
    let listed = redis_cli(&door, &["ROOMS.LIST-PROPERTIES"], "");
    assert!(!listed.contains("foreign"), "{listed}");

    // The page of the server itself has its socket, and changes what it may.
    let mut browser = console(&door, "games?player=ada");
    shows(&mut browser, "connected");
    fill(&mut browser, "Opponent", "bob");
    press(&mut browser, "Challenge");
    shows(&mut browser, "bob has to name ada too");
}

#[test]
fn a_server_that_is_killed_is_missed_and_found_again() {
    let data = tempfile::tempdir().unwrap();
    let server = Turnstile::serve_http(data.path(), &[]);
    let http = server.http();
    let mut browser = Chromium::start();
    browser.open(&format!("http://{http}/console/#/overview"));
    shows(&mut browser, "live");
    server.kill();
    shows(&mut browser, "server lost, trying again");
    shows(&mut browser, "The server does not answer");
    let _again = Turnstile::serve_http_at(data.path(), &http.to_string(), &[]);
    until(
        &mut browser,
        "document.body.innerText.includes('live') && \
             !document.body.innerText.includes('The server does not answer')",
    );
    let alerts = browser.value("document.querySelectorAll('[role=alert]').length");
    assert_eq!(alerts, json!(0));
}
