//! The generated documents in `docs/` and `ops/`: the tests that compare them write them as well.

use std::path::Path;

use anyhow::Result;

use crate::step;

/// Crate, kind of target and test of each document.
const DOCUMENTS: [(&str, &str, &str); 5] = [
    ("turnstile", "--bins", "the_reference_page_is_current"),
    (
        "turnstile-resp",
        "--lib",
        "the_pages_of_operations_and_refusals_are_current",
    ),
    (
        "turnstile-http",
        "--lib",
        "the_document_is_the_reviewed_one",
    ),
    ("turnstile-http", "--lib", "the_page_of_rights_is_current"),
    ("xtask", "--bins", "the_dashboards_are_current"),
];

pub(crate) fn run(root: &Path) -> Result<()> {
    for (name, target, test) in DOCUMENTS {
        let mut write = step::cargo(root);
        write.args(["test", "--quiet", "--package", name, target, test]);
        step::run(write.env("TURNSTILE_BLESS", "1"))?;
    }
    Ok(())
}
