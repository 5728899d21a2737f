//! `turnstile backup` and `turnstile restore`.

mod passphrase;
pub(crate) mod remote;

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use turnstile_backup::{
    BackupError, BackupReport, BackupSource, DirectorySource, IdKeyKept, KeyChoice, KeyFrom,
    RestoreWish, Until, check_backup, is_archive, restore, take_archive, take_backup,
};
use turnstile_stats::units::Count;
use turnstile_types::{Position, Timestamp};

use crate::{
    address,
    audit::instant,
    connect::Security,
    exit::Coded,
    terminal,
    verify::{no_verdict, summary},
};

use self::{passphrase::PassphraseSource, remote::RemoteSource};

#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct BackupArguments {
    #[command(subcommand)]
    command: Option<BackupCommand>,
    #[command(flatten)]
    taking: TakeArguments,
}

#[derive(Debug, Subcommand)]
enum BackupCommand {
    /// Check every file of a backup
    Verify(BackupCheckArguments),
}

#[derive(Args, Debug)]
struct BackupCheckArguments {
    /// Directory of the backup, in which nothing is changed, or its FILE.tar, which is unpacked beside it for
    /// a while
    dir: PathBuf,
}

#[derive(Args, Debug)]
struct TakeArguments {
    /// Data directory, which a server may use; or http://HOST:PORT or https://HOST:PORT of a running
    /// server. The key to show needs the role operator or admin
    #[arg(long, value_name = "DIR|URL", required = true)]
    from: Option<String>,
    /// Directory for the backup: empty or not there for the first, the same for each increment. Or one archive
    /// that is not there, for a whole backup; its files take as much room again while it is made
    #[arg(long, value_name = "DIR|FILE.tar", required = true)]
    to: Option<PathBuf>,
    #[command(flatten)]
    passphrase: PassphraseSource,
    /// Leave id.key out. Keep a copy of it elsewhere: without it, no guest is recognised after a restore
    #[arg(long, conflicts_with_all = ["passphrase_file", "ask_passphrase"])]
    without_id_key: bool,
    #[command(flatten)]
    security: Security,
}

#[derive(Args, Debug)]
pub(crate) struct RestoreArguments {
    /// Directory of the backup, or its FILE.tar, which is unpacked beside --to for a while
    #[arg(long, value_name = "DIR|FILE.tar")]
    from: PathBuf,
    /// Data directory to make: empty or not there
    #[arg(long, value_name = "DIR")]
    to: PathBuf,
    /// Restore up to this position, or up to an instant such as 2027-05-01T12:00:00Z, 2027-05-01, or an age
    /// such as 30m
    #[arg(long, value_name = "POSITION|TIME", value_parser = until)]
    until: Option<Until>,
    #[command(flatten)]
    passphrase: PassphraseSource,
    /// Take id.key from this file
    #[arg(long, value_name = "FILE", conflicts_with_all = ["passphrase_file", "ask_passphrase"])]
    id_key: Option<PathBuf>,
    /// Restore without id.key, and put it in its place before a server starts
    #[arg(long, conflicts_with_all = ["passphrase_file", "ask_passphrase", "id_key"])]
    without_id_key: bool,
    /// Start over a restore that was not finished
    #[arg(long)]
    again: bool,
}

/// A position, an instant, a date, or an age.
fn until(text: &str) -> Result<Until, String> {
    if let Ok(position) = text.parse() {
        return Ok(Until::Position(Position(position)));
    }
    instant(text)
        .map(Until::Time)
        .map_err(|forms| format!("write a position, {forms}"))
}

pub(crate) fn run(arguments: BackupArguments) -> anyhow::Result<()> {
    let TakeArguments {
        from,
        to,
        passphrase,
        without_id_key,
        security,
    } = arguments.taking;
    match (arguments.command, from, to) {
        (Some(BackupCommand::Verify(BackupCheckArguments { dir })), ..) => check(&dir),
        (None, Some(from), Some(to)) => {
            let key = match passphrase.read(true)? {
                Some(passphrase) => KeyChoice::Seal(passphrase),
                None if without_id_key => KeyChoice::LeaveOut,
                None => KeyChoice::Unsaid,
            };
            take(&mut *source(&from, &security)?, &to, &key)
        }
        (None, ..) => Err(Coded::usage("name --from and --to".to_owned()).into()),
    }
}

fn take(source: &mut dyn BackupSource, target: &Path, key: &KeyChoice) -> anyhow::Result<()> {
    let taken = if is_archive(target) {
        take_archive(source, target, key)
    } else {
        take_backup(source, target, key)
    };
    let report = taken.map_err(failed)?;
    tell(&report, target)
}

