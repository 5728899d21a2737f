//! A certificate that no authority has signed.

use std::{
    fs::{self, DirBuilder},
    io::{self, Write as _},
    os::unix::fs::DirBuilderExt as _,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use jiff::{Timestamp, ToSpan as _, civil::Date, tz::TimeZone};
use rcgen::{CertificateParams, DnType, ExtendedKeyUsagePurpose, KeyPair, date_time_ymd};
use tempfile::NamedTempFile;
use zeroize::Zeroizing;

use crate::exit::Coded;

/// Where both files are, below the data directory.
const FOLDER: &str = "tls";

/// Whom a certificate is for beside the hosts that are named.
const HERE: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// How many days it is good for, as certificates of public authorities are at most.
const DAYS: i64 = 397;

/// The files of a certificate.
#[derive(Debug)]
pub(super) struct CertificateFiles {
    pub(super) certificate: PathBuf,
    pub(super) key: PathBuf,
}

/// A certificate and its key on the disk. They have no names yet, and are removed when this is dropped.
#[derive(Debug)]
pub(super) struct UnnamedCertificate {
    files: CertificateFiles,
    certificate: NamedTempFile,
    key: NamedTempFile,
}

/// Makes a certificate for these hosts and for this machine, and its key, for files that are not there yet.
///
/// # Errors
/// A host is no name and no address, the files are there, or they cannot be written.
pub(super) fn make(dir: &Path, hosts: &[String]) -> anyhow::Result<UnnamedCertificate> {
    let named = hosts.iter().map(String::as_str);
    let names: Vec<String> = HERE.into_iter().chain(named).map(str::to_owned).collect();
    let mut params =
        CertificateParams::new(names).map_err(|error| Coded::usage(format!("--hosts: {error}")))?;
    let today = Timestamp::now().to_zoned(TimeZone::UTC).date();
    // Clocks of clients may be late.
    let (year, month, day) = parts(today.checked_sub(1.day())?)?;
    params.not_before = date_time_ymd(year, month, day);
    let (year, month, day) = parts(today.checked_add(DAYS.days())?)?;
    params.not_after = date_time_ymd(year, month, day);
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    let name = &mut params.distinguished_name;
    name.push(DnType::CommonName, "Turnstile, self-signed");
    let key = KeyPair::generate()?;
    let certificate = params.self_signed(&key)?;
    let folder = dir.join(FOLDER);
    let mut builder = DirBuilder::new();
    builder.recursive(true).mode(0o700);
    let shown = || folder.display().to_string();
    builder.create(&folder).with_context(shown)?;
    let folder = fs::canonicalize(&folder).with_context(shown)?;
    let shown = || folder.display().to_string();
    let files = CertificateFiles {
        certificate: folder.join("certificate.pem"),
        key: folder.join("key.pem"),
    };
    for file in [&files.certificate, &files.key] {
        if fs::symlink_metadata(file).is_ok() {
            let told = format!("{} is there already", file.display());
            return Err(Coded::usage(told).into());
        }
    }
    let pem = Zeroizing::new(key.serialize_pem());
    let put = |text: &str| put(&folder, text).with_context(shown);
    Ok(UnnamedCertificate {
        certificate: put(&certificate.pem())?,
        key: put(&pem)?,
        files,
    })
}

impl UnnamedCertificate {
    /// Gives the files their names.
    ///
    /// # Errors
    /// They cannot have them.
    pub(super) fn name(self) -> anyhow::Result<CertificateFiles> {
        let files = self.files;
        for (unnamed, path) in [
            (self.key, &files.key),
            (self.certificate, &files.certificate),
        ] {
            let named = unnamed.persist_noclobber(path);
            named.with_context(|| path.display().to_string())?;
        }
        Ok(files)
    }
}

/// Year, month and day.
fn parts(date: Date) -> anyhow::Result<(i32, u8, u8)> {
    let (month, day) = (u8::try_from(date.month())?, u8::try_from(date.day())?);
    Ok((i32::from(date.year()), month, day))
}

/// A new file of mode 600 in this folder.
fn put(folder: &Path, text: &str) -> io::Result<NamedTempFile> {
    let mut file = NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    Ok(file)
}
