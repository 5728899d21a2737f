//! Transactions of closed connections, when there are too many of them.

use turnstile_travel::{Command, Travel};

use super::FastLoop;

impl FastLoop {
    /// Aborts the oldest transactions of closed connections when there are too many.
    pub(super) fn evict(&mut self) {
        let mut surplus = self.left.take_surplus(self.engine.travel());
        let principal = self.engine.principal;
        let mut evicted = 0_u64;
        while let Some(&xid) = surplus.front() {
            let command = Command::Evict { xid };
            let executed = self.engine.execute::<Travel>(&principal, None, &command);
            if executed.is_err() {
                break;
            }
            surplus.pop_front();
            self.open.requests += 1;
            evicted += 1;
        }
        self.left.give_back(surplus);
        let left = u64::try_from(self.left.len()).unwrap_or(u64::MAX);
        self.engine.counters.transactions_left.set(left);
        if let Some(evicted) = self.evictions.count(evicted) {
            tracing::warn!(
                evicted,
                "closed connections left too many transactions open: the oldest were aborted"
            );
        }
    }
}
