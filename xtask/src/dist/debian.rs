//! The package for Debian and its kin.

use std::{fs, os::unix::fs::MetadataExt as _, path::Path, process::Command};

use anyhow::{Context, Result};

use super::{
    Extras, name_of,
    program::ShippedProgram,
    release::{PackingEffort, Release},
    staging::Staging,
};
use crate::step;

const DOCUMENTS: &str = "usr/share/doc/turnstile";

/// Files that an upgrade leaves as their owner has changed them.
const CONFIGURATION: &str = "etc/turnstile/turnstile.toml";

/// What runs when the package is installed, upgraded, removed and purged.
const SCRIPTS: [&str; 3] = ["postinst", "prerm", "postrm"];

pub(crate) fn pack(
    release: &Release,
    program: &ShippedProgram,
    extras: &Extras,
    bill: &Path,
) -> Result<()> {
    let folder = release.scratch().join("debian").join(program.target.name);
    let staging = Staging::new(folder)?;
    stage(release, program, extras, &staging)?;
    staging.copy(bill, &format!("{DOCUMENTS}/turnstile.cdx.json"), 0o644)?;
    describe(release, program, &staging)?;
    let file = format!(
        "turnstile_{}_{}.deb",
        release.version, program.target.debian
    );
    let mut deb = Command::new("dpkg-deb");
    deb.env("SOURCE_DATE_EPOCH", release.seconds.to_string());
    deb.args(["--root-owner-group", "--build"]);
    deb.args(match release.effort {
        PackingEffort::Small => ["-Zxz", "-z6"],
        PackingEffort::Quick => ["-Zgzip", "-z1"],
    });
    let deb = deb.arg(staging.folder()).arg(release.into().join(file));
    step::output(deb).map(drop)
}

fn stage(
    release: &Release,
    program: &ShippedProgram,
    extras: &Extras,
    staging: &Staging,
) -> Result<()> {
    staging.copy(&program.path, "usr/bin/turnstile", 0o755)?;
    staging.copy(&release.source("turnstile.toml"), CONFIGURATION, 0o644)?;
    staging.copy(
        &release.source("turnstile.service"),
        "usr/lib/systemd/system/turnstile.service",
        0o644,
    )?;
    for (script, place) in &extras.completions {
        staging.copy(script, place, 0o644)?;
    }
    for page in extras.pages()? {
        let place = format!("usr/share/man/man1/{}", name_of(&page)?);
        staging.copy(&page, &place, 0o644)?;
        step::run(release.gzip().arg(staging.folder().join(place)))?;
    }
    let copyright = release.source("deb/copyright");
    staging.copy(&copyright, &format!("{DOCUMENTS}/copyright"), 0o644)?;
    let licence = release.root.join("LICENSE-MIT");
    staging.copy(&licence, &format!("{DOCUMENTS}/LICENSE-MIT"), 0o644)?;
    let changes = format!("{DOCUMENTS}/changelog");
    staging.copy(&release.root.join("CHANGELOG.md"), &changes, 0o644)?;
    step::run(release.gzip().arg(staging.folder().join(changes)))
}

/// Writes what dpkg reads.
fn describe(release: &Release, program: &ShippedProgram, staging: &Staging) -> Result<()> {
    let folder = staging.folder();
    let bytes = size(folder)?;
    let files = step::output(
        Command::new("find")
            .current_dir(folder)
            .args(["usr", "-type", "f", "-print0"]),
    )?;
    let mut files: Vec<&str> = files.split_terminator('\0').collect();
    files.sort_unstable();
    let sums = step::output(Command::new("md5sum").current_dir(folder).args(&files))?;
    let version = program.c_library()?;
    let version = version.context("the program asks for no C library")?;
    let depends = format!("libc6 (>= {version}), libgcc-s1, adduser");
    let control = release
        .text("deb/control")?
        .replace("{version}", &release.version)
        .replace("{architecture}", program.target.debian)
        .replace("{kilobytes}", &bytes.div_ceil(1024).to_string())
        .replace("{depends}", &depends);
    staging.write("DEBIAN/control", control, 0o644)?;
    staging.write("DEBIAN/md5sums", sums, 0o644)?;
    staging.write("DEBIAN/conffiles", format!("/{CONFIGURATION}\n"), 0o644)?;
    for script in SCRIPTS {
        let source = release.source(&format!("deb/{script}"));
        staging.copy(&source, &format!("DEBIAN/{script}"), 0o755)?;
    }
    Ok(())
}

/// The bytes of all files below a folder.
fn size(folder: &Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        bytes += if metadata.is_dir() {
            size(&entry.path())?
        } else {
            metadata.size()
        };
    }
    Ok(bytes)
}
