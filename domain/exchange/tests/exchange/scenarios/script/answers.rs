//! Outcomes, events and answers as lines.

use std::fmt::{Display, Write as _};

use turnstile_exchange::{
    AccountView, Answer, Cursor, Decimal, DepthView, Done, EndReason, Event, EventKind, OrderView,
    Party, QueuedOrder, Refusal, Side, SymbolView, Ticket, TicketState, TimeInForce,
};

/// The value, or `-`.
fn dash(value: Option<impl Display>) -> String {
    value.map_or_else(|| "-".into(), |value| value.to_string())
}

fn side(side: Side) -> &'static str {
    match side {
        Side::Buy => "buy",
        Side::Sell => "sell",
    }
}

fn ticket(ticket: &Ticket) -> String {
    let state = match ticket.state {
        TicketState::Open => format!("open {}", ticket.open),
        TicketState::Filled => "filled".into(),
        TicketState::Ended(reason) => format!("ended {}", reason.code()),
    };
    assert!(ticket.state == TicketState::Open || ticket.open.is_zero());
    format!(
        "order {} {state}, took {} for {}",
        ticket.order, ticket.filled, ticket.value
    )
}

pub(crate) fn done(done: &Done) -> String {
    match done {
        Done::AccountCreated => "account created\n".into(),
        Done::SymbolCreated => "symbol created\n".into(),
        Done::Granted { position } => format!("granted, holds {position}\n"),
        Done::Deposited { cash } => format!("deposited, free {cash}\n"),
        Done::Withdrawn { cash } => format!("withdrawn, free {cash}\n"),
        Done::Accepted { ticket: it, again } => {
            format!("{}{}\n", ticket(it), if *again { ", again" } else { "" })
        }
        Done::Cancelled { order, quantity } => format!("cancelled {quantity} of order {order}\n"),
        Done::Replaced {
            ticket: it,
            kept_place,
        } => {
            let place = if *kept_place { "kept place" } else { "moved" };
            format!("{}, {place}\n", ticket(it))
        }
        Done::AllCancelled { orders } => format!("{orders} orders cancelled\n"),
        Done::BandSet => "band set\n".into(),
        Done::Halted => "halted\n".into(),
        Done::Resumed => "resumed\n".into(),
        Done::LimitsSet => "limits set\n".into(),
    }
}

pub(crate) fn refusal(refusal: &Refusal) -> String {
    let data = match refusal {
        Refusal::TooManyDigits { field, scale } => format!(" {field:?} {scale}"),
        Refusal::TooLarge { field } | Refusal::Zero { field } => format!(" {field:?}"),
        Refusal::InsufficientFunds { needed, free } => format!(" needs {needed} has {free}"),
        Refusal::InsufficientShares { needed, free } => format!(" needs {needed} has {free}"),
        Refusal::OutsideBand { low, high } => format!(" {} .. {}", dash(*low), dash(*high)),
        Refusal::TooManyOpenOrders { limit } | Refusal::Full { limit } => format!(" {limit}"),
        Refusal::QuantityLimit { limit } => format!(" {limit}"),
        Refusal::NotionalLimit { limit } => format!(" {limit}"),
        Refusal::ClientIdReused { order } => format!(" by order {order}"),
        _ => String::new(),
    };
    format!("refused {}{data}\n", refusal.code())
}

fn party(party: &Party) -> String {
    let id = party.client_id.map(|id| format!(" id:{id}"));
    format!(
        "{}@{}{} open {}",
        party.order,
        party.account,
        id.unwrap_or_default(),
        party.open
    )
}

pub(crate) fn event(event: &Event) -> String {
    let what = match &event.kind {
        EventKind::Opened {
            party: it,
            side: on,
            price,
        }
        | EventKind::Reduced {
            party: it,
            side: on,
            price,
        } => format!("{} {} at {price}", party(it), side(*on)),
        EventKind::Traded {
            trade,
            price,
            quantity,
            side: on,
            maker,
            taker,
        } => format!(
            "{trade}: {quantity} at {price}, {} taker {}, maker {}",
            side(*on),
            party(taker),
            party(maker)
        ),
        EventKind::Cancelled {
            party: it,
            side: on,
            quantity,
            reason,
        } => {
            let reason = reason.map(EndReason::code).unwrap_or("moved");
            format!("{} {} {quantity}, {reason}", party(it), side(*on))
        }
        EventKind::Rejected {
            account,
            client_id,
            code,
        } => {
            let id = client_id.map(|id| format!(" id:{id}")).unwrap_or_default();
            format!("{account}{id} {code}")
        }
        EventKind::Halted | EventKind::Resumed => String::new(),
    };
    let place = format!("{}.{}", event.position, event.ordinal);
    let kind = event.kind.code();
    let line = format!("{place} {} {kind} {what}", event.symbol);
    let line = line.trim_end();
    match (event.seq, &event.level) {
        (None, None) => line.into(),
        (Some(seq), Some(level)) => format!(
            "{line} | #{seq} {} {}: {} in {}",
            side(level.side),
            level.price,
            level.quantity,
            level.orders
        ),
        other => panic!("half a change of a book: {other:?}"),
    }
}

