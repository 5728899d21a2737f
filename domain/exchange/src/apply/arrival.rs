//! What an order does when it meets the book: trades, and rests or ends.

use turnstile_book::{Depth, Incoming, Report, Stop};
use turnstile_types::Context;

use crate::{
    Cash, EndReason, EventKind, Exchange, Side, Ticket, TicketState,
    executions::OrderFill,
    ledger::{State, row_of},
    symbols::Traded,
};

/// Two orders that matched; the maker was on the book.
#[derive(Clone, Copy, Debug)]
struct OrderMatch {
    maker: u32,
    maker_left: u64,
    taker: u32,
    taker_left: u64,
    /// Ticks.
    price: u64,
    quantity: u64,
}

impl Exchange {
    /// Matches an order that is off the book and paid for, and rests or ends it.
    pub(super) fn arrive(
        &mut self,
        context: &Context<'_>,
        row: u32,
        incoming: &Incoming,
    ) -> Ticket {
        let symbol = self.ledger.at(row).symbol;
        let stop = self.take(symbol, incoming);
        let reports = std::mem::take(&mut self.reports);
        let (mut left, mut value) = (incoming.quantity, 0);
        for &(report, level) in &reports {
            match report {
                Report::Fill {
                    maker_order,
                    price,
                    quantity,
                    maker_left,
                    ..
                } => {
                    left -= quantity;
                    value += self.symbols.at(symbol).scales.value(price, quantity);
                    let met = OrderMatch {
                        maker: row_of(maker_order),
                        maker_left,
                        taker: row,
                        taker_left: left,
                        price,
                        quantity,
                    };
                    self.trade(context, met, level);
                }
                Report::Expired { maker_order, .. } => {
                    self.expire_maker(context, row_of(maker_order), level);
                }
            }
        }
        self.reports = reports;
        self.reports.clear();
        let state = self.settle(context, row, (incoming, left), stop);
        let open = if state == TicketState::Open { left } else { 0 };
        let scales = self.symbols.at(symbol).scales;
        Ticket {
            order: self.ledger.at(row).id,
            state,
            filled: scales.quantity(incoming.quantity - left),
            value: Cash(value),
            open: scales.quantity(open),
        }
    }

    /// Lets the book match, and notes with each report how the maker's price was left by it: by
    /// going back from how it is at the end.
    fn take(&mut self, symbol: u32, incoming: &Incoming) -> Stop {
        let Self {
            symbols,
            orders,
            reports,
            ..
        } = self;
        let book = &mut symbols.at_mut(symbol).book;
        let none = Depth {
            price: 0,
            quantity: 0,
            orders: 0,
        };
        let taken = book.take(orders, incoming, &mut |report| reports.push((report, none)));
        let mut level: Option<Depth> = None;
        for (report, left_at) in reports.iter_mut().rev() {
            let (price, quantity, gone) = match *report {
                Report::Fill {
                    price,
                    quantity,
                    maker_left,
                    ..
                } => (price, quantity, maker_left == 0),
                Report::Expired { price, left, .. } => (price, left, true),
            };
            let now = level.filter(|level| level.price == price);
            let now = now.or_else(|| book.at(orders, incoming.side.opposite(), price));
            *left_at = now.unwrap_or(Depth { price, ..none });
            level = Some(Depth {
                price,
                quantity: left_at.quantity.saturating_add(quantity),
                orders: left_at.orders + u32::from(gone),
            });
        }
        taken.stop
    }

    fn trade(&mut self, context: &Context<'_>, met: OrderMatch, level: Depth) {
        let OrderMatch {
            price, quantity, ..
        } = met;
        let (maker, taker) = (*self.ledger.at(met.maker), *self.ledger.at(met.taker));
        let mut executed = OrderFill {
            quantity,
            price,
            at: context.now,
            counterparty: taker.id,
        };
        self.ledger.execute(met.maker, executed);
        executed.counterparty = maker.id;
        self.ledger.execute(met.taker, executed);

        let symbol = taker.symbol;
        let value = self.symbols.at(symbol).scales.value(price, quantity);
        // The maker has reserved just this: its limit is the price. The taker has not yet reserved
        // anything.
        match taker.side {
            Side::Buy => {
                self.accounts.debit(taker.account, value);
                self.accounts.credit(maker.account, value);
                self.positions.spend(maker.account, symbol, quantity);
                self.positions.credit(taker.account, symbol, quantity);
            }
            Side::Sell => {
                self.accounts.spend(maker.account, value);
                self.accounts.credit(taker.account, value);
                self.positions.debit(taker.account, symbol, quantity);
                self.positions.credit(maker.account, symbol, quantity);
            }
        }
        if met.maker_left == 0 {
            self.conclude(context, met.maker, None);
        }
        self.trades += 1;
        let trade = self.trades;
        let listed = self.symbols.at_mut(symbol);
        listed.remember(Traded {
            trade,
            at: context.now,
            price,
            quantity,
            side: taker.side,
            maker: maker.id,
            taker: taker.id,
        });
        let kind = EventKind::Traded {
            trade,
            price: listed.scales.price(price),
            quantity: listed.scales.quantity(quantity),
            side: taker.side,
            maker: self.party(met.maker, met.maker_left),
            taker: self.party(met.taker, met.taker_left),
        };
        self.tell_level(context, symbol, (maker.side, level), kind);
    }

