//! The programs in the lines that `dev` prints for pasting, as its doors need them.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
};

use turnstile_client::{
    ServerAddress,
    tls::{Tls, Trust},
};

/// How the doors of this `dev` are come to.
#[derive(Debug)]
pub(super) struct PastedTools {
    /// Of a server whose doors are encrypted: the file of its certificate.
    certificate: Option<PathBuf>,
}

impl PastedTools {
    pub(super) fn new(certificate: Option<&Path>) -> Self {
        let certificate = certificate.map(Path::to_owned);
        Self { certificate }
    }

    /// A door of this process: it needs no proof of who answers.
    ///
    /// # Errors
    /// TLS cannot begin.
    pub(super) fn own(&self, door: SocketAddr) -> anyhow::Result<ServerAddress> {
        let address = ServerAddress::from(door);
        if self.certificate.is_none() {
            return Ok(address);
        }
        let tls = Tls::new("localhost", &Trust::Anybody, None).map_err(anyhow::Error::msg)?;
        Ok(address.with_tls(tls))
    }

    pub(super) fn redis_cli(&self, door: SocketAddr) -> String {
        let tls = if self.certificate.is_some() {
            " --tls --insecure"
        } else {
            ""
        };
        format!("redis-cli{tls} -h {} -p {}", door.ip(), door.port())
    }

    /// Up to the path.
    pub(super) fn curl(&self, door: SocketAddr) -> String {
        if self.certificate.is_some() {
            format!("curl -k 'https://{door}")
        } else {
            format!("curl 'http://{door}")
        }
    }

    /// What sends lines, and shows the answers.
    pub(super) fn lines(&self, door: SocketAddr) -> String {
        if self.certificate.is_some() {
            format!("openssl s_client -quiet -connect {door}")
        } else {
            format!("nc -N {} {}", door.ip(), door.port())
        }
    }

    /// The options by which our own commands find the RESP door.
    pub(super) fn resp(&self, door: SocketAddr) -> String {
        match &self.certificate {
            Some(file) => {
                let file = super::program::quoted(&file.display().to_string());
                format!("--resp rediss://{door} --ca {file}")
            }
            None => format!("--resp {door}"),
        }
    }
}
