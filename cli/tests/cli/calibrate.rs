//! `turnstile lab doctor` and `turnstile lab calibrate`: what they print, write and answer.

use std::{fs, path::Path};

use crate::process::{run, turnstile};

#[test]
fn the_doctor_names_everything_and_answers_with_the_worst() {
    let directory = tempfile::tempdir().unwrap();
    let json = directory.path().join("doctor.json");
    let mut command = turnstile();
    command
        .args(["lab", "doctor", "--data"])
        .arg(directory.path());
    let ended = run(command.arg("--json").arg(&json));
    let found: serde_json::Value = serde_json::from_slice(&fs::read(&json).unwrap()).unwrap();
    let findings = found["findings"].as_array().unwrap();
    let bad = findings.iter().any(|finding| finding["grade"] == "bad");
    assert_eq!(ended.code, Some(if bad { 98 } else { 0 }), "{ended:?}");
    for finding in findings {
        let name = finding["check"].as_str().unwrap();
        assert!(ended.out.contains(name), "{name}: {ended:?}");
        assert_eq!(
            finding["cure"].is_string(),
            finding["grade"] != "ok",
            "{finding}"
        );
    }
    assert!(ended.out.trim_end().ends_with("bad"), "{ended:?}");
}

#[test]
fn a_directory_that_is_not_there_ends_with_98_and_is_named() {
    let ended = run(turnstile().args(["lab", "doctor", "--data", "/nowhere/at/all"]));
    assert_eq!(ended.code, Some(98), "{ended:?}");
    assert!(ended.out.contains("BAD   sync"), "{ended:?}");
    assert!(ended.out.contains("/nowhere/at/all"), "{ended:?}");
}

#[test]
fn a_calibration_leaves_a_run_and_its_verdict() {
    let directory = tempfile::tempdir().unwrap();
    let json = directory.path().join("copy.json");
    let folder = directory.path().join("run");
    let mut command = turnstile();
    command.args([
        "lab",
        "calibrate",
        "--only",
        "lag,memory",
        "-d",
        "1s",
        "--quiet",
    ]);
    command.arg("-o").arg(&folder).arg("--json").arg(&json);
    let ended = run(&mut command);
    let read = |path: &Path| -> serde_json::Value {
        serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
    };
    let found = read(&folder.join("calibration.json"));
    let claims = found["claims"].as_array().unwrap();
    let good =
        |claim: &serde_json::Value| claim["verdict"] == "met" || claim["verdict"] == "not_measured";
    let code = if claims.iter().all(good) { 0 } else { 98 };
    assert_eq!(ended.code, Some(code), "{ended:?}");
    for name in ["lag", "memory"] {
        let row = format!("| {name} |");
        assert!(ended.out.contains(&row), "{ended:?}");
    }
    let kept = read(&folder.join("run.json"));
    assert_eq!(read(&json), kept);
    assert_eq!(
        (&kept["asked"]["command"], &kept["exit_code"]),
        (&"calibrate".into(), &code.into())
    );
    assert!(kept["points"].as_array().unwrap().len() >= 2, "{kept}");
    let table = fs::read_to_string(folder.join("calibration.md")).unwrap();
    let (head, table) = table.split_once("measured.\n\n").unwrap();
    let line = "`turnstile lab calibrate --only lag,memory -d 1000ms --seed 1`";
    assert!(head.contains(line), "{head}");
    assert!(ended.out.contains(table.trim_end()), "{table}");
    assert!(folder.join("report.html").exists());
}

#[test]
fn parts_and_rivals_that_are_none_are_refused_and_a_rival_may_not_be_there() {
    let rows = [
        (
            ["--only", "speed"],
            "`speed` is no part: write accuracy, lag, crowd or memory",
        ),
        (
            ["--versus", "ab"],
            "`ab` is no rival: write wrk or redis-benchmark",
        ),
    ];
    for (flags, sentence) in rows {
        let ended = run(turnstile().args(["lab", "calibrate"]).args(flags));
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(ended.err.contains(sentence), "{ended:?}");
    }
    let directory = tempfile::tempdir().unwrap();
    let mut command = turnstile();
    command.args(["lab", "calibrate", "--versus", "wrk", "-d", "100ms", "-o"]);
    // With nothing to be found in the path.
    let ended = run(command.arg(directory.path()).env("PATH", directory.path()));
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.err.contains("wrk: "), "{ended:?}");
}

#[test]
fn real_time_priority_is_given_or_refused_with_a_reason() {
    let mut command = turnstile();
    let directory = tempfile::tempdir().unwrap();
    command.args([
        "lab", "run", "rooms", "-c", "2", "-r", "200", "-d", "300ms", "--rt", "-o",
    ]);
    let ended = run(command.arg(directory.path()));
    match ended.code {
        Some(0 | 98) => {}
        Some(1) => assert!(
            ended.err.contains("refuses real-time priority"),
            "{ended:?}"
        ),
        _ => panic!("{ended:?}"),
    }
}

#[test]
fn who_never_sleeps_is_not_reproached_with_being_busy() {
    let rows: [(&[&str], bool); 3] = [
        (&["--awake"], false),
        (&["--awake", "--rt"], false),
        (&["--quiet"], true),
    ];
    for (flags, reproached) in rows {
        let directory = tempfile::tempdir().unwrap();
        let mut command = turnstile();
        command.args(["lab", "run", "rooms", "-c", "2", "-r", "200", "-d", "1s"]);
        let ended = run(command.args(flags).arg("-o").arg(directory.path()));
        if ended.err.contains("refuses real-time priority") {
            // It may be that only the superuser is given it.
            continue;
        }
        assert!(matches!(ended.code, Some(0 | 98)), "{ended:?}");
        let told = fs::read_to_string(directory.path().join("run.json")).unwrap();
        assert_eq!(told.contains("generator_busy"), reproached, "{flags:?}");
    }
}
