//! What happened at the exchange, as server-sent events and on the feed.

use serde::Serialize;
use turnstile_chassis::{Readable as _, Source as _};
use turnstile_exchange::{AccountId, Decimal, Event, EventKind, Party, REPLACED, Side, Symbol};
use turnstile_json::Object;
use turnstile_types::Timestamp;

use crate::{
    answer::Text,
    event::{EventId, put_block, since},
    given::Given,
    problem::Problem,
};

/// Appends one event.
pub fn put_event(event: &Event, out: &mut Vec<u8>) {
    let id = EventId::of((event.position, event.ordinal));
    put_block(id, event.kind.code(), &Object(event), out);
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
    symbol: Option<Symbol>,
    account: Option<AccountId>,
}

impl Interest {
    /// Reads where a stream of events begins, and what it is about.
    ///
    /// # Errors
    /// Wrong parameters.
    pub fn read<'a>(given: &'a Given<'a>) -> Result<(Option<EventId>, Self), Problem> {
        given.read_with(|reader| {
            let since = since(reader);
            let symbol = reader.optional("symbol", Symbol::read);
            let account = reader.optional("account", AccountId::read);
            let (symbol, account) = (symbol?, account?);
            Some((since?, Self { symbol, account }))
        })
    }

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
