//! The exchange once more, as naively as can be: one vector of orders, sorted whenever somebody
//! asks, and sums instead of balances.

mod answers;
mod market;
mod rules;

use turnstile_exchange::{
    AccountId, Cash, Command, Decimal, Done, EndReason, Event, EventKind, Execution, Level, Order,
    OrderId, OrderRef, Outcome, Party, Refusal, Side, Symbol, Ticket, TimeInForce, Trade, limits,
};
use turnstile_types::{Context, Position, Principal, Timestamp};

#[derive(Debug, Default)]
pub(crate) struct Twin {
    accounts: Vec<Holder>,
    symbols: Vec<Listed>,
    /// Every order that is remembered, by id.
    orders: Vec<Kept>,
    /// The ids of those that have ended, in the order in which they did.
    ended: Vec<OrderId>,
    accepted: u64,
    /// Counts whenever an order is put on a book: the earlier one comes first.
    arrivals: u64,
    trades: u64,
    pub(crate) events: Vec<Event>,
    last: (Position, u32),
}

#[derive(Debug)]
struct Holder {
    id: AccountId,
    /// Free and reserved.
    cash: u128,
    open_orders: Option<u32>,
    quantity: Option<Decimal>,
    notional: Option<Cash>,
    /// Free and reserved, by symbol in the order of the symbols.
    shares: Vec<(Symbol, u64)>,
}

#[derive(Debug)]
struct Listed {
    name: Symbol,
    price_scale: u8,
    quantity_scale: u8,
    halted: bool,
    low: Option<u64>,
    high: Option<u64>,
    issued: u64,
    seq: u64,
    trades: Vec<Trade>,
}

/// An order in units.
#[derive(Clone, Debug)]
struct Kept {
    id: OrderId,
    sent: Order,
    sender: Principal,
    first: Option<Ticket>,
    quantity: u64,
    limit: Option<u64>,
    open: u64,
    /// When it came on the book; none while it is not there.
    arrival: Option<u64>,
    since: Timestamp,
    executions: Vec<Execution>,
    cancelled: Option<(u64, Timestamp, EndReason)>,
    ended: Option<Timestamp>,
}

impl Twin {
    pub(crate) fn apply(&mut self, context: &Context<'_>, command: &Command) -> Outcome {
        self.tick(context);
        match self.decide(context, command) {
            Ok(done) => Outcome::Done(done),
            Err(refusal) => Outcome::Refused(refusal),
        }
    }

    /// How many open orders a principal has sent.
    pub(crate) fn open_orders_of(&self, principal: &Principal) -> usize {
        let open = self.orders.iter().filter(|order| order.arrival.is_some());
        open.filter(|order| order.sender == *principal).count()
    }

    pub(crate) fn tick(&mut self, context: &Context<'_>) {
        let mut due: Vec<(Timestamp, OrderId)> = self.deadlines();
        due.retain(|&(until, _)| until <= context.now);
        for (_, id) in due {
            self.take_off(context, id, EndReason::Expired);
        }
        for _ in 0..limits::FORGOTTEN_AT_ONCE {
            let Some(&oldest) = self.ended.first() else {
                return;
            };
            let ended = self.at(oldest).ended.unwrap();
            if ended.plus_ms(limits::ENDED_MS) <= context.now {
                self.ended.remove(0);
                self.orders.retain(|order| order.id != oldest);
            }
        }
    }

    fn deadlines(&self) -> Vec<(Timestamp, OrderId)> {
        let mut deadlines: Vec<_> = self
            .orders
            .iter()
            .filter(|order| order.arrival.is_some())
            .filter_map(|order| match order.sent.time_in_force {
                TimeInForce::GoodTillDate(until) => Some((until, order.id)),
                _ => None,
            })
            .collect();
        deadlines.sort();
        deadlines
    }

    pub(crate) fn next_deadline(&self) -> Option<Timestamp> {
        self.deadlines().first().map(|&(until, _)| until)
    }

    fn at(&self, id: OrderId) -> &Kept {
        self.orders.iter().find(|order| order.id == id).unwrap()
    }

    fn at_mut(&mut self, id: OrderId) -> &mut Kept {
        self.orders.iter_mut().find(|order| order.id == id).unwrap()
    }

    fn holder(&self, id: AccountId) -> Result<&Holder, Refusal> {
        let found = self.accounts.iter().find(|holder| holder.id == id);
        found.ok_or(Refusal::UnknownAccount)
    }

