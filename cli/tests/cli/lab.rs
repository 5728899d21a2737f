//! `turnstile lab`: with a server of its own, and with one that is given.

use std::{fs, net::TcpListener, thread};

use turnstile_client::Connection;

use crate::process::{Ended, Server, ask, run, turnstile, words};

#[test]
fn a_rush_sells_one_room_once() {
    let directory = tempfile::tempdir().unwrap();
    let json = directory.path().join("rush.json");
    let mut command = turnstile();
    command.args(["lab", "rush", "--rooms", "1", "--clients", "60", "-o"]);
    let ended = run(command.arg(directory.path()).arg("--json").arg(&json));
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let what = "a server of our own at 127.0.0.1:";
    let instead = "; --resp ADDR measures a running one";
    assert!(
        ended.err.contains(what) && ended.err.contains(instead),
        "{ended:?}"
    );
    let line = "60 asked, 1 sold, 59 refused, 0 twice";
    assert!(ended.out.contains(line), "{ended:?}");
    let kept = fs::read(&json).unwrap();
    assert_eq!(kept, fs::read(directory.path().join("run.json")).unwrap());
    let kept: serde_json::Value = serde_json::from_slice(&kept).unwrap();
    let point = &kept["points"][0];
    assert_eq!(point["check"]["replayed"], 60);
    assert_eq!(point["operations"][0]["refused"]["sold_out"], 59);
}

#[test]
fn a_rush_through_a_waiting_room_keeps_the_order_of_its_callers() {
    let directory = tempfile::tempdir().unwrap();
    let mut command = turnstile();
    command.args([
        "lab",
        "rush",
        "--rooms",
        "3",
        "--clients",
        "60",
        "--connections",
        "6",
    ]);
    command.args(["--waiting-room-rate", "20", "-o"]);
    let ended = run(command.arg(directory.path()));
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let sold = "60 asked, 3 sold, 57 refused, 0 twice";
    assert!(ended.out.contains(sold), "{ended:?}");
    let kept = fs::read(directory.path().join("run.json")).unwrap();
    let kept: serde_json::Value = serde_json::from_slice(&kept).unwrap();
    let point = &kept["points"][0];
    let told = point["operations"][0]["refused"]["in_line"].as_u64();
    assert!(told >= Some(30), "{ended:?}");
    assert_eq!(point["wholes"][0]["done"], 60);
    let rule =
        "no caller who waits in line and asks again in time is passed by one that came later";
    let rules = point["proof"].as_array().unwrap().iter();
    let held = rules.filter(|one| one["rule"] == rule && one["outcome"] == "holds");
    assert_eq!(held.count(), 1, "{point}");
}

#[test]
fn games_are_played_by_pairs_and_each_is_counted_once() {
    let directory = tempfile::tempdir().unwrap();
    let json = directory.path().join("games.json");
    let server = Server::dev(&directory.path().join("data"));
    let arena = server.door("games-arena").unwrap().to_string();
    let mut command = turnstile();
    command.args(["lab", "run", "games", "-c", "8", "-i", "20"]);
    command
        .args(["--games-arena", &arena, "-o"])
        .arg(directory.path());
    let ended = run(command.arg("--json").arg(&json));
    // On a busy machine the generator may have come late.
    assert!(matches!(ended.code, Some(0 | 98)), "{ended:?}");
    let report: serde_json::Value = serde_json::from_slice(&fs::read(&json).unwrap()).unwrap();
    assert_eq!(report["asked"]["settings"]["iterations"], "20");
    assert_eq!(
        report["points"][0]["proof"][0]["outcome"], "holds",
        "{ended:?}"
    );
    let mut resp = server.connect();
    let info = words(&ask(&mut resp, "INFO games"));
    assert!(info.contains("games_matches_total:80"), "{info}");
    assert!(info.contains("games_results_total:80"), "{info}");
    // Over RESP the same players go on, as fast as is asked.
    let at = server.door("resp").unwrap().to_string();
    let mut command = turnstile();
    command.args(["lab", "run", "games", "--door", "resp", "-c", "8"]);
    command.args(["-r", "400", "--arrivals", "fixed", "-d", "500ms"]);
    command.args(["--warm-up", "100ms", "--resp", &at, "-o"]);
    let folder = directory.path().join("resp");
    let ended = run(command.arg(&folder));
    // On a busy machine the generator may have come late.
    assert!(matches!(ended.code, Some(0 | 98)), "{ended:?}");
    let kept = fs::read(folder.join("run.json")).unwrap();
    let kept: serde_json::Value = serde_json::from_slice(&kept).unwrap();
    let point = &kept["points"][0];
    assert_eq!(point["proof"][0]["outcome"], "holds", "{ended:?}");
    assert_eq!(
        (&point["load"]["rate"], &point["planned"]),
        (&400.0.into(), &200.into())
    );
    assert_eq!(point["resources"]["processes"][0]["role"], "server");
    let games = point["wholes"][0]["done"].as_u64().unwrap();
    let info = words(&ask(&mut resp, "INFO games"));
    let all = format!("games_results_total:{}", 80 + games);
    assert!(info.contains(&all), "{all}: {info}");
    server.stop();
}

