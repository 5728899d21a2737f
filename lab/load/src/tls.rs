//! TLS for servers of somebody else: whom to trust, and a connection that reads and writes through it.

use std::{
    io::{self, ErrorKind, Read, Write},
    net::TcpStream,
    path::PathBuf,
    sync::Arc,
};

use rustls::{
    ClientConfig, ClientConnection, DigitallySignedStruct, RootCertStore, SignatureScheme,
    client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature},
    pki_types::{CertificateDer, ServerName, UnixTime, pem::PemObject as _},
};

/// Which certificates are believed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trust {
    /// Those that the system's authorities have signed.
    System,
    /// Those that an authority of this PEM file has signed.
    File(PathBuf),
    /// Any: whoever answers is measured.
    Anybody,
}

/// How connections to one server are encrypted.
#[derive(Clone, Debug)]
pub struct Tls {
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
}

impl PartialEq for Tls {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.config, &other.config) && self.name == other.name
    }
}

impl Tls {
    /// For the server of this name, without a port.
    ///
    /// # Errors
    /// In words: the name is none, or the authorities cannot be read.
    pub fn new(name: &str, trust: &Trust) -> Result<Self, String> {
        let server = ServerName::try_from(name.to_owned())
            .map_err(|_invalid| format!("`{name}` is no name of a server"))?;
        let provider = Arc::new(ring::default_provider());
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?;
        let config = match trust {
            Trust::System => builder.with_root_certificates(of_system()?),
            Trust::File(path) => {
                let shown = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
                let mut roots = RootCertStore::empty();
                let found = CertificateDer::pem_file_iter(path).map_err(|error| shown(&error))?;
                for certificate in found {
                    let certificate = certificate.map_err(|error| shown(&error))?;
                    roots.add(certificate).map_err(|error| shown(&error))?;
                }
                if roots.is_empty() {
                    return Err(shown(&"no certificate in PEM is in it"));
                }
                builder.with_root_certificates(roots)
            }
            Trust::Anybody => builder
                .dangerous()
                .with_custom_certificate_verifier(Arc::new(Anybody(provider))),
        };
        Ok(Self {
            config: Arc::new(config.with_no_client_auth()),
            name: server,
        })
    }

    /// Begins with a connection; nothing is sent before something is written.
    pub(crate) fn begin(&self) -> io::Result<ClientConnection> {
        ClientConnection::new(Arc::clone(&self.config), self.name.clone()).map_err(io::Error::other)
    }

    /// Agrees with the server on a connection that blocks.
    pub(crate) fn agree(&self, stream: &mut TcpStream) -> io::Result<ClientConnection> {
        let mut tls = self.begin()?;
        while tls.is_handshaking() {
            tls.complete_io(stream)
                .map_err(|error| match error.kind() {
                    ErrorKind::WouldBlock => {
                        io::Error::new(ErrorKind::TimedOut, "the TLS handshake took too long")
                    }
                    _ => error,
                })?;
        }
        Ok(tls)
    }
}

fn of_system() -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    let found = rustls_native_certs::load_native_certs();
    roots.add_parsable_certificates(found.certs);
    if roots.is_empty() {
        return Err(
            "this system has no authorities to trust: name a file (--cacert), or trust every server (--insecure)"
                .to_owned(),
        );
    }
    Ok(roots)
}

/// Believes whoever answers, but not that a signature is one that is none.
#[derive(Debug)]
struct Anybody(Arc<CryptoProvider>);

impl ServerCertVerifier for Anybody {
    fn verify_server_cert(
        &self,
        _server: &CertificateDer<'_>,
        _between: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _ocsp: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let known = &self.0.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signed, known)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let known = &self.0.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, known)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

/// A connection that does not block, perhaps encrypted.
///
/// Invariant: what TLS still has to send is tried again with every read, write and flush.
#[derive(Debug)]
pub(crate) struct Wire<S> {
    pub(crate) socket: S,
    /// Boxed: most wires have none.
    tls: Option<Box<ClientConnection>>,
}

impl<S: Read + Write> Wire<S> {
    pub(crate) fn new(socket: S, tls: Option<ClientConnection>) -> Self {
        Self {
            socket,
            tls: tls.map(Box::new),
        }
    }

    /// The same on another kind of socket.
    pub(crate) fn map<T>(self, other: impl FnOnce(S) -> T) -> Wire<T> {
        Wire {
            socket: other(self.socket),
            tls: self.tls,
        }
    }

    /// Whether a read that fills its buffer only in part may have left something.
    pub(crate) const fn reads_in_pieces(&self) -> bool {
        self.tls.is_some()
    }
}

/// Sends what TLS has to send, as far as the socket takes it.
fn send(tls: &mut ClientConnection, socket: &mut impl Write) -> io::Result<()> {
    while tls.wants_write() {
        match tls.write_tls(socket) {
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

impl<S: Read + Write> Read for Wire<S> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(tls) = &mut self.tls else {
            return self.socket.read(buffer);
        };
        loop {
            match tls.reader().read(buffer) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                // Many servers close without saying so first.
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(0),
                done => return done,
            }
            tls.read_tls(&mut self.socket)?;
            tls.process_new_packets().map_err(io::Error::other)?;
            send(tls, &mut self.socket)?;
        }
    }
}

impl<S: Read + Write> Write for Wire<S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(tls) = &mut self.tls else {
            return self.socket.write(bytes);
        };
        send(tls, &mut self.socket)?;
        let taken = tls.writer().write(bytes)?;
        send(tls, &mut self.socket)?;
        if taken == 0 && !bytes.is_empty() {
            return Err(ErrorKind::WouldBlock.into());
        }
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.tls {
            Some(tls) => send(tls, &mut self.socket),
            None => Ok(()),
        }
    }
}
