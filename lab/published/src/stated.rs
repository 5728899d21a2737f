//! Figures that the reports state in their text, beside their tables.

use serde::Deserialize;

use crate::{STATED, Source};

#[derive(Debug, Deserialize)]
struct Row {
    report: String,
    name: String,
    low: f64,
    high: f64,
}

/// From and to; both are the same where the report states one figure. The unit is that of the file:
/// a count, a rate a second, seconds, or per cent of one processor.
///
/// # Panics
/// When the report states nothing of that name.
#[must_use]
pub fn stated(report: Source, name: &str) -> (f64, f64) {
    let mut rows = STATED.rows::<Row>().into_iter();
    let row = rows.find(|row| row.report == report.name && row.name == name);
    let row = row.unwrap_or_else(|| panic!("{} states no `{name}`", report.name));
    (row.low, row.high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SOURCES;

    #[test]
    fn every_figure_is_of_a_report_and_has_one_name() {
        let rows = STATED.rows::<Row>();
        for row in &rows {
            let mut reports = SOURCES.into_iter();
            let report = reports.find(|source| source.name == row.report).unwrap();
            assert_eq!(stated(report, &row.name), (row.low, row.high));
            assert!(0.0 < row.low && row.low <= row.high, "{row:?}");
        }
        let sum: f64 = rows.iter().map(|row| row.low + row.high).sum();
        assert!((sum - 93023.2513).abs() < 1e-6, "{sum}");
    }
}
