//! A run as files: JSON is the result, Markdown a view of it.

use std::{fmt, path::Path};

use anyhow::Result;
use serde::Serialize;

use super::{Said, cases::Bad};
use crate::report::write_files;

/// Of twenty planted bottlenecks so many are to be named.
const NAMED_MIN: usize = 18;

#[derive(Debug, Serialize)]
pub(crate) struct Report {
    /// Quick runs are short, and prove only that the benchmark works.
    pub(super) quick: bool,
    /// Whether all that can be planted was; a part of it has no targets.
    #[serde(skip)]
    pub(super) whole: bool,
    pub(super) named: Vec<Named>,
    pub(super) refused: Vec<Refused>,
    pub(super) accepted: Vec<Refused>,
}

/// What the lab called a planted bottleneck.
#[derive(Debug, Serialize)]
pub(super) struct Named {
    pub(super) planted: &'static str,
    pub(super) expected: &'static [&'static str],
    pub(super) named: String,
    pub(super) probability: f64,
    pub(super) why: String,
}

/// How a run ended.
#[derive(Debug, Serialize)]
pub(super) struct Refused {
    planted: &'static str,
    /// Any of these exit codes is right.
    expected: &'static [i32],
    code: Option<i32>,
    /// The checks that failed, and what else was said against it.
    because: Vec<String>,
}

impl Named {
    fn is_right(&self) -> bool {
        self.expected.contains(&self.named.as_str())
    }
}

impl Refused {
    pub(super) fn of(bad: &Bad, said: &Said) -> Self {
        let point = said.run.as_ref().map(|run| &run["points"][0]);
        let checks = point.and_then(|point| point["validity"].as_array());
        let failed = checks.into_iter().flatten();
        let failed = failed.filter(|check| check["outcome"] == "fails");
        let mut because: Vec<String> = failed
            .filter_map(|check| Some(check["check"].as_str()?.to_owned()))
            .collect();
        if said.code == Some(96) {
            let why = point.and_then(|point| point["steady"]["why"].as_str());
            because.extend(why.map(str::to_owned));
        }
        Self {
            planted: bad.name,
            expected: bad.codes,
            code: said.code,
            because,
        }
    }

    fn is_right(&self) -> bool {
        self.code.is_some_and(|code| self.expected.contains(&code))
    }
}

impl Report {
    pub(super) const fn is_empty(&self) -> bool {
        self.named.is_empty() && self.refused.is_empty() && self.accepted.is_empty()
    }

    /// Writes `bottlenecks.json` and `bottlenecks.md`, in place of those of an earlier run.
    pub(super) fn write(&self, dir: &Path) -> Result<()> {
        write_files(self, dir, "bottlenecks")
    }
}

const fn mark(is_right: bool) -> &'static str {
    if is_right { "yes" } else { "NO" }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let length = if self.quick { "quick" } else { "full" };
        writeln!(f, "# Planted bottlenecks and bad runs ({length} run)\n")?;
        writeln!(
            f,
            "`turnstile-bench bottlenecks` gives these again: real servers, each with one known fault, on \
             a core of their own where nothing else is said, driven by `lab bottleneck` and `lab run`.\n"
        )?;
        if self.whole {
            self.write_targets(f)?;
        }
        self.write_named(f)?;
        writeln!(f, "\n## Bad runs\n")?;
        write_refused(f, &self.refused)?;
        writeln!(f, "\n## Sound runs\n")?;
        write_refused(f, &self.accepted)
    }
}

impl Report {
    fn write_targets(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = self.named.iter().filter(|one| one.is_right()).count();
        let refused = self.refused.iter().filter(|one| one.is_right()).count();
        let lost = self.accepted.iter().filter(|one| !one.is_right()).count();
        writeln!(f, "| target | bound | reached | |\n|---|---|---:|---|")?;
        let rows = [
            (
                "bottlenecks named",
                format!("{NAMED_MIN} of 20"),
                named,
                self.named.len(),
                named >= NAMED_MIN,
            ),
            (
                "bad runs refused",
                "all".to_owned(),
                refused,
                self.refused.len(),
                refused == self.refused.len(),
            ),
            (
                "sound runs refused",
                "2 %".to_owned(),
                lost,
                self.accepted.len(),
                lost * 50 <= self.accepted.len(),
            ),
        ];
        for (target, bound, count, of, is_met) in rows {
            let verdict = if is_met { "met" } else { "MISSED" };
            writeln!(f, "| {target} | {bound} | {count} of {of} | {verdict} |")?;
        }
        Ok(())
    }

    fn write_named(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "\n## Bottlenecks\n\n| planted | named | right | P | why |\n|---|---|---|---:|---|"
        )?;
        for one in &self.named {
            let right = mark(one.is_right());
            writeln!(
                f,
                "| {} | {} | {right} | {:.2} | {} |",
                one.planted, one.named, one.probability, one.why
            )?;
        }
        Ok(())
    }
}

fn write_refused(f: &mut fmt::Formatter<'_>, runs: &[Refused]) -> fmt::Result {
    writeln!(
        f,
        "| planted | exit code | right | because |\n|---|---:|---|---|"
    )?;
    for one in runs {
        let code = one
            .code
            .map_or_else(|| "-".to_owned(), |code| code.to_string());
        let because = one.because.join(", ");
        writeln!(
            f,
            "| {} | {code} | {} | {because} |",
            one.planted,
            mark(one.is_right())
        )?;
    }
    Ok(())
}
