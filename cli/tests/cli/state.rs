//! `turnstile state export`: what stands, as rows.

use std::path::Path;

use crate::process::{Ended, Server, ask, run, turnstile, words};

fn export(dir: &Path, arguments: &[&str]) -> Ended {
    let mut command = turnstile();
    command.args(["state", "export"]).arg(dir);
    run(command.args(arguments))
}

#[test]
fn what_stands_in_a_directory_is_written_as_rows_also_while_it_is_served() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::dev(data.path());
    let mut door = server.connect();
    for room in 0..3 {
        let line = format!("ROOMS.BOOK bench room-{room} 2027-01-01 2027-01-02 ada 234123412346");
        assert!(words(&ask(&mut door, &line)).starts_with("1 R"));
    }
    let live = export(data.path(), &["--service", "rooms", "--format", "json"]);
    assert_eq!(live.code, Some(0), "{live:?}");
    assert_eq!(live.out.lines().count(), 3, "{live:?}");
    let first: serde_json::Value = serde_json::from_str(live.out.lines().next().unwrap()).unwrap();
    assert_eq!(first["guest"], "ada");
    assert_eq!(first["id_number"], "********2346");
    server.stop();

    let table = export(data.path(), &["--service", "rooms"]);
    let (head, rows) = table.out.split_once('\n').unwrap();
    assert!(
        head.starts_with("reference,state,property,room,arrival,departure,"),
        "{head}"
    );
    assert_eq!(rows.lines().count(), 3);
    assert!(
        rows.contains(",booked,bench,room-1,2027-01-01,2027-01-02,ada,"),
        "{rows}"
    );
    assert!(!table.out.contains("234123412346"));
    assert!(
        table.err.starts_with("3 rows of rooms at position "),
        "{table:?}"
    );

    // The sample data of `dev`.
    let accounts = export(data.path(), &["--service", "exchange"]);
    assert_eq!(accounts.out.lines().count(), 4, "{accounts:?}");
    let items = export(data.path(), &["--service", "travel"]);
    assert!(
        items.out.starts_with("item,free,reserved,price\n"),
        "{items:?}"
    );
    for empty in ["seats", "games", "access"] {
        let ended = export(data.path(), &["--service", empty]);
        assert_eq!((ended.code, ended.out.as_str()), (Some(0), ""), "{empty}");
    }
    let unknown = export(data.path(), &["--service", "cars"]);
    assert_eq!(unknown.code, Some(2), "{unknown:?}");
}
