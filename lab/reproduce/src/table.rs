//! The published figures beside ours, point by point.

use serde::Serialize;
use turnstile_published::{Bookings, Managers, bookings, exchange, games, travel};
use turnstile_stats::Interval;

use crate::{
    Column, Experiment, Figure, QUOTAS,
    experiment::{NAGLE, NO_DELAY, ONE, SEVERAL, requests_of},
};

/// What is measured up along a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    PerSecond,
    Seconds,
}

/// One figure over an axis, for some series.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Table {
    pub title: String,
    /// What the axis is: `users`.
    pub across: String,
    pub unit: Unit,
    pub rows: Vec<Row>,
}

/// One point.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    pub series: String,
    pub x: f64,
    /// Its place in words.
    pub name: String,
    pub published: Option<f64>,
    /// In the order of the columns.
    pub ours: Vec<Option<Cell>>,
}

/// A figure of ours.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Cell {
    pub value: f64,
    /// Where the truth lies.
    pub range: Option<(f64, f64)>,
    pub is_usable: bool,
    /// Equal runs that were not usable, and have no part in it.
    pub left_out: usize,
}

impl Row {
    /// Ours over theirs, of this column.
    #[must_use]
    pub fn ratio(&self, column: usize) -> Option<f64> {
        let cell = self.ours.get(column).copied().flatten()?;
        Some(cell.value / self.published.filter(|figure| *figure > 0.0)?)
    }
}

pub(crate) fn tables(experiment: Experiment, columns: &[Column]) -> Vec<Table> {
    match experiment {
        Experiment::BookingMysql | Experiment::BookingRedis => {
            let rows = bookings(experiment.source());
            let of = |figure: fn(&Bookings) -> f64| -> Vec<Place> {
                let rows = rows.iter();
                rows.map(|row| Place::users(&row.series, row.users, Some(figure(row))))
                    .collect()
            };
            both(
                &of(|row| row.throughput),
                &of(|row| row.response),
                "users",
                columns,
            )
        }
        Experiment::GamesUsers => {
            let of = |figure: fn(&turnstile_published::Level) -> f64| -> Vec<Place> {
                let rows = games().into_iter();
                let rows = rows.map(|row| Place::users(NO_DELAY, row.players, Some(figure(&row))));
                let nagle = games().into_iter().filter(|row| row.players <= 100);
                let nagle = nagle.map(|row| Place::users(NAGLE, row.players, Some(figure(&row))));
                rows.chain(nagle).collect()
            };
            both(
                &of(|row| row.throughput),
                &of(|row| row.response),
                "players",
                columns,
            )
        }
        Experiment::ExchangeCores => vec![cores(columns)],
        Experiment::TravelOps => vec![parts(columns)],
        Experiment::TravelRate => rates(columns),
    }
}

/// A point of a table before ours are beside it.
struct Place {
    series: String,
    x: f64,
    name: String,
    published: Option<f64>,
}

impl Place {
    fn users(series: &str, users: usize, published: Option<f64>) -> Self {
        Self {
            series: series.to_owned(),
            x: f64::from(u32::try_from(users).expect("tables have few users")),
            name: users.to_string(),
            published,
        }
    }

    fn beside(&self, columns: &[Column], cell: fn(&Figure) -> Cell) -> Row {
        let ours = columns.iter().map(|column| {
            let is_here =
                |figure: &&Figure| figure.series == self.series && (figure.x - self.x).abs() < 1e-9;
            let here: Vec<Cell> = column.figures.iter().filter(is_here).map(cell).collect();
            together(&here)
        });
        Row {
            series: self.series.clone(),
            x: self.x,
            name: self.name.clone(),
            published: self.published,
            ours: ours.collect(),
        }
    }
}

