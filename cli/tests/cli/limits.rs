//! What limits a server, and loads along what it may use.

use std::{fs, thread};

use serde_json::Value;

use crate::{
    lab::lab,
    process::{run, turnstile},
};

/// Whether this system lets us make a control group of processors with a quota.
fn may_make_groups() -> bool {
    let folder = format!("/sys/fs/cgroup/cpu/turnstile-test-{}", std::process::id());
    let made = fs::create_dir(&folder).is_ok();
    let has_quota = fs::exists(format!("{folder}/cpu.cfs_quota_us")).unwrap_or(false);
    made && fs::remove_dir(&folder).is_ok() && has_quota
}

#[test]
fn a_sweep_of_rates_and_quotas_has_a_curve_for_each_quota_or_says_why_not() {
    let (ended, kept) = lab(&["sweep", "rooms", "-c", "4", "-r", "50..100"]);
    assert!(matches!(ended.code, Some(0 | 98)), "{ended:?}");
    assert_eq!(kept["sweep"]["axis"], "rate");
    assert_eq!(kept["points"][1]["load"]["rate"], 100.0);
    assert_eq!(kept["points"][1]["load"]["connections"], 4);
    let directory = tempfile::tempdir().unwrap();
    let words = [
        "lab",
        "sweep",
        "rooms",
        "-c",
        "1..2",
        "--cpu-quota",
        "0.5,1000",
    ];
    let short = ["-d", "200ms", "--warm-up", "50ms", "-o"];
    let ended = run(turnstile().args(words).args(short).arg(directory.path()));
    if ended.code == Some(2) && !may_make_groups() {
        let refusal = "no quota of 0.5 processors can be set";
        assert!(ended.err.contains(refusal), "{ended:?}");
        return;
    }
    let skipped = "a quota of 1000 processors is skipped";
    assert!(ended.err.contains(skipped), "{ended:?}");
    let kept = fs::read(directory.path().join("run.json")).unwrap();
    let kept: Value = serde_json::from_slice(&kept).unwrap();
    let curves = kept["sweep"]["curves"].as_array().unwrap();
    let quotas: Vec<_> = curves.iter().map(|curve| curve["quota"].as_f64()).collect();
    assert_eq!(quotas, [Some(0.5)]);
    assert_eq!(kept["points"][0]["quota"], 0.5);
    let stations = kept["points"][0]["resources"]["stations"]
        .as_array()
        .unwrap();
    let cpu = stations.iter().find(|one| one["resource"] == "server cpu");
    assert_eq!(cpu.unwrap()["servers"], 0.5);
}

/// What all groups of a kernel of version one have for threads with a real-time priority is bounded.
#[test]
fn several_servers_have_a_quota_at_a_time() {
    if !may_make_groups() {
        return;
    }
    let sweep = || {
        let words = "sweep rooms -c 1..2 --cpu-quota 0.5";
        lab(&words.split(' ').collect::<Vec<_>>()).0
    };
    thread::scope(|scope| {
        let sweeps = [(); 3].map(|()| scope.spawn(sweep));
        for ended in sweeps.map(|one| one.join().unwrap()) {
            assert!(matches!(ended.code, Some(0 | 96 | 98)), "{ended:?}");
        }
    });
}

/// The least time that the deciding thread must be seen to spend on a request, so that the lab slows
/// it down.
const BUSY_NS_MIN: f64 = 4.0;

/// How often a run is made until the lab trusts its figures.
const RUNS_MAX: usize = 3;

