//! What the machine can be asked to do.

use turnstile_types::Timestamp;

use crate::{AccountId, ClientId, Decimal, OrderId, SelfTrade, Side, Symbol};

/// How long an order may wait on the book.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeInForce {
    /// Until it is filled or cancelled.
    GoodTillCancel,
    /// Until this instant of logged time.
    GoodTillDate(Timestamp),
    /// Not at all: what does not match at once is cancelled.
    ImmediateOrCancel,
    /// Not at all: it matches whole at once, or nothing happens.
    FillOrKill,
    /// Until it is filled or cancelled, and it must not match at once: else it is refused.
    PostOnly,
}

/// A new order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrderRef {
    Id(OrderId),
    /// Of the account that asks.
    Client(ClientId),
}

/// One whole request that may change the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    CreateAccount {
        account: AccountId,
        cash: Decimal,
    },
    /// Lists a symbol with scales of its own; a symbol that is first named by a grant or an order
    /// gets the default scales.
    CreateSymbol {
        symbol: Symbol,
        price_scale: u8,
        quantity_scale: u8,
    },
    /// Gives an account new shares.
    Grant {
        account: AccountId,
        symbol: Symbol,
        quantity: Decimal,
    },
    Deposit {
        account: AccountId,
        amount: Decimal,
    },
    Withdraw {
        account: AccountId,
        amount: Decimal,
    },
    Order(Order),
    /// Cancels what is left of an order; only for the account that sent it.
    Cancel {
        account: AccountId,
        order: OrderRef,
    },
    /// Changes an order in one step. `quantity` is what shall be left open. Less at the same limit
    /// keeps its place in the queue (and as much changes nothing); anything else goes to the end
    /// of it, and may match at once.
    Replace {
        account: AccountId,
        order: OrderRef,
        quantity: Decimal,
        /// None: as it is.
        limit: Option<Decimal>,
    },
    /// Cancels every open order of an account, or those of one symbol.
    CancelAll {
        account: AccountId,
        symbol: Option<Symbol>,
    },
    /// Orders below `low` or above `high` are refused; None: no bound on that side.
    SetBand {
        symbol: Symbol,
        low: Option<Decimal>,
        high: Option<Decimal>,
    },
    /// Stops (`halted`) or resumes trading. Orders that rest stay and may be cancelled.
    Halt {
        symbol: Symbol,
        halted: bool,
    },
    /// Bounds what an account may do; None: no bound but the machine's own.
    SetLimits {
        account: AccountId,
        open_orders: Option<u32>,
        /// The largest quantity of one order.
        quantity: Option<Decimal>,
        /// The largest limit x quantity of one order.
        notional: Option<Decimal>,
    },
}
