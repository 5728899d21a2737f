//! `cargo xtask dist`: everything that is shipped, made from one commit without a network.
//!
//! The same commit gives the same bytes: times come from the commit, owners and orders are fixed, and
//! the program names no folder of the machine that built it.

mod archive;
mod chart;
mod debian;
mod image;
mod program;
mod release;
mod sbom;
mod staging;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, bail, ensure};

use self::{
    program::{ShippedProgram, TARGETS},
    release::{PackingEffort, Release},
};
use crate::{step, tree};

/// Builds the programs and packs them into `target/packages`.
pub(crate) fn run(root: &Path) -> Result<()> {
    let into = tree::target_folder(root)?.join("packages");
    let release = Release::of(root, &into, PackingEffort::Small)?;
    let mut programs = Vec::new();
    for target in &TARGETS {
        match target.missing()? {
            None => programs.push(step::timed(target.triple, || {
                ShippedProgram::build(&release, target)
            })?),
            Some(missing) => println!("xtask: nothing is made for {}: {missing}", target.name),
        }
    }
    step::timed("packages", || pack(&release, &programs))
}

/// Packs a program that is built already, for the machine that runs us and as quickly as it can be.
pub(crate) fn run_with(root: &Path, program: &str, into: &str) -> Result<()> {
    let release = Release::of(root, Path::new(into), PackingEffort::Quick)?;
    let target = TARGETS.iter().find(|target| target.is_host());
    let target = target.context("nothing is shipped for this machine")?;
    let program = ShippedProgram::given(&release, target, Path::new(program))?;
    pack(&release, &[program])
}

fn pack(release: &Release, programs: &[ShippedProgram]) -> Result<()> {
    let host = programs.iter().find(|program| program.target.is_host());
    let host = host.context("the manual pages are written by a program of this machine")?;
    let extras = Extras::of(release, host)?;
    for program in programs {
        let bill = sbom::write(release, program.target)?;
        archive::pack(release, program, &extras, &bill)?;
        debian::pack(release, program, &extras, &bill)?;
    }
    image::pack(release, programs)?;
    chart::pack(release)?;
    fs::remove_dir_all(release.scratch())?;
    sign(release)
}

/// What the program writes about itself.
struct Extras {
    /// A folder of manual pages.
    manual: PathBuf,
    /// The scripts, each by its shell and where Debian has it.
    completions: Vec<(PathBuf, &'static str)>,
}

const SHELLS: [(&str, &str); 3] = [
    ("bash", "usr/share/bash-completion/completions/turnstile"),
    ("zsh", "usr/share/zsh/vendor-completions/_turnstile"),
    ("fish", "usr/share/fish/vendor_completions.d/turnstile.fish"),
];

impl Extras {
    fn of(release: &Release, host: &ShippedProgram) -> Result<Self> {
        let manual = release.scratch().join("man");
        fs::create_dir_all(&manual)?;
        step::run(Command::new(&host.path).arg("man").arg(&manual))?;
        let folder = release.scratch().join("completions");
        fs::create_dir_all(&folder)?;
        let completions = SHELLS.map(|(shell, place)| {
            let script = step::output(Command::new(&host.path).args(["completions", shell]))?;
            let path = folder.join(shell);
            fs::write(&path, script)?;
            Ok((path, place))
        });
        Ok(Self {
            manual,
            completions: completions.into_iter().collect::<Result<_>>()?,
        })
    }

    /// The pages, in the order of their names.
    fn pages(&self) -> Result<Vec<PathBuf>> {
        let pages = fs::read_dir(&self.manual)?.map(|entry| Ok(entry?.path()));
        let mut pages: Vec<PathBuf> = pages.collect::<Result<_>>()?;
        pages.sort();
        ensure!(!pages.is_empty(), "the program wrote no manual page");
        Ok(pages)
    }
}

/// Writes the checksums of all files, as `sha256sum --check` reads them.
fn sign(release: &Release) -> Result<()> {
    let into = release.into();
    let mut files = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(into.join(&folder))? {
            let entry = entry?;
            let path = folder.join(entry.file_name());
            if entry.file_type()?.is_dir() {
                folders.push(path);
            } else {
                files.push(path);
            }
        }
    }
    files.sort();
    let sums = step::output(Command::new("sha256sum").current_dir(into).args(&files))?;
    fs::write(into.join("SHA256SUMS"), &sums)?;
    println!("{}: {} files", into.display(), files.len());
    Ok(())
}

/// The file name of a path.
fn name_of(path: &Path) -> Result<&str> {
    match path.file_name().and_then(|name| name.to_str()) {
        Some(name) => Ok(name),
        None => bail!("{} names no file", path.display()),
    }
}