#[test]
fn a_run_measures_the_server_that_it_is_given() {
    let directory = tempfile::tempdir().unwrap();
    let json = directory.path().join("run.json");
    let server = Server::dev(&directory.path().join("data"));
    let resp = server.door("resp").unwrap().to_string();
    let mut command = turnstile();
    command.args([
        "lab",
        "run",
        "rooms",
        "-c",
        "4",
        "-d",
        "300ms",
        "--warm-up",
        "100ms",
    ]);
    command.args([
        "-P",
        "2",
        "--mix",
        "book=60,cancel=40",
        "--resp",
        &resp,
        "-o",
    ]);
    let ended = run(command.arg(directory.path()));
    // On a busy machine a run this short may be invalid, but never a violation.
    assert!(matches!(ended.code, Some(0 | 98)), "{ended:?}");
    assert!(!ended.err.contains("a server of our own"), "{ended:?}");
    let report: serde_json::Value = serde_json::from_slice(&fs::read(&json).unwrap()).unwrap();
    assert_eq!(report["asked"]["settings"]["mix"], "book=60,cancel=40");
    assert_eq!(report["points"][0]["load"]["pipeline"], 2);
    let proof = proof(&report);
    assert!(
        proof["found"][0].as_str().unwrap().contains(" sold, "),
        "{report}"
    );
    assert_eq!(proof["outcome"], "holds");
    server.stop();
}

#[test]
fn a_run_of_seats_proves_that_none_was_sold_twice() {
    let directory = tempfile::tempdir().unwrap();
    let json = directory.path().join("seats.json");
    let server = Server::dev(&directory.path().join("data"));
    let resp = server.door("resp").unwrap().to_string();
    // The second run has a show of its own, at a rate.
    for more in [&["-P", "4"][..], &["-r", "300"]] {
        let folder = directory.path().join(more.concat());
        let mut command = turnstile();
        command.args(["lab", "run", "seats", "-c", "4", "--resp", &resp]);
        command.args(SHORT).args(more).arg("-o").arg(folder);
        let ended = run(command.arg("--json").arg(&json));
        // On a busy machine a run this short may be invalid, but never a violation.
        assert!(matches!(ended.code, Some(0 | 98)), "{ended:?}");
        assert!(ended.out.contains("proof: "), "{ended:?}");
        let report: serde_json::Value = serde_json::from_slice(&fs::read(&json).unwrap()).unwrap();
        let proof = proof(&report);
        assert_eq!(proof["outcome"], "holds", "{report}");
        let found = proof["found"][0].as_str().unwrap();
        assert!(found.contains(" listed with "), "{report}");
        assert!(!found.contains(" listed with 0 seats"), "{report}");
    }
    server.stop();
}

/// What was proven of the first point of a run.
fn proof(run: &serde_json::Value) -> &serde_json::Value {
    &run["points"][0]["proof"][0]
}

/// A short run of the exchange workload, and its `run.json`.
fn exchange(arguments: &[&str]) -> (Ended, serde_json::Value) {
    let directory = tempfile::tempdir().unwrap();
    let json = directory.path().join("run.json");
    let mut command = turnstile();
    command.args(["lab", "run", "exchange", "-c", "4", "--symbols", "2"]);
    command.args(arguments).arg("-o");
    let ended = run(command.arg(directory.path()));
    let report = fs::read(&json).unwrap_or_else(|error| panic!("{error}: {ended:?}"));
    (ended, serde_json::from_slice(&report).unwrap())
}

/// How many orders the server has accepted.
fn orders(door: &mut Connection) -> String {
    let facts = words(&ask(door, "INFO"));
    let (_, orders) = facts.split_once("exchange_orders_total:").unwrap();
    orders.lines().next().unwrap().to_owned()
}

const SHORT: [&str; 4] = ["-d", "300ms", "--warm-up", "100ms"];

