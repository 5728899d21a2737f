//! What the machine answers to a command: done or refused, both with data.

use turnstile_chassis::{Bytes, Decode, Encode, Tagged as _};
use turnstile_types::{Malformed, Reader};

use crate::{Cash, Decimal, OrderId};

/// What is answered to a command.
pub type Outcome = turnstile_types::Outcome<Done, Refusal>;

/// What was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Bytes)]
pub enum Done {
    #[byte(0x01)]
    AccountCreated,
    #[byte(0x02)]
    SymbolCreated,
    /// What the account now holds, free and reserved together.
    #[byte(0x03)]
    Granted { position: Decimal },
    /// The free cash after it.
    #[byte(0x04)]
    Deposited { cash: Cash },
    /// The free cash after it.
    #[byte(0x05)]
    Withdrawn { cash: Cash },
    /// An order was accepted. `again`: it is the first answer to the same client id once more.
    #[byte(0x06)]
    Accepted { ticket: Ticket, again: bool },
    /// What was cancelled.
    #[byte(0x07)]
    Cancelled { order: OrderId, quantity: Decimal },
    /// `kept_place`: it was reduced where it stood.
    #[byte(0x08)]
    Replaced { ticket: Ticket, kept_place: bool },
    #[byte(0x09)]
    AllCancelled { orders: u32 },
    #[byte(0x0a)]
    BandSet,
    #[byte(0x0b)]
    Halted,
    #[byte(0x0c)]
    Resumed,
    #[byte(0x0d)]
    LimitsSet,
}

/// What became of an order at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Bytes)]
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

/// The first of the stable bytes of a [`TicketState`] without a reason.
const OPEN: u8 = 0x00;
const FILLED: u8 = 0x01;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TicketState {
    /// It rests on the book, perhaps partly executed.
    Open,
    Filled,
    /// What was left of it was cancelled.
    Ended(EndReason),
}

/// Why an order ended before it was filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Bytes)]
pub enum EndReason {
    /// Its account cancelled it.
    #[byte(0x10)]
    Cancelled,
    /// Its account cancelled all its orders.
    #[byte(0x11)]
    MassCancelled,
    /// Its date came.
    #[byte(0x12)]
    Expired,
    /// It was not to wait, and nothing more matched.
    #[byte(0x13)]
    Immediate,
    /// It met an order of its own account.
    #[byte(0x14)]
    SelfTrade,
}

/// A number of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Bytes)]
pub enum Field {
    #[byte(0x00)]
    Price,
    #[byte(0x01)]
    Quantity,
    #[byte(0x02)]
    Cash,
}

/// Why nothing was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Bytes)]
pub enum Refusal {
    #[byte(0x81)]
    UnknownAccount,
    #[byte(0x82)]
    AccountExists,
    #[byte(0x83)]
    UnknownSymbol,
    #[byte(0x84)]
    SymbolExists,
    /// The two scales of a symbol are at most 8 together.
    #[byte(0x85)]
    ScaleTooLarge,
    /// The number has more digits after the point than the symbol (or cash) keeps.
    #[byte(0x86)]
    TooManyDigits { field: Field, scale: u8 },
    /// The number is larger than the machine keeps.
    #[byte(0x87)]
    TooLarge { field: Field },
    /// The number must not be zero.
    #[byte(0x88)]
    Zero { field: Field },
    #[byte(0x89)]
    InsufficientFunds { needed: Cash, free: Cash },
    #[byte(0x8a)]
    InsufficientShares { needed: Decimal, free: Decimal },
    /// A market order must not wait.
    #[byte(0x8b)]
    MarketMustNotWait,
    /// A market order found nobody on the other side.
    #[byte(0x8c)]
    NoMarket,
    /// A fill-or-kill order would not be filled whole.
    #[byte(0x8d)]
    NotFillable,
    /// A post-only order would match at once.
    #[byte(0x8e)]
    WouldMatch,
    /// The date of a good-till-date order is over.
    #[byte(0x8f)]
    DateOver,
    #[byte(0x90)]
    OutsideBand {
        low: Option<Decimal>,
        high: Option<Decimal>,
    },
    /// A band whose low end is above its high end.
    #[byte(0x91)]
    EmptyBand,
    #[byte(0x92)]
    SymbolHalted,
    #[byte(0x93)]
    TooManyOpenOrders { limit: u32 },
    /// Larger than the account's limit on the quantity of one order.
    #[byte(0x94)]
    QuantityLimit { limit: Decimal },
    /// Larger than the account's limit on the value of one order.
    #[byte(0x95)]
    NotionalLimit { limit: Cash },
    /// The client id belongs to another order of the account.
    #[byte(0x96)]
    ClientIdReused { order: OrderId },
    /// There never was such an order, or it ended so long ago that it is forgotten.
    #[byte(0x97)]
    NotFound,
    /// It is another account's order.
    #[byte(0x98)]
    NotYours,
    /// Nothing of the order is open.
    #[byte(0x99)]
    NotOpen,
    /// The machine has as many accounts, symbols or open orders as it may have.
    #[byte(0x9a)]
    Full { limit: u32 },
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

/// The byte of what ended an order is that of its reason.
impl Encode for TicketState {
    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::Open => out.push(OPEN),
            Self::Filled => out.push(FILLED),
            Self::Ended(reason) => reason.encode(out),
        }
    }
}

impl Decode<'_> for TicketState {
    fn decode(reader: &mut Reader<'_>, field: &'static str) -> Result<Self, Malformed> {
        let plain = match reader.peek() {
            Some(OPEN) => Self::Open,
            Some(FILLED) => Self::Filled,
            Some(_) | None => return EndReason::decode(reader, field).map(Self::Ended),
        };
        reader.u8(field)?;
        Ok(plain)
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
    pub fn kind(&self) -> u8 {
        self.byte()
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
