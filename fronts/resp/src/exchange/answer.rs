//! Answers to queries as replies: maps in RESP3, flat arrays of fields and values in RESP2.

use turnstile_exchange::{
    AccountView, Answer, Cursor, Decimal, DepthView, Execution, OrderView, QueuedOrder, SymbolView,
    Totals, Trade,
};

use super::{
    fields::{Field, Value},
    outcome::put_refusal,
};
use crate::{
    Encoder,
    verdict::{put_fields, put_map},
};

/// Appends what was answered to a query. A listing is its entries and where the next page begins,
/// if there is one. A field that is not set is null.
pub fn put_answer(reply: &mut Encoder<'_>, answer: &Answer) {
    match answer {
        Answer::Account(account) => put_account(reply, account),
        Answer::Accounts { accounts, next } => {
            put_page(reply, "accounts", accounts, *next, |reply, account| {
                put_map(reply, &account_fields(account));
            });
        }
        Answer::Symbols { symbols, next } => {
            put_page(reply, "symbols", symbols, *next, put_symbol);
        }
        Answer::Symbol(symbol) => put_symbol(reply, symbol),
        Answer::Order(order) => put_order(reply, order),
        Answer::Orders { orders, next } => put_page(reply, "orders", orders, *next, put_order),
        Answer::Depth(depth) => put_depth(reply, depth),
        Answer::Queue {
            symbol,
            seq,
            bids,
            asks,
        } => {
            reply.map(4);
            put_fields(reply, &book_fields(symbol, *seq));
            put_list(reply, "bids", bids, put_queued);
            put_list(reply, "asks", asks, put_queued);
        }
        Answer::Trades { trades, next } => put_page(reply, "trades", trades, *next, put_trade),
        Answer::Totals(totals) => put_totals(reply, totals),
        Answer::Refused(refusal) => put_refusal(reply, refusal),
    }
}

