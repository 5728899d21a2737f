//! TLS of the doors: certificate and key from files, what is accepted with them, and their reload.

mod expiry;
mod names;
mod records;
mod secure;

use std::{
    fmt, fs, io,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    sync::{Arc, PoisonError, RwLock},
};

use rustls::{
    ClientConfig, RootCertStore, ServerConfig,
    client::Resumption,
    crypto::{CryptoProvider, ring},
    pki_types::{
        CertificateDer, PrivateKeyDer, ServerName,
        pem::{self, PemObject as _},
    },
    server::{
        NoServerSessionStorage, ServerSessionMemoryCache, VerifierBuilderError,
        WebPkiClientVerifier, danger::ClientCertVerifier,
    },
    sign::{CertifiedKey, SingleCertAndKey},
    version::{TLS12, TLS13},
};
use turnstile_types::Timestamp;
use zeroize::Zeroizing;

use crate::{
    ListenerPrincipals,
    core::{
        conversation::{ClientProof, FastDoor},
        transport::CertificateExpiries,
    },
    limits::TLS_SESSIONS,
};

pub(crate) use self::{names::names_of, secure::Secure};

use self::{
    expiry::expiry_of,
    names::{dns_names, process_name},
};

/// The first byte of a handshake: the type of its record.
pub(crate) const FIRST_BYTE: u8 = 22;

/// The record that ends a handshake before it begins. TLS has no word for the reasons of a server: this
/// is `internal_error`.
pub(crate) const REFUSED_HANDSHAKE: [u8; 7] = [21, 3, 3, 0, 2, 2, 80];

/// The files that a server proves itself by, and knows others by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    /// The chain of certificates in PEM, that of the server first.
    pub certificate: PathBuf,
    /// The private key of the first certificate in PEM.
    pub key: PathBuf,
    /// The authorities in PEM by whose certificates clients may say who they are.
    pub client_ca: Option<PathBuf>,
}

/// A file of TLS that cannot be used.
#[derive(Debug)]
pub struct InvalidTls {
    /// The option of the configuration that names the file.
    option: &'static str,
    file: PathBuf,
    cause: TlsFault,
}

/// What is wrong with a file of TLS.
#[derive(Debug)]
enum TlsFault {
    Unreadable(io::Error),
    /// It does not hold what it should, in PEM.
    NotPem(&'static str, Option<pem::Error>),
    Unusable(rustls::Error),
    Authorities(VerifierBuilderError),
    /// Lines between processes need a DNS name in the certificate.
    Nameless,
}

impl InvalidTls {
    fn new(option: &'static str, file: &Path, cause: TlsFault) -> Self {
        Self {
            option,
            file: file.to_owned(),
            cause,
        }
    }
}

impl fmt::Display for InvalidTls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} `{}`: ", self.option, self.file.display())?;
        match &self.cause {
            TlsFault::Unreadable(cause) => cause.fmt(f),
            TlsFault::NotPem(what, None) => write!(f, "the file holds no {what} in PEM"),
            TlsFault::NotPem(what, Some(cause)) => {
                write!(f, "the file holds no {what} in PEM: {cause}")
            }
            TlsFault::Unusable(cause) => cause.fmt(f),
            TlsFault::Authorities(cause) => cause.fmt(f),
            TlsFault::Nameless => f.write_str(
                "the certificate has no DNS name, by which the processes of one installation know \
                 each other",
            ),
        }
    }
}

impl std::error::Error for InvalidTls {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.cause {
            TlsFault::Unreadable(cause) => Some(cause),
            TlsFault::NotPem(_, cause) => cause.as_ref().map(|cause| cause as _),
            TlsFault::Unusable(cause) => Some(cause),
            TlsFault::Authorities(cause) => Some(cause),
            TlsFault::Nameless => None,
        }
    }
}

