//! What happened at the exchange, as server-sent events.

use serde::Serialize;
use turnstile_exchange::{
    AccountId, Decimal, Event, EventKind, Level, Party, REPLACED, Side, Symbol,
};
use turnstile_types::Timestamp;
use utoipa::ToSchema;

use crate::{
    answer::Text,
    event::{EventId, put_block},
};

/// One side of a trade.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PartyView {
    order: u64,
    account: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    client_id: Option<String>,
    /// What is left open of the order after it.
    #[schema(value_type = String)]
    open: Text<Decimal>,
}

/// A price level as it is after a change.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ChangeView {
    #[schema(value_type = String, example = "buy")]
    side: &'static str,
    #[schema(value_type = String)]
    price: Text<Decimal>,
    /// Everything that waits at this price; zero: the level is gone.
    #[schema(value_type = String)]
    quantity: Text<Decimal>,
    orders: u32,
}

/// One thing that happened at the exchange. What does not apply to its kind is left out.
#[derive(Debug, Default, Serialize, ToSchema)]
pub(crate) struct MarketEventView {
    position: u64,
    /// Counts the events of one record, from 0.
    ordinal: u32,
    #[schema(format = DateTime)]
    at: String,
    /// `opened`, `traded`, `reduced`, `cancelled`, `rejected`, `halted` or `resumed`.
    #[schema(value_type = String, example = "opened")]
    kind: &'static str,
    symbol: String,
    /// The number of this change of the symbol's book.
    #[serde(skip_serializing_if = "Option::is_none")]
    seq: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    level: Option<ChangeView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    order: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    account: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    client_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    open: Option<Text<Decimal>>,
    /// Counts all trades, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    trade: Option<u64>,
    /// Of the order; of a trade, the side that took.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    side: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    price: Option<Text<Decimal>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    quantity: Option<Text<Decimal>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    maker: Option<PartyView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    taker: Option<PartyView>,
    /// Why it was cancelled or rejected; `replaced` where it goes on with another limit or quantity.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    reason: Option<&'static str>,
}

impl PartyView {
    fn of(party: &Party) -> Self {
        Self {
            order: party.order.0,
            account: party.account.to_string(),
            client_id: party.client_id.map(|id| id.to_string()),
            open: Text(party.open),
        }
    }
}

impl ChangeView {
    pub(super) const fn of(level: &Level) -> Self {
        Self {
            side: level.side.code(),
            price: Text(level.price),
            quantity: Text(level.quantity),
            orders: level.orders,
        }
    }
}

impl MarketEventView {
    fn of(event: &Event) -> Self {
        let view = Self {
            position: event.position.0,
            ordinal: event.ordinal,
            at: event.at.to_string(),
            kind: event.kind.code(),
            symbol: event.symbol.to_string(),
            seq: event.seq,
            level: event.level.as_ref().map(ChangeView::of),
            ..Self::default()
        };
        match &event.kind {
            EventKind::Opened { party, side, price }
            | EventKind::Reduced { party, side, price } => Self {
                side: Some(side.code()),
                price: Some(Text(*price)),
                ..view.about(party)
            },
            EventKind::Traded {
                trade,
                price,
                quantity,
                side,
                maker,
                taker,
            } => Self {
                trade: Some(*trade),
                price: Some(Text(*price)),
                quantity: Some(Text(*quantity)),
                side: Some(side.code()),
                maker: Some(PartyView::of(maker)),
                taker: Some(PartyView::of(taker)),
                ..view
            },
            EventKind::Cancelled {
                party,
                side,
                quantity,
                reason,
            } => Self {
                side: Some(side.code()),
                quantity: Some(Text(*quantity)),
                reason: Some(reason.map_or(REPLACED, |reason| reason.code())),
                ..view.about(party)
            },
            EventKind::Rejected {
                account,
                client_id,
                code,
            } => Self {
                account: Some(account.to_string()),
                client_id: client_id.map(|id| id.to_string()),
                reason: Some(code),
                ..view
            },
            EventKind::Halted | EventKind::Resumed => view,
        }
    }

