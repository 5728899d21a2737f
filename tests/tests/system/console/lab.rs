//! Loads that are started from the page.

use serde_json::json;
use turnstile_tests::Turnstile;
use turnstile_trial::Chromium;

use super::{assert_accessible, console, fill, press, shows, until};
use crate::door::door;

#[test]
fn a_rush_that_is_over_within_a_millisecond_shows_its_proof() {
    let door = door();
    let mut browser = console(&door, "lab");
    // Whatever the machine: as the page is told, no time has passed.
    browser.value(
        "(() => { const asked = window.fetch; \
             window.fetch = async (...request) => { \
                 const answer = await asked(...request); \
                 if (!String(request[0]).includes('/progress')) return answer; \
                 const told = await answer.json(); \
                 for (const second of told.seconds) second.elapsed_ms = 0; \
                 return Response.json(told); }; })()",
    );
    fill(&mut browser, "Kind", "rush");
    fill(&mut browser, "Clients", "5");
    press(&mut browser, "Start");
    press(&mut browser, "Start the load");
    shows(&mut browser, "Open report 1");
    shows(&mut browser, "all of them right");
    let text = browser.value("document.body.innerText");
    let is_drawn = ["NaN", "Infinity"].map(|wrong| !text.as_str().unwrap().contains(wrong));
    assert_eq!(is_drawn, [true; 2], "{text}");
}

#[test]
fn an_operator_starts_a_load_sees_its_proof_and_opens_its_report() {
    let door = door();
    let mut browser = console(&door, "lab");
    shows(&mut browser, "Start a load on this server");
    fill(&mut browser, "Clients", "2");
    fill(&mut browser, "Seconds", "2");
    press(&mut browser, "Start");
    shows(&mut browser, "2 clients put load on rooms for 2 s");
    shows(
        &mut browser,
        "Everybody else who uses this server waits longer",
    );
    press(&mut browser, "Start the load");
    shows(&mut browser, "Load 1 is started");
    shows(&mut browser, "Open report 1");
    // It was drawn while it ran: each second with its answers and their times.
    shows(&mut browser, "Load 1: answers, a second");
    shows(&mut browser, "Load 1: response time");
    let seconds = browser.value(
        "fetch('/v1/lab/runs/1/progress').then(answer => answer.json()).then(({seconds}) => \
             [seconds.length >= 2, seconds.every((one, at) => \
             one.answered >= (seconds[at - 1]?.answered ?? 0)), \
             seconds.some(one => one.p50_ns > 0), seconds.at(-1).elapsed_ms])",
    );
    assert_eq!(seconds[0], json!(true), "{seconds}");
    assert_eq!([&seconds[1], &seconds[2]], [true, true], "{seconds}");
    let after = format!(
        "fetch('/v1/lab/runs/1/progress?after={}').then(answer => answer.json())",
        seconds[3]
    );
    assert_eq!(browser.value(&after)["seconds"], json!([]));
    assert_accessible(&mut browser);

    // A second one, and both side by side with their proofs.
    fill(&mut browser, "Kind", "rush");
    fill(&mut browser, "Clients", "20");
    press(&mut browser, "Start");
    shows(
        &mut browser,
        "20 clients ask for 1 room at the same instant",
    );
    press(&mut browser, "Start the load");
    shows(&mut browser, "Open report 2");
    shows(&mut browser, "all of them right");
    for load in ["Compare load 1", "Compare load 2"] {
        until(
            &mut browser,
            &format!(
                "(() => {{ const one = document.querySelector('[aria-label=\"{load}\"]'); \
                     if (!one) return false; if (!one.checked) one.click(); return one.checked; }})()"
            ),
        );
    }
    shows(&mut browser, "Proof of load 1");
    shows(&mut browser, "Proof of load 2");
    until(&mut browser, "location.hash.includes('compare=1.2')");

    // The report asks nobody for anything and runs nothing.
    let report = browser.value(
        "fetch('/v1/lab/runs/1/report').then(async answer => \
             [answer.headers.get('content-security-policy'), (await answer.text()).length > 1000])",
    );
    let policy = report[0].as_str().unwrap_or("");
    assert!(
        policy.starts_with("sandbox; default-src 'none';"),
        "{policy}"
    );
    assert!(!policy.contains("script-src"), "{policy}");
    assert_eq!(report[1], json!(true));
}

#[test]
fn a_load_is_stopped_and_there_is_one_at_a_time() {
    let door = door();
    let mut browser = console(&door, "lab");
    shows(&mut browser, "Start a load on this server");
    fill(&mut browser, "Seconds", "600");
    fill(&mut browser, "Requests a second", "10");
    press(&mut browser, "Start");
    press(&mut browser, "Start the load");
    shows(&mut browser, "load 1 is under way");
    let refused = browser.value(
        "fetch('/v1/lab/runs', {method: 'POST', headers: {'content-type': 'application/json'}, \
             body: '{\"kind\": \"run\"}'}).then(async one => [one.status, (await one.json()).code])",
    );
    assert_eq!(refused, json!([409, "lab_run_under_way"]));
    press(&mut browser, "Stop load 1");
    press(&mut browser, "Stop it");
    shows(&mut browser, "Load 1 is stopped");
    until(
        &mut browser,
        "[...document.querySelectorAll('tbody tr')].some(row => row.innerText.includes('stopped'))",
    );
    let report = browser.value("fetch('/v1/lab/runs/1/report').then(answer => answer.status)");
    assert_eq!(report, json!(404));
}

/// Whatever a server has measured is there when it comes back, under the same numbers.
#[test]
fn loads_from_before_a_restart_are_listed_and_compared() {
    let folder = tempfile::tempdir().unwrap();
    let (data, results) = (folder.path().join("data"), folder.path().join("results"));
    let arguments = ["--lab-results", results.to_str().unwrap()];
    let server = Turnstile::serve_http(&data, &arguments);
    let http = server.http();
    let mut browser = Chromium::start();
    browser.open(&format!("http://{http}/console/#/lab"));
    fill(&mut browser, "Kind", "rush");
    fill(&mut browser, "Clients", "20");
    press(&mut browser, "Start");
    press(&mut browser, "Start the load");
    shows(&mut browser, "Open report 1");
    let shown = "fetch('/v1/lab/runs').then(answer => answer.json()).then(({runs}) => \
                 runs.map(({kind, clients, rooms, answered, state, verdict, has_report}) => \
                 [kind, clients, rooms, answered, state, verdict, has_report]))";
    let before = browser.value(shown);
    server.kill();
    let _again = Turnstile::serve_http_at(&data, &http.to_string(), &arguments);
    browser.open(&format!("http://{http}/livez"));
    browser.open(&format!("http://{http}/console/#/lab?compare=1"));
    shows(&mut browser, "Proof of load 1");
    shows(&mut browser, "Open report 1");
    assert_eq!(browser.value(shown), before);
}

/// A load on a server that others use must be wanted by whoever runs it.
#[test]
fn a_server_that_was_not_told_where_results_go_starts_no_loads() {
    let data = tempfile::tempdir().unwrap();
    let server = Turnstile::serve_http(data.path(), &[]);
    let mut browser = Chromium::start();
    browser.open(&format!("http://{}/console/#/lab", server.http()));
    shows(&mut browser, "This server starts no loads");
    shows(&mut browser, "lab.results names a folder for their results");
    assert_accessible(&mut browser);
}
