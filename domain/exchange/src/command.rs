//! What the machine can be asked to do.

use std::fmt;

use turnstile_chassis::{Bytes, Fields, Words};
use turnstile_types::Timestamp;

use crate::{AccountId, ClientId, Decimal, InvalidLabel, OrderId, SelfTrade, Side, Symbol};

/// How long an order may wait on the book.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Bytes, Fields, Words)]
#[fields(tag = "time_in_force")]
pub enum TimeInForce {
    /// Until it is filled or cancelled.
    #[byte(0x00)]
    #[word("gtc")]
    GoodTillCancel,
    /// Until this instant of logged time.
    #[byte(0x01)]
    #[word("gtd")]
    GoodTillDate(#[field(name = "until")] Timestamp),
    /// Not at all: what does not match at once is cancelled.
    #[byte(0x02)]
    #[word("ioc")]
    ImmediateOrCancel,
    /// Not at all: it matches whole at once, or nothing happens.
    #[byte(0x03)]
    #[word("fok")]
    FillOrKill,
    /// Until it is filled or cancelled, and it must not match at once: else it is refused.
    #[byte(0x04)]
    PostOnly,
}

impl TimeInForce {
    /// The date of an order that has one.
    #[must_use]
    pub const fn until(self) -> Option<Timestamp> {
        match self {
            Self::GoodTillDate(until) => Some(until),
            Self::GoodTillCancel | Self::ImmediateOrCancel | Self::FillOrKill | Self::PostOnly => {
                None
            }
        }
    }
}

/// A new order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Bytes)]
pub struct Order {
    pub account: AccountId,
    pub symbol: Symbol,
    pub side: Side,
    pub quantity: Decimal,
    /// The worst price that is accepted. None: the market's, which only an order that never waits
    /// may ask for.
    pub limit: Option<Decimal>,
    pub time_in_force: TimeInForce,
    pub self_trade: SelfTrade,
    /// Unique for the account. The same order under the same id again is answered as the first
    /// time and opens nothing.
    pub client_id: Option<ClientId>,
}

/// How a caller names an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Bytes)]
pub enum OrderRef {
    #[byte(0x00)]
    Id(OrderId),
    /// Of the account that asks.
    #[byte(0x01)]
    Client(ClientId),
}

/// Some text that names no order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvalidOrderRef {
    /// Neither a number, nor `id:` and more.
    Form,
    ClientId(InvalidLabel),
}

impl OrderRef {
    /// Reads an order's number, or `id:` and the client's id for it.
    ///
    /// # Errors
    /// Any other text.
    pub fn parse(text: &[u8]) -> Result<Self, InvalidOrderRef> {
        if let Some(id) = text.strip_prefix(b"id:") {
            return ClientId::parse(id)
                .map(Self::Client)
                .map_err(InvalidOrderRef::ClientId);
        }
        if text.is_empty() {
            return Err(InvalidOrderRef::Form);
        }
        let number = text.iter().try_fold(0_u64, |number, byte| {
            let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
            number.checked_mul(10)?.checked_add(digit)
        });
        number
            .map(|number| Self::Id(OrderId(number)))
            .ok_or(InvalidOrderRef::Form)
    }
}

impl fmt::Display for InvalidOrderRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Form => f.write_str("an order's number, or id: and the client's id for it"),
            Self::ClientId(invalid) => invalid.fmt(f),
        }
    }
}

impl std::error::Error for InvalidOrderRef {}

/// One whole request that may change the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Bytes, Words)]
pub enum Command {
    #[byte(0x01)]
    CreateAccount { account: AccountId, cash: Decimal },
    /// Lists a symbol with scales of its own; a symbol that is first named by a grant or an order
    /// gets the default scales.
    #[byte(0x02)]
    CreateSymbol {
        symbol: Symbol,
        price_scale: u8,
        quantity_scale: u8,
    },
    /// Gives an account new shares.
    #[byte(0x03)]
    Grant {
        account: AccountId,
        symbol: Symbol,
        quantity: Decimal,
    },
    #[byte(0x04)]
    Deposit { account: AccountId, amount: Decimal },
    #[byte(0x05)]
    Withdraw { account: AccountId, amount: Decimal },
    #[byte(0x06)]
    Order(Order),
    /// Cancels what is left of an order; only for the account that sent it.
    #[byte(0x07)]
    Cancel { account: AccountId, order: OrderRef },
    /// Changes an order in one step. `quantity` is what shall be left open. Less at the same limit
    /// keeps its place in the queue (and as much changes nothing); anything else goes to the end
    /// of it, and may match at once.
    #[byte(0x08)]
    Replace {
        account: AccountId,
        order: OrderRef,
        quantity: Decimal,
        /// None: as it is.
        limit: Option<Decimal>,
    },
    /// Cancels every open order of an account, or those of one symbol.
    #[byte(0x09)]
    CancelAll {
        account: AccountId,
        symbol: Option<Symbol>,
    },
    /// Orders below `low` or above `high` are refused; None: no bound on that side.
    #[byte(0x0a)]
    SetBand {
        symbol: Symbol,
        low: Option<Decimal>,
        high: Option<Decimal>,
    },
    /// Stops (`halted`) or resumes trading. Orders that rest stay and may be cancelled.
    #[byte(0x0b)]
    Halt { symbol: Symbol, halted: bool },
    /// Bounds what an account may do; None: no bound but the machine's own.
    #[byte(0x0c)]
    SetLimits {
        account: AccountId,
        open_orders: Option<u32>,
        /// The largest quantity of one order.
        quantity: Option<Decimal>,
        /// The largest limit x quantity of one order.
        notional: Option<Decimal>,
    },
}
