//! All that the laws say of one table.

use std::fmt;

use serde::Serialize;

use crate::{Law, Point, Settings, Table, points, printed};

/// All that was found in one table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Audit {
    pub settings: Settings,
    pub series: Vec<Series>,
    /// Columns that no law knows.
    pub unused: Vec<String>,
}

/// Points that belong together, in increasing order of users.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Series {
    /// What its labels say; empty when the table has none.
    pub name: String,
    pub points: Vec<Point>,
}

impl Audit {
    #[must_use]
    pub fn of(table: &Table, settings: Settings) -> Self {
        let series = table.series().into_iter().map(|(name, rows)| Series {
            points: points::check(&rows, &settings),
            name,
        });
        Self {
            series: series.collect(),
            settings,
            unused: table.unused.clone(),
        }
    }

    pub fn points(&self) -> impl Iterator<Item = &Point> {
        self.series.iter().flat_map(|series| &series.points)
    }

    /// How many points break a law.
    #[must_use]
    pub fn broken(&self) -> usize {
        self.points().filter(|point| point.is_broken()).count()
    }

    /// How many points break this law.
    #[must_use]
    pub fn breaking(&self, law: Law) -> usize {
        let breaks = |point: &&Point| point.breaks(law);
        self.points().filter(breaks).count()
    }
}

impl fmt::Display for Audit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Settings {
            closed,
            think,
            tolerance,
        } = self.settings;
        match (closed, think > 0.0) {
            (true, false) => f.write_str("closed loop without think time")?,
            (true, true) => write!(f, "closed loop, {think} s to think")?,
            (false, _) => f.write_str("not known to be a closed loop: fewer laws can be tested")?,
        }
        writeln!(f, "; a law may be off by {:.0} %", tolerance * 100.0)?;
        for series in &self.series {
            write!(f, "\n{series}")?;
        }
        if !self.unused.is_empty() {
            let columns = self.unused.join(", ");
            writeln!(f, "\nno law knows these columns: {columns}")?;
        }
        let (broken, all) = (self.broken(), self.points().count());
        write!(f, "\n{broken} of {all} points break a law")
    }
}

impl fmt::Display for Series {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.name.is_empty() {
            writeln!(f, "{}", self.name)?;
        }
        printed::table(&self.points, f)
    }
}
