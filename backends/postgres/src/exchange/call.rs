//! Commands as parameters of the database functions: rows of `exchange.command`, as JSON.

use serde_json::{Value, json};
use turnstile_contract::Request;
use turnstile_exchange::{Command, Decimal, Exchange, Order, OrderRef};
use turnstile_types::Malformed;
use xxhash_rust::xxh3::xxh3_64;

/// A batch of requests as the one argument of `exchange.execute`.
///
/// # Errors
/// One of them is no command of the exchange.
pub(super) fn batch<'a>(requests: impl Iterator<Item = &'a Request>) -> Result<String, Malformed> {
    let calls = requests.map(call).collect::<Result<Vec<_>, _>>()?;
    Ok(Value::from(calls).to_string())
}

/// An order's number as the database has it; it never gives the number zero.
pub(super) fn order_id(order: u64) -> i64 {
    i64::try_from(order).unwrap_or(0)
}

fn call(request: &Request) -> Result<Value, Malformed> {
    let mut call = of_command(&request.command::<Exchange>()?);
    if let Some(key) = request.key() {
        call["principal"] = request.principal.to_string().into();
        call["key"] = key.into();
        call["content"] = xxh3_64(request.bytes()).cast_signed().into();
    }
    Ok(call)
}

/// The fields that a command has. `amount` is a quantity or an amount of cash.
fn of_command(command: &Command) -> Value {
    match command {
        Command::Order(order) => of_order(order),
        Command::Cancel { account, order } => about(
            json!({ "do": "cancel", "account": account.as_str() }),
            order,
        ),
        Command::Replace {
            account,
            order,
            quantity,
            limit,
        } => {
            let call = json!({
                "do": "replace",
                "account": account.as_str(),
                "amount": text(quantity),
                "price": limit.as_ref().map(text),
            });
            about(call, order)
        }
        Command::CreateSymbol {
            symbol,
            price_scale,
            quantity_scale,
        } => json!({
            "do": "create_symbol", "symbol": symbol.as_str(),
            "price_scale": price_scale, "quantity_scale": quantity_scale,
        }),
        Command::SetBand { symbol, low, high } => json!({
            "do": "set_band", "symbol": symbol.as_str(),
            "low": low.as_ref().map(text), "high": high.as_ref().map(text),
        }),
        Command::Halt { symbol, halted } => {
            json!({ "do": "halt", "symbol": symbol.as_str(), "halted": halted })
        }
        Command::Grant {
            account,
            symbol,
            quantity,
        } => json!({
            "do": "grant",
            "account": account.as_str(), "symbol": symbol.as_str(), "amount": text(quantity),
        }),
        Command::CreateAccount {
            account,
            cash: amount,
        }
        | Command::Deposit { account, amount }
        | Command::Withdraw { account, amount } => json!({
            "do": command.code(),
            "account": account.as_str(), "amount": text(amount),
        }),
        Command::CancelAll { account, symbol } => json!({
            "do": "cancel_all",
            "account": account.as_str(), "symbol": symbol.as_deref(),
        }),
        Command::SetLimits {
            account,
            open_orders,
            quantity,
            notional,
        } => json!({
            "do": "set_limits",
            "account": account.as_str(),
            "amount": quantity.as_ref().map(text),
            "price": notional.as_ref().map(text),
            "open_orders": open_orders,
        }),
    }
}

fn of_order(order: &Order) -> Value {
    json!({
        "do": "order",
        "account": order.account.as_str(),
        "symbol": order.symbol.as_str(),
        "side": order.side.code(),
        "amount": text(&order.quantity),
        "price": order.limit.as_ref().map(text),
        "patience": order.time_in_force.code(),
        "until": order.time_in_force.until().map(|until| until.0),
        "self_trade": order.self_trade.code(),
        "client_id": order.client_id.as_deref(),
    })
}

fn text(decimal: &Decimal) -> String {
    decimal.to_string()
}

/// Says which order a call is about.
fn about(mut call: Value, order: &OrderRef) -> Value {
    match order {
        OrderRef::Id(id) => call["order_id"] = order_id(id.0).into(),
        OrderRef::Client(client) => call["client_id"] = client.as_str().into(),
    }
    call
}
