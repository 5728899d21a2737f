//! The published figures beside ours, point by point.

mod cores;

use serde::Serialize;
use turnstile_published::{
    Bookings, GAMES_USERS, Managers, bookings, games, processor, stated, travel,
};
use turnstile_stats::Interval;

use crate::{
    Figure, OriginalExperiment, SeriesColumn,
    column::is_at,
    experiment::{NAGLE, NO_DELAY, ONE, SEVERAL},
};

/// What is measured up along a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CellUnit {
    PerSecond,
    Seconds,
    /// Per cent of one processor.
    Percent,
}

/// One figure over an axis, for some series.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Table {
    pub title: String,
    /// What the axis is: `users`.
    pub across: String,
    pub unit: CellUnit,
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
    /// Of the published figure: where they saw it, or one standard deviation to either side.
    pub published_range: Option<(f64, f64)>,
    /// In the order of the columns.
    pub ours: Vec<Option<ReproducedFigure>>,
}

/// A figure of ours.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ReproducedFigure {
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

pub(crate) fn tables(experiment: OriginalExperiment, columns: &[SeriesColumn]) -> Vec<Table> {
    match experiment {
        OriginalExperiment::BookingMysql | OriginalExperiment::BookingRedis => {
            let rows = bookings(experiment.source());
            let of = |figure: fn(&Bookings) -> f64| -> Vec<Place> {
                let rows = rows.iter();
                rows.map(|row| Place::users(&row.series, row.users, Some(figure(row))))
                    .collect()
            };
            let mut tables = both(
                &of(|row| row.throughput),
                &of(|row| row.response),
                "users",
                columns,
            );
            if experiment == OriginalExperiment::BookingMysql {
                tables.push(of_mysqld(&rows, columns));
            }
            let places = rows.iter();
            let places = places.map(|row| Place::users(&row.series, row.users, None));
            tables.push(of_servers(&places.collect::<Vec<_>>(), "users", columns));
            tables
        }
        OriginalExperiment::GamesUsers => {
            let of = |figure: fn(&turnstile_published::Level) -> f64| -> Vec<Place> {
                let rows = games().into_iter();
                let rows = rows.map(|row| Place::users(NO_DELAY, row.players, Some(figure(&row))));
                let nagle = games().into_iter().filter(|row| row.players <= 100);
                let nagle = nagle.map(|row| Place::users(NAGLE, row.players, Some(figure(&row))));
                rows.chain(nagle).collect()
            };
            let mut tables = both(
                &of(|row| row.throughput),
                &of(|row| row.response),
                "players",
                columns,
            );
            tables.push(of_servers(&arenas(), "players", columns));
            tables
        }
        OriginalExperiment::ExchangeCores => cores::tables(columns),
        OriginalExperiment::TravelOps => vec![parts(columns)],
        OriginalExperiment::TravelRate => rates(columns),
    }
}

/// A point of a table before ours are beside it.
struct Place {
    series: String,
    x: f64,
    name: String,
    published: Option<f64>,
    published_range: Option<(f64, f64)>,
}

impl Place {
    fn users(series: &str, users: usize, published: Option<f64>) -> Self {
        Self {
            series: series.to_owned(),
            x: f64::from(u32::try_from(users).expect("tables have few users")),
            name: users.to_string(),
            published,
            published_range: None,
        }
    }

    fn beside(&self, columns: &[SeriesColumn], cell: fn(&Figure) -> ReproducedFigure) -> Row {
        self.row(columns, |here| {
            let cells: Vec<ReproducedFigure> = here.iter().map(|figure| cell(figure)).collect();
            together(&cells)
        })
    }

    /// The same where not every figure tells it.
    fn beside_known(
        &self,
        columns: &[SeriesColumn],
        cell: fn(&Figure) -> Option<ReproducedFigure>,
    ) -> Row {
        self.row(columns, |here| {
            let cells: Vec<ReproducedFigure> =
                here.iter().filter_map(|figure| cell(figure)).collect();
            together(&cells)
        })
    }

    fn row(
        &self,
        columns: &[SeriesColumn],
        cell: impl Fn(&[&Figure]) -> Option<ReproducedFigure>,
    ) -> Row {
        let ours = columns.iter().map(|column| {
            let is_here =
                |figure: &&Figure| figure.series == self.series && is_at(figure.x, self.x);
            let here: Vec<&Figure> = column.figures.iter().filter(is_here).collect();
            cell(&here)
        });
        Row {
            series: self.series.clone(),
            x: self.x,
            name: self.name.clone(),
            published: self.published,
            published_range: self.published_range,
            ours: ours.collect(),
        }
    }
}

