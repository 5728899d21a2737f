//! A run of the lab as a page for people, as a table, and as a text.
//!
//! Pure functions of [`Run`]: `run.json` is the result, these are views of it. The page is one file:
//! it asks nobody for anything, and holds the figures that it shows.

#![forbid(unsafe_code)]

mod beside;
mod chart;
mod curves;
mod page;
mod part;
mod rows;
mod summary;
mod text;

use turnstile_reproduce::{Reproduction, Session};
use turnstile_result::Run;

pub use rows::csv;
pub use summary::{Headline, markdown};

/// A page about experiments of the ancestors that were made again on this machine.
#[must_use]
pub fn reproductions(all: &[Reproduction], session: &Session) -> String {
    beside::page(all, session).into_string()
}

/// The page, `report.html`.
#[must_use]
pub fn html(run: &Run) -> String {
    page::page(run)
}
