//! Queries about orders.

use crate::{Cursor, Exchange, Execution, OrderId, OrderView, ledger::State};

pub(super) fn view(exchange: &Exchange, row: u32) -> OrderView {
    let ledger = &exchange.ledger;
    let order = ledger.at(row);
    let listed = exchange.symbols.at(order.symbol);
    let scales = listed.scales;
    let (open, cancelled) = match order.state {
        State::Arriving | State::Open { .. } => (order.rest, None),
        State::Ended { at, reason, .. } => {
            let cancelled = reason.map(|reason| (scales.quantity(order.rest), at, reason));
            (0, cancelled)
        }
    };
    let executions = ledger.executions.iter(order.executions);
    OrderView {
        order: order.id,
        client_id: ledger.client_id(order),
        account: exchange.accounts.at(order.account).id,
        symbol: listed.name,
        side: order.side,
        quantity: scales.quantity(order.quantity),
        limit: (order.limit > 0).then(|| scales.price(order.limit)),
        time_in_force: order.time_in_force(),
        self_trade: order.self_trade,
        since: order.since,
        open: scales.quantity(open),
        cancelled,
        executions: executions
            .map(|executed| Execution {
                quantity: scales.quantity(executed.quantity),
                price: scales.price(executed.price),
                at: executed.at,
                counterparty: executed.counterparty,
            })
            .collect(),
    }
}

/// A page of an account's open orders, by id, from the cursor's on.
pub(super) fn open(
    exchange: &Exchange,
    account: u32,
    symbol: Option<u32>,
    cursor: Option<Cursor>,
    limit: usize,
) -> (Vec<OrderView>, Option<Cursor>) {
    let ledger = &exchange.ledger;
    let from = OrderId(cursor.map_or(0, |Cursor(id)| id));
    // Where the page begins is most often still there; else it is looked for from the oldest.
    let start = ledger.find(from).filter(|&row| {
        let order = ledger.at(row);
        order.is_open() && order.account == account
    });
    let list = exchange.accounts.at(account).open;
    let mut rest = ledger.open_from(list, start).filter(|&row| {
        let order = ledger.at(row);
        order.id >= from && symbol.is_none_or(|symbol| order.symbol == symbol)
    });
    let orders = rest.by_ref().take(limit);
    let orders = orders.map(|row| view(exchange, row)).collect();
    let next = rest.next().map(|row| Cursor(ledger.at(row).id.0));
    (orders, next)
}
