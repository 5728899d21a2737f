//! What is shown of a match.

use turnstile_chassis::{Bytes, Fields, Kind, NotWhole, Readable, Show, Value, Words};
use turnstile_types::Timestamp;

use crate::{Board, Ending, Game, PlayerId, Seat};

/// A match's number: from 1, consecutive, in the order in which they began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Bytes)]
pub struct MatchId(pub u64);

impl std::fmt::Display for MatchId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl Readable<'_> for MatchId {
    type Invalid = NotWhole;

    #[inline]
    fn read(text: &[u8]) -> Result<Self, NotWhole> {
        u64::read(text).map(Self)
    }

    fn kind() -> Kind {
        Kind::NUMBER
    }
}

impl Value for MatchId {
    #[inline]
    fn show<S: Show>(&self, show: S) -> S::Out {
        show.number(self.0)
    }

    fn kind() -> Kind {
        Kind::NUMBER
    }
}

/// A match as it is: all that a player or a spectator needs to go on from here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Bytes)]
pub struct MatchView {
    pub id: MatchId,
    pub game: Game,
    /// The first moves first.
    pub players: [PlayerId; 2],
    pub board: Board,
    /// Moves made: the number of the next.
    pub ply: u16,
    /// Counts everything that changed in the match, from 0, without a gap.
    pub seq: u32,
    /// Where the last stone fell, from 0.
    pub last: Option<u8>,
    /// Who offers a draw.
    pub offer: Option<Seat>,
    /// Who is away since when.
    pub away: [Option<Timestamp>; 2],
    /// When the last move was made, or the match began.
    pub moved_at: Timestamp,
    /// None while it is played.
    pub ending: Option<Ending>,
}

impl MatchView {
    /// A match in which nothing has happened yet.
    #[must_use]
    pub fn begun(id: MatchId, game: Game, players: [PlayerId; 2], now: Timestamp) -> Self {
        Self {
            id,
            game,
            players,
            board: Board::default(),
            ply: 0,
            seq: 0,
            last: None,
            offer: None,
            away: [None; 2],
            moved_at: now,
            ending: None,
        }
    }

    /// Whose turn it is; nobody's when it is over.
    #[must_use]
    pub const fn to_move(self) -> Option<Seat> {
        match self.ending {
            None => Some(Seat::to_move(self.ply)),
            Some(_) => None,
        }
    }

    /// The seat that has won; none while it is played, and of a draw.
    #[must_use]
    pub fn winner(&self) -> Option<Seat> {
        self.ending?.verdict()?.winner()
    }

    /// Who sits there.
    #[must_use]
    pub fn seated(&self, seat: Option<Seat>) -> Option<&PlayerId> {
        seat.map(|seat| seat.of(&self.players))
    }

    /// The cell of the last stone, from 1 as moves name it.
    #[must_use]
    pub fn last_cell(&self) -> Option<u16> {
        self.last.map(|cell| u16::from(cell) + 1)
    }

    /// The place of a player.
    #[must_use]
    pub fn seat_of(&self, player: &PlayerId) -> Option<Seat> {
        let mut seats = Seat::BOTH.into_iter();
        seats.find(|seat| seat.of(&self.players) == player)
    }
}

/// Somebody who waits for anybody, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Bytes, Fields)]
pub struct TicketView {
    pub player: PlayerId,
    pub game: Game,
    /// The rating in points with which the search began.
    pub rating: u32,
    pub since: Timestamp,
    /// How far apart the other may be now, in points.
    pub window: u32,
    /// When that widens; never, once it lets everybody in.
    pub widens_at: Option<Timestamp>,
    #[field(flatten)]
    pub reason: WaitReason,
}

/// Why somebody still waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Bytes, Fields, Words)]
#[fields(tag = "reason")]
pub enum WaitReason {
    /// Nobody else wants to play this game.
    #[byte(0x01)]
    Alone,
    /// Those who do are too far apart. The one who will be matched with this player, unless
    /// somebody nearer comes or they go, is so many points apart, and the windows of both reach so
    /// far at this instant.
    #[byte(0x02)]
    TooFarApart {
        /// How far apart, in points, the player is who will be matched with this one.
        difference: u32,
        /// When the windows of both reach so far.
        matched_at: Timestamp,
    },
}
