//! The conclusions of the report on the exchange.

use turnstile_published::{Timed, exchange};
use turnstile_stats::{
    Interval, sample, student,
    units::{Nanos, to_float},
};

use super::{
    evidence::{
        POINTS_MIN, above, difference, enough, judge, never, number, ratio, shown, told, within,
    },
    on,
};
use crate::{
    Conclusion, Fate, QUOTAS, SeriesColumn, Storage,
    experiment::{QUOTA_REQUESTS, requests_of},
};

/// Below this a difference of means is no accident.
const CHANCE_MAX: f64 = 0.05;

/// Twice the cores that bring less than this power of two are not the bottleneck.
const ELASTICITY_MIN: f64 = 0.25;

/// Rates that differ by less do not depend on what was changed.
const SAME: f64 = 1.25;

/// The cores between which ours are compared: the first doubling.
const CORES: [f64; 2] = [1.0, 2.0];

pub(super) fn cores(columns: &[SeriesColumn]) -> Vec<Conclusion> {
    vec![
        significance(),
        faster(columns),
        grows(columns),
        elasticity(columns),
        requests(columns),
        each(columns),
        never(
            "much of the time is spent on starting and on loading libraries",
            "the servers here run before the clients come, and the time of their start is no part of \
             any run",
        ),
        never(
            "more cores have an overhead of their own",
            "no run tells such an overhead from work that only one core can do",
        ),
        never(
            "rows are locked with SELECT ... FOR UPDATE",
            "the exchange in Postgres takes its locks in one order within one function",
        ),
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
    student::chance_beyond(t, freedom)
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
        "each doubling of the cores makes their own runs faster".to_owned(),
        Fate::if_so(significant(&two) == 3),
        why,
    )
}

/// The numbers of requests that they measured, the most first.
fn amounts() -> Vec<u64> {
    let mut amounts: Vec<u64> = exchange().iter().map(|row| row.requests).collect();
    amounts.dedup();
    amounts
}

/// The wall time of equal runs of so many requests on so many cores.
fn wall(column: &SeriesColumn, requests: u64, cores: f64) -> Result<Interval, String> {
    let runs = column.at(&requests_of(requests), cores);
    let took: Vec<f64> = runs.iter().map(|figure| figure.took).collect();
    enough(took.len()).map_err(|why| format!("{requests} requests on {cores} cores: {why}"))?;
    Interval::of_mean(&took).ok_or_else(|| "no runs".to_owned())
}

/// The column of Postgres, or that there is none and what is told of the embedded journal beside.
fn postgres(
    columns: &[SeriesColumn],
    beside: impl Fn(&SeriesColumn) -> Result<String, String>,
) -> Result<&SeriesColumn, String> {
    on(columns, Storage::Postgres).ok_or_else(|| {
        let beside = columns.iter().find_map(|column| beside(column).ok());
        let beside = beside.map_or_else(String::new, |told| format!("; {told}"));
        format!("Postgres was not measured{beside}")
    })
}

/// What a doubling of the cores brings, over all numbers of requests: 1 is all that it can, 0 is nothing.
fn gain(column: &SeriesColumn) -> Result<Interval, String> {
    let each: Result<Vec<Interval>, String> = amounts()
        .into_iter()
        .map(|requests| {
            let [one, two] = CORES.map(|cores| wall(column, requests, cores));
            Ok(ratio(one?, two?).map(f64::log2))
        })
        .collect();
    let each = each?;
    let estimates: Vec<f64> = each.iter().map(|one| one.estimate).collect();
    let squares: f64 = each.iter().map(|one| one.half_width().powi(2)).sum();
    let error = squares.sqrt() / number(each.len());
    Ok(Interval::about(sample::mean(&estimates), error))
}

/// Their claim, asked of our runs.
fn faster(columns: &[SeriesColumn]) -> Conclusion {
    let claim = "with more cores the time gets shorter and the throughput higher".to_owned();
    let tell = |column: &SeriesColumn| {
        let gain = gain(column)?;
        let (name, more) = (&column.name, told(gain.map(f64::exp2)));
        let why = format!("on {name} two cores do {more} times as many a second as one");
        Ok::<_, String>((above(gain, 0.0), why))
    };
    judge(
        claim,
        postgres(columns, |column| Ok(tell(column)?.1)).and_then(tell),
    )
}

