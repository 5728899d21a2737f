//! Reads the database's answers to queries.
//!
//! Every number is in units of a scale that stands in the same object; cash is in units of its own.

use serde::Deserialize;
use turnstile_exchange::{
    AccountId, AccountView, Cash, ClientId, Cursor, Decimal, DepthView, Execution, OrderId,
    OrderView, QueuedOrder, SelfTrade, Side, Symbol, SymbolView, TimeInForce, Totals, Trade,
};
use turnstile_types::Timestamp;

use super::decided::{Reason, decimal, parse};

/// What is wrong about an answer.
type Wrong = String;

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
    account: String,
    free: u128,
    reserved: u128,
    open_orders: u32,
    limit_open_orders: Option<u32>,
    limit_quantity: Option<String>,
    limit_notional: Option<u128>,
    /// Symbol, free, reserved, scale. None in a listing of accounts, like `next`.
    #[serde(default)]
    positions: Vec<(String, u64, u64, u8)>,
    #[serde(default)]
    next: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SymbolRow {
    symbol: String,
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
    Found(OrderRow),
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
    client_id: Option<String>,
    account: String,
    symbol: String,
    side: SideWord,
    quantity: u64,
    price: Option<u64>,
    patience: PatienceWord,
    until: Option<u64>,
    self_trade: SelfTradeWord,
    since: u64,
    price_scale: u8,
    quantity_scale: u8,
    open: u64,
    /// What, when, why.
    cancelled: Option<(u64, u64, Reason)>,
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

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TradesRow {
    price_scale: u8,
    quantity_scale: u8,
    /// Trade, when, price, quantity, who took, maker, taker.
    rows: Vec<(u64, u64, u64, u64, SideWord, u64, u64)>,
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

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum SideWord {
    Buy,
    Sell,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum PatienceWord {
    Gtc,
    Gtd,
    Ioc,
    Fok,
    PostOnly,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum SelfTradeWord {
    Allow,
    Skip,
    ExpireMaker,
    ExpireTaker,
    ExpireBoth,
}

impl<T> Page<T> {
    /// The rows of a page as the machine has them, and where the next one begins.
    pub(super) fn read<V>(
        self,
        read: impl Fn(T) -> Result<V, Wrong>,
    ) -> Result<(Vec<V>, Option<Cursor>), Wrong> {
        let rows = self.rows.into_iter().map(read).collect::<Result<_, _>>()?;
        Ok((rows, self.next.map(Cursor)))
    }
}

impl AccountRow {
    pub(super) fn view(self) -> Result<AccountView, Wrong> {
        let position = |(name, free, reserved, scale): (String, u64, u64, u8)| {
            Ok::<_, Wrong>((
                symbol(&name)?,
                decimal(free, scale)?,
                decimal(reserved, scale)?,
            ))
        };
        let positions = self.positions.into_iter().map(position);
        Ok(AccountView {
            account: account(&self.account)?,
            free: Cash(self.free),
            reserved: Cash(self.reserved),
            open_orders: self.open_orders,
            limit_open_orders: self.limit_open_orders,
            limit_quantity: self.limit_quantity.as_deref().map(parse).transpose()?,
            limit_notional: self.limit_notional.map(Cash),
            positions: positions.collect::<Result<_, _>>()?,
            next: self.next.map(Cursor),
        })
    }
}

impl SymbolRow {
    pub(super) fn view(self) -> Result<SymbolView, Wrong> {
        let price = |ticks: Option<u64>| -> Result<Option<Decimal>, Wrong> {
            ticks
                .map(|ticks| decimal(ticks, self.price_scale))
                .transpose()
        };
        Ok(SymbolView {
            symbol: symbol(&self.symbol)?,
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
    pub(super) fn view(self) -> Result<OrderView, Wrong> {
        let price = |ticks| decimal(ticks, self.price_scale);
        let quantity = |units| decimal(units, self.quantity_scale);
        let client = |id: String| {
            ClientId::parse(id.as_bytes())
                .map_err(|invalid| format!("the client id {id}: {invalid}"))
        };
        let cancelled = |(units, at, reason): (u64, u64, Reason)| {
            Ok::<_, Wrong>((quantity(units)?, Timestamp(at), reason.into()))
        };
        let execution = |(units, ticks, at, other): (u64, u64, u64, u64)| {
            Ok::<_, Wrong>(Execution {
                quantity: quantity(units)?,
                price: price(ticks)?,
                at: Timestamp(at),
                counterparty: OrderId(other),
            })
        };
        Ok(OrderView {
            order: OrderId(self.order),
            client_id: self.client_id.map(client).transpose()?,
            account: account(&self.account)?,
            symbol: symbol(&self.symbol)?,
            side: self.side.into(),
            quantity: quantity(self.quantity)?,
            limit: self.price.map(price).transpose()?,
            time_in_force: self.patience.with(self.until)?,
            self_trade: self.self_trade.into(),
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
    pub(super) fn depth(self, symbol: Symbol) -> Result<DepthView, Wrong> {
        let level = |&(ticks, units, orders): &(u64, u64, u64)| {
            let orders = u32::try_from(orders).map_err(|_large| format!("{orders} orders"))?;
            let price = decimal(ticks, self.price_scale)?;
            Ok::<_, Wrong>((price, decimal(units, self.quantity_scale)?, orders))
        };
        Ok(DepthView {
            symbol,
            seq: self.seq,
            bids: self.bids.iter().map(level).collect::<Result<_, _>>()?,
            asks: self.asks.iter().map(level).collect::<Result<_, _>>()?,
        })
    }

    /// The number of the last change, and both sides order by order.
    pub(super) fn queue(self) -> Result<(u64, [Vec<QueuedOrder>; 2]), Wrong> {
        let queued = |&(order, ticks, units): &(u64, u64, u64)| {
            Ok::<_, Wrong>(QueuedOrder {
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
    pub(super) fn read(self) -> Result<(Vec<Trade>, Option<Cursor>), Wrong> {
        let trade =
            |(trade, at, ticks, units, side, maker, taker): (_, _, _, _, SideWord, _, _)| {
                Ok::<_, Wrong>(Trade {
                    trade,
                    at: Timestamp(at),
                    price: decimal(ticks, self.price_scale)?,
                    quantity: decimal(units, self.quantity_scale)?,
                    side: side.into(),
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

impl PatienceWord {
    fn with(self, until: Option<u64>) -> Result<TimeInForce, Wrong> {
        Ok(match (self, until) {
            (Self::Gtd, Some(until)) => TimeInForce::GoodTillDate(Timestamp(until)),
            (Self::Gtd, None) => return Err("a good-till-date order without a date".to_owned()),
            (Self::Gtc, _) => TimeInForce::GoodTillCancel,
            (Self::Ioc, _) => TimeInForce::ImmediateOrCancel,
            (Self::Fok, _) => TimeInForce::FillOrKill,
            (Self::PostOnly, _) => TimeInForce::PostOnly,
        })
    }
}

impl From<SideWord> for Side {
    fn from(word: SideWord) -> Self {
        match word {
            SideWord::Buy => Self::Buy,
            SideWord::Sell => Self::Sell,
        }
    }
}

impl From<SelfTradeWord> for SelfTrade {
    fn from(word: SelfTradeWord) -> Self {
        match word {
            SelfTradeWord::Allow => Self::Allow,
            SelfTradeWord::Skip => Self::Skip,
            SelfTradeWord::ExpireMaker => Self::ExpireMaker,
            SelfTradeWord::ExpireTaker => Self::ExpireTaker,
            SelfTradeWord::ExpireBoth => Self::ExpireBoth,
        }
    }
}

fn account(text: &str) -> Result<AccountId, Wrong> {
    AccountId::parse(text.as_bytes()).map_err(|invalid| format!("the account {text}: {invalid}"))
}

fn symbol(text: &str) -> Result<Symbol, Wrong> {
    Symbol::parse(text.as_bytes()).map_err(|invalid| format!("the symbol {text}: {invalid}"))
}
