//! Orders as the book takes them.

use turnstile_chassis::{Bytes, Words};

/// The side of the book that an order stands on, or would.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Bytes, Words)]
pub enum Side {
    #[byte(0x00)]
    Buy,
    #[byte(0x01)]
    Sell,
}

impl Side {
    pub const ALL: [Self; 2] = [Self::Buy, Self::Sell];

    /// The side that an order of this side trades with.
    #[must_use]
    pub const fn opposite(self) -> Self {
        match self {
            Self::Buy => Self::Sell,
            Self::Sell => Self::Buy,
        }
    }

    /// A price as a number that is lower where the price is better for who trades with this side,
    /// and back: so both sides are sorted alike.
    #[inline]
    pub(crate) const fn key(self, price: u64) -> u64 {
        match self {
            Self::Buy => !price,
            Self::Sell => price,
        }
    }
}

/// Whom an order belongs to. Two orders of one owner that meet are a self-trade.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Owner(pub u32);

/// What happens when an incoming order meets a resting order of its own owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Bytes, Words)]
pub enum SelfTrade {
    /// They trade like any two orders.
    #[byte(0x00)]
    Allow,
    /// The incoming order passes over its owner's orders, and both stay: the book may then be
    /// crossed by orders of one owner.
    #[byte(0x01)]
    Skip,
    /// The resting order is taken off the book; the incoming order goes on.
    #[byte(0x02)]
    ExpireMaker,
    /// The incoming order stops with what it has traded; the resting order stays.
    #[byte(0x03)]
    ExpireTaker,
    /// The resting order is taken off the book, and the incoming order stops.
    #[byte(0x04)]
    ExpireBoth,
}

impl SelfTrade {
    pub const ALL: [Self; 5] = [
        Self::Allow,
        Self::Skip,
        Self::ExpireMaker,
        Self::ExpireTaker,
        Self::ExpireBoth,
    ];
}

/// An order that arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Incoming {
    /// The caller's number of the order. The book only repeats it.
    pub order: u64,
    pub owner: Owner,
    pub side: Side,
    /// The limit in ticks, any number; `None` is a market order.
    pub price: Option<u64>,
    /// At least one.
    pub quantity: u64,
    pub self_trade: SelfTrade,
}

impl Incoming {
    /// The worst key of the other side that it trades at.
    #[inline]
    pub(crate) fn limit(&self) -> u64 {
        self.price
            .map_or(u64::MAX, |price| self.side.opposite().key(price))
    }

    /// Whether trading with an order of this owner would be a self-trade that must not be.
    #[inline]
    pub(crate) fn avoids(&self, owner: Owner) -> bool {
        self.owner == owner && self.self_trade != SelfTrade::Allow
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_stable() {
        assert_eq!(Side::ALL.map(Side::code), ["buy", "sell"]);
        assert_eq!(
            SelfTrade::ALL.map(SelfTrade::code),
            [
                "allow",
                "skip",
                "expire_maker",
                "expire_taker",
                "expire_both"
            ]
        );
    }
}
