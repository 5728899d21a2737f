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
use turnstile_client::resp::{self, ReplyLimits, Value};

use crate::server::Server;

/// How long the server may take for one answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// The longest that is read at once.
const READ_BYTES: usize = 4_096;

/// The name in the certificates of measured servers.
const HOST: &str = "localhost";

/// One connection, and what was read of it and not taken.
#[derive(Debug)]
pub(super) struct Newcomer {
    stream: NewcomerStream,
    unread: Vec<u8>,
}

#[derive(Debug)]
enum NewcomerStream {
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
        let stream = match tls {
            None => NewcomerStream::Plain(stream),
            Some(config) => {
                let session =
                    ClientConnection::new(Arc::clone(config), ServerName::try_from(HOST)?)?;
                NewcomerStream::Secured(Box::new(StreamOwned::new(session, stream)))
            }
        };
        let unread = Vec::new();
        Ok(Self { stream, unread })
    }

    pub(super) fn say(&mut self, bytes: &[u8]) -> Result<()> {
        match &mut self.stream {
            NewcomerStream::Plain(stream) => stream.write_all(bytes)?,
            NewcomerStream::Secured(stream) => {
                stream.write_all(bytes)?;
                stream.flush()?;
            }
        }
        Ok(())
    }

    /// Reads once more.
    fn read(&mut self) -> Result<()> {
        let mut bytes = [0; READ_BYTES];
        let read = match &mut self.stream {
            NewcomerStream::Plain(stream) => stream.read(&mut bytes),
            NewcomerStream::Secured(stream) => stream.read(&mut bytes),
        };
        let read = read.context("no answer came")?;
        let before = self.unread.escape_ascii();
        ensure!(
            read > 0,
            "the server has closed the connection after {before}"
        );
        self.unread.extend_from_slice(&bytes[..read]);
        Ok(())
    }

    /// Takes what one read gives.
    pub(super) fn message(&mut self) -> Result<Vec<u8>> {
        self.read()?;
        Ok(std::mem::take(&mut self.unread))
    }

    /// Reads up to and with these words, and takes what was read.
    pub(super) fn until(&mut self, words: &[u8]) -> Result<Vec<u8>> {
        loop {
            if let Some(at) = memchr::memmem::find(&self.unread, words) {
                return Ok(self.unread.drain(..at + words.len()).collect());
            }
            self.read()?;
        }
    }

    /// Takes one reply of RESP.
    pub(super) fn reply(&mut self) -> Result<Vec<u8>> {
        loop {
            if let Some((_, length)) = resp::reply(&self.unread, &ReplyLimits::REPLY)? {
                return Ok(self.unread.drain(..length).collect());
            }
            self.read()?;
        }
    }

    /// Says this, and reads up to and with these words, which no earlier answer can have left.
    pub(super) fn ask(&mut self, request: &str, end: &str) -> Result<()> {
        self.unread.clear();
        self.say(request.as_bytes())?;
        self.until(end.as_bytes())?;
        Ok(())
    }

    /// Whether it goes on with an earlier session.
    pub(super) fn is_resumed(&self) -> bool {
        match &self.stream {
            NewcomerStream::Plain(_) => false,
            NewcomerStream::Secured(stream) => {
                stream.conn.handshake_kind() == Some(HandshakeKind::Resumed)
            }
        }
    }
}
