//! Reads the database's answers to queries.
//!
//! Every number is in units of a scale that stands in the same object; cash is in units of its own.

use serde::Deserialize;
use turnstile_exchange::{
    AccountId, AccountView, Cash, ClientId, Cursor, Decimal, DepthView, EndReason, Execution,
    OrderId, OrderView, QueuedOrder, SelfTrade, Side, Symbol, SymbolView, TimeInForce, Totals,
    Trade,
};
use turnstile_types::Timestamp;

use super::decided::{Parsed, decimal};

/// A page of a listing.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Page<T> {
    rows: Vec<T>,
    next: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AccountRow {
    account: Parsed<AccountId>,
    free: u128,
    reserved: u128,
    open_orders: u32,
    limit_open_orders: Option<u32>,
    limit_quantity: Option<Parsed<Decimal>>,
    limit_notional: Option<u128>,
    /// Symbol, free, reserved, scale. None in a listing of accounts, like `next`.
    #[serde(default)]
    positions: Vec<(Parsed<Symbol>, u64, u64, u8)>,
    #[serde(default)]
    next: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SymbolRow {
    symbol: Parsed<Symbol>,
    price_scale: u8,
    quantity_scale: u8,
    halted: bool,
    low: Option<u64>,
    high: Option<u64>,
    issued: u64,
    seq: u64,
    open_orders: u32,
    last_price: Option<u64>,
}

/// An order that was asked for, or why there is none.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum OrderAnswer {
    Found(Box<OrderRow>),
    UnknownAccount,
    NotFound,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum OrdersAnswer {
    Found(Page<OrderRow>),
    UnknownAccount,
    UnknownSymbol,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OrderRow {
    order: u64,
    client_id: Option<Parsed<ClientId>>,
    account: Parsed<AccountId>,
    symbol: Parsed<Symbol>,
    side: Parsed<Side>,
    quantity: u64,
    price: Option<u64>,
    patience: String,
    until: Option<u64>,
    self_trade: Parsed<SelfTrade>,
    since: u64,
    price_scale: u8,
    quantity_scale: u8,
    open: u64,
    /// What, when, why.
    cancelled: Option<(u64, u64, Parsed<EndReason>)>,
    /// Quantity, price, when, the order on the other side.
    executions: Vec<(u64, u64, u64, u64)>,
}

/// A book by levels (price, quantity, orders) or by orders (order, price, quantity).
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BookRow {
    seq: u64,
    price_scale: u8,
    quantity_scale: u8,
    bids: Vec<(u64, u64, u64)>,
    asks: Vec<(u64, u64, u64)>,
}

/// Trade, when, price, quantity, who took, maker, taker.
type TradeCells = (u64, u64, u64, u64, Parsed<Side>, u64, u64);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TradesRow {
    price_scale: u8,
    quantity_scale: u8,
    rows: Vec<TradeCells>,
    next: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TotalsRow {
    accounts: u32,
    symbols: u32,
    open_orders: u32,
    orders: u64,
    trades: u64,
    remembered: u32,
    cash: u128,
}

impl<T> Page<T> {
    /// The rows of a page as the machine has them, and where the next one begins.
    pub(super) fn read<V>(
        self,
        read: impl Fn(T) -> Result<V, String>,
    ) -> Result<(Vec<V>, Option<Cursor>), String> {
        let rows = self.rows.into_iter().map(read).collect::<Result<_, _>>()?;
        Ok((rows, self.next.map(Cursor)))
    }
}

impl AccountRow {
    pub(super) fn view(self) -> Result<AccountView, String> {
        let position = |(symbol, free, reserved, scale): (Parsed<_>, u64, u64, u8)| {
            Ok::<_, String>((symbol.0, decimal(free, scale)?, decimal(reserved, scale)?))
        };
        let positions = self.positions.into_iter().map(position);
        Ok(AccountView {
            account: self.account.0,
            free: Cash(self.free),
            reserved: Cash(self.reserved),
            open_orders: self.open_orders,
            limit_open_orders: self.limit_open_orders,
            limit_quantity: self.limit_quantity.map(|limit| limit.0),
            limit_notional: self.limit_notional.map(Cash),
            positions: positions.collect::<Result<_, _>>()?,
            next: self.next.map(Cursor),
        })
    }
}

impl SymbolRow {
    pub(super) fn view(self) -> Result<SymbolView, String> {
        let price = |ticks: Option<u64>| -> Result<Option<Decimal>, String> {
            ticks
                .map(|ticks| decimal(ticks, self.price_scale))
                .transpose()
        };
        Ok(SymbolView {
            symbol: self.symbol.0,
            price_scale: self.price_scale,
            quantity_scale: self.quantity_scale,
            halted: self.halted,
            low: price(self.low)?,
            high: price(self.high)?,
            issued: decimal(self.issued, self.quantity_scale)?,
            open_orders: self.open_orders,
            seq: self.seq,
            last_price: price(self.last_price)?,
        })
    }
}

impl OrderRow {
    pub(super) fn view(self) -> Result<OrderView, String> {
        let price = |ticks| decimal(ticks, self.price_scale);
        let quantity = |units| decimal(units, self.quantity_scale);
        let cancelled = |(units, at, reason): (u64, u64, Parsed<_>)| {
            Ok::<_, String>((quantity(units)?, Timestamp(at), reason.0))
        };
        let execution = |(units, ticks, at, other): (u64, u64, u64, u64)| {
            Ok::<_, String>(Execution {
                quantity: quantity(units)?,
                price: price(ticks)?,
                at: Timestamp(at),
                counterparty: OrderId(other),
            })
        };
        Ok(OrderView {
            order: OrderId(self.order),
            client_id: self.client_id.map(|id| id.0),
            account: self.account.0,
            symbol: self.symbol.0,
            side: self.side.0,
            quantity: quantity(self.quantity)?,
            limit: self.price.map(price).transpose()?,
            time_in_force: patience(&self.patience, self.until)?,
            self_trade: self.self_trade.0,
            since: Timestamp(self.since),
            open: quantity(self.open)?,
            cancelled: self.cancelled.map(cancelled).transpose()?,
            executions: self
                .executions
                .into_iter()
                .map(execution)
                .collect::<Result<_, _>>()?,
        })
    }
}

impl BookRow {
    pub(super) fn depth(self, symbol: Symbol) -> Result<DepthView, String> {
        let level = |&(ticks, units, orders): &(u64, u64, u64)| {
            let orders = u32::try_from(orders).map_err(|_large| format!("{orders} orders"))?;
            let price = decimal(ticks, self.price_scale)?;
            Ok::<_, String>((price, decimal(units, self.quantity_scale)?, orders))
        };
        Ok(DepthView {
            symbol,
            seq: self.seq,
            bids: self.bids.iter().map(level).collect::<Result<_, _>>()?,
            asks: self.asks.iter().map(level).collect::<Result<_, _>>()?,
        })
    }

    /// The number of the last change, and both sides order by order.
    pub(super) fn queue(self) -> Result<(u64, [Vec<QueuedOrder>; 2]), String> {
        let queued = |&(order, ticks, units): &(u64, u64, u64)| {
            Ok::<_, String>(QueuedOrder {
                order: OrderId(order),
                price: decimal(ticks, self.price_scale)?,
                quantity: decimal(units, self.quantity_scale)?,
            })
        };
        let bids = self.bids.iter().map(queued).collect::<Result<_, _>>()?;
        let asks = self.asks.iter().map(queued).collect::<Result<_, _>>()?;
        Ok((self.seq, [bids, asks]))
    }
}

impl TradesRow {
    pub(super) fn read(self) -> Result<(Vec<Trade>, Option<Cursor>), String> {
        let trade = |(trade, at, ticks, units, side, maker, taker): TradeCells| {
            Ok::<_, String>(Trade {
                trade,
                at: Timestamp(at),
                price: decimal(ticks, self.price_scale)?,
                quantity: decimal(units, self.quantity_scale)?,
                side: side.0,
                maker: OrderId(maker),
                taker: OrderId(taker),
            })
        };
        let trades = self.rows.into_iter().map(trade).collect::<Result<_, _>>()?;
        Ok((trades, self.next.map(Cursor)))
    }
}

impl From<TotalsRow> for Totals {
    fn from(row: TotalsRow) -> Self {
        Self {
            accounts: row.accounts,
            symbols: row.symbols,
            open_orders: row.open_orders,
            orders: row.orders,
            trades: row.trades,
            remembered: row.remembered,
            cash: Cash(row.cash),
        }
    }
}

/// How long an order may wait.
fn patience(word: &str, until: Option<u64>) -> Result<TimeInForce, String> {
    match (word, until) {
        ("gtd", Some(until)) => Ok(TimeInForce::GoodTillDate(Timestamp(until))),
        _ => TimeInForce::parse(word.as_bytes())
            .map_err(|invalid| format!("{word} until {until:?}: {invalid}")),
    }
}
