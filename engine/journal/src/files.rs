//! Directories and small files that are on the disk when their makers return.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

// What is in a directory is for its owner alone, whatever the process's umask says.
pub(crate) const FILE_MODE: u32 = 0o600;
pub(crate) const DIRECTORY_MODE: u32 = 0o700;

/// Makes a directory, and those above it that are missing.
///
/// # Errors
/// It cannot be made, or something else is there.
pub fn make_directory(path: &Path) -> io::Result<()> {
    let changed = parents_of_missing(path);
    DirBuilder::new()
        .recursive(true)
        .mode(DIRECTORY_MODE)
        .create(path)?;
    changed.iter().try_for_each(|parent| sync_directory(parent))
}

/// The directories that get a new name when this one is made, from the outermost on.
fn parents_of_missing(path: &Path) -> Vec<PathBuf> {
    let missing = path.ancestors().take_while(|path| {
        let is_named = !path.as_os_str().is_empty();
        is_named && !path.exists()
    });
    let mut parents: Vec<_> = missing.filter_map(Path::parent).map(named).collect();
    parents.reverse();
    parents
}

/// The parent of a relative name without a slash is the empty path.
fn named(parent: &Path) -> PathBuf {
    match parent.as_os_str().is_empty() {
        true => PathBuf::from("."),
        false => parent.to_owned(),
    }
}

/// A file to write to, empty.
///
/// # Errors
/// It cannot be made.
pub fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(FILE_MODE)
        .open(path)
}

/// Puts a file in its place, whole or not at all.
///
/// # Errors
/// The disk fails; then the place holds what it held before.
pub fn put(directory: &Path, name: &str, content: &[u8]) -> io::Result<()> {
    let unfinished = directory.join(format!("{name}.new"));
    let mut file = create(&unfinished)?;
    file.write_all(content)?;
    file.sync_all()?;
    fs::rename(&unfinished, directory.join(name))?;
    sync_directory(directory)
}

/// Makes the names in a directory durable.
///
/// # Errors
/// The disk fails.
pub fn sync_directory(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_directory_that_gets_a_new_name_is_synced() {
        let directory = tempfile::tempdir().unwrap();
        let top = directory.path();
        let deep = top.join("a").join("b").join("c");
        let parents = [top.to_owned(), top.join("a"), top.join("a/b")];
        assert_eq!(parents_of_missing(&deep), parents);
        make_directory(&deep).unwrap();
        assert!(deep.is_dir());
        assert!(parents_of_missing(&deep).is_empty());
        let here = parents_of_missing(Path::new("surely-not-here"));
        assert_eq!(here, [PathBuf::from(".")]);
    }

    #[test]
    fn a_file_in_the_way_of_a_directory_is_an_error_and_stays() {
        let directory = tempfile::tempdir().unwrap();
        put(directory.path(), "taken", b"held").unwrap();
        let path = directory.path().join("taken");
        assert!(make_directory(&path).is_err());
        assert!(make_directory(&path.join("below")).is_err());
        assert_eq!(fs::read(path).unwrap(), b"held");
    }
}
