//! An independent model of what has been traded: sums and lists, nothing else.
//!
//! It decides nothing. It is shown each command with its outcome and its events, in order of
//! position, and says whether such an outcome was possible: cash and shares only change hands,
//! the best price and then the earlier order trades first, and nothing is filled beyond its size.

mod agreement;
mod answers;

use std::collections::BTreeMap;

use turnstile_exchange::{
    AccountId, CASH_SCALE, ClientId, Command, Decimal, EndReason, Event, EventKind, Exchange,
    Execution, Order, OrderId, OrderRef, Outcome, Party, SelfTrade, Side, Symbol, Ticket,
    TimeInForce, limits,
};
use turnstile_types::{Position, Timestamp};

use crate::actors::Model;

type Shown = Result<(), String>;

/// An order that was accepted once.
#[derive(Clone, Debug)]
struct Placed {
    sent: Order,
    /// What was answered first.
    ticket: Ticket,
    limit: Option<Decimal>,
    open: u128,
    /// When it came on the book; nothing while it is not there.
    arrival: Option<u64>,
    executions: Vec<Execution>,
    cancelled: Option<(Decimal, Timestamp, EndReason)>,
    ended: Option<Timestamp>,
}

/// All quantities and amounts are in units of 10^-8.
#[derive(Clone, Debug, Default)]
pub(crate) struct Market {
    /// Free and reserved.
    cash: BTreeMap<AccountId, u128>,
    /// Free and reserved.
    shares: BTreeMap<(AccountId, Symbol), u128>,
    /// Every order that was ever accepted.
    orders: BTreeMap<OrderId, Placed>,
    /// The latest order of each client id.
    clients: BTreeMap<(AccountId, ClientId), OrderId>,
    arrivals: u64,
    trades: u64,
}

fn units(number: Decimal) -> u128 {
    let units = number.at_scale(CASH_SCALE);
    units.expect("the machine keeps at most eight digits")
}

fn value(price: Decimal, quantity: u128) -> u128 {
    units(price) * quantity / 10_u128.pow(u32::from(CASH_SCALE))
}

fn ensure(holds: bool, sentence: impl FnOnce() -> String) -> Shown {
    if holds { Ok(()) } else { Err(sentence()) }
}

impl Model<Exchange> for Market {
    fn show(
        &mut self,
        (_position, now): (Position, Timestamp),
        asked: Option<(&Command, &Outcome)>,
        events: &[Event],
    ) -> Shown {
        match asked {
            None => self.tick(now, events),
            Some((command, outcome)) => self.decided(now, command, outcome, events),
        }
    }

    fn agrees(&self, now: Timestamp, exchange: &Exchange) -> Shown {
        self.compare(now, exchange)
    }
}

impl Market {
    /// Shows a command, its outcome at the logged time `now`, and what happened then.
    fn decided(
        &mut self,
        now: Timestamp,
        command: &Command,
        outcome: &Outcome,
        events: &[Event],
    ) -> Shown {
        self.place(now, command, outcome)?;
        let happened = events.iter().try_for_each(|event| self.happen(now, event));
        happened.and_then(|()| match outcome {
            Outcome::Done(done) => self.done(command, done, events),
            Outcome::Refused(refusal) => self.refused(now, command, refusal),
        })
    }

    /// Shows what a tick has done.
    fn tick(&mut self, now: Timestamp, events: &[Event]) -> Shown {
        let expired = |event: &&Event| {
            let reason = Some(EndReason::Expired);
            matches!(event.kind, EventKind::Cancelled { reason: found, .. } if found == reason)
        };
        match events.iter().find(|event| !expired(event)) {
            Some(event) => Err(format!("a tick caused {event:?}")),
            None => events.iter().try_for_each(|event| self.happen(now, event)),
        }
    }

    fn happen(&mut self, now: Timestamp, event: &Event) -> Shown {
        let happened = match event.kind {
            EventKind::Opened { party, price, .. } => self.opened(&party, price),
            EventKind::Traded { .. } => self.traded(now, event),
            EventKind::Reduced { party, .. } => self.open_is(&party),
            EventKind::Cancelled {
                party,
                quantity,
                reason,
                ..
            } => self.cancelled(now, &party, quantity, reason),
            EventKind::Rejected { .. } | EventKind::Halted | EventKind::Resumed => Ok(()),
        };
        let timely = ensure(event.at == now, || format!("it is {now}"));
        happened
            .and(timely)
            .map_err(|what| format!("{event:?}: {what}"))
    }

