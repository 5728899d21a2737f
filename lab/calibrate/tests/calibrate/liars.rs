//! A lie is found out, whoever tells it, and noise is told apart from lies.
//!
//! The runs are real; what they are held against is not always what they were. No figure of a run is
//! judged here, for the machine may be busy: only what must differ, whatever the machine does.

use std::time::Duration;

use turnstile_calibrate::{
    CalibrationSetting, Verdict,
    accuracy::{Known, NANOS, SHARE, Said, Trial, judge, observe},
    delay::{Delay, DelayedLoad},
    server::Served,
};
use turnstile_load::pace::{self, Length, Pace, Profile, Rhythm, Wait};
use turnstile_result::Distribution;
use turnstile_stats::Histogram;

const MS: u64 = 1_000_000;

const TENTH: DelayedLoad = DelayedLoad {
    name: "tenth",
    told: "100 ms each",
    delay: Delay::Fixed(100 * MS),
    rate: 1_000.0,
    arrivals: pace::Law::Fixed,
};

fn pace() -> Pace {
    Pace {
        rhythm: Rhythm::Open {
            law: TENTH.arrivals.clone(),
            rate: Profile::constant(TENTH.rate),
        },
        length: Length::Fixed {
            warm_up: Duration::ZERO,
            duration: Duration::from_secs(20),
        },
        ..Pace::closed(
            std::net::SocketAddr::from(([127, 0, 0, 1], 1)),
            Duration::ZERO,
            Duration::from_secs(20),
        )
    }
}

/// What a server wrote down that answered each request so long after it was due.
fn record(late: impl Fn(u64) -> u64) -> Vec<Served> {
    let served = |number| {
        let came = number * MS;
        Served {
            number,
            looked: came,
            came,
            due: came + 100 * MS,
            left: came + late(number),
        }
    };
    (0..20_000).map(served).collect()
}

/// The distribution of these responses.
fn said(late: impl Fn(u64) -> u64) -> Distribution {
    let mut histogram = Histogram::new();
    (0..19_900).for_each(|number| histogram.record(late(number)));
    Distribution::of(&histogram)
}

fn trial(
    recorded: impl Fn(u64) -> u64,
    measured: impl Fn(u64) -> u64,
    answered: u64,
    delay: f64,
) -> Trial {
    let known = Known::new(&TENTH, &pace(), 0, &record(recorded), None);
    let response = said(measured);
    let said = Said {
        response: &response,
        answered,
        run_delay: Some(delay),
    };
    judge(&TENTH, &known, &said)
}

#[test]
fn whoever_is_off_is_named() {
    let tenth = |_| 100 * MS;
    let later = |_| 105 * MS;
    // One in fifty: p99 and above.
    let sometimes = |number: u64| {
        if number.is_multiple_of(50) {
            300 * MS
        } else {
            100 * MS
        }
    };
    let rows = [
        ("all true", trial(tenth, tenth, 20_000, 0.0), Verdict::Met),
        (
            "a server 5 ms late",
            trial(later, later, 20_000, 0.0),
            Verdict::Noisy,
        ),
        (
            "a generator 5 ms off",
            trial(tenth, later, 20_000, 0.0),
            Verdict::Missed,
        ),
        (
            "a generator that leaves out the slow",
            trial(sometimes, tenth, 20_000, 0.0),
            Verdict::Missed,
        ),
        (
            "one that makes some slow",
            trial(tenth, sometimes, 20_000, 0.0),
            Verdict::Missed,
        ),
        (
            "the same, starved",
            trial(tenth, sometimes, 20_000, 0.1),
            Verdict::Noisy,
        ),
        (
            "a generator that drops",
            trial(tenth, tenth, 19_990, 0.0),
            Verdict::Missed,
        ),
    ];
    for (who, trial, verdict) in rows {
        assert_eq!(trial.verdict, verdict, "{who}: {trial:?}");
    }
    let dropped = trial(tenth, tenth, 19_990, 0.0);
    assert_eq!(dropped.found(), "10 requests were never answered");
    let off = trial(tenth, later, 20_000, 0.0);
    let told = off.found();
    assert!(
        told.starts_with("at most 5.0") && told.contains("+5.0"),
        "{told}"
    );
}

#[test]
fn a_machine_that_stood_still_once_does_not_decide_and_a_drop_always_does() {
    let run = |took: u64, answered| trial(|_| took * MS, |_| took * MS, answered, 0.0);
    let (good, stall, dropping) = (run(100, 20_000), run(105, 20_000), run(100, 19_990));
    let verdict = |trials: [&Trial; 3]| {
        let middle = Trial::middle(&trials.map(Trial::clone)).unwrap();
        assert_eq!(middle.runs, 3);
        assert_eq!(middle.rows.len(), good.rows.len());
        middle.verdict
    };
    assert_eq!(verdict([&stall, &good, &good]), Verdict::Met);
    assert_eq!(verdict([&stall, &good, &stall]), Verdict::Noisy);
    assert_eq!(verdict([&good, &dropping, &good]), Verdict::Missed);
    assert_eq!(Trial::middle(&[]), None);
}

/// Stands still for a third of each 600 ms.
const FREEZING: DelayedLoad = DelayedLoad {
    name: "freezing",
    told: "nothing in 200 ms of each 600 ms",
    delay: Delay::Freeze {
        every: 600 * MS,
        lasts: 200 * MS,
        usual: 2 * MS,
    },
    rate: 1_000.0,
    arrivals: pace::Law::Fixed,
};

#[test]
fn a_clock_that_starts_when_a_connection_is_free_is_found_out() {
    let setting = CalibrationSetting {
        warm_up: Duration::ZERO,
        ..CalibrationSetting::here(Duration::from_millis(1_800), 1, Wait::Asleep)
    };
    // While it stands still all four connections wait, and nobody else can ask.
    let (known, ran) = observe(&FREEZING, &setting, 4, &mut |_progress| {}).unwrap();
    let held = |response| {
        let said = Said {
            response,
            answered: ran.point.operations[0].done,
            run_delay: None,
        };
        judge(&FREEZING, &known, &said)
    };
    let (own, service) = (
        held(&ran.point.times.response),
        held(&ran.point.times.service),
    );
    assert!(!own.rows.is_empty(), "{own:?}");
    for row in &own.rows {
        let slack = NANOS.max(SHARE * row.recorded);
        assert!(
            row.measured >= row.recorded - slack,
            "before it left: {row:?}"
        );
    }
    assert_eq!(service.verdict, Verdict::Missed, "{service:?}");
    let worst = service.worst().unwrap();
    assert!(worst.measured < worst.recorded / 2.0, "{worst:?}");
}

#[test]
fn all_that_was_late_stood_somewhere_and_who_could_not_ask_is_the_generator() {
    // 5 ms each on one connection, asked for each millisecond: most wait for it to be free.
    let slow = DelayedLoad {
        delay: Delay::Fixed(5 * MS),
        ..TENTH
    };
    let setting = CalibrationSetting {
        warm_up: Duration::ZERO,
        ..CalibrationSetting::here(Duration::from_millis(600), 1, Wait::Asleep)
    };
    let (known, ran) = observe(&slow, &setting, 1, &mut |_progress| {}).unwrap();
    let (late, answered) = (known.late, ran.point.times.response.count);
    assert!(late.requests > answered / 2, "{late:?} of {answered}");
    assert_eq!(late.over_ns, late.stands.sum(), "{late:?}");
    assert!(late.stands.unasked > late.over_ns / 2, "{late:?}");
}