#[test]
fn traders_over_either_door_of_a_server_of_our_own_leave_every_cent_and_share() {
    for (door, pipeline) in [("resp", "16"), ("xml", "1"), ("xml", "16")] {
        let (ended, report) = exchange(&[&SHORT[..], &["--door", door, "-P", pipeline]].concat());
        // On a busy machine a run this short may be invalid, but never a violation.
        assert!(matches!(ended.code, Some(0 | 98)), "{ended:?}");
        assert!(ended.err.contains("a server of our own at 127.0.0.1:"));
        assert_eq!(report["asked"]["settings"]["door"], door);
        let found = [
            "1600000000 dollars put in, 1600000000 found",
            "in 16 accounts",
            "32000000 shares of 2 symbols put in, 32000000 found",
        ];
        for words in found {
            assert!(ended.out.contains(words), "{words}: {ended:?}");
        }
        assert_eq!(proof(&report)["outcome"], "holds", "{report}");
        let operations = &report["points"][0]["operations"];
        assert!(operations[0]["done"].as_u64().unwrap() > 0, "{report}");
    }
}

#[test]
fn traders_over_xml_are_proven_at_the_doors_that_are_named() {
    let directory = tempfile::tempdir().unwrap();
    let server = Server::dev(directory.path());
    let [resp, xml] = ["resp", "xml"].map(|name| server.door(name).unwrap().to_string());
    let named = ["--door", "xml", "--xml", &xml];
    let ways = [
        (&[][..], "this door tells no balance"),
        (&["--resp", &resp], "in 16 accounts"),
    ];
    for (more, by) in ways {
        let (ended, report) = exchange(&[&SHORT[..], &named, more].concat());
        assert!(matches!(ended.code, Some(0 | 98)), "{ended:?}");
        assert!(!ended.err.contains("a server of our own"), "{ended:?}");
        assert!(ended.out.contains(by), "{ended:?}");
        assert_ne!(proof(&report)["outcome"], "fails", "{report}");
    }
    server.stop();
}

#[test]
fn a_door_that_is_not_named_or_not_driven_is_a_usage_error() {
    let rows = [
        (&["--xml", "127.0.0.1:1"][..], "add --door xml"),
        (&["--door", "xml", "--resp", "127.0.0.1:1"], "add --xml"),
        (&["--symbols", "0"], "1..=1000"),
        (&["--one-shot", "5", "-P", "2"], "cannot be used with"),
    ];
    for (arguments, sentence) in rows {
        let ended = run(turnstile().args(["lab", "run", "exchange"]).args(arguments));
        assert_eq!((ended.code, &*ended.out), (Some(2), ""), "{ended:?}");
        assert!(ended.err.contains(sentence), "{ended:?}");
        assert!(!ended.err.contains("a server of our own"), "{ended:?}");
    }
}

#[test]
fn a_run_whose_server_is_gone_at_the_end_proves_nothing_and_says_so() {
    let directory = tempfile::tempdir().unwrap();
    let lost = "NOT PROVEN: the server could not be asked";
    for door in ["resp", "xml", "xml alone"] {
        let server = Server::dev(&directory.path().join(door));
        let [resp, xml] = ["resp", "xml"].map(|name| server.door(name).unwrap().to_string());
        let mut named = vec!["-d", "1s", "--warm-up", "0ms"];
        named.extend(match door {
            "resp" => vec!["--resp", &resp],
            "xml" => vec!["--door", "xml", "--xml", &xml, "--resp", &resp],
            _ => vec!["--door", "xml", "--xml", &xml],
        });
        let (ended, report) = thread::scope(|scope| {
            let driving = scope.spawn(|| exchange(&named));
            let mut door = server.connect();
            // Killed by dropping it, once the load is there.
            let before = orders(&mut door);
            while orders(&mut door) == before {}
            drop(server);
            driving.join().unwrap()
        });
        assert_eq!(ended.code, Some(98), "{door}: {ended:?}");
        assert!(ended.out.contains(lost), "{door}: {ended:?}");
        assert_eq!(report["verdict"], "invalid");
        let lost = report["points"][0]["connections_lost"].as_u64().unwrap();
        assert!(lost >= 4, "{report}");
        assert_eq!(proof(&report)["outcome"], "not_testable", "{report}");
    }
}

/// A run of the travel workload, and its `run.json`.
fn travel(arguments: &[&str]) -> (Ended, serde_json::Value) {
    let directory = tempfile::tempdir().unwrap();
    let json = directory.path().join("run.json");
    let mut command = turnstile();
    command
        .args(["lab", "run", "travel"])
        .args(arguments)
        .arg("-o");
    let ended = run(command.arg(directory.path()));
    let report = fs::read(&json).unwrap_or_else(|error| panic!("{error}: {ended:?}"));
    (ended, serde_json::from_slice(&report).unwrap())
}

