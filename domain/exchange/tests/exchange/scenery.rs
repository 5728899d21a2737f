//! Names, numbers and orders, as tests write them.

use turnstile_exchange::{
    AccountId, ClientId, Decimal, Order, SelfTrade, Side, Symbol, TimeInForce,
};

pub(crate) fn account(text: &str) -> AccountId {
    AccountId::parse(text.as_bytes()).unwrap()
}

pub(crate) fn symbol(text: &str) -> Symbol {
    Symbol::parse(text.as_bytes()).unwrap()
}

pub(crate) fn client(text: &str) -> ClientId {
    ClientId::parse(text.as_bytes()).unwrap()
}

pub(crate) fn decimal(text: &str) -> Decimal {
    Decimal::parse(text.as_bytes()).unwrap()
}

/// A limit order that waits until it is cancelled.
pub(crate) fn limit_order(who: &str, side: Side, quantity: &str, limit: &str) -> Order {
    Order {
        account: account(who),
        symbol: symbol("X"),
        side,
        quantity: decimal(quantity),
        limit: Some(decimal(limit)),
        time_in_force: TimeInForce::GoodTillCancel,
        self_trade: SelfTrade::ExpireTaker,
        client_id: None,
    }
}
