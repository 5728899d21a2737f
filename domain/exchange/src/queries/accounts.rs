//! Queries about accounts.

use super::number;
use crate::{AccountView, Cash, Cursor, Exchange};

/// An account without its positions.
pub(super) fn summary(exchange: &Exchange, number: u32) -> AccountView {
    let account = exchange.accounts.at(number);
    let bounds = account.bounds();
    AccountView {
        account: account.id,
        free: Cash(account.free),
        reserved: Cash(account.reserved),
        open_orders: account.open.count,
        limit_open_orders: bounds.open_orders,
        limit_quantity: bounds.quantity,
        limit_notional: bounds.notional,
        positions: Vec::new(),
        next: None,
    }
}

/// An account with a page of its positions, by symbol.
pub(super) fn holdings(
    exchange: &Exchange,
    account: u32,
    cursor: Option<Cursor>,
    limit: u16,
) -> AccountView {
    let mut rest = exchange.positions.of(account, number(cursor));
    let positions = rest
        .by_ref()
        .take(usize::from(limit))
        .map(|position| {
            let listed = exchange.symbols.at(position.symbol);
            let scales = listed.scales;
            (
                listed.name,
                scales.quantity(position.free),
                scales.quantity(position.reserved),
            )
        })
        .collect();
    AccountView {
        positions,
        next: rest
            .next()
            .map(|position| Cursor(u64::from(position.symbol))),
        ..summary(exchange, account)
    }
}
