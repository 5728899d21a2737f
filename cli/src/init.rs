//! `turnstile init`: a data directory, its first administrator, and a certificate for a first try.

mod certificate;

use std::{
    fs,
    io::ErrorKind,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use clap::Args;
use turnstile_access::SecretKey;
use zeroize::Zeroizing;

use self::certificate::CertificateFiles;
use crate::{
    access::{AccessDoor, StoppedDirectory},
    exit::Coded,
    new_key::{self, KeyWish},
    terminal,
};

/// The first administrator.
const ADMINISTRATOR: &str = "admin";

#[derive(Args, Debug)]
pub(crate) struct InitArguments {
    /// Data directory to make, or one that has no keys yet
    dir: PathBuf,
    /// Write the administrator's key to this new file of mode 600 instead of standard output
    #[arg(long, value_name = "FILE")]
    key_file: Option<PathBuf>,
    /// Succeed and make nothing if the directory has an administrator already. Complete a try that was
    /// interrupted, with a new key in FILE
    #[arg(long)]
    if_needed: bool,
    /// Environment that the key names: 1 to 16 small letters or digits
    #[arg(long, value_name = "NAME", default_value = "live")]
    env: String,
    /// Also make a certificate that no authority has signed, for a first try with TLS
    #[arg(long)]
    self_signed: bool,
    /// Names and IP addresses for --self-signed, beside localhost
    #[arg(
        long,
        value_name = "HOST,...",
        value_delimiter = ',',
        requires = "self_signed"
    )]
    hosts: Vec<String>,
}

pub(crate) fn run(arguments: &InitArguments) -> anyhow::Result<()> {
    let dir = &arguments.dir;
    let directory = StoppedDirectory::make(dir)?;
    if directory.is_guarded() {
        if arguments.if_needed {
            return Ok(());
        }
        let dir = dir.display();
        let told = format!(
            "{dir} has an administrator already: `turnstile key create admin --data {dir}` makes \
             another key"
        );
        return Err(Coded::usage(told).into());
    }
    // Before the administrator, with whom `init` cannot be repeated.
    let certificate = arguments.self_signed;
    let certificate = certificate.then(|| certificate::make(dir, &arguments.hosts));
    let certificate = certificate.transpose()?;
    let mut door = AccessDoor::Directory(Box::new(directory));
    let is_first_try = add_administrator(&mut door)?;
    if arguments.if_needed
        && !is_first_try
        && let Some(file) = &arguments.key_file
    {
        remove_unknown_key(file)?;
    }
    let wish = KeyWish {
        principal: ADMINISTRATOR,
        name: None,
        expires: None,
        environment: &arguments.env,
        file: arguments.key_file.as_deref(),
    };
    new_key::add(&mut door, &wish)?;
    door.close()?;
    if let Some(certificate) = certificate {
        explain(&certificate.name()?);
    }
    terminal::note(format_args!(
        "every address of a server on {} asks for a key now; `turnstile key` makes more",
        dir.display()
    ));
    Ok(())
}

/// Removes the key of an earlier try that was interrupted before the directory had it. A file with other content
/// stays.
fn remove_unknown_key(file: &Path) -> anyhow::Result<()> {
    let shown = || file.display().to_string();
    let text = match fs::read(file) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        read => Zeroizing::new(read.with_context(shown)?),
    };
    if text.is_empty() || SecretKey::parse(text.trim_ascii_end()).is_ok() {
        fs::remove_file(file).with_context(shown)?;
    }
    Ok(())
}

/// Adds the principal and its role. Whether no earlier try came that far.
fn add_administrator(door: &mut AccessDoor) -> anyhow::Result<bool> {
    let is_first_try = crate::principal::make(door, ADMINISTRATOR)?;
    door.done(
        "grant",
        &[
            ("principal", ADMINISTRATOR),
            ("role", "admin"),
            ("only", "*"),
        ],
    )?;
    Ok(is_first_try)
}

/// Says what to do with the certificate.
fn explain(files: &CertificateFiles) {
    let shown = |path: &Path| format!("{:?}", path.display().to_string());
    terminal::note("a certificate is made; for the configuration of the server:");
    terminal::note(format_args!(
        "[tls]\ncertificate = {}\nkey = {}",
        shown(&files.certificate),
        shown(&files.key)
    ));
    terminal::note(format_args!(
        "for clients: --ca {}",
        files.certificate.display()
    ));
}
