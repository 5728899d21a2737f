//! What a group owes, and to whom.

use turnstile_types::Position;

use crate::{core::asked::Waiting, counters::ServedRequests};

/// What groups have changed: told when they are durable, oldest first for each machine.
#[derive(Default)]
pub(crate) struct News {
    pub(crate) rooms: Vec<turnstile_rooms::Event>,
    pub(crate) exchange: Vec<turnstile_exchange::Event>,
    pub(crate) travel: Vec<turnstile_travel::Event>,
    pub(crate) games: Vec<turnstile_games::Event>,
    /// The last position of which nobody wanted to know what happened at the exchange.
    pub(crate) exchange_dropped: Option<Position>,
    /// The same of games.
    pub(crate) games_dropped: Option<Position>,
}

/// Of which services, whose events are not always kept, somebody wants to know what happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Followed {
    pub(crate) exchange: bool,
    pub(crate) games: bool,
}

impl Followed {
    pub(crate) const ALL: Self = Self {
        exchange: true,
        games: true,
    };
}

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
