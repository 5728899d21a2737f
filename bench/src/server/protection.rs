//! Keys and TLS of a server, and how clients get past them.

use std::{
    fs,
    net::SocketAddr,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, Result, anyhow, ensure};
use turnstile_client::{
    AccessKey, ServerAddress,
    resp::Value,
    tls::{Tls, Trust},
};

use crate::program::run;

/// The name in the certificates that are made here.
const HOST: &str = "localhost";

/// What clients of a server need: nothing, as it is started first.
#[derive(Debug)]
pub(crate) struct Protection {
    /// The file of the key with which they log in.
    pub(crate) key_file: Option<PathBuf>,
    /// The certificate that they trust.
    pub(crate) ca: Option<PathBuf>,
}

/// A certificate and its key.
pub(super) struct ServerCertificate {
    pub(super) certificate: PathBuf,
    pub(super) key: PathBuf,
}

impl Protection {
    /// Of a server that every client reaches.
    pub(crate) const NONE: Self = Self {
        key_file: None,
        ca: None,
    };

    pub(crate) fn address(&self, socket: SocketAddr) -> Result<ServerAddress> {
        let mut address = ServerAddress::from(socket);
        if let Some(ca) = &self.ca {
            let tls = Tls::new(HOST, &Trust::File(ca.clone()), None);
            address = address.with_tls(tls.map_err(|why| anyhow!(why))?);
        }
        if let Some(file) = &self.key_file {
            let key = AccessKey::parse(fs::read_to_string(file)?.trim())?;
            address = address.with_key(key);
        }
        Ok(address)
    }
}

/// Has our program make an administrator's key and a certificate in a directory that no server uses.
pub(super) fn make(turnstile: &Path, home: &Path) -> Result<(PathBuf, ServerCertificate)> {
    let (directory, key_file) = (home.join("keys"), home.join("admin.key"));
    let mut command = Command::new(turnstile);
    command.arg("init").arg(&directory).arg("--self-signed");
    run(command.arg("--key-file").arg(&key_file))?;
    let tls = directory.join("tls");
    let files = ServerCertificate {
        certificate: tls.join("certificate.pem"),
        key: tls.join("key.pem"),
    };
    Ok((key_file, files))
}

/// Gives a running server that asks for no key an administrator with the key in this file.
pub(super) fn guard(
    server: SocketAddr,
    key_file: &Path,
    timeout: std::time::Duration,
) -> Result<()> {
    let text = fs::read_to_string(key_file)?;
    let key = turnstile_access::SecretKey::parse(text.trim().as_bytes())?;
    let (id, digest) = (key.id().to_string(), key.digest().hex());
    let mut connection = turnstile_client::Connection::connect(server, timeout)?;
    for command in [
        &["ACCESS.ADD-PRINCIPAL", "bench"][..],
        &["ACCESS.GRANT", "bench", "admin", "*"],
        &["ACCESS.ADD-KEY", "bench", &id, &digest],
    ] {
        let words: Vec<&[u8]> = command.iter().map(|word| word.as_bytes()).collect();
        let reply = connection.command(&words).context("access is not served")?;
        ensure!(!matches!(reply, Value::Error(_)), "refused: {reply:?}");
    }
    Ok(())
}
