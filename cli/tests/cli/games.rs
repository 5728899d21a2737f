//! An arena and its scores in two processes: each result is counted once, whatever is killed.

use std::{
    net::{SocketAddr, TcpListener},
    path::Path,
    process::{Child, Stdio},
};

use crate::process::{Server, ask, run, turnstile, words};

/// `serve` with RESP on a free port, and these arguments beside.
fn serve(data: &Path, arguments: &[&str]) -> Server {
    let mut command = turnstile();
    command.args(["serve", "--resp", "127.0.0.1:0", "--http", "off", "--data"]);
    Server::start(command.arg(data).args(arguments))
}

/// An address that nobody listens at, for a server that comes back to it.
fn free_address() -> SocketAddr {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    listener.local_addr().unwrap()
}

/// A figure of `INFO games`.
fn figure(server: &Server, name: &str) -> u64 {
    let info = words(&ask(&mut server.connect(), "INFO games"));
    let line = info.lines().find_map(|line| line.strip_prefix(name));
    let value = line.and_then(|line| line.strip_prefix(':'));
    value.unwrap_or_else(|| panic!("{info}")).parse().unwrap()
}

fn lab(arena: &Server, players: &str, games: &str) -> Child {
    let address = arena.door("games-arena").unwrap().to_string();
    let mut command = turnstile();
    command.args(["lab", "run", "games", "-c", players, "-i", games]);
    command.args(["--games-arena", &address]);
    let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

#[test]
fn scores_that_are_killed_under_load_lose_no_result_and_count_none_twice() {
    let directory = tempfile::tempdir().unwrap();
    let [scores_data, arena_data] = ["scores", "arena"].map(|name| directory.path().join(name));
    let address = free_address().to_string();
    let scores = || serve(&scores_data, &["--role=scores", "--games-scores", &address]);
    let arena = serve(
        &arena_data,
        &[
            "--role=arena",
            "--games-arena=127.0.0.1:0",
            "--scores",
            &address,
        ],
    );
    let play = lab(&arena, "8", "200");
    let mut counted = 0;
    for _ in 0..3 {
        let scores = scores();
        let enough = counted + 100;
        while counted < enough {
            counted = figure(&scores, "games_results_total");
        }
        drop(scores);
    }
    let scores = scores();
    // The lab compares what every player was told with what it has played.
    let ended = play.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr);
    // On a busy machine the figures may be of no use; the proof is.
    assert!(matches!(ended.status.code(), Some(0 | 98)), "{said}");
    assert!(proven(&ended.stdout), "{said}");
    assert_eq!(figure(&scores, "games_results_total"), 800);
    assert_eq!(figure(&arena, "games_matches_total"), 800);
    assert_eq!(figure(&arena, "games_unreported"), 0);
    arena.stop();
    scores.stop();
    let recounted = run(turnstile().args(["games", "recount"]).arg(&scores_data));
    let expected = "800 results, counted again after position 0: 0 differences\n";
    assert_eq!((recounted.code, &*recounted.out), (Some(0), expected));
}

/// Whether every player has finished, and was told what it has played.
fn proven(printed: &[u8]) -> bool {
    let printed = String::from_utf8_lossy(printed);
    let is_whole =
        printed.contains("; the statistics say ") && !printed.contains("players were left");
    is_whole && !printed.contains("VIOLATION")
}

#[test]
fn an_arena_tells_foreign_scores_on_the_ancestors_wire() {
    let directory = tempfile::tempdir().unwrap();
    let [scores_data, arena_data] = ["scores", "arena"].map(|name| directory.path().join(name));
    let address = free_address().to_string();
    let arena = serve(
        &arena_data,
        &[
            "--role=arena",
            "--games-arena=127.0.0.1:0",
            "--scores",
            &address,
            "--scores-wire=ancestor",
        ],
    );
    let play = lab(&arena, "4", "10");
    while figure(&arena, "games_unreported") < 2 {}
    let scores = serve(&scores_data, &["--role=scores", "--games-scores", &address]);
    let ended = play.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr);
    // On a busy machine the figures may be of no use; the proof is.
    assert!(matches!(ended.status.code(), Some(0 | 98)), "{said}");
    assert!(proven(&ended.stdout), "{said}");
    assert_eq!(figure(&scores, "games_results_total"), 20);
    assert_eq!(figure(&arena, "games_unreported"), 0);
    arena.stop();
    scores.stop();
}

#[test]
fn the_lab_measures_arena_and_scores_in_one_process_or_in_two() {
    for (servers, roles) in [
        ("one", &["server", "generator"][..]),
        ("separate", &["server", "scores", "generator"]),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let mut command = turnstile();
        command.args(["lab", "run", "games", "-c", "4", "-i", "20"]);
        command.args(["--servers", servers, "-o"]);
        let ended = run(command.arg(directory.path()));
        // A busy machine may spoil the figures, and never the proof.
        assert!(matches!(ended.code, Some(0 | 98)), "{ended:?}");
        let kept = std::fs::read(directory.path().join("run.json")).unwrap();
        let kept: serde_json::Value = serde_json::from_slice(&kept).unwrap();
        let point = &kept["points"][0];
        let processes = point["resources"]["processes"].as_array().unwrap();
        let found: Vec<&str> = processes
            .iter()
            .filter_map(|process| process["role"].as_str())
            .collect();
        for role in roles {
            assert!(found.contains(role), "{role}: {found:?}");
        }
        assert_eq!(found.contains(&"scores"), servers == "separate");
        let proof = point["proof"].as_array().unwrap();
        assert!(!proof.is_empty() && proof.iter().all(|rule| rule["outcome"] == "holds"));
    }
    let wrong = run(turnstile().args([
        "lab",
        "run",
        "games",
        "--door",
        "resp",
        "--servers",
        "separate",
    ]));
    assert_eq!(wrong.code, Some(2), "{wrong:?}");
    assert!(
        wrong
            .err
            .contains("--servers separate goes with --door wire"),
        "{wrong:?}"
    );
}
