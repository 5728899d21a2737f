//! The files of the checkout and the crates of the workspace, read once for all rules.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::{code, step};

/// A larger file is not read: it is a violation already.
pub(crate) const FILE_BYTES_MAX: u64 = 1 << 20;

/// Everything that the rules look at. They see files that git tracks or would track,
/// so that a rule speaks before the commit and not after it.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    pub(crate) root: PathBuf,
    pub(crate) files: Vec<File>,
    pub(crate) crates: Vec<Crate>,
}

#[derive(Debug, Default)]
pub(crate) struct File {
    /// Relative to the root, with slashes.
    pub(crate) path: String,
    pub(crate) bytes: u64,
    /// Empty where the file is not UTF-8 or too large.
    pub(crate) text: String,
    /// The text of a Rust file without comments and literals; empty for other files.
    pub(crate) code: String,
}

/// A member of the workspace and the members that it depends on, as folders.
#[derive(Debug)]
pub(crate) struct Crate {
    pub(crate) name: String,
    pub(crate) folder: String,
    pub(crate) sees: Vec<CrateDependency>,
}

#[derive(Debug)]
pub(crate) struct CrateDependency {
    pub(crate) name: String,
    pub(crate) folder: String,
    /// Whether only its tests see it.
    pub(crate) in_tests: bool,
}

impl Tree {
    pub(crate) fn load(root: &Path) -> Result<Self> {
        Ok(Self {
            root: root.to_owned(),
            files: files(root)?,
            crates: crates(root)?,
        })
    }

    pub(crate) fn with_extension(&self, extension: &str) -> impl Iterator<Item = &File> {
        let extension = Some(extension.to_owned());
        self.files
            .iter()
            .filter(move |file| file.extension() == extension.as_deref())
    }

    pub(crate) fn rust(&self) -> impl Iterator<Item = &File> {
        self.with_extension("rs")
    }

    pub(crate) fn file(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|file| file.path == path)
    }
}

impl File {
    pub(crate) fn new(path: &str, text: &str) -> Self {
        let code = if path.ends_with(".rs") {
            code::only(text)
        } else {
            String::new()
        };
        let bytes = u64::try_from(text.len()).expect("a length fits 64 bits");
        Self {
            path: path.to_owned(),
            bytes,
            text: text.to_owned(),
            code,
        }
    }

    pub(crate) fn extension(&self) -> Option<&str> {
        Path::new(&self.path).extension()?.to_str()
    }

    pub(crate) fn stem(&self) -> &str {
        let name = self.path.rsplit('/').next().unwrap_or(&self.path);
        name.split('.').next().unwrap_or(name)
    }

    pub(crate) fn folder(&self) -> &str {
        self.path.rsplit_once('/').map_or("", |(folder, _)| folder)
    }

    /// Whether the whole file is test code.
    pub(crate) fn is_test(&self) -> bool {
        self.stem() == "tests" || self.path.split('/').any(|part| part == "tests")
    }

    /// The lines before the unit tests. Tests that are in a file of their own end nothing.
    pub(crate) fn untested_lines(&self) -> impl Iterator<Item = &str> {
        let lines = || self.text.lines();
        let mut pairs = lines().zip(lines().skip(1));
        let are_tests =
            |(line, next): (&str, &str)| line.starts_with("#[cfg(test)]") && !next.ends_with(';');
        let end = pairs.position(are_tests).unwrap_or(usize::MAX);
        lines().take(end)
    }

    /// The code before the unit tests.
    pub(crate) fn untested_code(&self) -> String {
        let code = self.code.lines().take(self.untested_lines().count());
        code.flat_map(|line| [line, "\n"]).collect()
    }
}

fn files(root: &Path) -> Result<Vec<File>> {
    let mut list = Command::new("git");
    list.args([
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
    ])
    .current_dir(root);
    let paths = step::output(&mut list)?;
    let mut files = Vec::new();
    for path in paths.split_terminator('\0') {
        // A file that git still lists but that is gone from the folder is being removed.
        let Ok(metadata) = fs::metadata(root.join(path)) else {
            continue;
        };
        if !metadata.is_file() {
            continue;
        }
        let small = metadata.len() <= FILE_BYTES_MAX;
        let content = if small {
            fs::read(root.join(path))?
        } else {
            Vec::new()
        };
        let text = String::from_utf8(content).unwrap_or_default();
        files.push(File {
            bytes: metadata.len(),
            ..File::new(path, &text)
        });
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files.dedup_by(|a, b| a.path == b.path);
    Ok(files)
}

pub(crate) fn crates(root: &Path) -> Result<Vec<Crate>> {
    #[derive(Deserialize)]
    struct Metadata {
        packages: Vec<Package>,
    }
    #[derive(Deserialize)]
    struct Package {
        name: String,
        manifest_path: PathBuf,
        dependencies: Vec<Dependency>,
    }
    #[derive(Deserialize)]
    struct Dependency {
        name: String,
        path: Option<PathBuf>,
        kind: Option<String>,
    }

    let metadata: Metadata = serde_json::from_str(&metadata(root)?)?;
    let folder_of = |path: &Path| -> Result<String> {
        let folder = path
            .strip_prefix(root)
            .context("a crate lies outside the workspace")?;
        Ok(folder.to_str().context("a folder is not UTF-8")?.to_owned())
    };
    let mut crates = Vec::new();
    for package in metadata.packages {
        let folder = package
            .manifest_path
            .parent()
            .context("a manifest without folder")?;
        let mut sees = Vec::new();
        for dependency in package.dependencies {
            let Some(path) = dependency.path else {
                continue;
            };
            sees.push(CrateDependency {
                name: dependency.name,
                folder: folder_of(&path)?,
                in_tests: dependency.kind.as_deref() == Some("dev"),
            });
        }
        crates.push(Crate {
            name: package.name,
            folder: folder_of(folder)?,
            sees,
        });
    }
    Ok(crates)
}

/// The short hash of the commit that is checked out.
pub(crate) fn commit(root: &Path) -> Result<String> {
    let mut git = Command::new("git");
    git.current_dir(root).args(["rev-parse", "--short", "HEAD"]);
    Ok(step::output(&mut git)?.trim().to_owned())
}

/// Where cargo puts what it builds, and where the tests' clients are kept.
pub(crate) fn target_folder(root: &Path) -> Result<PathBuf> {
    #[derive(Deserialize)]
    struct Metadata {
        target_directory: PathBuf,
    }
    let metadata: Metadata = serde_json::from_str(&metadata(root)?)?;
    Ok(metadata.target_directory)
}

fn metadata(root: &Path) -> Result<String> {
    let mut metadata = step::cargo(root);
    metadata.args([
        "metadata",
        "--no-deps",
        "--offline",
        "--format-version",
        "1",
    ]);
    step::output(&mut metadata)
}
