//! Orders that enter, match and move.

use turnstile_exchange::{
    Cash, CommandField, Decimal, Done, EndReason, EventKind, Execution, Order, OrderId, Refusal,
    SelfTrade, Side, Symbol, Ticket, TicketState, TimeInForce, Trade, limits,
};
use turnstile_types::Context;

use super::{Kept, Twin, rules::units};

/// What the book would do with an order: the makers that it meets, each traded or expired, and
/// whether it is stopped by one of its own account.
#[derive(Default)]
struct Course {
    meets: Vec<(OrderId, Meeting)>,
    filled: u64,
    value: u128,
    stopped: bool,
}

#[derive(Clone, Copy)]
enum Meeting {
    Trade(u64),
    Expire,
}

/// An order in units.
#[derive(Clone, Copy)]
struct Wanted {
    sent: Order,
    quantity: u64,
    limit: Option<u64>,
}

fn waits(order: &Order) -> bool {
    !matches!(
        order.time_in_force,
        TimeInForce::ImmediateOrCancel | TimeInForce::FillOrKill
    )
}

impl Twin {
    fn wanted(
        &self,
        sent: Order,
        quantity: Decimal,
        limit: Option<Decimal>,
    ) -> Result<Wanted, Refusal> {
        let (price_scale, quantity_scale) = self.scales(sent.symbol);
        let quantity = units(quantity, quantity_scale, CommandField::Quantity)?;
        let ticks = |limit| units(limit, price_scale, CommandField::Price);
        let limit = limit.map(ticks).transpose()?;
        Ok(Wanted {
            sent,
            quantity,
            limit,
        })
    }

    /// Plays an order against the book without changing anything.
    fn course(&self, wanted: &Wanted) -> Course {
        let Wanted {
            sent,
            quantity,
            limit,
        } = *wanted;
        let mut course = Course::default();
        let Some(listed) = self.listed(sent.symbol) else {
            return course;
        };
        let (buys, other) = match sent.side {
            Side::Buy => (true, Side::Sell),
            Side::Sell => (false, Side::Buy),
        };
        let worst = limit.or(if buys { listed.high } else { listed.low });
        for maker in self.side(sent.symbol, other) {
            let price = maker.limit.unwrap();
            let within =
                worst.is_none_or(|worst| if buys { price <= worst } else { price >= worst });
            if !within || course.filled == quantity {
                break;
            }
            if maker.sent.account == sent.account {
                match sent.self_trade {
                    SelfTrade::Allow => {}
                    SelfTrade::Skip => continue,
                    SelfTrade::ExpireMaker => {
                        course.meets.push((maker.id, Meeting::Expire));
                        continue;
                    }
                    SelfTrade::ExpireTaker => {
                        course.stopped = true;
                        break;
                    }
                    SelfTrade::ExpireBoth => {
                        course.meets.push((maker.id, Meeting::Expire));
                        course.stopped = true;
                        break;
                    }
                }
            }
            let part = maker.open.min(quantity - course.filled);
            course.filled += part;
            course.value += self.value(sent.symbol, price, part);
            course.meets.push((maker.id, Meeting::Trade(part)));
        }
        course
    }

    /// Refuses what may not enter; `old` is the order that it replaces.
    fn admit(
        &self,
        context: &Context<'_>,
        wanted: &Wanted,
        old: Option<&Kept>,
    ) -> Result<(), Refusal> {
        let sent = wanted.sent;
        if wanted.limit.is_none() && waits(&sent) {
            return Err(Refusal::MarketMustNotWait);
        }
        if let TimeInForce::GoodTillDate(until) = sent.time_in_force
            && until <= context.now
        {
            return Err(Refusal::DateOver);
        }
        self.trades_now(sent.symbol, wanted.limit)?;
        let course = self.course(wanted);
        let notional = wanted.limit.map_or(course.value, |limit| {
            self.value(sent.symbol, limit, wanted.quantity)
        });
        let holder = self.holder(sent.account)?;
        if let Some(limit) = holder.quantity
            && self.quantity(sent.symbol, wanted.quantity).at_scale(18) > limit.at_scale(18)
        {
            return Err(Refusal::QuantityLimit { limit });
        }
        if let Some(limit) = holder.notional.filter(|limit| notional > limit.0) {
            return Err(Refusal::NotionalLimit { limit });
        }
        let open = u32::try_from(self.open_of(sent.account).len()).unwrap();
        if let Some(limit) = holder.open_orders.filter(|&limit| open >= limit)
            && old.is_none()
            && waits(&sent)
        {
            return Err(Refusal::TooManyOpenOrders { limit });
        }
        if wanted.limit.is_none() && course.filled == 0 {
            return Err(Refusal::NoMarket);
        }
        if sent.time_in_force == TimeInForce::FillOrKill && course.filled < wanted.quantity {
            return Err(Refusal::NotFillable);
        }
        if sent.time_in_force == TimeInForce::PostOnly && course.filled > 0 {
            return Err(Refusal::WouldMatch);
        }
        self.covered(wanted, notional, old)
    }

