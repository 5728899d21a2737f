//! What limits a server, and loads along what it may use.

use std::{fs, thread};

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
    let kept: serde_json::Value = serde_json::from_slice(&kept).unwrap();
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

#[test]
fn a_bottleneck_has_a_name_and_a_reason_and_is_confirmed_by_changes() {
    let (ended, kept) = lab(&[
        "bottleneck",
        "rooms",
        "-c",
        "8",
        "--confirm",
        "--pairs",
        "2",
    ]);
    assert!(matches!(ended.code, Some(0 | 96 | 98)), "{ended:?}");
    let found = &kept["bottleneck"];
    assert_eq!(found["users"], 8);
    let named = found["named"].as_str().unwrap();
    assert!(
        ended
            .out
            .contains(&format!("bottleneck at 8 users: {named}")),
        "{ended:?}"
    );
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
    let changes = found["changes"].as_array().unwrap();
    let changed = |what: &str| changes.iter().find(|one| one["changed"] == what);
    let twice = changed("16 users instead of 8").unwrap();
    assert_eq!(
        (&twice["factor"], twice["pairs"].as_array().unwrap().len()),
        (&serde_json::json!(2.0), 2)
    );
    assert!(
        changed("no sync of the journal (--durability os)").is_some(),
        "{changes:?}"
    );
    for (begin, resource) in [
        ("each sync of the journal slower by ", "log"),
        ("each command slower to decide by ", "server thread"),
    ] {
        let mut those = changes.iter();
        let begins = |one: &&serde_json::Value| one["changed"].as_str().unwrap().starts_with(begin);
        let slower = those.find(begins).unwrap_or_else(|| panic!("{changes:?}"));
        assert_eq!(slower["resources"][0], resource, "{slower}");
        let factor = slower["factor"].as_f64().unwrap();
        assert!(factor > 0.0 && factor < 1.0, "{slower}");
        assert!(slower["elasticity"]["estimate"].is_number(), "{slower}");
    }
}

#[test]
fn a_bottleneck_of_nobody_who_waits_is_a_usage_error() {
    let ended = run(turnstile().args(["lab", "bottleneck", "rooms", "-c", "1"]));
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.err.contains("makes nothing queue"), "{ended:?}");
}
