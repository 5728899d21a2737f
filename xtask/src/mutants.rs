//! `cargo xtask mutants`: breaks the code in small ways and counts how many of them the tests notice.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::{step, tool, tree};

const VERSION: &str = "27.1.0";

/// One section for each crate, so that one crate can be measured again alone.
const RESULT: &str = "bench/results/mutants.md";

const HEAD: &str = "\
# Mutants

`cargo xtask mutants [CRATE [SHARE]]` breaks one function or operator at a time (cargo-mutants) and runs the
tests of that crate alone. *Caught*: a test failed. *Missed*: all tests passed. *Timeout*: the tests
did not end. A mutant that does not compile is not viable and not counted. Code that only costs speed,
and code whose mutants mean the same, is left out with its reason in
[.cargo/mutants.toml](../../.cargo/mutants.toml).
";

/// Measures every crate that decides something: the engine, the domain and the embedded back end. What only costs
/// speed is left out by name in `.cargo/mutants.toml`.
pub(crate) fn run_all(root: &Path) -> Result<()> {
    let crates = tree::crates(root)?;
    let decides = |folder: &str| {
        let decided = folder.starts_with("engine/") || folder.starts_with("domain/");
        // One is a list, the other runs in the compiler only.
        let decides_nothing = ["domain/services", "domain/derive"].contains(&folder);
        folder == "backends/embedded" || decided && !decides_nothing
    };
    let names: Vec<&str> = crates
        .iter()
        .filter(|one| decides(&one.folder))
        .map(|one| one.name.as_str())
        .collect();
    run(root, &names, None)
}

/// Measures each crate: all of its mutants, or a `share` of them such as `0/20`, spread evenly.
pub(crate) fn run(root: &Path, crates: &[&str], share: Option<&str>) -> Result<()> {
    let tool = step::timed("cargo-mutants", || {
        tool::install(root, "cargo-mutants", VERSION)
    })?;
    for name in crates {
        let section = step::timed(name, || measure(root, &tool, name, share))?;
        let path = root.join(RESULT);
        let page = fs::read_to_string(&path).unwrap_or_else(|_missing| HEAD.to_owned());
        fs::write(&path, with_section(&page, name, &section)).context("writing the result")?;
    }
    Ok(())
}

fn measure(root: &Path, tool: &Path, name: &str, share: Option<&str>) -> Result<String> {
    let output = tree::target_folder(root)?.join("mutants").join(name);
    fs::create_dir_all(&output).context("making a folder for the outcomes")?;
    // It may have moved on when they are there.
    let commit = tree::commit(root)?;
    // It ends with an error when mutants were missed: its outcomes say the same.
    Command::new(tool)
        .current_dir(root)
        .args(["mutants", "--no-shuffle", "--colors", "never"])
        .args(["--package", name, "--output"])
        .arg(&output)
        .args(
            share
                .iter()
                .flat_map(|share| ["--sharding=round-robin", "--shard", share]),
        )
        .stdin(Stdio::null())
        .status()
        .context("cannot start cargo-mutants")?;
    let outcomes = output.join("mutants.out/outcomes.json");
    let text = fs::read_to_string(outcomes).context("cargo-mutants left no outcomes")?;
    let outcomes: Outcomes = serde_json::from_str(&text).context("reading the outcomes")?;
    let section = outcomes.section(&commit);
    Ok(match share {
        Some(share) => format!("A sample, {share} of all mutants. {section}"),
        None => section,
    })
}

/// What we read of cargo-mutants' `outcomes.json`.
#[derive(Debug, Deserialize)]
struct Outcomes {
    outcomes: Vec<Outcome>,
    missed: u32,
    caught: u32,
    timeout: u32,
}

#[derive(Debug, Deserialize)]
struct Outcome {
    scenario: Scenario,
    summary: String,
}

#[derive(Debug, Deserialize)]
enum Scenario {
    Baseline,
    Mutant(Mutant),
}

#[derive(Debug, Deserialize)]
struct Mutant {
    name: String,
}

impl Outcomes {
    fn section(&self, commit: &str) -> String {
        let viable = self.missed + self.caught + self.timeout;
        let share = 100.0 * f64::from(viable - self.missed) / f64::from(viable.max(1));
        let mut section = format!(
            "Commit {commit}: {} caught, {} timeouts, {} missed of {viable} viable: {share:.1} %.\n",
            self.caught, self.timeout, self.missed
        );
        for outcome in &self.outcomes {
            if let (Scenario::Mutant(mutant), "MissedMutant") =
                (&outcome.scenario, outcome.summary.as_str())
            {
                write!(section, "\n- missed: `{}`", mutant.name)
                    .expect("a string takes everything");
            }
        }
        section.trim_end().to_owned() + "\n"
    }
}

/// The page with a crate's section put in the place of its earlier one, or at the end.
fn with_section(page: &str, name: &str, section: &str) -> String {
    let title = format!("## {name}\n");
    let mut parts = page.split("\n## ");
    let mut new = parts.next().unwrap_or_default().trim_end().to_owned() + "\n";
    let mut sections: Vec<String> = parts
        .map(|part| format!("## {}\n", part.trim_end()))
        .filter(|part| !part.starts_with(&title))
        .collect();
    sections.push(format!("{title}\n{section}"));
    sections.sort();
    for section in sections {
        new = new + "\n" + &section;
    }
    new
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_become_a_section_that_names_the_missed() {
        let text = r#"{
            "outcomes": [
                {"scenario": "Baseline", "summary": "Success"},
                {"scenario": {"Mutant": {"name": "a.rs:1: replace x"}}, "summary": "MissedMutant"},
                {"scenario": {"Mutant": {"name": "a.rs:2: replace y"}}, "summary": "CaughtMutant"}
            ],
            "missed": 1, "caught": 1, "timeout": 0
        }"#;
        let outcomes: Outcomes = serde_json::from_str(text).unwrap();
        assert_eq!(
            outcomes.section("abc"),
            "Commit abc: 1 caught, 0 timeouts, 1 missed of 2 viable: 50.0 %.\n\n- missed: `a.rs:1: replace x`\n"
        );
    }

    #[test]
    fn a_section_takes_the_place_of_its_earlier_one() {
        let page = with_section("# Mutants\n\nText.\n", "b", "old\n");
        let page = with_section(&page, "a", "first\n");
        let page = with_section(&page, "b", "new\n");
        assert_eq!(page, "# Mutants\n\nText.\n\n## a\n\nfirst\n\n## b\n\nnew\n");
    }
}
