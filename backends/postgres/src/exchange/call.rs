//! Commands as parameters of the database functions: rows of `exchange.command`, as JSON.

use serde::Serialize;
use turnstile_contract::Request;
use turnstile_exchange::{AccountId, Command, Decimal, Exchange, Order, OrderRef, Symbol};
use turnstile_types::Malformed;
use xxhash_rust::xxh3::xxh3_64;

/// What a command does not need is left out.
#[derive(Debug, Default, Serialize)]
struct Call {
    r#do: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    principal: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    account: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    symbol: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    side: Option<&'static str>,
    /// A quantity or an amount of cash, as a decimal.
    #[serde(skip_serializing_if = "Option::is_none")]
    amount: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    price: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    low: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    high: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    patience: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    until: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    self_trade: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    client_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    order_id: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    price_scale: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    quantity_scale: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    open_orders: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    halted: Option<bool>,
}

/// A batch of requests as the one argument of `exchange.execute`.
///
/// # Errors
/// One of them is no command of the exchange.
pub(super) fn batch<'a>(requests: impl Iterator<Item = &'a Request>) -> Result<String, Malformed> {
    let calls = requests.map(call).collect::<Result<Vec<_>, _>>()?;
    Ok(serde_json::to_string(&calls).expect("strings and numbers are JSON"))
}

/// An order's number as the database has it; it never gives the number zero.
pub(super) fn order_id(order: u64) -> i64 {
    i64::try_from(order).unwrap_or(0)
}

fn call(request: &Request) -> Result<Call, Malformed> {
    let mut call = of_command(&request.command::<Exchange>()?);
    if let Some(key) = request.key() {
        call.principal = Some(request.principal.to_string());
        call.key = Some(key.to_owned());
        call.content = Some(xxh3_64(request.bytes()).cast_signed());
    }
    Ok(call)
}

fn of_command(command: &Command) -> Call {
    match command {
        Command::Order(order) => of_order(order),
        Command::Cancel { account, order } => about("cancel", account, order),
        Command::Replace {
            account,
            order,
            quantity,
            limit,
        } => Call {
            amount: Some(quantity.to_string()),
            price: limit.map(|limit| limit.to_string()),
            ..about("replace", account, order)
        },
        Command::CreateSymbol {
            symbol,
            price_scale,
            quantity_scale,
        } => Call {
            price_scale: Some(*price_scale),
            quantity_scale: Some(*quantity_scale),
            ..on("create_symbol", symbol)
        },
        Command::SetBand { symbol, low, high } => Call {
            low: low.map(|low| low.to_string()),
            high: high.map(|high| high.to_string()),
            ..on("set_band", symbol)
        },
        Command::Halt { symbol, halted } => Call {
            halted: Some(*halted),
            ..on("halt", symbol)
        },
        Command::Grant {
            account,
            symbol,
            quantity,
        } => Call {
            symbol: Some(symbol.to_string()),
            ..of_account("grant", account, Some(quantity))
        },
        Command::CreateAccount { account, cash } => {
            of_account("create_account", account, Some(cash))
        }
        Command::Deposit { account, amount } => of_account("deposit", account, Some(amount)),
        Command::Withdraw { account, amount } => of_account("withdraw", account, Some(amount)),
        Command::CancelAll { account, symbol } => Call {
            symbol: symbol.map(|symbol| symbol.to_string()),
            ..of_account("cancel_all", account, None)
        },
        Command::SetLimits {
            account,
            open_orders,
            quantity,
            notional,
        } => Call {
            open_orders: *open_orders,
            price: notional.map(|notional| notional.to_string()),
            ..of_account("set_limits", account, quantity.as_ref())
        },
    }
}

fn of_account(verb: &'static str, account: &AccountId, amount: Option<&Decimal>) -> Call {
    Call {
        r#do: verb,
        account: Some(account.to_string()),
        amount: amount.map(ToString::to_string),
        ..Call::default()
    }
}

fn of_order(order: &Order) -> Call {
    Call {
        account: Some(order.account.to_string()),
        side: Some(order.side.code()),
        amount: Some(order.quantity.to_string()),
        price: order.limit.map(|limit| limit.to_string()),
        patience: Some(order.time_in_force.code()),
        until: order.time_in_force.until().map(|until| until.0),
        self_trade: Some(order.self_trade.code()),
        client_id: order.client_id.map(|id| id.to_string()),
        ..on("order", &order.symbol)
    }
}

fn about(verb: &'static str, account: &AccountId, order: &OrderRef) -> Call {
    let (id, client) = match order {
        OrderRef::Id(id) => (Some(order_id(id.0)), None),
        OrderRef::Client(client) => (None, Some(client.to_string())),
    };
    Call {
        order_id: id,
        client_id: client,
        ..of_account(verb, account, None)
    }
}

fn on(verb: &'static str, symbol: &Symbol) -> Call {
    Call {
        r#do: verb,
        symbol: Some(symbol.to_string()),
        ..Call::default()
    }
}
