//! The state, written piece by piece.

use turnstile_chassis::{Encode as _, Pieces};
use turnstile_types::{Sink, put_flag, put_instant, put_u8, put_u16, put_u32, put_u64};

use super::{MAGIC, MAGIC_OF_LOCAL, senders::write_senders};
use crate::{
    Cash, Exchange, Side,
    accounts::CashAccount,
    clients::ClientOrder,
    ledger::{Row, State},
    symbols::Listed,
};

pub(crate) fn write(exchange: &Exchange, out: &mut dyn Sink) {
    let mut pieces = Pieces::to(out);
    let has_senders = exchange.senders.all_open() > 0;
    pieces.put(|buffer| {
        buffer.extend_from_slice(if has_senders { MAGIC } else { MAGIC_OF_LOCAL });
        put_u64(buffer, exchange.ledger.accepted);
        put_u64(buffer, exchange.trades);
        Cash(exchange.cash).encode(buffer);
        put_u32(buffer, exchange.accounts.len());
    });
    for account in exchange.accounts.iter() {
        pieces.put(|buffer| put_holder(buffer, account));
    }
    pieces.put(|buffer| put_u32(buffer, exchange.symbols.len()));
    for listed in exchange.symbols.iter() {
        pieces.put(|buffer| put_listed(buffer, listed));
    }
    pieces.put(|buffer| put_u32(buffer, exchange.positions.len()));
    for position in exchange.positions.iter() {
        pieces.put(|buffer| {
            put_u32(buffer, position.account);
            put_u32(buffer, position.symbol);
            put_u64(buffer, position.free);
        });
    }
    write_orders(exchange, &mut pieces);
    if has_senders {
        write_senders(exchange, &mut pieces);
    }
    pieces.finish();
}

fn put_holder(buffer: &mut Vec<u8>, account: &CashAccount) {
    account.id.encode(buffer);
    Cash(account.free).encode(buffer);
    let bounds = account.bounds();
    bounds.open_orders.encode(buffer);
    bounds.quantity.encode(buffer);
    bounds.notional.encode(buffer);
}

fn put_listed(buffer: &mut Vec<u8>, listed: &Listed) {
    listed.name.encode(buffer);
    put_u8(buffer, listed.scales.price_scale());
    put_u8(buffer, listed.scales.quantity_scale());
    put_flag(buffer, listed.halted);
    listed.low.encode(buffer);
    listed.high.encode(buffer);
    put_u64(buffer, listed.issued);
    put_u64(buffer, listed.seq);
    let count = u16::try_from(listed.trades.len()).expect("a thousand trades are kept");
    put_u16(buffer, count);
    for traded in &listed.trades {
        put_u64(buffer, traded.trade);
        put_instant(buffer, traded.at);
        put_u64(buffer, traded.price);
        put_u64(buffer, traded.quantity);
        traded.side.encode(buffer);
        put_u64(buffer, traded.maker.0);
        put_u64(buffer, traded.taker.0);
    }
}

fn write_orders(exchange: &Exchange, pieces: &mut Pieces<'_>) {
    pieces.put(|buffer| put_u32(buffer, exchange.ledger.open()));
    for listed in exchange.symbols.iter() {
        for side in [Side::Buy, Side::Sell] {
            for resting in listed.book.resting(&exchange.orders, side) {
                let row = exchange.resting_row(&resting);
                pieces.put(|buffer| put_order(exchange, row, buffer));
            }
        }
    }
    pieces.put(|buffer| put_u32(buffer, exchange.ledger.ended()));
    for number in exchange.ledger.iter_ended() {
        let row = exchange.ledger.at(number);
        pieces.put(|buffer| {
            put_order(exchange, row, buffer);
            if let State::Ended { at, reason, .. } = row.state {
                put_instant(buffer, at);
                reason.encode(buffer);
            }
        });
    }
}

fn put_order(exchange: &Exchange, row: &Row, buffer: &mut Vec<u8>) {
    put_u64(buffer, row.id.0);
    put_u32(buffer, row.account);
    put_u32(buffer, row.symbol);
    row.side.encode(buffer);
    put_u64(buffer, row.quantity);
    put_u64(buffer, row.rest);
    put_u64(buffer, row.limit);
    put_instant(buffer, row.since);
    row.time_in_force().encode(buffer);
    row.self_trade.encode(buffer);
    let client = exchange.ledger.client(row);
    client.is_some().encode(buffer);
    if let Some(client) = &client {
        put_client(buffer, client);
    }
    put_u32(buffer, row.executions.count);
    for executed in exchange.ledger.executions.iter(row.executions) {
        put_u64(buffer, executed.quantity);
        put_u64(buffer, executed.price);
        put_instant(buffer, executed.at);
        put_u64(buffer, executed.counterparty.0);
    }
}

fn put_client(buffer: &mut Vec<u8>, client: &ClientOrder) {
    client.id.encode(buffer);
    client.state.encode(buffer);
    put_u32(buffer, client.at_once);
    put_u64(buffer, client.sent.quantity);
    put_u64(buffer, client.sent.limit);
}