    /// Ends an order that the book took off because it met one of its own account.
    fn expire_maker(&mut self, context: &Context<'_>, row: u32, level: Depth) {
        let maker = *self.ledger.at(row);
        self.give_back(row);
        self.conclude(context, row, Some(EndReason::SelfTrade));
        let kind = self.cancelled(row, maker.rest, Some(EndReason::SelfTrade));
        self.tell_level(context, maker.symbol, (maker.side, level), kind);
    }

    /// Rests or ends an order that has matched what it could.
    fn settle(
        &mut self,
        context: &Context<'_>,
        row: u32,
        (incoming, left): (&Incoming, u64),
        stop: Stop,
    ) -> TicketState {
        let order = *self.ledger.at(row);
        let reason = match stop {
            Stop::NoneLeft => {
                self.conclude(context, row, None);
                return TicketState::Filled;
            }
            Stop::NoMatch if order.patience.waits() => {
                self.rest(context, row, incoming, left);
                return TicketState::Open;
            }
            Stop::NoMatch => EndReason::Immediate,
            Stop::TakerExpired => EndReason::SelfTrade,
        };
        self.conclude(context, row, Some(reason));
        let kind = self.cancelled(row, left, Some(reason));
        let symbol = self.symbols.at(order.symbol).name;
        self.tell(context, symbol, kind);
        TicketState::Ended(reason)
    }

    /// Puts what is left of an order on the book, and sets aside what it may cost.
    fn rest(&mut self, context: &Context<'_>, row: u32, incoming: &Incoming, left: u64) {
        let order = *self.ledger.at(row);
        let listed = self.symbols.at_mut(order.symbol);
        let slot = listed.book.rest(&mut self.orders, incoming, left);
        let price = listed.scales.price(order.limit);
        if order.is_open() {
            self.ledger.move_to(row, slot);
        } else {
            listed.open_orders += 1;
            let list = &mut self.accounts.at_mut(order.account).open;
            self.ledger.open_newest(list, row, slot);
            self.senders.open(order.sender);
            if order.until.0 > 0 {
                self.deadlines.insert((order.until, order.id.0, row));
            }
        }
        self.set_aside(row);
        let kind = EventKind::Opened {
            party: self.party(row, left),
            side: order.side,
            price,
        };
        let level = self.orders.depth_at(slot);
        self.tell_level(context, order.symbol, (order.side, level), kind);
    }

    /// Reserves what the rest of an order may cost.
    fn set_aside(&mut self, row: u32) {
        let order = *self.ledger.at(row);
        let value = self.symbols.at(order.symbol).scales;
        match order.side {
            Side::Buy => {
                let value = value.value(order.limit, order.rest);
                self.accounts.reserve(order.account, value);
            }
            Side::Sell => self
                .positions
                .reserve(order.account, order.symbol, order.rest),
        }
    }

    /// Frees what the rest of an order has reserved.
    pub(super) fn give_back(&mut self, row: u32) {
        let rest = self.ledger.at(row).rest;
        self.give_back_part(row, rest);
    }

    /// Frees what a part of an order's rest has reserved.
    pub(super) fn give_back_part(&mut self, row: u32, part: u64) {
        let order = *self.ledger.at(row);
        match order.side {
            Side::Buy => {
                let scales = self.symbols.at(order.symbol).scales;
                let value = scales.value(order.limit, part);
                self.accounts.release(order.account, value);
            }
            Side::Sell => self.positions.release(order.account, order.symbol, part),
        }
    }

    /// Ends an order that is off the book.
    pub(super) fn conclude(&mut self, context: &Context<'_>, row: u32, reason: Option<EndReason>) {
        let order = *self.ledger.at(row);
        if let State::Open { .. } = order.state {
            let list = &mut self.accounts.at_mut(order.account).open;
            self.ledger.close(list, row);
            self.senders.close(order.sender);
            self.symbols.at_mut(order.symbol).open_orders -= 1;
            if order.until.0 > 0 {
                self.deadlines.remove(&(order.until, order.id.0, row));
            }
        }
        self.ledger.end(row, context.now, reason);
    }

    /// The event that so much of an order was cancelled.
    pub(super) fn cancelled(
        &self,
        row: u32,
        quantity: u64,
        reason: Option<EndReason>,
    ) -> EventKind {
        let order = self.ledger.at(row);
        EventKind::Cancelled {
            party: self.party(row, 0),
            side: order.side,
            quantity: self.symbols.at(order.symbol).scales.quantity(quantity),
            reason,
        }
    }
}
