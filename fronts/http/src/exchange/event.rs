//! What happened at the exchange, as server-sent events and on the feed.

use turnstile_chassis::{Fields, Readable as _, Source as _};
use turnstile_exchange::{
    AccountId, ClientId, Decimal, Event, EventKind, OrderId, Party, REPLACED, Side, Symbol,
};
use turnstile_types::Timestamp;

use crate::{
    event::{EventId, since},
    given::Given,
    problem::Problem,
};

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

/// Which events a client wants: all, or those about a symbol or an account.
#[derive(Clone, Copy, Debug)]
pub struct Interest {
    symbol: Option<Symbol>,
    account: Option<AccountId>,
}

impl Interest {
    /// The only account whose events are wanted.
    #[must_use]
    pub const fn account(&self) -> Option<AccountId> {
        self.account
    }

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
#[derive(Debug, Fields)]
pub(super) struct OrderEventView {
    /// `opened`, `executed`, `reduced`, `cancelled` or `rejected`.
    kind: &'static str,
    at: Timestamp,
    symbol: Symbol,
    order: Option<OrderId>,
    client_id: Option<ClientId>,
    side: Option<Side>,
    price: Option<Decimal>,
    /// What was executed or cancelled.
    quantity: Option<Decimal>,
    /// What is left open of the order after it.
    open: Option<Decimal>,
    trade: Option<u64>,
    reason: Option<&'static str>,
}

impl OrderEventView {
    /// What an event that concerns an account is to it; where it traded with itself, two things.
    pub(super) fn put(event: &Event, account: AccountId, out: &mut Vec<Self>) {
        match &event.kind {
            EventKind::Opened { party, side, price }
            | EventKind::Reduced { party, side, price } => out.push(Self {
                price: Some(*price),
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
                            price: Some(*price),
                            quantity: Some(*quantity),
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
                quantity: Some(*quantity),
                reason: Some(reason.map_or(REPLACED, |reason| reason.code())),
                ..Self::about(event, party, *side)
            }),
            EventKind::Rejected {
                client_id, code, ..
            } => out.push(Self {
                client_id: *client_id,
                reason: Some(code),
                ..Self::at(event)
            }),
            EventKind::Halted | EventKind::Resumed => {}
        }
    }

    const fn at(event: &Event) -> Self {
        Self {
            kind: event.kind.code(),
            at: event.at,
            symbol: event.symbol,
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
            order: Some(party.order),
            client_id: party.client_id,
            side: Some(side),
            open: Some(party.open),
            ..Self::at(event)
        }
    }
}
