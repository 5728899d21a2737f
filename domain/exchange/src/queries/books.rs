//! Queries about symbols, books and trades.

use crate::{
    Answer, Cursor, Decimal, DepthView, Exchange, QueuedOrder, Side, SymbolView, Trade,
    symbols::Listed,
};

pub(super) fn view(listed: &Listed) -> SymbolView {
    let scales = listed.scales;
    let (low, high) = listed.band();
    SymbolView {
        symbol: listed.name,
        price_scale: scales.price_scale(),
        quantity_scale: scales.quantity_scale(),
        halted: listed.halted,
        low,
        high,
        issued: scales.quantity(listed.issued),
        open_orders: listed.open_orders,
        seq: listed.seq,
        last_price: listed.last_price().map(|price| scales.price(price)),
    }
}

pub(super) fn depth(exchange: &Exchange, symbol: u32, levels: usize) -> DepthView {
    let listed = exchange.symbols.at(symbol);
    let side = |side| -> Vec<(Decimal, Decimal, u32)> {
        let depths = listed.book.levels(&exchange.orders, side).take(levels);
        depths
            .map(|level| {
                let price = listed.scales.price(level.price);
                (price, listed.scales.quantity(level.quantity), level.orders)
            })
            .collect()
    };
    DepthView {
        symbol: listed.name,
        seq: listed.seq,
        bids: side(Side::Buy),
        asks: side(Side::Sell),
    }
}

pub(super) fn queue(exchange: &Exchange, symbol: u32, limit: usize) -> Answer {
    let listed = exchange.symbols.at(symbol);
    let side = |side| -> Vec<QueuedOrder> {
        let resting = listed.book.resting(&exchange.orders, side).take(limit);
        resting
            .map(|resting| QueuedOrder {
                order: exchange.resting_row(&resting).id,
                price: listed.scales.price(resting.price),
                quantity: listed.scales.quantity(resting.quantity),
            })
            .collect()
    };
    Answer::Queue {
        symbol: listed.name,
        seq: listed.seq,
        bids: side(Side::Buy),
        asks: side(Side::Sell),
    }
}

/// A page of the latest trades, from the cursor's back.
pub(super) fn trades(listed: &Listed, cursor: Option<Cursor>, limit: usize) -> Answer {
    let scales = listed.scales;
    let newest = cursor.map_or(u64::MAX, |Cursor(trade)| trade);
    let end = listed
        .trades
        .partition_point(|traded| traded.trade <= newest);
    let mut rest = listed.trades.range(..end).rev();
    let trades = rest.by_ref().take(limit);
    let trades = trades
        .map(|traded| Trade {
            trade: traded.trade,
            at: traded.at,
            price: scales.price(traded.price),
            quantity: scales.quantity(traded.quantity),
            side: traded.side,
            maker: traded.maker,
            taker: traded.taker,
        })
        .collect();
    let next = rest.next().map(|traded| Cursor(traded.trade));
    Answer::Trades { trades, next }
}
