//! The conclusions of the report on the exchange.

use turnstile_published::{Timed, exchange};
use turnstile_stats::{interval, sample};

use super::{NO_FIGURES, on};
use crate::{
    Column, Conclusion, Fate, QUOTAS, Storage,
    experiment::{QUOTA_REQUESTS, requests_of},
};

/// Below this a difference of means is no accident.
const CHANCE_MAX: f64 = 0.05;

/// Twice the cores that bring less than this power of two are not the bottleneck.
const ELASTICITY_MIN: f64 = 0.25;

pub(super) fn cores(columns: &[Column]) -> Vec<Conclusion> {
    vec![
        significance(),
        requests(columns),
        elasticity(columns),
        rate(columns),
    ]
}

/// How likely means of five runs lie so far apart by accident. B. L. Welch, 1947.
fn welch(a: &[f64], b: &[f64]) -> f64 {
    let error = |runs: &[f64]| {
        let count = f64::from(u32::try_from(runs.len()).expect("there are few runs"));
        (sample::variance(runs) / count, count - 1.0)
    };
    let ((a_error, a_free), (b_error, b_free)) = (error(a), error(b));
    let t = (sample::mean(a) - sample::mean(b)) / (a_error + b_error).sqrt();
    let freedom =
        (a_error + b_error).powi(2) / (a_error.powi(2) / a_free + b_error.powi(2) / b_free);
    interval::chance_beyond(t, freedom)
}

/// The table against itself: no run is needed.
fn significance() -> Conclusion {
    let table = exchange();
    let chances = |from: u32, to: u32| -> Vec<f64> {
        let of = |cores: u32| table.iter().filter(move |row| row.cores == cores);
        of(from)
            .zip(of(to))
            .map(|(a, b): (&Timed, &Timed)| welch(&a.runs, &b.runs))
            .collect()
    };
    let significant = |chances: &[f64]| {
        chances
            .iter()
            .filter(|chance| **chance < CHANCE_MAX)
            .count()
    };
    let (two, four) = (chances(1, 2), chances(1, 4));
    let told: Vec<String> = two.iter().map(|chance| format!("{chance:.2}")).collect();
    let why = format!(
        "of their own five runs, 1 -> 2 cores is significant in {} of 3 rows (p = {}), 1 -> 4 in {} \
         of 3",
        significant(&two),
        told.join(", "),
        significant(&four)
    );
    Conclusion::new(
        "each doubling of the cores makes it faster",
        Fate::if_so(significant(&two) == 3),
        why,
    )
}

/// Mean wall times of a series on so many cores.
fn mean(column: &Column, series: &str, cores: f64) -> Option<f64> {
    let took: Vec<f64> = column
        .at(series, cores)
        .iter()
        .map(|figure| figure.took)
        .collect();
    (!took.is_empty()).then(|| sample::mean(&took))
}

const SERIES: [(&str, f64); 3] = [
    ("7000 requests", 7_000.0),
    ("4000 requests", 4_000.0),
    ("1000 requests", 1_000.0),
];

fn requests(columns: &[Column]) -> Conclusion {
    let claim = "the rate does not depend on the number of requests";
    let rates = |column: &Column| -> Option<Vec<f64>> {
        SERIES
            .iter()
            .map(|(series, requests)| Some(requests / mean(column, series, 1.0)?))
            .collect()
    };
    let Some((column, rates)) = columns
        .iter()
        .find_map(|column| Some((column, rates(column)?)))
    else {
        return Conclusion::untested(claim, NO_FIGURES.to_owned());
    };
    let most = rates.iter().copied().fold(0.0, f64::max);
    let least = rates.iter().copied().fold(f64::INFINITY, f64::min);
    let why = format!(
        "on {} and one core, 7000, 4000 and 1000 requests go at {:.0}, {:.0} and {:.0} a second",
        column.name, rates[0], rates[1], rates[2]
    );
    Conclusion::new(claim, Fate::if_so(most / least < 1.25), why)
}

fn elasticity(columns: &[Column]) -> Conclusion {
    let claim = "cores are not the bottleneck: 4 of them bring 4 %";
    let of = |column: &Column| {
        let gains = SERIES.iter().filter_map(|(series, _)| {
            Some((mean(column, series, 1.0)? / mean(column, series, 2.0)?).log2())
        });
        let gains: Vec<f64> = gains.collect();
        (!gains.is_empty()).then(|| sample::mean(&gains))
    };
    let theirs = (28.237_f64 / 27.206).ln() / 4_f64.ln();
    let told = |column: &Column, gain: f64| {
        let mut told = format!(
            "on {} two cores have elasticity {gain:.2} (theirs: {theirs:.2}; 1 is all that cores can bring)",
            column.name
        );
        for (quota, gain) in within_quotas(column) {
            told += &format!(", a whole core over {quota} of one {gain:.2}");
        }
        told
    };
    if let Some((column, gain)) =
        on(columns, Storage::Postgres).and_then(|column| Some((column, of(column)?)))
    {
        return Conclusion::new(
            claim,
            Fate::if_so(gain < ELASTICITY_MIN),
            told(column, gain),
        );
    }
    let beside = columns
        .iter()
        .find_map(|column| Some(told(column, of(column)?)));
    let beside = beside.map_or_else(String::new, |told| format!("; {told}"));
    Conclusion::untested(claim, format!("{}{beside}", unknown(columns)))
}

