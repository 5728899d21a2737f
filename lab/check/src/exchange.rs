//! The exchange in its plainest form: accounts, and a list of orders for each price.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::{Model, compact::compact};

/// Whole shares.
pub type ShareCount = u64;

/// Cents.
pub type Cents = u64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrderSide {
    Buy,
    Sell,
}

/// An order with a limit. Accounts and symbols are numbers within the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LimitOrder {
    pub account: u16,
    pub symbol: u16,
    pub side: OrderSide,
    pub quantity: ShareCount,
    pub limit: Cents,
    /// It does not wait.
    pub immediate: bool,
}

/// What was asked, and what was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TradingOperation {
    Order {
        order: LimitOrder,
        answer: Ordered,
    },
    Cancel {
        account: u16,
        order: u64,
        answer: OrderCancelled,
    },
    /// Somebody looks at the best price on each side of a book, and how many shares wait there.
    Look {
        symbol: u16,
        bid: Option<(Cents, ShareCount)>,
        ask: Option<(Cents, ShareCount)>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ordered {
    Accepted {
        order: u64,
        ticket: OrderTicket,
    },
    /// There is not enough cash, or there are not enough shares.
    NotCovered,
    Unknown,
    /// A refusal that this load cannot get.
    Strange,
}

/// What became of an order at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OrderTicket {
    pub state: OrderState,
    /// What was executed.
    pub filled: ShareCount,
    /// What that cost or brought: the sum of price x quantity, in cents.
    pub value: Cents,
    /// What still waits.
    pub open: ShareCount,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrderState {
    Open,
    Filled,
    /// What was left of it was not to wait.
    Immediate,
    /// It met an order of its own account, and what was left of it was cancelled.
    SelfTrade,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrderCancelled {
    /// So many shares of it were open.
    Done(ShareCount),
    /// Nothing of it is open, or it is forgotten.
    Gone,
    Unknown,
    /// A refusal that this load cannot get.
    Strange,
}

compact!(enum OrderSide { 0 = Buy, 1 = Sell });
compact!(struct LimitOrder { account, symbol, side, quantity, limit, immediate });
compact!(enum TradingOperation {
    0 = Order { order, answer },
    1 = Cancel { account, order, answer },
    2 = Look { symbol, bid, ask },
});
compact!(enum Ordered { 0 = Accepted { order, ticket }, 1 = NotCovered, 2 = Unknown, 3 = Strange });
compact!(struct OrderTicket { state, filled, value, open });
compact!(enum OrderState { 0 = Open, 1 = Filled, 2 = Immediate, 3 = SelfTrade });
compact!(enum OrderCancelled { 0 = Done(shares), 1 = Gone, 2 = Unknown, 3 = Strange });

/// Cash and shares that can be used, and those that open orders have reserved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeldAmount {
    pub free: u64,
    pub reserved: u64,
}

/// Accounts, books and open orders, replayed.
///
/// Bounded: by accounts x symbols, and the orders that are open. An operation of unknown outcome
/// *clouds* it: orders that may be there change what all later ones get, so from then on nothing is
/// compared any more. Users ask under keys for that reason, and ask again what was not answered.
#[derive(Debug)]
pub struct TradingModel {
    cash: Vec<HeldAmount>,
    /// By account, then symbol.
    shares: Vec<Vec<HeldAmount>>,
    books: Vec<WitnessBook>,
    open: HashMap<u64, Open>,
    accepted: u64,
    clouded: bool,
}

/// The orders that wait, by price.
#[derive(Debug, Default)]
struct WitnessBook {
    bids: BTreeMap<Cents, PriceLevel>,
    asks: BTreeMap<Cents, PriceLevel>,
}

/// The orders of one price. Thousands may wait, and each look at a book asks for their sum.
#[derive(Debug, Default)]
struct PriceLevel {
    /// The position at which each came, and its number.
    orders: BTreeSet<(u64, u64)>,
    rest: ShareCount,
}

/// An order that waits.
#[derive(Clone, Copy, Debug)]
struct Open {
    order: LimitOrder,
    rest: ShareCount,
    position: u64,
}

impl TradingModel {
    /// Accounts that hold so many cents, and so many shares of each symbol.
    #[must_use]
    pub fn new(accounts: usize, symbols: usize, cash: Cents, shares: ShareCount) -> Self {
        let held = |free| HeldAmount { free, reserved: 0 };
        Self {
            cash: vec![held(cash); accounts],
            shares: vec![vec![held(shares); symbols]; accounts],
            books: (0..symbols).map(|_| WitnessBook::default()).collect(),
            open: HashMap::new(),
            accepted: 0,
            clouded: false,
        }
    }

    /// Whether there was an operation of unknown outcome.
    #[must_use]
    pub const fn is_clouded(&self) -> bool {
        self.clouded
    }

    /// Cents, by account.
    #[must_use]
    pub fn cash(&self) -> &[HeldAmount] {
        &self.cash
    }

    /// By account, then symbol.
    #[must_use]
    pub fn shares(&self) -> &[Vec<HeldAmount>] {
        &self.shares
    }

    /// How many orders are open.
    #[must_use]
    pub fn open(&self) -> usize {
        self.open.len()
    }

    /// How many orders were accepted.
    #[must_use]
    pub const fn accepted(&self) -> u64 {
        self.accepted
    }

    /// What an order would have to be covered by.
    fn purse(&mut self, order: &LimitOrder) -> &mut HeldAmount {
        let account = usize::from(order.account);
        match order.side {
            OrderSide::Buy => &mut self.cash[account],
            OrderSide::Sell => &mut self.shares[account][usize::from(order.symbol)],
        }
    }

    /// What an order of so many shares reserves.
    const fn cover(order: &LimitOrder, quantity: ShareCount) -> u64 {
        match order.side {
            OrderSide::Buy => order.limit * quantity,
            OrderSide::Sell => quantity,
        }
    }

    /// Matches an order, and says what becomes of it. It rests under its number, if it does.
    fn arrive(&mut self, order: &LimitOrder, number: u64, position: u64) -> OrderTicket {
        let needed = Self::cover(order, order.quantity);
        let purse = self.purse(order);
        purse.free -= needed;
        purse.reserved += needed;
        let mut ticket = OrderTicket {
            state: OrderState::Filled,
            filled: 0,
            value: 0,
            open: order.quantity,
        };
        let mut met_itself = false;
        while ticket.open > 0
            && let Some((price, maker)) = self.best_against(order)
        {
            let resting = self.open[&maker];
            if resting.order.account == order.account {
                met_itself = true;
                break;
            }
            let quantity = ticket.open.min(resting.rest);
            self.trade(order, &resting.order, price, quantity);
            self.reduce(maker, quantity);
            ticket.open -= quantity;
            ticket.filled += quantity;
            ticket.value += price * quantity;
        }
        if ticket.open == 0 {
            return ticket;
        }
        if met_itself || order.immediate {
            ticket.state = if met_itself {
                OrderState::SelfTrade
            } else {
                OrderState::Immediate
            };
            self.give_back(order, ticket.open);
            ticket.open = 0;
            return ticket;
        }
        ticket.state = OrderState::Open;
        let open = Open {
            order: *order,
            rest: ticket.open,
            position,
        };
        self.open.insert(number, open);
        let level = self.own_side(order).entry(order.limit).or_default();
        level.orders.insert((position, number));
        level.rest += ticket.open;
        ticket
    }

    /// The first order that this one can trade with, and its price.
    fn best_against(&self, order: &LimitOrder) -> Option<(Cents, u64)> {
        let book = &self.books[usize::from(order.symbol)];
        let (price, level) = match order.side {
            OrderSide::Buy => book.asks.first_key_value()?,
            OrderSide::Sell => book.bids.last_key_value()?,
        };
        let meets = match order.side {
            OrderSide::Buy => *price <= order.limit,
            OrderSide::Sell => *price >= order.limit,
        };
        meets.then_some((*price, level.orders.first()?.1))
    }

    fn own_side(&mut self, order: &LimitOrder) -> &mut BTreeMap<Cents, PriceLevel> {
        let book = &mut self.books[usize::from(order.symbol)];
        match order.side {
            OrderSide::Buy => &mut book.bids,
            OrderSide::Sell => &mut book.asks,
        }
    }

    /// Moves shares one way and cash the other, at the price of the order that waited.
    fn trade(
        &mut self,
        taker: &LimitOrder,
        maker: &LimitOrder,
        price: Cents,
        quantity: ShareCount,
    ) {
        let (buyer, seller) = match taker.side {
            OrderSide::Buy => (taker, maker),
            OrderSide::Sell => (maker, taker),
        };
        let symbol = usize::from(taker.symbol);
        let cash = &mut self.cash[usize::from(buyer.account)];
        cash.reserved -= buyer.limit * quantity;
        cash.free += (buyer.limit - price) * quantity;
        self.cash[usize::from(seller.account)].free += price * quantity;
        self.shares[usize::from(buyer.account)][symbol].free += quantity;
        self.shares[usize::from(seller.account)][symbol].reserved -= quantity;
    }

    /// What was reserved for so many shares can be used again.
    fn give_back(&mut self, order: &LimitOrder, quantity: ShareCount) {
        let cover = Self::cover(order, quantity);
        let purse = self.purse(order);
        purse.reserved -= cover;
        purse.free += cover;
    }

    /// Takes so many shares from an order that waits; when none are left, it is gone.
    fn reduce(&mut self, number: u64, quantity: ShareCount) {
        let Some(open) = self.open.get_mut(&number) else {
            return;
        };
        open.rest -= quantity;
        let Open {
            order,
            rest,
            position,
        } = *open;
        let side = self.own_side(&order);
        if let Some(level) = side.get_mut(&order.limit) {
            level.rest -= quantity;
            if rest == 0 {
                level.orders.remove(&(position, number));
            }
            if level.orders.is_empty() {
                side.remove(&order.limit);
            }
        }
        if rest == 0 {
            self.open.remove(&number);
        }
    }

    fn order(&mut self, position: u64, order: &LimitOrder, answer: Ordered) -> Result<(), String> {
        let needed = Self::cover(order, order.quantity);
        let free = self.purse(order).free;
        let (number, told) = match answer {
            Ordered::NotCovered if needed > free => return Ok(()),
            Ordered::NotCovered => {
                return Err(format!(
                    "{order:?} was refused as not covered, but needs {needed} of {free}"
                ));
            }
            Ordered::Accepted { order, ticket } => (order, ticket),
            Ordered::Unknown => return Err(format!("{order:?} has no answer, but a position")),
            Ordered::Strange => return Err(format!("{order:?} was refused for no reason")),
        };
        if needed > free {
            return Err(format!(
                "{order:?} was accepted, but needs {needed} of {free}"
            ));
        }
        if let Some(other) = self.open.get(&number) {
            return Err(format!(
                "{order:?} got number {number}, which the order of position {} has",
                other.position
            ));
        }
        self.accepted += 1;
        let best = self.best_against(order);
        let ticket = self.arrive(order, number, position);
        if ticket == told {
            return Ok(());
        }
        let met = best.map_or_else(
            || "no client was there to trade with".to_owned(),
            |(price, maker)| format!("order {maker} at {price} was first in line"),
        );
        Err(format!(
            "order {number}, {order:?}, became {told:?}, not {ticket:?}: {met}"
        ))
    }

    fn cancel(&mut self, account: u16, number: u64, answer: OrderCancelled) -> Result<(), String> {
        let wrong =
            |sentence: String| Err(format!("the cancellation of order {number} {sentence}"));
        let known = self.open.get(&number).copied();
        let open = match (answer, known) {
            (OrderCancelled::Gone, None) => return Ok(()),
            (OrderCancelled::Done(_) | OrderCancelled::Gone, Some(open)) => open,
            (OrderCancelled::Done(_), None) => {
                return wrong("was done, but nothing of it was open".to_owned());
            }
            (OrderCancelled::Unknown, _) => {
                return wrong("has no answer, but a position".to_owned());
            }
            (OrderCancelled::Strange, _) => return wrong("was refused for no reason".to_owned()),
        };
        self.give_back(&open.order, open.rest);
        self.reduce(number, open.rest);
        match answer {
            OrderCancelled::Done(quantity) if quantity == open.rest => {}
            OrderCancelled::Done(quantity) => {
                return wrong(format!(
                    "took {quantity} shares, but {} were open",
                    open.rest
                ));
            }
            _ => {
                return wrong(format!(
                    "was refused, for nothing of it is open, but {} shares of it wait since \
                     position {}: it is lost",
                    open.rest, open.position
                ));
            }
        }
        if open.order.account == account {
            return Ok(());
        }
        wrong("was done for another account".to_owned())
    }

    /// The best price of a side, and how many shares wait there.
    fn top(&self, symbol: u16, side: OrderSide) -> Option<(Cents, ShareCount)> {
        let book = &self.books[usize::from(symbol)];
        let (price, level) = match side {
            OrderSide::Buy => book.bids.last_key_value()?,
            OrderSide::Sell => book.asks.first_key_value()?,
        };
        Some((*price, level.rest))
    }
}

impl Model for TradingModel {
    type Operation = TradingOperation;

    fn apply(&mut self, position: u64, operation: &TradingOperation) -> Result<(), String> {
        if self.clouded {
            return Ok(());
        }
        match operation {
            TradingOperation::Order { order, answer } => self.order(position, order, *answer),
            TradingOperation::Cancel {
                account,
                order,
                answer,
            } => self.cancel(*account, *order, *answer),
            TradingOperation::Look { symbol, .. } => {
                Err(format!("a look at symbol {symbol} has a position"))
            }
        }
    }

    fn agrees(&self, reading: &TradingOperation) -> bool {
        match *reading {
            TradingOperation::Look { symbol, bid, ask } => {
                let tops = [OrderSide::Buy, OrderSide::Sell].map(|side| self.top(symbol, side));
                self.clouded || tops == [bid, ask]
            }
            _ => false,
        }
    }

    fn shown(&self, reading: &TradingOperation) -> String {
        let TradingOperation::Look { symbol, .. } = *reading else {
            return "it is no reading".to_owned();
        };
        let [bid, ask] = [OrderSide::Buy, OrderSide::Sell].map(|side| self.top(symbol, side));
        format!("the best are {bid:?} and {ask:?}")
    }

    /// Its book; an order that does not wait is in none.
    fn part(&self, operation: &TradingOperation) -> Option<u32> {
        let symbol = match operation {
            TradingOperation::Order { order, .. } => Some(order.symbol),
            TradingOperation::Cancel { order, .. } => {
                self.open.get(order).map(|open| open.order.symbol)
            }
            TradingOperation::Look { symbol, .. } => Some(*symbol),
        };
        Some(symbol.map_or(u32::MAX, u32::from))
    }

    fn suspect(&mut self, _operation: &TradingOperation) {
        self.clouded = true;
    }
}
