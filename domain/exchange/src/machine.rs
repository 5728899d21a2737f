//! The machine: its entry points.

use std::{cell::RefCell, collections::BTreeSet};

use turnstile_book::{Depth, Orders, Resting};
use turnstile_chassis::{Countable, Events, Served};
use turnstile_types::{
    Context, Effect, Machine, Malformed, Position, Principal, Reader, Sink, Timestamp,
};

use crate::{
    Answer, Cash, Command, EndReason, Event, EventKind, Exchange, Level, Order, Outcome, Party,
    Query, Side, Symbol, Totals,
    accounts::Accounts,
    check,
    expected::PrefetchBelt,
    ledger::{OrderLedger, OrderValidity, Row, row_of},
    limits,
    positions::Positions,
    queries,
    senders::Senders,
    snapshot,
    symbols::Symbols,
};

impl Machine for Exchange {
    type Command<'a> = Command;
    type Outcome = Outcome;
    type Query = Query;
    type Answer = Answer;
    type Event = Event;

    const SERVICE: u8 = 2;

    fn empty() -> Self {
        Self {
            accounts: Accounts::new(),
            symbols: Symbols::new(),
            positions: Positions::new(),
            ledger: OrderLedger::new(),
            senders: Senders::default(),
            orders: Orders::new(),
            deadlines: BTreeSet::new(),
            cash: 0,
            shares: 0,
            trades: 0,
            reports: Vec::new(),
            expected: RefCell::new(PrefetchBelt::empty()),
            events: Events::empty(),
        }
    }

    fn apply(&mut self, context: &Context<'_>, command: &Command) -> Outcome {
        self.warm();
        self.sweep(context);
        let outcome = self.decide(context, command).into();
        self.assert_conserved();
        outcome
    }

    fn prefetch(&self, command: &Command) {
        self.expect_command(command);
    }

    fn effect_of(outcome: &Outcome) -> Effect {
        outcome.effect()
    }

    fn next_deadline(&self) -> Option<Timestamp> {
        self.deadlines.first().map(|&(deadline, ..)| deadline)
    }

    fn tick(&mut self, context: &Context<'_>) {
        self.sweep(context);
        self.assert_conserved();
    }

    fn query(&self, _now: Timestamp, _principal: &Principal, query: &Query) -> Answer {
        queries::answer(self, query)
    }

    fn drain_events(&mut self, take: &mut dyn FnMut(Event)) {
        self.events.drain(take);
    }

    turnstile_chassis::declared_bytes!();

    fn snapshot(&self, out: &mut dyn Sink) {
        snapshot::write(self, out);
    }

    fn restore_from(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        snapshot::read(reader)
    }

    fn place_of(event: &Event) -> (Position, u32) {
        (event.position, event.ordinal)
    }

    fn check(&self) -> Result<(), Vec<String>> {
        check::examine(self)
    }
}

impl Served for Exchange {
    const NAME: &'static str = "exchange";
    const ABOUT: &'static str = "Accounts, orders and order books";

    type Totals = Totals;

    fn is_new(&self) -> bool {
        self.totals() == Totals::default()
    }

    fn opens(&self, command: &Command) -> Option<Countable> {
        let Command::Order(order) = command else {
            return None;
        };
        self.may_rest(order).then_some(Countable::Orders)
    }

    fn open_of(&self, principal: &Principal, of: Countable) -> u32 {
        match of {
            Countable::Orders => self.senders.open_of(principal, self.ledger.open()),
            Countable::Holds | Countable::Transactions => 0,
        }
    }

    fn standing(&self) -> Vec<(u64, String)> {
        let totals = self.totals();
        vec![
            (
                totals.accounts.into(),
                format!("accounts have {} in cash", totals.cash),
            ),
            (totals.open_orders.into(), "orders are open".to_owned()),
        ]
    }
}

impl Exchange {
    /// What the machine has done and holds, as the last record left it.
    #[must_use]
    pub fn totals(&self) -> Totals {
        Totals {
            accounts: self.accounts.len(),
            symbols: self.symbols.len(),
            open_orders: self.ledger.open(),
            orders: self.ledger.accepted,
            trades: self.trades,
            remembered: self.ledger.ended(),
            cash: Cash(self.cash),
        }
    }

