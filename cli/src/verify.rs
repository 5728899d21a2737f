//! `turnstile verify`: checks the checksums, the replay and the business rules of a directory.

use std::path::{Path, PathBuf};

use anyhow::anyhow;
use clap::Args;
use turnstile_embedded::{BackendOpenError, Verdict, VerifyError};
use turnstile_journal as journal;
use turnstile_stats::units::Count;

use crate::{exit::Coded, terminal};

#[derive(Args, Debug)]
pub(crate) struct Arguments {
    /// Data directory. It must not be in use by a server, and is not changed
    dir: PathBuf,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let verdict = verify(&arguments.dir)?;
    terminal::line(summary(&verdict))?;
    judge(&verdict)
}

/// Verifies a directory.
///
/// # Errors
/// There is no verdict: the directory is in use, unreadable, or damaged. Damage is a violation.
pub(crate) fn verify(dir: &Path) -> anyhow::Result<Verdict> {
    turnstile_embedded::verify(dir).map_err(|error| no_verdict(dir, &error))
}

/// Why a directory could not be read: damage is a violation.
pub(crate) fn no_verdict(dir: &Path, error: &VerifyError) -> anyhow::Error {
    let message = format!("{}: {error}", dir.display());
    if error.is_newer() {
        Coded::usage(message).into()
    } else if is_damage(error) {
        Coded::violation(message).into()
    } else {
        anyhow!(message)
    }
}

/// Whether the directory is at fault, and not its surroundings.
pub(crate) const fn is_damage(error: &VerifyError) -> bool {
    use journal::OpenError as Journal;
    !matches!(
        error,
        VerifyError::NoJournal
            | VerifyError::Open(
                BackendOpenError::Directory { .. }
                    | BackendOpenError::Journal(
                        Journal::Locked | Journal::Pending | Journal::Io(_) | Journal::Thread(_)
                    )
            )
    )
}

/// The verdict in one line.
pub(crate) fn summary(verdict: &Verdict) -> String {
    let journal = &verdict.journal;
    let tail = if journal.cut_bytes == 0 {
        String::new()
    } else {
        format!(
            "; torn tail of {} bytes after position {}, which may have been acknowledged",
            Count(journal.cut_bytes),
            journal.last
        )
    };
    let key = if verdict.is_key_bound {
        ""
    } else {
        "; id.key cannot be checked before a server has started here once"
    };
    format!(
        "{} records in {} groups replayed twice, hash {}, {} violations, {}{tail}{key}",
        Count(journal.records),
        Count(journal.groups),
        if verdict.hash == verdict.hash_again {
            "equal"
        } else {
            "DIFFERENT"
        },
        verdict.violations.len(),
        standing(verdict)
    )
}

/// What stands, in one sentence.
fn standing(verdict: &Verdict) -> String {
    let each = verdict.standing.iter();
    let each: Vec<String> = each
        .map(|(count, words)| format!("{} {words}", Count(*count)))
        .collect();
    each.join(", ")
}

/// # Errors
/// Something does not hold, and each thing is printed first; or something may be missing.
pub(crate) fn judge(verdict: &Verdict) -> anyhow::Result<()> {
    for violation in &verdict.violations {
        terminal::note(format_args!("VIOLATED: {violation}"));
    }
    if !verdict.holds() {
        let message = "the directory does not hold together".to_owned();
        return Err(Coded::violation(message).into());
    }
    if verdict.journal.cut_bytes > 0 {
        let message =
            "the last group is torn and may have been acknowledged; the next start cuts it";
        return Err(Coded::doubtful(message.to_owned()).into());
    }
    Ok(())
}
