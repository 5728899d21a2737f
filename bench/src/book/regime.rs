//! How the middle of the market moves.

use std::fmt;

use crate::dice::Draws;

/// A market regime. Distances are those of a liquid share with half-cent ticks: a percent is some
/// 335 ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MarketRegime {
    /// It wanders by some two percent in five million orders.
    Normal,
    /// It does not move: nothing sweeps the book, which grows deep.
    Static,
    /// It rises by a tick every forty orders, and wanders.
    Trending,
    /// It wanders by some forty percent in five million orders.
    Volatile,
    /// As volatile; every hundred thousand orders it falls by twenty thousand ticks within two
    /// thousand orders, and recovers within twenty thousand.
    FlashCrash,
}

/// New orders from one crash to the next, of the fall, and of the recovery.
const CRASH_EVERY: u32 = 100_000;
const FALL: u32 = 2_000;
const RECOVERY: u32 = 20_000;
/// Ticks.
const CRASH_DEPTH: i64 = 20_000;

impl MarketRegime {
    pub(super) const ALL: [Self; 5] = [
        Self::Normal,
        Self::Static,
        Self::Trending,
        Self::Volatile,
        Self::FlashCrash,
    ];

    /// The middle after one more order; in 256ths of a tick.
    pub(super) fn moved(self, middle: i64, order: u32, dice: &mut Draws) -> i64 {
        let mut wander = |most: u64| {
            let step = i64::try_from(dice.below(2 * most + 1)).expect("a small step");
            step - i64::try_from(most).expect("a small step")
        };
        let step = match self {
            Self::Static => 0,
            Self::Normal => wander(133),
            Self::Trending => 256 / 40 + wander(133),
            Self::Volatile => wander(2_660),
            Self::FlashCrash => wander(2_660) + crash(order % CRASH_EVERY),
        };
        // Nobody sees prices near zero, however long it wanders.
        (middle + step).max(FLOOR)
    }
}

const FLOOR: i64 = 10_000 << 8;

fn crash(order: u32) -> i64 {
    let per = |orders: u32| (CRASH_DEPTH << 8) / i64::from(orders);
    match order {
        0..FALL => -per(FALL),
        FALL.. if order < FALL + RECOVERY => per(RECOVERY),
        _ => 0,
    }
}

impl fmt::Display for MarketRegime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Normal => "normal",
            Self::Static => "static",
            Self::Trending => "trending",
            Self::Volatile => "volatile",
            Self::FlashCrash => "flash crash",
        })
    }
}
