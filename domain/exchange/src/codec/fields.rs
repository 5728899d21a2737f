//! The fields of which commands, outcomes and snapshots are made.

use turnstile_types::{
    Malformed, Reader, Timestamp, put_flag, put_instant, put_u8, put_u32, put_u64,
};

use crate::{
    AccountId, Cash, ClientId, Decimal, EndReason, Field, OrderId, OrderRef, SelfTrade, Side,
    Symbol, Ticket, TicketState, TimeInForce, ledger::Patience,
};

fn put_label(out: &mut Vec<u8>, text: &[u8]) {
    let length = u8::try_from(text.len()).expect("a label has at most 40 bytes");
    put_u8(out, length);
    out.extend_from_slice(text);
}

fn label<'a>(reader: &mut Reader<'a>, field: &'static str) -> Result<&'a [u8], Malformed> {
    let length = usize::from(reader.u8(field)?);
    reader.take(length, field)
}

pub(crate) fn put_account(out: &mut Vec<u8>, account: &AccountId) {
    put_label(out, account.text());
}

pub(crate) fn account(reader: &mut Reader<'_>) -> Result<AccountId, Malformed> {
    let field = "account";
    AccountId::parse(label(reader, field)?).map_err(|_invalid| Malformed { field })
}

pub(crate) fn put_symbol(out: &mut Vec<u8>, symbol: &Symbol) {
    put_label(out, symbol.text());
}

pub(crate) fn symbol(reader: &mut Reader<'_>) -> Result<Symbol, Malformed> {
    let field = "symbol";
    Symbol::parse(label(reader, field)?).map_err(|_invalid| Malformed { field })
}

pub(crate) fn put_client_id(out: &mut Vec<u8>, id: &ClientId) {
    put_label(out, id.text());
}

pub(crate) fn client_id(reader: &mut Reader<'_>) -> Result<ClientId, Malformed> {
    let field = "client id";
    ClientId::parse(label(reader, field)?).map_err(|_invalid| Malformed { field })
}

pub(crate) fn put_decimal(out: &mut Vec<u8>, number: &Decimal) {
    put_u64(out, number.units());
    put_u8(out, number.scale());
}

/// A decimal in its shortest form.
pub(crate) fn decimal(reader: &mut Reader<'_>, field: &'static str) -> Result<Decimal, Malformed> {
    let (units, scale) = (reader.u64(field)?, reader.u8(field)?);
    if scale > 18 {
        return Err(Malformed { field });
    }
    let number = Decimal::new(units, scale);
    if number.scale() != scale {
        return Err(Malformed { field });
    }
    Ok(number)
}

pub(crate) fn put_cash(out: &mut Vec<u8>, cash: Cash) {
    out.extend_from_slice(&cash.0.to_le_bytes());
}

pub(crate) fn cash(reader: &mut Reader<'_>, field: &'static str) -> Result<Cash, Malformed> {
    let low = u128::from(reader.u64(field)?);
    let high = u128::from(reader.u64(field)?);
    Ok(Cash(high << 64 | low))
}

pub(crate) fn put_option<T>(
    out: &mut Vec<u8>,
    value: Option<&T>,
    put: impl FnOnce(&mut Vec<u8>, &T),
) {
    put_flag(out, value.is_some());
    if let Some(value) = value {
        put(out, value);
    }
}

pub(crate) fn option<'a, T>(
    reader: &mut Reader<'a>,
    field: &'static str,
    read: impl FnOnce(&mut Reader<'a>, &'static str) -> Result<T, Malformed>,
) -> Result<Option<T>, Malformed> {
    if reader.flag(field)? {
        read(reader, field).map(Some)
    } else {
        Ok(None)
    }
}

pub(crate) fn put_u32_option(out: &mut Vec<u8>, value: Option<u32>) {
    put_option(out, value.as_ref(), |out, &value| put_u32(out, value));
}

pub(crate) fn put_u64_option(out: &mut Vec<u8>, value: Option<u64>) {
    put_option(out, value.as_ref(), |out, &value| put_u64(out, value));
}

pub(crate) fn put_side(out: &mut Vec<u8>, side: Side) {
    put_u8(
        out,
        match side {
            Side::Buy => 0,
            Side::Sell => 1,
        },
    );
}

pub(crate) fn side(reader: &mut Reader<'_>) -> Result<Side, Malformed> {
    match reader.u8("side")? {
        0 => Ok(Side::Buy),
        1 => Ok(Side::Sell),
        _ => Err(Malformed { field: "side" }),
    }
}

/// A time in force, as its two halves.
pub(crate) fn put_patience(out: &mut Vec<u8>, patience: Patience, until: Timestamp) {
    match patience {
        Patience::GoodTillCancel => put_u8(out, 0),
        Patience::GoodTillDate => {
            put_u8(out, 1);
            put_instant(out, until);
        }
        Patience::ImmediateOrCancel => put_u8(out, 2),
        Patience::FillOrKill => put_u8(out, 3),
        Patience::PostOnly => put_u8(out, 4),
    }
}

