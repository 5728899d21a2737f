//! The queries of the exchange.

use turnstile_chassis::{
    Cursor, Field, Fields, Kind, Operations, PAGE, PAGE_MAX, Show, Value, Visitor, Words,
};
use turnstile_types::Timestamp;

use crate::{
    AccountId, Cash, ClientId, Decimal, EndReason, OrderId, OrderRef, Refusal, SelfTrade, Side,
    Symbol, TicketState, TimeInForce, about::About,
};

/// Prices of each side of a book when nothing is said.
const LEVELS: u16 = 10;

/// One whole request that only reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Words, Operations)]
#[operations(answers = Answer, right = read, checked, about = About)]
pub enum Query {
    /// Shows an account's cash and a page of its positions, free and reserved, in the order of the
    /// symbols' creation.
    #[word("get_account")]
    #[operation(about = Account(*account))]
    Account {
        account: AccountId,
        cursor: Option<Cursor>,
        #[parameter(min = 1, max = PAGE_MAX, default = PAGE)]
        limit: u16,
    },
    /// Lists the accounts in the order of their creation.
    #[word("list_accounts")]
    Accounts {
        cursor: Option<Cursor>,
        #[parameter(min = 1, max = PAGE_MAX, default = PAGE)]
        limit: u16,
    },
    /// Lists the symbols in the order of their creation.
    #[word("list_symbols")]
    #[operation(about = Public)]
    Symbols {
        cursor: Option<Cursor>,
        #[parameter(min = 1, max = PAGE_MAX, default = PAGE)]
        limit: u16,
    },
    /// Shows one symbol.
    #[word("get_symbol")]
    #[operation(about = Public)]
    Symbol { symbol: Symbol },
    /// Shows an order and its executions; by a client's id with its account. With a number, the
    /// account is not looked at but must exist.
    #[word("get_order")]
    #[operation(about = Order(*account, order.id()))]
    Order {
        account: Option<AccountId>,
        order: OrderRef,
    },
    /// Lists an account's open orders, the oldest first; of one symbol, or of all. A page may be
    /// short, even empty, and still name a next one.
    #[word("list_orders")]
    #[operation(about = Account(*account))]
    Orders {
        account: AccountId,
        symbol: Option<Symbol>,
        cursor: Option<Cursor>,
        #[parameter(min = 1, max = PAGE_MAX, default = PAGE)]
        limit: u16,
    },
    /// Shows the best prices of each side of a book (10): one level is the top of the book (L1), more
    /// are its depth (L2).
    #[word("get_depth")]
    #[operation(about = Public)]
    Depth {
        symbol: Symbol,
        #[parameter(min = 1, max = PAGE_MAX, default = LEVELS)]
        levels: u16,
    },
    /// Shows the first orders of each side of a book in the order in which they match (L3).
    #[word("get_queue")]
    #[operation(about = Public)]
    Queue {
        symbol: Symbol,
        #[parameter(min = 1, max = PAGE_MAX, default = PAGE)]
        limit: u16,
    },
    /// Lists a symbol's trades, the newest first.
    #[word("list_trades")]
    #[operation(about = Public)]
    Trades {
        symbol: Symbol,
        cursor: Option<Cursor>,
        #[parameter(min = 1, max = PAGE_MAX, default = PAGE)]
        limit: u16,
    },
    /// Shows how much there is of everything.
    #[word("get_totals")]
    #[operation(about = Public)]
    Totals,
}

impl Query {
    /// What is wrong with parameters that could be read one by one: the name of one, and why.
    const fn flaw(&self) -> Option<(&'static str, &'static str)> {
        let Self::Order {
            account: None,
            order: OrderRef::Client(_),
        } = self
        else {
            return None;
        };
        let reason = "needed with a client's id, which is unique for its account only";
        Some(("account", reason))
    }
}

/// What is answered to a query.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
pub enum Answer {
    Account(#[field(flatten)] AccountView),
    Accounts {
        #[field(with = summaries)]
        accounts: Vec<AccountView>,
        /// Where the next page begins; not set on the last.
        next: Option<Cursor>,
    },
    Symbols {
        symbols: Vec<SymbolView>,
        /// Where the next page begins; not set on the last.
        next: Option<Cursor>,
    },
    Symbol(#[field(flatten)] SymbolView),
    Order(#[field(flatten)] OrderView),
    Orders {
        orders: Vec<OrderView>,
        /// Where the next page begins; not set on the last.
        next: Option<Cursor>,
    },
    Depth(#[field(flatten)] DepthView),
    /// The first orders of both sides.
    Queue {
        symbol: Symbol,
        /// The number of the last change that this shows.
        seq: u64,
        bids: Vec<QueuedOrder>,
        asks: Vec<QueuedOrder>,
    },
    Trades {
        trades: Vec<Trade>,
        /// Where the next page begins; not set on the last.
        next: Option<Cursor>,
    },
    Totals(#[field(flatten)] Totals),
    Refused(#[field(skip)] Refusal),
}

#[derive(Clone, Debug, PartialEq, Eq, Fields)]
pub struct AccountView {
    pub account: AccountId,
    pub free: Cash,
    /// What open buy orders have reserved.
    pub reserved: Cash,
    pub open_orders: u32,
    pub limit_open_orders: Option<u32>,
    pub limit_quantity: Option<Decimal>,
    pub limit_notional: Option<Cash>,
    /// Symbol, free shares, shares that open sell orders have reserved. In a listing of accounts
    /// this is empty.
    #[field(with = holdings)]
    pub positions: Vec<(Symbol, Decimal, Decimal)>,
    /// Where the next page of positions begins; not set on the last.
    pub next: Option<Cursor>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Fields)]
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, Fields)]
pub struct Execution {
    pub quantity: Decimal,
    pub price: Decimal,
    pub at: Timestamp,
    /// The order on the other side.
    pub counterparty: OrderId,
}

#[derive(Clone, Debug, PartialEq, Eq, Fields)]
pub struct DepthView {
    pub symbol: Symbol,
    /// The number of the last change that this shows.
    pub seq: u64,
    /// Price, quantity and orders of each level, best first.
    #[field(with = levels)]
    pub bids: Vec<(Decimal, Decimal, u32)>,
    #[field(with = levels)]
    pub asks: Vec<(Decimal, Decimal, u32)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Fields)]
pub struct QueuedOrder {
    pub order: OrderId,
    pub price: Decimal,
    pub quantity: Decimal,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Fields)]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Fields)]
