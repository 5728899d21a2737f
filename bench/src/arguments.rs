//! The arguments that measurements share.

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;

use crate::server;

/// How much is measured, and where the results go.
#[derive(Args, Debug)]
pub(crate) struct RunExtent {
    /// Little and short: to see that everything works
    #[arg(long)]
    pub(crate) quick: bool,
    /// Where the two files go [default: bench/results, or nowhere for a quick run or a part]
    #[arg(long)]
    out: Option<PathBuf>,
}

/// The results that are kept.
const RESULTS: &str = "bench/results";

/// Our program under measurement.
#[derive(Args, Debug)]
pub(crate) struct Program {
    /// Our binary; without it, cargo builds the one that is shipped (profile `dist`)
    #[arg(long)]
    turnstile: Option<PathBuf>,
}

impl RunExtent {
    /// Where the files of a whole run go, or those of a part of one. A quick run and a part take the place
    /// of a kept result only where that is asked for.
    pub(crate) fn out(&self, is_part: bool) -> Option<&Path> {
        let is_kept = !self.quick && !is_part;
        self.out
            .as_deref()
            .or_else(|| is_kept.then_some(Path::new(RESULTS)))
    }
}

impl Program {
    /// Where it is, built if need be.
    pub(crate) fn path(&self) -> Result<PathBuf> {
        match &self.turnstile {
            Some(path) => Ok(path.clone()),
            None => server::build(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::RunExtent;

    #[test]
    fn a_quick_run_and_a_part_replace_no_kept_result_unless_told() {
        let rows = [
            (false, false, None, Some("bench/results")),
            (true, false, None, None),
            (false, true, None, None),
            (true, true, Some("elsewhere"), Some("elsewhere")),
            (false, true, Some("bench/results"), Some("bench/results")),
        ];
        for (quick, is_part, out, expected) in rows {
            let out = out.map(PathBuf::from);
            let extent = RunExtent { quick, out };
            let found = extent.out(is_part);
            assert_eq!(found, expected.map(Path::new), "{extent:?}, {is_part}");
        }
    }
}
