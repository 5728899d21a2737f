//! How commands connect to a server that runs already: whom they trust, and as whom they come.

use std::{
    env, fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::Context as _;
use clap::Args;
use turnstile_client::{
    AccessKey, ConnectionError, ServerAddress, http,
    tls::{ClientCertificate, Tls, Trust},
};
use zeroize::Zeroizing;

use crate::{address::DoorAddress, exit::Coded, terminal};

/// The environment variable that holds the key.
pub(crate) const KEY_VARIABLE: &str = "TURNSTILE_KEY";

/// How long a server over HTTP may take for one answer.
const HTTP_TIMEOUT: Duration = Duration::from_secs(60);

/// The mode bits of a file that let others than its owner read it.
const READ_BY_OTHERS: u32 = 0o044;

/// Whom a command trusts, and as whom it comes. A key never stands on the command line: every process of
/// the machine can read that.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Security {
    /// With TLS: trust the certificate authorities in this PEM file instead of the system's
    #[arg(long, visible_alias = "cacert", global = true, value_name = "FILE", help_heading = HEADING)]
    ca: Option<PathBuf>,
    /// With TLS: trust the first certificate of this PEM file alone, whatever names it is for. Loads that a
    /// server starts against itself know its certificate, and ask at an address
    #[arg(
        long,
        global = true,
        value_name = "FILE",
        hide = true,
        conflicts_with = "ca"
    )]
    server_certificate: Option<PathBuf>,
    /// With TLS: PEM file of the client's own certificate, for servers that ask for one
    #[arg(long, global = true, value_name = "FILE", help_heading = HEADING)]
    client_certificate: Option<PathBuf>,
    /// With TLS: PEM file of the private key of --client-certificate
    #[arg(long, global = true, value_name = "FILE", help_heading = HEADING)]
    client_key: Option<PathBuf>,
    /// File that holds the key to log in with; default: the environment variable TURNSTILE_KEY
    #[arg(long, global = true, value_name = "FILE", help_heading = HEADING)]
    key_file: Option<PathBuf>,
}

const HEADING: &str = "Connection";

impl Security {
    /// How a RESP door is connected to: with the key, if there is one.
    ///
    /// # Errors
    /// A file cannot be read, or the key is none.
    pub(crate) fn resp(&self, door: &DoorAddress) -> anyhow::Result<ServerAddress> {
        let address = self.keyless(door)?;
        Ok(match self.key_for(door, "rediss")? {
            Some(key) => address.with_key(key),
            None => address,
        })
    }

    /// Connects to an HTTP door: with the key, if there is one.
    ///
    /// # Errors
    /// As of [`resp`](Self::resp), or nothing listens there.
    pub(crate) fn http(&self, door: &DoorAddress) -> anyhow::Result<http::Connection> {
        Ok(self.http_server(door)?.connect()?)
    }

    /// An HTTP door with the key and all certificates read, to connect to as often as needed.
    ///
    /// # Errors
    /// As of [`resp`](Self::resp).
    pub(crate) fn http_server(&self, door: &DoorAddress) -> anyhow::Result<HttpServer> {
        Ok(HttpServer {
            address: self.keyless(door)?,
            host: door.host.clone(),
            key: self.key_for(door, "https")?,
        })
    }

    /// The key to show at a door, with a warning where others may read it on its way.
    fn key_for(&self, door: &DoorAddress, scheme: &str) -> anyhow::Result<Option<AccessKey>> {
        let key = self.key()?;
        if key.is_some() && !door.encrypted && !door.socket.ip().is_loopback() {
            terminal::note(format_args!(
                "the key goes to {door} unencrypted, where others may read it: name {scheme}://{door}"
            ));
        }
        Ok(key)
    }

    /// The same of a door that may have been named or not.
    ///
    /// # Errors
    /// As of [`resp`](Self::resp).
    pub(crate) fn named_resp(
        &self,
        door: Option<&DoorAddress>,
    ) -> anyhow::Result<Option<ServerAddress>> {
        door.map(|door| self.resp(door)).transpose()
    }

