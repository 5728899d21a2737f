//! The conclusions of the report on travel.

use turnstile_published::{Managers, SATURATION, Times};
use turnstile_stats::units::{Nanos, PerSecond};

use super::NO_FIGURES;
use crate::{
    Column, Conclusion, Fate, Figure,
    experiment::{ONE, SEVERAL},
};

/// The places of the parts in the table of requests.
const COMMIT: f64 = 4.0;
const TRANSACTION: f64 = 5.0;

/// What takes less than so many times as long has not grown.
const GROWS: f64 = 1.25;

/// The rate below which nobody waits, as they say.
const LOW: f64 = 100.0;

pub(super) fn ops(columns: &[Column]) -> Vec<Conclusion> {
    vec![composition(), distribution(columns), commit(columns)]
}

pub(super) fn rate(columns: &[Column]) -> Vec<Conclusion> {
    let Some(column) = columns.first() else {
        return Vec::new();
    };
    vec![low(column), saturated(column), clients(column)]
}

fn composition() -> Conclusion {
    let sound = [Managers::One, Managers::Several].map(|managers| {
        let times = Times::of(managers);
        (times.composed(), times.transaction)
    });
    let holds = sound
        .iter()
        .all(|(parts, whole)| (parts / whole - 1.0).abs() < 0.02);
    let why = format!(
        "start + 4 queries + 3 reservations + commit = {:.3} of {} ms and {:.3} of {} ms",
        sound[0].0, sound[0].1, sound[1].0, sound[1].1
    );
    Conclusion::new(
        "a transaction takes what its requests take",
        Fate::if_so(holds),
        why,
    )
}

fn figure<'a>(column: &'a Column, series: &str, part: f64) -> Option<&'a Figure> {
    column.at(series, part).into_iter().next()
}

/// One part of a journey over several managers over the same of one over one manager, both within one
/// column: the same processes, of which the one journey needs more. Of another column the processes
/// would differ, too.
fn ratio(column: &Column, part: f64) -> Option<f64> {
    let [one, several] = [ONE, SEVERAL].map(|series| figure(column, series, part));
    Some(several?.response / one?.response)
}

/// The column that is like theirs, whose managers were processes of their own: the last that has both.
fn theirs(columns: &[Column]) -> Option<&Column> {
    let mut both = columns.iter().rev();
    both.find(|column| ratio(column, TRANSACTION).is_some())
}

fn distribution(columns: &[Column]) -> Conclusion {
    let claim = "several resource managers make a transaction 1.9 times as long";
    let told = columns.iter().filter_map(|column| {
        let found = ratio(column, TRANSACTION)?;
        Some(format!("{found:.2} times as long in {}", column.name))
    });
    let found = theirs(columns).and_then(|column| ratio(column, TRANSACTION));
    let Some(found) = found else {
        return Conclusion::untested(claim, NO_FIGURES.to_owned());
    };
    let why = told.collect::<Vec<_>>().join(", ");
    Conclusion::new(claim, Fate::if_so((1.4..=2.6).contains(&found)), why)
}

fn commit(columns: &[Column]) -> Conclusion {
    let claim = "of all requests the commit grows most with several managers (3.7 times)";
    let parts = [1.0, 2.0, 3.0, COMMIT];
    let ratios = theirs(columns).and_then(|column| {
        let ratios: Option<Vec<f64>> = parts.map(|part| ratio(column, part)).into_iter().collect();
        Some((ratios?, &column.name))
    });
    let Some((ratios, name)) = ratios else {
        return Conclusion::untested(claim, NO_FIGURES.to_owned());
    };
    let others = ratios[..3].iter().copied().fold(0.0, f64::max);
    let why = format!(
        "in {name}: start {:.2}, query {:.2}, reserve {:.2}, commit {:.2} times as long",
        ratios[0], ratios[1], ratios[2], ratios[3]
    );
    let grows = ratios[3] > others && ratios[3] >= GROWS;
    Conclusion::new(claim, Fate::if_so(grows), why)
}

/// The names of the series, in order.
fn series(column: &Column) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for figure in &column.figures {
        if !names.contains(&figure.series.as_str()) {
            names.push(&figure.series);
        }
    }
    names
}

fn low(column: &Column) -> Conclusion {
    let claim = "below 100 transactions a second the response is low and the same for all clients";
    let low = |name: &&str| {
        let mut figures = column.usable(name).into_iter();
        figures.rfind(|figure| figure.x >= 1.0 && figure.x <= LOW)
    };
    let found: Vec<f64> = series(column)
        .iter()
        .filter_map(low)
        .map(|figure| figure.response)
        .collect();
    if found.len() < 2 {
        return Conclusion::untested(claim, NO_FIGURES.to_owned());
    }
    let least = found.iter().copied().fold(f64::INFINITY, f64::min);
    let most = found.iter().copied().fold(0.0, f64::max);
    let why = format!(
        "{} to {} at {LOW} a second",
        Nanos(least * 1e9),
        Nanos(most * 1e9)
    );
    Conclusion::new(claim, Fate::if_so(most < 1.5 * least), why)
}

