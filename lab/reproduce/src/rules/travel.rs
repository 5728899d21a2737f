//! The conclusions of the report on travel.

use turnstile_published::{Managers, MeanTimes, TRAVEL_OPS, saturation, stated};
use turnstile_stats::{
    Interval, sample,
    units::{Nanos, PerSecond},
};

use super::evidence::{
    Level, POINTS_MIN, above, both, difference, enough, gain, judge, levels, never, ratio,
    response, shown, throughput, told, within,
};
use crate::{
    Conclusion, Fate, Figure, SeriesColumn,
    column::is_at,
    experiment::{ONE, SEVERAL},
};

/// The places of the parts in the table of requests.
const START: f64 = 1.0;
const QUERY: f64 = 2.0;
const RESERVE: f64 = 3.0;
const COMMIT: f64 = 4.0;
const TRANSACTION: f64 = 5.0;

/// How far the parts may be from the whole.
const COMPOSED: f64 = 0.02;

/// What takes less than so many times as long has not grown.
const GROWS: f64 = 1.25;

/// From so many times as long on it rises.
const RISES: f64 = 1.05;

/// Responses that differ by less are the same.
const SAME: f64 = 1.5;

/// A ratio that is within this factor of the published one is the same.
const LIKE: f64 = 1.4;

/// So much of a rate is all of it.
const CARRIED: f64 = 0.95;

/// A response grows linearly with the clients when it grows with a power of them between these.
const LINEAR: (f64, f64) = (0.5, 1.5);

/// A slot whose mean response is so many times the median of all slots is a spike.
const SPIKE: f64 = 2.0;

/// Where clients offer as much as they can.
const CLOSED: f64 = 0.0;

pub(super) fn ops(columns: &[SeriesColumn]) -> Vec<Conclusion> {
    vec![
        composition(),
        distribution(columns),
        commit(columns),
        write(columns),
        never(
            "lock management has its part in each request",
            "the servers do not time their locks apart from the rest of a request",
        ),
    ]
}

pub(super) fn rate(columns: &[SeriesColumn]) -> Vec<Conclusion> {
    let Some(column) = columns.first() else {
        return Vec::new();
    };
    vec![
        low(column),
        rises(column),
        saturated(column),
        linear(column),
        little(column),
        spikes(column),
    ]
}

fn time(seconds: Interval) -> String {
    shown(seconds, |seconds| Nanos(seconds * 1e9))
}

fn composition() -> Conclusion {
    let sound = [Managers::One, Managers::Several].map(|managers| {
        let times = MeanTimes::of(managers);
        (times.composed(), times.transaction)
    });
    let holds = sound
        .iter()
        .all(|(parts, whole)| (parts / whole - 1.0).abs() < COMPOSED);
    let why = format!(
        "start + 4 queries + 3 reservations + commit = {:.3} of {} ms and {:.3} of {} ms",
        sound[0].0, sound[0].1, sound[1].0, sound[1].1
    );
    Conclusion::new(
        "a transaction takes what its requests take".to_owned(),
        Fate::if_so(holds),
        why,
    )
}

/// The mean time of one part over equal runs.
fn part(column: &SeriesColumn, series: &str, part: f64) -> Result<Interval, String> {
    let runs = column.at(series, part);
    let times: Vec<f64> = runs.iter().map(|figure| figure.response).collect();
    enough(times.len()).map_err(|why| format!("{}, {series}: {why}", column.name))?;
    Interval::of_mean(&times).ok_or_else(|| "no runs".to_owned())
}

/// One part of a journey over several managers over the same of one over one manager, both within one
/// column: the same processes, of which the one journey needs more. Of another column the processes
/// would differ, too.
fn grown(column: &SeriesColumn, of: f64) -> Result<Interval, String> {
    Ok(ratio(part(column, SEVERAL, of)?, part(column, ONE, of)?))
}

/// The column that is like theirs, whose managers were processes of their own: the last that was
/// measured with one manager and with several.
fn theirs(columns: &[SeriesColumn]) -> Result<&SeriesColumn, String> {
    let has =
        |column: &&SeriesColumn, series| column.figures.iter().any(|one| one.series == series);
    let mut columns = columns.iter();
    let found = columns.rfind(|column| has(column, ONE) && has(column, SEVERAL));
    found.ok_or_else(|| "several managers were not measured beside one".to_owned())
}

fn distribution(columns: &[SeriesColumn]) -> Conclusion {
    let published =
        MeanTimes::of(Managers::Several).transaction / MeanTimes::of(Managers::One).transaction;
    let claim =
        format!("several resource managers make a transaction {published:.1} times as long");
    let found = theirs(columns).and_then(|column| {
        let found = grown(column, TRANSACTION)?;
        let others = columns.iter().filter_map(|column| {
            let found = grown(column, TRANSACTION).ok()?;
            Some(format!("{} times as long in {}", told(found), column.name))
        });
        let why = others.collect::<Vec<_>>().join(", ");
        Ok((within(found, published / LIKE, published * LIKE), why))
    });
    judge(claim, found)
}

