//! What a request says that it is about.

use crate::PlayerId;

/// What a request is about: the players to whom grants are limited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum About {
    All,
    /// Matches have spectators, and standings are published.
    Public,
    /// Whom a player challenges, and in which match a player moves, the rules decide.
    Player(PlayerId),
    Players([PlayerId; 2]),
}