#[test]
fn the_requests_of_a_journey_are_measured_on_a_server_of_our_own() {
    for (managers, rows, flights) in [(&[][..], 2, 100), (&["--managers", "several"], 1, 25)] {
        let (ended, report) = travel(&[&["-n", "25"], managers].concat());
        // On a busy machine a run this short may be invalid, but never a violation.
        assert!(matches!(ended.code, Some(0 | 98)), "{ended:?}");
        assert!(ended.err.contains("a server of our own at 127.0.0.1:"));
        assert_eq!(report["server"]["durability"], "sync");
        assert_eq!(report["points"].as_array().unwrap().len(), rows);
        let told = [
            "several managers  mean ms",
            "9.4250",
            &format!("flights {flights}"),
        ];
        for words in told {
            assert!(ended.out.contains(words), "{words}: {ended:?}");
        }
        assert_eq!(proof(&report)["outcome"], "holds", "{report}");
        assert!(ended.out.contains("published / ours"), "{ended:?}");
    }
}

#[test]
fn travel_in_five_processes_is_measured_and_proven() {
    let (ended, report) = travel(&["-n", "25", "--servers", "separate"]);
    // On a busy machine a run this short may be invalid, but never a violation.
    assert!(matches!(ended.code, Some(0 | 98)), "{ended:?}");
    assert!(ended.err.contains("five processes of our own"), "{ended:?}");
    let sold = "cars 25, customers 150, flights 100, rooms 25";
    assert!(ended.out.contains(sold), "{ended:?}");
    assert_eq!(proof(&report)["outcome"], "holds", "{report}");
    assert!(ended.out.contains("in processes of their own"), "{ended:?}");
}

#[test]
fn several_clients_at_rates_are_proven_at_the_door_that_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let server = Server::dev(directory.path());
    let [resp, travel_door] = ["resp", "travel"].map(|name| server.door(name).unwrap().to_string());
    let named = ["--travel", &travel_door, "--resp", &resp];
    let short = ["--experiment", "rate", "-d", "300ms", "--warm-up", "50ms"];
    let points = ["-c", "1,3", "-r", "50,max"];
    let (ended, report) = travel(&[&named[..], &short, &points].concat());
    // On a busy machine a run this short may be invalid, but never a violation.
    assert!(matches!(ended.code, Some(0 | 98)), "{ended:?}");
    assert!(!ended.err.contains("a server of our own"), "{ended:?}");
    let points = report["points"].as_array().unwrap();
    let loads: Vec<&serde_json::Value> =
        points.iter().map(|point| &point["load"]["loop"]).collect();
    assert_eq!(loads, ["open", "closed", "open", "closed"]);
    assert_eq!(points[0]["load"]["rate"], 50.0);
    assert!(ended.out.contains("clients keep apart"), "{ended:?}");
    assert_eq!(proof(&report)["outcome"], "holds", "{report}");
    // A second run on the same server, in which all want the same.
    let crowd = ["-c", "6", "-r", "max", "--zipf", "5"];
    let (ended, report) = travel(&[&named[..2], &short, &crowd].concat());
    assert!(matches!(ended.code, Some(0 | 98)), "{ended:?}");
    let aborted = &report["points"][0]["wholes"][0]["refused"];
    assert!(aborted["deadlock"].as_u64().unwrap() > 0, "{report}");
    assert!(ended.out.contains("journeys by Zipf 5"), "{ended:?}");
    assert_eq!(report["server"], serde_json::Value::Null);
    assert_eq!(proof(&report)["outcome"], "holds", "{report}");
    server.stop();
}

#[test]
fn travel_that_cannot_be_measured_so_is_a_usage_error() {
    let rows = [
        (&["--resp", "127.0.0.1:1"][..], "--travel"),
        (
            &["--servers", "separate", "--travel", "127.0.0.1:1"],
            "cannot be used with",
        ),
        (
            &["--experiment", "ops", "--zipf", "1"],
            "--zipf is about several clients",
        ),
        (
            &["--experiment", "ops", "-c", "8"],
            "-c is about several clients",
        ),
        (&["-c", "8", "-n", "5"], "-n counts the transactions"),
        (&["--zipf", "eleven"], "is no exponent from 0 to 10"),
        (&["-r", "0"], "is no rate"),
        (&["-c", "0"], "non-zero"),
        (&["-n", "0"], "1..=10000000"),
    ];
    for (arguments, sentence) in rows {
        let ended = run(turnstile().args(["lab", "run", "travel"]).args(arguments));
        assert_eq!((ended.code, &*ended.out), (Some(2), ""), "{ended:?}");
        assert!(ended.err.contains(sentence), "{sentence}: {ended:?}");
        assert!(!ended.err.contains("a server of our own"), "{ended:?}");
    }
}

