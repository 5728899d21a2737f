//! Options of a node of a cluster: the brokers of the log that it shares, and who it is there.

use std::{path::PathBuf, time::Duration};

use turnstile_server::{BrokerLogin, BrokerTimeouts, BrokerTls, LogSettings, NodeName, ServerUrl};

use super::{
    option::{BYTES, Declaration, LIST, NUMBER, PEM, TEXT, listed},
    values::{brokers, file, node_name, put, replicas, stream_bytes},
};
use crate::exit::Coded;

/// What a cluster is configured by; it only makes sense together.
#[derive(Clone, Debug, Default)]
pub(super) struct ConfiguredCluster {
    nats: Vec<ServerUrl>,
    monitors: Vec<String>,
    partition: Option<NodeName>,
    node: Option<NodeName>,
    replicas: u8,
    stream_bytes: u64,
    credentials: Option<PathBuf>,
    authorities: Option<PathBuf>,
}

impl ConfiguredCluster {
    /// # Errors
    /// There are brokers, and something else that is needed is not set; or the reverse.
    pub(super) fn settings(&self) -> Result<Option<LogSettings>, Coded> {
        let (partition, node) = match (&self.partition, &self.node) {
            _ if self.nats.is_empty() && self.node.is_none() => return Ok(None),
            (Some(partition), Some(node)) if !self.nats.is_empty() => (partition, node),
            (_, None) => {
                return Err(Coded::usage(
                    "cluster.nats needs cluster.node: a name that no other node has".to_owned(),
                ));
            }
            _ => {
                return Err(Coded::usage(
                    "cluster.node needs cluster.nats: the brokers of the shared log".to_owned(),
                ));
            }
        };
        let login = self
            .credentials
            .clone()
            .map_or(BrokerLogin::None, |file| BrokerLogin::Credentials { file });
        let uses_tls = self.nats.iter().any(|url| url.as_str().starts_with("tls:"));
        let tls = (uses_tls || self.authorities.is_some()).then(|| BrokerTls {
            authorities: self.authorities.clone(),
            certificate: None,
        });
        Ok(Some(LogSettings {
            servers: self.nats.clone(),
            monitors: self.monitors.clone(),
            partition: partition.clone(),
            node: node.clone(),
            replicas: self.replicas,
            stream_bytes_max: self.stream_bytes,
            snapshot_bytes_max: self.stream_bytes,
            login,
            tls,
            timeouts: BrokerTimeouts {
                open: Duration::from_secs(60),
                ..BrokerTimeouts::USUAL
            },
        }))
    }
}

pub(super) const NATS: Declaration = Declaration {
    path: "cluster.nats",
    flag: "cluster-nats",
    value: "URL",
    help: "Broker of NATS JetStream, nats://host:port or tls://host:port, on which nodes share their log; \
           repeatable. With it, this server is a node of a cluster",
    default: Some(""),
    example: "nats://a:4222",
    set: |config, text| put(&mut config.cluster.nats, brokers(text)),
    ..LIST
};

pub(super) const MONITORS: Declaration = Declaration {
    path: "cluster.monitors",
    flag: "cluster-monitor",
    value: "HOST:PORT",
    help: "Monitoring address of a broker, where it says whether it syncs; repeatable",
    default: Some(""),
    example: "a:8222",
    set: |config, text| {
        config.cluster.monitors = listed(text).map(str::to_owned).collect();
        Ok(())
    },
    ..LIST
};

pub(super) const PARTITION: Declaration = Declaration {
    path: "cluster.partition",
    flag: "cluster-partition",
    value: "NAME",
    help: "Log that the node shares: those with the same name are one cluster",
    default: Some("main"),
    example: "west",
    set: |config, text| put(&mut config.cluster.partition, node_name(text)),
    ..TEXT
};

pub(super) const NODE: Declaration = Declaration {
    path: "cluster.node",
    flag: "cluster-node",
    value: "NAME",
    help: "Name of this node, which no other node of the cluster has",
    example: "n1",
    set: |config, text| put(&mut config.cluster.node, node_name(text)),
    ..TEXT
};

pub(super) const REPLICAS: Declaration = Declaration {
    path: "cluster.replicas",
    flag: "cluster-replicas",
    help: "Brokers that keep each entry: 3 or 5; 1 for trials",
    default: Some("3"),
    example: "5",
    set: |config, text| put(&mut config.cluster.replicas, replicas(text)),
    ..NUMBER
};

pub(super) const STREAM_BYTES: Declaration = Declaration {
    path: "cluster.stream_bytes",
    flag: "cluster-stream-bytes",
    help: "Bytes that the shared log may take on each broker, from 16 MiB. When it is full, nothing more is \
           decided",
    default: Some("17179869184"),
    example: "16777216",
    set: |config, text| put(&mut config.cluster.stream_bytes, stream_bytes(text)),
    ..BYTES
};

pub(super) const CREDENTIALS: Declaration = Declaration {
    path: "cluster.credentials",
    flag: "cluster-credentials",
    help: "File with the credentials by which brokers know this node (.creds)",
    set: |config, text| put(&mut config.cluster.credentials, file(text)),
    ..PEM
};

pub(super) const AUTHORITIES: Declaration = Declaration {
    path: "cluster.ca",
    flag: "cluster-ca",
    help: "Authorities in PEM that sign the certificates of brokers; those of the system without it",
    set: |config, text| put(&mut config.cluster.authorities, file(text)),
    ..PEM
};
