//! A table of figures as CSV.

use std::{collections::BTreeMap, fmt};

use csv::StringRecord;

use crate::column::{Column, NoUnit};

/// The most rows of a table: what a person may want to read about.
const ROWS_MAX: usize = 10_000;

/// Figures in rows, each with what tells its series apart.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    rows: Vec<(String, Row)>,
    /// The names of columns that no law knows.
    pub unused: Vec<String>,
}

/// The figures of one point. Times are seconds, rates a second; absent where the table has none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// Its line in the file, from 1.
    pub line: u64,
    pub users: Option<f64>,
    pub throughput: Option<f64>,
    pub response: Option<f64>,
    pub think: Option<f64>,
    /// Busy servers, where 1 is one of them all the time, or a share of all `cores`.
    pub utilization: Option<f64>,
    pub cores: Option<f64>,
    /// What each of the runs completed.
    pub requests: Option<f64>,
    pub runs: Vec<f64>,
    /// Printed about the runs.
    pub mean: Option<RoundedFigure>,
    pub deviation: Option<RoundedFigure>,
    pub error: Option<RoundedFigure>,
}

/// A figure as it is printed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RoundedFigure {
    pub value: f64,
    /// Half a unit of its last digit.
    pub rounding: f64,
}

/// Why text is no table.
#[derive(Debug)]
pub enum InvalidTable {
    /// It is not CSV, or its rows are not equally long.
    Form(csv::Error),
    /// Nothing that a law could test is in its columns.
    NothingToTest {
        columns: Vec<String>,
    },
    /// A time without its unit.
    Unit {
        column: String,
    },
    /// A figure is no number, not finite, or below zero.
    Figure {
        line: u64,
        column: String,
        text: String,
    },
    /// Only the first line is there.
    Empty,
    TooLong,
}

impl Table {
    /// Reads CSV: names of columns in the first line, `#` before comments.
    ///
    /// # Errors
    /// As [`InvalidTable`] says.
    pub fn read(text: &str) -> Result<Self, InvalidTable> {
        let mut reader = csv::ReaderBuilder::new()
            .comment(Some(b'#'))
            .trim(csv::Trim::All)
            .from_reader(text.as_bytes());
        let names = reader.headers().map_err(InvalidTable::Form)?.clone();
        let columns = columns(&names)?;
        let mut records = Vec::new();
        for record in reader.records() {
            records.push(record.map_err(InvalidTable::Form)?);
            if records.len() > ROWS_MAX {
                return Err(InvalidTable::TooLong);
            }
        }
        if records.is_empty() {
            return Err(InvalidTable::Empty);
        }
        let is_label: Vec<bool> = (0..columns.len())
            .map(|column| columns[column] == Column::Other && has_words(&records, column))
            .collect();
        let mut rows = Vec::with_capacity(records.len());
        for record in &records {
            rows.push((label(record, &is_label), row(record, &columns, &names)?));
        }
        let unused = (0..columns.len())
            .filter(|&column| columns[column] == Column::Other && !is_label[column])
            .map(|column| names[column].to_owned());
        Ok(Self {
            rows,
            unused: unused.collect(),
        })
    }

    /// The rows of each series in increasing order of users, series as they come in the file.
    #[must_use]
    pub fn series(&self) -> Vec<(String, Vec<&Row>)> {
        let mut order: BTreeMap<&str, usize> = BTreeMap::new();
        let mut series: Vec<(String, Vec<&Row>)> = Vec::new();
        for (name, row) in &self.rows {
            let place = *order.entry(name).or_insert_with(|| {
                series.push((name.clone(), Vec::new()));
                series.len() - 1
            });
            series[place].1.push(row);
        }
        for (_, rows) in &mut series {
            rows.sort_by(|a, b| a.users.partial_cmp(&b.users).expect("users are finite"));
        }
        series
    }
}

fn columns(names: &StringRecord) -> Result<Vec<Column>, InvalidTable> {
    let mut columns = Vec::with_capacity(names.len());
    for name in names {
        columns.push(Column::of(name).map_err(|NoUnit| InvalidTable::Unit {
            column: name.to_owned(),
        })?);
    }
    let has = |column: fn(&Column) -> bool| columns.iter().any(column);
    let runs = has(|column| matches!(column, Column::Run(_)));
    if !runs {
        for column in &mut columns {
            if let Column::Mean(unit) = *column {
                *column = Column::Response(unit);
            }
        }
    }
    let has = |column: fn(&Column) -> bool| columns.iter().any(column);
    let little = has(|column| *column == Column::Users)
        && has(|column| *column == Column::Throughput)
        && has(|column| matches!(column, Column::Response(_)));
    if little || runs || has(|column| matches!(column, Column::Utilization(_))) {
        return Ok(columns);
    }
    Err(InvalidTable::NothingToTest {
        columns: names.iter().map(str::to_owned).collect(),
    })
}

fn has_words(records: &[StringRecord], column: usize) -> bool {
    let mut values = records.iter().map(|record| &record[column]);
    values.any(|value| !value.is_empty() && value.parse::<f64>().is_err())
}

