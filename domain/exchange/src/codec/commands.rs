//! Commands as bytes.

use turnstile_types::{Malformed, Reader, put_flag, put_u8};

use super::fields::{
    account, client_id, decimal, option, order_ref, put_account, put_client_id, put_decimal,
    put_option, put_order_ref, put_patience, put_self_trade, put_side, put_symbol, put_u32_option,
    self_trade, side, symbol, time_in_force,
};
use crate::{Command, Order, ledger::Patience};

pub(crate) fn put_command(command: &Command, out: &mut Vec<u8>) {
    match command {
        Command::CreateAccount { account, cash } => {
            put_u8(out, 0x01);
            put_account(out, account);
            put_decimal(out, cash);
        }
        Command::CreateSymbol {
            symbol,
            price_scale,
            quantity_scale,
        } => {
            put_u8(out, 0x02);
            put_symbol(out, symbol);
            put_u8(out, *price_scale);
            put_u8(out, *quantity_scale);
        }
        Command::Grant {
            account,
            symbol,
            quantity,
        } => {
            put_u8(out, 0x03);
            put_account(out, account);
            put_symbol(out, symbol);
            put_decimal(out, quantity);
        }
        Command::Deposit { account, amount } => {
            put_u8(out, 0x04);
            put_account(out, account);
            put_decimal(out, amount);
        }
        Command::Withdraw { account, amount } => {
            put_u8(out, 0x05);
            put_account(out, account);
            put_decimal(out, amount);
        }
        Command::Order(order) => put_order(out, order),
        Command::Cancel { .. } | Command::Replace { .. } | Command::CancelAll { .. } => {
            put_order_command(command, out);
        }
        Command::SetBand { .. } | Command::Halt { .. } | Command::SetLimits { .. } => {
            put_rule(command, out);
        }
    }
}

fn put_order(out: &mut Vec<u8>, order: &Order) {
    put_u8(out, 0x06);
    put_account(out, &order.account);
    put_symbol(out, &order.symbol);
    put_side(out, order.side);
    put_decimal(out, &order.quantity);
    put_option(out, order.limit.as_ref(), put_decimal);
    let (patience, until) = Patience::of(order.time_in_force);
    put_patience(out, patience, until);
    put_self_trade(out, order.self_trade);
    put_option(out, order.client_id.as_ref(), put_client_id);
}

/// The commands about orders that are there.
fn put_order_command(command: &Command, out: &mut Vec<u8>) {
    match command {
        Command::Cancel { account, order } => {
            put_u8(out, 0x07);
            put_account(out, account);
            put_order_ref(out, order);
        }
        Command::Replace {
            account,
            order,
            quantity,
            limit,
        } => {
            put_u8(out, 0x08);
            put_account(out, account);
            put_order_ref(out, order);
            put_decimal(out, quantity);
            put_option(out, limit.as_ref(), put_decimal);
        }
        Command::CancelAll { account, symbol } => {
            put_u8(out, 0x09);
            put_account(out, account);
            put_option(out, symbol.as_ref(), put_symbol);
        }
        Command::CreateAccount { .. }
        | Command::CreateSymbol { .. }
        | Command::Grant { .. }
        | Command::Deposit { .. }
        | Command::Withdraw { .. }
        | Command::Order(_)
        | Command::SetBand { .. }
        | Command::Halt { .. }
        | Command::SetLimits { .. } => unreachable!("the caller wrote these"),
    }
}

/// The commands that say what may be done.
fn put_rule(command: &Command, out: &mut Vec<u8>) {
    match command {
        Command::SetBand { symbol, low, high } => {
            put_u8(out, 0x0a);
            put_symbol(out, symbol);
            put_option(out, low.as_ref(), put_decimal);
            put_option(out, high.as_ref(), put_decimal);
        }
        Command::Halt { symbol, halted } => {
            put_u8(out, 0x0b);
            put_symbol(out, symbol);
            put_flag(out, *halted);
        }
        Command::SetLimits {
            account,
            open_orders,
            quantity,
            notional,
        } => {
            put_u8(out, 0x0c);
            put_account(out, account);
            put_u32_option(out, *open_orders);
            put_option(out, quantity.as_ref(), put_decimal);
            put_option(out, notional.as_ref(), put_decimal);
        }
        Command::CreateAccount { .. }
        | Command::CreateSymbol { .. }
        | Command::Grant { .. }
        | Command::Deposit { .. }
        | Command::Withdraw { .. }
        | Command::Order(_)
        | Command::Cancel { .. }
        | Command::Replace { .. }
        | Command::CancelAll { .. } => unreachable!("the caller wrote these"),
    }
}

pub(crate) fn command(bytes: &[u8]) -> Result<Command, Malformed> {
    let mut reader = Reader::new(bytes);
    let r = &mut reader;
    let command = match r.u8("command")? {
        0x01 => Command::CreateAccount {
            account: account(r)?,
            cash: decimal(r, "cash")?,
        },
        0x02 => Command::CreateSymbol {
            symbol: symbol(r)?,
            price_scale: r.u8("price scale")?,
            quantity_scale: r.u8("quantity scale")?,
        },
        0x03 => Command::Grant {
            account: account(r)?,
            symbol: symbol(r)?,
            quantity: decimal(r, "quantity")?,
        },
        0x04 => Command::Deposit {
            account: account(r)?,
            amount: decimal(r, "amount")?,
        },
        0x05 => Command::Withdraw {
            account: account(r)?,
            amount: decimal(r, "amount")?,
        },
        0x06 => Command::Order(Order {
            account: account(r)?,
            symbol: symbol(r)?,
            side: side(r)?,
            quantity: decimal(r, "quantity")?,
            limit: option(r, "limit", decimal)?,
            time_in_force: time_in_force(r)?,
            self_trade: self_trade(r)?,
            client_id: option(r, "client id", |r, _| client_id(r))?,
        }),
        kind => later_command(kind, r)?,
    };
    reader.finish("command")?;
    Ok(command)
}

fn later_command(kind: u8, r: &mut Reader<'_>) -> Result<Command, Malformed> {
    Ok(match kind {
        0x07 => Command::Cancel {
            account: account(r)?,
            order: order_ref(r)?,
        },
        0x08 => Command::Replace {
            account: account(r)?,
            order: order_ref(r)?,
            quantity: decimal(r, "quantity")?,
            limit: option(r, "limit", decimal)?,
        },
        0x09 => Command::CancelAll {
            account: account(r)?,
            symbol: option(r, "symbol", |r, _| symbol(r))?,
        },
        0x0a => Command::SetBand {
            symbol: symbol(r)?,
            low: option(r, "low", decimal)?,
            high: option(r, "high", decimal)?,
        },
        0x0b => Command::Halt {
            symbol: symbol(r)?,
            halted: r.flag("halted")?,
        },
        0x0c => Command::SetLimits {
            account: account(r)?,
            open_orders: option(r, "open orders", Reader::u32)?,
            quantity: option(r, "quantity", decimal)?,
            notional: option(r, "notional", decimal)?,
        },
        _ => return Err(Malformed { field: "command" }),
    })
}
