//! Orders that rest: of one account, at many prices of one symbol, half of them on each side.

use anyhow::Result;
use turnstile_exchange::{
    AccountId, ClientId, Command, Decimal, Order, SelfTrade, Side, Symbol, TimeInForce,
};

/// Prices of both sides together.
pub(crate) const LEVELS: u32 = 1_000;

pub(crate) const ACCOUNT: &str = "1";
pub(crate) const SYMBOL: &str = "BENCH";
pub(crate) const PLENTY: &str = "100000000000";

/// What makes the account with enough cash and shares for all orders.
pub(crate) fn setup() -> Result<[Command; 2]> {
    let account = AccountId::parse(ACCOUNT.as_bytes())?;
    let plenty = Decimal::parse(PLENTY.as_bytes())?;
    Ok([
        Command::CreateAccount {
            account,
            cash: plenty,
        },
        Command::Grant {
            account,
            symbol: Symbol::parse(SYMBOL.as_bytes())?,
            quantity: plenty,
        },
    ])
}

/// The side and the price of one of the orders; the two sides never meet.
pub(crate) const fn place(number: u32) -> (Side, u32) {
    let level = number % LEVELS;
    if level < LEVELS / 2 {
        (Side::Buy, 1 + level)
    } else {
        (Side::Sell, 1 + level)
    }
}

/// One of the orders.
pub(crate) fn order(number: u32, client_id: Option<ClientId>) -> Result<Command> {
    let (side, price) = place(number);
    Ok(Command::Order(Order {
        account: AccountId::parse(ACCOUNT.as_bytes())?,
        symbol: Symbol::parse(SYMBOL.as_bytes())?,
        side,
        quantity: Decimal::parse(b"1")?,
        limit: Some(Decimal::parse(price.to_string().as_bytes())?),
        time_in_force: TimeInForce::GoodTillCancel,
        self_trade: SelfTrade::ExpireTaker,
        client_id,
    }))
}
