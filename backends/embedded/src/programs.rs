//! Which versions of this program have written to a directory, noted in it.

use std::{fs, io, path::Path};

use turnstile_journal::files;
use turnstile_types::Position;

/// The name of the file.
pub const FILE: &str = "program-versions";

/// As many versions are kept: so often was the directory up- or downgraded, and the file stays small.
const KEPT_MAX: usize = 1_000;

/// A version of this program, and the first position that it could write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramStart {
    pub version: String,
    pub from: Position,
}

/// The versions that have written to a directory, in their order. Lines that say something else are passed
/// over: nothing depends on them.
///
/// # Errors
/// The file is there and cannot be read.
pub fn program_starts(directory: &Path) -> io::Result<Vec<ProgramStart>> {
    let bytes = match fs::read(directory.join(FILE)) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let text = String::from_utf8_lossy(&bytes);
    Ok(text.lines().filter_map(parse).collect())
}

fn parse(line: &str) -> Option<ProgramStart> {
    let (version, from) = line.split_once(' ')?;
    Some(ProgramStart {
        version: version.to_owned(),
        from: Position(from.parse().ok()?),
    })
}

/// Notes that this version writes from a position on, if another one was the last that did.
pub(crate) fn note(directory: &Path, from: Position) -> io::Result<()> {
    let mut starts = program_starts(directory)?;
    let this = env!("CARGO_PKG_VERSION");
    if starts.last().is_some_and(|last| last.version == this) {
        return Ok(());
    }
    starts.push(ProgramStart {
        version: this.to_owned(),
        from,
    });
    let dropped = starts.len().saturating_sub(KEPT_MAX);
    let lines = starts.iter().skip(dropped);
    let text: String = lines
        .map(|start| format!("{} {}\n", start.version, start.from))
        .collect();
    files::put(directory, FILE, text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_noted_once_after_another_one_and_foreign_lines_are_passed_over() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(FILE);
        let this = env!("CARGO_PKG_VERSION");
        note(directory.path(), Position(1)).unwrap();
        note(directory.path(), Position(9)).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), format!("{this} 1\n"));
        fs::write(&path, "0.0.1 1\nsomething else\n9.0.0 5\n").unwrap();
        note(directory.path(), Position(7)).unwrap();
        let noted = fs::read_to_string(&path).unwrap();
        assert_eq!(noted, format!("0.0.1 1\n9.0.0 5\n{this} 7\n"));
    }
}
