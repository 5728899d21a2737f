//! The rows that a replay writes after each message.

use std::io::{self, Write};

use turnstile_book::{Depth, Side};

use super::{
    lobster::{Message, Price},
    market::{ReplayedMarket, ReplayedTrade},
};

/// The price that stands for a level that is not there, in LOBSTER's orderbook files: positive
/// for asks, negative for bids.
const NO_PRICE: u64 = 9_999_999_999;

/// Writes a trade: its time, the side that took, price, size, and whom it took from.
pub(crate) fn put_trade(out: &mut impl Write, time: &str, trade: &ReplayedTrade) -> io::Result<()> {
    let ReplayedTrade {
        order, price, size, ..
    } = trade;
    let taker = trade.taker.code();
    write!(out, "trade {time} {taker} {size} @ {price} ")?;
    if trade.is_hidden {
        writeln!(out, "with a hidden order")
    } else {
        writeln!(out, "with {order}")
    }
}

/// Writes the best bid and the best ask.
pub(crate) fn put_top(
    out: &mut impl Write,
    message: &Message<'_>,
    market: &ReplayedMarket,
) -> io::Result<()> {
    write!(out, "top {}", message.time)?;
    for (word, side) in [("bid", Side::Buy), ("ask", Side::Sell)] {
        match market.book.best(&market.orders, side) {
            Some(Depth {
                price, quantity, ..
            }) => write!(out, " {word} {quantity} @ {}", Price(price))?,
            None => write!(out, " {word} none")?,
        }
    }
    writeln!(out)
}

/// Writes a row of an orderbook file: ask price, ask size, bid price, bid size, level by level.
pub(crate) fn put_levels(
    out: &mut impl Write,
    levels: u16,
    market: &ReplayedMarket,
) -> io::Result<()> {
    let mut asks = market.book.levels(&market.orders, Side::Sell);
    let mut bids = market.book.levels(&market.orders, Side::Buy);
    for level in 0..levels {
        if level > 0 {
            out.write_all(b",")?;
        }
        match asks.next() {
            Some(ask) => write!(out, "{},{},", ask.price, ask.quantity)?,
            None => write!(out, "{NO_PRICE},0,")?,
        }
        match bids.next() {
            Some(bid) => write!(out, "{},{}", bid.price, bid.quantity)?,
            None => write!(out, "-{NO_PRICE},0")?,
        }
    }
    writeln!(out)
}
