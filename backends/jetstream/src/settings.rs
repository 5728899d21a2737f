//! Where the brokers are, who we are to them, and how long we wait.

use std::{fmt, net::IpAddr, path::PathBuf, str::FromStr, time::Duration};

use async_nats::ServerAddr;

use crate::{id::NodeName, subjects};

/// What a node must know of its log.
#[derive(Clone, Debug)]
pub struct LogSettings {
    /// The brokers, at least one. Those that they name are found by themselves.
    pub servers: Vec<ServerUrl>,
    /// Monitoring addresses (`host:port`, plain HTTP), one of each broker. There alone a broker says
    /// whether it syncs.
    pub monitors: Vec<String>,
    /// Which log: the stream is `LOG_` and this.
    pub partition: NodeName,
    /// This node.
    pub node: NodeName,
    /// On how many brokers each entry is: 3, or 5; 1 for tests and trials.
    pub replicas: u8,
    /// Bytes that the stream may take on each broker. Beyond that proposals are refused.
    pub stream_bytes_max: u64,
    /// Bytes that all snapshots together may take on each broker.
    pub snapshot_bytes_max: u64,
    /// After how many entries a node puts a snapshot into the store.
    pub snapshot_entries: u64,
    /// The newest version of entries that this node says it reads, if that is to be an older one.
    pub entry_version_max: Option<u16>,
    /// Who we are.
    pub login: BrokerLogin,
    /// Set if brokers use TLS.
    pub tls: Option<BrokerTls>,
    pub timeouts: BrokerTimeouts,
}

/// Subjects that a user of the brokers may publish to and subscribe to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokerRights {
    pub publish: Vec<String>,
    pub subscribe: Vec<String>,
}

impl LogSettings {
    /// What the user of this node must be allowed, and needs no more than. `STREAM.CREATE` is needed
    /// only by the node that makes the streams.
    #[must_use]
    pub fn rights(&self) -> BrokerRights {
        let Self {
            partition, node, ..
        } = self;
        let (log, store) = (format!("LOG_{partition}"), format!("SNAPSHOTS_{partition}"));
        let objects = format!("OBJ_{store}");
        let mut publish = vec![format!("log.{partition}.{node}"), format!("$O.{store}.>")];
        for stream in [&log, &objects] {
            publish.extend([
                format!("$JS.API.STREAM.INFO.{stream}"),
                format!("$JS.API.STREAM.CREATE.{stream}"),
                format!("$JS.API.STREAM.PURGE.{stream}"),
                format!("$JS.API.CONSUMER.CREATE.{stream}.>"),
                format!("$JS.API.CONSUMER.DELETE.{stream}.*"),
                format!("$JS.API.CONSUMER.MSG.NEXT.{stream}.*"),
            ]);
        }
        publish.push(format!("$JS.API.STREAM.MSG.GET.{objects}"));
        // For `turnstile cluster step-down` alone.
        publish.push(format!("$JS.API.STREAM.LEADER.STEPDOWN.{log}"));
        let mut subscribe = vec![format!("_INBOX.{partition}.{node}.>")];
        // For the first partition alone: what its cluster is called.
        let (to, from) = subjects::rights(partition, node);
        publish.extend(to);
        subscribe.extend(from);
        BrokerRights { publish, subscribe }
    }
}

/// By what brokers know us. Secrets are in files, which are read at each start of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BrokerLogin {
    /// They do not ask, or know us by our certificate.
    None,
    /// A file that holds a token.
    Token { file: PathBuf },
    /// A user, and a file that holds the password.
    Password { user: String, file: PathBuf },
    /// A `.creds` file: a JWT and the seed of its key.
    Credentials { file: PathBuf },
    /// A file that holds the seed of a key, `SU...`.
    Key { file: PathBuf },
}

/// Files in PEM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokerTls {
    /// Authorities that sign the brokers' certificates; without it those of the system.
    pub authorities: Option<PathBuf>,
    /// Our certificate and its key, if the brokers ask for one.
    pub certificate: Option<(PathBuf, PathBuf)>,
}

/// How long we wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BrokerTimeouts {
    /// For a start, all its checks included.
    pub open: Duration,
    /// For one connection to one broker.
    pub connect: Duration,
    /// For the first acknowledgement of a proposal, before it is published again. Twice as long for
    /// each repetition, up to four times.
    pub acknowledgement: Duration,
    /// For one answer about a stream.
    pub request: Duration,
    /// Without a sign of life of what sends us entries, before another is asked.
    pub silence: Duration,
}

impl BrokerTimeouts {
    /// For brokers in one region.
    pub const USUAL: Self = Self {
        open: Duration::from_secs(30),
        connect: Duration::from_secs(2),
        acknowledgement: Duration::from_secs(1),
        request: Duration::from_secs(2),
        silence: Duration::from_millis(2_500),
    };
}

/// The address of a broker: `nats://host:port` or `tls://host:port`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerUrl(String);

/// A text that is no address of a broker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InvalidServer {
    /// It is no URL of the schemes `nats` and `tls`.
    NoUrl(String),
    /// It holds a user or a password, which would be seen in the configuration and in logs.
    Secret,
}

impl FromStr for ServerUrl {
    type Err = InvalidServer;

    fn from_str(text: &str) -> Result<Self, InvalidServer> {
        if text.contains('@') {
            return Err(InvalidServer::Secret);
        }
        let invalid = || InvalidServer::NoUrl(text.chars().take(100).collect());
        let address: ServerAddr = text.parse().map_err(|_no_url| invalid())?;
        let host = address.host();
        let is_host = !host.is_empty()
            && (host.parse::<IpAddr>().is_ok()
                || host.bytes().all(|byte| {
                    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_')
                }));
        if !["nats", "tls"].contains(&address.scheme()) || !is_host {
            return Err(invalid());
        }
        Ok(Self(text.to_owned()))
    }
}

impl ServerUrl {
    /// The address as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn address(&self) -> ServerAddr {
        self.0.parse().expect("it was parsed before")
    }
}

impl fmt::Display for ServerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for InvalidServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoUrl(text) => write!(
                f,
                "{text:?} is not the address of a broker: write `nats://host:4222` or \
                 `tls://host:4222`"
            ),
            Self::Secret => write!(
                f,
                "the address of a broker holds a user or a password: give the password by a file"
            ),
        }
    }
}

impl std::error::Error for InvalidServer {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_hold_no_secrets() {
        for text in [
            "nats://a:4222",
            "tls://b.example.com:4222",
            "nats://127.0.0.1:1",
            "a:4222",
        ] {
            assert!(text.parse::<ServerUrl>().is_ok(), "{text}");
        }
        for text in ["nats://me:secret@a:4222", "secret@a"] {
            let refused = text.parse::<ServerUrl>().expect_err("it holds a secret");
            assert!(!refused.to_string().contains("secret"), "{refused}");
        }
        for text in ["", "http://a", "nats://", "ws://a:1", "nats://a b:1"] {
            assert!(text.parse::<ServerUrl>().is_err(), "{text}");
        }
    }
}
