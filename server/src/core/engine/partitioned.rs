//! What belongs together where several partitions decide: batches, and who holds what.

use std::time::Instant;

use turnstile_contract::Failure;
use turnstile_types::PartitionNumber;

use super::Engine;
use crate::core::{cluster::ClusterAsker, remote::Landed};

impl Engine {
    /// Whether this node holds a partition.
    pub(crate) fn holds(&self, partition: PartitionNumber) -> bool {
        let partitions = self.partitions.as_ref();
        partitions.is_none_or(|partitions| partitions.holds(partition))
    }

    /// Says which nodes hold a partition that this one does not, with their addresses of this door.
    pub(crate) fn holders_of(&self, partition: PartitionNumber, door: &str) -> String {
        let name = self.partitions.as_ref().map(|all| all.name_of(partition));
        let name = name.unwrap_or_default();
        match &self.nodes {
            Some(nodes) => nodes.known().holders_in_words(Instant::now(), name, door),
            None => format!("no other node holds partition {name}"),
        }
    }

    /// Sends the jobs of a batch to the partition that decides all of them.
    pub(crate) fn send_batch(&mut self, askers: Vec<ClusterAsker>) {
        let first = askers.first().map(ClusterAsker::partition);
        match first {
            None | Some(PartitionNumber::FIRST) => self.send_in_order(askers),
            Some(_) => self.relay(ClusterAsker::Batch(askers)),
        }
    }

    /// Has what the loop of the first partition hands over decided here; answers are given at once if it is
    /// not. Of a batch nothing is done if one of its jobs is not permitted.
    pub(crate) fn take_relayed(&mut self, asker: ClusterAsker) -> Vec<Landed> {
        let askers = match asker {
            ClusterAsker::Batch(askers) => askers,
            asker => vec![asker],
        };
        let judged: Vec<_> = askers
            .into_iter()
            .map(|asker| self.permit_again(asker))
            .collect();
        if judged.iter().all(|(_, failure)| failure.is_none()) {
            self.send_in_order(judged.into_iter().map(|(asker, _)| asker).collect());
            return Vec::new();
        }
        let undone = Failure::Unavailable {
            reason: "another command of its batch is not permitted".to_owned(),
        };
        let failed = judged.into_iter().flat_map(|(asker, failure)| {
            let failure = failure.as_ref().unwrap_or(&undone);
            asker.fail(failure)
        });
        failed.collect()
    }
}
