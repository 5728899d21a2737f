//! Connections to brokers: who we are, whom we trust, and what brokers complain about.

use std::{
    fmt, fs,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use async_nats::{Client, ConnectErrorKind, ConnectOptions, Event, ServerAddr};
use rustls::{
    ClientConfig, RootCertStore,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
};
use tokio::{sync::Notify, time::sleep};
use zeroize::Zeroizing;

use crate::settings::{BrokerLogin, BrokerTls, LogSettings};

/// How often the connection is checked: two checks without an answer end it.
const PING: Duration = Duration::from_secs(2);

/// Between two tries to connect.
const PAUSE_MIN: Duration = Duration::from_millis(20);
const PAUSE_MAX: Duration = Duration::from_millis(500);

/// What the connection tells beside messages.
#[derive(Debug, Default)]
pub(crate) struct ConnectionSignals {
    pub(crate) changed: Notify,
    complaint: Mutex<Option<String>>,
}

impl ConnectionSignals {
    /// The last complaint of a broker.
    pub(crate) fn complaint(&self) -> Option<String> {
        let complaint = self.complaint.lock();
        complaint.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether this is the last complaint.
    pub(crate) fn complains_as(&self, told: Option<&String>) -> bool {
        let complaint = self.complaint.lock();
        complaint.unwrap_or_else(PoisonError::into_inner).as_ref() == told
    }

    /// What was complained about on another connection does not count.
    pub(crate) fn forget(&self) {
        let complaint = self.complaint.lock();
        *complaint.unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn hear(&self, event: &Event) {
        if let Event::ServerError(_) | Event::ClientError(_) = event {
            let mut complaint = self
                .complaint
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            *complaint = Some(event.to_string());
        }
        self.changed.notify_one();
    }
}

/// Options for connections of a node.
///
/// # Errors
/// A file cannot be read or does not hold what it should, in words without its content.
pub(crate) fn options(
    settings: &LogSettings,
    signals: &Arc<ConnectionSignals>,
) -> Result<ConnectOptions, String> {
    let heard = Arc::clone(signals);
    let mut options = ConnectOptions::new()
        .name(format!("turnstile {}", settings.node))
        .custom_inbox_prefix(format!("_INBOX.{}.{}", settings.partition, settings.node))
        .connection_timeout(settings.timeouts.connect)
        .request_timeout(Some(settings.timeouts.request))
        .ping_interval(PING)
        .max_reconnects(None)
        .reconnect_delay_callback(|tries| {
            let doublings = u32::try_from(tries).unwrap_or(u32::MAX).min(10);
            (PAUSE_MIN * (1 << doublings)).min(PAUSE_MAX)
        })
        .event_callback(move |event| {
            heard.hear(&event);
            async {}
        });
    options = login(options, &settings.login)?;
    if let Some(tls) = &settings.tls {
        options = options.require_tls(true).tls_client_config(config(tls)?);
    }
    Ok(options)
}

/// Connects to any of the brokers, and tries again until one answers; `obstacle` is told why none does.
///
/// # Errors
/// A broker does not let us in, so that another try is no use.
pub(crate) async fn connect(
    settings: &LogSettings,
    signals: &Arc<ConnectionSignals>,
    mut obstacle: impl FnMut(String),
) -> Result<Client, NotConnected> {
    loop {
        let options = options(settings, signals).map_err(NotConnected::Settings)?;
        match options.connect(addresses(settings)).await {
            Ok(client) => return Ok(client),
            Err(error) if error.kind() == ConnectErrorKind::AuthorizationViolation => {
                return Err(NotConnected::Refused(error.to_string()));
            }
            Err(error) => obstacle(error.to_string()),
        }
        sleep(PAUSE_MAX).await;
    }
}

/// Why another try to connect is no use, in words.
#[derive(Debug)]
pub(crate) enum NotConnected {
    /// A file of the settings is not what it should be.
    Settings(String),
    /// A broker does not let us in.
    Refused(String),
}

impl fmt::Display for NotConnected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Settings(problem) | Self::Refused(problem)) = self;
        f.write_str(problem)
    }
}

/// The addresses that a node is given.
pub(crate) fn addresses(settings: &LogSettings) -> Vec<ServerAddr> {
    let servers = settings.servers.iter();
    servers.map(|server| server.address()).collect()
}

fn login(options: ConnectOptions, login: &BrokerLogin) -> Result<ConnectOptions, String> {
    Ok(match login {
        BrokerLogin::None => options,
        BrokerLogin::Token { file } => options.token(secret(file)?.to_string()),
        BrokerLogin::Password { user, file } => {
            options.user_and_password(user.clone(), secret(file)?.to_string())
        }
        BrokerLogin::Credentials { file } => options
            .credentials(&secret(file)?)
            .map_err(|_holds_secrets| in_file(file, "these are no credentials of NATS"))?,
        BrokerLogin::Key { file } => options.nkey(secret(file)?.to_string()),
    })
}

/// What a file holds, without the end of its last line.
fn secret(file: &Path) -> Result<Zeroizing<String>, String> {
    let text = fs::read_to_string(file).map_err(|error| in_file(file, &error.to_string()))?;
    let text = Zeroizing::new(text);
    let bare = text.trim();
    if bare.is_empty() {
        return Err(in_file(file, "the file is empty"));
    }
    Ok(Zeroizing::new(bare.to_owned()))
}

fn config(tls: &BrokerTls) -> Result<ClientConfig, String> {
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_root_certificates(roots(tls)?);
    let Some((certificate, key)) = &tls.certificate else {
        return Ok(builder.with_no_client_auth());
    };
    let ours = PrivateKeyDer::from_pem_file(key);
    let ours = ours.map_err(|error| in_file(key, &error.to_string()))?;
    builder
        .with_client_auth_cert(certificates(certificate)?, ours)
        .map_err(|error| in_file(certificate, &error.to_string()))
}

fn roots(tls: &BrokerTls) -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    let Some(file) = &tls.authorities else {
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        if roots.is_empty() {
            return Err("this system trusts no authorities: name a file that holds one".to_owned());
        }
        return Ok(roots);
    };
    for certificate in certificates(file)? {
        let added = roots.add(certificate);
        added.map_err(|error| in_file(file, &error.to_string()))?;
    }
    Ok(roots)
}

/// All certificates of a PEM file, one at least.
fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let found = CertificateDer::pem_file_iter(file);
    let found = found.map_err(|error| in_file(file, &error.to_string()))?;
    let found: Result<Vec<_>, _> = found.collect();
    let found = found.map_err(|error| in_file(file, &error.to_string()))?;
    if found.is_empty() {
        return Err(in_file(file, "the file holds no certificate in PEM"));
    }
    Ok(found)
}

fn in_file(file: &Path, problem: &str) -> String {
    format!("{}: {problem}", file.display())
}