fn commit(columns: &[SeriesColumn]) -> Conclusion {
    let published = MeanTimes::of(Managers::Several).commit / MeanTimes::of(Managers::One).commit;
    let claim = format!(
        "of all requests the commit grows most with several managers ({published:.2} times): they \
         communicate when committing"
    );
    let found = theirs(columns).and_then(|column| {
        let [start, query, reserve, commit] =
            [START, QUERY, RESERVE, COMMIT].map(|part| grown(column, part));
        let (others, commit) = ([start?, query?, reserve?], commit?);
        let more = others.map(|other| above(ratio(commit, other), 1.0));
        let most = more.into_iter().reduce(both).flatten();
        let why = format!(
            "in {}: start {}, query {}, reserve {}, commit {} times as long",
            column.name,
            told(others[0]),
            told(others[1]),
            told(others[2]),
            told(commit)
        );
        Ok((both(most, above(commit, GROWS)), why))
    });
    judge(claim, found)
}

/// What a reservation takes beyond a query is what it writes.
fn write(columns: &[SeriesColumn]) -> Conclusion {
    let claim = format!(
        "a reservation takes longer than a query by its write, about {:.1} ms",
        stated(TRAVEL_OPS, "write time").0 * 1e3
    );
    let found = theirs(columns).and_then(|column| {
        let beyond = |series| {
            let (reserve, query) = (part(column, series, RESERVE)?, part(column, series, QUERY)?);
            Ok::<_, String>(difference(reserve, query))
        };
        let (one, several) = (beyond(ONE)?, beyond(SEVERAL)?);
        let us = |seconds: Interval| told(seconds.map(|seconds| seconds * 1e6));
        let why = format!(
            "in {} it takes {} us more with one manager, {} us with several",
            column.name,
            us(one),
            us(several)
        );
        Ok((both(above(one, 0.0), above(several, 0.0)), why))
    });
    judge(claim, found)
}

/// The names of the series, in order.
fn series(column: &SeriesColumn) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for figure in &column.figures {
        if !names.contains(&figure.series.as_str()) {
            names.push(&figure.series);
        }
    }
    names
}

/// How many clients a series has, by its name.
fn clients(series: &str) -> f64 {
    let number = series.split(' ').next().and_then(|word| word.parse().ok());
    number.expect("a series of rates begins with its number of clients")
}

/// Valid responses at one rate, at the place of the number of clients.
fn by_clients(column: &SeriesColumn, rate: f64) -> Vec<Level> {
    let each = series(column).into_iter().filter_map(|name| {
        let levels = levels(column, name, response);
        let there = levels.iter().find(|level| is_at(level.x, rate))?;
        Some(Level {
            x: clients(name),
            value: there.value,
        })
    });
    each.collect()
}

/// The highest rate up to the low one at which most numbers of clients have a valid point.
fn low_rate(column: &SeriesColumn) -> f64 {
    let most = stated(TRAVEL_OPS, "low rate").0;
    let rates = column.figures.iter().map(|figure| figure.x);
    let low = rates.filter(|rate| *rate > CLOSED && *rate <= most);
    let valid = |rate: f64| by_clients(column, rate).len();
    let best = low.max_by(|a, b| valid(*a).cmp(&valid(*b)).then(a.total_cmp(b)));
    best.unwrap_or(most)
}

fn low(column: &SeriesColumn) -> Conclusion {
    let stated = stated(TRAVEL_OPS, "low rate").0;
    let claim = format!(
        "below {stated} transactions a second the response is low and the same for all clients"
    );
    let rate = low_rate(column);
    let mut found = by_clients(column, rate);
    let found = enough(found.len()).map(|()| {
        found.sort_by(|a, b| a.value.estimate.total_cmp(&b.value.estimate));
        let (least, most) = (found[0], found[found.len() - 1]);
        let apart = ratio(most.value, least.value);
        let why = format!(
            "at {rate} a second {} with {} clients, {} with {}",
            time(least.value),
            least.x,
            time(most.value),
            most.x
        );
        (within(apart, 0.0, SAME), why)
    });
    judge(claim, found)
}

/// Pairs of one number of clients at both rates.
fn rises(column: &SeriesColumn) -> Conclusion {
    let (from, to) = (low_rate(column), saturation());
    let claim = format!("the response rises from {from} to {to} transactions a second");
    let gain = gain(&super::evidence::pairs(
        &by_clients(column, from),
        &by_clients(column, to),
    ));
    let found = gain.map(|gain| {
        let why = format!(
            "with as many clients it is {} times as long at {to} a second as at {from}",
            told(gain)
        );
        (above(gain, RISES), why)
    });
    judge(claim, found)
}

