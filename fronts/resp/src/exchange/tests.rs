//! Requests as clients write them, and replies as clients read them, byte by byte.

mod asked;
mod replies;
mod told;

use turnstile_exchange::{AccountId, ClientId, Decimal, Symbol};

fn account(text: &str) -> AccountId {
    AccountId::parse(text.as_bytes()).unwrap()
}

fn symbol(text: &str) -> Symbol {
    Symbol::parse(text.as_bytes()).unwrap()
}

fn client_id(text: &str) -> ClientId {
    ClientId::parse(text.as_bytes()).unwrap()
}

fn decimal(text: &str) -> Decimal {
    Decimal::parse(text.as_bytes()).unwrap()
}
