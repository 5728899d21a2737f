//! New connections to a server, with TLS or without, with a login and one answer.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    path::Path,
    sync::Arc,
    time::Duration,
};

use anyhow::{Context as _, Result, ensure};
use rustls::{
    ClientConfig, ClientConnection, HandshakeKind, RootCertStore, StreamOwned,
    client::Resumption,
    crypto::ring,
    pki_types::{CertificateDer, ServerName, pem::PemObject as _},
};
use turnstile_access::SecretKey;
use turnstile_client::resp::Value;

use crate::server::Server;

/// How long the server may take for one answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// The longest that is read at once.
const READ_BYTES: usize = 4_096;

/// The name in the certificates of measured servers.
const HOST: &str = "localhost";

/// One connection.
#[derive(Debug)]
pub(super) enum Newcomer {
    Plain(TcpStream),
    Secured(Box<StreamOwned<ClientConnection, TcpStream>>),
}

/// What clients believe who trust the certificate in this file. They resume earlier sessions, or never do.
pub(super) fn trust(certificate: &Path, resumes: bool) -> Result<Arc<ClientConfig>> {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(certificate)? {
        roots.add(certificate?)?;
    }
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    if !resumes {
        config.resumption = Resumption::disabled();
    }
    Ok(Arc::new(config))
}

/// Has the server ask for keys from now on; the key of its administrator.
pub(super) fn guard(server: &Server) -> Result<SecretKey> {
    let key = SecretKey::new("bench", [1; 8], [2; 32])?;
    let (id, digest) = (key.id().to_string(), key.digest().hex());
    let mut connection = server.connect()?;
    for command in [
        &["ACCESS.ADD-PRINCIPAL", "root"][..],
        &["ACCESS.GRANT", "root", "admin", "*"],
        &["ACCESS.ADD-KEY", "root", &id, &digest],
    ] {
        let words: Vec<&[u8]> = command.iter().map(|word| word.as_bytes()).collect();
        let reply = connection.command(&words)?;
        ensure!(!matches!(reply, Value::Error(_)), "refused: {reply:?}");
    }
    Ok(key)
}

impl Newcomer {
    pub(super) fn connect(address: SocketAddr, tls: Option<&Arc<ClientConfig>>) -> Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let Some(config) = tls else {
            return Ok(Self::Plain(stream));
        };
        let session = ClientConnection::new(Arc::clone(config), ServerName::try_from(HOST)?)?;
        Ok(Self::Secured(Box::new(StreamOwned::new(session, stream))))
    }

    /// Says this, and reads up to and with these words.
    pub(super) fn ask(&mut self, request: &str, end: &str) -> Result<()> {
        match self {
            Self::Plain(stream) => converse(stream, request, end),
            Self::Secured(stream) => converse(stream, request, end),
        }
    }

    /// Whether it goes on with an earlier session.
    pub(super) fn is_resumed(&self) -> bool {
        match self {
            Self::Plain(_) => false,
            Self::Secured(stream) => stream.conn.handshake_kind() == Some(HandshakeKind::Resumed),
        }
    }
}

fn converse(stream: &mut (impl Read + Write), request: &str, end: &str) -> Result<()> {
    stream.write_all(request.as_bytes())?;
    stream.flush()?;
    let (mut heard, mut bytes) = (Vec::new(), [0; READ_BYTES]);
    while memchr::memmem::find(&heard, end.as_bytes()).is_none() {
        let count = stream.read(&mut bytes).context("no answer came")?;
        ensure!(
            count > 0,
            "the server has closed the connection after {}",
            heard.escape_ascii()
        );
        heard.extend_from_slice(&bytes[..count]);
    }
    Ok(())
}
