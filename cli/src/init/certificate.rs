//! A certificate that no authority has signed.

use std::{
    fs::{self, DirBuilder, OpenOptions},
    io::Write as _,
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use jiff::{Timestamp, ToSpan as _, civil::Date, tz::TimeZone};
use rcgen::{CertificateParams, DnType, ExtendedKeyUsagePurpose, KeyPair, date_time_ymd};

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

/// Makes a certificate for these hosts and for this machine, and its key, in files that are not there yet.
///
/// # Errors
/// A host is no name and no address, or the files cannot be written.
pub(super) fn write(dir: &Path, hosts: &[String]) -> anyhow::Result<CertificateFiles> {
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
    let files = CertificateFiles {
        certificate: folder.join("certificate.pem"),
        key: folder.join("key.pem"),
    };
    put(&files.key, &zeroize::Zeroizing::new(key.serialize_pem()))?;
    put(&files.certificate, &certificate.pem())?;
    Ok(files)
}

/// Year, month and day.
fn parts(date: Date) -> anyhow::Result<(i32, u8, u8)> {
    let (month, day) = (u8::try_from(date.month())?, u8::try_from(date.day())?);
    Ok((i32::from(date.year()), month, day))
}

fn put(path: &Path, text: &str) -> anyhow::Result<()> {
    let shown = || path.display().to_string();
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600);
    let mut file = options.open(path).with_context(shown)?;
    file.write_all(text.as_bytes()).with_context(shown)?;
    file.sync_all().with_context(shown)
}
