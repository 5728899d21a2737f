//! `cargo xtask steady`: all tests several times in a row, some of them on a busy machine.

use std::fmt::Write as _;
use std::fs;
use std::hint;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};

use crate::suite::{self, Count};
use crate::{step, tree};

/// Runs in a row, unless told otherwise.
pub(crate) const RUNS: u32 = 10;

/// Of ten runs, so many are made beside threads that take every core.
const BUSY_OF_TEN: u32 = 3;

/// The page for readers, and beside it the runs as they are read back.
const RESULT: &str = "bench/results/steady.md";
const KEPT: &str = "bench/results/steady.json";

/// Older runs leave the result.
const RUNS_KEPT: usize = 20;

/// Runs all tests `runs` times. Each run is added to the result, so that many runs may be
/// collected in several nights.
pub(crate) fn run(root: &Path, runs: u32) -> Result<()> {
    ensure!(runs > 0, "RUNS is at least 1");
    let clients = suite::install(root)?;
    let commit = tree::commit(root)?;
    let quiet = runs - (runs * BUSY_OF_TEN).div_ceil(10).min(runs - 1);
    let mut kept = read(root)?;
    let mut failed = 0;
    for number in 0..runs {
        let is_busy = number >= quiet;
        let begun = Instant::now();
        let (count, success) = step::timed(&format!("run {} of {runs}", number + 1), || {
            beside(is_busy, || suite::test(root, &["--workspace"], &clients))
        })?;
        failed += u32::from(!success);
        kept.push(Run {
            commit: commit.clone(),
            is_busy,
            took: begun.elapsed(),
            count,
            success,
        });
        kept.drain(..kept.len().saturating_sub(RUNS_KEPT));
        let json = serde_json::to_string_pretty(&kept)?;
        fs::write(root.join(KEPT), json + "\n").context("writing the result")?;
        fs::write(root.join(RESULT), page(&kept)).context("writing the result")?;
    }
    ensure!(failed == 0, "{failed} of {runs} runs failed, see {RESULT}");
    Ok(())
}

fn read(root: &Path) -> Result<Vec<Run>> {
    let path = root.join(KEPT);
    if !path.exists() {
        return Ok(Vec::new());
    }
    let text = fs::read_to_string(path).context("reading the runs of before")?;
    serde_json::from_str(&text).with_context(|| format!("{KEPT} is not a list of runs"))
}

#[derive(Serialize, Deserialize)]
struct Run {
    commit: String,
    is_busy: bool,
    took: Duration,
    count: Count,
    success: bool,
}

/// Does `work`, on a busy machine beside one thread for each core that never rests.
fn beside<T>(is_busy: bool, work: impl FnOnce() -> T) -> T {
    let stop = AtomicBool::new(!is_busy);
    let cores = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _core in 0..cores {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    hint::spin_loop();
                }
            });
        }
        let result = work();
        stop.store(true, Ordering::Relaxed);
        result
    })
}

fn page(runs: &[Run]) -> String {
    let mut page = String::from(
        "# All tests, several times in a row\n\n\
         `cargo xtask steady [RUNS]` adds a row for each run. On a busy machine, one thread for each core\n\
         spins beside the tests. The first run after a change includes the build.\n\n\
         | run | commit | machine | passed | failed | skipped | minutes |\n\
         | ---: | --- | --- | ---: | ---: | ---: | ---: |\n",
    );
    for (number, run) in (1..).zip(runs) {
        let machine = if run.is_busy { "busy" } else { "quiet" };
        let minutes = run.took.as_secs_f64() / 60.0;
        let Count {
            passed,
            failed,
            skipped,
            ..
        } = run.count;
        writeln!(
            page,
            "| {number} | {} | {machine} | {passed} | {failed} | {skipped} | {minutes:.1} |",
            run.commit
        )
        .expect("a string takes everything");
    }
    for (number, run) in (1..).zip(runs) {
        for name in &run.count.failures {
            writeln!(page, "\nRun {number} failed: `{name}`").expect("a string takes everything");
        }
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_names_what_failed() {
        let run = |is_busy, failures: &[&str]| Run {
            commit: "abc".to_owned(),
            is_busy,
            took: Duration::from_secs(90),
            count: Count {
                passed: 7,
                failed: u32::try_from(failures.len()).unwrap(),
                skipped: 0,
                failures: failures.iter().map(|&name| name.to_owned()).collect(),
            },
            success: failures.is_empty(),
        };
        let page = page(&[run(false, &[]), run(true, &["journal::tears"])]);
        assert!(
            page.contains("| 1 | abc | quiet | 7 | 0 | 0 | 1.5 |\n"),
            "{page}"
        );
        assert!(
            page.contains("| 2 | abc | busy | 7 | 1 | 0 | 1.5 |\n"),
            "{page}"
        );
        assert!(
            page.ends_with("\nRun 2 failed: `journal::tears`\n"),
            "{page}"
        );
    }
}
