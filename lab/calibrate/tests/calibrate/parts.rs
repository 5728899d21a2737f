//! Every part of a calibration, short: it measures what it says, whatever the machine does.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use turnstile_calibrate::{
    Calibration, CalibrationNews, CalibrationSetting, Part, Verdict, calibrate, contest::Rival,
};
use turnstile_load::pace::Wait;

/// Held by the calibration that runs: another would disturb it, and a crowd takes every file that the
/// system allows this process.
static CALIBRATED: Mutex<()> = Mutex::new(());

/// These parts, for a moment each; and what was told on the way.
fn run(parts: &[Part]) -> (Calibration, Vec<String>) {
    let _alone = CALIBRATED.lock().unwrap_or_else(PoisonError::into_inner);
    let setting = CalibrationSetting {
        warm_up: Duration::from_millis(200),
        repeats: 1,
        ..CalibrationSetting::here(Duration::from_millis(600), 1, Wait::Asleep)
    };
    let mut told = Vec::new();
    let found = calibrate(&setting, parts, &mut |news| {
        if let CalibrationNews::Next(next) = news {
            told.push(next.to_owned());
        }
    });
    (found.unwrap(), told)
}

#[test]
fn every_server_of_known_delays_answers_all_that_was_due() {
    let (found, told) = run(&[Part::Accuracy]);
    let names: Vec<&str> = found.trials.iter().map(|trial| &*trial.name).collect();
    assert_eq!(
        names,
        [
            "fixed",
            "exponential",
            "bimodal",
            "freeze",
            "slow 1 %",
            "M/D/1"
        ]
    );
    assert_eq!(told.len(), 6);
    for trial in &found.trials {
        assert_eq!(trial.dropped, 0, "{trial:?}");
        // 600 samples support no more than p95.
        let quantiles: Vec<f64> = trial.rows.iter().map(|row| row.quantile).collect();
        let freeze_at_the_start = trial.name == "freeze" && trial.requests < 200;
        assert!(
            freeze_at_the_start || quantiles == [0.5, 0.9, 0.95],
            "{trial:?}"
        );
    }
    assert_eq!((found.claims.len(), found.points.len()), (6, 6));
    let shown = found.to_string();
    assert!(
        shown.contains("| accuracy: M/D/1 | p50 .. p99.9 within 1 % or 50.0us |"),
        "{shown}"
    );
}

#[test]
fn lag_crowd_and_memory_are_claims_with_their_figures() {
    let (found, _) = run(&[Part::Lag, Part::Crowd, Part::Memory]);
    let lag = &found.lags[0];
    assert!(lag.lag.count > 400 && lag.lag.at(0.9).is_some(), "{lag:?}");
    let crowd = found.crowd.as_ref().unwrap();
    assert!(crowd.users > 100 && crowd.lost == 0, "{crowd:?}");
    assert_eq!(crowd.verdict == Verdict::NotMeasured, crowd.users < 10_000);
    let memory = found.memory.as_ref().unwrap();
    assert!(
        memory.first_bytes > 1_000_000 || memory.verdict == Verdict::NotMeasured,
        "{memory:?}"
    );
    let names: Vec<&str> = found.claims.iter().map(|claim| &*claim.name).collect();
    assert!(
        names.contains(&"lag") && names.ends_with(&["crowd", "memory"]),
        "{names:?}"
    );
}

#[test]
fn a_rival_drives_the_same_server_in_pairs() {
    let (found, told) = run(&[Part::Versus(Rival::RedisBenchmark)]);
    assert_eq!(
        told,
        [
            "versus redis-benchmark, 50 connections",
            "versus redis-benchmark, 50 connections x 16"
        ]
    );
    for contest in &found.contests {
        assert_eq!(contest.pairs.len(), 6);
        let ours = contest.pairs.iter().map(|pair| pair.1);
        assert!(ours.clone().all(|ours| ours > 0.0), "{contest:?}");
        let ratio = contest.ratio.unwrap();
        assert_eq!(
            contest.verdict == Verdict::Met,
            ratio.estimate <= contest.of.bound
        );
    }
}