    /// How a door is connected to whose protocol has no place for a key.
    ///
    /// # Errors
    /// A file cannot be read.
    pub(crate) fn keyless(&self, door: &DoorAddress) -> anyhow::Result<ServerAddress> {
        let address = ServerAddress::from(door.socket);
        if !door.encrypted {
            return Ok(address);
        }
        Ok(address.with_tls(self.tls(&door.host, false)?))
    }

    /// How connections to the server of this name are encrypted; `anybody`: whoever answers is trusted.
    ///
    /// # Errors
    /// A file cannot be read, or the name is none.
    pub(crate) fn tls(&self, host: &str, anybody: bool) -> anyhow::Result<Tls> {
        let trust = match (&self.server_certificate, &self.ca) {
            _ if anybody => Trust::Anybody,
            (Some(file), _) => Trust::Only(file.clone()),
            (None, Some(file)) => Trust::File(file.clone()),
            (None, None) => Trust::System,
        };
        let shown = match (&self.client_certificate, &self.client_key) {
            (Some(certificate), Some(key)) => Some(ClientCertificate {
                certificate: certificate.clone(),
                key: key.clone(),
            }),
            (None, None) => None,
            (Some(_), None) | (None, Some(_)) => {
                let wrong = "--client-certificate and --client-key are named together";
                return Err(Coded::usage(wrong.to_owned()).into());
            }
        };
        Tls::new(host, &trust, shown.as_ref()).map_err(anyhow::Error::msg)
    }

    /// Whether anything was said that only TLS has a use for.
    pub(crate) const fn is_about_tls(&self) -> bool {
        self.ca.is_some()
            || self.server_certificate.is_some()
            || self.client_certificate.is_some()
            || self.client_key.is_some()
    }

    /// The key to log in with, if there is one.
    ///
    /// # Errors
    /// The file cannot be read, or what is given is no key.
    fn key(&self) -> anyhow::Result<Option<AccessKey>> {
        if let Some(key) = self.named_key()? {
            return Ok(Some(key));
        }
        let Some(text) = env::var_os(KEY_VARIABLE).filter(|text| !text.is_empty()) else {
            return Ok(None);
        };
        let text = Zeroizing::new(text.to_string_lossy().into_owned());
        read_key(&text, KEY_VARIABLE).map(Some)
    }

    /// The key of `--key-file` alone: servers of somebody else are not told what the environment holds.
    ///
    /// # Errors
    /// The file cannot be read, or what is in it is no key.
    pub(crate) fn named_key(&self) -> anyhow::Result<Option<AccessKey>> {
        let file = self.key_file.as_deref();
        file.map(key_in).transpose()
    }
}

/// Where an HTTP door is, whom its clients trust, and as whom they come.
#[derive(Debug)]
pub(crate) struct HttpServer {
    address: ServerAddress,
    host: String,
    key: Option<AccessKey>,
}

impl HttpServer {
    /// Connects to it.
    ///
    /// # Errors
    /// Nothing listens there, or it is not trusted.
    pub(crate) fn connect(&self) -> Result<http::Connection, ConnectionError> {
        http::Connection::connect(&self.address, (&self.host, self.key.clone()), HTTP_TIMEOUT)
    }
}

/// Reads a secret in a file, and warns when others can, too. `what` names it.
pub(crate) fn secret_in(path: &Path, what: &str) -> anyhow::Result<Zeroizing<Vec<u8>>> {
    let shown = path.display();
    let secret = Zeroizing::new(fs::read(path).with_context(|| shown.to_string())?);
    let mode = fs::metadata(path)?.permissions().mode();
    if mode & READ_BY_OTHERS != 0 {
        terminal::note(format_args!(
            "others may read {what} in {shown}: chmod 600 {shown}"
        ));
    }
    Ok(secret)
}

fn key_in(path: &Path) -> anyhow::Result<AccessKey> {
    let secret = secret_in(path, "the key")?;
    let shown = path.display().to_string();
    let text = str::from_utf8(&secret).with_context(|| shown.clone())?;
    read_key(text.trim_ascii(), &shown)
}

fn read_key(text: &str, from: &str) -> anyhow::Result<AccessKey> {
    let key = AccessKey::parse(text);
    key.map_err(|invalid| Coded::usage(format!("{from}: {invalid}")).into())
}
