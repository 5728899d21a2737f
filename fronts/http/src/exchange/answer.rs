//! What the exchange's reads answer.

use serde::Serialize;
use turnstile_exchange::{
    self as exchange, Answer, Cash, Cursor, Decimal, DepthView, QueuedOrder, Symbol, Trade,
};
use turnstile_types::Timestamp;
use utoipa::ToSchema;

use crate::{
    answer::{Text, Told},
    conditional::{etag_of_bytes, etag_of_number},
    cursor::cursor_text,
    problem::{Code, Problem},
};

/// Shares of one symbol.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PositionView {
    symbol: String,
    #[schema(value_type = String)]
    free: Text<Decimal>,
    /// What open sell orders have reserved.
    #[schema(value_type = String)]
    reserved: Text<Decimal>,
}

/// An account.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AccountView {
    account: String,
    #[schema(value_type = String, example = "100000")]
    free: Text<Cash>,
    /// What open buy orders have reserved.
    #[schema(value_type = String, example = "0")]
    reserved: Text<Cash>,
    open_orders: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    limit_open_orders: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    limit_quantity: Option<Text<Decimal>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    limit_notional: Option<Text<Cash>>,
    /// Left out in a listing of accounts.
    #[serde(skip_serializing_if = "Option::is_none")]
    positions: Option<Vec<PositionView>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AccountPage {
    accounts: Vec<AccountView>,
    /// Absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

/// What is traded.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SymbolView {
    symbol: String,
    /// Digits after the point of a price.
    price_scale: u8,
    quantity_scale: u8,
    halted: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    low: Option<Text<Decimal>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    high: Option<Text<Decimal>>,
    /// All shares that were ever granted.
    #[schema(value_type = String)]
    issued: Text<Decimal>,
    open_orders: u32,
    /// Changes of the book so far.
    seq: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    last_price: Option<Text<Decimal>>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SymbolPage {
    symbols: Vec<SymbolView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ExecutionView {
    #[schema(value_type = String)]
    quantity: Text<Decimal>,
    #[schema(value_type = String)]
    price: Text<Decimal>,
    #[schema(value_type = String, format = DateTime)]
    at: Text<Timestamp>,
    /// The order on the other side.
    counterparty: u64,
}

/// What was cancelled of an order.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CancelledView {
    #[schema(value_type = String)]
    quantity: Text<Decimal>,
    #[schema(value_type = String, format = DateTime)]
    at: Text<Timestamp>,
    /// `cancelled`, `mass_cancelled`, `expired`, `immediate` or `self_trade`.
    #[schema(value_type = String)]
    reason: &'static str,
}

/// An order, for its whole life and the time for which it is remembered after.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct OrderView {
    order: u64,
    /// `open`, `filled` or `cancelled`.
    #[schema(value_type = String, example = "open")]
    state: &'static str,
    account: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    client_id: Option<String>,
    symbol: String,
    #[schema(value_type = String, example = "buy")]
    side: &'static str,
    /// As it was sent, or last replaced: what is open, executed and cancelled adds up to it.
    #[schema(value_type = String)]
    quantity: Text<Decimal>,
    /// A market order has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    limit: Option<Text<Decimal>>,
    #[schema(value_type = String)]
    open: Text<Decimal>,
    #[schema(value_type = String, example = "gtc")]
    time_in_force: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    until: Option<Text<Timestamp>>,
    #[schema(value_type = String, example = "expire_taker")]
    self_trade: &'static str,
    #[schema(value_type = String, format = DateTime)]
    since: Text<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cancelled: Option<CancelledView>,
    /// The oldest first.
    executions: Vec<ExecutionView>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct OrderPage {
    orders: Vec<OrderView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

/// One price of one side.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct LevelView {
    #[schema(value_type = String)]
    price: Text<Decimal>,
    /// Everything that waits at this price.
    #[schema(value_type = String)]
    quantity: Text<Decimal>,
    orders: u32,
}

/// The best prices of both sides.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct BookView {
    symbol: String,
    /// The number of the last change that this shows.
    seq: u64,
    /// Best first.
    bids: Vec<LevelView>,
    asks: Vec<LevelView>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct QueuedView {
    order: u64,
    #[schema(value_type = String)]
    price: Text<Decimal>,
    #[schema(value_type = String)]
    quantity: Text<Decimal>,
}

/// The first orders of both sides.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct QueueView {
    symbol: String,
    seq: u64,
    bids: Vec<QueuedView>,
    asks: Vec<QueuedView>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TradeView {
    trade: u64,
    #[schema(value_type = String, format = DateTime)]
    at: Text<Timestamp>,
    #[schema(value_type = String)]
    price: Text<Decimal>,
    #[schema(value_type = String)]
    quantity: Text<Decimal>,
    /// The side that took.
    #[schema(value_type = String, example = "buy")]
    side: &'static str,
    /// The orders.
    maker: u64,
    taker: u64,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TradePage {
    trades: Vec<TradeView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

/// Tells the answer to a query.
///
/// # Errors
/// The problem of a refusal.
pub fn tell_answer(answer: &Answer) -> Result<Told, Problem> {
    Ok(match answer {
        Answer::Account(account) => {
            let view = AccountView {
                positions: Some(account.positions.iter().map(PositionView::of).collect()),
                ..AccountView::of(account)
            };
            paged(&view, account.next)
        }
        Answer::Accounts { accounts, next } => tell_accounts(accounts, *next),
        Answer::Symbols { symbols, next } => tell_symbols(symbols, *next),
        Answer::Symbol(symbol) => Told::of(200, &SymbolView::of(symbol)),
        Answer::Order(order) => {
            let told = Told::of(200, &OrderView::of(order));
            Told {
                etag: Some(etag_of_bytes(&told.json)),
                ..told
            }
        }
        Answer::Orders { orders, next } => {
            let orders = orders.iter().map(OrderView::of).collect();
            let next_cursor = next_cursor(*next);
            paged(
                &OrderPage {
                    orders,
                    next_cursor,
                },
                *next,
            )
        }
        Answer::Depth(depth) => Told {
            etag: Some(etag_of_number(depth.seq)),
            ..Told::of(200, &BookView::of(depth))
        },
        Answer::Queue {
            symbol,
            seq,
            bids,
            asks,
        } => tell_queue(*symbol, *seq, bids, asks),
        Answer::Trades { trades, next } => {
            let trades = trades.iter().map(TradeView::of).collect();
            let next_cursor = next_cursor(*next);
            paged(
                &TradePage {
                    trades,
                    next_cursor,
                },
                *next,
            )
        }
        Answer::Totals(_) => unreachable!("no operation asks for totals through this door"),
        Answer::Refused(refusal) => return Err(Problem::from(Code::from(*refusal))),
    })
}

fn next_cursor(next: Option<Cursor>) -> Option<String> {
    next.map(|next| cursor_text(next.0))
}

fn paged<T: Serialize>(view: &T, next: Option<Cursor>) -> Told {
    Told {
        next: next_cursor(next),
        ..Told::of(200, view)
    }
}

fn tell_accounts(accounts: &[exchange::AccountView], next: Option<Cursor>) -> Told {
    let accounts = accounts.iter().map(AccountView::of).collect();
    let next_cursor = next_cursor(next);
    paged(
        &AccountPage {
            accounts,
            next_cursor,
        },
        next,
    )
}

fn tell_symbols(symbols: &[exchange::SymbolView], next: Option<Cursor>) -> Told {
    let symbols = symbols.iter().map(SymbolView::of).collect();
    let next_cursor = next_cursor(next);
    paged(
        &SymbolPage {
            symbols,
            next_cursor,
        },
        next,
    )
}

fn tell_queue(symbol: Symbol, seq: u64, bids: &[QueuedOrder], asks: &[QueuedOrder]) -> Told {
    let view = QueueView {
        symbol: symbol.to_string(),
        seq,
        bids: bids.iter().map(QueuedView::of).collect(),
        asks: asks.iter().map(QueuedView::of).collect(),
    };
    Told {
        etag: Some(etag_of_number(seq)),
        ..Told::of(200, &view)
    }
}

impl PositionView {
    fn of((symbol, free, reserved): &(Symbol, Decimal, Decimal)) -> Self {
        Self {
            symbol: symbol.to_string(),
            free: Text(*free),
            reserved: Text(*reserved),
        }
    }
}

impl AccountView {
    /// Without its positions.
    fn of(account: &exchange::AccountView) -> Self {
        Self {
            account: account.account.to_string(),
            free: Text(account.free),
            reserved: Text(account.reserved),
            open_orders: account.open_orders,
            limit_open_orders: account.limit_open_orders,
            limit_quantity: account.limit_quantity.map(Text),
            limit_notional: account.limit_notional.map(Text),
            positions: None,
            next_cursor: next_cursor(account.next),
        }
    }
}

impl SymbolView {
    fn of(symbol: &exchange::SymbolView) -> Self {
        Self {
            symbol: symbol.symbol.to_string(),
            price_scale: symbol.price_scale,
            quantity_scale: symbol.quantity_scale,
            halted: symbol.halted,
            low: symbol.low.map(Text),
            high: symbol.high.map(Text),
            issued: Text(symbol.issued),
            open_orders: symbol.open_orders,
            seq: symbol.seq,
            last_price: symbol.last_price.map(Text),
        }
    }
}

impl OrderView {
    pub(super) fn of(order: &exchange::OrderView) -> Self {
        let cancelled = order.cancelled.map(|(quantity, at, reason)| CancelledView {
            quantity: Text(quantity),
            at: Text(at),
            reason: reason.code(),
        });
        let execution = |execution: &exchange::Execution| ExecutionView {
            quantity: Text(execution.quantity),
            price: Text(execution.price),
            at: Text(execution.at),
            counterparty: execution.counterparty.0,
        };
        Self {
            order: order.order.0,
            state: order.state().code(),
            account: order.account.to_string(),
            client_id: order.client_id.map(|id| id.to_string()),
            symbol: order.symbol.to_string(),
            side: order.side.code(),
            quantity: Text(order.quantity),
            limit: order.limit.map(Text),
            open: Text(order.open),
            time_in_force: order.time_in_force.code(),
            until: order.time_in_force.until().map(Text),
            self_trade: order.self_trade.code(),
            since: Text(order.since),
            cancelled,
            executions: order.executions.iter().map(execution).collect(),
        }
    }
}

impl LevelView {
    pub(super) fn of((price, quantity, orders): &(Decimal, Decimal, u32)) -> Self {
        Self {
            price: Text(*price),
            quantity: Text(*quantity),
            orders: *orders,
        }
    }
}

impl BookView {
    fn of(depth: &DepthView) -> Self {
        Self {
            symbol: depth.symbol.to_string(),
            seq: depth.seq,
            bids: depth.bids.iter().map(LevelView::of).collect(),
            asks: depth.asks.iter().map(LevelView::of).collect(),
        }
    }
}

impl QueuedView {
    const fn of(queued: &QueuedOrder) -> Self {
        Self {
            order: queued.order.0,
            price: Text(queued.price),
            quantity: Text(queued.quantity),
        }
    }
}

impl TradeView {
    pub(super) const fn of(trade: &Trade) -> Self {
        Self {
            trade: trade.trade,
            at: Text(trade.at),
            price: Text(trade.price),
            quantity: Text(trade.quantity),
            side: trade.side.code(),
            maker: trade.maker.0,
            taker: trade.taker.0,
        }
    }
}
