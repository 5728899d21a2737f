//! How a node stands in its cluster, as figures.

/// How a node stands in its cluster; all zero where there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClusterStatus {
    /// The last entry of the shared log that was applied.
    pub entry: u64,
    /// Entries of the log that were not applied yet, as far as known.
    pub lag: u64,
    /// Entries of this node that were proposed and not applied yet.
    pub under_way: u64,
    /// How often an entry was sent again.
    pub retries: u64,
    /// Whether the brokers take entries.
    pub is_taking: bool,
    /// Whether another node has come to something else.
    pub is_disputed: bool,
    /// The last entry of the newest snapshot in the store; zero before the first.
    pub snapshot: u64,
    /// Snapshots that this node was to put into the store and has not.
    pub snapshots_failed: u64,
    /// The first entry that the log still has, as far as known.
    pub first: u64,
    /// Bytes of the log on each broker, as far as known.
    pub bytes: u64,
    /// Bytes that it may take there.
    pub bytes_max: u64,
}

/// A metric of a cluster: name, kind, help, and where its value is read.
pub(crate) type ClusterMetric = (
    &'static str,
    &'static str,
    &'static str,
    fn(&ClusterStatus) -> u64,
);

pub(crate) const METRICS: [ClusterMetric; 11] = [
    (
        "cluster_entry",
        "gauge",
        "The last entry of the shared log that was applied.",
        |cluster| cluster.entry,
    ),
    (
        "cluster_lag",
        "gauge",
        "Entries of the shared log that were not applied yet, as far as known.",
        |cluster| cluster.lag,
    ),
    (
        "cluster_under_way",
        "gauge",
        "Entries of this node that were proposed and not applied yet.",
        |cluster| cluster.under_way,
    ),
    (
        "cluster_retries_total",
        "counter",
        "Entries sent again.",
        |cluster| cluster.retries,
    ),
    (
        "cluster_taking",
        "gauge",
        "1 while the brokers take entries.",
        |cluster| u64::from(cluster.is_taking),
    ),
    (
        "cluster_disputed",
        "gauge",
        "1 while another node has come to another state.",
        |cluster| u64::from(cluster.is_disputed),
    ),
    (
        "cluster_snapshot_entry",
        "gauge",
        "The last entry of the newest snapshot in the store.",
        |cluster| cluster.snapshot,
    ),
    (
        "cluster_snapshots_failed_total",
        "counter",
        "Snapshots that this node was to put into the store and has not.",
        |cluster| cluster.snapshots_failed,
    ),
    (
        "cluster_log_first_entry",
        "gauge",
        "The first entry that the shared log still has, as far as known.",
        |cluster| cluster.first,
    ),
    (
        "cluster_log_bytes",
        "gauge",
        "Bytes of the shared log on each broker, as far as known.",
        |cluster| cluster.bytes,
    ),
    (
        "cluster_log_max_bytes",
        "gauge",
        "Bytes that the shared log may take on each broker.",
        |cluster| cluster.bytes_max,
    ),
];