/// A rate that was surely carried refutes, for as many points as are needed to confirm.
fn saturated(column: &SeriesColumn) -> Conclusion {
    let least = saturation();
    let claim = format!("beyond {least} transactions a second it is saturated");
    let of = column.figures.iter();
    // Less than was due is what saturation is, and no fault of the measurement.
    let of = of.filter(|figure| figure.is_usable || figure.is_behind);
    let points: Vec<(&Figure, Option<bool>)> = of
        .filter(|figure| figure.is_proven && figure.x > least)
        .filter_map(|figure| {
            let carried = throughput(figure)?.map(|rate| rate / figure.x);
            Some((figure, above(carried, CARRIED)))
        })
        .collect();
    let count = |is: Option<bool>| points.iter().filter(|(_, found)| *found == is).count();
    let found = enough(points.len()).map(|()| {
        let (carried, short) = (count(Some(true)), count(Some(false)));
        let all = points.len();
        let mut why = format!("of {all} valid points above it {carried} carry what is offered");
        let best = points.iter().filter(|(_, found)| *found == Some(true));
        let best = best.max_by(|a, b| a.0.x.total_cmp(&b.0.x));
        if let Some((most, _)) = best {
            let (clients, rate) = (&most.series, PerSecond(most.throughput));
            why += &format!(": {clients} carry {rate}/s of {} offered", most.x);
        }
        let is_so = if carried >= POINTS_MIN {
            Some(false)
        } else {
            (short >= POINTS_MIN && carried == 0).then_some(true)
        };
        (is_so, why)
    });
    judge(claim, found)
}

fn linear(column: &SeriesColumn) -> Conclusion {
    let claim = "at saturation the response grows linearly with the number of clients".to_owned();
    let closed = by_clients(column, CLOSED);
    let found = enough(closed.len()).map(|()| {
        let (first, last) = (closed[0], closed[closed.len() - 1]);
        let scale = (last.x / first.x).ln();
        let power = ratio(last.value, first.value).map(|ratio| ratio.ln() / scale);
        let why = format!(
            "{} with {} clients, {} with {}: it grows with the power {} of them; clients that wait for \
             their answers are a closed loop, where it is clients / throughput",
            time(first.value),
            first.x,
            time(last.value),
            last.x,
            told(power)
        );
        (within(power, LINEAR.0, LINEAR.1), why)
    });
    judge(claim, found)
}

/// From a low rate to as much as they can: the fewest clients against each of the others.
fn little(column: &SeriesColumn) -> Conclusion {
    let (low, full) = (
        by_clients(column, low_rate(column)),
        by_clients(column, CLOSED),
    );
    let pairs = super::evidence::pairs(&low, &full);
    let fewest = series(column).first().map_or(0.0, |name| clients(name));
    let claim = format!("with {fewest} clients the response increases little at saturation");
    let grown = pairs
        .iter()
        .map(|(low, full)| (low.x, ratio(full.value, low.value)));
    let grown: Vec<(f64, Interval)> = grown.collect();
    let found = enough(grown.len()).and_then(|()| {
        let (few, others) = grown.split_first().ok_or("no points")?;
        if !is_at(few.0, fewest) {
            return Err(format!("too few valid points: none with {fewest} clients"));
        }
        let less = others.iter().map(|other| above(ratio(other.1, few.1), 1.0));
        let is_so = less.reduce(both).flatten();
        let words: Vec<String> = grown
            .iter()
            .map(|(clients, grown)| format!("{} times with {clients}", told(*grown)))
            .collect();
        Ok((is_so, format!("it increases {}", words.join(", "))))
    });
    judge(claim, found)
}

/// The highest slot of a figure over the median of its slots.
pub(crate) fn highest(slots: &[f64]) -> Option<(f64, f64)> {
    let most = slots.iter().copied().reduce(f64::max)?;
    Some((sample::quantile(slots, 0.5), most))
}

fn spikes(column: &SeriesColumn) -> Conclusion {
    let claim = "at saturation the response by time slot has spikes".to_owned();
    let closed = series(column)
        .into_iter()
        .flat_map(|name| column.at(name, CLOSED));
    let found: Vec<(&str, f64)> = closed
        .filter_map(|figure| {
            let (median, most) = highest(&figure.slots)?;
            Some((figure.series.as_str(), most / median))
        })
        .collect();
    let judged = enough(found.len()).map(|()| {
        let with = found.iter().filter(|(_, most)| *most >= SPIKE).count();
        let words: Vec<String> = found
            .iter()
            .map(|(name, most)| format!("{most:.1} times with {name}"))
            .collect();
        let is_so = if with == 0 {
            Some(false)
        } else {
            (with == found.len()).then_some(true)
        };
        let words = words.join(", ");
        (
            is_so,
            format!("the highest slot is above the median by {words}"),
        )
    });
    judge(claim, judged)
}

#[cfg(test)]
mod tests;
