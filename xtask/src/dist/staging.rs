//! A folder that becomes a package: its files with exactly the modes that they are given.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};

#[derive(Debug)]
pub(crate) struct Staging {
    folder: PathBuf,
}

impl Staging {
    pub(crate) fn new(folder: PathBuf) -> Result<Self> {
        fs::create_dir_all(&folder)?;
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o755))?;
        Ok(Self { folder })
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Makes a folder and those above it, which get mode 755.
    pub(crate) fn make(&self, path: &str, mode: u32) -> Result<()> {
        let mut at = self.folder.clone();
        for part in Path::new(path) {
            at.push(part);
            if !at.exists() {
                fs::create_dir(&at)?;
                fs::set_permissions(&at, fs::Permissions::from_mode(0o755))?;
            }
        }
        Ok(fs::set_permissions(&at, fs::Permissions::from_mode(mode))?)
    }

    pub(crate) fn write(&self, path: &str, bytes: impl AsRef<[u8]>, mode: u32) -> Result<()> {
        if let Some((folder, _)) = path.rsplit_once('/') {
            self.make(folder, 0o755)?;
        }
        let at = self.folder.join(path);
        fs::write(&at, bytes)?;
        Ok(fs::set_permissions(&at, fs::Permissions::from_mode(mode))?)
    }

    pub(crate) fn copy(&self, from: &Path, path: &str, mode: u32) -> Result<()> {
        let bytes = fs::read(from).with_context(|| from.display().to_string())?;
        self.write(path, bytes, mode)
    }
}