    fn order(&self, party: &Party) -> Result<&Placed, String> {
        let order = self.orders.get(&party.order);
        let order = order.ok_or("nobody sent that order")?;
        let same = (order.sent.account, order.sent.client_id) == (party.account, party.client_id);
        ensure(same && order.ended.is_none(), || format!("it is {order:?}"))?;
        Ok(order)
    }

    fn order_mut(&mut self, id: OrderId) -> &mut Placed {
        self.orders.get_mut(&id).expect("it was just found")
    }

    fn open_is(&self, party: &Party) -> Shown {
        let order = self.order(party)?;
        ensure(order.open == units(party.open), || {
            format!("it is {order:?}")
        })
    }

    fn opened(&mut self, party: &Party, price: Decimal) -> Shown {
        self.open_is(party)?;
        let order = self.order(party)?;
        let fits = order.arrival.is_none() && order.limit == Some(price) && order.open > 0;
        ensure(fits, || format!("it is {order:?}"))?;
        self.arrivals += 1;
        self.order_mut(party.order).arrival = Some(self.arrivals);
        Ok(())
    }

    /// Takes an order off the book; without a reason, it is being moved.
    fn cancelled(
        &mut self,
        now: Timestamp,
        party: &Party,
        quantity: Decimal,
        reason: Option<EndReason>,
    ) -> Shown {
        let order = self.order(party)?.clone();
        let Some(reason) = reason else {
            ensure(order.arrival.is_some(), || "it does not rest".to_owned())?;
            self.order_mut(party.order).arrival = None;
            return Ok(());
        };
        ensure(order.open == units(quantity) && order.open > 0, || {
            format!("it is {order:?}")
        })?;
        let TimeInForce::GoodTillDate(until) = order.sent.time_in_force else {
            return self.ended(now, party.order, quantity, reason);
        };
        ensure(reason != EndReason::Expired || until <= now, || {
            format!("it may rest until {until}")
        })?;
        self.ended(now, party.order, quantity, reason)
    }

    fn ended(
        &mut self,
        now: Timestamp,
        id: OrderId,
        quantity: Decimal,
        reason: EndReason,
    ) -> Shown {
        let order = self.order_mut(id);
        order.cancelled = Some((quantity, now, reason));
        (order.open, order.arrival, order.ended) = (0, None, Some(now));
        Ok(())
    }

    fn traded(&mut self, now: Timestamp, event: &Event) -> Shown {
        let EventKind::Traded {
            trade,
            price,
            quantity,
            side,
            maker,
            taker,
        } = event.kind
        else {
            unreachable!("only trades are shown here")
        };
        self.trades += 1;
        let (made, took) = (self.order(&maker)?.clone(), self.order(&taker)?.clone());
        let moved = units(quantity);
        let of_one_kind = made.sent.symbol == event.symbol
            && took.sent.symbol == event.symbol
            && took.sent.side == side
            && made.sent.side == side.opposite();
        let own = maker.account == taker.account;
        let limit = took.limit.map(units);
        let fits = trade == self.trades
            && of_one_kind
            && made.arrival.is_some()
            && took.arrival.is_none()
            && made.limit == Some(price)
            && limit.is_none_or(|limit| !is_worse(side, units(price), limit))
            && (0 < moved && moved <= made.open && moved <= took.open)
            && (!own || took.sent.self_trade == SelfTrade::Allow);
        ensure(fits, || format!("{made:?} met {took:?}"))?;
        self.was_first(&made, &took)?;
        for (party, other) in [(maker, taker), (taker, maker)] {
            let order = self.order_mut(party.order);
            order.open -= moved;
            order.executions.push(Execution {
                quantity,
                price,
                at: now,
                counterparty: other.order,
            });
            if order.open == 0 {
                (order.arrival, order.ended) = (None, Some(now));
            }
            let left = order.open;
            ensure(left == units(party.open), || format!("{left} are left"))?;
        }
        let (buyer, seller) = match side {
            Side::Buy => (taker.account, maker.account),
            Side::Sell => (maker.account, taker.account),
        };
        self.exchange(buyer, seller, event.symbol, (moved, value(price, moved)))
    }