/// What is copied: a directory, or a server.
fn source(from: &str, security: &Security) -> anyhow::Result<Box<dyn BackupSource>> {
    if from.contains("://") {
        let door = address::HTTP.read(from);
        let door = door.map_err(|wrong| Coded::usage(format!("--from: {wrong}")))?;
        return Ok(Box::new(RemoteSource::new(security, &door)?));
    }
    let directory = Path::new(from);
    let source = DirectorySource::open(directory).map_err(|error| no_verdict(directory, &error))?;
    let torn = source.held().torn_bytes;
    if torn > 0 {
        terminal::note(format_args!(
            "a torn tail of {} bytes is not copied; the next start cuts it",
            Count(torn)
        ));
    }
    Ok(Box::new(source))
}

fn tell(report: &BackupReport, target: &Path) -> anyhow::Result<()> {
    for passed_over in &report.passed_over {
        terminal::note(passed_over);
    }
    let manifest = &report.manifest;
    let last = Count(manifest.end.position);
    let what = match report.before {
        Some(before) if before == manifest.end.position => {
            format!("nothing new since position {last}")
        }
        Some(before) if before + 1 == manifest.end.position => {
            format!("position {last} was added")
        }
        Some(before) => format!("positions {} to {last} were added", Count(before + 1)),
        None if manifest.snapshot > 0 => format!(
            "the state at position {} and what followed up to position {last} were copied",
            Count(manifest.snapshot)
        ),
        None => format!("everything up to position {last} was copied"),
    };
    terminal::line(format_args!(
        "{}: {what}, {} bytes",
        target.display(),
        Count(report.copied_bytes)
    ))?;
    if manifest.id_key == IdKeyKept::LeftOut && report.before.is_none() {
        terminal::note("id.key is left out: keep a copy of it elsewhere, a restore needs it");
    }
    Ok(())
}

fn check(dir: &Path) -> anyhow::Result<()> {
    let check = check_backup(dir).map_err(failed)?;
    for note in &check.notes {
        terminal::note(note);
    }
    for damaged in &check.damaged {
        terminal::note(format_args!("DAMAGED: {damaged}"));
    }
    if !check.damaged.is_empty() {
        return Err(Coded::violation(format!("{}: damaged", dir.display())).into());
    }
    let manifest = &check.manifest;
    let key = match manifest.id_key {
        IdKeyKept::Sealed => "id.key under a passphrase",
        IdKeyKept::LeftOut => "without id.key",
    };
    terminal::line(format_args!(
        "{} files, {} bytes, positions {} to {} ({}), {key}: every byte is as it was backed up",
        manifest.files.len(),
        Count(check.bytes),
        Count(manifest.snapshot + 1),
        Count(manifest.end.position),
        Timestamp(manifest.end.time)
    ))?;
    Ok(())
}

pub(crate) fn run_restore(arguments: &RestoreArguments) -> anyhow::Result<()> {
    let key = match (arguments.passphrase.read(false)?, &arguments.id_key) {
        (Some(passphrase), _) => KeyFrom::Passphrase(passphrase),
        (None, Some(file)) => KeyFrom::File(file.clone()),
        (None, None) if arguments.without_id_key => KeyFrom::Nowhere,
        (None, None) => KeyFrom::Unsaid,
    };
    let wish = RestoreWish {
        until: arguments.until.unwrap_or(Until::End),
        key,
        again: arguments.again,
    };
    let target = &arguments.to;
    let report = restore(&arguments.from, target, &wish).map_err(failed)?;
    let end = &report.manifest.end;
    let left = end.position - report.last.0;
    let behind = match left {
        0 => "all that the backup holds".to_owned(),
        left => format!("{} later positions of the backup are left out", Count(left)),
    };
    terminal::line(format_args!(
        "{}: restored up to position {} ({}), {behind}",
        target.display(),
        Count(report.last.0),
        report.time
    ))?;
    terminal::line(summary(&report.verdict))?;
    if !report.has_key {
        terminal::note(format_args!(
            "put id.key into {} before a server starts there, with mode 600",
            target.display()
        ));
    }
    Ok(())
}

/// What went wrong with a backup, with its exit code.
pub(crate) fn failed(error: BackupError) -> anyhow::Error {
    if error.is_damage() {
        Coded::violation(error.to_string()).into()
    } else if error.is_usage() {
        Coded::usage(error.to_string()).into()
    } else {
        error.into()
    }
}