/// Seconds that the second core saves with the fewest and with the most requests.
fn grows(columns: &[SeriesColumn]) -> Conclusion {
    let claim = "the more requests, the greater the difference between the cores".to_owned();
    let found = postgres(columns, |_| Err(String::new())).and_then(|column| {
        let saved = |requests| {
            let [one, two] = CORES.map(|cores| wall(column, requests, cores));
            Ok::<_, String>(difference(one?, two?))
        };
        let amounts = amounts();
        let each: Result<Vec<Interval>, String> = amounts.iter().map(|of| saved(*of)).collect();
        let each = each?;
        let (most, fewest) = (each[0], each[each.len() - 1]);
        let words = amounts.iter().zip(&each);
        let words: Vec<String> = words
            .map(|(requests, saved)| format!("{} s of {requests} requests", told(*saved)))
            .collect();
        let why = format!("the second core saves {}", words.join(", "));
        Ok((above(difference(most, fewest), 0.0), why))
    });
    judge(claim, found)
}

fn elasticity(columns: &[SeriesColumn]) -> Conclusion {
    let table = exchange();
    let most = table.iter().filter(|row| row.requests == table[0].requests);
    let means: Vec<(f64, f64)> = most.map(|row| (f64::from(row.cores), row.mean)).collect();
    let (first, last) = (means[0], means[means.len() - 1]);
    let theirs = (first.1 / last.1).ln() / (last.0 / first.0).ln();
    let claim = format!(
        "cores are not the bottleneck: {} of them bring {:.0} %",
        last.0,
        (first.1 / last.1 - 1.0) * 100.0
    );
    let tell = |column: &SeriesColumn| {
        let gain = gain(column)?;
        let mut why = format!(
            "on {} two cores have elasticity {} (theirs: {theirs:.2}; 1 is all that cores can bring)",
            column.name,
            told(gain)
        );
        for (quota, gain) in within_quotas(column) {
            why += &format!(", a whole core over {quota} of one {gain:.2}");
        }
        Ok::<_, String>((within(gain, f64::NEG_INFINITY, ELASTICITY_MIN), why))
    };
    judge(
        claim,
        postgres(columns, |column| Ok(tell(column)?.1)).and_then(tell),
    )
}

/// The elasticity of a whole core over each part of one that was measured. It decides nothing: a server
/// within a quota stands still for the rest of a period, which one on fewer cores does not.
fn within_quotas(column: &SeriesColumn) -> Vec<(f64, f64)> {
    let gain = |quota: f64| {
        let within = wall(column, QUOTA_REQUESTS, quota).ok()?.estimate;
        let whole = wall(column, QUOTA_REQUESTS, 1.0).ok()?.estimate;
        Some((quota, (within / whole).ln() / (1.0 / quota).ln()))
    };
    QUOTAS.into_iter().filter_map(gain).collect()
}

fn requests(columns: &[SeriesColumn]) -> Conclusion {
    let claim = "the rate does not depend on the number of requests".to_owned();
    let tell = |column: &SeriesColumn| {
        let rates: Result<Vec<(u64, Interval)>, String> = amounts()
            .into_iter()
            .map(|requests| {
                let took = wall(column, requests, 1.0)?;
                let all = to_float(requests);
                Ok((requests, ratio(Interval::about(all, 0.0), took)))
            })
            .collect();
        let mut rates = rates?;
        let words: Vec<String> = rates
            .iter()
            .map(|(requests, rate)| format!("{requests} go at {:.0} a second", rate.estimate))
            .collect();
        rates.sort_by(|a, b| a.1.estimate.total_cmp(&b.1.estimate));
        let most = ratio(rates[rates.len() - 1].1, rates[0].1);
        let why = format!(
            "on {} and one core {}; the highest rate is {} times the lowest",
            column.name,
            words.join(", "),
            told(most)
        );
        Ok::<_, String>((within(most, 0.0, SAME), why))
    };
    judge(
        claim,
        postgres(columns, |column| Ok(tell(column)?.1)).and_then(tell),
    )
}

/// What all their rows come to, whatever the number of cores and requests.
fn each(columns: &[SeriesColumn]) -> Conclusion {
    let table = exchange();
    let each = table.iter().map(|row| row.mean / to_float(row.requests));
    let (least, most) = each.fold((f64::INFINITY, 0.0_f64), |(least, most), one| {
        (least.min(one), most.max(one))
    });
    let claim = format!(
        "a request takes {:.1} to {:.1} ms, whatever the cores",
        least * 1e3,
        most * 1e3
    );
    let tell = |column: &SeriesColumn| {
        let requests = amounts()[0];
        let took = wall(column, requests, 1.0)?;
        let each = took.map(|seconds| seconds / to_float(requests));
        let why = format!(
            "on {} and one core {} requests take {} each, of {POINTS_MIN} runs or more",
            column.name,
            requests,
            shown(each, |seconds| Nanos(seconds * 1e9))
        );
        // Twice as fast a machine is the same law.
        Ok::<_, String>((within(each, least / 2.0, most * 2.0), why))
    };
    judge(
        claim,
        postgres(columns, |column| Ok(tell(column)?.1)).and_then(tell),
    )
}

#[cfg(test)]
mod tests;