#[test]
fn a_bottleneck_has_a_name_and_a_reason_and_is_confirmed_by_changes() {
    let look = || {
        lab(&[
            "bottleneck",
            "rooms",
            "-c",
            "8",
            "--confirm",
            "--pairs",
            "2",
        ])
    };
    let (mut ended, mut kept) = look();
    // The lab refuses the figures of a run that others have spoilt: on a busy machine it is made again.
    for _ in 1..RUNS_MAX {
        if ended.code != Some(98) {
            break;
        }
        (ended, kept) = look();
    }
    assert!(matches!(ended.code, Some(0 | 96 | 98)), "{ended:?}");
    let found = &kept["bottleneck"];
    assert_eq!(found["users"], 8);
    let named = found["named"].as_str().unwrap();
    let points = kept["points"].as_array().unwrap();
    let is_valid = |place: usize| points[place]["verdict"] != "invalid";
    // A busy machine may spoil the point with all users; then no part of the server is named.
    let is_spoilt = ["nothing", "neighbours", "generator thread"].contains(&named);
    assert!(is_spoilt || is_valid(3), "{found}");
    assert_eq!(ended.code == Some(98), is_spoilt, "{ended:?}");
    let told = match named {
        "nothing" => "no bottleneck is named at 8 users: ".to_owned(),
        _ if is_spoilt => {
            format!("no bottleneck of the server is named at 8 users, for what limits is {named}")
        }
        _ => format!(
            "bottleneck at 8 users: {named}, P = {:.2}",
            found["probability"].as_f64().unwrap()
        ),
    };
    assert!(ended.out.contains(&told), "{told}: {ended:?}");
    let suspects = found["suspects"].as_array().unwrap();
    let names: Vec<&str> = suspects
        .iter()
        .filter_map(|one| one["resource"].as_str())
        .collect();
    for name in ["server cpu", "server thread", "generator thread", "log"] {
        assert!(names.contains(&name), "{name}: {names:?}");
    }
    let stages = found["stages"].as_array().unwrap();
    let standing: f64 = stages
        .iter()
        .filter_map(|stage| stage["users"].as_f64())
        .sum();
    assert!((standing - 8.0).abs() < 1.0, "{stages:?}");
    check_changes(found, points);
}

/// That each change is told if both of its pairs are valid.
fn check_changes(found: &Value, points: &[Value]) {
    // A thread that was not seen to do anything cannot be made slower by a part of that.
    let mut suspects = found["suspects"].as_array().unwrap().iter();
    let thread = suspects.find(|one| one["resource"] == "server thread");
    let busy_ns = thread.and_then(|thread| thread["busy_ns"]["estimate"].as_f64());
    let is_thread_seen = busy_ns.is_some_and(|busy| busy >= BUSY_NS_MIN);
    let is_valid = |place: usize| points[place]["verdict"] != "invalid";
    // Without any valid pair of points, which a busy machine may bring, there are no changes.
    let changes = found["changes"].as_array().map_or(&[][..], Vec::as_slice);
    for (begin, resource, factors) in [
        ("16 users instead of 8", "users", 2.0..=2.0),
        ("no sync of the journal (--durability os)", "log", 0.0..=0.0),
        ("each sync of the journal slower by ", "log", 0.01..=0.99),
        (
            "each command slower to decide by ",
            "server thread",
            0.01..=0.99,
        ),
    ] {
        // Each behind its pair without the change; fewer than two valid pairs say nothing.
        let is_of = |place: &usize| {
            points[*place]["series"]
                .as_str()
                .unwrap()
                .starts_with(begin)
        };
        let with: Vec<usize> = (0..points.len()).filter(is_of).collect();
        let is_made = resource != "server thread" || is_thread_seen;
        let pairs = if is_made { 2 } else { 0 };
        assert_eq!(with.len(), pairs, "{begin}: {busy_ns:?}, {points:?}");
        if !is_made {
            continue;
        }
        let is_told = with
            .iter()
            .all(|&with| is_valid(with - 1) && is_valid(with));
        let mut those = changes.iter();
        let begins = |one: &&Value| one["changed"].as_str().unwrap().starts_with(begin);
        let change = those.find(begins);
        assert_eq!(change.is_some(), is_told, "{begin}: {changes:?}");
        let Some(change) = change else { continue };
        assert_eq!(change["pairs"].as_array().unwrap().len(), 2, "{change}");
        assert_eq!(change["resources"][0], resource, "{change}");
        let factor = change["factor"].as_f64();
        assert!(factors.contains(&factor.unwrap_or(0.0)), "{change}");
        assert_eq!(change["elasticity"].is_object(), factor.is_some());
    }
}

#[test]
fn a_bottleneck_of_nobody_who_waits_is_a_usage_error() {
    let ended = run(turnstile().args(["lab", "bottleneck", "rooms", "-c", "1"]));
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.err.contains("makes nothing queue"), "{ended:?}");
}
