//! What the machine can be asked without changing anything.

use turnstile_types::Timestamp;

use crate::{
    AccountId, Cash, ClientId, Decimal, EndReason, OrderId, OrderRef, Refusal, SelfTrade, Side,
    Symbol, TicketState, TimeInForce,
};

/// Where the next page of a listing begins: opaque to callers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor(pub u64);

/// One whole request that only reads. Every `limit` is at least 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Query {
    /// An account: its cash, and a page of its positions in the order of the symbols' creation.
    Account {
        account: AccountId,
        cursor: Option<Cursor>,
        limit: u16,
    },
    /// The accounts, in the order of their creation.
    Accounts {
        cursor: Option<Cursor>,
        limit: u16,
    },
    /// The symbols, in the order of their creation.
    Symbols {
        cursor: Option<Cursor>,
        limit: u16,
    },
    Symbol {
        symbol: Symbol,
    },
    /// An order with every execution. `account` is needed for a client id; with an id, it is not
    /// looked at but must exist.
    Order {
        account: Option<AccountId>,
        order: OrderRef,
    },
    /// An account's open orders, the oldest first; of one symbol, or of all.
    Orders {
        account: AccountId,
        symbol: Option<Symbol>,
        cursor: Option<Cursor>,
        limit: u16,
    },
    /// The best `levels` prices of each side: 1 is the top of the book (L1), more is its depth
    /// (L2).
    Depth {
        symbol: Symbol,
        levels: u16,
    },
    /// The first `limit` orders of each side, best price first, then by time (L3).
    Queue {
        symbol: Symbol,
        limit: u16,
    },
    /// The latest trades of a symbol, the newest first.
    Trades {
        symbol: Symbol,
        cursor: Option<Cursor>,
        limit: u16,
    },
    Totals,
}

/// What is answered to a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    Account(AccountView),
    Accounts {
        accounts: Vec<AccountView>,
        next: Option<Cursor>,
    },
    Symbols {
        symbols: Vec<SymbolView>,
        next: Option<Cursor>,
    },
    Symbol(SymbolView),
    Order(OrderView),
    Orders {
        orders: Vec<OrderView>,
        next: Option<Cursor>,
    },
    Depth(DepthView),
    Queue {
        symbol: Symbol,
        seq: u64,
        bids: Vec<QueuedOrder>,
        asks: Vec<QueuedOrder>,
    },
    Trades {
        trades: Vec<Trade>,
        next: Option<Cursor>,
    },
    Totals(Totals),
    Refused(Refusal),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccountView {
    pub account: AccountId,
    /// Cash that is free, and cash that open buy orders have reserved.
    pub free: Cash,
    pub reserved: Cash,
    pub open_orders: u32,
    pub limit_open_orders: Option<u32>,
    pub limit_quantity: Option<Decimal>,
    pub limit_notional: Option<Cash>,
    /// Symbol, free shares, shares that open sell orders have reserved. In a listing of accounts
    /// this is empty.
    pub positions: Vec<(Symbol, Decimal, Decimal)>,
    pub next: Option<Cursor>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SymbolView {
    pub symbol: Symbol,
    pub price_scale: u8,
    pub quantity_scale: u8,
    pub halted: bool,
    pub low: Option<Decimal>,
    pub high: Option<Decimal>,
    /// All shares that were ever granted.
    pub issued: Decimal,
    pub open_orders: u32,
    /// Changes of the book so far.
    pub seq: u64,
    pub last_price: Option<Decimal>,
}

/// An order, for its whole life and the time for which it is remembered after.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderView {
    pub order: OrderId,
    pub client_id: Option<ClientId>,
    pub account: AccountId,
    pub symbol: Symbol,
    pub side: Side,
    /// As it was sent, or last replaced: what is open, executed and cancelled adds up to it.
    pub quantity: Decimal,
    pub limit: Option<Decimal>,
    pub time_in_force: TimeInForce,
    pub self_trade: SelfTrade,
    pub since: Timestamp,
    pub open: Decimal,
    /// What was cancelled, when, and why.
    pub cancelled: Option<(Decimal, Timestamp, EndReason)>,
    /// The oldest first.
    pub executions: Vec<Execution>,
}

impl OrderView {
    /// What has become of it so far.
    #[must_use]
    pub const fn state(&self) -> TicketState {
        match self.cancelled {
            _ if !self.open.is_zero() => TicketState::Open,
            Some((_, _, reason)) => TicketState::Ended(reason),
            None => TicketState::Filled,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Execution {
    pub quantity: Decimal,
    pub price: Decimal,
    pub at: Timestamp,
    /// The order on the other side.
    pub counterparty: OrderId,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DepthView {
    pub symbol: Symbol,
    /// The number of the last change that this shows.
    pub seq: u64,
    /// Price, quantity and orders of each level, best first.
    pub bids: Vec<(Decimal, Decimal, u32)>,
    pub asks: Vec<(Decimal, Decimal, u32)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueuedOrder {
    pub order: OrderId,
    pub price: Decimal,
    pub quantity: Decimal,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trade {
    pub trade: u64,
    pub at: Timestamp,
    pub price: Decimal,
    pub quantity: Decimal,
    /// The side that took.
    pub side: Side,
    pub maker: OrderId,
    pub taker: OrderId,
}

/// Figures over all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    pub accounts: u32,
    pub symbols: u32,
    pub open_orders: u32,
    /// Orders accepted so far.
    pub orders: u64,
    pub trades: u64,
    /// Orders that ended and are still remembered.
    pub remembered: u32,
    /// All cash there is: put in, less what was taken out.
    pub cash: Cash,
}
