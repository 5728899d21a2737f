//! Every limit of the machine, each with its reason.

/// How long a player may think about one move, where nobody has said otherwise.
pub const MOVE_MS: u64 = 5 * 60 * 1_000;

/// How long a player may be disconnected from a match before it is lost, where nobody has said
/// otherwise.
pub const GRACE_MS: u64 = 60 * 1_000;

/// How long a player must be away, or late with a move, before the other may claim the win, where
/// nobody has said otherwise.
pub const CLAIM_MS: u64 = 30 * 1_000;

/// The longest of these times that can be set: thirty days, for those who play by mail.
pub const SETTING_MS_MAX: u64 = 30 * 24 * 60 * 60 * 1_000;

/// Players that an arena or a scores server knows: an end to what a caller can make it remember.
pub const PLAYERS_MAX: u32 = 1 << 24;

/// Matches that are played at once.
pub const OPEN_MATCHES_MAX: u32 = 1 << 20;

/// Matches that are over and can still be looked at: the newest.
pub const OVER_MATCHES_MAX: u32 = 16_384;

/// Results that wait for a scores server that is away. Beyond that no match begins, so that no
/// result is ever lost.
pub const OUTBOX_MAX: u32 = 1 << 20;

/// Arenas that may report to one scores server.
pub const ARENAS_MAX: usize = 1_024;

/// Pairs of players that have met.
pub const PAIRS_MAX: u32 = 1 << 28;

/// How far apart, in rating points, two players may be who are matched at once.
pub const WINDOW: u32 = 100;

/// By how much that widens with each step of waiting.
pub const WIDENING: u32 = 200;

/// A step of waiting, in milliseconds.
pub const WIDENING_MS: u64 = 5_000;

/// The highest rating, in points; the lowest is zero.
pub const RATING_MAX: u32 = 4_000;

/// A window as wide as this lets everybody in.
pub const WINDOW_MAX: u32 = RATING_MAX;

/// Moves of a match before which it may still be aborted: one of each player.
pub const ABORT_PLIES: u16 = 2;

/// Members of one page of a listing.
pub const PAGE_MAX: u16 = 1_000;

/// The most who look for anybody to play one game with. Two within the narrowest window are matched at
/// once, so those who wait stand further apart, between the lowest rating and the highest. They are one
/// page.
pub const TICKETS_MAX: u32 = RATING_MAX / (WINDOW + 1) + 1;

const _: () = assert!(TICKETS_MAX <= PAGE_MAX as u32);
