//! Snapshots of nodes, and the store that they lie in.

use turnstile_replica::StreamRoom;

use super::{ClusterBug, ClusterHistory};
use crate::violation::{Judged, Violation};

impl ClusterHistory {
    /// A node says what there is to say of snapshots, and lets go what nobody needs.
    pub(super) fn tend_snapshots(&mut self, number: usize) -> Judged {
        let room = StreamRoom {
            first: self.stream.first(),
            last: self.stream.last(),
            bytes: 0,
            bytes_max: 1 << 40,
        };
        let now = self.now_at(number);
        let (purge, forget) = self.nodes[number].tell_snapshots(now, room)?;
        if let Some(sequence) = forget {
            self.store.forget(|stored| stored < sequence);
        }
        // The brokers may not have heard of it.
        if let Some(mut below) = purge.filter(|_| !self.random.one_in(4)) {
            if self.bug == ClusterBug::PurgeTooFar {
                below = self.stream.last();
            }
            self.summary.purges += 1;
            self.stream.purge_below(below);
            if !self.store.has_one_for_a_new_node(self.stream.first()) {
                let first = self.stream.first();
                return Err(Violation(format!(
                    "the log begins at entry {first}, and no snapshot leads there"
                )));
            }
        }
        Ok(())
    }

    /// A node puts the snapshot that it has made into the store.
    pub(super) fn keep_snapshot(&mut self, number: usize) -> Judged {
        let Some((place, file)) = self.nodes[number].take_made() else {
            return Ok(());
        };
        let leftovers = self.store.forget(|stored| place.is_leftover(stored));
        self.summary.leftovers += leftovers;
        let sequence = place.sequence;
        let is_verified = self.bug != ClusterBug::SnapshotNotVerified;
        let kept = self
            .store
            .put(&mut self.random, (sequence, &file), is_verified);
        self.summary.stored += u64::from(kept.is_some());
        self.summary.not_stored += u64::from(kept.is_none());
        let now = self.now_at(number);
        self.nodes[number].note_kept(now, sequence, kept);
        Ok(())
    }

    /// Snapshots rot, others lie there that are none of this log, and a node loses all that it has.
    pub(super) fn disturb_store(&mut self, number: usize) -> Judged {
        match self.random.below(4) {
            0 => self.store.rot(&mut self.random, self.stream.first()),
            1 => {
                let last = self.stream.last();
                self.store.plant_foreign(&mut self.random, last);
            }
            2 => {
                self.summary.lost_directories += 1;
                let seed = self.random.draw();
                self.nodes[number].lose_directory(seed);
                self.nodes[number].set_clock(self.random.below(5));
                return self.start(number);
            }
            _ => {}
        }
        Ok(())
    }
}
