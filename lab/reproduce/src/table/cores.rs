//! The tables of the exchange: wall times, rates, and how equal runs differ.

use turnstile_published::{Timed, exchange};
use turnstile_stats::{
    sample,
    units::{count, to_float},
};

use super::{CellUnit, Place, ReproducedFigure, Table, measured, together};
use crate::{Figure, QUOTAS, SeriesColumn, experiment::requests_of};

/// Wall times and rates with how they differ, of so many requests on so many cores.
pub(super) fn tables(columns: &[SeriesColumn]) -> Vec<Table> {
    let table = |title: &str, unit, published: fn(&Timed) -> PublishedCores, ours: Ours| {
        let places = places_of_cores(published);
        let rows = places.iter().map(|place| place.row(columns, ours));
        Table {
            title: title.to_owned(),
            across: "cores of the server".to_owned(),
            unit,
            rows: measured(rows.collect()),
        }
    };
    vec![
        table(
            "Wall time of all requests",
            CellUnit::Seconds,
            |row| {
                let spread = row.deviation / 1e3;
                (row.mean, Some((row.mean - spread, row.mean + spread)))
            },
            |here| together(&here.iter().map(|one| took(one)).collect::<Vec<_>>()),
        ),
        table(
            "Throughput",
            CellUnit::PerSecond,
            |row| {
                let (all, spread) = (to_float(row.requests), row.deviation / 1e3);
                let range = (all / (row.mean + spread), all / (row.mean - spread));
                (row.throughput, Some(range))
            },
            |here| {
                let rates = here.iter().map(|one| ReproducedFigure {
                    value: requests(one) / one.took,
                    ..took(one)
                });
                together(&rates.collect::<Vec<_>>())
            },
        ),
        table(
            "Standard deviation of the wall time",
            CellUnit::Seconds,
            |row| (row.deviation / 1e3, None),
            |here| spread(here, |_runs| 1.0),
        ),
        table(
            "Standard error of the mean wall time",
            CellUnit::Seconds,
            |row| (row.error / 1e3, None),
            |here| spread(here, f64::sqrt),
        ),
    ]
}

/// A figure, and where it lies.
type PublishedCores = (f64, Option<(f64, f64)>);

/// What equal runs say together.
type Ours = fn(&[&Figure]) -> Option<ReproducedFigure>;

fn took(figure: &Figure) -> ReproducedFigure {
    ReproducedFigure {
        value: figure.took,
        range: None,
        is_usable: figure.is_usable,
        left_out: 0,
    }
}

/// How many requests a figure is about, by the name of its series.
fn requests(figure: &Figure) -> f64 {
    let number = figure.series.split(' ').next();
    let number = number.and_then(|word| word.parse().ok());
    number.expect("a series of the exchange begins with its number of requests")
}

/// The standard deviation of usable runs over this of their number; nothing for fewer than two.
fn spread(runs: &[&Figure], by: fn(f64) -> f64) -> Option<ReproducedFigure> {
    let usable = runs.iter().filter(|figure| figure.is_usable);
    let took: Vec<f64> = usable.map(|figure| figure.took).collect();
    (took.len() > 1).then(|| ReproducedFigure {
        value: sample::variance(&took).sqrt() / by(count(took.len())),
        range: None,
        is_usable: true,
        left_out: runs.len() - took.len(),
    })
}

fn places_of_cores(published: fn(&Timed) -> PublishedCores) -> Vec<Place> {
    let mut places = Vec::new();
    for row in &exchange() {
        let series = requests_of(row.requests);
        if !places.iter().any(|place: &Place| place.series == series) {
            places.extend(QUOTAS.map(|quota| Place {
                series: series.clone(),
                x: quota,
                name: format!("{quota} of one"),
                published: None,
                published_range: None,
            }));
        }
        let (figure, range) = published(row);
        places.push(Place {
            series,
            x: f64::from(row.cores),
            name: row.cores.to_string(),
            published: Some(figure),
            published_range: range,
        });
    }
    places
}
