//! Browser sessions in a real browser: the page of the documentation logs in, and a page of another origin can
//! do nothing with that.

use std::{
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpListener},
    thread,
};

use serde_json::{Value, json};
use turnstile_trial::Chromium;

use crate::door::{Door, door, redis_cli};

/// The key of the administrator, and its SHA-256.
const KEY: &str = "ts_test_aaaaaaaaaaaa_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
const DIGEST: &str = "4e1a2f509aeaab95fdf8411d5f38a261c9d320b44afe54db699b0649c5aa03ba";

/// A server whose principal `boss` may do everything, with that key.
fn guarded() -> Door {
    let door = door();
    for command in [
        "ACCESS.ADD-PRINCIPAL boss".to_owned(),
        "ACCESS.GRANT boss admin *".to_owned(),
        format!("ACCESS.ADD-KEY boss aaaaaaaaaaaa {DIGEST}"),
    ] {
        let words: Vec<&str> = command.split(' ').collect();
        let answer = redis_cli(&door, &words, "");
        assert!(answer.starts_with("1\n"), "{command}: {answer}");
    }
    door
}

/// How many bookings stand.
fn bookings(door: &Door) -> String {
    let asked = format!("AUTH {KEY}\nROOMS.GET-TOTALS\n");
    let totals = redis_cli(door, &[], &asked);
    let mut lines = totals.lines().skip_while(|line| *line != "bookings");
    lines.nth(1).expect("the totals have bookings").to_owned()
}

/// Serves an empty page to everybody who asks, at an origin of its own.
pub(crate) fn foreign_page() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("it is bound");
    thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut request = [0; 4_096];
            let page = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 20\r\n\
                        Connection: close\r\n\r\n<!doctype html><p>hi";
            // A browser that goes away is no matter.
            if stream.read(&mut request).is_ok() {
                stream.write_all(page.as_bytes()).unwrap_or_default();
            }
        }
    });
    address
}

/// Logs in on the page of the documentation; what the page says then.
fn log_in(browser: &mut Chromium, key: &str) -> Value {
    browser.value(&format!(
        "new Promise(done => {{ \
             login.elements.key.value = {key:?}; \
             const output = login.querySelector('output'); \
             new MutationObserver(() => done(output.textContent)).observe(output, {{childList: true}}); \
             login.querySelector('button').click(); \
         }})"
    ))
}

/// Books as the page does; the status, or that there was no answer to read.
const BOOK: &str = "fetch(base + '/v1/rooms/bookings', {method: 'POST', credentials: 'include', \
     headers, mode, body: JSON.stringify({property: 'bench', wish: 'r1', arrival: '2027-03-01', \
     departure: '2027-03-03', guest: 'ada', id_number: '234123412346'})}) \
     .then(answer => answer.type === 'opaque' ? 'opaque' : answer.status, () => 'failed')";

/// Sends what pages of all origins may send without asking: forms and beacons.
fn forge(browser: &mut Chromium, base: &str) {
    // A form can send what reads as JSON, but not say that it is.
    for (path, name, value) in [
        ("/v1/tickets", "", ""),
        (
            "/v1/rooms/bookings",
            r#"{"property":"bench","wish":"r1","arrival":"2027-03-01","departure":"2027-03-03","guest":"a"#,
            r#"b","id_number":"234123412346"}"#,
        ),
    ] {
        let form = format!(
            "new Promise(done => {{ \
             const frame = document.createElement('iframe'); \
             frame.name = {path:?}; document.body.append(frame); \
             const form = document.createElement('form'); \
             Object.assign(form, {{method: 'post', enctype: 'text/plain', target: {path:?}, \
                 action: base + {path:?}}}); \
             const field = document.createElement('input'); \
             Object.assign(field, {{name: {name:?}, value: {value:?}}}); \
             form.append(field); document.body.append(form); \
             frame.onload = () => done('answered'); form.submit(); }})"
        );
        let sent = browser.value(&format!("(() => {{ {base} return {form}; }})()"));
        assert_eq!(sent, json!("answered"));
    }
    let beacon = "navigator.sendBeacon(base + '/v1/rooms/bookings', JSON.stringify({property: 'bench', \
         wish: 'r1', arrival: '2027-03-01', departure: '2027-03-03', guest: 'ada', \
         id_number: '234123412346'}))";
    let sent = browser.value(&format!("(() => {{ {base} return {beacon}; }})()"));
    assert_eq!(sent, json!(true));
}

#[test]
fn the_page_logs_in_and_changes_and_a_page_of_another_origin_does_nothing() {
    let door = guarded();
    let mut browser = Chromium::start();
    let docs = format!("{}/docs", door.url);
    browser.open(&docs);
    assert_eq!(
        log_in(&mut browser, "ts_test_wrong"),
        json!("The key is none of this server, or has ended")
    );
    assert_eq!(log_in(&mut browser, KEY), json!("Logged in as boss"));
    assert_eq!(
        browser.value("document.cookie"),
        json!(""),
        "no script sees it"
    );

    // The same requests as the session's own page sends, from elsewhere on the same host: the browser adds
    // the cookie, as a site has no ports.
    browser.open(&format!("http://{}/", foreign_page()));
    let base = format!("const base = {:?};", door.url);
    let book = |headers: &str, mode: &str| {
        format!("(() => {{ {base} const headers = {headers}, mode = {mode:?}; return {BOOK}; }})()")
    };
    let json_type = "{'Content-Type': 'application/json'}";
    assert_eq!(browser.value(&book(json_type, "cors")), json!("failed"));
    assert_eq!(browser.value(&book("{}", "no-cors")), json!("opaque"));
    let read = "fetch(base + '/v1/rooms/totals', {credentials: 'include'}) \
                .then(answer => answer.status, () => 'failed')";
    let streams = "new Promise(done => { \
         const stream = new EventSource(base + '/v1/rooms/events', {withCredentials: true}); \
         stream.onopen = () => done('open'); stream.onerror = () => done('failed'); })";
    let socket = "new Promise(done => { \
         const socket = new WebSocket(base.replace('http', 'ws') + '/v1/games/play?player=ada'); \
         socket.onopen = () => done('open'); socket.onerror = () => done('failed'); })";
    let feed = socket.replace("games/play?player=ada", "exchange/feed");
    let ticket = "fetch(base + '/v1/tickets', {method: 'POST', credentials: 'include'}) \
                  .then(answer => answer.status, () => 'failed')";
    let log_out = "fetch(base + '/v1/session', {method: 'DELETE', credentials: 'include'}) \
                   .then(answer => answer.status, () => 'failed')";
    for attempt in [read, streams, socket, &feed, ticket, log_out] {
        let tried = browser.value(&format!("(() => {{ {base} return {attempt}; }})()"));
        assert_eq!(tried, json!("failed"), "{attempt}");
    }
    forge(&mut browser, &base);
    assert_eq!(bookings(&door), "0");

    // The page itself still has its session, also after a visit elsewhere.
    browser.open(&docs);
    let own = format!(
        "(async () => {{ const base = '', mode = 'cors'; await enter({{}}); \
         const headers = {{'Content-Type': 'application/json', 'X-CSRF-Token': csrfToken}}; \
         return {BOOK}; }})()"
    );
    assert_eq!(browser.value(&own), json!(201));
    let without = format!(
        "(async () => {{ const base = '', mode = 'cors'; \
         const headers = {{'Content-Type': 'application/json'}}; return {BOOK}; }})()"
    );
    assert_eq!(browser.value(&without), json!(403));
    assert_eq!(bookings(&door), "1");
}
