//! What the machine answers to a command: done or refused, both with data.

use crate::{Cash, Decimal, OrderId};

/// What is answered to a command.
pub type Outcome = turnstile_types::Outcome<Done, Refusal>;

/// What was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Done {
    AccountCreated,
    SymbolCreated,
    /// What the account now holds, free and reserved together.
    Granted {
        position: Decimal,
    },
    /// The free cash after it.
    Deposited {
        cash: Cash,
    },
    /// The free cash after it.
    Withdrawn {
        cash: Cash,
    },
    /// An order was accepted. `again`: it is the first answer to the same client id once more.
    Accepted {
        ticket: Ticket,
        again: bool,
    },
    /// What was cancelled.
    Cancelled {
        order: OrderId,
        quantity: Decimal,
    },
    /// `kept_place`: it was reduced where it stood.
    Replaced {
        ticket: Ticket,
        kept_place: bool,
    },
    AllCancelled {
        orders: u32,
    },
    BandSet,
    Halted,
    Resumed,
    LimitsSet,
}

/// What became of an order at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket {
    pub order: OrderId,
    pub state: TicketState,
    /// What was executed now.
    pub filled: Decimal,
    /// The cash that it cost or brought now: the sum of price x quantity.
    pub value: Cash,
    /// What still waits on the book.
    pub open: Decimal,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TicketState {
    /// It rests on the book, perhaps partly executed.
    Open,
    Filled,
    /// What was left of it was cancelled.
    Ended(EndReason),
}

/// Why an order ended before it was filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndReason {
    /// Its account cancelled it.
    Cancelled,
    /// Its account cancelled all its orders.
    MassCancelled,
    /// Its date came.
    Expired,
    /// It was not to wait, and nothing more matched.
    Immediate,
    /// It met an order of its own account.
    SelfTrade,
}

/// A number of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    Price,
    Quantity,
    Cash,
}

/// Why nothing was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    UnknownAccount,
    AccountExists,
    UnknownSymbol,
    SymbolExists,
    /// The two scales of a symbol are at most 8 together.
    ScaleTooLarge,
    /// The number has more digits after the point than the symbol (or cash) keeps.
    TooManyDigits {
        field: Field,
        scale: u8,
    },
    /// The number is larger than the machine keeps.
    TooLarge {
        field: Field,
    },
    /// The number must not be zero.
    Zero {
        field: Field,
    },
    InsufficientFunds {
        needed: Cash,
        free: Cash,
    },
    InsufficientShares {
        needed: Decimal,
        free: Decimal,
    },
    /// A market order must not wait.
    MarketMustNotWait,
    /// A market order found nobody on the other side.
    NoMarket,
    /// A fill-or-kill order would not be filled whole.
    NotFillable,
    /// A post-only order would match at once.
    WouldMatch,
    /// The date of a good-till-date order is over.
    DateOver,
    OutsideBand {
        low: Option<Decimal>,
        high: Option<Decimal>,
    },
    /// A band whose low end is above its high end.
    EmptyBand,
    SymbolHalted,
    TooManyOpenOrders {
        limit: u32,
    },
    /// Larger than the account's limit on the quantity of one order.
    QuantityLimit {
        limit: Decimal,
    },
    /// Larger than the account's limit on the value of one order.
    NotionalLimit {
        limit: Cash,
    },
    /// The client id belongs to another order of the account.
    ClientIdReused {
        order: OrderId,
    },
    /// There never was such an order, or it ended so long ago that it is forgotten.
    NotFound,
    /// It is another account's order.
    NotYours,
    /// Nothing of the order is open.
    NotOpen,
    /// The machine has as many accounts, symbols or open orders as it may have.
    Full {
        limit: u32,
    },
}

impl TicketState {
    /// The stable word on every door; the reason of an end stands beside it.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Filled => "filled",
            Self::Ended(_) => "cancelled",
        }
    }
}

impl Field {
    /// The stable word on every door.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Price => "price",
            Self::Quantity => "quantity",
            Self::Cash => "cash",
        }
    }
}

impl EndReason {
    /// The stable word on every door.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Cancelled => "cancelled",
            Self::MassCancelled => "mass_cancelled",
            Self::Expired => "expired",
            Self::Immediate => "immediate",
            Self::SelfTrade => "self_trade",
        }
    }
}

impl Refusal {
    /// The first of its stable bytes. Kinds are numbered from 0x81, without gaps.
    #[must_use]
    pub const fn kind(&self) -> u8 {
        match self {
            Self::UnknownAccount => 0x81,
            Self::AccountExists => 0x82,
            Self::UnknownSymbol => 0x83,
            Self::SymbolExists => 0x84,
            Self::ScaleTooLarge => 0x85,
            Self::TooManyDigits { .. } => 0x86,
            Self::TooLarge { .. } => 0x87,
            Self::Zero { .. } => 0x88,
            Self::InsufficientFunds { .. } => 0x89,
            Self::InsufficientShares { .. } => 0x8a,
            Self::MarketMustNotWait => 0x8b,
            Self::NoMarket => 0x8c,
            Self::NotFillable => 0x8d,
            Self::WouldMatch => 0x8e,
            Self::DateOver => 0x8f,
            Self::OutsideBand { .. } => 0x90,
            Self::EmptyBand => 0x91,
            Self::SymbolHalted => 0x92,
            Self::TooManyOpenOrders { .. } => 0x93,
            Self::QuantityLimit { .. } => 0x94,
            Self::NotionalLimit { .. } => 0x95,
            Self::ClientIdReused { .. } => 0x96,
            Self::NotFound => 0x97,
            Self::NotYours => 0x98,
            Self::NotOpen => 0x99,
            Self::Full { .. } => 0x9a,
        }
    }

    /// The stable word for this refusal on every door and in every metric.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::UnknownAccount => "unknown_account",
            Self::AccountExists => "account_exists",
            Self::UnknownSymbol => "unknown_symbol",
            Self::SymbolExists => "symbol_exists",
            Self::ScaleTooLarge => "scale_too_large",
            Self::TooManyDigits { .. } => "too_many_digits",
            Self::TooLarge { .. } => "too_large",
            Self::Zero { .. } => "zero",
            Self::InsufficientFunds { .. } => "insufficient_funds",
            Self::InsufficientShares { .. } => "insufficient_shares",
            Self::MarketMustNotWait => "market_must_not_wait",
            Self::NoMarket => "no_market",
            Self::NotFillable => "not_fillable",
            Self::WouldMatch => "would_match",
            Self::DateOver => "date_over",
            Self::OutsideBand { .. } => "outside_band",
            Self::EmptyBand => "empty_band",
            Self::SymbolHalted => "symbol_halted",
            Self::TooManyOpenOrders { .. } => "too_many_open_orders",
            Self::QuantityLimit { .. } => "quantity_limit",
            Self::NotionalLimit { .. } => "notional_limit",
            Self::ClientIdReused { .. } => "client_id_reused",
            Self::NotFound => "not_found",
            Self::NotYours => "not_yours",
            Self::NotOpen => "not_open",
            Self::Full { .. } => "full",
        }
    }
}