fn saturated(column: &Column) -> Conclusion {
    let claim = "beyond 1,000 transactions a second it is saturated";
    let above = column
        .figures
        .iter()
        .filter(|figure| figure.is_proven && figure.x > SATURATION);
    // What was carried was carried, also when the generator came too late to say how soon. But what was
    // not may be its fault.
    let kept = above
        .clone()
        .filter(|figure| figure.throughput >= 0.95 * figure.x);
    let Some(most) = kept.max_by(|a, b| a.x.total_cmp(&b.x)) else {
        if !above.clone().any(|figure| figure.is_usable) {
            return Conclusion::untested(claim, NO_FIGURES.to_owned());
        }
        return Conclusion::new(
            claim,
            Fate::Confirmed,
            "no higher rate was carried".to_owned(),
        );
    };
    let why = format!(
        "{} carry {}/s of {} offered",
        most.series,
        PerSecond(most.throughput),
        most.x
    );
    Conclusion::new(claim, Fate::Refuted, why)
}

fn clients(column: &Column) -> Conclusion {
    let claim = "at saturation the response grows with the number of clients";
    let closed: Vec<&Figure> = series(column)
        .iter()
        .filter_map(|name| figure(column, name, 0.0))
        .collect();
    let (Some(first), Some(last)) = (closed.first(), closed.last()) else {
        return Conclusion::untested(claim, NO_FIGURES.to_owned());
    };
    if closed.len() < 2 {
        return Conclusion::untested(claim, NO_FIGURES.to_owned());
    }
    let why = format!(
        "{} with {}, {} with {}: clients that wait for their answers are a closed loop, where the \
         response is clients / throughput ({}/s and {}/s), whatever the server",
        Nanos(first.response * 1e9),
        first.series,
        Nanos(last.response * 1e9),
        last.series,
        PerSecond(first.throughput),
        PerSecond(last.throughput)
    );
    Conclusion::new(
        claim,
        Fate::if_so(last.response > 1.5 * first.response),
        why,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Storage,
        rules::bookings::tests::{check, column},
    };

    /// Response times of start, query, reserve, commit and the whole, in milliseconds.
    fn parts(series: &str, times: [f64; 5]) -> Column {
        let mut found = column(Storage::Embedded, &[]);
        for (x, time) in (1_u32..).zip(times) {
            let mut one = column(Storage::Embedded, &[(series, &[(f64::from(x), 1.0)])]);
            one.figures[0].response = time / 1e3;
            found.figures.append(&mut one.figures);
        }
        found
    }

    #[test]
    fn managers_in_processes_of_their_own_are_compared_with_one() {
        let one = parts(ONE, [0.3, 0.5, 0.6, 0.6, 5.0]);
        let both = |name: &str, several| {
            let mut both = one.clone();
            both.name = name.to_owned();
            both.figures.extend(parts(SEVERAL, several).figures);
            both
        };
        let together = both("one process", [0.3, 0.5, 0.6, 0.55, 4.9]);
        let apart = both("five processes", [0.3, 0.9, 1.1, 2.4, 9.5]);
        check(
            &ops(&[together.clone(), apart]),
            &[
                (Fate::Confirmed, "5.008 of 5.02 ms"),
                (
                    Fate::Confirmed,
                    "0.98 times as long in one process, 1.90 times as long in five processes",
                ),
                (Fate::Confirmed, "commit 4.00 times"),
            ],
        );
        // Where five processes were not measured with one manager, they say nothing.
        let mut only_several = parts(SEVERAL, [3.0, 9.0, 11.0, 24.0, 95.0]);
        only_several.name = "five processes".to_owned();
        check(
            &ops(&[together, only_several])[1..],
            &[
                (Fate::Refuted, "0.98 times"),
                (
                    Fate::Refuted,
                    "in one process: start 1.00, query 1.00, reserve 1.00, commit 0.92",
                ),
            ],
        );
        assert_eq!(ops(&[one])[1].fate, Fate::NotTestable);
    }

    #[test]
    fn a_rate_that_is_carried_is_no_saturation() {
        let two = [(100.0, 100.0), (2_000.0, 1_990.0), (0.0, 4_000.0)];
        let eight = [(100.0, 100.0), (2_000.0, 1_100.0), (0.0, 5_000.0)];
        let mut found = column(
            Storage::Embedded,
            &[("2 clients", &two), ("8 clients", &eight)],
        );
        for (figure, response) in found.figures.iter_mut().zip([1.0, 1.2, 0.5, 1.1, 9.0, 1.6]) {
            figure.response = response / 1e3;
        }
        check(
            &rate(&[found.clone()]),
            &[
                (Fate::Confirmed, "1.00ms to 1.10ms"),
                (Fate::Refuted, "2 clients carry 1 990/s of 2000 offered"),
                (
                    Fate::Confirmed,
                    "500us with 2 clients, 1.60ms with 8 clients",
                ),
            ],
        );
        for figure in &mut found.figures {
            figure.is_usable = figure.x < 1_000.0;
        }
        let late = &rate(&[found.clone()])[1];
        assert_eq!(late.fate, Fate::Refuted, "{late:?}");
        for figure in &mut found.figures {
            figure.is_usable = true;
        }
        found.figures.retain(|figure| figure.series == "8 clients");
        let fates: Vec<Fate> = rate(&[found]).iter().map(|one| one.fate).collect();
        assert_eq!(
            fates,
            [Fate::NotTestable, Fate::Confirmed, Fate::NotTestable]
        );
    }
}