    /// Nobody whom the taker could have met instead had the better price, or the same and earlier.
    fn was_first(&self, made: &Placed, took: &Placed) -> Shown {
        let may_meet = |other: &&Placed| {
            other.arrival.is_some()
                && (other.sent.symbol, other.sent.side) == (made.sent.symbol, made.sent.side)
                && (other.sent.account != took.sent.account
                    || took.sent.self_trade == SelfTrade::Allow)
        };
        let rank = |order: &Placed| {
            let limit = order.limit.map_or(0, units);
            let price = match order.sent.side {
                Side::Buy => u128::MAX - limit,
                Side::Sell => limit,
            };
            (price, order.arrival)
        };
        let first = self
            .orders
            .values()
            .filter(may_meet)
            .min_by_key(|order| rank(order));
        match first {
            Some(first) if rank(first) < rank(made) => {
                Err(format!("{first:?} was before {made:?}"))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Moves shares one way and cash the other.
    fn exchange(
        &mut self,
        buyer: AccountId,
        seller: AccountId,
        symbol: Symbol,
        (shares, cash): (u128, u128),
    ) -> Shown {
        let purse = self.cash.entry(buyer).or_default();
        *purse = purse.checked_sub(cash).ok_or("the buyer has less cash")?;
        *self.cash.entry(seller).or_default() += cash;
        let held = self.shares.entry((seller, symbol)).or_default();
        *held = held
            .checked_sub(shares)
            .ok_or("the seller has fewer shares")?;
        *self.shares.entry((buyer, symbol)).or_default() += shares;
        Ok(())
    }

    /// What an account's open buy orders may cost.
    fn reserved_cash(&self, account: AccountId) -> u128 {
        let open = self
            .resting(account)
            .filter(|order| order.sent.side == Side::Buy);
        open.map(|order| order.limit.map_or(0, |limit| value(limit, order.open)))
            .sum()
    }

    /// What an account's open sell orders may give away.
    fn reserved_shares(&self, account: AccountId, symbol: Symbol) -> u128 {
        let open = self.resting(account);
        open.filter(|order| (order.sent.side, order.sent.symbol) == (Side::Sell, symbol))
            .map(|order| order.open)
            .sum()
    }

    fn resting(&self, account: AccountId) -> impl Iterator<Item = &Placed> {
        let orders = self.orders.values();
        orders.filter(move |order| order.arrival.is_some() && order.sent.account == account)
    }

    fn free_cash(&self, account: AccountId) -> u128 {
        let all = self.cash.get(&account).copied().unwrap_or(0);
        all.saturating_sub(self.reserved_cash(account))
    }

    fn free_shares(&self, account: AccountId, symbol: Symbol) -> u128 {
        let all = self.shares.get(&(account, symbol)).copied().unwrap_or(0);
        all.saturating_sub(self.reserved_shares(account, symbol))
    }

    /// The order that an account names, where it must be known at `now`.
    fn remembered(&self, now: Timestamp, account: AccountId, order: OrderRef) -> Option<&Placed> {
        let id = match order {
            OrderRef::Id(id) => id,
            OrderRef::Client(client) => *self.clients.get(&(account, client))?,
        };
        self.orders
            .get(&id)
            .filter(|order| !order.may_be_forgotten(now))
    }
}

impl Placed {
    fn may_be_forgotten(&self, now: Timestamp) -> bool {
        let ended = self.ended;
        ended.is_some_and(|ended| ended.plus_ms(limits::ENDED_MS) <= now)
    }
}

/// Whether whoever takes on this side would rather have the limit than the price.
const fn is_worse(side: Side, price: u128, limit: u128) -> bool {
    match side {
        Side::Buy => price > limit,
        Side::Sell => price < limit,
    }
}

#[cfg(test)]
mod tests {
    use turnstile_exchange::{Done, Exchange};
    use turnstile_types::{Context, Machine, Position, Principal};

    use super::*;

    /// One record with all that it caused.
    type Step = (Command, Outcome, Vec<Event>);

    fn number(text: &str) -> Decimal {
        Decimal::parse(text.as_bytes()).unwrap()
    }

    fn account(text: &str) -> AccountId {
        AccountId::parse(text.as_bytes()).unwrap()
    }

    fn order(who: &str, side: Side, (quantity, limit): (&str, &str)) -> Order {
        Order {
            account: account(who),
            symbol: Symbol::parse(b"X").unwrap(),
            side,
            quantity: number(quantity),
            limit: Some(number(limit)),
            time_in_force: TimeInForce::GoodTillCancel,
            self_trade: SelfTrade::ExpireTaker,
            client_id: None,
        }
    }

    /// Two sellers at one price, one below them, a buyer that meets the best and the earlier of
    /// the others, and a cancellation.
    fn honest() -> Vec<Step> {
        let cash = number("1000");
        let symbol = Symbol::parse(b"X").unwrap();
        let quantity = number("50");
        let client_id = Some(ClientId::parse(b"mine").unwrap());
        let mut commands = Vec::new();
        for account in ["a", "b", "c"].map(account) {
            commands.push(Command::CreateAccount { account, cash });
            commands.push(Command::Grant {
                account,
                symbol,
                quantity,
            });
        }
        let buy = Order {
            client_id,
            ..order("c", Side::Buy, ("4", "12"))
        };
        commands.extend([
            Command::Order(order("a", Side::Sell, ("5", "11"))),
            Command::Order(order("b", Side::Sell, ("5", "11"))),
            Command::Order(order("b", Side::Sell, ("1", "10"))),
            Command::Order(buy),
            Command::Order(buy),
            Command::Cancel {
                account: account("a"),
                order: OrderRef::Id(OrderId(1)),
            },
        ]);
        let mut exchange = Exchange::empty();
        let mut steps = Vec::new();
        for (position, command) in (1..).map(Position).zip(commands) {
            let context = Context {
                position,
                now: Timestamp(0),
                principal: &Principal::local(),
            };
            let outcome = exchange.apply(&context, &command);
            let mut events = Vec::new();
            exchange.drain_events(&mut |event| events.push(event));
            steps.push((command, outcome, events));
        }
        steps
    }

    fn shown(steps: &[Step]) -> Result<Market, String> {
        let mut market = Market::default();
        for (command, outcome, events) in steps {
            market.decided(Timestamp(0), command, outcome, events)?;
        }
        Ok(market)
    }

    /// Changes the first or the second trade of the buyer.
    fn retell(steps: &mut [Step], which: usize, order: u64, (worth, many): (&str, &str)) {
        let made = shown(&steps[..9]).unwrap().orders[&OrderId(order)].clone();
        let left = made.open - units(number(many));
        if let EventKind::Traded {
            price,
            quantity,
            maker,
            ..
        } = &mut steps[9].2[which].kind
        {
            (*price, *quantity) = (number(worth), number(many));
            (maker.order, maker.account) = (OrderId(order), made.sent.account);
            maker.open = Decimal::new(u64::try_from(left).unwrap(), CASH_SCALE);
        }
    }

    /// Says something else than what has happened.
    type Lie = fn(&mut Vec<Step>);

    #[test]
    fn an_honest_history_is_believed_and_every_lie_is_noticed() {
        let mut as_it_was = honest();
        retell(&mut as_it_was, 0, 3, ("10", "1"));
        retell(&mut as_it_was, 1, 1, ("11", "3"));
        assert_eq!(as_it_was, honest());
        let believed = shown(&honest()).unwrap();
        assert_eq!(believed.trades, 2);
        assert_eq!(believed.cash[&account("c")], 957 * 10_u128.pow(8));
        let lies: [(&str, Lie); 10] = [
            ("a trade is not told", |steps| steps[9].2.truncate(1)),
            ("a trade is told twice", |steps| {
                let told = steps[9].2[0];
                steps[9].2.insert(0, told);
            }),
            ("another price", |steps| retell(steps, 0, 3, ("11", "1"))),
            ("another quantity", |steps| {
                retell(steps, 1, 1, ("11", "2"));
            }),
            ("a worse price before a better one", |steps| {
                retell(steps, 0, 1, ("11", "1"));
            }),
            ("the later order before the earlier one", |steps| {
                retell(steps, 1, 2, ("11", "3"));
            }),
            ("another cost", |steps| {
                if let Outcome::Done(Done::Accepted { ticket, .. }) = &mut steps[9].1 {
                    ticket.value.0 += 1;
                }
            }),
            ("a client id that opens two orders", |steps| {
                if let Outcome::Done(Done::Accepted { again, .. }) = &mut steps[10].1 {
                    *again = false;
                }
            }),
            ("another's order is cancelled", |steps| {
                steps[11].0 = Command::Cancel {
                    account: account("b"),
                    order: OrderRef::Id(OrderId(1)),
                };
            }),
            ("cash that nobody has", |steps| {
                steps[4].0 = Command::CreateAccount {
                    account: account("c"),
                    cash: number("42"),
                };
            }),
        ];
        for (lie, tell) in lies {
            let mut steps = honest();
            tell(&mut steps);
            assert!(shown(&steps).is_err(), "{lie}");
        }
    }
}
