//! The Helm chart, as an archive that `helm install` takes.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result};

use super::{release::Release, staging::Staging};
use crate::step;

/// The file that names the version.
const DESCRIPTION: &str = "Chart.yaml";

/// What stands in it for the version.
const NO_VERSION: &str = ": 0.0.0\n";

pub(crate) fn pack(release: &Release) -> Result<()> {
    let above = release.scratch().join("chart");
    let staging = Staging::new(above.join("turnstile"))?;
    let source = release.source("helm/turnstile");
    for file in files(&source)? {
        let name = file.strip_prefix(&source)?;
        let name = name.to_str().context("a name of a file of the chart")?;
        let text = fs::read_to_string(&file)?;
        let version = format!(": {}\n", release.version);
        let text = match name {
            DESCRIPTION => text.replace(NO_VERSION, &version),
            _ => text,
        };
        staging.write(name, text, 0o644)?;
    }
    lint(&staging)?;
    let archive = format!("turnstile-chart-{}.tar", release.version);
    let archive = release.into().join(archive);
    let mut tar = release.tar(&above);
    tar.args(["--owner=0", "--group=0", "--create", "--file"]);
    step::run(tar.arg(&archive).arg("turnstile"))?;
    step::run(release.gzip().arg(&archive))?;
    let packed = archive.with_extension("tar.gz");
    Ok(fs::rename(&packed, archive.with_extension("tgz"))?)
}

/// All files of a folder and of those in it, in the order of their names.
fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            files.extend(self::files(&entry.path())?);
        } else {
            files.push(entry.path());
        }
    }
    files.sort();
    Ok(files)
}

/// Helm's own check, where Helm is installed. CI always has it.
fn lint(staging: &Staging) -> Result<()> {
    if !step::succeeds(Command::new("helm").arg("version")) {
        println!("xtask: the chart is packed and not checked: there is no helm");
        return Ok(());
    }
    let mut helm = Command::new("helm");
    helm.args(["lint", "--strict", "--quiet", "--set", "tls.secretName=x"]);
    step::run(helm.arg(staging.folder()))
}
