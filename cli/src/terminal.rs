//! What a person at the terminal sees: lines, tables and progress.
//!
//! Results go to standard output, everything on the way to them to standard error.

use std::{
    fmt,
    io::{self, Write as _},
};

use indicatif::{ProgressBar, ProgressStyle};

/// How many plain lines a long task prints when nobody watches a bar.
const PLAIN_STEPS: u64 = 10;

/// Whoever read standard output has gone, as `head` goes when it has its lines.
#[derive(Debug)]
struct ReaderGone;

impl fmt::Display for ReaderGone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the reader of standard output has gone")
    }
}

impl std::error::Error for ReaderGone {}

/// Prints one line of the result.
///
/// # Errors
/// Standard output is closed.
pub(crate) fn line(text: impl fmt::Display) -> io::Result<()> {
    write(format!("{text}\n").as_bytes())
}

/// Writes to standard output.
///
/// # Errors
/// Standard output is closed.
pub(crate) fn write(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let written = out.write_all(bytes).and_then(|()| out.flush());
    written.map_err(|error| match error.kind() {
        io::ErrorKind::BrokenPipe => io::Error::new(io::ErrorKind::BrokenPipe, ReaderGone),
        _ => error,
    })
}

/// Whether an error says only that the reader of standard output has gone.
pub(crate) fn is_reader_gone(error: &anyhow::Error) -> bool {
    let error = error
        .downcast_ref::<io::Error>()
        .and_then(io::Error::get_ref);
    error.is_some_and(|cause| cause.is::<ReaderGone>())
}

/// Prints one line about the way. It is lost when standard error is closed: then nobody reads it.
pub(crate) fn note(text: impl fmt::Display) {
    writeln!(io::stderr(), "{text}").ok();
}

/// Rows of a label and a value under one title; labels to the left, values aligned.
#[derive(Debug, Default)]
pub(crate) struct Table {
    rows: Vec<(String, String)>,
}

impl Table {
    pub(crate) fn row(&mut self, label: impl Into<String>, value: impl fmt::Display) {
        self.rows.push((label.into(), format!("{value}")));
    }

    /// # Errors
    /// Standard output is closed.
    pub(crate) fn print(&self) -> io::Result<()> {
        line(self)
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.rows.iter().map(|(label, _)| label.len()).max();
        let width = width.unwrap_or_default();
        for (number, (label, value)) in self.rows.iter().enumerate() {
            let end = if number == 0 { "" } else { "\n" };
            write!(f, "{end}{label:<width$}  {value}")?;
        }
        Ok(())
    }
}

/// A bar on a terminal; a few plain lines elsewhere.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
    what: &'static str,
    total: u64,
    done: u64,
}

impl Progress {
    pub(crate) fn new(what: &'static str, total: u64) -> Self {
        let bar = ProgressBar::new(total);
        let style = ProgressStyle::with_template("{msg} {wide_bar} {human_pos}/{human_len} {eta}")
            .expect("the template is well formed");
        bar.set_style(style);
        bar.set_message(what);
        Self {
            bar,
            what,
            total,
            done: 0,
        }
    }

    pub(crate) fn step(&mut self) {
        self.reach(self.done + 1);
    }

    /// Notes how many steps are done by now; more than there should be in all count as all.
    pub(crate) fn reach(&mut self, done: u64) {
        let before = std::mem::replace(&mut self.done, done.min(self.total));
        self.bar.set_position(self.done);
        let passed = |done: u64| done * PLAIN_STEPS / self.total.max(1);
        if self.bar.is_hidden() && passed(self.done) > passed(before) {
            note(format_args!("{} {}/{}", self.what, self.done, self.total));
        }
    }

    pub(crate) fn finish(self) {
        self.bar.finish_and_clear();
    }
}
