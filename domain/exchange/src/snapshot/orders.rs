//! The orders of a snapshot, put back on the books.

use turnstile_book::{Incoming, Owner, Slot};
use turnstile_chassis::Decode;
use turnstile_types::{Malformed, Reader, Timestamp};

use super::reading::{order_id, units};
use crate::{
    ClientId, EndReason, Exchange, Side, TicketState,
    check::is_crossed,
    clients::{ClientOrder, Sent},
    executions::{Chain, OrderFill},
    ledger::{OrderValidity, Row, State},
    limits,
    senders::LOCAL,
    slab::NONE,
};

pub(super) fn read_orders(
    exchange: &mut Exchange,
    reader: &mut Reader<'_>,
) -> Result<(), Malformed> {
    let count = reader.u32("open")?;
    Malformed::unless(count <= limits::OPEN_ORDERS_MAX, "open")?;
    let mut open = Vec::new();
    let mut last = None;
    for _ in 0..count {
        reader.lap()?;
        let number = read_order(exchange, reader)?;
        let row = *exchange.ledger.at(number);
        let place = place_of(&row);
        Malformed::unless(last <= Some(place), "open")?;
        last = Some(place);
        Malformed::unless(
            row.rest > 0 && row.limit > 0 && row.patience.waits(),
            "open",
        )?;
        open.push((row.id, number, rest(exchange, number)?));
    }
    // An account's list is by id, and opening makes an order the newest.
    open.sort_unstable_by_key(|&(id, ..)| id);
    for (_, number, slot) in open {
        let account = exchange.ledger.at(number).account;
        let list = &mut exchange.accounts.at_mut(account).open;
        exchange.ledger.open_newest(list, number, slot);
    }
    for listed in exchange.symbols.iter() {
        let side = |side| listed.book.resting(&exchange.orders, side);
        Malformed::unless(!is_crossed(side(Side::Buy), side(Side::Sell)), "crossed")?;
    }
    read_ended(exchange, reader)
}

/// Where an order stands among all: by symbol, buys first, best price first.
const fn place_of(row: &Row) -> (u32, bool, u64) {
    match row.side {
        Side::Buy => (row.symbol, false, u64::MAX - row.limit),
        Side::Sell => (row.symbol, true, row.limit),
    }
}

fn read_ended(exchange: &mut Exchange, reader: &mut Reader<'_>) -> Result<(), Malformed> {
    let mut last = Timestamp(0);
    for _ in 0..reader.u32("ended")? {
        reader.lap()?;
        let number = read_order(exchange, reader)?;
        let at = reader.instant("ended")?;
        let reason = <Option<EndReason>>::decode(reader, "ended")?;
        let row = exchange.ledger.at(number);
        Malformed::unless(at >= last && reason.is_some() == (row.rest > 0), "ended")?;
        Malformed::unless(row.limit > 0 || !row.patience.waits(), "ended")?;
        last = at;
        exchange.ledger.end(number, at, reason);
    }
    Ok(())
}

/// Puts an order back on its book, with what it has reserved.
fn rest(exchange: &mut Exchange, number: u32) -> Result<Slot, Malformed> {
    let row = *exchange.ledger.at(number);
    let listed = exchange.symbols.at_mut(row.symbol);
    listed.open_orders += 1;
    let reserved = match row.side {
        Side::Buy => {
            let value = listed.scales.value(row.limit, row.rest);
            exchange.accounts.restore(row.account, 0, value)
        }
        Side::Sell => exchange
            .positions
            .restore_reserved(row.account, row.symbol, row.rest),
    };
    Malformed::unless(reserved.is_some(), "reserved")?;
    let incoming = Incoming {
        order: u64::from(number),
        owner: Owner(row.account),
        side: row.side,
        price: Some(row.limit),
        quantity: row.rest,
        self_trade: row.self_trade,
    };
    if row.until.0 > 0 {
        exchange.deadlines.insert((row.until, row.id.0, number));
    }
    Ok(listed.book.rest(&mut exchange.orders, &incoming, row.rest))
}

