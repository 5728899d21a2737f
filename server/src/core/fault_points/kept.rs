//! Fault points of a recovery: they outlive the process that was told of them.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use turnstile_travel::Desk;

use super::Who;

/// The file in the data directory. There is none where nobody is to end at a recovery.
const FILE: &str = "fault-points";

/// Who is to end at the next recovery, one a line.
#[derive(Debug)]
pub(super) struct RecoveryList {
    /// Nothing where no directory is kept.
    path: Option<PathBuf>,
}

impl RecoveryList {
    pub(super) fn new(directory: Option<&Path>) -> Self {
        Self {
            path: directory.map(|directory| directory.join(FILE)),
        }
    }

    /// Whether somebody is to end at this recovery. It is over with that.
    pub(super) fn take(&self) -> io::Result<bool> {
        let Some(path) = &self.path else {
            return Ok(false);
        };
        match fs::remove_file(path) {
            Ok(()) => Ok(true),
            Err(failure) if failure.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(failure) => Err(failure),
        }
    }

    /// Says whether this one is to end at the next recovery.
    pub(super) fn keep(&self, who: Who, ends: bool) -> io::Result<()> {
        let Some(path) = &self.path else {
            let nowhere = "nothing is kept here, and so no fault point of a recovery";
            return if ends {
                Err(io::Error::other(nowhere))
            } else {
                Ok(())
            };
        };
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(failure) if failure.kind() == io::ErrorKind::NotFound => String::new(),
            Err(failure) => return Err(failure),
        };
        let name = name(who);
        let mut names: Vec<&str> = text.lines().filter(|other| *other != name).collect();
        names.extend(ends.then_some(name));
        if names.is_empty() {
            return self.take().map(drop);
        }
        fs::write(path, names.join("\n") + "\n")
    }
}

const fn name(who: Who) -> &'static str {
    match who {
        Who::Middleware => "middleware",
        Who::Desk(desk) => Desk::code(desk),
    }
}
