//! Certificates of a test: an authority, what it signs, and clients that speak TLS.

use std::{
    fs,
    io::{self, Read, Write},
    net::{SocketAddr, TcpStream},
    path::PathBuf,
    sync::Arc,
};

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, date_time_ymd,
};
use rustls::{
    ClientConfig, ClientConnection, RootCertStore, StreamOwned, SupportedProtocolVersion,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, ServerName, pem::PemObject},
    version::{TLS12, TLS13},
};
use tempfile::TempDir;
use turnstile_server::TlsFiles;

use super::client::PATIENCE;

/// An authority, with a directory for the files of its certificates.
pub(crate) struct Authority {
    directory: TempDir,
    issuer: CertifiedIssuer<'static, KeyPair>,
}

/// A certificate and its key, in files.
#[derive(Clone, Debug)]
pub(crate) struct Issued {
    pub(crate) certificate: PathBuf,
    pub(crate) key: PathBuf,
}

impl Authority {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let mut params = CertificateParams::default();
        // Two authorities have two names.
        let name = directory.path().display().to_string();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let issuer = CertifiedIssuer::self_signed(params, key).unwrap();
        fs::write(directory.path().join("ca.pem"), issuer.pem()).unwrap();
        Self { directory, issuer }
    }

    /// Its own certificate.
    pub(crate) fn file(&self) -> PathBuf {
        self.directory.path().join("ca.pem")
    }

    /// Signs a certificate with this common name and these DNS names or addresses.
    pub(crate) fn issue(&self, common: &str, names: &[&str]) -> Issued {
        self.issue_with(common, names, |_params| ())
    }

    /// Signs a certificate that was over long ago.
    pub(crate) fn issue_expired(&self, common: &str, names: &[&str]) -> Issued {
        self.issue_with(common, names, |params| {
            params.not_before = date_time_ymd(2001, 1, 1);
            params.not_after = date_time_ymd(2002, 1, 1);
        })
    }

    fn issue_with(
        &self,
        common: &str,
        names: &[&str],
        change: impl FnOnce(&mut CertificateParams),
    ) -> Issued {
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        let mut params = CertificateParams::new(names).unwrap();
        params.distinguished_name.push(DnType::CommonName, common);
        change(&mut params);
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        let file = |end: &str| self.directory.path().join(format!("{common}.{end}"));
        let issued = Issued {
            certificate: file("pem"),
            key: file("key"),
        };
        fs::write(&issued.certificate, certificate.pem()).unwrap();
        fs::write(&issued.key, key.serialize_pem()).unwrap();
        issued
    }

    /// The files of a server with this certificate, which knows clients by this authority.
    pub(crate) fn files(&self, own: &Issued) -> TlsFiles {
        TlsFiles {
            certificate: own.certificate.clone(),
            key: own.key.clone(),
            client_ca: Some(self.file()),
        }
    }

    /// What clients trust that know this authority; they show a certificate, if they have one.
    pub(crate) fn trusted(
        &self,
        own: Option<&Issued>,
        version: &'static SupportedProtocolVersion,
    ) -> ClientConfig {
        let mut roots = RootCertStore::empty();
        roots.add(self.issuer.der().clone()).unwrap();
        let provider = Arc::new(ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[version])
            .unwrap()
            .with_root_certificates(roots);
        match own {
            None => builder.with_no_client_auth(),
            Some(own) => {
                let chain = CertificateDer::from_pem_file(&own.certificate).unwrap();
                let key = PrivateKeyDer::from_pem_file(&own.key).unwrap();
                builder.with_client_auth_cert(vec![chain], key).unwrap()
            }
        }
    }
}

pub(crate) const VERSIONS: [&SupportedProtocolVersion; 2] = [&TLS12, &TLS13];

/// A client that speaks TLS and waits for exactly what it expects.
pub(crate) struct SecureClient {
    pub(crate) stream: StreamOwned<ClientConnection, TcpStream>,
}

impl SecureClient {
    pub(crate) fn connect(address: SocketAddr, config: &Arc<ClientConfig>) -> Self {
        let socket = TcpStream::connect(address).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        socket.set_write_timeout(Some(PATIENCE)).unwrap();
        let name = ServerName::try_from("localhost").unwrap();
        let session = ClientConnection::new(Arc::clone(config), name).unwrap();
        Self {
            stream: StreamOwned::new(session, socket),
        }
    }

    /// Does the handshake, or says why that was refused.
    pub(crate) fn shake(&mut self) -> io::Result<()> {
        while self.stream.conn.is_handshaking() {
            self.stream.conn.complete_io(&mut self.stream.sock)?;
        }
        Ok(())
    }

    pub(crate) fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.stream.write_all(bytes.as_ref()).unwrap();
        self.stream.flush().unwrap();
    }

    /// Receives exactly this, with `|` for the ends of lines.
    pub(crate) fn expect(&mut self, reply: &str) {
        let wanted = reply.replace('|', "\r\n");
        let mut found = vec![0; wanted.len()];
        self.stream.read_exact(&mut found).unwrap();
        assert_eq!(String::from_utf8_lossy(&found), wanted);
    }

    pub(crate) fn exchange(&mut self, request: &str, reply: &str) {
        self.send(request);
        self.expect(reply);
    }

    /// All that comes up to this end, with `|` for the ends of lines.
    pub(crate) fn until(&mut self, end: &str) -> String {
        let mut found = String::new();
        while !found.ends_with(end) {
            let mut byte = [0];
            self.stream.read_exact(&mut byte).unwrap();
            found.push(char::from(byte[0]));
            if found.ends_with("\r\n") {
                found.truncate(found.len() - 2);
                found.push('|');
            }
        }
        found
    }

    /// All that comes before the server says that it has ended.
    pub(crate) fn rest(&mut self) -> String {
        let mut rest = Vec::new();
        self.stream.read_to_end(&mut rest).unwrap();
        String::from_utf8_lossy(&rest).replace("\r\n", "|")
    }

    /// Why the server does not answer.
    pub(crate) fn failure(&mut self) -> String {
        let mut rest = Vec::new();
        let failure = self.stream.read_to_end(&mut rest).unwrap_err();
        assert_eq!(rest, b"");
        failure.to_string()
    }
}
