//! Who has sent the open orders, as a snapshot tells it.

use std::collections::BTreeMap;

use turnstile_chassis::{Decode as _, Encode as _, Pieces};
use turnstile_types::{Malformed, Name, Principal, Reader, put_u32, put_u64};

use super::reading::order_id;
use crate::{Exchange, OrderId};

/// Writes the senders by name, each with its open orders by id.
pub(super) fn write_senders(exchange: &Exchange, pieces: &mut Pieces<'_>) {
    let mut sent: BTreeMap<Name, Vec<OrderId>> = BTreeMap::new();
    for row in exchange.open_rows() {
        if let Some(name) = exchange.senders.name(row.sender) {
            sent.entry(name).or_default().push(row.id);
        }
    }
    pieces.put(|buffer| put_u32(buffer, length(sent.len())));
    for (name, mut orders) in sent {
        orders.sort_unstable();
        pieces.put(|buffer| {
            name.encode(buffer);
            put_u32(buffer, length(orders.len()));
        });
        for id in orders {
            pieces.put(|buffer| put_u64(buffer, id.0));
        }
    }
}

fn length(count: usize) -> u32 {
    u32::try_from(count).expect("open orders are limited")
}

/// Reads what [`write_senders`] wrote.
pub(super) fn read_senders(
    exchange: &mut Exchange,
    reader: &mut Reader<'_>,
) -> Result<(), Malformed> {
    let field = "sender";
    let count = reader.u32(field)?;
    Malformed::unless(count > 0, field)?;
    let mut last = None;
    for _ in 0..count {
        let principal = Principal(Name::decode(reader, field)?);
        let is_next = last < Some(principal.0) && principal != Principal::local();
        Malformed::unless(is_next, field)?;
        last = Some(principal.0);
        read_orders_of(exchange, &principal, reader)?;
    }
    Ok(())
}

fn read_orders_of(
    exchange: &mut Exchange,
    principal: &Principal,
    reader: &mut Reader<'_>,
) -> Result<(), Malformed> {
    let field = "orders of a sender";
    let sender = exchange.senders.enrol(principal);
    let count = reader.u32(field)?;
    Malformed::unless(count > 0, field)?;
    let mut last = OrderId(0);
    for _ in 0..count {
        reader.lap()?;
        let id = order_id(exchange, reader, field)?;
        Malformed::unless(last < id, field)?;
        last = id;
        let number = exchange.ledger.find(id).ok_or(Malformed { field })?;
        let row = exchange.ledger.at_mut(number);
        let is_free = row.is_open() && exchange.senders.name(row.sender).is_none();
        Malformed::unless(is_free, field)?;
        row.sender = sender;
        exchange.senders.open(sender);
    }
    Ok(())
}