    fn about(self, party: &Party) -> Self {
        Self {
            order: Some(party.order.0),
            account: Some(party.account.to_string()),
            client_id: party.client_id.map(|id| id.to_string()),
            open: Some(Text(party.open)),
            ..self
        }
    }
}

/// Appends one event.
pub fn put_event(event: &Event, out: &mut Vec<u8>) {
    let id = EventId::of((event.position, event.ordinal));
    put_block(id, event.kind.code(), &MarketEventView::of(event), out);
}

/// Whether an event is about an account.
#[must_use]
pub fn concerns(event: &Event, account: AccountId) -> bool {
    match &event.kind {
        EventKind::Opened { party, .. }
        | EventKind::Reduced { party, .. }
        | EventKind::Cancelled { party, .. } => party.account == account,
        EventKind::Traded { maker, taker, .. } => {
            maker.account == account || taker.account == account
        }
        EventKind::Rejected { account: of, .. } => *of == account,
        EventKind::Halted | EventKind::Resumed => false,
    }
}

/// Which events somebody wants: all, or those about a symbol or an account.
#[derive(Clone, Copy, Debug)]
pub struct Interest {
    pub(super) symbol: Option<Symbol>,
    pub(super) account: Option<AccountId>,
}

impl Interest {
    #[must_use]
    pub fn is_in(&self, event: &Event) -> bool {
        self.symbol.is_none_or(|symbol| event.symbol == symbol)
            && self.account.is_none_or(|account| concerns(event, account))
    }
}

/// One thing that happened to an order of one account.
#[derive(Debug, Serialize)]
pub(super) struct OrderEventView {
    /// `opened`, `executed`, `reduced`, `cancelled` or `rejected`.
    kind: &'static str,
    at: Text<Timestamp>,
    symbol: Text<Symbol>,
    #[serde(skip_serializing_if = "Option::is_none")]
    order: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    client_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    side: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    price: Option<Text<Decimal>>,
    /// What was executed or cancelled.
    #[serde(skip_serializing_if = "Option::is_none")]
    quantity: Option<Text<Decimal>>,
    /// What is left open of the order after it.
    #[serde(skip_serializing_if = "Option::is_none")]
    open: Option<Text<Decimal>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trade: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
}

impl OrderEventView {
    /// What an event that concerns an account is to it; where it traded with itself, two things.
    pub(super) fn put(event: &Event, account: AccountId, out: &mut Vec<Self>) {
        match &event.kind {
            EventKind::Opened { party, side, price }
            | EventKind::Reduced { party, side, price } => out.push(Self {
                price: Some(Text(*price)),
                ..Self::about(event, party, *side)
            }),
            EventKind::Traded {
                trade,
                price,
                quantity,
                side,
                maker,
                taker,
            } => {
                for (party, side) in [(maker, side.opposite()), (taker, *side)] {
                    if party.account == account {
                        out.push(Self {
                            kind: "executed",
                            price: Some(Text(*price)),
                            quantity: Some(Text(*quantity)),
                            trade: Some(*trade),
                            ..Self::about(event, party, side)
                        });
                    }
                }
            }
            EventKind::Cancelled {
                party,
                side,
                quantity,
                reason,
            } => out.push(Self {
                quantity: Some(Text(*quantity)),
                reason: Some(reason.map_or(REPLACED, |reason| reason.code())),
                ..Self::about(event, party, *side)
            }),
            EventKind::Rejected {
                client_id, code, ..
            } => out.push(Self {
                client_id: client_id.map(|id| id.to_string()),
                reason: Some(code),
                ..Self::at(event)
            }),
            EventKind::Halted | EventKind::Resumed => {}
        }
    }

    const fn at(event: &Event) -> Self {
        Self {
            kind: event.kind.code(),
            at: Text(event.at),
            symbol: Text(event.symbol),
            order: None,
            client_id: None,
            side: None,
            price: None,
            quantity: None,
            open: None,
            trade: None,
            reason: None,
        }
    }

    fn about(event: &Event, party: &Party, side: Side) -> Self {
        Self {
            order: Some(party.order.0),
            client_id: party.client_id.map(|id| id.to_string()),
            side: Some(side.code()),
            open: Some(Text(party.open)),
            ..Self::at(event)
        }
    }
}