    fn holder_mut(&mut self, id: AccountId) -> &mut Holder {
        let found = self.accounts.iter_mut().find(|holder| holder.id == id);
        found.unwrap()
    }

    fn listed(&self, name: Symbol) -> Option<&Listed> {
        self.symbols.iter().find(|listed| listed.name == name)
    }

    fn listed_mut(&mut self, name: Symbol) -> &mut Listed {
        let found = self.symbols.iter_mut().find(|listed| listed.name == name);
        found.unwrap()
    }

    /// The scales of a symbol, there or not.
    fn scales(&self, name: Symbol) -> (u8, u8) {
        self.listed(name)
            .map_or((4, 4), |listed| (listed.price_scale, listed.quantity_scale))
    }

    fn price(&self, name: Symbol, units: u64) -> Decimal {
        Decimal::new(units, self.scales(name).0)
    }

    fn quantity(&self, name: Symbol, units: u64) -> Decimal {
        Decimal::new(units, self.scales(name).1)
    }

    fn value(&self, name: Symbol, price: u64, quantity: u64) -> u128 {
        let (price_scale, quantity_scale) = self.scales(name);
        let digits = u32::from(8 - price_scale - quantity_scale);
        u128::from(price) * u128::from(quantity) * 10_u128.pow(digits)
    }

    /// An account's orders that are on books, by id.
    fn open_of(&self, account: AccountId) -> Vec<&Kept> {
        let open = self.orders.iter().filter(|order| order.arrival.is_some());
        open.filter(|order| order.sent.account == account).collect()
    }

    fn reserved_cash(&self, account: AccountId) -> u128 {
        let buys = self.open_of(account).into_iter();
        buys.filter(|order| order.sent.side == Side::Buy)
            .map(|order| self.value(order.sent.symbol, order.limit.unwrap(), order.open))
            .sum()
    }

    fn reserved_shares(&self, account: AccountId, name: Symbol) -> u64 {
        let open = self.open_of(account).into_iter();
        open.filter(|order| (order.sent.side, order.sent.symbol) == (Side::Sell, name))
            .map(|order| order.open)
            .sum()
    }

    fn shares(&self, account: AccountId, name: Symbol) -> u64 {
        let holder = self.holder(account).unwrap();
        let held = holder.shares.iter().find(|(symbol, _)| *symbol == name);
        held.map_or(0, |&(_, shares)| shares)
    }

    /// Changes what an account holds of a symbol.
    fn move_shares(&mut self, account: AccountId, name: Symbol, more: u64, less: u64) {
        let holder = self.holder_mut(account);
        let held = holder.shares.iter().position(|(symbol, _)| *symbol == name);
        let held = held.unwrap_or_else(|| {
            holder.shares.push((name, 0));
            holder.shares.len() - 1
        });
        holder.shares[held].1 += more;
        holder.shares[held].1 -= less;
        let order: Vec<Symbol> = self.symbols.iter().map(|listed| listed.name).collect();
        let place = |name: &Symbol| order.iter().position(|other| other == name);
        self.holder_mut(account)
            .shares
            .sort_by_key(|(name, _)| place(name));
    }

    /// The orders on one side of a book, in the order in which they trade.
    fn side(&self, name: Symbol, side: Side) -> Vec<Kept> {
        let open = self.orders.iter().filter(|order| order.arrival.is_some());
        let mut orders: Vec<Kept> = open
            .filter(|order| (order.sent.symbol, order.sent.side) == (name, side))
            .cloned()
            .collect();
        orders.sort_by_key(|order| {
            let price = order.limit.unwrap();
            let rank = if side == Side::Buy {
                u64::MAX - price
            } else {
                price
            };
            (rank, order.arrival)
        });
        orders
    }

    fn party(&self, id: OrderId, open: u64) -> Party {
        let order = self.at(id);
        Party {
            order: id,
            account: order.sent.account,
            client_id: order.sent.client_id,
            open: self.quantity(order.sent.symbol, open),
        }
    }

