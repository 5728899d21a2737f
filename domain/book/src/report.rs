//! What a book reports: fills and resting orders.

use crate::{Owner, Side, Slot};

/// What an incoming order did to one resting order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Report {
    /// The two traded at the maker's price. With `maker_left` of zero the maker is off the book,
    /// and its slot means nothing any more.
    Fill {
        maker: Slot,
        maker_order: u64,
        maker_owner: Owner,
        /// Ticks.
        price: u64,
        quantity: u64,
        maker_left: u64,
    },
    /// The maker belonged to the taker's owner and was taken off the book, with `left` untraded.
    Expired {
        maker: Slot,
        maker_order: u64,
        maker_owner: Owner,
        /// Ticks.
        price: u64,
        left: u64,
    },
}

/// How far an incoming order got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken {
    /// What is untraded.
    pub left: u64,
    pub stop: Stop,
}

/// Why an incoming order went no further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// It traded in full.
    NoneLeft,
    /// Nothing that it may trade with is within its limit. The rest may go on the book.
    NoMatch,
    /// It met an order of its owner. The rest must not go on the book.
    TakerExpired,
}

/// What rests at one price.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Depth {
    /// Ticks.
    pub price: u64,
    /// The sum; `u64::MAX` where it is more.
    pub quantity: u64,
    /// At least one.
    pub orders: u32,
}

/// An order on the book.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resting {
    pub slot: Slot,
    pub order: u64,
    pub owner: Owner,
    pub side: Side,
    /// Ticks.
    pub price: u64,
    /// What is untraded; at least one.
    pub quantity: u64,
}
