//! Queries about orders.

use crate::{Cursor, Exchange, Execution, OrderId, OrderView, ledger::State, limits};

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
    let start = match start(exchange, account, from) {
        PageStart::At(row) => row,
        PageStart::Nowhere => return (Vec::new(), None),
        PageStart::Behind(id) => return (Vec::new(), Some(Cursor(id.0))),
    };
    let list = exchange.accounts.at(account).open;
    let (mut orders, mut passed) = (Vec::new(), 0);
    for row in ledger.open_from(list, Some(start)) {
        let order = ledger.at(row);
        let is_wanted = symbol.is_none_or(|symbol| order.symbol == symbol);
        if passed == limits::ORDERS_EXAMINED_MAX || (is_wanted && orders.len() == limit) {
            return (orders, Some(Cursor(order.id.0)));
        }
        if is_wanted {
            orders.push(view(exchange, row));
        } else {
            passed += 1;
        }
    }
    (orders, None)
}

/// Where a page of open orders begins.
enum PageStart {
    At(u32),
    /// There are no orders from the cursor's on.
    Nowhere,
    /// Not found yet: from this id on.
    Behind(OrderId),
}

/// The first open order of an account from an id on.
fn start(exchange: &Exchange, account: u32, from: OrderId) -> PageStart {
    let ledger = &exchange.ledger;
    let list = exchange.accounts.at(account).open;
    let Some(newest) = ledger.newest_open(list).filter(|newest| newest.id >= from) else {
        return PageStart::Nowhere;
    };
    let own_open = |id| {
        ledger.find(id).filter(|&row| {
            let order = ledger.at(row);
            order.is_open() && order.account == account
        })
    };
    // Where the page begins is most often still there; else it is looked for from the oldest.
    if let Some(row) = own_open(from) {
        return PageStart::At(row);
    }
    let oldest = ledger.open_from(list, None);
    let found = oldest
        .take(limits::ORDERS_EXAMINED_MAX)
        .find(|&row| ledger.at(row).id >= from);
    if let Some(row) = found {
        return PageStart::At(row);
    }
    // In a long list it is looked for by the ids that follow; the newest order ends that.
    let mut ids = (from.0..=newest.id.0).take(limits::ORDERS_EXAMINED_MAX);
    let found = ids.find_map(|id| own_open(OrderId(id)));
    found.map_or_else(
        || PageStart::Behind(OrderId(from.0 + limits::ORDERS_EXAMINED_MAX as u64)),
        PageStart::At,
    )
}