    /// Adds an event; with a side and a price, the book changed there.
    fn tell(
        &mut self,
        context: &Context<'_>,
        name: Symbol,
        change: Option<(Side, u64)>,
        kind: EventKind,
    ) {
        if self.last.0 != context.position {
            self.last = (context.position, 0);
        }
        let (mut seq, mut level) = (None, None);
        if let Some((side, price)) = change {
            let mut there = self.side(name, side);
            there.retain(|order| order.limit == Some(price));
            let sum = there.iter().map(|order| order.open).sum();
            level = Some(Level {
                side,
                price: self.price(name, price),
                quantity: self.quantity(name, sum),
                orders: u32::try_from(there.len()).unwrap(),
            });
            let listed = self.listed_mut(name);
            listed.seq += 1;
            seq = Some(listed.seq);
        }
        self.events.push(Event {
            position: context.position,
            ordinal: self.last.1,
            at: context.now,
            symbol: name,
            seq,
            level,
            kind,
        });
        self.last.1 += 1;
    }

    fn named(&self, account: Option<AccountId>, order: OrderRef) -> Result<OrderId, Refusal> {
        let found = match order {
            OrderRef::Id(id) => self.orders.iter().find(|order| order.id == id),
            OrderRef::Client(id) => {
                let account = account.ok_or(Refusal::UnknownAccount)?;
                let mut orders = self.orders.iter();
                orders
                    .find(|order| (order.sent.account, order.sent.client_id) == (account, Some(id)))
            }
        };
        found.map(|order| order.id).ok_or(Refusal::NotFound)
    }

    fn own_open(&self, account: AccountId, order: OrderRef) -> Result<OrderId, Refusal> {
        self.holder(account)?;
        let id = self.named(Some(account), order)?;
        let order = self.at(id);
        if order.sent.account != account {
            return Err(Refusal::NotYours);
        }
        order.arrival.map(|_| id).ok_or(Refusal::NotOpen)
    }

    fn decide(&mut self, context: &Context<'_>, command: &Command) -> Result<Done, Refusal> {
        match *command {
            Command::Order(order) => {
                let answer = self.order(context, order);
                if let Err(refusal) = answer {
                    let kind = EventKind::Rejected {
                        account: order.account,
                        client_id: order.client_id,
                        code: refusal.code(),
                    };
                    self.tell(context, order.symbol, None, kind);
                }
                answer
            }
            Command::Cancel { account, order } => {
                let order = self.own_open(account, order)?;
                let Kept { open, sent, .. } = self.at(order).clone();
                self.take_off(context, order, EndReason::Cancelled);
                let quantity = self.quantity(sent.symbol, open);
                Ok(Done::Cancelled { order, quantity })
            }
            Command::Replace {
                account,
                order,
                quantity,
                limit,
            } => {
                let id = self.own_open(account, order)?;
                self.replace(context, id, quantity, limit)
            }
            Command::CancelAll { account, symbol } => {
                self.holder(account)?;
                if symbol.is_some_and(|name| self.listed(name).is_none()) {
                    return Err(Refusal::UnknownSymbol);
                }
                let own = self.open_of(account).into_iter();
                let wanted = own.filter(|order| symbol.is_none_or(|it| it == order.sent.symbol));
                let ids: Vec<OrderId> = wanted.map(|order| order.id).collect();
                for &id in &ids {
                    self.take_off(context, id, EndReason::MassCancelled);
                }
                let orders = u32::try_from(ids.len()).unwrap();
                Ok(Done::AllCancelled { orders })
            }
            _ => self.rule(context, command),
        }
    }

    /// Takes an order off its book and ends it.
    fn take_off(&mut self, context: &Context<'_>, id: OrderId, reason: EndReason) {
        let order = self.at(id).clone();
        let change = Some((order.sent.side, order.limit.unwrap()));
        self.end(context, id, Some(reason));
        let kind = self.cancelled(id, order.open, Some(reason));
        self.tell(context, order.sent.symbol, change, kind);
    }

    fn end(&mut self, context: &Context<'_>, id: OrderId, reason: Option<EndReason>) {
        let order = self.at_mut(id);
        order.cancelled = reason.map(|reason| (order.open, context.now, reason));
        order.open = 0;
        order.arrival = None;
        order.ended = Some(context.now);
        self.ended.push(id);
    }

    fn cancelled(&self, id: OrderId, quantity: u64, reason: Option<EndReason>) -> EventKind {
        let order = self.at(id);
        EventKind::Cancelled {
            party: self.party(id, 0),
            side: order.sent.side,
            quantity: self.quantity(order.sent.symbol, quantity),
            reason,
        }
    }
}