/// A short command of the lab, and its `run.json`.
pub(crate) fn lab(arguments: &[&str]) -> (Ended, serde_json::Value) {
    let directory = tempfile::tempdir().unwrap();
    let short = ["-d", "200ms", "--warm-up", "50ms", "-o"];
    let mut command = turnstile();
    command.arg("lab").args(arguments).args(short);
    let ended = run(command.arg(directory.path()));
    let kept = fs::read(directory.path().join("run.json"));
    let kept = kept.unwrap_or_else(|error| panic!("{error}: {ended:?}"));
    (ended, serde_json::from_slice(&kept).unwrap())
}

#[test]
fn a_run_at_a_rate_is_kept_with_what_was_asked_and_held_against_objectives() {
    let (ended, kept) = lab(&[
        "run",
        "rooms",
        "-r",
        "500",
        "--arrivals",
        "fixed",
        "-c",
        "8",
        "--slo",
        "errors<100%,rate>1000000",
    ]);
    assert_eq!(kept["schema"], 2);
    assert_eq!(kept["asked"]["settings"]["mix"], "book=70,cancel=30");
    let point = &kept["points"][0];
    assert_eq!(point["load"]["loop"], "open");
    assert_eq!(point["planned"], 100);
    assert_eq!(point["proof"][0]["outcome"], "holds");
    assert_eq!(point["resources"]["processes"][0]["role"], "server");
    assert!(
        ended.out.contains("objective rate>1000000: MISSED"),
        "{ended:?}"
    );
    // On a busy machine the generator may have come late, which is worse.
    assert!(matches!(ended.code, Some(98 | 99)), "{ended:?}");
}

#[test]
fn a_sweep_climbs_until_more_users_are_not_allowed() {
    let users = |kept: &serde_json::Value| -> Vec<u64> {
        let points = kept["points"].as_array().unwrap().iter();
        points
            .map(|point| point["load"]["users"].as_u64().unwrap())
            .collect()
    };
    let (ended, kept) = lab(&["sweep", "rooms", "-c", "1..2"]);
    assert!(matches!(ended.code, Some(0 | 98)), "{ended:?}");
    let curve = &kept["sweep"]["curves"][0];
    assert_eq!(curve["points"], serde_json::json!([0, 1]));
    // Whether two surely bring no more than one is a matter of the machine.
    assert!(curve["stopped"].is_string(), "{curve}");
    assert_eq!(users(&kept), [1, 2]);
    let (ended, kept) = lab(&["sweep", "rooms", "-c", "2..2"]);
    assert!(matches!(ended.code, Some(0 | 98)), "{ended:?}");
    let stopped = &kept["sweep"]["curves"][0]["stopped"];
    assert_eq!(stopped, "more users were not allowed");
    assert_eq!(users(&kept), [2]);
}

#[test]
fn travel_and_games_are_swept_like_rooms() {
    // Players come in pairs: a point counts pairs, and an odd number has none.
    for (service, users, expected) in [("travel", "1..2", [1, 2]), ("games", "1..5", [1, 2])] {
        let (ended, kept) = lab(&["sweep", service, "-c", users]);
        assert!(matches!(ended.code, Some(0 | 98)), "{ended:?}");
        assert_eq!(kept["asked"]["workload"], service);
        let points = kept["points"].as_array().unwrap();
        for (point, expected) in points.iter().zip(expected) {
            assert_eq!(point["load"]["users"], expected, "{ended:?}");
            assert_eq!(point["proof"][0]["outcome"], "holds", "{ended:?}");
        }
        assert_eq!(points.len(), expected.len());
    }
    let (_, kept) = lab(&["sweep", "travel", "-c", "2", "-r", "20..20"]);
    assert_eq!(kept["points"][0]["load"]["rate"], 20.0);
    assert_eq!(kept["server"]["durability"], "sync");
}

