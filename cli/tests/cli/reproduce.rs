//! `turnstile lab reproduce`: an ancestor's experiment, made again by the binary.

use std::{fs, path::Path};

use serde_json::Value;
use turnstile_trial::{MariaServer, RedisServer};

use crate::process::{Ended, run, turnstile};

/// Makes these again, in a few short runs, and keeps what comes of it there.
fn reproduce(what: &[&str], folder: &Path) -> Ended {
    let mut command = turnstile();
    command.args(["lab", "reproduce", "--brief", "-o"]);
    run(command.arg(folder).args(what))
}

fn read(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join(name)).unwrap()
}

#[test]
fn a_claim_about_two_experiments_is_judged_where_one_command_makes_both() {
    let (maria, redis) = (MariaServer::start(), RedisServer::start());
    let directory = tempfile::tempdir().unwrap();
    let folder = directory.path();
    let mysql = format!("{}?engine=innodb", maria.database());
    let redis = redis.url();
    let what = ["booking-redis", "booking-mysql", "--rooms-backend"];
    let ended = reproduce(
        &[&what[..], &[&mysql, "--rooms-backend", &redis]].concat(),
        folder,
    );
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let all: Value = serde_json::from_str(&read(folder, "reproduce.json")).unwrap();
    // Each database in the experiment that is about it, and nowhere else.
    let columns: Vec<&Value> = (0..2).map(|place| &all[place]["columns"]).collect();
    assert_eq!(columns[0], &serde_json::json!(["embedded", "MySQL InnoDB"]));
    assert_eq!(columns[1], &serde_json::json!(["embedded", "Redis"]));
    let faster = &all[1]["conclusions"][3];
    assert!(faster["claim"].as_str().unwrap().contains("18 times"));
    // A busy machine may spoil every point of one of them; then nothing can be said.
    let is_usable = |experiment: usize| {
        let mut rows = all[experiment]["tables"][0]["rows"]
            .as_array()
            .unwrap()
            .iter();
        rows.any(|row| row["series"] == "book" && row["ours"][1]["is_usable"] == true)
    };
    let is_judged = is_usable(0) && is_usable(1);
    assert_eq!(faster["fate"] != "not_testable", is_judged, "{faster}");
    let why = faster["why"].as_str().unwrap();
    let told = "times as many a second as MySQL (";
    assert_eq!(why.contains(told), is_judged, "{why}");
    // All that is published, by the tool alone; nobody learns where the databases are.
    let summary = read(folder, "README.md");
    let command = "    turnstile lab reproduce booking-redis booking-mysql --brief \
        --rooms-backend 'mysql://...?engine=innodb' --rooms-backend 'redis://...'\n";
    assert!(summary.contains(command), "{summary}");
    assert_eq!(summary.matches("| [booking-").count(), 9, "{summary}");
    let page = read(folder, "booking-redis.md");
    assert!(
        page.starts_with("# Room booking on Redis, made again\n"),
        "{page}"
    );
    assert!(
        page.contains(command) && page.contains("\n| book | 50 |"),
        "{page}"
    );
    let html = read(folder, "report.html");
    assert!(html.contains("<section id=\"conclusions\">"), "{html}");
}

#[test]
fn what_fails_is_told_and_the_rest_goes_on() {
    let directory = tempfile::tempdir().unwrap();
    let folder = directory.path();
    let what = [
        "booking-redis",
        "travel-ops",
        "--rooms-backend",
        "redis://127.0.0.1:99999/0",
    ];
    let ended = reproduce(&what, folder);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(
        ended
            .err
            .contains("6 runs failed; the others were measured"),
        "{ended:?}"
    );
    let all: Value = serde_json::from_str(&read(folder, "reproduce.json")).unwrap();
    let failed = all[0]["failed"].as_array().unwrap();
    let first = failed[0].as_str().unwrap();
    assert!(
        first.starts_with("Redis: `rooms -c 1 --mix book=100 "),
        "{first}"
    );
    let last = failed[5].as_str().unwrap();
    assert!(
        last.ends_with(": not tried, for 3 before it failed"),
        "{last}"
    );
    let rows = all[0]["tables"][0]["rows"].as_array().unwrap();
    let measured = rows.iter().filter(|row| row["ours"][0].is_object());
    assert_eq!(measured.count(), 6);
    assert!(rows.iter().all(|row| row["ours"][1].is_null()));
    assert_eq!(all[1]["failed"], serde_json::json!([]));
    let summary = read(folder, "README.md");
    assert!(summary.contains("| booking-redis | "), "{summary}");
    assert!(read(folder, "booking-redis.md").contains("* **not measured**: Redis: `rooms "));
}

#[test]
fn an_experiment_is_made_again_beside_its_table_and_its_conclusions_are_judged() {
    let directory = tempfile::tempdir().unwrap();
    let mut command = turnstile();
    command.args(["lab", "reproduce", "travel-ops", "--as-published", "-o"]);
    let ended = run(command.arg(directory.path()));
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let read = |name: &str| read(directory.path(), name);
    let all: Value = serde_json::from_str(&read("reproduce.json")).unwrap();
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
    assert!(read("travel-ops.md").contains("| **confirmed** | start + 4 queries"));
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
    let after: Value = serde_json::from_str(&read("reproduce.json")).unwrap();
    for same in ["tables", "conclusions", "columns"] {
        assert_eq!(after[0][same], all[0][same]);
    }
    let notices = after[0]["notices"].as_array().unwrap();
    let told = "one process: 2 runs are of an earlier command";
    assert!(notices.contains(&told.into()), "{notices:?}");
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