pub(crate) fn patience(reader: &mut Reader<'_>) -> Result<(Patience, Timestamp), Malformed> {
    time_in_force(reader).map(Patience::of)
}

pub(crate) fn time_in_force(reader: &mut Reader<'_>) -> Result<TimeInForce, Malformed> {
    let field = "time in force";
    Ok(match reader.u8(field)? {
        0 => TimeInForce::GoodTillCancel,
        1 => TimeInForce::GoodTillDate(reader.instant(field)?),
        2 => TimeInForce::ImmediateOrCancel,
        3 => TimeInForce::FillOrKill,
        4 => TimeInForce::PostOnly,
        _ => return Err(Malformed { field }),
    })
}

pub(crate) fn put_self_trade(out: &mut Vec<u8>, mode: SelfTrade) {
    put_u8(
        out,
        match mode {
            SelfTrade::Allow => 0,
            SelfTrade::Skip => 1,
            SelfTrade::ExpireMaker => 2,
            SelfTrade::ExpireTaker => 3,
            SelfTrade::ExpireBoth => 4,
        },
    );
}

pub(crate) fn self_trade(reader: &mut Reader<'_>) -> Result<SelfTrade, Malformed> {
    let field = "self trade";
    Ok(match reader.u8(field)? {
        0 => SelfTrade::Allow,
        1 => SelfTrade::Skip,
        2 => SelfTrade::ExpireMaker,
        3 => SelfTrade::ExpireTaker,
        4 => SelfTrade::ExpireBoth,
        _ => return Err(Malformed { field }),
    })
}

pub(crate) fn put_order_ref(out: &mut Vec<u8>, order: &OrderRef) {
    match order {
        OrderRef::Id(id) => {
            put_u8(out, 0);
            put_u64(out, id.0);
        }
        OrderRef::Client(id) => {
            put_u8(out, 1);
            put_client_id(out, id);
        }
    }
}

pub(crate) fn order_ref(reader: &mut Reader<'_>) -> Result<OrderRef, Malformed> {
    let field = "order";
    match reader.u8(field)? {
        0 => reader.u64(field).map(OrderId).map(OrderRef::Id),
        1 => client_id(reader).map(OrderRef::Client),
        _ => Err(Malformed { field }),
    }
}

pub(crate) fn put_end_reason(out: &mut Vec<u8>, reason: EndReason) {
    put_u8(
        out,
        match reason {
            EndReason::Cancelled => 0x10,
            EndReason::MassCancelled => 0x11,
            EndReason::Expired => 0x12,
            EndReason::Immediate => 0x13,
            EndReason::SelfTrade => 0x14,
        },
    );
}

const fn reason_of(byte: u8, field: &'static str) -> Result<EndReason, Malformed> {
    Ok(match byte {
        0x10 => EndReason::Cancelled,
        0x11 => EndReason::MassCancelled,
        0x12 => EndReason::Expired,
        0x13 => EndReason::Immediate,
        0x14 => EndReason::SelfTrade,
        _ => return Err(Malformed { field }),
    })
}

pub(crate) fn end_reason(reader: &mut Reader<'_>) -> Result<EndReason, Malformed> {
    reason_of(reader.u8("reason")?, "reason")
}

pub(crate) fn put_ticket_state(out: &mut Vec<u8>, state: TicketState) {
    match state {
        TicketState::Open => put_u8(out, 0),
        TicketState::Filled => put_u8(out, 1),
        TicketState::Ended(reason) => put_end_reason(out, reason),
    }
}

pub(crate) fn ticket_state(reader: &mut Reader<'_>) -> Result<TicketState, Malformed> {
    match reader.u8("state")? {
        0 => Ok(TicketState::Open),
        1 => Ok(TicketState::Filled),
        byte => reason_of(byte, "state").map(TicketState::Ended),
    }
}

pub(crate) fn put_ticket(out: &mut Vec<u8>, ticket: &Ticket) {
    put_u64(out, ticket.order.0);
    put_ticket_state(out, ticket.state);
    put_decimal(out, &ticket.filled);
    put_cash(out, ticket.value);
    put_decimal(out, &ticket.open);
}

pub(crate) fn ticket(reader: &mut Reader<'_>) -> Result<Ticket, Malformed> {
    Ok(Ticket {
        order: OrderId(reader.u64("order")?),
        state: ticket_state(reader)?,
        filled: decimal(reader, "filled")?,
        value: cash(reader, "value")?,
        open: decimal(reader, "open")?,
    })
}

pub(crate) fn put_field(out: &mut Vec<u8>, field: Field) {
    put_u8(
        out,
        match field {
            Field::Price => 0,
            Field::Quantity => 1,
            Field::Cash => 2,
        },
    );
}

pub(crate) fn field(reader: &mut Reader<'_>) -> Result<Field, Malformed> {
    match reader.u8("field")? {
        0 => Ok(Field::Price),
        1 => Ok(Field::Quantity),
        2 => Ok(Field::Cash),
        _ => Err(Malformed { field: "field" }),
    }
}
