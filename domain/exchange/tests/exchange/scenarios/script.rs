//! The words of a script, and how answers are written.

mod answers;

use turnstile_exchange::{
    Command, Cursor, Event, Exchange, Order, OrderId, OrderRef, Outcome, Query, SelfTrade, Side,
    TimeInForce,
};
use turnstile_trial::{Stage, Words, ms};
use turnstile_types::Timestamp;

use crate::scenery::{account, client, decimal, symbol};

pub(crate) const WORDS: Words<Exchange> = Words { apply, ask, event };

fn digits(text: &str) -> u16 {
    text.parse().unwrap()
}

/// `7` or `id:mine`
fn order_ref(text: &str) -> OrderRef {
    match text.strip_prefix("id:") {
        Some(id) => OrderRef::Client(client(id)),
        None => OrderRef::Id(OrderId(text.parse().unwrap())),
    }
}

/// Any, when it is `-`.
fn optional<T>(text: &str, read: impl FnOnce(&str) -> T) -> Option<T> {
    (text != "-").then(|| read(text))
}

fn self_trade(text: &str) -> SelfTrade {
    match text {
        "allow" => SelfTrade::Allow,
        "skip" => SelfTrade::Skip,
        "maker" => SelfTrade::ExpireMaker,
        "taker" => SelfTrade::ExpireTaker,
        "both" => SelfTrade::ExpireBoth,
        other => panic!("no way with one's own orders: {other}"),
    }
}

fn apply(stage: &mut Stage<Exchange>, words: &[&str]) -> String {
    let command = match words {
        [side @ ("buy" | "sell"), rest @ ..] => Command::Order(order(stage.now, side, rest)),
        ["account", id, cash] => Command::CreateAccount {
            account: account(id),
            cash: decimal(cash),
        },
        ["symbol", name, price, quantity] => Command::CreateSymbol {
            symbol: symbol(name),
            price_scale: price.parse().unwrap(),
            quantity_scale: quantity.parse().unwrap(),
        },
        ["grant", id, name, quantity] => Command::Grant {
            account: account(id),
            symbol: symbol(name),
            quantity: decimal(quantity),
        },
        ["deposit", id, amount] => Command::Deposit {
            account: account(id),
            amount: decimal(amount),
        },
        ["withdraw", id, amount] => Command::Withdraw {
            account: account(id),
            amount: decimal(amount),
        },
        words => later_command(words),
    };
    match stage.apply(&command) {
        Outcome::Done(done) => answers::done(&done),
        Outcome::Refused(refusal) => answers::refusal(&refusal),
    }
}

/// `buy ACCOUNT SYMBOL QUANTITY LIMIT|market [ioc|fok|post|until=5m] [self=skip] [id=mine]`
fn order(now: u64, side: &str, words: &[&str]) -> Order {
    let [who, name, quantity, limit, options @ ..] = words else {
        panic!("an order has an account, a symbol, a quantity and a limit: {words:?}");
    };
    let market = *limit == "market";
    let mut order = Order {
        account: account(who),
        symbol: symbol(name),
        side: if side == "buy" { Side::Buy } else { Side::Sell },
        quantity: decimal(quantity),
        limit: (!market).then(|| decimal(limit)),
        time_in_force: if market {
            TimeInForce::ImmediateOrCancel
        } else {
            TimeInForce::GoodTillCancel
        },
        self_trade: SelfTrade::ExpireTaker,
        client_id: None,
    };
    for option in options {
        match option.split_once('=').unwrap_or((option, "")) {
            ("gtc", _) => order.time_in_force = TimeInForce::GoodTillCancel,
            ("ioc", _) => order.time_in_force = TimeInForce::ImmediateOrCancel,
            ("fok", _) => order.time_in_force = TimeInForce::FillOrKill,
            ("post", _) => order.time_in_force = TimeInForce::PostOnly,
            ("until", time) => {
                let until = Timestamp(now + ms(time));
                order.time_in_force = TimeInForce::GoodTillDate(until);
            }
            ("self", mode) => order.self_trade = self_trade(mode),
            ("id", id) => order.client_id = Some(client(id)),
            (other, _) => panic!("no such option: {other}"),
        }
    }
    order
}

fn event(event: &Event) -> String {
    format!("{}\n", answers::event(event))
}

fn ask(stage: &Stage<Exchange>, verb: &str, words: &[&str]) -> String {
    let cursor = |text: &str| optional(text, |text| Cursor(text.parse().unwrap()));
    let query = match (verb, words) {
        ("balance", [id, from, limit]) => Query::Account {
            account: account(id),
            cursor: cursor(from),
            limit: digits(limit),
        },
        ("accounts", [from, limit]) => Query::Accounts {
            cursor: cursor(from),
            limit: digits(limit),
        },
        ("symbols", [from, limit]) => Query::Symbols {
            cursor: cursor(from),
            limit: digits(limit),
        },
        ("symbol", [name]) => Query::Symbol {
            symbol: symbol(name),
        },
        ("order", [order, who]) => Query::Order {
            account: optional(who, account),
            order: order_ref(order),
        },
        ("orders", [id, name, from, limit]) => Query::Orders {
            account: account(id),
            symbol: optional(name, symbol),
            cursor: cursor(from),
            limit: digits(limit),
        },
        ("depth", [name, levels]) => Query::Depth {
            symbol: symbol(name),
            levels: digits(levels),
        },
        ("queue", [name, limit]) => Query::Queue {
            symbol: symbol(name),
            limit: digits(limit),
        },
        ("trades", [name, from, limit]) => Query::Trades {
            symbol: symbol(name),
            cursor: cursor(from),
            limit: digits(limit),
        },
        ("totals", []) => Query::Totals,
        _ => panic!("no such question: {verb} {words:?}"),
    };
    answers::answer(&stage.query(&query))
}

fn later_command(words: &[&str]) -> Command {
    match words {
        ["cancel", id, order] => Command::Cancel {
            account: account(id),
            order: order_ref(order),
        },
        ["replace", id, order, quantity, limit] => Command::Replace {
            account: account(id),
            order: order_ref(order),
            quantity: decimal(quantity),
            limit: optional(limit, decimal),
        },
        ["cancelall", id, name] => Command::CancelAll {
            account: account(id),
            symbol: optional(name, symbol),
        },
        ["band", name, low, high] => Command::SetBand {
            symbol: symbol(name),
            low: optional(low, decimal),
            high: optional(high, decimal),
        },
        [verb @ ("halt" | "resume"), name] => Command::Halt {
            symbol: symbol(name),
            halted: *verb == "halt",
        },
        ["limits", id, orders, quantity, notional] => Command::SetLimits {
            account: account(id),
            open_orders: optional(orders, |text| text.parse().unwrap()),
            quantity: optional(quantity, decimal),
            notional: optional(notional, decimal),
        },
        _ => panic!("no such command: {words:?}"),
    }
}
