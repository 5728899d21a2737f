//! The operations of the exchange.

use std::sync::Arc;

use axum::{
    extract::State,
    routing::{MethodFilter, MethodRouter, on},
};
use turnstile_exchange::{Command, Exchange};
use turnstile_http::exchange::{
    self, CashAmount, MassCancellation, NewAccount, NewBand, NewGrant, NewLimits, NewOrder,
    NewSymbol, OrderCancellation, OrderReplacement, account_in, order_in, symbol_in,
};

use super::{Answered, OnePath, Order, TheDoor, execute, part, read};
use crate::doors::http::{Door, call::Call};

const PAGED: &[&str] = &["limit", "cursor"];

pub(super) fn function(filter: MethodFilter, id: &str) -> Option<MethodRouter<Arc<Door>>> {
    Some(match id {
        "placeOrder" => on(filter, place_order),
        "getOrder" => on(filter, get_order),
        "cancelOrder" => on(filter, cancel_order),
        "replaceOrder" => on(filter, replace_order),
        "cancelOrders" => on(filter, cancel_orders),
        "getBook" => on(filter, get_book),
        "getQueue" => on(filter, get_queue),
        "listTrades" => on(filter, list_trades),
        "createAccount" => on(filter, create_account),
        "listAccounts" => on(filter, list_accounts),
        "getAccount" => on(filter, get_account),
        "deposit" => on(filter, deposit),
        "withdraw" => on(filter, withdraw),
        "setLimits" => on(filter, set_limits),
        "listOrders" => on(filter, list_orders),
        "createSymbol" => on(filter, create_symbol),
        "listSymbols" => on(filter, list_symbols),
        "getSymbol" => on(filter, get_symbol),
        "grant" => on(filter, grant),
        "setBand" => on(filter, set_band),
        "halt" => on(filter, halt),
        "resume" => on(filter, resume),
        _ => return None,
    })
}

/// A command whose request was read. It needs no more of it than its key.
async fn command(door: &Door, call: &Call, command: Command) -> Answered {
    let order = Order::new::<Exchange>(call, &command)?;
    execute::<Exchange>(door, order).await
}

pub(super) async fn place_order(State(door): TheDoor, call: Call) -> Answered {
    let order = call.json::<NewOrder<'_>>()?.order()?;
    command(&door, &call, Command::Order(order)).await
}

async fn get_order(State(door): TheDoor, path: OnePath, call: Call) -> Answered {
    let order = part(path, order_in)?;
    let query = exchange::status(call.parameters(&["account"]), order)?;
    read::<Exchange>(&door, &call, query).await
}

async fn cancel_order(State(door): TheDoor, path: OnePath, call: Call) -> Answered {
    let order = part(path, order_in)?;
    let cancel = call.json::<OrderCancellation<'_>>()?.command(order)?;
    command(&door, &call, cancel).await
}

async fn replace_order(State(door): TheDoor, path: OnePath, call: Call) -> Answered {
    let order = part(path, order_in)?;
    let replace = call.json::<OrderReplacement<'_>>()?.command(order)?;
    command(&door, &call, replace).await
}

async fn cancel_orders(State(door): TheDoor, call: Call) -> Answered {
    let cancel = call.json::<MassCancellation<'_>>()?.command()?;
    command(&door, &call, cancel).await
}

async fn get_book(State(door): TheDoor, path: OnePath, call: Call) -> Answered {
    let symbol = part(path, symbol_in)?;
    let query = exchange::depth(call.parameters(&["levels"]), symbol)?;
    read::<Exchange>(&door, &call, query).await
}

async fn get_queue(State(door): TheDoor, path: OnePath, call: Call) -> Answered {
    let symbol = part(path, symbol_in)?;
    let query = exchange::queue(call.parameters(&["limit"]), symbol)?;
    read::<Exchange>(&door, &call, query).await
}

async fn list_trades(State(door): TheDoor, path: OnePath, call: Call) -> Answered {
    let symbol = part(path, symbol_in)?;
    let query = exchange::trades(call.parameters(PAGED), symbol)?;
    read::<Exchange>(&door, &call, query).await
}

async fn create_account(State(door): TheDoor, call: Call) -> Answered {
    let create = call.json::<NewAccount<'_>>()?.command()?;
    command(&door, &call, create).await
}

async fn list_accounts(State(door): TheDoor, call: Call) -> Answered {
    let query = exchange::accounts(call.parameters(PAGED))?;
    read::<Exchange>(&door, &call, query).await
}

async fn get_account(State(door): TheDoor, path: OnePath, call: Call) -> Answered {
    let account = part(path, account_in)?;
    let query = exchange::account(call.parameters(PAGED), account)?;
    read::<Exchange>(&door, &call, query).await
}

async fn deposit(State(door): TheDoor, path: OnePath, call: Call) -> Answered {
    let account = part(path, account_in)?;
    let amount = call.json::<CashAmount<'_>>()?.amount()?;
    command(&door, &call, Command::Deposit { account, amount }).await
}

async fn withdraw(State(door): TheDoor, path: OnePath, call: Call) -> Answered {
    let account = part(path, account_in)?;
    let amount = call.json::<CashAmount<'_>>()?.amount()?;
    command(&door, &call, Command::Withdraw { account, amount }).await
}

async fn set_limits(State(door): TheDoor, path: OnePath, call: Call) -> Answered {
    let account = part(path, account_in)?;
    let limits = call.json::<NewLimits<'_>>()?.command(account)?;
    command(&door, &call, limits).await
}

async fn list_orders(State(door): TheDoor, path: OnePath, call: Call) -> Answered {
    let account = part(path, account_in)?;
    let known = ["symbol", "limit", "cursor"];
    let query = exchange::orders(call.parameters(&known), account)?;
    read::<Exchange>(&door, &call, query).await
}

async fn create_symbol(State(door): TheDoor, call: Call) -> Answered {
    let create = call.json::<NewSymbol<'_>>()?.command()?;
    command(&door, &call, create).await
}

async fn list_symbols(State(door): TheDoor, call: Call) -> Answered {
    let query = exchange::symbols(call.parameters(PAGED))?;
    read::<Exchange>(&door, &call, query).await
}

async fn get_symbol(State(door): TheDoor, path: OnePath, call: Call) -> Answered {
    let symbol = part(path, symbol_in)?;
    call.parameters(&[]).one("")?;
    let query = turnstile_exchange::Query::Symbol { symbol };
    read::<Exchange>(&door, &call, query).await
}

async fn grant(State(door): TheDoor, path: OnePath, call: Call) -> Answered {
    let symbol = part(path, symbol_in)?;
    let grant = call.json::<NewGrant<'_>>()?.command(symbol)?;
    command(&door, &call, grant).await
}

async fn set_band(State(door): TheDoor, path: OnePath, call: Call) -> Answered {
    let symbol = part(path, symbol_in)?;
    let band = call.json::<NewBand<'_>>()?.command(symbol)?;
    command(&door, &call, band).await
}

async fn halt(door: TheDoor, path: OnePath, call: Call) -> Answered {
    set_halt(door, path, call, true).await
}

async fn resume(door: TheDoor, path: OnePath, call: Call) -> Answered {
    set_halt(door, path, call, false).await
}

async fn set_halt(State(door): TheDoor, path: OnePath, call: Call, halted: bool) -> Answered {
    let symbol = part(path, symbol_in)?;
    call.no_body()?;
    call.parameters(&[]).one("")?;
    command(&door, &call, Command::Halt { symbol, halted }).await
}
