//! The commit that is shipped, and where its files go.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result};

use crate::step;

/// What the packer does about the size of its files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PackingEffort {
    Small,
    /// For tests: as soon as it can be.
    Quick,
}

#[derive(Debug)]
pub(crate) struct Release {
    pub(crate) root: PathBuf,
    into: PathBuf,
    scratch: PathBuf,
    pub(crate) version: String,
    pub(crate) commit: String,
    /// The time of the commit in seconds since 1970: that of every file in a package.
    pub(crate) seconds: u64,
    pub(crate) effort: PackingEffort,
}

impl Release {
    /// The checkout's commit. The folder is emptied.
    pub(crate) fn of(root: &Path, into: &Path, effort: PackingEffort) -> Result<Self> {
        let git = |format: &str| -> Result<String> {
            let mut git = Command::new("git");
            git.current_dir(root).args(["log", "-1"]);
            git.arg(format!("--format={format}"));
            Ok(step::output(&mut git)?.trim().to_owned())
        };
        let seconds = git("%ct")?;
        let folder_name = super::name_of(into)?;
        let scratch = into.with_file_name(format!("{folder_name}.scratch"));
        for folder in [into, &scratch] {
            if folder.exists() {
                fs::remove_dir_all(folder)?;
            }
            fs::create_dir_all(folder)?;
        }
        Ok(Self {
            root: root.to_owned(),
            into: into.to_owned(),
            scratch,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            commit: git("%H")?,
            seconds: seconds.parse().context("git's time of the commit")?,
            effort,
        })
    }

    pub(crate) fn into(&self) -> &Path {
        &self.into
    }

    /// For files on the way to a package.
    pub(crate) fn scratch(&self) -> &Path {
        &self.scratch
    }

    /// A file of the checkout's folder `packaging`.
    pub(crate) fn source(&self, path: &str) -> PathBuf {
        self.root.join("packaging").join(path)
    }

    pub(crate) fn text(&self, path: &str) -> Result<String> {
        let path = self.source(path);
        fs::read_to_string(&path).with_context(|| path.display().to_string())
    }

    /// Packs a folder, or the rest of one, the same each time.
    pub(crate) fn tar(&self, folder: &Path) -> Command {
        let mut tar = Command::new("tar");
        tar.arg("--directory").arg(folder);
        tar.args(["--sort=name", "--format=gnu", "--numeric-owner"]);
        tar.arg(format!("--mtime=@{}", self.seconds));
        tar
    }

    /// Compresses files in place; each gets the ending `.gz`.
    pub(crate) fn gzip(&self) -> Command {
        let mut gzip = Command::new("gzip");
        gzip.arg("--no-name");
        gzip.arg(match self.effort {
            PackingEffort::Small => "-9",
            PackingEffort::Quick => "-1",
        });
        gzip
    }
}
