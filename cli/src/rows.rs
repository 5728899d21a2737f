//! Reads CSV rows; counts and reports the bad ones.

use std::{
    collections::BTreeMap,
    fmt::Display,
    fs::File,
    path::{Path, PathBuf},
};

use csv::{Position, Reader, StringRecord};

use crate::terminal;

/// How many bad rows are told one by one; the rest are counted.
const TOLD_MAX: u64 = 20;

/// A file, read.
#[derive(Debug)]
pub(crate) struct CsvTable<T, R> {
    /// How many there are, good and bad.
    pub(crate) count: u64,
    pub(crate) good: Vec<T>,
    /// The others, by reason.
    pub(crate) left_out: BTreeMap<R, u64>,
}

/// A row that cannot be used: the reason, its column (from 0; none when the row as a whole is bad),
/// and the text found there.
#[derive(Debug)]
pub(crate) struct BadRow<R> {
    pub(crate) reason: R,
    pub(crate) column: Option<usize>,
    pub(crate) text: String,
}

/// Why a row is left out.
pub(crate) trait SkipReason: Copy + Ord + Display {
    /// The row has too many fields or too few.
    const FIELDS: Self;
    /// The row is not UTF-8.
    const UTF8: Self;

    /// Whether it is counted only: it is no fault of the file.
    fn is_quiet(self) -> bool;
}

impl<R: SkipReason> BadRow<R> {
    /// What is wrong with one column.
    pub(crate) fn at(row: &StringRecord, column: usize, reason: R) -> Self {
        Self {
            reason,
            column: Some(column),
            text: row[column].to_owned(),
        }
    }
}

/// Reads all rows; `take` makes something of one with its line. Bad rows are told on standard error
/// as `file:line:column:` and counted.
///
/// # Errors
/// The file cannot be read.
pub(crate) fn read<T, R: SkipReason>(
    rows: &mut Reader<File>,
    path: &Path,
    mut take: impl FnMut(&StringRecord, u64) -> Result<T, BadRow<R>>,
) -> anyhow::Result<CsvTable<T, R>> {
    let mut read = CsvTable {
        count: 0,
        good: Vec::new(),
        left_out: BTreeMap::new(),
    };
    let mut complaints = Complaints {
        path: path.to_owned(),
        told: 0,
    };
    let mut row = StringRecord::new();
    loop {
        let line = rows.position().line();
        let taken = match rows.read_record(&mut row) {
            Ok(false) => break,
            Ok(true) => {
                // Empty lines are skipped: the row knows better where it began.
                let line = row.position().map_or(line, Position::line);
                take(&row, line).map_err(|bad| (line, bad))
            }
            Err(error) => Err((line, unreadable(error, path)?)),
        };
        read.count += 1;
        match taken {
            Ok(good) => read.good.push(good),
            Err((line, bad)) => {
                *read.left_out.entry(bad.reason).or_default() += 1;
                complaints.tell(line, &bad);
            }
        }
    }
    complaints.finish();
    Ok(read)
}

/// A row that the CSV reader refuses, unless it is the file that failed.
fn unreadable<R: SkipReason>(error: csv::Error, path: &Path) -> anyhow::Result<BadRow<R>> {
    let reason = match error.kind() {
        csv::ErrorKind::UnequalLengths { .. } => R::FIELDS,
        csv::ErrorKind::Utf8 { .. } => R::UTF8,
        _ => return Err(anyhow::Error::new(error).context(path.display().to_string())),
    };
    Ok(BadRow {
        reason,
        column: None,
        text: error.to_string(),
    })
}

/// Says what is wrong with the first bad rows.
struct Complaints {
    path: PathBuf,
    told: u64,
}

impl Complaints {
    fn tell<R: SkipReason>(&mut self, line: u64, bad: &BadRow<R>) {
        if bad.reason.is_quiet() {
            return;
        }
        self.told += 1;
        if self.told <= TOLD_MAX {
            let column = bad
                .column
                .map_or_else(String::new, |column| format!("{}:", column + 1));
            let path = self.path.display();
            terminal::note(format_args!(
                "{path}:{line}:{column} {}: `{}`",
                bad.reason, bad.text
            ));
        }
    }

    fn finish(self) {
        if let more @ 1.. = self.told.saturating_sub(TOLD_MAX) {
            let path = self.path.display();
            terminal::note(format_args!("{path}: and {more} more bad rows"));
        }
    }
}
