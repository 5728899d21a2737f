//! The originals' experiments with every back end that they need: private databases on the server's core,
//! one `turnstile lab reproduce all`, and its pages where the results are.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, Result, ensure};
use clap::Args;

use crate::{
    arguments::Program,
    database::{Home, OwnServers},
    ground::{self, Ground},
    server::Persistence,
};

#[derive(Args, Debug)]
pub(crate) struct Reproduce {
    /// A few short runs: to see that everything works
    #[arg(long)]
    brief: bool,
    /// Where the pages go
    #[arg(long, default_value = "bench/results/reproduce")]
    out: PathBuf,
    /// Where every run, the page and the figures stay
    #[arg(long, default_value = "runs/reproduce")]
    runs: PathBuf,
    /// Go on with what is there
    #[arg(long)]
    resume: bool,
    /// Where the databases keep their files: a directory on the disk of interest
    #[arg(long, default_value = "/var/tmp")]
    scratch: PathBuf,
    #[command(flatten)]
    program: Program,
}

/// Where rooms are kept, as the lab is told, and where the exchange is.
const HOMES: [(Home, &str); 4] = [
    (Home::InnoDb, "--rooms-backend"),
    (Home::Memory, "--rooms-backend"),
    (Home::Redis(Persistence::Always), "--rooms-backend"),
    (Home::Postgres, "--exchange-backend"),
];

pub(crate) fn measure(arguments: &Reproduce) -> Result<()> {
    let ground = Ground {
        turnstile: arguments.program.path()?,
        older: None,
        scratch: arguments.scratch.clone(),
        quick: arguments.brief,
    };
    let databases = OwnServers::default();
    let mut homes = Vec::new();
    for (home, flag) in HOMES {
        ground::tell(&format!("starting {home}"))?;
        let empty = databases.empty(home, &ground)?.context("a database")?;
        homes.push((flag, empty));
    }
    let mut lab = Command::new(&ground.turnstile);
    lab.args(["lab", "reproduce", "all", "-o"])
        .arg(&arguments.runs);
    let flags = [(arguments.brief, "--brief"), (arguments.resume, "--resume")];
    lab.args(
        flags
            .iter()
            .filter(|(is_asked, _)| *is_asked)
            .map(|(_, flag)| flag),
    );
    for (flag, empty) in &homes {
        lab.args([*flag, empty.url()]);
    }
    let status = lab.status().context("the lab does not start")?;
    // What was measured is there, whatever failed.
    publish(&arguments.runs, &arguments.out)?;
    ensure!(status.success(), "the lab ended with {status}");
    Ok(())
}

/// Puts the pages where they are published.
fn publish(runs: &Path, out: &Path) -> Result<()> {
    fs::create_dir_all(out).with_context(|| out.display().to_string())?;
    for entry in fs::read_dir(runs).with_context(|| runs.display().to_string())? {
        let page = entry?.path();
        if page.extension().is_some_and(|extension| extension == "md") {
            let name = page.file_name().context("a file has a name")?;
            fs::copy(&page, out.join(name)).with_context(|| page.display().to_string())?;
        }
    }
    Ok(())
}
