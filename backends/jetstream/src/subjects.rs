//! The subjects of messages between nodes.

use crate::id::NodeName;

/// The subjects of a cluster, which has the name of its first partition.
#[derive(Debug)]
pub(crate) struct LineSubjects {
    pub(crate) cluster: NodeName,
    pub(crate) node: NodeName,
    pub(crate) run: u64,
}

impl LineSubjects {
    /// Where requests for a partition go.
    pub(crate) fn requests(&self, partition: &NodeName) -> String {
        format!("relay.{}.{partition}", self.cluster)
    }

    /// Where answers come to requests of this run.
    pub(crate) fn answers(&self) -> String {
        format!("relayed.{}.{}.{}", self.cluster, self.node, self.run)
    }

    /// How the subjects of all answers begin.
    pub(crate) fn all_answers(&self) -> String {
        format!("relayed.{}.", self.cluster)
    }

    /// Where nodes say who they are.
    pub(crate) fn announcements(&self) -> String {
        format!("nodes.{}", self.cluster)
    }
}

/// What the user of a node must be allowed for these messages: to publish, and to subscribe to.
pub(crate) fn rights(cluster: &NodeName, node: &NodeName) -> (Vec<String>, Vec<String>) {
    let all = [
        format!("relay.{cluster}.*"),
        format!("nodes.{cluster}"),
        format!("relayed.{cluster}.*.*.*"),
    ];
    let [requests, announcements, answers] = all;
    let own = format!("relayed.{cluster}.{node}.*.*");
    (
        vec![requests.clone(), announcements.clone(), answers],
        vec![requests, announcements, own],
    )
}
