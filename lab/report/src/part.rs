//! The twelve parts of a page.

mod again;
mod correctness;
mod curve;
mod limits;
mod operations;
mod percentiles;
mod repeats;
mod resources;
mod scaling;
mod stack;
mod stick;
mod timeline;
mod validity;
mod verdict;

use maud::{Markup, html};
use turnstile_result::Run;

use crate::text;

/// One section.
pub(crate) struct Part {
    /// The anchor.
    pub(crate) id: &'static str,
    /// For the table of contents.
    pub(crate) short: &'static str,
    pub(crate) title: &'static str,
    pub(crate) body: Markup,
    /// Whether this run has nothing to show here; the body says what would.
    pub(crate) is_absent: bool,
}

/// Anchor, name in the table of contents, title, and what is said where a run has nothing to show.
const HEADS: [(&str, &str, &str, &str); 12] = [
    ("verdict", "Verdict", "The verdict", ""),
    (
        "load",
        "Load",
        "Throughput and response against load",
        "One load was measured. `turnstile lab sweep` measures several and draws the curve.",
    ),
    (
        "stick",
        "Tail",
        "What the slowest feel as the load grows",
        "One load was measured: several rates (`-r`) show where the tail bends upwards.",
    ),
    (
        "percentiles",
        "Percentiles",
        "How responses are spread",
        "Nothing was answered.",
    ),
    (
        "operations",
        "Operations",
        "Each operation",
        "Nothing was asked.",
    ),
    (
        "time",
        "Time",
        "Along the time",
        "No pieces of the run were kept.",
    ),
    (
        "resources",
        "Resources",
        "Who used what, and where the users stand",
        "Nothing is known of the processes: the server may be on another machine.",
    ),
    (
        "scaling",
        "Cores",
        "More cores",
        "The server's cores were no axis of this run. `turnstile lab sweep --cores 1,2,4` makes them one.",
    ),
    (
        "repeats",
        "Repeats",
        "Every run again",
        "Each load was measured once. `--repeat 5` shows how much the same figure varies from run to run.",
    ),
    (
        "validity",
        "Validity",
        "May the figures be used?",
        "Nothing was checked.",
    ),
    (
        "correctness",
        "Correctness",
        "Did the server keep its promises?",
        "Nothing is known of what this server promises, so nothing was proven.",
    ),
    ("again", "Again", "How to have it again", ""),
];

/// In the order in which they are read.
pub(crate) fn all(run: &Run) -> Vec<Part> {
    let bodies = [
        Some(verdict::body(run)),
        curve::body(run),
        stick::body(run),
        percentiles::body(run),
        operations::body(run),
        timeline::body(run),
        resources::body(run),
        scaling::body(run),
        repeats::body(run),
        validity::body(run),
        correctness::body(run),
        Some(again::body(run)),
    ];
    let parts = HEADS.into_iter().zip(bodies);
    let parts = parts.map(|((id, short, title, instead), body)| Part {
        id,
        short,
        title,
        is_absent: body.is_none(),
        body: body.unwrap_or_else(|| html! { p.instead { (text::coded(instead)) } }),
    });
    parts.collect()
}