#[test]
fn each_service_is_measured_by_every_command_at_the_door_that_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let server = Server::dev(directory.path());
    let [resp, travel, arena] =
        ["resp", "travel", "games-arena"].map(|name| server.door(name).unwrap().to_string());
    let rows: [(&[&str], &[&str]); 5] = [
        (&["bottleneck", "travel", "-c", "2"], &["--travel", &travel]),
        (
            &["bottleneck", "games", "-c", "3"],
            &["--games-arena", &arena],
        ),
        (&["bottleneck", "games", "-c", "2"], &["--resp", &resp]),
        (
            &["capacity", "games", "-c", "2", "--slo", "p99.999<1s"],
            &["--games-arena", &arena],
        ),
        (
            &["compare", &travel, &travel, "travel", "-c", "2"],
            &["--pairs", "2"],
        ),
    ];
    for (command, named) in rows {
        let (ended, kept) = lab(&[command, named].concat());
        assert!(matches!(ended.code, Some(0 | 96 | 98)), "{ended:?}");
        assert!(!ended.err.contains("a server of our own"), "{ended:?}");
        let points = kept["points"].as_array().unwrap();
        assert!(!points.is_empty(), "{ended:?}");
        for point in points {
            assert_eq!(point["proof"][0]["outcome"], "holds", "{command:?}");
        }
    }
    server.stop();
}

#[test]
fn clients_of_travel_are_measured_as_they_are_asked_for() {
    let short = ["-d", "200ms", "--warm-up", "50ms"];
    let (ended, report) = travel(&[&["-c", "3"], &short[..]].concat());
    assert!(matches!(ended.code, Some(0 | 98)), "{ended:?}");
    let points = report["points"].as_array().unwrap();
    assert_eq!(points.len(), 1, "{report}");
    let load = &points[0]["load"];
    assert_eq!(
        (&load["loop"], &load["users"]),
        (&"closed".into(), &3.into())
    );
}

#[test]
fn two_kept_runs_of_one_point_are_compared_by_their_intervals() {
    let directory = tempfile::tempdir().unwrap();
    let (ended, mut kept) = lab(&["run", "rooms", "-c", "2"]);
    assert!(matches!(ended.code, Some(0 | 98)), "{ended:?}");
    kept["points"][0]["verdict"] = "fine".into();
    kept["points"][0]["validity"] = serde_json::json!([]);
    let path = |name: &str, rate: f64, interval: bool| {
        let mut kept = kept.clone();
        let point = &mut kept["points"][0];
        point["throughput"] = rate.into();
        point["throughput_interval"] = if interval {
            serde_json::json!({"low": 0.99 * rate, "estimate": rate, "high": 1.01 * rate})
        } else {
            serde_json::Value::Null
        };
        let path = directory.path().join(name).with_extension("json");
        fs::write(&path, kept.to_string()).unwrap();
        path.display().to_string()
    };
    let [slow, fast, vague] = [
        path("slow", 1_000.0, true),
        path("fast", 1_200.0, true),
        path("vague", 1_200.0, false),
    ];
    let compare = |other: &str| {
        let folder = directory.path().join("compared");
        let mut command = turnstile();
        command.args(["lab", "compare", &slow, other, "-o"]);
        let ended = run(command.arg(&folder));
        let kept = fs::read(folder.join("run.json")).unwrap();
        (
            ended,
            serde_json::from_slice::<serde_json::Value>(&kept).unwrap(),
        )
    };
    let (ended, found) = compare(&fast);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.out.contains("one run each"), "{ended:?}");
    let metric = &found["comparison"]["metrics"][0];
    assert_eq!(
        (&metric["name"], &metric["verdict"]),
        (&"throughput".into(), &"higher".into())
    );
    let (ended, _) = compare(&vague);
    assert_eq!(ended.code, Some(98), "{ended:?}");
    assert!(ended.out.contains("no interval"), "{ended:?}");
}