/// Equal runs as one: their mean, and Student's interval.
fn together(cells: &[ReproducedFigure]) -> Option<ReproducedFigure> {
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
    Some(ReproducedFigure {
        value: mean.estimate,
        range: Some((mean.low, mean.high)),
        is_usable: true,
        left_out: cells.len() - usable.len(),
    })
}

fn rate(figure: &Figure) -> ReproducedFigure {
    ReproducedFigure {
        value: figure.throughput,
        range: figure.throughput_range,
        is_usable: figure.is_usable,
        left_out: 0,
    }
}

fn response(figure: &Figure) -> ReproducedFigure {
    ReproducedFigure {
        value: figure.response,
        range: figure.response_range,
        is_usable: figure.is_usable,
        left_out: 0,
    }
}

fn both(
    rates: &[Place],
    responses: &[Place],
    across: &str,
    columns: &[SeriesColumn],
) -> Vec<Table> {
    let table =
        |title: &str, unit, places: &[Place], cell: fn(&Figure) -> ReproducedFigure| Table {
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
        table("Throughput", CellUnit::PerSecond, rates, rate),
        table("Mean response", CellUnit::Seconds, responses, response),
    ]
}

/// Rows in which there is anything at all.
fn measured(mut rows: Vec<Row>) -> Vec<Row> {
    rows.retain(|row| row.published.is_some() || row.ours.iter().any(Option::is_some));
    rows
}

/// What mysqld used, as they saw it from and to.
fn of_mysqld(rows: &[Bookings], columns: &[SeriesColumn]) -> Table {
    let rows = rows
        .iter()
        .filter(|row| row.series != turnstile_published::MIXED);
    let places = rows.map(|row| {
        let busy = processor().into_iter().find(|busy| busy.users == row.users);
        Place {
            published_range: busy.map(|busy| (busy.low, busy.high)),
            ..Place::users(
                &row.series,
                row.users,
                busy.map(|busy| f64::midpoint(busy.low, busy.high)),
            )
        }
    });
    let used = |figure: &Figure| Some(percent(figure, figure.database_busy?));
    Table {
        title: "Processor use of the database".to_owned(),
        across: "users".to_owned(),
        unit: CellUnit::Percent,
        rows: measured(
            places
                .map(|place| place.beside_known(columns, used))
                .collect(),
        ),
    }
}

/// What the process uses that clients talk to.
fn of_servers(places: &[Place], across: &str, columns: &[SeriesColumn]) -> Table {
    let used = |figure: &Figure| Some(percent(figure, figure.server_busy?));
    let rows = places.iter().map(|place| place.beside_known(columns, used));
    Table {
        title: "Processor use of the server that clients talk to".to_owned(),
        across: across.to_owned(),
        unit: CellUnit::Percent,
        rows: measured(rows.collect()),
    }
}

fn percent(figure: &Figure, processors: f64) -> ReproducedFigure {
    ReproducedFigure {
        value: processors * 100.0,
        range: None,
        is_usable: figure.is_usable,
        left_out: 0,
    }
}

/// What was published of the arena's processor.
fn arenas() -> Vec<Place> {
    let (players, percent) = (
        stated(GAMES_USERS, "most players").0,
        stated(GAMES_USERS, "server_1 percent").0,
    );
    let rows = games().into_iter().map(|row| {
        let mut place = Place::users(NO_DELAY, row.players, None);
        place.published = is_at(place.x, players).then_some(percent);
        place
    });
    rows.collect()
}

fn parts(columns: &[SeriesColumn]) -> Table {
    let mut rows = Vec::new();
    for (managers, times) in travel() {
        let series = match managers {
            Managers::One => ONE,
            Managers::Several => SEVERAL,
        };
        let names = turnstile_published::MeanTimes::NAMES
            .into_iter()
            .zip(times.figures());
        for (number, (name, milliseconds)) in (1_u32..).zip(names) {
            let place = Place {
                series: series.to_owned(),
                x: f64::from(number),
                name: name.to_owned(),
                published: Some(milliseconds / 1e3),
                published_range: None,
            };
            rows.push(place.beside(columns, response));
        }
    }
    Table {
        title: "Mean time of requests and transactions".to_owned(),
        across: "request".to_owned(),
        unit: CellUnit::Seconds,
        rows,
    }
}

/// Nothing but words was published.
fn rates(columns: &[SeriesColumn]) -> Vec<Table> {
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
                published_range: None,
            });
        }
    }
    let mut tables = both(&places, &places, "transactions offered a second", columns);
    tables.push(slots(columns));
    tables
}

/// Slots of a run that a page shows: so many of equal length.
const SLOTS: usize = 20;

