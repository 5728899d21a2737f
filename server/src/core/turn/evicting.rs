//! Transactions of closed connections, when there are too many of them.

use turnstile_travel::{Command, Travel};

use super::FastLoop;
use crate::core::conversation::DoorSet;

impl<D: DoorSet> FastLoop<D> {
    /// Aborts the oldest transactions of closed connections when there are too many.
    pub(super) fn evict(&mut self) {
        let surplus = self.left.surplus(self.engine.travel());
        let mut evicted = 0;
        while evicted < surplus
            && let Some(xid) = self.left.oldest()
        {
            let command = Command::Evict { xid };
            let is_noted = self.engine.note_in_order::<Travel>(&command)
                || self.engine.execute::<Travel>(None, &command, None).is_ok();
            if !is_noted {
                break;
            }
            self.left.forget_oldest();
            self.open.requests += 1;
            evicted += 1;
        }
        let left = self.left.len();
        self.engine.counters.transactions_left.set(left as u64);
        if let Some(evicted) = self.evictions.count(evicted as u64) {
            tracing::warn!(
                evicted,
                "closed connections left too many transactions open: the oldest were aborted"
            );
        }
    }
}