/// Whatever had the same load was compared, and of two lengths the shorter.
#[test]
fn kept_runs_are_compared_when_they_measured_the_same() {
    let directory = tempfile::tempdir().unwrap();
    let (ended, kept) = lab(&["run", "rooms", "-c", "2"]);
    assert!(matches!(ended.code, Some(0 | 98)), "{ended:?}");
    let compare = |change: fn(&mut serde_json::Value)| {
        let mut changed = kept.clone();
        change(&mut changed);
        let paths = [("a.json", &kept), ("b.json", &changed)].map(|(name, kept)| {
            let path = directory.path().join(name);
            fs::write(&path, kept.to_string()).unwrap();
            path
        });
        let mut command = turnstile();
        command.args(["lab", "compare"]).args(paths).arg("-o");
        run(command.arg(directory.path().join("compared")))
    };
    let same = compare(|_| {});
    assert!(!same.err.contains("part of the difference"), "{same:?}");
    let other = compare(|kept| kept["asked"]["workload"] = "exchange".into());
    assert_eq!(other.code, Some(2), "{other:?}");
    let told = "a run of rooms cannot be compared with a run of exchange";
    assert!(other.err.contains(told), "{other:?}");
    let longer = compare(|kept| {
        let points = kept["points"].as_array_mut().unwrap();
        points.push(points[0].clone());
    });
    assert_eq!(longer.code, Some(2), "{longer:?}");
    assert!(
        longer.err.contains("a has 1 points and b has 2"),
        "{longer:?}"
    );
    let differing = compare(|kept| {
        kept["asked"]["settings"]["mix"] = "book=1".into();
        kept["server"]["durability"] = "os".into();
        kept["server"]["back_end"] = "Redis".into();
    });
    for told in [
        "durability is sync in a and os in b: part of the difference",
        "back end is embedded in a and Redis in b: part of the difference",
        "mix is ",
    ] {
        assert!(differing.err.contains(told), "{told}: {differing:?}");
    }
}

#[test]
fn a_capacity_that_cannot_be_told_from_so_few_samples_says_so() {
    let (ended, kept) = lab(&["capacity", "rooms", "--slo", "p99.999<1s", "-c", "2"]);
    assert_eq!(ended.code, Some(96), "{ended:?}");
    let stopped = kept["capacity"]["stopped"].as_str().unwrap();
    assert!(stopped.contains("let points take longer"), "{stopped}");
}

#[test]
fn two_programs_are_compared_in_pairs_and_kept_runs_too() {
    let program = env!("CARGO_BIN_EXE_turnstile");
    let pairs = [
        "compare", program, program, "rooms", "-c", "2", "--pairs", "2",
    ];
    let (ended, kept) = lab(&pairs);
    assert!(matches!(ended.code, Some(0 | 98)), "{ended:?}");
    assert_eq!(kept["comparison"]["interleaved"], true);
    assert_eq!(kept["comparison"]["pairs"].as_array().unwrap().len(), 2);
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("run.json");
    fs::write(&path, kept.to_string()).unwrap();
    let path = path.display().to_string();
    let (ended, again) = lab(&["compare", &path, &path, "rooms"]);
    assert!(ended.out.contains("NOT interleaved"), "{ended:?}");
    assert_eq!(again["comparison"]["interleaved"], false);
}

#[test]
fn any_server_can_be_driven_by_a_command_or_a_page() {
    let directory = tempfile::tempdir().unwrap();
    let server = Server::dev(directory.path());
    let [resp, http] = ["resp", "http"].map(|name| server.door(name).unwrap().to_string());
    let page = format!("{http}/metrics?n=__n__");
    let rows = [
        (
            vec!["run".to_owned(), format!("resp://{resp}")],
            Some(["ECHO", "234123412346"]),
            "resp",
        ),
        (
            vec!["run".to_owned(), format!("http://{page}")],
            None,
            "http",
        ),
    ];
    for (words, command, workload) in rows {
        let directory = tempfile::tempdir().unwrap();
        let mut lab = turnstile();
        lab.arg("lab")
            .args(words)
            .args(["-c", "4", "-d", "200ms", "--warm-up", "0s", "-o"]);
        lab.arg(directory.path());
        if let Some(command) = command {
            lab.arg("--").args(command);
        }
        let ended = run(&mut lab);
        assert!(matches!(ended.code, Some(0 | 98)), "{ended:?}");
        let kept = fs::read_to_string(directory.path().join("run.json")).unwrap();
        assert!(!kept.contains("234123412346"), "an id number was kept");
        let kept: serde_json::Value = serde_json::from_str(&kept).unwrap();
        assert_eq!(kept["asked"]["workload"], workload);
        assert!(
            kept["points"][0]["operations"][0]["done"].as_u64().unwrap() > 0,
            "{kept}"
        );
    }
    server.stop();
}

#[test]
fn help_of_a_run_names_servers_of_others() {
    let ended = run(turnstile().args(["lab", "run", "--help"]));
    assert_eq!(ended.code, Some(0), "{ended:?}");
    for scheme in ["http://", "https://", "resp://", "rediss://"] {
        assert!(ended.out.contains(scheme), "{scheme}: {ended:?}");
    }
}

#[test]
fn the_operations_are_shown_where_requests_failed() {
    let directory = tempfile::tempdir().unwrap();
    let server = Server::dev(directory.path());
    let page = format!("http://{}/nothing", server.door("http").unwrap());
    let (ended, _) = lab(&["run", &page, "-c", "2"]);
    assert_eq!(ended.code, Some(98), "{ended:?}");
    assert!(ended.out.contains("no answer"), "{ended:?}");
    assert!(ended.out.contains("error 404"), "{ended:?}");
    server.stop();
}

