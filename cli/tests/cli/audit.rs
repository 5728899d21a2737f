//! `turnstile lab audit`: anybody's table, and the published ones.

use std::fs;

use crate::process::{Ended, run, turnstile};

/// Audits this table with these flags.
fn audit(table: &str, flags: &[&str]) -> Ended {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("figures.csv");
    fs::write(&file, table).unwrap();
    run(turnstile().args(["lab", "audit"]).arg(file).args(flags))
}

#[test]
fn a_table_that_breaks_a_law_ends_with_98_and_names_the_point() {
    let table = "users,req/s,mean_ms\n1,4036,0.2477\n80,7718,2.019\n";
    let ended = audit(table, &["--closed"]);
    assert_eq!(ended.code, Some(98), "{ended:?}");
    let sentence = "breaks Little's law: 80 users at 7 718/s take 10.4ms each, 2.02ms is printed";
    assert!(ended.out.contains(sentence), "{ended:?}");
    assert!(ended.out.contains("1 of 2 points break a law"), "{ended:?}");
    // The same figures, if each user thinks for 8.35 ms, or if nothing is known of the users.
    let rows = [
        (&["--closed", "--tolerance", "80.6%"][..], 0),
        (&["--closed", "--tolerance", "80.4%"], 98),
        (&[], 0),
    ];
    for (flags, code) in rows {
        assert_eq!(audit(table, flags).code, Some(code), "{flags:?}");
    }
    let thinking = "users,req/s,mean_ms\n80,7718,2.019\n";
    assert_eq!(
        audit(thinking, &["--closed", "--think", "8ms"]).code,
        Some(0)
    );
}

#[test]
fn what_cannot_be_audited_is_a_usage_error() {
    let rows = [
        (
            "a,b\n1,2\n",
            &[][..],
            "nothing can be tested in the columns a, b",
        ),
        ("users,x,r_ms\n1,2,3\n", &["--think", "1s"], "--closed"),
        (
            "users,x,r_ms\n1,2,3\n",
            &["--published"],
            "cannot be used with",
        ),
        (
            "users,x,r_ms\n1,2,3\n",
            &["--tolerance", "10"],
            "invalid tolerance",
        ),
    ];
    for (table, flags, sentence) in rows {
        let ended = audit(table, flags);
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(ended.err.contains(sentence), "{ended:?}");
    }
}

#[test]
fn the_published_tables_break_littles_law_at_fifty_booking_points() {
    let directory = tempfile::tempdir().unwrap();
    let json = directory.path().join("audit.json");
    let mut command = turnstile();
    command.args(["lab", "audit", "--published", "--json"]);
    let ended = run(command.arg(&json));
    assert_eq!(ended.code, Some(98), "{ended:?}");
    let last = "50 of the 54 booking points break Little's law by more than 10 %\n";
    assert!(ended.out.ends_with(last), "{ended:?}");
    let found: serde_json::Value = serde_json::from_slice(&fs::read(&json).unwrap()).unwrap();
    assert_eq!(found["audits"][4][0], "travel-ops");
    let first = &found["audits"][0][1]["series"][0]["points"][9]["findings"][0];
    assert_eq!(first["law"], "little");
}
