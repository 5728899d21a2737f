//! Scenarios as stories: each file is a script of commands with what the machine answers.
//!
//! A line `> words` is a command or a question, the lines under it are the answer and, indented,
//! what happened; `#` begins a comment. With `UPDATE_SCENARIOS=1` in the environment the answers
//! are written instead of compared; read the difference before you keep it.

mod answers;
mod script;

use std::{fmt::Write as _, fs, path::Path};

use script::Stage;

/// Plays one script, and compares it with what it says.
fn check(path: &Path) {
    let script = fs::read_to_string(path).unwrap();
    let mut stage = Stage::new();
    let mut played = String::new();
    let mut skip = false;
    for line in script.lines() {
        if let Some(words) = line.strip_prefix("> ") {
            writeln!(played, "{line}").unwrap();
            played.push_str(&stage.play(words));
            skip = true;
        } else if line.is_empty() || line.starts_with('#') {
            writeln!(played, "{line}").unwrap();
            skip = false;
        } else {
            assert!(skip, "an answer without a command: {line}");
        }
    }
    if std::env::var_os("UPDATE_SCENARIOS").is_some() {
        fs::write(path, &played).unwrap();
        return;
    }
    assert!(
        played == script,
        "{} is played differently:\n{played}",
        path.display()
    );
}

#[test]
fn every_scenario_is_played_as_written() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios");
    let mut paths: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().path())
        .collect();
    paths.sort();
    assert_eq!(paths.len(), 8, "every story is played");
    for path in paths {
        check(&path);
    }
}
