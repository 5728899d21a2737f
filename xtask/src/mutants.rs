//! `cargo xtask mutants`: breaks the code in small ways and counts how many of them the tests notice.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use crate::{step, tool, tree};

const VERSION: &str = "27.1.0";

/// Exit codes of cargo-mutants that has tried all mutants: all were caught, some were missed, or some did not
/// end. With others the tests fail without any mutant, or it has not come so far.
const MEASURED: [i32; 3] = [0, 2, 3];

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
    let mut mutants = Command::new(tool);
    mutants
        .current_dir(root)
        .args(["mutants", "--no-shuffle", "--colors", "never"])
        .args(["--package", name])
        .args(
            share
                .iter()
                .flat_map(|share| ["--sharding=round-robin", "--shard", share]),
        );
    let section = outcomes(&mut mutants, &output)?.section(&commit);
    Ok(match share {
        Some(share) => format!("A sample, {share} of all mutants. {section}"),
        None => section,
    })
}

/// Runs cargo-mutants; what came of the mutants.
fn outcomes(mutants: &mut Command, output: &Path) -> Result<Outcomes> {
    let folder = output.join("mutants.out");
    if folder.exists() {
        // If it ends early, the outcomes of an earlier run must not pass for its own.
        fs::remove_dir_all(&folder).context("removing the outcomes of before")?;
    }
    let status = mutants
        .arg("--output")
        .arg(output)
        .stdin(Stdio::null())
        .status()
        .context("cannot start cargo-mutants")?;
    let has_measured = status.code().is_some_and(|code| MEASURED.contains(&code));
    ensure!(has_measured, "cargo-mutants ended with {status}");
    let text = fs::read_to_string(folder.join("outcomes.json"));
    let text = text.context("cargo-mutants left no outcomes")?;
    serde_json::from_str(&text).context("reading the outcomes")
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
    use tempfile::TempDir;

    use super::*;

    #[test]
    fn outcomes_count_only_where_all_mutants_were_tried() {
        let kept = r#"{"outcomes": [], "missed": 0, "caught": 0, "timeout": 0}"#;
        let output = TempDir::new().unwrap();
        let folder = output.path().join("mutants.out");
        let run = |leaves: bool, code: i32| {
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join("outcomes.json"), kept).unwrap();
            let new = kept.replace("\"caught\": 0", "\"caught\": 5");
            let leave =
                format!("mkdir $2/mutants.out; echo '{new}' > $2/mutants.out/outcomes.json;");
            let script = format!("{} exit {code}", if leaves { &leave } else { "" });
            let mut tool = Command::new("sh");
            let found = outcomes(tool.args(["-c", &script, "sh"]), output.path());
            found.map_or_else(|error| error.to_string(), |found| found.caught.to_string())
        };
        for code in MEASURED {
            assert_eq!(run(true, code), "5");
            assert_eq!(run(false, code), "cargo-mutants left no outcomes");
        }
        for code in [1, 4, 70] {
            let expected = format!("cargo-mutants ended with exit status: {code}");
            assert_eq!(run(true, code), expected);
        }
    }

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