    fn trades_now(&self, name: Symbol, limit: Option<u64>) -> Result<(), Refusal> {
        let Some(listed) = self.listed(name) else {
            return Ok(());
        };
        if listed.halted {
            return Err(Refusal::SymbolHalted);
        }
        let price = limit.or(listed.low).or(listed.high).unwrap_or(1);
        let below = listed.low.is_some_and(|low| price < low);
        if below || listed.high.is_some_and(|high| price > high) {
            let low = listed.low.map(|low| self.price(name, low));
            let high = listed.high.map(|high| self.price(name, high));
            return Err(Refusal::OutsideBand { low, high });
        }
        Ok(())
    }

    fn covered(&self, wanted: &Wanted, notional: u128, old: Option<&Kept>) -> Result<(), Refusal> {
        let (account, name) = (wanted.sent.account, wanted.sent.symbol);
        if wanted.sent.side == Side::Buy {
            let aside = old.map_or(0, |old| self.value(name, old.limit.unwrap(), old.open));
            let (needed, free) = (notional.saturating_sub(aside), self.free_cash(account));
            if needed > free.0 {
                let needed = Cash(needed);
                return Err(Refusal::InsufficientFunds { needed, free });
            }
            return Ok(());
        }
        let aside = old.map_or(0, |old| old.open);
        let needed = wanted.quantity.saturating_sub(aside);
        let free = self.shares(account, name) - self.reserved_shares(account, name);
        if needed > free {
            return Err(Refusal::InsufficientShares {
                needed: self.quantity(name, needed),
                free: self.quantity(name, free),
            });
        }
        Ok(())
    }

    pub(super) fn order(&mut self, context: &Context<'_>, sent: Order) -> Result<Done, Refusal> {
        self.holder(sent.account)?;
        if let Some(known) = self.orders.iter().find(|known| {
            sent.client_id.is_some()
                && (known.sent.account, known.sent.client_id) == (sent.account, sent.client_id)
        }) {
            return if known.sent == sent {
                let ticket = known.first.unwrap();
                let again = true;
                Ok(Done::Accepted { ticket, again })
            } else {
                Err(Refusal::ClientIdReused { order: known.id })
            };
        }
        let wanted = self.wanted(sent, sent.quantity, sent.limit)?;
        self.admit(context, &wanted, None)?;
        if self.listed(sent.symbol).is_none() {
            self.list(sent.symbol, 4, 4);
        }
        self.accepted += 1;
        let id = OrderId(self.accepted);
        self.orders.push(Kept {
            id,
            sent,
            sender: *context.principal,
            first: None,
            quantity: wanted.quantity,
            limit: wanted.limit,
            open: wanted.quantity,
            arrival: None,
            since: context.now,
            executions: Vec::new(),
            cancelled: None,
            ended: None,
        });
        let ticket = self.arrive(context, id, &wanted);
        self.at_mut(id).first = Some(ticket);
        let again = false;
        Ok(Done::Accepted { ticket, again })
    }