/// What every door accepts connections with. A reload replaces it for new connections; those that are
/// open keep what they began with.
#[derive(Debug)]
pub(crate) struct DoorTls {
    files: TlsFiles,
    /// Whose clients need no certificate.
    principals: ListenerPrincipals,
    current: RwLock<Arc<TlsConfigs>>,
    pub(crate) expiries: Arc<CertificateExpiries>,
}

/// What was made of the files.
#[derive(Debug)]
pub(crate) struct TlsConfigs {
    /// The certificates and authorities as they were read: the same files make nothing new, so that
    /// clients go on with the sessions that they have.
    read: (Vec<u8>, Option<Vec<u8>>),
    /// The DNS names of the server's certificate.
    pub(crate) names: Vec<String>,
    /// When the first certificate of each file expires, by the word of the file.
    expiries: Vec<(&'static str, Timestamp)>,
    clients: Arc<ServerConfig>,
    /// Where clients must show a certificate, if there are authorities.
    certified: Arc<ServerConfig>,
    pub(crate) http: Arc<ServerConfig>,
    lines: Option<LineTls>,
}

/// How the processes of one installation know each other: each shows a certificate of the authorities
/// that has the DNS name of all of them. A client's certificate of the same authorities has another
/// name, so that no client passes for a process.
#[derive(Debug)]
struct LineTls {
    name: Arc<str>,
    accepts: Arc<ServerConfig>,
    dials: Arc<ClientConfig>,
}

impl DoorTls {
    /// Reads the files.
    ///
    /// # Errors
    /// One of them cannot be used.
    pub(crate) fn open(
        files: &TlsFiles,
        principals: &ListenerPrincipals,
    ) -> Result<Self, InvalidTls> {
        let current = TlsConfigs::read(files)?;
        let expiries = CertificateExpiries::default();
        expiries.set(current.expiries.clone());
        Ok(Self {
            principals: *principals,
            expiries: Arc::new(expiries),
            current: RwLock::new(Arc::new(current)),
            files: files.clone(),
        })
    }

    /// Reads the files again, for connections that begin from now on. Says whether there is something
    /// new in them.
    ///
    /// # Errors
    /// One of them cannot be used; everything stays as it was.
    pub(crate) fn reload(&self) -> Result<bool, InvalidTls> {
        let fresh = TlsConfigs::read(&self.files)?;
        if fresh.lines.is_none() && self.current().lines.is_some() {
            let file = &self.files.certificate;
            return Err(InvalidTls::new(CERTIFICATE, file, TlsFault::Nameless));
        }
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        let is_new = fresh.read != current.read;
        if is_new {
            self.expiries.set(fresh.expiries.clone());
            *current = Arc::new(fresh);
        }
        Ok(is_new)
    }

    /// Whether the files hold other certificates or authorities than those in use. Nobody renews a key alone:
    /// it belongs to its certificate.
    pub(crate) fn are_files_new(&self) -> bool {
        let (chain, authorities) = &self.current().read;
        let is_new = |file: &Path, used: &[u8]| !fs::read(file).is_ok_and(|now| now == used);
        let mut client_ca = self.files.client_ca.iter().zip(authorities);
        is_new(&self.files.certificate, chain) || client_ca.any(|(file, used)| is_new(file, used))
    }

    pub(crate) fn current(&self) -> Arc<TlsConfigs> {
        let current = self.current.read();
        Arc::clone(&current.unwrap_or_else(PoisonError::into_inner))
    }

    /// Asserts that lines between processes can be secured.
    ///
    /// # Errors
    /// The certificate has no DNS name.
    pub(crate) fn judge_lines(&self) -> Result<(), InvalidTls> {
        match self.current().lines {
            Some(_) => Ok(()),
            None => {
                let file = &self.files.certificate;
                Err(InvalidTls::new(CERTIFICATE, file, TlsFault::Nameless))
            }
        }
    }

