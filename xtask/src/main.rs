//! The automation of the house: `cargo xtask ci|check|test|tidy|dist|deny|docs|reference|house|steady|mutants`.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "printing is how a command line tool answers"
)]

mod check;
mod ci;
mod clients;
mod code;
#[cfg(test)]
mod dashboards;
mod deny;
mod dist;
mod docs;
mod house;
mod modules;
mod mutants;
mod page;
mod programs;
mod reference;
mod steady;
mod step;
mod suite;
mod tidy;
mod tool;
mod tree;

use std::env;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use crate::tree::Tree;

const USAGE: &str = "\
cargo xtask ci               format, lints, tidy, all tests, the simulator: what a change must pass
cargo xtask check [BASE]     format, tidy, lints and unit tests of the crates that differ from BASE,
                             a commit (default HEAD); needs neither root nor network
cargo xtask test [AREA]      installs what the tests need, then runs them: all, or those of a crate
                             or a folder of crates, for example server or domain
cargo xtask tidy [--bless]   the rules of the house; --bless accepts changed formats
cargo xtask dist             builds and packs what is shipped into target/packages, without a network
cargo xtask dist PROGRAM DIR packs a program that is built already into DIR, for tests
cargo xtask deny             licences, sources, duplicates and known holes of the dependencies;
                             needs the network
cargo xtask docs             builds the book of docs/ into target/book
cargo xtask house [BEFORE]   figures of the source tree, beside those of an older checkout
cargo xtask reference        writes the generated documents in docs/ and ops/ again

By night, each with a result that is kept:
cargo xtask steady [RUNS]    all tests, 10 times unless told otherwise, the last 3 of 10 on a busy machine
cargo xtask mutants [CRATE [SHARE]]
                             breaks the code in small ways and counts how many the tests notice;
                             SHARE takes a sample, for example 0/20";

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match run(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(words: &[&str]) -> Result<()> {
    let root = root();
    match words {
        ["ci"] => ci::run(root),
        ["check"] => check::run(root, "HEAD"),
        ["check", base] => check::run(root, base),
        ["test"] => suite::run(root),
        ["test", area] => suite::run_area(root, area),
        ["deny"] => deny::run(root),
        ["dist"] => dist::run(root),
        ["dist", program, into] => dist::run_with(root, program, into),
        ["docs"] => docs::run(root),
        ["steady"] => steady::run(root, steady::RUNS),
        ["steady", runs] => steady::run(root, runs.parse().context("RUNS is a number")?),
        ["mutants"] => mutants::run_all(root),
        ["mutants", name] => mutants::run(root, &[name], None),
        ["mutants", name, share] => mutants::run(root, &[name], Some(share)),
        ["house"] => house::run(root, None).map(|table| println!("{table}")),
        ["house", before] => house::run(root, Some(before)).map(|table| println!("{table}")),
        ["reference"] => reference::run(root),
        ["tidy"] => tidy::run(root),
        ["tidy", "--bless"] => {
            tidy::bless(&Tree::load(root)?)?;
            tidy::run(root)
        }
        _ => bail!("unknown command\n\n{USAGE}"),
    }
}

/// The folder of the workspace, which holds this crate.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("xtask is a folder of the workspace")
}