    fn arrive(&mut self, context: &Context<'_>, id: OrderId, wanted: &Wanted) -> Ticket {
        let name = wanted.sent.symbol;
        let course = self.course(wanted);
        for &(maker, meeting) in &course.meets {
            match meeting {
                Meeting::Trade(part) => self.trade(context, maker, id, part),
                Meeting::Expire => self.take_off(context, maker, EndReason::SelfTrade),
            }
        }
        let left = wanted.quantity - course.filled;
        let state = if left == 0 {
            self.end(context, id, None);
            TicketState::Filled
        } else if !course.stopped && waits(&wanted.sent) {
            self.arrivals += 1;
            self.at_mut(id).arrival = Some(self.arrivals);
            let limit = wanted.limit.unwrap();
            let kind = EventKind::Opened {
                party: self.party(id, left),
                side: wanted.sent.side,
                price: self.price(name, limit),
            };
            self.tell(context, name, Some((wanted.sent.side, limit)), kind);
            TicketState::Open
        } else {
            let reason = if course.stopped {
                EndReason::SelfTrade
            } else {
                EndReason::Immediate
            };
            self.end(context, id, Some(reason));
            let kind = self.cancelled(id, left, Some(reason));
            self.tell(context, name, None, kind);
            TicketState::Ended(reason)
        };
        Ticket {
            order: id,
            state,
            filled: self.quantity(name, course.filled),
            value: Cash(course.value),
            open: self.quantity(name, self.at(id).open),
        }
    }

    fn trade(&mut self, context: &Context<'_>, maker: OrderId, taker: OrderId, part: u64) {
        let Kept { sent, limit, .. } = self.at(maker).clone();
        let (name, limit) = (sent.symbol, limit.unwrap());
        let (price, quantity) = (self.price(name, limit), self.quantity(name, part));
        for (id, counterparty) in [(maker, taker), (taker, maker)] {
            let order = self.at_mut(id);
            order.open -= part;
            order.executions.push(Execution {
                quantity,
                price,
                at: context.now,
                counterparty,
            });
        }
        let (maker_left, taker_left) = (self.at(maker).open, self.at(taker).open);
        if maker_left == 0 {
            self.end(context, maker, None);
        }
        let took = self.at(taker).sent;
        let (buyer, seller) = match sent.side {
            Side::Buy => (sent.account, took.account),
            Side::Sell => (took.account, sent.account),
        };
        let value = self.value(name, limit, part);
        self.holder_mut(buyer).cash -= value;
        self.holder_mut(seller).cash += value;
        self.move_shares(seller, name, 0, part);
        self.move_shares(buyer, name, part, 0);
        self.trades += 1;
        let (trade, side) = (self.trades, took.side);
        self.listed_mut(name).trades.push(Trade {
            trade,
            at: context.now,
            price,
            quantity,
            side,
            maker,
            taker,
        });
        let kind = EventKind::Traded {
            trade,
            price,
            quantity,
            side,
            maker: self.party(maker, maker_left),
            taker: self.party(taker, taker_left),
        };
        self.tell(context, name, Some((sent.side, limit)), kind);
    }

    pub(super) fn replace(
        &mut self,
        context: &Context<'_>,
        id: OrderId,
        quantity: Decimal,
        limit: Option<Decimal>,
    ) -> Result<Done, Refusal> {
        let old = self.at(id).clone();
        let (sent, name) = (old.sent, old.sent.symbol);
        let field = CommandField::Quantity;
        let open = units(quantity, self.scales(name).1, field)?;
        let filled = old.quantity - old.open;
        if filled + open > limits::UNITS_MAX {
            return Err(Refusal::TooLarge { field });
        }
        let mut wanted = self.wanted(sent, quantity, limit)?;
        wanted.limit = wanted.limit.or(old.limit);
        let change = Some((sent.side, old.limit.unwrap()));
        if wanted.limit == old.limit && open <= old.open {
            if self.listed(name).unwrap().halted {
                return Err(Refusal::SymbolHalted);
            }
            let order = self.at_mut(id);
            (order.open, order.quantity) = (open, filled + open);
            if open < old.open {
                let kind = EventKind::Reduced {
                    party: self.party(id, open),
                    side: sent.side,
                    price: self.price(name, old.limit.unwrap()),
                };
                self.tell(context, name, change, kind);
            }
            let ticket = Ticket {
                order: id,
                state: TicketState::Open,
                filled: Decimal::ZERO,
                value: Cash(0),
                open: self.quantity(name, open),
            };
            let kept_place = true;
            return Ok(Done::Replaced { ticket, kept_place });
        }
        self.admit(context, &wanted, Some(&old))?;
        let order = self.at_mut(id);
        order.arrival = None;
        let kind = self.cancelled(id, old.open, None);
        self.tell(context, name, change, kind);
        let order = self.at_mut(id);
        (order.open, order.quantity, order.limit) = (open, filled + open, wanted.limit);
        let ticket = self.arrive(context, id, &wanted);
        let kept_place = false;
        Ok(Done::Replaced { ticket, kept_place })
    }
}