/// Why nothing is known of Postgres.
fn unknown(columns: &[Column]) -> &'static str {
    match on(columns, Storage::Postgres) {
        Some(_) => NO_FIGURES,
        None => "Postgres was not measured",
    }
}

/// The elasticity of a whole core over each part of one that was measured. It decides nothing: a server
/// within a quota stands still for the rest of a period, which one on fewer cores does not.
fn within_quotas(column: &Column) -> Vec<(f64, f64)> {
    let series = requests_of(QUOTA_REQUESTS);
    let gain = |quota: f64| {
        let (within, whole) = (mean(column, &series, quota)?, mean(column, &series, 1.0)?);
        Some((quota, (within / whole).ln() / (1.0 / quota).ln()))
    };
    QUOTAS.into_iter().filter_map(gain).collect()
}

fn rate(columns: &[Column]) -> Conclusion {
    let claim = "one request at a time takes about 4 ms, whatever the machine";
    let per_request = |column: &Column| Some(mean(column, "7000 requests", 1.0)? / 7_000.0 * 1e3);
    if let Some((column, each)) =
        on(columns, Storage::Postgres).and_then(|column| Some((column, per_request(column)?)))
    {
        let why = format!(
            "on {} and one core a request takes {each:.2} ms",
            column.name
        );
        return Conclusion::new(claim, Fate::if_so((2.0..=8.0).contains(&each)), why);
    }
    let beside = columns.iter().find_map(|column| {
        let each = per_request(column)?;
        Some(format!("; on {} it takes {each:.3} ms", column.name))
    });
    let why = unknown(columns);
    Conclusion::untested(claim, format!("{why}{}", beside.unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::bookings::tests::{check, column};

    /// Wall times of three runs on one core and on two; the rate is of no use here.
    fn measured(storage: Storage, gain: f64) -> Column {
        let mut found = column(storage, &[]);
        for (series, requests) in SERIES {
            for cores in [1.0_f64, 2.0] {
                let mut one = column(storage, &[(series, &[(cores, 1.0)])]);
                for figure in &mut one.figures {
                    figure.took = requests * 0.004 / cores.powf(gain);
                }
                found.figures.append(&mut one.figures);
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
        assert!(
            significance()
                .why
                .contains("1 -> 2 cores is significant in 0 of 3 rows")
        );
        assert!(significance().why.ends_with("1 -> 4 in 2 of 3"));
    }

    #[test]
    fn what_parts_of_a_core_bring_is_told_beside() {
        let mut found = measured(Storage::Postgres, 0.03);
        let mut quarter = column(Storage::Postgres, &[("7000 requests", &[(0.25, 1.0)])]);
        // Twice as long with a quarter of a core: half of what it could bring.
        quarter.figures[0].took = 2.0 * 7_000.0 * 0.004;
        found.figures.append(&mut quarter.figures);
        check(
            &cores(&[found])[2..3],
            &[(
                Fate::Confirmed,
                "all that cores can bring), a whole core over 0.25 of one 0.50",
            )],
        );
    }

    #[test]
    fn cores_that_bring_nothing_are_no_bottleneck() {
        check(
            &cores(&[measured(Storage::Postgres, 0.03)])[1..],
            &[
                (Fate::Confirmed, "250, 250 and 250 a second"),
                (Fate::Confirmed, "elasticity 0.03"),
                (Fate::Confirmed, "4.00 ms"),
            ],
        );
        let mut spoilt = measured(Storage::Postgres, 0.03);
        for figure in &mut spoilt.figures {
            figure.is_usable = false;
        }
        let few = (Fate::NotTestable, "too few usable figures were measured");
        check(&cores(&[spoilt])[1..], &[few; 3]);
        check(
            &cores(&[measured(Storage::Postgres, 0.9)])[2..3],
            &[(Fate::Refuted, "elasticity 0.90")],
        );
        check(
            &cores(&[measured(Storage::Embedded, 0.5)])[2..],
            &[
                (
                    Fate::NotTestable,
                    "Postgres was not measured; on the embedded journal two cores have elasticity 0.50",
                ),
                (Fate::NotTestable, "it takes 4.000 ms"),
            ],
        );
    }
}
