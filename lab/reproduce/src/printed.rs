//! A reproduction as text, for people and for documents.

use std::fmt;

use turnstile_stats::units::{Nanos, PerSecond};

use crate::{CellUnit, LeftOut, ReproducedFigure, Reproduction, Row, Table};

impl CellUnit {
    /// A figure as people read it.
    #[must_use]
    pub fn shown(self, value: f64) -> String {
        match self {
            Self::PerSecond => format!("{}/s", PerSecond(value)),
            Self::Seconds => Nanos(value * 1e9).to_string(),
            Self::Percent => format!("{value:.0} %"),
        }
    }
}

impl ReproducedFigure {
    fn shown(&self, unit: CellUnit) -> String {
        let mut text = unit.shown(self.value);
        if let Some((low, high)) = self.range {
            let share = (high - low) / 2.0 / self.value * 100.0;
            text += &format!(" +-{share:.1}%");
        }
        if !self.is_usable {
            text += " (invalid)";
        }
        if self.left_out > 0 {
            text += &format!(" ({} invalid left out)", self.left_out);
        }
        text
    }
}

impl Row {
    /// What was published, with its range, or a dash.
    #[must_use]
    pub fn theirs(&self, unit: CellUnit) -> String {
        let Some(figure) = self.published else {
            return "-".to_owned();
        };
        match self.published_range {
            Some((low, high)) => {
                let (figure, low, high) = (unit.shown(figure), unit.shown(low), unit.shown(high));
                format!("{figure} ({low} to {high})")
            }
            None => unit.shown(figure),
        }
    }
}

/// Markdown: as readable on a terminal as in a document.
impl fmt::Display for Reproduction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n", self.provenance)?;
        for notice in &self.notices {
            writeln!(f, "* {notice}")?;
        }
        for failed in &self.failed {
            writeln!(f, "* **not measured**: {failed}")?;
        }
        for LeftOut {
            column,
            invalid,
            figures,
        } in &self.left_out
        {
            writeln!(
                f,
                "* {column}: {invalid} of {figures} figures are invalid and left out of every conclusion"
            )?;
        }
        for table in &self.tables {
            self.write_table(table, f)?;
        }
        writeln!(
            f,
            "\n| conclusion of the original | here | why |\n| --- | --- | --- |"
        )?;
        for conclusion in &self.conclusions {
            let (claim, fate, why) = (&conclusion.claim, conclusion.fate.name(), &conclusion.why);
            writeln!(f, "| {claim} | **{fate}** | {why} |")?;
        }
        Ok(())
    }
}

impl Reproduction {
    fn write_table(&self, table: &Table, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "\n{}:\n\n| | {} | published |",
            table.title, table.across
        )?;
        for column in &self.columns {
            write!(f, " {column} | ours / theirs |")?;
        }
        writeln!(
            f,
            "\n| --- | ---{}",
            " | ---".repeat(1 + 2 * self.columns.len()) + " |"
        )?;
        for row in &table.rows {
            let published = row.theirs(table.unit);
            write!(f, "| {} | {} | {published} |", row.series, row.name)?;
            for (number, cell) in row.ours.iter().enumerate() {
                let shown = cell.map_or_else(|| "-".to_owned(), |cell| cell.shown(table.unit));
                let ratio = row.ratio(number).map_or_else(|| "-".to_owned(), ratio);
                write!(f, " {shown} | {ratio} |")?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

/// With three digits.
pub(crate) fn ratio(ratio: f64) -> String {
    match ratio {
        ratio if ratio >= 100.0 => format!("{ratio:.0}"),
        ratio if ratio >= 10.0 => format!("{ratio:.1}"),
        ratio if ratio >= 1.0 => format!("{ratio:.2}"),
        ratio => format!("{ratio:.3}"),
    }
}
