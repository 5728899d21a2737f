//! `turnstile lab report` and `lab ls`: views of results that are there.

use std::{fs, path::Path};

use crate::process::{Ended, run, turnstile};

/// A run with every field, which the crate of results keeps.
const RUN: &str = "../lab/result/tests/result/schema-2.json";

/// The same as a lab of schema 1 wrote it.
const OLD: &str = "../lab/result/tests/result/schema-1.json";

fn lab(arguments: &[&str], path: &Path) -> Ended {
    run(turnstile().arg("lab").args(arguments).arg(path))
}

/// A folder with one run.
fn runs() -> tempfile::TempDir {
    let runs = tempfile::tempdir().unwrap();
    let folder = runs.path().join("2026/one");
    fs::create_dir_all(&folder).unwrap();
    fs::copy(RUN, folder.join("run.json")).unwrap();
    runs
}

#[test]
fn a_run_is_shown_in_every_form_beside_its_result_or_elsewhere() {
    let runs = runs();
    let folder = runs.path().join("2026/one");
    assert_eq!(lab(&["report"], &folder).code, Some(0));
    let ended = lab(&["report", "--csv", "--md"], &folder.join("run.json"));
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    assert_eq!(read("report.html").matches("<section ").count(), 12);
    assert_eq!(read("points.csv").lines().count(), 8);
    assert!(read("report.md").starts_with("# Lab run rooms: fine\n"));
    let ended = lab(&["report", "--md", "-o", "-"], &folder);
    assert_eq!(ended.out, read("report.md"));
}

#[test]
fn runs_of_either_schema_are_shown_and_compared_but_for_what_they_count_otherwise() {
    let runs = runs();
    let new = runs.path().join("2026/one/run.json");
    let old = runs.path().join("old.json");
    fs::copy(OLD, &old).unwrap();
    let ended = lab(&["report", "--md", "-o", "-"], &old);
    assert!(
        ended.out.starts_with("# Lab run rooms: fine\n"),
        "{ended:?}"
    );
    let compare = |old: &Path, new: &Path| {
        let (to, mut command) = (tempfile::tempdir().unwrap(), turnstile());
        command.args(["lab", "compare"]).arg(old).arg(new);
        run(command.args(["rooms", "-q", "-o"]).arg(to.path()))
    };
    // Points that are invalid tell nothing, but they could be set beside each other.
    let ended = compare(&old, &new);
    assert_eq!(ended.code, Some(98), "{ended:?}");
    for path in [&old, &new] {
        let text = fs::read_to_string(path).unwrap();
        let text = text.replacen("\"workload\":\"rooms\"", "\"workload\":\"games\"", 1);
        fs::write(path, text).unwrap();
    }
    let ended = compare(&old, &new);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(
        ended
            .err
            .contains("of schema 1 may count requests of games"),
        "{ended:?}"
    );
    let ended = lab(&["report", "--md", "-o", "-"], &old);
    assert!(
        ended.out.contains("may count requests of games"),
        "{ended:?}"
    );
}

#[test]
fn runs_are_listed_with_their_verdict_and_what_they_say() {
    let runs = runs();
    let ended = lab(&["ls"], runs.path());
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let first = ended.out.lines().next().unwrap();
    assert!(
        first.starts_with("2026-01-31T12:00:00Z  fine      run rooms "),
        "{first}"
    );
    assert!(first.ends_with("2026/one"), "{first}");
    let empty = tempfile::tempdir().unwrap();
    assert!(lab(&["ls"], empty.path()).err.contains("no runs below"));
}

#[test]
fn what_is_no_run_says_so() {
    let runs = runs();
    let file = runs.path().join("run.json");
    for (text, sentence) in [
        ("{}", "no run of the lab"),
        ("{\"schema\":7}", "a run of schema 7"),
    ] {
        fs::write(&file, text).unwrap();
        let ended = lab(&["report"], &file);
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(ended.err.contains(sentence), "{ended:?}");
        // A listing goes on.
        let listed = lab(&["ls"], runs.path());
        assert!(
            listed.err.contains(sentence) && listed.out.contains("fine"),
            "{listed:?}"
        );
    }
    let ended = lab(
        &["report", "--csv", "--md", "-o", "-"],
        &runs.path().join("2026/one"),
    );
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert_eq!(lab(&["report"], &runs.path().join("none")).code, Some(1));
}
