//! The memory that one connection takes, and what of it was counted.

use super::Connection;
use crate::core::conversation::Conversation;

/// Memory of connections, in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ConnectionMemory {
    /// Of requests that are not answered.
    pub(crate) held: usize,
    /// Of answers.
    pub(crate) unsent: usize,
}

impl ConnectionMemory {
    pub(crate) const fn add(&mut self, other: Self) {
        self.held += other.held;
        self.unsent += other.unsent;
    }

    pub(crate) const fn subtract(&mut self, other: Self) {
        self.held -= other.held;
        self.unsent -= other.unsent;
    }
}

impl<C: Conversation> Connection<C> {
    /// Counts its memory: what it was when it was last counted, and what it is now.
    pub(crate) fn count_memory(&mut self) -> (ConnectionMemory, ConnectionMemory) {
        let now = ConnectionMemory {
            held: self.held(),
            unsent: self.unsent_size(),
        };
        (std::mem::replace(&mut self.memory, now), now)
    }

    pub(crate) const fn counted_memory(&self) -> ConnectionMemory {
        self.memory
    }

    /// Bytes that it keeps of requests that are not answered.
    pub(super) fn held(&self) -> usize {
        let partial = self.tls.as_ref().map_or(0, |tls| tls.sizes().0);
        self.input.size() + self.conversation.held() + partial
    }

    pub(super) fn unsent_size(&self) -> usize {
        let sealed = self.tls.as_ref().map_or(0, |tls| tls.sizes().1);
        self.output.size() + sealed + self.conversation.unfinished_answer()
    }
}