pub(crate) fn answer(answer: &Answer) -> String {
    match answer {
        Answer::Account(view) => account(view),
        Answer::Accounts { accounts, next } => listing(accounts, account, *next),
        Answer::Symbols { symbols, next } => listing(symbols, symbol, *next),
        Answer::Symbol(view) => symbol(view),
        Answer::Order(view) => order(view),
        Answer::Orders { orders, next } => listing(orders, order, *next),
        Answer::Depth(view) => depth(view),
        Answer::Queue {
            seq, bids, asks, ..
        } => {
            let line = |queued: &QueuedOrder| {
                format!("{} x {} by {}", queued.price, queued.quantity, queued.order)
            };
            format!(
                "seq {seq}\n{}{}",
                sided("bid", bids, line),
                sided("ask", asks, line)
            )
        }
        Answer::Trades { trades, next } => listing(
            trades,
            |trade| {
                format!(
                    "trade {}: {} at {} {}, taker {} {}, maker {}\n",
                    trade.trade,
                    trade.quantity,
                    trade.price,
                    trade.at,
                    trade.taker,
                    side(trade.side),
                    trade.maker
                )
            },
            *next,
        ),
        Answer::Totals(totals) => format!(
            "accounts {} symbols {} open {} orders {} trades {} remembered {} cash {}\n",
            totals.accounts,
            totals.symbols,
            totals.open_orders,
            totals.orders,
            totals.trades,
            totals.remembered,
            totals.cash
        ),
        Answer::Refused(why) => refusal(why),
    }
}

fn listing<T>(items: &[T], line: impl Fn(&T) -> String, next: Option<Cursor>) -> String {
    let mut lines: String = items.iter().map(line).collect();
    match next {
        Some(Cursor(next)) => writeln!(lines, "next {next}").unwrap(),
        None => lines.push_str("end\n"),
    }
    lines
}

fn sided<T>(word: &str, items: &[T], line: impl Fn(&T) -> String) -> String {
    let lines = items.iter().map(|item| format!("{word} {}\n", line(item)));
    lines.collect()
}

fn account(view: &AccountView) -> String {
    let mut lines = format!(
        "{} free {} reserved {} open {}",
        view.account, view.free, view.reserved, view.open_orders
    );
    let bounds = (
        view.limit_open_orders,
        view.limit_quantity,
        view.limit_notional,
    );
    if bounds != (None, None, None) {
        let (orders, quantity, notional) = (dash(bounds.0), dash(bounds.1), dash(bounds.2));
        write!(lines, " limits {orders} {quantity} {notional}").unwrap();
    }
    lines.push('\n');
    for (name, free, reserved) in &view.positions {
        writeln!(lines, "  {name} free {free} reserved {reserved}").unwrap();
    }
    if let Some(Cursor(next)) = view.next {
        writeln!(lines, "  next {next}").unwrap();
    }
    lines
}

fn symbol(view: &SymbolView) -> String {
    format!(
        "{} scales {} {}{} band {} .. {} issued {} open {} seq {} last {}\n",
        view.symbol,
        view.price_scale,
        view.quantity_scale,
        if view.halted { " halted" } else { "" },
        dash(view.low),
        dash(view.high),
        view.issued,
        view.open_orders,
        view.seq,
        dash(view.last_price)
    )
}

fn order(view: &OrderView) -> String {
    let id = view.client_id.map(|id| format!(" id:{id}"));
    let waits = match view.time_in_force {
        TimeInForce::GoodTillCancel => String::new(),
        TimeInForce::GoodTillDate(until) => format!(" until {until}"),
        other => format!(" {other:?}"),
    };
    let limit = view
        .limit
        .map_or_else(|| "market".into(), |limit: Decimal| limit.to_string());
    let mut lines = format!(
        "order {}{} of {}: {} {} {} at {limit}{waits} since {}\n",
        view.order,
        id.unwrap_or_default(),
        view.account,
        side(view.side),
        view.quantity,
        view.symbol,
        view.since
    );
    if !view.open.is_zero() {
        writeln!(lines, "  open {}", view.open).unwrap();
    }
    if let Some((quantity, at, reason)) = view.cancelled {
        writeln!(lines, "  cancelled {quantity} {at} {}", reason.code()).unwrap();
    }
    for execution in &view.executions {
        writeln!(
            lines,
            "  executed {} at {} {} with {}",
            execution.quantity, execution.price, execution.at, execution.counterparty
        )
        .unwrap();
    }
    lines
}

fn depth(view: &DepthView) -> String {
    let line =
        |level: &(Decimal, Decimal, u32)| format!("{} x {} in {}", level.0, level.1, level.2);
    format!(
        "seq {}\n{}{}",
        view.seq,
        sided("bid", &view.bids, line),
        sided("ask", &view.asks, line)
    )
}
