//! TLS: whom to trust, and how to say who one is.

use std::{
    fmt, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use rustls::{
    AlertDescription, CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct,
    InvalidMessage, RootCertStore, SignatureScheme,
    client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature},
    pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime, pem::PemObject},
};

/// Which certificates are believed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trust {
    /// Those that the system's authorities have signed.
    System,
    /// Those that an authority of this PEM file has signed.
    File(PathBuf),
    /// The first of this PEM file and no other, whatever names it is for.
    Only(PathBuf),
    /// Any: whoever answers is measured.
    Anybody,
}

/// The files, in PEM, by which a client shows a server who it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientCertificate {
    /// The certificate, and those between it and its authority.
    pub certificate: PathBuf,
    /// The private key of the certificate.
    pub key: PathBuf,
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
    /// In words: the name is none, or authorities or certificates cannot be read.
    pub fn new(
        name: &str,
        trust: &Trust,
        shown: Option<&ClientCertificate>,
    ) -> Result<Self, String> {
        let server = ServerName::try_from(name.to_owned())
            .map_err(|_invalid| format!("`{name}` is no name of a server"))?;
        let provider = Arc::new(ring::default_provider());
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?;
        let builder = match trust {
            Trust::System => builder.with_root_certificates(of_system()?),
            Trust::File(path) => {
                let mut roots = RootCertStore::empty();
                for certificate in certificates(path)? {
                    let added = roots.add(certificate);
                    added.map_err(|error| in_file(path, &error))?;
                }
                builder.with_root_certificates(roots)
            }
            Trust::Only(_) | Trust::Anybody => {
                let only = match trust {
                    Trust::Only(path) => certificates(path)?.into_iter().next(),
                    _ => None,
                };
                let verifier = AnyName { provider, only };
                builder
                    .dangerous()
                    .with_custom_certificate_verifier(Arc::new(verifier))
            }
        };
        let config = match shown {
            None => builder.with_no_client_auth(),
            Some(shown) => {
                let key = PrivateKeyDer::from_pem_file(&shown.key);
                let key = key.map_err(|error| in_file(&shown.key, &error))?;
                builder
                    .with_client_auth_cert(certificates(&shown.certificate)?, key)
                    .map_err(|error| in_file(&shown.certificate, &error))?
            }
        };
        Ok(Self {
            config: Arc::new(config),
            name: server,
        })
    }

    /// Begins with a connection; nothing is sent before something is written.
    pub(crate) fn begin(&self) -> io::Result<ClientConnection> {
        ClientConnection::new(Arc::clone(&self.config), self.name.clone()).map_err(io::Error::other)
    }
}

fn in_file(path: &Path, error: &dyn fmt::Display) -> String {
    format!("{}: {error}", path.display())
}

/// All certificates of a PEM file, one at least.
fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let found = CertificateDer::pem_file_iter(path).map_err(|error| in_file(path, &error))?;
    let found: Result<Vec<_>, _> = found.collect();
    let found = found.map_err(|error| in_file(path, &error))?;
    if found.is_empty() {
        return Err(in_file(path, &"no certificate in PEM is in it"));
    }
    Ok(found)
}

fn of_system() -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    let found = rustls_native_certs::load_native_certs();
    roots.add_parsable_certificates(found.certs);
    if roots.is_empty() {
        return Err("this system has no authorities to trust: name a file (--ca)".to_owned());
    }
    Ok(roots)
}

/// The same error, in words that say what to do where it is one of TLS that people can mend.
pub(crate) fn explained(error: io::Error) -> io::Error {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref());
    let Some(told) = inner.and_then(advice) else {
        return error;
    };
    io::Error::new(error.kind(), told)
}

fn advice(error: &rustls::Error) -> Option<String> {
    use rustls::Error::{AlertReceived, InvalidCertificate, InvalidMessage as Unreadable};
    let told = match error {
        // A bad signature is that of another authority of the same name.
        InvalidCertificate(CertificateError::UnknownIssuer | CertificateError::BadSignature) => {
            "no authority that is trusted here has signed the server's certificate: name the file of \
             its authority (--ca)"
        }
        InvalidCertificate(
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
        ) => {
            return Some(format!(
                "the server's certificate is for another name: {error}"
            ));
        }
        InvalidCertificate(CertificateError::Expired | CertificateError::ExpiredContext { .. }) => {
            "the server's certificate has expired"
        }
        InvalidCertificate(_) => {
            return Some(format!("the server's certificate is refused: {error}"));
        }
        AlertReceived(AlertDescription::CertificateRequired) => {
            "the server asks for a certificate (--client-certificate, --client-key)"
        }
        AlertReceived(
            AlertDescription::UnknownCA
            | AlertDescription::BadCertificate
            | AlertDescription::CertificateUnknown
            | AlertDescription::CertificateExpired
            | AlertDescription::CertificateRevoked,
        ) => {
            return Some(format!(
                "the server refuses the client's certificate: {error}"
            ));
        }
        Unreadable(InvalidMessage::InvalidContentType) => "the server does not speak TLS here",
        _ => return None,
    };
    Some(told.to_owned())
}

/// Accepts any certificate or only one, whatever names it is for, but no wrong signature.
#[derive(Debug)]
struct AnyName {
    provider: Arc<CryptoProvider>,
    only: Option<CertificateDer<'static>>,
}

impl ServerCertVerifier for AnyName {
    fn verify_server_cert(
        &self,
        server: &CertificateDer<'_>,
        _between: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _ocsp: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        match &self.only {
            Some(only) if only != server => {
                Err(CertificateError::ApplicationVerificationFailure.into())
            }
            _ => Ok(ServerCertVerified::assertion()),
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let known = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signed, known)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let known = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, known)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider
            .signature_verification_algorithms
            .supported_schemes()
    }
}
