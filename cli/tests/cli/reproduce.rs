//! `turnstile lab reproduce`: an ancestor's experiment, made again by the binary.

use std::fs;

use crate::process::{run, turnstile};

#[test]
fn an_experiment_is_made_again_beside_its_table_and_its_conclusions_are_judged() {
    let directory = tempfile::tempdir().unwrap();
    let mut command = turnstile();
    command.args(["lab", "reproduce", "travel-ops", "--as-published", "-o"]);
    let ended = run(command.arg(directory.path()));
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let read = |name: &str| fs::read_to_string(directory.path().join(name)).unwrap();
    let all: serde_json::Value = serde_json::from_str(&read("reproduce.json")).unwrap();
    let one = &all[0];
    assert_eq!(
        one["columns"],
        serde_json::json!(["one process", "five processes"])
    );
    let rows = one["tables"][0]["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 10);
    for row in rows {
        let ours = |column: usize| row["ours"][column]["value"].as_f64();
        assert!(ours(0) > Some(0.0) && ours(1) > Some(0.0), "{row}");
    }
    let published = rows[9]["published"].as_f64().unwrap();
    assert!((published - 0.009_425).abs() < 1e-12, "{published}");
    let claims = one["conclusions"].as_array().unwrap();
    assert_eq!((claims.len(), &claims[0]["fate"]), (3, &"confirmed".into()));
    assert!(read("reproduce.md").contains("| **confirmed** | start + 4 queries"));
    assert!(read("report.html").contains("<section id=\"travel-ops\">"));
    // What is kept there is not measured again.
    let mut again = turnstile();
    again.args([
        "lab",
        "reproduce",
        "travel-ops",
        "--as-published",
        "--resume",
        "-o",
    ]);
    let resumed = run(again.arg(directory.path()));
    assert_eq!((resumed.code, resumed.err.as_str()), (Some(0), ""));
    let after: serde_json::Value = serde_json::from_str(&read("reproduce.json")).unwrap();
    assert_eq!(after, all);
    // Every run is there as anybody would have made it.
    let kept = directory
        .path()
        .join("travel-ops/five-processes/02/run.json");
    assert!(
        fs::read_to_string(kept)
            .unwrap()
            .contains("\"--managers\",\"several\"")
    );
}

#[test]
fn what_cannot_be_made_again_is_a_usage_error() {
    let rows = [
        (&[][..], "required"),
        (
            &["chess"],
            "`chess` is no experiment: there are booking-mysql",
        ),
        (
            &["all", "--rooms-backend", "oracle://x"],
            "a database is mysql://",
        ),
    ];
    for (arguments, sentence) in rows {
        let ended = run(turnstile().args(["lab", "reproduce"]).args(arguments));
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(ended.err.contains(sentence), "{ended:?}");
    }
}
