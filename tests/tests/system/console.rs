//! The console in a real browser: what each page shows and does, and what it does when things go wrong.

mod exchange;
mod frame;
mod lab;
mod layout;
mod lost;
mod others;
mod overview;
mod rooms;
mod try_it;

use std::{env, fs};

use serde_json::{Value, json};
use turnstile_trial::Chromium;

use crate::door::{Door, redis_cli};

/// How long the page may take for what a test waits for, in milliseconds: it only ends a test that
/// would wait for ever.
const PATIENCE_MS: u32 = 60_000;

/// The console of a server in a browser, at a page, such as `rooms?property=hotel`.
fn console(door: &Door, page: &str) -> Chromium {
    let mut browser = Chromium::start();
    let events = browser.open(&format!("{}/console/#/{page}", door.url));
    assert_quiet(&events);
    browser
}

/// Waits until an expression is true of the page; gives what it is then.
pub(crate) fn until(browser: &mut Chromium, expression: &str) -> Value {
    let found = browser.value(&format!(
        "new Promise((done, late) => {{ \
             const look = () => {{ \
                 let found; \
                 try {{ found = {expression}; }} catch {{ return; }} \
                 if (found) {{ watch.disconnect(); clearTimeout(end); done(found); }} \
             }}; \
             const watch = new MutationObserver(look); \
             watch.observe(document, {{subtree: true, childList: true, attributes: true, \
                 characterData: true}}); \
             const end = setTimeout(() => done({{late: document.body.innerText}}), {PATIENCE_MS}); \
             look(); \
         }})"
    ));
    assert!(
        found.get("late").is_none(),
        "{expression}: {}",
        found["late"]
    );
    found
}

/// Does something over RESP that must be done.
fn done(door: &Door, command: &str) {
    let words: Vec<&str> = command.split(' ').collect();
    let answer = redis_cli(door, &words, "");
    assert!(answer.starts_with("1\n"), "{command}: {answer}");
}

/// Waits until the page shows this text.
fn shows(browser: &mut Chromium, text: &str) {
    until(
        browser,
        &format!("document.body.innerText.includes({})", json!(text)),
    );
}

/// A function that finds a control by its name, as people and screen readers do, for an expression.
const CONTROL: &str = "const control = (kind, name, within = document) => \
     [...within.querySelectorAll(kind)].find(one => \
         (one.getAttribute('aria-label') ?? one.labels?.[0]?.textContent ?? one.textContent) \
             .trim().startsWith(name));";

/// Presses a button or a link of this name, once it is there.
fn press(browser: &mut Chromium, name: &str) {
    let name = json!(name);
    until(
        browser,
        &format!(
            "(() => {{ {CONTROL} const one = control('button, a', {name}, \
                 document.querySelector('dialog[open]') ?? document); \
                 if (!one || one.disabled) return false; one.click(); return true; }})()"
        ),
    );
}

/// Types into the field of this name, once it is there.
fn fill(browser: &mut Chromium, name: &str, value: &str) {
    let (name, value) = (json!(name), json!(value));
    until(
        browser,
        &format!(
            "(() => {{ {CONTROL} const one = control('input, select, textarea', {name}, \
                 document.querySelector('dialog[open]') ?? document); \
                 if (!one) return false; one.value = {value}; \
                 for (const kind of ['input', 'change']) \
                     one.dispatchEvent(new Event(kind, {{bubbles: true}})); \
                 return true; }})()"
        ),
    );
}

/// Asserts that a page has loaded nothing from elsewhere, broke no rule of its policy and has thrown nothing.
fn assert_quiet(events: &[Value]) {
    for event in events {
        let (method, params) = (event["method"].as_str().unwrap_or(""), &event["params"]);
        assert_ne!(method, "Runtime.exceptionThrown", "{params}");
        if method == "Network.requestWillBeSent" {
            let url = params["request"]["url"].as_str().unwrap_or("");
            assert!(url.starts_with("http://127.0.0.1:"), "{url}");
        }
        if method == "Log.entryAdded" {
            assert_ne!(params["entry"]["source"], "security", "{params}");
        }
    }
}

/// Asserts that axe finds nothing wrong with what is shown, in both colour schemes and on a phone.
pub(crate) fn assert_accessible(browser: &mut Chromium) {
    let Some(folder) = env::var_os("TURNSTILE_TEST_NODE_FOLDER") else {
        return report("NOT TESTED: axe-core, which `cargo xtask test` installs");
    };
    let script = std::path::Path::new(&folder).join("node_modules/axe-core/axe.min.js");
    let script = fs::read_to_string(script).expect("cargo xtask test installs axe-core");
    browser.value(&format!("(() => {{ {script}; return true; }})()"));
    for (width, scheme) in [(1_280, "light"), (1_280, "dark"), (390, "light")] {
        browser.shape(width, scheme);
        let found = browser.value(
            "axe.run({resultTypes: ['violations']}).then(found => found.violations.map(one => \
                 [one.id, one.help, one.nodes.slice(0, 3).map(node => node.html)]))",
        );
        assert_eq!(found, json!([]), "{width} {scheme}: {found:#}");
        let across = browser.value("document.documentElement.scrollWidth");
        assert!(
            across.as_u64() <= Some(u64::from(width)),
            "the page is {across} wide on a screen of {width}"
        );
    }
    browser.shape(1_280, "light");
}

#[expect(
    clippy::print_stderr,
    reason = "budgets and what was not tested are shown, not asserted"
)]
fn report(what: &str) {
    eprintln!("{what}");
}