    /// Expires what is due, in order of the instants, then of the ids; forgets what has been over
    /// for long, a few orders at a time, so that no command pays for many. Each command ends one
    /// order in the long run, so that this keeps up.
    fn sweep(&mut self, context: &Context<'_>) {
        while let Some(&(deadline, _, row)) = self.deadlines.first() {
            if deadline > context.now {
                break;
            }
            self.take_off(context, row, EndReason::Expired);
        }
        for _ in 0..limits::FORGOTTEN_AT_ONCE {
            let kept = limits::ENDED_ORDERS_MAX;
            if !self.ledger.forget_oldest(context.now, kept) {
                break;
            }
        }
    }

    /// Nothing appeared and nothing vanished.
    fn assert_conserved(&self) {
        debug_assert_eq!(self.accounts.held(), self.cash, "cash is conserved");
        debug_assert_eq!(self.positions.held(), self.shares, "shares are conserved");
    }

    /// Whether an order may wait on its book: not one that was sent before under its client id.
    fn may_rest(&self, order: &Order) -> bool {
        let is_known = |id| {
            let account = self.accounts.find(&order.account)?;
            self.ledger.find_client(account, &id)
        };
        OrderValidity::of(order.time_in_force).0.waits()
            && order.client_id.and_then(is_known).is_none()
    }

    /// The open orders, as they stand on the books.
    pub(crate) fn open_rows(&self) -> impl Iterator<Item = &Row> {
        self.symbols.iter().flat_map(|listed| {
            let side = |side| listed.book.resting(&self.orders, side);
            let both = side(Side::Buy).chain(side(Side::Sell));
            both.map(|resting| self.resting_row(&resting))
        })
    }

    /// The order that a book knows.
    pub(crate) fn resting_row(&self, resting: &Resting) -> &Row {
        self.ledger.at(row_of(resting.order))
    }

    /// One side of an event: an order, of which so much is left open.
    pub(crate) fn party(&self, row: u32, open: u64) -> Party {
        let order = self.ledger.at(row);
        Party {
            order: order.id,
            account: self.accounts.at(order.account).id,
            client_id: self.ledger.client_id(order),
            open: self.symbols.at(order.symbol).scales.quantity(open),
        }
    }

    /// Adds an event about a change at one price of a book, as the book is now.
    pub(crate) fn tell_change(
        &mut self,
        context: &Context<'_>,
        symbol: u32,
        (side, price): (Side, u64),
        kind: EventKind,
    ) {
        let book = &self.symbols.at(symbol).book;
        let level = book.at(&self.orders, side, price).unwrap_or(Depth {
            price,
            quantity: 0,
            orders: 0,
        });
        self.tell_level(context, symbol, (side, level), kind);
    }

    /// Adds an event about a change of a book that left a price at this level.
    pub(crate) fn tell_level(
        &mut self,
        context: &Context<'_>,
        symbol: u32,
        (side, level): (Side, Depth),
        kind: EventKind,
    ) {
        let listed = self.symbols.at_mut(symbol);
        listed.seq += 1;
        let seq = listed.seq;
        let level = Level {
            side,
            price: listed.scales.price(level.price),
            quantity: listed.scales.quantity(level.quantity),
            orders: level.orders,
        };
        let name = listed.name;
        self.put_event(context, name, Some((seq, level)), kind);
    }

    /// Adds an event that is about no change of a book.
    pub(crate) fn tell(&mut self, context: &Context<'_>, symbol: Symbol, kind: EventKind) {
        self.put_event(context, symbol, None, kind);
    }

    fn put_event(
        &mut self,
        context: &Context<'_>,
        symbol: Symbol,
        change: Option<(u64, Level)>,
        kind: EventKind,
    ) {
        self.events.put(context.position, |ordinal| Event {
            position: context.position,
            ordinal,
            at: context.now,
            symbol,
            seq: change.map(|(seq, _)| seq),
            level: change.map(|(_, level)| level),
            kind,
        });
    }
}
