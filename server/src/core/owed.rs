//! What a group owes, and to whom.

use crate::{
    core::{asked::Waiting, news::News, request_log::OwedNotes},
    counters::ServedRequests,
};

/// What one group owes. Nothing of it leaves before the group is durable; or, while the group promises
/// nothing, before the turn is over, but for the news.
#[derive(Default)]
pub(crate) struct Owed {
    /// Connections; their outputs hold the answers.
    pub(crate) places: Vec<usize>,
    /// Those who asked through the gate.
    pub(crate) waiting: Vec<Waiting>,
    /// The requests to services that it answers.
    pub(crate) served: ServedRequests,
    /// What is to be said about them when they are answered.
    pub(crate) notes: OwedNotes,
    /// How many requests it answers.
    pub(crate) requests: usize,
    /// How many they were when the last turn ended.
    pub(crate) looked_at: usize,
    /// What it has changed; the back end keeps that of the open group until answers leave.
    pub(crate) news: News,
    /// How many of travel's news have been looked through for late answers.
    pub(crate) looked_through: usize,
}

impl Owed {
    pub(crate) const fn is_empty(&self) -> bool {
        self.places.is_empty() && self.waiting.is_empty()
    }
}
