//! The state, read and derived again.

use std::collections::VecDeque;

use turnstile_chassis::Decode;
use turnstile_types::{Machine as _, Malformed, Reader, Timestamp};

use super::{MAGIC, MAGIC_OF_LOCAL, orders::read_orders, senders::read_senders};
use crate::{
    AccountId, Cash, Exchange, OrderId, Symbol,
    accounts::Bounds,
    limits,
    symbols::{Scales, Traded},
};

/// What is counted is far below this, so that counting on never overflows.
const COUNT_MAX: u64 = 1 << 62;

/// A price or a quantity.
pub(super) fn units(reader: &mut Reader<'_>, field: &'static str) -> Result<u64, Malformed> {
    let units = reader.u64(field)?;
    Malformed::unless(units > 0 && units <= limits::UNITS_MAX, field)?;
    Ok(units)
}

fn optional_units(reader: &mut Reader<'_>, field: &'static str) -> Result<Option<u64>, Malformed> {
    let some = reader.flag(field)?;
    some.then(|| units(reader, field)).transpose()
}

/// The id of an order that was accepted.
pub(super) fn order_id(
    exchange: &Exchange,
    reader: &mut Reader<'_>,
    field: &'static str,
) -> Result<OrderId, Malformed> {
    let id = reader.u64(field)?;
    Malformed::unless(id > 0 && id <= exchange.ledger.accepted, field)?;
    Ok(OrderId(id))
}

pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Exchange, Malformed> {
    let magic = reader.take(MAGIC.len(), "magic")?;
    let has_senders = magic == MAGIC;
    Malformed::unless(has_senders || magic == MAGIC_OF_LOCAL, "magic")?;
    let mut exchange = Exchange::empty();
    exchange.ledger.accepted = reader.u64("totals")?;
    exchange.trades = reader.u64("totals")?;
    exchange.cash = Cash::decode(reader, "totals")?.0;
    let counted = exchange.ledger.accepted < COUNT_MAX && exchange.trades < COUNT_MAX;
    Malformed::unless(counted, "totals")?;
    read_accounts(&mut exchange, reader)?;
    read_symbols(&mut exchange, reader)?;
    read_positions(&mut exchange, reader)?;
    read_orders(&mut exchange, reader)?;
    if has_senders {
        read_senders(&mut exchange, reader)?;
    }
    Malformed::unless(exchange.accounts.held() == exchange.cash, "cash")?;
    verify_shares(&exchange)?;
    Ok(exchange)
}

fn read_accounts(exchange: &mut Exchange, reader: &mut Reader<'_>) -> Result<(), Malformed> {
    let count = reader.u32("accounts")?;
    Malformed::unless(count <= limits::ACCOUNTS_MAX, "accounts")?;
    for _ in 0..count {
        reader.lap()?;
        let id = AccountId::decode(reader, "account")?;
        Malformed::unless(exchange.accounts.find(&id).is_none(), "account")?;
        let number = exchange.accounts.add(id);
        let free = Cash::decode(reader, "free")?.0;
        let held = exchange.accounts.restore(number, free, 0);
        Malformed::unless(held.is_some(), "free")?;
        let bounds = Bounds {
            open_orders: Decode::decode(reader, "open orders")?,
            quantity: Decode::decode(reader, "quantity")?,
            notional: Decode::decode(reader, "notional")?,
        };
        if bounds != Bounds::default() {
            exchange.accounts.at_mut(number).bounds = Some(Box::new(bounds));
        }
    }
    Ok(())
}

fn read_symbols(exchange: &mut Exchange, reader: &mut Reader<'_>) -> Result<(), Malformed> {
    let count = reader.u32("symbols")?;
    Malformed::unless(count <= limits::SYMBOLS_MAX, "symbols")?;
    for _ in 0..count {
        let name = Symbol::decode(reader, "symbol")?;
        Malformed::unless(exchange.symbols.find(&name).is_none(), "symbol")?;
        let (price, quantity) = (reader.u8("scales")?, reader.u8("scales")?);
        let scales = Scales::new(price, quantity).ok_or(Malformed { field: "scales" })?;
        let number = exchange.symbols.add(name, scales);
        let halted = reader.flag("halted")?;
        let low = optional_units(reader, "low")?;
        let high = optional_units(reader, "high")?;
        Malformed::unless(low.zip(high).is_none_or(|(low, high)| low <= high), "high")?;
        let (issued, seq) = (reader.u64("issued")?, reader.u64("seq")?);
        Malformed::unless(seq < COUNT_MAX, "seq")?;
        let trades = read_trades(exchange, reader)?;
        exchange.shares += u128::from(issued);
        let listed = exchange.symbols.at_mut(number);
        (listed.halted, listed.low, listed.high) = (halted, low, high);
        (listed.issued, listed.seq, listed.trades) = (issued, seq, trades);
    }
    Ok(())
}

fn read_trades(
    exchange: &Exchange,
    reader: &mut Reader<'_>,
) -> Result<VecDeque<Traded>, Malformed> {
    let count = usize::from(reader.u16("trades")?);
    Malformed::unless(count <= limits::TRADES_KEPT, "trades")?;
    let mut trades = VecDeque::new();
    let mut last = (0, Timestamp(0));
    for _ in 0..count {
        let traded = Traded {
            trade: reader.u64("trade")?,
            at: reader.instant("trade")?,
            price: units(reader, "trade")?,
            quantity: units(reader, "trade")?,
            side: Decode::decode(reader, "side")?,
            maker: order_id(exchange, reader, "trade")?,
            taker: order_id(exchange, reader, "trade")?,
        };
        let counted = traded.trade > last.0 && traded.trade <= exchange.trades;
        Malformed::unless(counted && traded.at >= last.1, "trade")?;
        Malformed::unless(traded.maker != traded.taker, "trade")?;
        last = (traded.trade, traded.at);
        trades.push_back(traded);
    }
    Ok(trades)
}

fn read_positions(exchange: &mut Exchange, reader: &mut Reader<'_>) -> Result<(), Malformed> {
    let mut last = None;
    for _ in 0..reader.u32("positions")? {
        reader.lap()?;
        let (account, symbol) = (reader.u32("position")?, reader.u32("position")?);
        let known = account < exchange.accounts.len() && symbol < exchange.symbols.len();
        Malformed::unless(known && last < Some((account, symbol)), "position")?;
        last = Some((account, symbol));
        let free = reader.u64("position")?;
        exchange.positions.credit(account, symbol, free);
    }
    Ok(())
}

/// Every share that was granted is somewhere, and no other.
fn verify_shares(exchange: &Exchange) -> Result<(), Malformed> {
    let mut sums = vec![0_u128; exchange.symbols.len() as usize];
    for position in exchange.positions.iter() {
        let sum = sums.get_mut(position.symbol as usize);
        *sum.expect("the symbol was looked at when the position was read") +=
            u128::from(position.free) + u128::from(position.reserved);
    }
    let listed = exchange.symbols.iter();
    let conserved = listed
        .zip(sums)
        .all(|(listed, sum)| sum == u128::from(listed.issued));
    Malformed::unless(conserved, "shares")
}