pub struct Totals {
    /// Accounts.
    pub accounts: u32,
    /// Symbols.
    pub symbols: u32,
    /// Orders that are open.
    pub open_orders: u32,
    /// Orders ever accepted.
    #[field(name = "orders_total")]
    pub orders: u64,
    /// Trades ever made.
    #[field(name = "trades_total")]
    pub trades: u64,
    /// Orders that ended and are still remembered.
    pub remembered: u32,
    /// All cash there is: put in, less what was taken out.
    pub cash: Cash,
}

/// An account in a listing.
#[derive(Fields)]
struct AccountSummary {
    account: AccountId,
    free: Cash,
    /// What open buy orders have reserved.
    reserved: Cash,
    open_orders: u32,
    limit_open_orders: Option<u32>,
    limit_quantity: Option<Decimal>,
    limit_notional: Option<Cash>,
}

fn summaries(accounts: &[AccountView]) -> Vec<AccountSummary> {
    let summary = |view: &AccountView| AccountSummary {
        account: view.account,
        free: view.free,
        reserved: view.reserved,
        open_orders: view.open_orders,
        limit_open_orders: view.limit_open_orders,
        limit_quantity: view.limit_quantity,
        limit_notional: view.limit_notional,
    };
    accounts.iter().map(summary).collect()
}

/// Shares of one symbol.
#[derive(Fields)]
struct Holding {
    symbol: Symbol,
    free: Decimal,
    /// What open sell orders have reserved.
    reserved: Decimal,
}

fn holdings(positions: &[(Symbol, Decimal, Decimal)]) -> Vec<Holding> {
    let holding = |&(symbol, free, reserved)| Holding {
        symbol,
        free,
        reserved,
    };
    positions.iter().map(holding).collect()
}

/// One price of one side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Fields)]
pub struct DepthLevel {
    pub price: Decimal,
    /// Everything that waits at this price.
    pub quantity: Decimal,
    pub orders: u32,
}

/// The levels of one side of a [`DepthView`].
#[must_use]
pub fn levels(levels: &[(Decimal, Decimal, u32)]) -> Vec<DepthLevel> {
    let level = |&(price, quantity, orders)| DepthLevel {
        price,
        quantity,
        orders,
    };
    levels.iter().map(level).collect()
}

/// What was cancelled of an order.
#[derive(Fields)]
struct Cancellation {
    quantity: Decimal,
    at: Timestamp,
    reason: EndReason,
}

/// An order as doors show it.
#[derive(Fields)]
struct OrderShown<'a> {
    order: OrderId,
    state: TicketState,
    account: AccountId,
    client_id: Option<ClientId>,
    symbol: Symbol,
    side: Side,
    /// As it was sent, or last replaced: what is open, executed and cancelled adds up to it.
    quantity: Decimal,
    /// A market order has none.
    limit: Option<Decimal>,
    open: Decimal,
    #[field(flatten)]
    time_in_force: TimeInForce,
    self_trade: SelfTrade,
    since: Timestamp,
    cancelled: Option<Cancellation>,
    /// The oldest first.
    executions: &'a [Execution],
}

impl Fields for OrderView {
    fn visit(&self, visitor: &mut impl Visitor) {
        let cancelled = self.cancelled.map(|(quantity, at, reason)| Cancellation {
            quantity,
            at,
            reason,
        });
        let shown = OrderShown {
            order: self.order,
            state: self.state(),
            account: self.account,
            client_id: self.client_id,
            symbol: self.symbol,
            side: self.side,
            quantity: self.quantity,
            limit: self.limit,
            open: self.open,
            time_in_force: self.time_in_force,
            self_trade: self.self_trade,
            since: self.since,
            cancelled,
            executions: &self.executions,
        };
        shown.visit(visitor);
    }

    fn describe() -> Vec<Field> {
        OrderShown::describe()
    }
}

impl Value for OrderView {
    fn show<S: Show>(&self, show: S) -> S::Out {
        show.object(self)
    }

    fn kind() -> Kind {
        Kind::Object {
            name: "Order",
            fields: Self::describe,
        }
    }
}