/// The response in each slot of the runs in which clients offer as much as they can.
fn slots(columns: &[SeriesColumn]) -> Table {
    let mut rows: Vec<Row> = Vec::new();
    for (number, column) in columns.iter().enumerate() {
        let saturated = column.figures.iter().filter(|figure| is_at(figure.x, 0.0));
        for figure in saturated {
            let each = figure.slots.len().div_ceil(SLOTS).max(1);
            for (place, slots) in (1_u32..).zip(figure.slots.chunks(each)) {
                let mut ours = vec![None; columns.len()];
                // The worst of those that are shown as one: a spike stays one.
                ours[number] =
                    slots
                        .iter()
                        .copied()
                        .reduce(f64::max)
                        .map(|value| ReproducedFigure {
                            value,
                            range: None,
                            is_usable: figure.is_usable,
                            left_out: 0,
                        });
                rows.push(Row {
                    series: figure.series.clone(),
                    x: f64::from(place),
                    name: place.to_string(),
                    published: None,
                    published_range: None,
                    ours,
                });
            }
        }
    }
    Table {
        title: "Response by time slot, as fast as the clients can".to_owned(),
        across: "slot of the run".to_owned(),
        unit: CellUnit::Seconds,
        rows,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Storage, rules::column};

    /// The row of a series at this place.
    fn row<'a>(tables: &'a [Table], title: &str, series: &str, name: &str) -> &'a Row {
        let table = tables.iter().find(|table| table.title == title).unwrap();
        let mut rows = table.rows.iter();
        let is_it = |row: &&Row| row.series == series && row.name == name;
        rows.find(is_it).unwrap()
    }

    #[test]
    fn what_mysqld_used_stands_beside_what_ours_used() {
        let mut found = column(
            Storage::Mysql,
            &[("book", &[(50.0, 100.0), (400.0, 400.0)])],
        );
        found.figures[0].database_busy = Some(0.35);
        let found = tables(OriginalExperiment::BookingMysql, &[found]);
        let title = "Processor use of the database";
        let fifty = row(&found, title, "book", "50");
        let told = (fifty.published, fifty.published_range);
        assert_eq!(told, (Some(20.0), Some((18.0, 22.0))));
        assert_eq!(fifty.theirs(CellUnit::Percent), "20 % (18 % to 22 %)");
        assert_eq!(fifty.ours[0].map(|cell| cell.value), Some(35.0));
        // Where they say nothing, ours stand alone.
        assert_eq!(row(&found, title, "book", "400").published, None);
    }

    #[test]
    fn runs_of_the_exchange_have_a_rate_a_deviation_and_an_error() {
        let mut found = column(Storage::Postgres, &[("1000 requests", &[(2.0, 1.0); 4])]);
        for (figure, took) in found.figures.iter_mut().zip([3.9, 4.0, 4.1, 9.0]) {
            figure.took = took;
        }
        found.figures[3].is_usable = false;
        let found = tables(OriginalExperiment::ExchangeCores, &[found]);
        let ours = |title: &str| {
            let row = row(&found, title, "1000 requests", "2");
            let cell = row.ours[0].unwrap();
            (row.published.unwrap(), cell.value, cell.left_out)
        };
        let close = |(a, b, left_out): (f64, f64, usize), theirs: f64, expected: f64| {
            assert!(
                (a - theirs).abs() < 1e-9 && (b - expected).abs() < 1e-3,
                "{a} {b}"
            );
            assert_eq!(left_out, 1);
        };
        close(ours("Throughput"), 250.0, 250.104);
        close(ours("Standard deviation of the wall time"), 0.0403, 0.1);
        close(
            ours("Standard error of the mean wall time"),
            0.018,
            0.057_735,
        );
        let bars = row(&found, "Wall time of all requests", "1000 requests", "2");
        let (low, high) = bars.published_range.unwrap();
        assert!((low - 3.9597).abs() < 1e-9 && (high - 4.0403).abs() < 1e-9);
    }

    #[test]
    fn a_spike_is_seen_among_the_slots_of_a_run() {
        let mut found = column(
            Storage::Embedded,
            &[("2 clients", &[(0.0, 1.0), (50.0, 1.0)])],
        );
        found.figures[0].slots = vec![1.0; 60];
        found.figures[0].slots[31] = 9.0;
        let tables = tables(OriginalExperiment::TravelRate, &[found]);
        let slots = &tables[2].rows;
        let values: Vec<f64> = slots.iter().map(|row| row.ours[0].unwrap().value).collect();
        let expected: Vec<f64> = (0..20)
            .map(|slot| if slot == 10 { 9.0 } else { 1.0 })
            .collect();
        assert_eq!(values, expected);
    }
}
