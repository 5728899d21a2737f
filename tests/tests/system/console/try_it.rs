//! Every operation as a form, and the same request for other programs.

use serde_json::{Value, json};

use super::{assert_accessible, console, fill, press, shows, until};
use crate::{
    door::{door, redis_cli},
    program::output,
};

/// The lines that the page offers, by language.
fn line(browser: &mut turnstile_trial::Chromium, language: &str) -> String {
    press(browser, language);
    let shown = until(
        browser,
        &format!("document.querySelector('pre[data-line={language:?}]')?.textContent"),
    );
    shown.as_str().expect("the line is text").to_owned()
}

#[test]
fn a_form_books_and_its_lines_do_the_same_elsewhere() {
    let door = door();
    let mut browser = console(&door, "try?op=roomsBook");
    shows(&mut browser, "roomsBook");
    let values = [
        ("property", "bench"),
        ("wish", "r1"),
        ("arrival", "2027-03-01"),
        ("departure", "2027-03-03"),
        ("guest", "O'Hara <b>\"$HOME\""),
        ("id_number", "234123412346"),
    ];
    for (name, value) in values {
        fill(&mut browser, name, value);
    }
    press(&mut browser, "Send");
    shows(&mut browser, "201 Created");
    shows(&mut browser, "\"room\": \"r1\"");
    press(&mut browser, "Send");
    shows(&mut browser, "409 Conflict");
    shows(&mut browser, "\"code\": \"sold_out\"");

    // What is hostile in a value stays a value, in the page and in every line.
    for (room, language) in [("r2", "curl"), ("r3", "redis-cli"), ("r4", "Python")] {
        fill(&mut browser, "wish", room);
        let line = line(&mut browser, language);
        let ran = match language {
            "Python" => output("python3", &["-c", &line], b""),
            _ => {
                let line = line.replace("-p 8479", &format!("-p {}", door.port));
                output("sh", &["-c", &line], b"")
            }
        };
        assert!(ran.contains(room), "{line}: {ran}");
    }
    let listed = redis_cli(
        &door,
        &["ROOMS.LIST-BOOKINGS", "bench", "2027-03-01", "2027-03-03"],
        "",
    );
    assert_eq!(listed.matches("O'Hara <b>\"$HOME\"").count(), 4, "{listed}");
    assert!(line(&mut browser, "TypeScript").contains("await fetch("));
    assert_accessible(&mut browser);
}

#[test]
fn every_operation_of_the_catalogue_has_a_form_and_lines() {
    let door = door();
    let mut browser = console(&door, "try");
    shows(&mut browser, "roomsBook");
    let described: Value = serde_json::from_str(&output(
        "curl",
        &["--silent", &format!("{}/openapi.json", door.url)],
        b"",
    ))
    .unwrap();
    let paths = described["paths"].as_object().unwrap();
    let ids: Vec<&str> = paths
        .iter()
        .filter(|(path, _)| !path.starts_with("/docs"))
        .flat_map(|(_, methods)| methods.as_object().unwrap().values())
        .map(|one| one["operationId"].as_str().unwrap())
        .collect();
    assert!(ids.len() > 110, "{}", ids.len());
    for id in ids {
        browser.value(&format!("location.hash = '#/try?op={id}'"));
        until(
            &mut browser,
            &format!(
                "document.querySelector('form h2')?.textContent === {} && \
                     document.querySelector('pre[data-line]')?.textContent",
                json!(id)
            ),
        );
    }
}

#[test]
fn a_stream_is_followed_until_one_stops_it() {
    let door = door();
    let mut browser = console(&door, "try?op=roomsEvents");
    press(&mut browser, "Follow");
    shows(&mut browser, "waiting for the first event");
    let book = [
        "ROOMS.BOOK",
        "bench",
        "r1",
        "2027-03-01",
        "2027-03-03",
        "ada",
        "234123412346",
    ];
    redis_cli(&door, &book, "");
    shows(&mut browser, "event: booked");
    press(&mut browser, "Stop");
    let followed = browser.value("document.querySelector('pre.answer').textContent");
    assert_eq!(followed.as_str().unwrap().matches("event:").count(), 1);
}
