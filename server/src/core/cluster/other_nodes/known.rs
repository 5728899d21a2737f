//! What the nodes of a cluster say of themselves.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// The longest announcement that is read, in bytes.
const ANNOUNCEMENT_BYTES_MAX: usize = 8 * 1_024;

/// Nodes that are known at a time.
const KNOWN_MAX: usize = 1_024;

/// A node that has said nothing for so long does not count as one that is there.
const SILENT: Duration = Duration::from_secs(10);

/// A node that was silent for so long is forgotten.
const FORGOTTEN: Duration = Duration::from_secs(3_600);

/// What a node says of itself. Nodes of other versions may say more, or less.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Announcement {
    pub(crate) node: String,
    pub(crate) version: String,
    /// The partitions that it holds, by their names.
    pub(crate) holds: Vec<String>,
    /// Where clients reach its doors, by the names of the doors.
    pub(crate) addresses: BTreeMap<String, String>,
}

/// What was heard of a node, and when.
#[derive(Clone, Debug, PartialEq, Eq)]
struct HeardNode {
    announcement: Announcement,
    at: Instant,
}

impl HeardNode {
    fn is_of_the_last(&self, time: Duration, now: Instant) -> bool {
        now.saturating_duration_since(self.at) < time
    }
}

/// The nodes that were heard, this one among them. The loop writes, other threads read.
#[derive(Clone, Debug, Default)]
pub(crate) struct KnownNodes(Arc<Mutex<BTreeMap<String, HeardNode>>>);

impl KnownNodes {
    fn all(&self) -> MutexGuard<'_, BTreeMap<String, HeardNode>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes note of an announcement; one that is none is passed over.
    pub(crate) fn hear(&self, now: Instant, bytes: &[u8]) {
        if bytes.len() > ANNOUNCEMENT_BYTES_MAX {
            return;
        }
        let Ok(announcement) = serde_json::from_slice::<Announcement>(bytes) else {
            return;
        };
        let mut all = self.all();
        all.retain(|_, heard| heard.is_of_the_last(FORGOTTEN, now));
        if all.len() < KNOWN_MAX || all.contains_key(&announcement.node) {
            let heard = HeardNode {
                announcement,
                at: now,
            };
            all.insert(heard.announcement.node.clone(), heard);
        }
    }

    /// Puts what a node has said of itself to what else is known of it.
    pub(crate) fn complete(&self, node: &str, report: &mut Map<String, Value>) {
        if let Some(heard) = self.all().get(node) {
            let Announcement {
                version,
                holds,
                addresses,
                ..
            } = &heard.announcement;
            report.insert("version".to_owned(), json!(version));
            report.insert("holds".to_owned(), json!(holds));
            report.insert("addresses".to_owned(), json!(addresses));
        }
    }

    /// The nodes that hold a partition and were heard of late: their names, with their addresses of this door.
    pub(crate) fn holders(&self, now: Instant, partition: &str, door: &str) -> Vec<String> {
        let all = self.all();
        let holders = all.values().filter(|heard| {
            heard.is_of_the_last(SILENT, now)
                && heard.announcement.holds.iter().any(|one| one == partition)
        });
        let named = holders.map(|heard| {
            let Announcement {
                node, addresses, ..
            } = &heard.announcement;
            match addresses.get(door) {
                Some(address) => format!("{node} at {address}"),
                None => node.clone(),
            }
        });
        named.collect()
    }

    /// The same in words, for a client of a node that does not hold it.
    pub(crate) fn holders_in_words(&self, now: Instant, partition: &str, door: &str) -> String {
        match &*self.holders(now, partition, door).join(", ") {
            "" => format!(
                "this node does not hold partition {partition}, and no node that does was heard of late"
            ),
            holders => {
                format!("this node does not hold partition {partition}, which these do: {holders}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(node: &str, holds: &[&str]) -> Vec<u8> {
        let announcement = Announcement {
            node: node.to_owned(),
            version: "0.1.0".to_owned(),
            holds: holds.iter().map(|&one| one.to_owned()).collect(),
            addresses: [("http".to_owned(), "10.0.0.1:8480".to_owned())].into(),
        };
        serde_json::to_vec(&announcement).unwrap()
    }

    #[test]
    fn holders_are_nodes_that_were_heard_of_late() {
        let known = KnownNodes::default();
        let begin = Instant::now();
        let later = begin + SILENT - Duration::from_secs(2);
        known.hear(begin, &said("n1", &["main", "b"]));
        known.hear(later, &said("n2", &["main"]));
        known.hear(later, b"{\"node\":\"n3\",\"holds\":[\"b\"],\"new\":1}");
        known.hear(later, b"nonsense");
        let holders = |now, partition| known.holders(now, partition, "http");
        assert_eq!(holders(later, "b"), ["n1 at 10.0.0.1:8480", "n3"]);
        assert_eq!(holders(begin + SILENT, "b"), ["n3"], "n1 is silent");
        assert_eq!(holders(later, "c"), [""; 0]);
        let words = known.holders_in_words(later, "b", "http");
        assert!(words.ends_with("n1 at 10.0.0.1:8480, n3"), "{words}");
        let words = known.holders_in_words(later, "c", "http");
        assert!(words.contains("no node that does"), "{words}");
        let mut report = Map::new();
        known.complete("n2", &mut report);
        assert_eq!(report["holds"], json!(["main"]));
        assert_eq!(report["addresses"]["http"], "10.0.0.1:8480");
    }

    #[test]
    fn nobody_fills_the_memory_with_nodes() {
        let known = KnownNodes::default();
        let begin = Instant::now();
        for number in 0..KNOWN_MAX + 10 {
            known.hear(begin, &said(&format!("n{number}"), &[]));
        }
        known.hear(begin, &vec![b' '; ANNOUNCEMENT_BYTES_MAX + 1]);
        assert_eq!(known.all().len(), KNOWN_MAX);
        known.hear(begin + FORGOTTEN, &said("n1", &[]));
        assert_eq!(known.all().len(), 1, "silent ones are forgotten");
    }
}
