//! Names, numbers and orders, as tests write them.

use turnstile_exchange::{AccountId, ClientId, Decimal, Exchange, Symbol};
use turnstile_types::{Context, Machine, Position, Principal, Timestamp};

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

pub(crate) fn context(position: u64, now: u64, principal: &Principal) -> Context<'_> {
    Context {
        position: Position(position),
        now: Timestamp(now),
        principal,
    }
}

pub(crate) fn bytes_of(exchange: &Exchange) -> Vec<u8> {
    let mut bytes = Vec::new();
    exchange.snapshot(&mut bytes);
    bytes
}
