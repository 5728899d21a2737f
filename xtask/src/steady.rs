//! `cargo xtask steady`: all tests several times in a row, some of them on a busy machine.

use std::fmt::Write as _;
use std::fs;
use std::hint;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use crate::suite::{self, Count};
use crate::{step, tree};

/// Runs in a row, unless told otherwise.
pub(crate) const RUNS: u32 = 10;

/// Of ten runs, so many are made beside threads that take every core.
const BUSY_OF_TEN: u32 = 3;

const RESULT: &str = "bench/results/steady.md";

/// Runs all tests `runs` times and writes the result file after each run.
pub(crate) fn run(root: &Path, runs: u32) -> Result<()> {
    ensure!(runs > 0, "RUNS is at least 1");
    let clients = suite::install(root)?;
    let commit = tree::commit(root)?;
    let quiet = runs - (runs * BUSY_OF_TEN).div_ceil(10).min(runs - 1);
    let mut done = Vec::new();
    for number in 0..runs {
        let is_busy = number >= quiet;
        let begun = Instant::now();
        let (count, success) = step::timed(&format!("run {} of {runs}", number + 1), || {
            beside(is_busy, || suite::test(root, &clients))
        })?;
        done.push(Run {
            is_busy,
            took: begun.elapsed(),
            count,
            success,
        });
        let page = page(&commit, &done);
        fs::write(root.join(RESULT), page).context("writing the result")?;
    }
    let failed = done.iter().filter(|run| !run.success).count();
    ensure!(failed == 0, "{failed} of {runs} runs failed, see {RESULT}");
    Ok(())
}

struct Run {
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

fn page(commit: &str, runs: &[Run]) -> String {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let mut page = format!(
        "# All tests, several times in a row\n\n\
         `cargo xtask steady`, commit {commit}, {cores} cores. On a busy machine, one thread for each core\n\
         spins beside the tests. The first run includes the build.\n\n\
         | run | machine | passed | failed | skipped | minutes |\n\
         | ---: | --- | ---: | ---: | ---: | ---: |\n"
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
            "| {number} | {machine} | {passed} | {failed} | {skipped} | {minutes:.1} |"
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
        let page = page("abc", &[run(false, &[]), run(true, &["journal::tears"])]);
        assert!(page.contains("| 1 | quiet | 7 | 0 | 0 | 1.5 |\n"), "{page}");
        assert!(page.contains("| 2 | busy | 7 | 1 | 0 | 1.5 |\n"), "{page}");
        assert!(
            page.ends_with("\nRun 2 failed: `journal::tears`\n"),
            "{page}"
        );
    }
}
