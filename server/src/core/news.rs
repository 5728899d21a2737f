//! What groups have changed, and who wants to know it.

use turnstile_types::Position;

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
