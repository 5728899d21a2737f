//! The state, written piece by piece.

use turnstile_chassis::Pieces;
use turnstile_types::{Sink, put_flag, put_instant, put_u8, put_u16, put_u32, put_u64};

use super::MAGIC;
use crate::{
    Cash, Exchange, Side,
    accounts::Account,
    clients::Client,
    codec::{
        put_account, put_cash, put_client_id, put_decimal, put_end_reason, put_option,
        put_patience, put_self_trade, put_side, put_symbol, put_ticket_state, put_u32_option,
        put_u64_option,
    },
    ledger::{Row, State},
    symbols::Listed,
};

pub(crate) fn write(exchange: &Exchange, out: &mut dyn Sink) {
    let mut pieces = Pieces::to(out);
    pieces.put(|buffer| {
        buffer.extend_from_slice(MAGIC);
        put_u64(buffer, exchange.ledger.accepted);
        put_u64(buffer, exchange.trades);
        put_cash(buffer, Cash(exchange.cash));
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
    pieces.finish();
}

fn put_holder(buffer: &mut Vec<u8>, account: &Account) {
    put_account(buffer, &account.id);
    put_cash(buffer, Cash(account.free));
    let bounds = account.bounds();
    put_u32_option(buffer, bounds.open_orders);
    put_option(buffer, bounds.quantity.as_ref(), put_decimal);
    put_option(buffer, bounds.notional.as_ref(), |out, &cash| {
        put_cash(out, cash);
    });
}

fn put_listed(buffer: &mut Vec<u8>, listed: &Listed) {
    put_symbol(buffer, &listed.name);
    put_u8(buffer, listed.scales.price_scale());
    put_u8(buffer, listed.scales.quantity_scale());
    put_flag(buffer, listed.halted);
    put_u64_option(buffer, listed.low);
    put_u64_option(buffer, listed.high);
    put_u64(buffer, listed.issued);
    put_u64(buffer, listed.seq);
    let count = u16::try_from(listed.trades.len()).expect("a thousand trades are kept");
    put_u16(buffer, count);
    for traded in &listed.trades {
        put_u64(buffer, traded.trade);
        put_instant(buffer, traded.at);
        put_u64(buffer, traded.price);
        put_u64(buffer, traded.quantity);
        put_side(buffer, traded.side);
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
                put_option(buffer, reason.as_ref(), |out, &reason| {
                    put_end_reason(out, reason);
                });
            }
        });
    }
}

fn put_order(exchange: &Exchange, row: &Row, buffer: &mut Vec<u8>) {
    put_u64(buffer, row.id.0);
    put_u32(buffer, row.account);
    put_u32(buffer, row.symbol);
    put_side(buffer, row.side);
    put_u64(buffer, row.quantity);
    put_u64(buffer, row.rest);
    put_u64(buffer, row.limit);
    put_instant(buffer, row.since);
    put_patience(buffer, row.patience, row.until);
    put_self_trade(buffer, row.self_trade);
    let client = exchange.ledger.client(row);
    put_option(buffer, client.as_ref(), put_client);
    put_u32(buffer, row.executions.count);
    for executed in exchange.ledger.executions.iter(row.executions) {
        put_u64(buffer, executed.quantity);
        put_u64(buffer, executed.price);
        put_instant(buffer, executed.at);
        put_u64(buffer, executed.counterparty.0);
    }
}

fn put_client(buffer: &mut Vec<u8>, client: &Client) {
    put_client_id(buffer, &client.id);
    put_ticket_state(buffer, client.state);
    put_u32(buffer, client.at_once);
    put_u64(buffer, client.sent.quantity);
    put_u64(buffer, client.sent.limit);
}