#[test]
fn what_cannot_be_driven_or_compared_is_a_usage_error() {
    let rows: [(&[&str], &str); 15] = [
        (
            &["run", "chess"],
            "write rooms, exchange, travel, games, seats",
        ),
        (&["run", "roms"], "did you mean `rooms`?"),
        (
            &["run", "http://127.0.0.1:1", "--insecure"],
            "is about https://",
        ),
        (
            &["check", "chess"],
            "write rooms, exchange, travel, games, seats",
        ),
        (
            &["sweep", "travel", "--resp", "127.0.0.1:1"],
            "travel is not driven at that door",
        ),
        (&["sweep", "games", "-c", "1..1"], "users come 2 at a time"),
        (
            &["compare", "127.0.0.1:1", "127.0.0.1:2"],
            "which workload?",
        ),
        (
            &["run", "rooms", "-d", "0s"],
            "window is longer than nothing",
        ),
        (
            &["rush", "--rooms", "1001", "--clients", "1"],
            "1 to 1,000 rooms",
        ),
        (
            &["run", "resp://127.0.0.1:1"],
            "only resp:// takes a command",
        ),
        (
            &["run", "rooms", "-r", "5", "--think", "1s"],
            "are about users",
        ),
        (&["sweep", "rooms", "-c", "4..1"], "invalid range"),
        (
            &["sweep", "http://127.0.0.1:1/", "--cores", "1"],
            "a server that the lab starts",
        ),
        (&["capacity", "rooms", "--slo", "fast"], "is no objective"),
        (&["compare", "nothing", "nowhere", "rooms"], "is no program"),
    ];
    for (arguments, sentence) in rows {
        let ended = run(turnstile().arg("lab").args(arguments));
        assert_eq!((ended.code, &*ended.out), (Some(2), ""), "{ended:?}");
        assert!(ended.err.contains(sentence), "{sentence}: {ended:?}");
    }
}

#[test]
fn a_server_that_is_not_there_is_named() {
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = nobody.local_addr().unwrap().to_string();
    drop(nobody);
    let ended = run(turnstile().args(["lab", "run", "rooms", "--resp", &address]));
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let sentence = format!("no server answers at {address}: Connection refused");
    assert!(ended.err.contains(&sentence), "{ended:?}");
}

#[test]
fn completions_are_written_for_each_shell() {
    for (shell, word) in [
        ("bash", "complete -F"),
        ("zsh", "#compdef turnstile"),
        ("fish", "complete -c turnstile"),
    ] {
        let ended = run(turnstile().args(["completions", shell]));
        assert_eq!(ended.code, Some(0), "{ended:?}");
        assert!(ended.out.contains(word), "{shell}: {}", ended.out);
    }
}

#[test]
fn players_come_in_pairs_to_an_arena_that_is_there() {
    let games = |arguments: &[&str]| {
        let mut command = turnstile();
        command.args(["lab", "run", "games", "--games-arena", "127.0.0.1:1"]);
        run(command.args(arguments))
    };
    let rows: [(&[&str], i32, &str); 7] = [
        (
            &["--door", "resp"],
            2,
            "--games-arena goes with --door wire",
        ),
        (&["-i", "1", "-d", "1s"], 2, "cannot be used with"),
        (&["-r", "5", "--think", "1s"], 2, "are about users"),
        (&["-c", "2,3"], 2, "there are 2 to 50,000 players, in pairs"),
        (
            &["--first-player", "4294967295"],
            2,
            "a player's number is below 2^32",
        ),
        (
            &["-c", "2", "-i", "1", "--nagle"],
            1,
            "user 0 cannot connect",
        ),
        (&["-i", "0"], 2, "number would be zero"),
    ];
    for (arguments, code, message) in rows {
        let ended = games(arguments);
        assert_eq!(ended.code, Some(code), "{ended:?}");
        assert!(ended.err.contains(message), "{ended:?}");
    }
    let mut alone = turnstile();
    let ended = run(alone.args(["lab", "run", "games", "-c", "4", "-i", "5"]));
    assert!(matches!(ended.code, Some(0 | 98)), "{ended:?}");
    assert!(
        ended.err.contains("measuring a server of our own at"),
        "{ended:?}"
    );
    assert!(
        ended.out.contains("10 games; the statistics say"),
        "{ended:?}"
    );
}
