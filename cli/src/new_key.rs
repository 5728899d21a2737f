//! New keys: made here, so that only their digest travels, and given to their owner once.

use std::{
    fs::{self, OpenOptions},
    io::Write as _,
    os::unix::fs::OpenOptionsExt as _,
    path::Path,
};

use anyhow::{Context as _, anyhow};
use turnstile_access::SecretKey;
use turnstile_client::ConnectionError;
use zeroize::Zeroizing;

use crate::{
    access::{self, AccessDoor, AccessReply},
    exit::Coded,
    terminal,
};

/// What belongs to a key beside its secret.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeyWish<'a> {
    pub(crate) principal: &'a str,
    /// What it is for.
    pub(crate) name: Option<&'a str>,
    /// When it ends, as services write instants.
    pub(crate) expires: Option<&'a str>,
    /// The second part of its text: `live`, `test`.
    pub(crate) environment: &'a str,
    /// A file for it that is not there yet; without one it is printed.
    pub(crate) file: Option<&'a Path>,
}

/// Makes a key, has it added, and gives it to its owner: in a file that only the owner reads, or on
/// standard output.
///
/// # Errors
/// The key was not added, or nothing could be written.
pub(crate) fn add(door: &mut AccessDoor, wish: &KeyWish<'_>) -> anyhow::Result<()> {
    let key = make(wish.environment)?;
    // The file first: what was added and is nowhere would be lost.
    if let Some(file) = wish.file {
        write(file, &key)?;
    }
    let (id, digest) = (key.id().to_string(), key.digest().hex());
    let mut fields = vec![
        ("principal", wish.principal),
        ("id", &*id),
        ("digest", &*digest),
    ];
    fields.extend(wish.name.map(|name| ("name", name)));
    fields.extend(wish.expires.map(|instant| ("expires", instant)));
    match door.ask("add_key", &fields) {
        Ok(AccessReply::Done(_)) => {}
        Ok(AccessReply::Refused(code)) => {
            return Err(discarded(wish.file, access::refused(&code)));
        }
        Err(error) if may_be_added(&error) => {
            let Some(file) = wish.file else {
                return Err(error);
            };
            let told = format!("the key in {} may have been added or not", file.display());
            return Err(error.context(told));
        }
        Err(error) => return Err(discarded(wish.file, error)),
    }
    match wish.file {
        Some(file) => terminal::note(format_args!(
            "the key {id} of {} is in {}",
            wish.principal,
            file.display()
        )),
        None => {
            terminal::note(format_args!(
                "the key {id} of {}; it is shown this once:",
                wish.principal
            ));
            terminal::line(key.expose())?;
        }
    }
    Ok(())
}

/// Whether a request that failed may have added the key: its answer was lost, or the disk failed.
fn may_be_added(error: &anyhow::Error) -> bool {
    match error.downcast_ref::<ConnectionError>() {
        Some(failed) => failed.is_outcome_unknown(),
        None => !error.is::<Coded>(),
    }
}

fn make(environment: &str) -> anyhow::Result<SecretKey> {
    let mut id = [0; 8];
    let mut secret = Zeroizing::new([0; 32]);
    fill(&mut id)?;
    fill(&mut *secret)?;
    SecretKey::new(environment, id, *secret).map_err(|_invalid| {
        let wrong = "an environment has 1 to 16 small letters or digits: live, test";
        Coded::usage(wrong.to_owned()).into()
    })
}

/// Random bytes of the system.
fn fill(bytes: &mut [u8]) -> anyhow::Result<()> {
    let flags = rustix::rand::GetRandomFlags::empty();
    let filled = rustix::rand::getrandom(&mut *bytes, flags).context("random bytes")?;
    // So few come at once.
    if filled == bytes.len() {
        Ok(())
    } else {
        Err(anyhow!("the system has no random bytes"))
    }
}

fn write(path: &Path, key: &SecretKey) -> anyhow::Result<()> {
    let shown = || path.display().to_string();
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600);
    let mut file = options.open(path).with_context(shown)?;
    let text = Zeroizing::new([key.expose(), "\n"].concat());
    let written = file.write_all(text.as_bytes());
    let written = written.and_then(|()| file.sync_all()).with_context(shown);
    written.map_err(|error| discarded(Some(path), error))
}

/// Removes the file of a key that was not added, and gives back why it was not.
fn discarded(file: Option<&Path>, why: anyhow::Error) -> anyhow::Error {
    if let Some(file) = file
        && let Err(error) = fs::remove_file(file)
    {
        terminal::note(format_args!(
            "{}: {error}; the key in it is of no use",
            file.display()
        ));
    }
    why
}