/// Reads an order and keeps it; where it stands is not yet known.
fn read_order(exchange: &mut Exchange, reader: &mut Reader<'_>) -> Result<u32, Malformed> {
    let id = order_id(exchange, reader, "order")?;
    Malformed::unless(exchange.ledger.find(id).is_none(), "order")?;
    let (account, symbol) = (reader.u32("order")?, reader.u32("order")?);
    let known = account < exchange.accounts.len() && symbol < exchange.symbols.len();
    Malformed::unless(known, "order")?;
    let side = Side::decode(reader, "side")?;
    let (quantity, rest) = (units(reader, "quantity")?, reader.u64("rest")?);
    let limit = reader.u64("limit")?;
    Malformed::unless(rest <= quantity, "rest")?;
    Malformed::unless(limit <= limits::UNITS_MAX, "limit")?;
    let since = reader.instant("since")?;
    let (patience, until) = OrderValidity::of(Decode::decode(reader, "time in force")?);
    let dated = patience == OrderValidity::GoodTillDate;
    Malformed::unless(dated == (until.0 > 0), "time in force")?;
    let row = Row {
        id,
        account,
        symbol,
        quantity,
        rest,
        limit,
        since,
        until,
        executions: Chain::EMPTY,
        client: NONE,
        sender: LOCAL,
        state: State::Arriving,
        side,
        patience,
        self_trade: Decode::decode(reader, "self trade")?,
    };
    let number = exchange.ledger.keep(row);
    let client = read_client(exchange, reader, account)?;
    read_executions(exchange, reader, number)?;
    if let Some(client) = client {
        Malformed::unless(answer_fits(exchange, number, &client), "client id")?;
        exchange.ledger.introduce(number, &client);
    }
    Ok(number)
}

fn read_client(
    exchange: &Exchange,
    reader: &mut Reader<'_>,
    account: u32,
) -> Result<Option<ClientOrder>, Malformed> {
    if !reader.flag("client id")? {
        return Ok(None);
    }
    let id = ClientId::decode(reader, "client id")?;
    let known = exchange.ledger.find_client(account, &id);
    Malformed::unless(known.is_none(), "client id")?;
    Ok(Some(ClientOrder {
        id,
        state: Decode::decode(reader, "state")?,
        at_once: reader.u32("client id")?,
        sent: Sent {
            quantity: units(reader, "client id")?,
            limit: reader.u64("client id")?,
        },
    }))
}

fn read_executions(
    exchange: &mut Exchange,
    reader: &mut Reader<'_>,
    number: u32,
) -> Result<(), Malformed> {
    let Row {
        id, quantity, rest, ..
    } = *exchange.ledger.at(number);
    let (mut sum, mut last) = (0, Timestamp(0));
    let mut chain = Chain::EMPTY;
    for _ in 0..reader.u32("executions")? {
        let executed = OrderFill {
            quantity: units(reader, "execution")?,
            price: units(reader, "execution")?,
            at: reader.instant("execution")?,
            counterparty: order_id(exchange, reader, "execution")?,
        };
        sum += executed.quantity;
        let fits = sum <= quantity && executed.at >= last && executed.counterparty != id;
        Malformed::unless(fits, "execution")?;
        last = executed.at;
        exchange.ledger.executions.push(&mut chain, executed);
    }
    Malformed::unless(sum == quantity - rest, "executions")?;
    exchange.ledger.at_mut(number).executions = chain;
    Ok(())
}

/// Whether an order can have been answered like this at first.
fn answer_fits(exchange: &Exchange, number: u32, client: &ClientOrder) -> bool {
    let row = exchange.ledger.at(number);
    let executions = exchange.ledger.executions.iter(row.executions);
    let filled: u64 = executions
        .take(client.at_once as usize)
        .map(|executed| executed.quantity)
        .sum();
    let state = match client.state {
        TicketState::Filled => filled == client.sent.quantity,
        TicketState::Open => filled < client.sent.quantity && row.patience.waits(),
        TicketState::Ended(_) => filled < client.sent.quantity,
    };
    let market = (client.sent.limit == 0) == (row.limit == 0);
    state
        && market
        && client.at_once <= row.executions.count
        && client.sent.limit <= limits::UNITS_MAX
}