    /// Begins a connection that was accepted at this door, with its number and its sweep; nothing where the door is for
    /// other processes and none can be told from a stranger.
    pub(crate) fn accept(&self, door: &FastDoor, begun: (u64, u32)) -> Option<Box<Secure>> {
        let current = self.current();
        let (config, name) = match (door.proof, &current.lines) {
            (ClientProof::Key, _) => (&current.clients, None),
            (ClientProof::Certificate, _) if self.principals.has(door.name) => {
                (&current.clients, None)
            }
            (ClientProof::Certificate, _) => (&current.certified, None),
            (ClientProof::Process, Some(lines)) => (&lines.accepts, Some(Arc::clone(&lines.name))),
            (ClientProof::Process, None) => return None,
        };
        let secure = Secure::accept(Arc::clone(config), (name, door.refusal), begun);
        secure.map(Box::new)
    }

    /// Begins a line to another process, in this sweep.
    pub(crate) fn dial(&self, sweep: u32) -> Option<Box<Secure>> {
        let current = self.current();
        let lines = current.lines.as_ref()?;
        let name = ServerName::try_from(lines.name.to_string()).ok()?;
        Secure::dial(Arc::clone(&lines.dials), name, sweep).map(Box::new)
    }
}

const CERTIFICATE: &str = "tls.certificate";
const KEY: &str = "tls.key";
const CLIENT_CA: &str = "tls.client_ca";

impl TlsConfigs {
    fn read(files: &TlsFiles) -> Result<Self, InvalidTls> {
        let provider = Arc::new(ring::default_provider());
        let chain_pem = read_file(CERTIFICATE, &files.certificate)?;
        let chain = certificates(CERTIFICATE, &files.certificate, &chain_pem)?;
        let key = read_key(&files.key)?;
        let names = chain.first().map(dns_names).unwrap_or_default();
        let name = chain.first().and_then(process_name);
        let first = |certificates: &[_]| certificates.iter().filter_map(expiry_of).min();
        let mut expiries: Vec<_> = first(&chain)
            .map(|end| ("certificate", end))
            .into_iter()
            .collect();
        let own = CertifiedKey::from_der(chain, key, &provider);
        let own =
            own.map_err(|cause| InvalidTls::new(KEY, &files.key, TlsFault::Unusable(cause)))?;
        let own = Arc::new(own);
        let (mut clients, mut certified, mut lines, mut ca_pem) = (None, None, None, None);
        if let Some(file) = &files.client_ca {
            let pem = read_file(CLIENT_CA, file)?;
            let of_authorities = certificates(CLIENT_CA, file, &pem)?;
            expiries.extend(first(&of_authorities).map(|end| ("client_ca", end)));
            let authorities = authorities(file, of_authorities)?;
            let unusable = |cause| InvalidTls::new(CLIENT_CA, file, TlsFault::Authorities(cause));
            let verifier = || {
                let roots = Arc::clone(&authorities);
                WebPkiClientVerifier::builder_with_provider(roots, Arc::clone(&provider))
            };
            clients = Some(
                verifier()
                    .allow_unauthenticated()
                    .build()
                    .map_err(unusable)?,
            );
            let strict = verifier().build().map_err(unusable)?;
            lines = name.map(|name| (name, Arc::clone(&strict), authorities));
            certified = Some(strict);
            ca_pem = Some(pem);
        }
        let unusable =
            |cause| InvalidTls::new(CERTIFICATE, &files.certificate, TlsFault::Unusable(cause));
        let clients = resuming(&provider, clients, &own).map_err(unusable)?;
        let certified = resuming(&provider, certified, &own).map_err(unusable)?;
        let mut http = clients.clone();
        http.alpn_protocols = vec![b"http/1.1".to_vec()];
        let lines = lines.map(|(name, processes, authorities)| {
            LineTls::new(name, (processes, authorities), &own, &provider)
        });
        Ok(Self {
            read: (chain_pem, ca_pem),
            names,
            expiries,
            clients: Arc::new(clients),
            certified: Arc::new(certified),
            http: Arc::new(http),
            lines: lines.transpose().map_err(unusable)?,
        })
    }
}

impl LineTls {
    fn new(
        name: String,
        (processes, authorities): (Arc<dyn ClientCertVerifier>, Arc<RootCertStore>),
        own: &Arc<CertifiedKey>,
        provider: &Arc<CryptoProvider>,
    ) -> Result<Self, rustls::Error> {
        // A line is dialed seldom and kept for long: a session that goes on would save nothing, and
        // would not look at the certificate again.
        let mut accepts = accepting(provider, Some(processes), own)?;
        accepts.session_storage = Arc::new(NoServerSessionStorage {});
        accepts.send_tls13_tickets = 0;
        let own = Arc::new(SingleCertAndKey::from(Arc::clone(own)));
        let mut dials = ClientConfig::builder_with_provider(Arc::clone(provider))
            .with_protocol_versions(&[&TLS13, &TLS12])?
            .with_root_certificates(authorities)
            .with_client_cert_resolver(own);
        dials.resumption = Resumption::disabled();
        Ok(Self {
            name: name.into(),
            accepts: Arc::new(accepts),
            dials: Arc::new(dials),
        })
    }
}

/// How connections are accepted; where there are authorities, with a look at who the client is.
fn accepting(
    provider: &Arc<CryptoProvider>,
    verifier: Option<Arc<dyn ClientCertVerifier>>,
    own: &Arc<CertifiedKey>,
) -> Result<ServerConfig, rustls::Error> {
    let own = Arc::new(SingleCertAndKey::from(Arc::clone(own)));
    let builder = ServerConfig::builder_with_provider(Arc::clone(provider))
        .with_protocol_versions(&[&TLS13, &TLS12])?;
    let builder = match verifier {
        Some(verifier) => builder.with_client_cert_verifier(verifier),
        None => builder.with_no_client_auth(),
    };
    Ok(builder.with_cert_resolver(own))
}

/// The same, for clients that come back: they go on with their sessions.
fn resuming(
    provider: &Arc<CryptoProvider>,
    verifier: Option<Arc<dyn ClientCertVerifier>>,
    own: &Arc<CertifiedKey>,
) -> Result<ServerConfig, rustls::Error> {
    let mut config = accepting(provider, verifier, own)?;
    config.session_storage = ServerSessionMemoryCache::new(TLS_SESSIONS);
    config.ticketer = ring::Ticketer::new()?;
    Ok(config)
}

fn read_file(option: &'static str, file: &Path) -> Result<Vec<u8>, InvalidTls> {
    fs::read(file).map_err(|cause| InvalidTls::new(option, file, TlsFault::Unreadable(cause)))
}

fn certificates(
    option: &'static str,
    file: &Path,
    pem: &[u8],
) -> Result<Vec<CertificateDer<'static>>, InvalidTls> {
    let fault = |cause| InvalidTls::new(option, file, TlsFault::NotPem("certificate", cause));
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    let found = found.map_err(|cause| fault(Some(cause)))?;
    if found.is_empty() {
        return Err(fault(None));
    }
    Ok(found)
}

fn authorities(
    file: &Path,
    certificates: Vec<CertificateDer<'static>>,
) -> Result<Arc<RootCertStore>, InvalidTls> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates {
        let added = roots.add(certificate);
        added.map_err(|cause| InvalidTls::new(CLIENT_CA, file, TlsFault::Unusable(cause)))?;
    }
    Ok(Arc::new(roots))
}

fn read_key(file: &Path) -> Result<PrivateKeyDer<'static>, InvalidTls> {
    let pem = Zeroizing::new(read_file(KEY, file)?);
    if let Ok(about) = fs::metadata(file)
        && about.permissions().mode() & 0o077 != 0
    {
        let file = file.display();
        tracing::warn!(%file, "other users can read the private key: run chmod 600 on it");
    }
    PrivateKeyDer::from_pem_slice(&pem).map_err(|cause| {
        let cause = match cause {
            pem::Error::NoItemsFound => None,
            other => Some(other),
        };
        InvalidTls::new(KEY, file, TlsFault::NotPem("private key", cause))
    })
}
