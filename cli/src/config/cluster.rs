//! Options of a node of a cluster: the brokers of the log that it shares, and who it is there.

use std::{path::PathBuf, time::Duration};

use turnstile_server::{BrokerLogin, BrokerTimeouts, BrokerTls, LogSettings, NodeName, ServerUrl};

use super::{
    option::{BYTES, Declaration, INTEGER, LIST, NUMBER, PEM, TEXT, listed},
    values::{
        brokers, entry_version, file, host, node_name, node_names, put, replicas, snapshot_entries,
        stream_bytes,
    },
};
use crate::exit::Coded;

/// What a cluster is configured by; it only makes sense together.
#[derive(Clone, Debug, Default)]
pub(super) struct ConfiguredCluster {
    nats: Vec<ServerUrl>,
    monitors: Vec<String>,
    partition: Option<NodeName>,
    pub(super) partitions: Vec<NodeName>,
    pub(super) holds: Vec<NodeName>,
    pub(super) host: Option<String>,
    node: Option<NodeName>,
    replicas: u8,
    stream_bytes: u64,
    snapshot_bytes: Option<u64>,
    snapshot_entries: u64,
    entry_version: Option<u16>,
    credentials: Option<PathBuf>,
    authorities: Option<PathBuf>,
}

impl ConfiguredCluster {
    /// # Errors
    /// There are brokers, and something else that is needed is not set; or the reverse.
    pub(super) fn settings(&self) -> Result<Option<LogSettings>, Coded> {
        let (partition, node) = match (&self.partition, &self.node) {
            _ if self.nats.is_empty() && self.node.is_none() => {
                return match self.partitions.is_empty() {
                    true => Ok(None),
                    false => Err(Coded::usage(
                        "cluster.partitions needs cluster.nats: the brokers of the shared logs"
                            .to_owned(),
                    )),
                };
            }
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
            snapshot_bytes_max: self.snapshot_bytes.unwrap_or(self.stream_bytes),
            snapshot_entries: self.snapshot_entries,
            entry_version_max: self.entry_version,
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

pub(super) const PARTITIONS: Declaration = Declaration {
    path: "cluster.partitions",
    flag: "cluster-partitions",
    value: "NAME",
    help: "All logs of the cluster, that of cluster.partition first; repeatable, up to 64. Properties and shows \
           are spread over them by their names. All nodes have the same list, which never changes",
    default: Some(""),
    example: "main",
    set: |config, text| put(&mut config.cluster.partitions, node_names(text)),
    ..LIST
};

pub(super) const HOLDS: Declaration = Declaration {
    path: "cluster.holds",
    flag: "cluster-holds",
    value: "NAME",
    help: "Partitions that this node holds, the first of cluster.partitions among them; repeatable. Requests for \
           others go to a node that holds them. All without it",
    default: Some(""),
    example: "main",
    set: |config, text| put(&mut config.cluster.holds, node_names(text)),
    ..LIST
};

pub(super) const HOST: Declaration = Declaration {
    path: "cluster.host",
    flag: "cluster-host",
    value: "HOST",
    help: "Host name or address by which clients reach this node: other nodes and `turnstile cluster status` say \
           it. The addresses of its doors without it, unless they stand for all",
    example: "n1.example.com",
    set: |config, text| put(&mut config.cluster.host, host(text).map(Some)),
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
    help: "Bytes that the shared log may take on each broker, from 16 MiB. Snapshots are made in time to keep \
           it half empty; while it is nearly full, commands are refused",
    default: Some("17179869184"),
    example: "16777216",
    set: |config, text| put(&mut config.cluster.stream_bytes, stream_bytes(text)),
    ..BYTES
};

pub(super) const SNAPSHOT_BYTES: Declaration = Declaration {
    path: "cluster.snapshot_bytes",
    flag: "cluster-snapshot-bytes",
    help: "Bytes that snapshots may take on each broker, from 16 MiB: three times what one takes. \
           cluster.stream_bytes without it",
    example: "33554432",
    set: |config, text| {
        put(
            &mut config.cluster.snapshot_bytes,
            stream_bytes(text).map(Some),
        )
    },
    ..BYTES
};

pub(super) const SNAPSHOT_ENTRIES: Declaration = Declaration {
    path: "cluster.snapshot_entries",
    flag: "cluster-snapshot-entries",
    value: "ENTRIES",
    help: "Entries of the shared log after which one of the nodes puts a snapshot into the brokers' object \
           store, from 100. Sooner if the log fills",
    default: Some("500000"),
    example: "100000",
    set: |config, text| put(&mut config.cluster.snapshot_entries, snapshot_entries(text)),
    ..INTEGER
};

pub(super) const ENTRY_VERSION: Declaration = Declaration {
    path: "cluster.entry_version",
    flag: "cluster-entry-version",
    value: "VERSION",
    help: "Newest version of entries of the shared log that this node says it reads, 1 to 3. While one node \
           says an older one, none writes newer entries, and all can go back to the older program. \
           Without it the newest",
    example: "1",
    set: |config, text| {
        put(
            &mut config.cluster.entry_version,
            entry_version(text).map(Some),
        )
    },
    ..INTEGER
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
