//! Whether a machine says what the model knows.

use turnstile_exchange::{
    Answer, Cash, Exchange, Execution, OrderId, OrderRef, OrderView, Query, Refusal, Symbol,
};
use turnstile_types::{Machine, Principal, Timestamp};

use super::{Market, Placed, Shown, ensure, units};

/// More than there are symbols.
const SYMBOLS_MAX: u16 = 100;

impl Market {
    /// Compares every account and every order that must be remembered.
    pub(super) fn compare(&self, now: Timestamp, exchange: &Exchange) -> Shown {
        let totals = exchange.totals();
        let resting = self.orders.values().filter(|order| order.arrival.is_some());
        let found = (
            totals.orders,
            totals.trades,
            totals.cash,
            totals.open_orders,
        );
        let expected = (
            self.orders.len() as u64,
            self.trades,
            Cash(self.cash.values().sum()),
            u32::try_from(resting.count()).expect("a history has few orders"),
        );
        ensure(found == expected, || {
            format!("{found:?} orders, trades, cash and open orders, not {expected:?}")
        })?;
        self.accounts_agree(now, exchange)?;
        let mut orders = self.orders.iter();
        orders.try_for_each(|(id, order)| order_agrees(now, exchange, *id, order))
    }

    fn accounts_agree(&self, now: Timestamp, exchange: &Exchange) -> Shown {
        for (&account, &cash) in &self.cash {
            let query = Query::Account {
                account,
                cursor: None,
                limit: SYMBOLS_MAX,
            };
            let Answer::Account(found) = exchange.query(now, &Principal::local(), &query) else {
                return Err(format!("account {account} is gone"));
            };
            let reserved = self.reserved_cash(account);
            let same = (found.free.0, found.reserved.0) == (cash - reserved, reserved);
            let held = found
                .positions
                .iter()
                .filter(|(_, free, reserved)| !free.is_zero() || !reserved.is_zero());
            let mut held: Vec<(Symbol, u128, u128)> = held
                .map(|&(symbol, free, reserved)| (symbol, units(free), units(reserved)))
                .collect();
            held.sort_unstable();
            let own = self
                .shares
                .iter()
                .filter(|((owner, _), shares)| *owner == account && **shares > 0);
            let expected: Vec<(Symbol, u128, u128)> = own
                .map(|(&(_, symbol), &shares)| {
                    let reserved = self.reserved_shares(account, symbol);
                    (symbol, shares - reserved, reserved)
                })
                .collect();
            ensure(same && held == expected, || {
                format!("{found:?}: not {cash}, of it {reserved} reserved, and {expected:?}")
            })?;
        }
        Ok(())
    }
}

fn order_agrees(now: Timestamp, exchange: &Exchange, id: OrderId, order: &Placed) -> Shown {
    let query = Query::Order {
        account: None,
        order: OrderRef::Id(id),
    };
    let found = match exchange.query(now, &Principal::local(), &query) {
        Answer::Order(found) => found,
        Answer::Refused(Refusal::NotFound) if order.may_be_forgotten(now) => return Ok(()),
        other => return Err(format!("order {id} is {other:?}, not {order:?}")),
    };
    let traded = |executions: &[Execution]| -> u128 {
        executions
            .iter()
            .map(|executed| units(executed.quantity))
            .sum()
    };
    let cancelled = order.cancelled.map_or(0, |(quantity, ..)| units(quantity));
    let expected = OrderView {
        order: id,
        client_id: order.sent.client_id,
        account: order.sent.account,
        symbol: order.sent.symbol,
        side: order.sent.side,
        limit: order.limit,
        time_in_force: order.sent.time_in_force,
        self_trade: order.sent.self_trade,
        cancelled: order.cancelled,
        executions: order.executions.clone(),
        // These two are sums, and compared as such.
        quantity: found.quantity,
        open: found.open,
        since: found.since,
    };
    let sums = (units(found.quantity), units(found.open));
    let whole = order.open + traded(&order.executions) + cancelled;
    ensure(found == expected && sums == (whole, order.open), || {
        format!("order {id} is {found:?}, not {order:?}")
    })
}