/// Equal runs as one: their mean, and Student's interval.
fn together(cells: &[Cell]) -> Option<Cell> {
    if let [one] = cells {
        return Some(*one);
    }
    let usable: Vec<f64> = cells
        .iter()
        .filter(|cell| cell.is_usable)
        .map(|cell| cell.value)
        .collect();
    let Some(mean) = Interval::of_mean(&usable) else {
        return cells
            .iter()
            .find(|cell| cell.is_usable)
            .or_else(|| cells.first())
            .copied();
    };
    Some(Cell {
        value: mean.estimate,
        range: Some((mean.low, mean.high)),
        is_usable: true,
        left_out: cells.len() - usable.len(),
    })
}

fn rate(figure: &Figure) -> Cell {
    Cell {
        value: figure.throughput,
        range: figure.throughput_range,
        is_usable: figure.is_usable,
        left_out: 0,
    }
}

fn response(figure: &Figure) -> Cell {
    Cell {
        value: figure.response,
        range: figure.response_range,
        is_usable: figure.is_usable,
        left_out: 0,
    }
}

fn both(rates: &[Place], responses: &[Place], across: &str, columns: &[Column]) -> Vec<Table> {
    let table = |title: &str, unit, places: &[Place], cell: fn(&Figure) -> Cell| Table {
        title: title.to_owned(),
        across: across.to_owned(),
        unit,
        rows: measured(
            places
                .iter()
                .map(|place| place.beside(columns, cell))
                .collect(),
        ),
    };
    vec![
        table("Throughput", Unit::PerSecond, rates, rate),
        table("Mean response", Unit::Seconds, responses, response),
    ]
}

/// Rows in which there is anything at all.
fn measured(mut rows: Vec<Row>) -> Vec<Row> {
    rows.retain(|row| row.published.is_some() || row.ours.iter().any(Option::is_some));
    rows
}

fn cores(columns: &[Column]) -> Table {
    let published = exchange();
    let mut places = Vec::new();
    for row in &published {
        let series = requests_of(row.requests);
        if !places.iter().any(|place: &Place| place.series == series) {
            places.extend(QUOTAS.map(|quota| Place {
                series: series.clone(),
                x: quota,
                name: format!("{quota} of one"),
                published: None,
            }));
        }
        places.push(Place {
            series,
            x: f64::from(row.cores),
            name: row.cores.to_string(),
            published: Some(row.mean),
        });
    }
    let took = |figure: &Figure| Cell {
        value: figure.took,
        range: None,
        is_usable: figure.is_usable,
        left_out: 0,
    };
    Table {
        title: "Wall time of all requests".to_owned(),
        across: "cores of the server".to_owned(),
        unit: Unit::Seconds,
        rows: measured(
            places
                .iter()
                .map(|place| place.beside(columns, took))
                .collect(),
        ),
    }
}

fn parts(columns: &[Column]) -> Table {
    let mut rows = Vec::new();
    for (managers, times) in travel() {
        let series = match managers {
            Managers::One => ONE,
            Managers::Several => SEVERAL,
        };
        let names = turnstile_published::Times::NAMES
            .into_iter()
            .zip(times.figures());
        for (number, (name, milliseconds)) in (1_u32..).zip(names) {
            let place = Place {
                series: series.to_owned(),
                x: f64::from(number),
                name: name.to_owned(),
                published: Some(milliseconds / 1e3),
            };
            rows.push(place.beside(columns, response));
        }
    }
    Table {
        title: "Mean time of requests and transactions".to_owned(),
        across: "request".to_owned(),
        unit: Unit::Seconds,
        rows,
    }
}

/// Nothing but words was published.
fn rates(columns: &[Column]) -> Vec<Table> {
    let mut places: Vec<Place> = Vec::new();
    for figure in columns.iter().flat_map(|column| &column.figures) {
        let is_here =
            |place: &Place| place.series == figure.series && (place.x - figure.x).abs() < 1e-9;
        if !places.iter().any(is_here) {
            let name = if figure.x < 1.0 {
                "max".to_owned()
            } else {
                figure.x.to_string()
            };
            places.push(Place {
                series: figure.series.clone(),
                x: figure.x,
                name,
                published: None,
            });
        }
    }
    both(&places, &places, "transactions offered a second", columns)
}
