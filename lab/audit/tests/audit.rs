//! Audits of tables whose truth is known, and of those that were published.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use turnstile_audit::{Audit, Law, Settings, Table, Weight, published};
use turnstile_stats::truth::{Network, QueueingStation};

const CLOSED: Settings = Settings {
    closed: true,
    think: 0.0,
    tolerance: 0.1,
};

fn audit(text: &str, settings: Settings) -> Audit {
    Audit::of(&Table::read(text).unwrap(), settings)
}

/// Two cores of 6 ms in all and a disk of 4 ms, with this time to think, as a table.
fn simulated(think: f64, timed_share: f64) -> String {
    let stations =
        [(0.006, 2), (0.004, 1)].map(|(demand, servers)| QueueingStation { demand, servers });
    let network = Network {
        stations: stations.into(),
        think,
    };
    let mut text = "users,throughput,response_s\n".to_owned();
    for point in network.up_to(60) {
        let response = point.response * timed_share;
        text += &format!("{},{},{response}\n", point.users, point.throughput);
    }
    text
}

#[test]
fn figures_of_a_system_of_known_truth_break_nothing() {
    for think in [0.0, 0.05] {
        let found = audit(&simulated(think, 1.0), Settings { think, ..CLOSED });
        assert_eq!(found.points().count(), 60);
        let findings: Vec<_> = found.points().flat_map(|point| &point.findings).collect();
        assert!(findings.is_empty(), "{findings:?}");
    }
}

#[test]
fn a_clock_that_misses_an_eighth_is_found_at_every_point() {
    let found = audit(&simulated(0.0, 0.875), CLOSED);
    assert_eq!((found.broken(), found.breaking(Law::Little)), (60, 60));
    // Whoever does not say that the loop is closed may have had users who thought.
    let open = Settings {
        closed: false,
        ..CLOSED
    };
    assert_eq!(audit(&simulated(0.0, 0.875), open).broken(), 0);
    // But more requests under way than users can never be.
    assert_eq!(
        audit(&simulated(0.0, 1.125), open).breaking(Law::Little),
        60
    );
}

/// The findings of the last point.
fn check(text: &str, expected: &[(Law, Weight, &str)]) {
    let found = audit(text, CLOSED);
    let last = found.points().last().unwrap();
    let told: Vec<(Law, Weight, &str)> = last
        .findings
        .iter()
        .map(|finding| (finding.law, finding.weight, finding.why.as_str()))
        .collect();
    assert_eq!(told, expected);
}

#[test]
fn each_law_names_what_it_finds_and_why() {
    check(
        "users,throughput,response_ms\n80,7718,2.019172\n",
        &[(
            Law::Little,
            Weight::Broken,
            "80 users at 7 718/s take 10.4ms each, 2.02ms is printed: 81 % of each user's time \
             was not timed",
        )],
    );
    check(
        "cpu_percent,cores\n181,2\n205,1\n",
        &[(Law::Utilization, Weight::Broken, "205 % of 1 is busy")],
    );
    check(
        "throughput,cpu_percent\n100,90\n200,40\n",
        &[(
            Law::Utilization,
            Weight::Odd,
            "it does more than the point before and is busy 40 % instead of 90 %",
        )],
    );
    check(
        "users,throughput,response_ms\n1,10,100\n2,40,50\n",
        &[
            (
                Law::ThroughputBound,
                Weight::Odd,
                "2 users could do 20/s if each took the 100ms of 1 users, the fewest; 40/s is \
                 printed",
            ),
            (
                Law::Monotonicity,
                Weight::Odd,
                "the response falls from 100ms to 50.0ms as users grow from 1 to 2",
            ),
            (
                Law::Monotonicity,
                Weight::Odd,
                "each user gets 2.00 times what it got with 1; with more users it gets less",
            ),
        ],
    );
    check(
        "requests,run_1_ms,run_2_ms,mean_s,sd_ms,throughput\n100,900,1100,1.2,141.4,100\n",
        &[(
            Law::Statistics,
            Weight::Broken,
            "the mean of its runs is 1.00s, 1.20s is printed",
        )],
    );
}

#[test]
fn both_formulas_of_a_deviation_and_the_rounding_of_the_last_digit_are_allowed() {
    for printed in ["141.4", "100", "141", "1.4e2", "1e2"] {
        check(
            &format!("run_1_ms,run_2_ms,sd_ms\n900,1100,{printed}\n"),
            &[],
        );
    }
    let broken = "the standard deviation of its runs is 141ms, 120ms is printed";
    check(
        "run_1_ms,run_2_ms,sd_ms\n900,1100,120\n",
        &[(Law::Statistics, Weight::Broken, broken)],
    );
    check("run_1_s,run_2_s,se_s\n1.000,1.208,0.1\n", &[]);
    check(
        "run_1_s,run_2_s,se_s\n1.000,1.208,0.15\n",
        &[(
            Law::Statistics,
            Weight::Broken,
            "the standard error of its runs is 104ms, 150ms is printed",
        )],
    );
}

#[test]
fn fifty_of_the_published_booking_points_break_littles_law() {
    let found = published(0.1);
    assert_eq!(found.bookings(), (50, 54));
    let of = |wanted: &str| {
        let (_, audit) = found
            .audits
            .iter()
            .find(|(name, _)| name == wanted)
            .unwrap();
        (audit.broken(), audit.points().count())
    };
    assert_eq!(of("booking-mysql"), (26, 28));
    assert_eq!(of("booking-redis"), (24, 26));
    assert_eq!(of("exchange-cores"), (0, 9));
    assert_eq!(of("travel-ops"), (0, 2));
    assert_eq!(of("games-users").1, 17);
}
