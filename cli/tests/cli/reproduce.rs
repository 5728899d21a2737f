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
    let faster = &all[1]["conclusions"][5];
    assert!(faster["claim"].as_str().unwrap().contains("18 times"));
    // Short runs have one number of users beyond saturation, where three are needed: of what was not
    // measured here, only of that it is told that it is missing.
    assert_eq!(faster["fate"], "not_testable");
    let why = faster["why"].as_str().unwrap();
    assert!(
        why.starts_with("Redis: too few valid points: "),
        "MySQL was measured before: {why}"
    );
    // All that is published, by the tool alone; nobody learns where the databases are.
    let summary = read(folder, "README.md");
    let command = "    turnstile lab reproduce booking-redis booking-mysql --brief \
        --rooms-backend 'mysql://...?engine=innodb' --rooms-backend 'redis://...'\n";
    assert!(summary.contains(command), "{summary}");
    assert_eq!(summary.matches("| [booking-").count(), 18, "{summary}");
    let page = read(folder, "booking-redis.md");
    assert!(
        page.starts_with("# Room booking on Redis, made again\n"),
        "{page}"
    );
    assert!(
        page.contains(command) && page.contains("\n| book | 50 |"),
        "{page}"
    );
    // What mysqld used, theirs and ours; and what was left out.
    let page = read(folder, "booking-mysql.md");
    assert!(
        page.contains("\nProcessor use of the database:\n")
            && page.contains("\n| book | 50 | 20 % (18 % to 22 %) | - | - | "),
        "{page}"
    );
    let left_out = &all[0]["left_out"][1];
    let (invalid, figures) = (left_out["invalid"].as_u64().unwrap(), &left_out["figures"]);
    assert_eq!((figures, invalid <= 6), (&serde_json::json!(6), true));
    let told = format!("* MySQL InnoDB: {invalid} of 6 figures are invalid and left out");
    assert!(page.contains(&told), "{page}");
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
    assert_eq!((claims.len(), &claims[0]["fate"]), (5, &"confirmed".into()));
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
    let told = "one process: 6 runs are of an earlier command";
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
fn games_are_made_again_with_arena_and_scores_in_one_process_and_in_two() {
    let directory = tempfile::tempdir().unwrap();
    let folder = directory.path();
    let ended = reproduce(&["games-users"], folder);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let all: Value = serde_json::from_str(&read(folder, "reproduce.json")).unwrap();
    let columns = serde_json::json!(["one process", "two processes"]);
    assert_eq!(all[0]["columns"], columns);
    let tables = all[0]["tables"].as_array().unwrap();
    let of = |title: &str| tables.iter().find(|table| table["title"] == title).unwrap();
    let busy = of("Processor use of the server that clients talk to");
    let rows = busy["rows"].as_array().unwrap();
    let at = |players: &str| rows.iter().find(|row| row["name"] == players).unwrap();
    assert_eq!(at("2000")["published"], 95.0);
    for column in 0..2 {
        let ours = at("100")["ours"][column]["value"].as_f64();
        assert!(ours > Some(0.0), "{rows:?}");
    }
    let page = read(folder, "games-users.md");
    assert!(page.contains("not testable here, because players and servers share"));
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
            "a back end is postgres://",
        ),
    ];
    for (arguments, sentence) in rows {
        let ended = run(turnstile().args(["lab", "reproduce"]).args(arguments));
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(ended.err.contains(sentence), "{ended:?}");
    }
}
