//! Wall times with known truth, and what becomes of each claim.

use super::*;
use crate::{
    Storage,
    rules::bookings::tests::{check, column},
};

/// Wall times of three runs of each number of requests on one core and on two, which bring this power
/// of two.
fn measured(storage: Storage, gain: f64, scatter: f64) -> SeriesColumn {
    let mut found = column(storage, &[]);
    for requests in amounts() {
        for cores in CORES {
            for run in [1.0 - scatter, 1.0, 1.0 + scatter] {
                let series = requests_of(requests);
                let mut one = column(storage, &[(&series, &[(cores, 1.0)])]);
                one.figures[0].took = to_float(requests) * 0.004 / cores.powf(gain) * run;
                found.figures.append(&mut one.figures);
            }
        }
    }
    found
}

#[test]
fn their_own_runs_do_not_show_that_two_cores_are_faster() {
    let table = exchange();
    let chance = |a: usize, b: usize| welch(&table[a].runs, &table[b].runs);
    for (pair, expected) in [
        ((0, 1), 0.13),
        ((3, 4), 0.26),
        ((6, 7), 0.247),
        ((0, 2), 0.020),
        ((3, 5), 0.002),
        ((6, 8), 0.060),
    ] {
        let found = chance(pair.0, pair.1);
        assert!(
            (found - expected).abs() < 0.006,
            "{pair:?}: {found} is not {expected}"
        );
    }
    assert_eq!(significance().fate, Fate::Refuted);
    let why = significance().why;
    assert!(why.contains("1 -> 2 cores is significant in 0 of 3 rows"));
    assert!(why.ends_with("1 -> 4 in 2 of 3"));
}

#[test]
fn what_parts_of_a_core_bring_is_told_beside() {
    let mut found = measured(Storage::Postgres, 0.03, 0.001);
    for run in [0.999, 1.0, 1.001] {
        let mut quarter = column(Storage::Postgres, &[("7000 requests", &[(0.25, 1.0)])]);
        // Twice as long with a quarter of a core: half of what it could bring.
        quarter.figures[0].took = 2.0 * 7_000.0 * 0.004 * run;
        found.figures.append(&mut quarter.figures);
    }
    let why = &cores(&[found])[3].why;
    assert!(
        why.ends_with("all that cores can bring), a whole core over 0.25 of one 0.50"),
        "{why}"
    );
}

#[test]
fn each_claim_is_decided_by_the_intervals_of_equal_runs() {
    check(
        &cores(&[measured(Storage::Postgres, 0.03, 0.001)])[1..],
        &[
            (Fate::Confirmed, "two cores do 1.02"),
            (Fate::Confirmed, "s of 7000 requests, 0.33"),
            (Fate::Confirmed, "elasticity 0.03"),
            (
                Fate::Confirmed,
                "7000 go at 250 a second, 4000 go at 250 a second",
            ),
            (Fate::Confirmed, "7000 requests take 4.00ms"),
            (Fate::NotTestable, "not testable here, because the servers"),
            (Fate::NotTestable, "not testable here, because no run"),
            (Fate::NotTestable, "not testable here, because the exchange"),
        ],
    );
    check(
        &cores(&[measured(Storage::Postgres, 0.9, 0.001)])[3..4],
        &[(Fate::Refuted, "elasticity 0.90")],
    );
    let slower = cores(&[measured(Storage::Postgres, -0.2, 0.001)]);
    check(
        &slower[1..3],
        &[
            (Fate::Refuted, "two cores do 0.87"),
            (Fate::Refuted, "the second core saves -"),
        ],
    );
    // Runs that differ by more than the cores do show nothing.
    check(
        &cores(&[measured(Storage::Postgres, 0.03, 0.2)])[1..2],
        &[(Fate::NotTestable, "the intervals are too wide")],
    );
}

#[test]
fn two_runs_are_too_few() {
    let mut found = measured(Storage::Postgres, 0.03, 0.001);
    let mut seen = 0;
    for figure in &mut found.figures {
        if figure.series == "7000 requests" && (figure.x - 1.0).abs() < 1e-9 {
            seen += 1;
            figure.is_usable = seen < 3;
        }
    }
    let few = (
        Fate::NotTestable,
        "7000 requests on 1 cores: too few valid points: 2, and 3 are needed",
    );
    check(&cores(&[found])[1..6], &[few; 5]);
}

#[test]
fn claims_about_postgres_need_it() {
    check(
        &cores(&[measured(Storage::Embedded, 0.5, 0.001)])[3..6],
        &[
            (
                Fate::NotTestable,
                "Postgres was not measured; on the embedded journal two cores have elasticity 0.50",
            ),
            (Fate::NotTestable, "Postgres was not measured; on the"),
            (Fate::NotTestable, "7000 requests take 4.00ms"),
        ],
    );
}