fn label(record: &StringRecord, is_label: &[bool]) -> String {
    let labels = record.iter().zip(is_label).filter(|(_, is)| **is);
    let labels: Vec<&str> = labels.map(|(value, _)| value).collect();
    labels.join(", ")
}

fn row(
    record: &StringRecord,
    columns: &[Column],
    names: &StringRecord,
) -> Result<Row, InvalidTable> {
    let line = record.position().map_or(0, csv::Position::line);
    let mut row = Row {
        line,
        ..Row::default()
    };
    for ((text, &column), name) in record.iter().zip(columns).zip(names) {
        if column == Column::Other || text.is_empty() {
            continue;
        }
        let figure = text.parse::<f64>().ok();
        let figure = figure.filter(|figure| figure.is_finite() && *figure >= 0.0);
        let value = figure.ok_or_else(|| InvalidTable::Figure {
            line,
            column: name.to_owned(),
            text: text.to_owned(),
        })?;
        let rounding = rounding(text);
        row.put(column, RoundedFigure { value, rounding });
    }
    Ok(row)
}

/// Half a unit of the last digit of a number.
fn rounding(number: &str) -> f64 {
    let (digits, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let decimals = digits.split_once('.').map_or(0, |(_, after)| after.len());
    let decimals = i32::try_from(decimals).unwrap_or(i32::MAX);
    let exponent: i32 = exponent.parse().unwrap_or(0);
    0.5 * 10.0_f64.powi(exponent.saturating_sub(decimals))
}

impl RoundedFigure {
    fn per(self, unit: f64) -> Self {
        Self {
            value: self.value / unit,
            rounding: self.rounding / unit,
        }
    }
}

impl Row {
    fn put(&mut self, column: Column, printed: RoundedFigure) {
        let figure = printed.value;
        match column {
            Column::Users => self.users = Some(figure),
            Column::Throughput => self.throughput = Some(figure),
            Column::Response(unit) => self.response = Some(figure / unit),
            Column::Think(unit) => self.think = Some(figure / unit),
            Column::Run(unit) => self.runs.push(figure / unit),
            Column::Mean(unit) => self.mean = Some(printed.per(unit)),
            Column::Deviation(unit) => self.deviation = Some(printed.per(unit)),
            Column::Error(unit) => self.error = Some(printed.per(unit)),
            Column::Utilization(whole) => self.utilization = Some(figure / whole),
            Column::Cores => self.cores = Some(figure),
            Column::Requests => self.requests = Some(figure),
            Column::Other => {}
        }
    }
}

impl fmt::Display for InvalidTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Form(error) => write!(f, "no table: {error}"),
            Self::NothingToTest { columns } => write!(
                f,
                "nothing can be tested in the columns {}: there must be users, throughput and \
                 response_ms (or _s, _us, _ns), or utilization, or run_1_ms, run_2_ms, ...",
                columns.join(", ")
            ),
            Self::Unit { column } => write!(
                f,
                "the unit of `{column}` is missing: call it {column}_s, {column}_ms, {column}_us \
                 or {column}_ns"
            ),
            Self::Figure { line, column, text } => write!(
                f,
                "line {line}, {column}: `{text}` is no figure: a number from 0 on, with a point \
                 and without separators"
            ),
            Self::Empty => f.write_str("the table has no rows"),
            Self::TooLong => write!(f, "the table has more than {ROWS_MAX} rows"),
        }
    }
}

impl std::error::Error for InvalidTable {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Form(error) => Some(error),
            Self::NothingToTest { .. }
            | Self::Unit { .. }
            | Self::Figure { .. }
            | Self::Empty
            | Self::TooLong => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_make_series_and_unknown_numbers_are_left_out() {
        let text = "# a comment\nmix,users,throughput,mean_ms,p99_ms\nb,2,20,100,1\na,1,10,100,1\nb,1,10,100,1\n";
        let table = Table::read(text).unwrap();
        let told: Vec<(String, Vec<u64>)> = table
            .series()
            .into_iter()
            .map(|(name, rows)| (name, rows.iter().map(|row| row.line).collect()))
            .collect();
        assert_eq!(
            told,
            [("b".to_owned(), vec![5, 3]), ("a".to_owned(), vec![4])]
        );
        assert_eq!(table.unused, ["p99_ms"]);
        assert_eq!(table.rows[0].1.response, Some(0.1));
    }

    #[test]
    fn what_is_no_table_says_why() {
        let rows = [
            (
                "users,throughput\n1,2\n",
                "nothing can be tested in the columns users, throughput",
            ),
            (
                "users,x,latency\n1,2,3\n",
                "the unit of `latency` is missing",
            ),
            (
                "users,x,r_ms\n1,\"7,718\",3\n",
                "line 2, x: `7,718` is no figure",
            ),
            ("users,x,r_ms\n1,-7,3\n", "line 2, x: `-7` is no figure"),
            ("users,x,r_ms\n1,nan,3\n", "line 2, x: `nan` is no figure"),
            ("users,x,r_ms\n1,2\n", "no table: CSV error"),
            ("users,x,r_ms\n", "the table has no rows"),
            ("", "nothing can be tested"),
        ];
        for (text, sentence) in rows {
            let error = Table::read(text).unwrap_err().to_string();
            assert!(error.contains(sentence), "{error}");
        }
    }
}
