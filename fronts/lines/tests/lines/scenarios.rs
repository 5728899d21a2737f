//! Scenarios: each file is a script of lines with what is answered.
//!
//! A line `> text` is sent, the lines under it are the answer; `after n` lets n seconds pass. An
//! answer that somebody waited for stands, marked `late:`, under what freed it. `#` begins a
//! comment, and an empty line of an answer is a `.`. With `UPDATE_SCENARIOS=1` in the environment
//! the answers are written instead of compared; read the difference before you keep it.

use std::{fmt::Write as _, fs, path::Path};

use turnstile_lines::{LineVerb, Options};
use turnstile_travel::{Command, Settings};

use crate::session::Office;

fn shown(played: &mut String, mark: &str, answer: &str) {
    for line in answer.lines() {
        let line = if line.is_empty() { "." } else { line };
        writeln!(played, "{mark}{line}").unwrap();
    }
}

/// Plays one script, and compares it with what it says.
fn check(path: &Path, office: &mut Office) -> String {
    let script = fs::read_to_string(path).unwrap();
    let mut played = String::new();
    let mut in_answer = false;
    for line in script.lines() {
        let text = line.strip_prefix("> ");
        let seconds = line.strip_prefix("after ");
        if text.is_none() && seconds.is_none() {
            let is_comment = line.is_empty() || line.starts_with('#');
            assert!(in_answer || is_comment, "an answer without a line: {line}");
            if is_comment {
                writeln!(played, "{line}").unwrap();
                in_answer = false;
            }
            continue;
        }
        writeln!(played, "{line}").unwrap();
        if let Some(text) = text {
            shown(&mut played, "", &office.line(text.as_bytes()));
        }
        if let Some(seconds) = seconds {
            office.pass(seconds.parse().unwrap());
        }
        shown(&mut played, "late: ", &office.late());
        in_answer = true;
    }
    if std::env::var_os("UPDATE_SCENARIOS").is_some() {
        fs::write(path, &played).unwrap();
    } else {
        assert!(
            played == script,
            "{} is played differently:\n{played}",
            path.display()
        );
    }
    script
}

fn path(name: &str) -> std::path::PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios");
    folder.join(name)
}

#[test]
fn every_command_is_answered_as_the_ancestor_does() {
    let script = check(&path("commands.txt"), &mut Office::new(Options::default()));
    let itineraries = fs::read_to_string(path("itineraries.txt")).unwrap();
    let script = [script, itineraries].concat();
    let script = script.to_lowercase();
    for verb in LineVerb::all() {
        let sent = format!("> {}", verb.name().to_lowercase());
        let sends = |line: &str| line.split(',').next() == Some(sent.as_str());
        assert!(script.lines().any(sends), "{verb} is not in the script");
    }
}

#[test]
fn an_itinerary_is_booked_held_confirmed_cancelled_and_shown() {
    check(
        &path("itineraries.txt"),
        &mut Office::new(Options::default()),
    );
}

#[test]
fn every_wrong_line_is_told_what_is_wrong_with_it() {
    check(&path("wrong.txt"), &mut Office::new(Options::default()));
}

#[test]
fn whoever_waits_is_answered_late() {
    check(&path("waits.txt"), &mut Office::new(Options::default()));
}

#[test]
fn a_bill_tells_its_total_where_that_is_wanted() {
    let options = Options { bill_total: true };
    check(&path("totals.txt"), &mut Office::new(options));
}

#[test]
fn a_server_without_the_coordinator_says_so() {
    let mut office = Office::new(Options::default());
    let mut settings = Settings::FIRST;
    settings.roles.coordinator = false;
    office.apply(&Command::Configure(settings));
    for line in ["Start", "QueryCars,1,oslo", "Commit,1"] {
        let answer = office.line(line.as_bytes());
        assert_eq!(
            answer,
            "Command exception: this server is not the middleware\n"
        );
    }
}