/// The figures of `INFO`, in its words.
#[must_use]
pub fn facts(totals: &Totals) -> [(&'static str, u64); 5] {
    [
        ("exchange_accounts", u64::from(totals.accounts)),
        ("exchange_symbols", u64::from(totals.symbols)),
        ("exchange_open_orders", u64::from(totals.open_orders)),
        ("exchange_orders_total", totals.orders),
        ("exchange_trades_total", totals.trades),
    ]
}

fn put_list<T>(
    reply: &mut Encoder<'_>,
    name: &str,
    entries: &[T],
    put: impl Fn(&mut Encoder<'_>, &T),
) {
    reply.text(name);
    reply.array(entries.len());
    for entry in entries {
        put(reply, entry);
    }
}

fn put_page<T>(
    reply: &mut Encoder<'_>,
    name: &str,
    entries: &[T],
    next: Option<Cursor>,
    put: impl Fn(&mut Encoder<'_>, &T),
) {
    reply.map(2);
    put_list(reply, name, entries, put);
    put_next(reply, next);
}

fn put_next(reply: &mut Encoder<'_>, next: Option<Cursor>) {
    reply.text("next");
    match next {
        Some(Cursor(next)) => reply.shown(next),
        None => reply.null(),
    }
}

fn account_fields(account: &AccountView) -> [Field<'_>; 7] {
    [
        ("account", Value::Text(&account.account)),
        ("free", Value::Cash(account.free)),
        ("reserved", Value::Cash(account.reserved)),
        ("open_orders", Value::count(account.open_orders)),
        (
            "limit_open_orders",
            account
                .limit_open_orders
                .map_or(Value::Nothing, Value::count),
        ),
        ("limit_quantity", Value::optional(account.limit_quantity)),
        (
            "limit_notional",
            account.limit_notional.map_or(Value::Nothing, Value::Cash),
        ),
    ]
}

fn put_account(reply: &mut Encoder<'_>, account: &AccountView) {
    let fields = account_fields(account);
    reply.map(fields.len() + 2);
    put_fields(reply, &fields);
    put_list(
        reply,
        "positions",
        &account.positions,
        |reply, (symbol, free, reserved)| {
            put_map(
                reply,
                &[
                    ("symbol", Value::Text(symbol)),
                    ("free", Value::Decimal(*free)),
                    ("reserved", Value::Decimal(*reserved)),
                ],
            );
        },
    );
    put_next(reply, account.next);
}

fn put_symbol(reply: &mut Encoder<'_>, view: &SymbolView) {
    put_map(
        reply,
        &[
            ("symbol", Value::Text(&view.symbol)),
            ("price_scale", Value::Number(u64::from(view.price_scale))),
            (
                "quantity_scale",
                Value::Number(u64::from(view.quantity_scale)),
            ),
            ("halted", Value::Boolean(view.halted)),
            ("low", Value::optional(view.low)),
            ("high", Value::optional(view.high)),
            ("issued", Value::Decimal(view.issued)),
            ("open_orders", Value::count(view.open_orders)),
            ("seq", Value::Number(view.seq)),
            ("last_price", Value::optional(view.last_price)),
        ],
    );
}

fn put_order(reply: &mut Encoder<'_>, order: &OrderView) {
    let until = order.time_in_force.until();
    let client_id = order.client_id.as_deref();
    let fields = [
        ("order", Value::order(order.order)),
        ("state", Value::Text(order.state().code())),
        ("account", Value::Text(&order.account)),
        ("client_id", client_id.map_or(Value::Nothing, Value::Text)),
        ("symbol", Value::Text(&order.symbol)),
        ("side", Value::Text(order.side.code())),
        ("quantity", Value::Decimal(order.quantity)),
        ("limit", Value::optional(order.limit)),
        ("open", Value::Decimal(order.open)),
        ("time_in_force", Value::Text(order.time_in_force.code())),
        ("until", until.map_or(Value::Nothing, Value::Instant)),
        ("self_trade", Value::Text(order.self_trade.code())),
        ("since", Value::Instant(order.since)),
    ];
    reply.map(fields.len() + 2);
    put_fields(reply, &fields);
    reply.text("cancelled");
    match order.cancelled {
        None => reply.null(),
        Some((quantity, at, reason)) => put_map(
            reply,
            &[
                ("quantity", Value::Decimal(quantity)),
                ("at", Value::Instant(at)),
                ("reason", Value::Text(reason.code())),
            ],
        ),
    }
    put_list(reply, "executions", &order.executions, put_execution);
}

fn put_execution(reply: &mut Encoder<'_>, execution: &Execution) {
    put_map(
        reply,
        &[
            ("quantity", Value::Decimal(execution.quantity)),
            ("price", Value::Decimal(execution.price)),
            ("at", Value::Instant(execution.at)),
            ("counterparty", Value::order(execution.counterparty)),
        ],
    );
}

fn book_fields(symbol: &str, seq: u64) -> [Field<'_>; 2] {
    [("symbol", Value::Text(symbol)), ("seq", Value::Number(seq))]
}

fn put_depth(reply: &mut Encoder<'_>, depth: &DepthView) {
    reply.map(4);
    put_fields(reply, &book_fields(&depth.symbol, depth.seq));
    put_list(reply, "bids", &depth.bids, put_level);
    put_list(reply, "asks", &depth.asks, put_level);
}

fn put_level(reply: &mut Encoder<'_>, (price, quantity, orders): &(Decimal, Decimal, u32)) {
    put_map(
        reply,
        &[
            ("price", Value::Decimal(*price)),
            ("quantity", Value::Decimal(*quantity)),
            ("orders", Value::count(*orders)),
        ],
    );
}

fn put_queued(reply: &mut Encoder<'_>, queued: &QueuedOrder) {
    put_map(
        reply,
        &[
            ("order", Value::order(queued.order)),
            ("price", Value::Decimal(queued.price)),
            ("quantity", Value::Decimal(queued.quantity)),
        ],
    );
}

fn put_trade(reply: &mut Encoder<'_>, trade: &Trade) {
    put_map(
        reply,
        &[
            ("trade", Value::Number(trade.trade)),
            ("at", Value::Instant(trade.at)),
            ("price", Value::Decimal(trade.price)),
            ("quantity", Value::Decimal(trade.quantity)),
            ("side", Value::Text(trade.side.code())),
            ("maker", Value::order(trade.maker)),
            ("taker", Value::order(trade.taker)),
        ],
    );
}

fn put_totals(reply: &mut Encoder<'_>, totals: &Totals) {
    put_map(
        reply,
        &[
            ("accounts", Value::count(totals.accounts)),
            ("symbols", Value::count(totals.symbols)),
            ("open_orders", Value::count(totals.open_orders)),
            ("orders_total", Value::Number(totals.orders)),
            ("trades_total", Value::Number(totals.trades)),
            ("remembered", Value::count(totals.remembered)),
            ("cash", Value::Cash(totals.cash)),
        ],
    );
}
