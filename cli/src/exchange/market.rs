//! An order book driven by LOBSTER messages.
//!
//! A message file lists consequences: that an order rests, that it was executed. Who came and
//! traded is not there. So a new order is rested without being matched, and an execution is
//! matched: an order of the other side comes, of that size, at the price of the named order. The
//! book then has to trade with the named order and no other.

use std::{
    collections::{BTreeMap, HashMap},
    fmt,
};

use turnstile_book::{Book, Incoming, Orders, Owner, Report, Resting, SelfTrade, Side, Slot, Stop};

use super::lobster::{Details, Event, Level, Price};

/// What is known of an order that rested before the file begins.
const OPENING: u64 = u64::MAX;

/// All resting orders are one owner's; for the files do not tell owners.
const OWNER: Owner = Owner(0);

/// The book of one symbol, and what happened to it so far.
#[derive(Debug, Default)]
pub(crate) struct ReplayedMarket {
    pub(crate) orders: Orders,
    pub(crate) book: Book,
    slots: HashMap<u64, Slot>,
    /// Of each level, all that rested before the file begins: whose that was is not known, so it is one
    /// order before all others.
    opening: Vec<Slot>,
    pub(crate) tally: Tally,
}

/// How many messages of each kind there were.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) new: u64,
    pub(crate) reduced: u64,
    pub(crate) deleted: u64,
    pub(crate) executed: u64,
    pub(crate) executed_hidden: u64,
    pub(crate) crosses: u64,
    pub(crate) halts: u64,
    pub(crate) odd: BTreeMap<Odd, u64>,
}

/// Why a message does not go with the ones before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Odd {
    /// A cancellation or an execution of an order that never came: it was on the book before the
    /// file begins.
    UnknownOrder,
    /// A new order with the id of one that rests. It is left out.
    Repeated,
    /// A new order that would have matched. It rests, as the file says.
    Crossing,
    /// Another price, another side or more shares than the order has left. Its own price and side
    /// count, and it loses no more than it has.
    Different,
    /// An execution while another order was first in the queue. The named order loses the shares.
    OutOfTurn,
}

/// Somebody traded with a resting order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReplayedTrade {
    pub(crate) order: u64,
    /// The side of who came and traded.
    pub(crate) taker: Side,
    pub(crate) price: Price,
    pub(crate) size: u64,
    pub(crate) is_hidden: bool,
}

/// What came of a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Applied {
    pub(crate) trade: Option<ReplayedTrade>,
    pub(crate) odd: Option<Odd>,
}

impl ReplayedMarket {
    /// Begins with what rested before the first message.
    pub(crate) fn open(&mut self, levels: &[Level]) {
        for level in levels {
            let incoming = Incoming {
                order: OPENING,
                owner: OWNER,
                side: level.side,
                price: Some(level.price.0),
                quantity: level.size,
                self_trade: SelfTrade::Allow,
            };
            let slot = self.book.rest(&mut self.orders, &incoming, level.size);
            self.opening.push(slot);
        }
    }

    /// Does what a message says.
    pub(crate) fn apply(&mut self, event: &Event) -> Applied {
        let (trade, odd) = match event {
            Event::New(details) => (None, self.add(details)),
            Event::Reduced(details) => (None, self.reduce(details)),
            Event::Deleted(details) => (None, self.delete(details)),
            Event::Executed(details) => (Some(trade(details, false)), self.execute(details)),
            Event::ExecutedHidden(details) => (Some(trade(details, true)), None),
            Event::Cross | Event::Halt => (None, None),
        };
        self.tally.count(event, odd);
        Applied { trade, odd }
    }

    fn add(&mut self, details: &Details) -> Option<Odd> {
        if self.slots.contains_key(&details.order) {
            return Some(Odd::Repeated);
        }
        let incoming = Incoming {
            order: details.order,
            owner: OWNER,
            side: details.side,
            price: Some(details.price.0),
            quantity: details.size,
            self_trade: SelfTrade::Allow,
        };
        let crosses = self.book.would_match(&self.orders, &incoming);
        let slot = self.book.rest(&mut self.orders, &incoming, details.size);
        self.slots.insert(details.order, slot);
        crosses.then_some(Odd::Crossing)
    }

    fn reduce(&mut self, details: &Details) -> Option<Odd> {
        let Some(resting) = self.resting(details) else {
            return Some(Odd::UnknownOrder);
        };
        self.lower(&resting, details.size);
        differs(details, &resting).then_some(Odd::Different)
    }

    fn delete(&mut self, details: &Details) -> Option<Odd> {
        let Some(resting) = self.resting(details) else {
            return Some(Odd::UnknownOrder);
        };
        if self.is_opening(&resting) {
            // It is one of several, of which the others stay.
            self.lower(&resting, details.size);
            return differs(details, &resting).then_some(Odd::Different);
        }
        self.lower(&resting, resting.quantity);
        let differs = differs(details, &resting) || details.size != resting.quantity;
        differs.then_some(Odd::Different)
    }

    fn execute(&mut self, details: &Details) -> Option<Odd> {
        let Some(resting) = self.resting(details) else {
            return Some(Odd::UnknownOrder);
        };
        let is_next = self.is_next(&resting);
        if is_next {
            self.trade_with(&resting, details.size.min(resting.quantity));
        } else {
            self.lower(&resting, details.size);
        }
        if differs(details, &resting) {
            Some(Odd::Different)
        } else {
            (!is_next).then_some(Odd::OutOfTurn)
        }
    }

    fn resting(&self, details: &Details) -> Option<Resting> {
        if let Some(slot) = self.slots.get(&details.order) {
            return Some(self.orders.at(*slot));
        }
        let mut opening = self.opening.iter().map(|slot| self.orders.at(*slot));
        opening.find(|one| (one.side, one.price) == (details.side, details.price.0))
    }

    fn is_opening(&self, resting: &Resting) -> bool {
        self.opening.contains(&resting.slot)
    }

    /// Nothing is left of it.
    fn forget(&mut self, resting: &Resting) {
        if self.is_opening(resting) {
            self.opening.retain(|slot| *slot != resting.slot);
        } else {
            self.slots.remove(&resting.order);
        }
    }

    /// Whether whoever comes next trades with this order first.
    fn is_next(&self, resting: &Resting) -> bool {
        let best = self.book.best(&self.orders, resting.side);
        let mut queue = self.book.queue(&self.orders, resting.side, resting.price);
        best.is_some_and(|best| best.price == resting.price)
            && queue.next().is_some_and(|first| first.slot == resting.slot)
    }

    /// Lets an order come that trades with the one that is next, and no other.
    fn trade_with(&mut self, next: &Resting, size: u64) {
        let incoming = Incoming {
            order: next.order,
            owner: OWNER,
            side: next.side.opposite(),
            price: Some(next.price),
            quantity: size,
            self_trade: SelfTrade::Allow,
        };
        let mut filled = None;
        let taken = self
            .book
            .take(&mut self.orders, &incoming, &mut |report| match report {
                Report::Fill {
                    maker, maker_left, ..
                } => {
                    assert!(filled.is_none(), "one order has all that is taken");
                    filled = Some((maker, maker_left));
                }
                Report::Expired { .. } => unreachable!("an owner may trade with itself here"),
            });
        let left = next.quantity - size;
        assert_eq!(
            (taken.stop, filled),
            (Stop::NoneLeft, Some((next.slot, left))),
            "the first of the best price is traded with first"
        );
        if left == 0 {
            self.forget(next);
        }
    }

    /// Takes shares from an order without a trade, at most what it has left.
    fn lower(&mut self, resting: &Resting, size: u64) {
        match resting.quantity.checked_sub(size) {
            Some(left @ 1..) => self.book.reduce(&mut self.orders, resting.slot, left),
            Some(0) | None => {
                self.book.cancel(&mut self.orders, resting.slot);
                self.forget(resting);
            }
        }
    }
}

const fn trade(details: &Details, is_hidden: bool) -> ReplayedTrade {
    ReplayedTrade {
        order: details.order,
        taker: details.side.opposite(),
        price: details.price,
        size: details.size,
        is_hidden,
    }
}

/// Whether a message says of an order what it is not.
fn differs(details: &Details, resting: &Resting) -> bool {
    (details.price.0, details.side) != (resting.price, resting.side)
        || details.size > resting.quantity
}

impl Tally {
    fn count(&mut self, event: &Event, odd: Option<Odd>) {
        *match event {
            Event::New(_) => &mut self.new,
            Event::Reduced(_) => &mut self.reduced,
            Event::Deleted(_) => &mut self.deleted,
            Event::Executed(_) => &mut self.executed,
            Event::ExecutedHidden(_) => &mut self.executed_hidden,
            Event::Cross => &mut self.crosses,
            Event::Halt => &mut self.halts,
        } += 1;
        if let Some(odd) = odd {
            *self.odd.entry(odd).or_default() += 1;
        }
    }

    /// All messages.
    pub(crate) const fn messages(&self) -> u64 {
        self.new
            + self.reduced
            + self.deleted
            + self.executed
            + self.executed_hidden
            + self.crosses
            + self.halts
    }
}

impl fmt::Display for Odd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::UnknownOrder => "of an order from before the file",
            Self::Repeated => "new order with the id of one that rests, left out",
            Self::Crossing => "new order that would have matched, rested",
            Self::Different => "price, side or size are not the order's",
            Self::OutOfTurn => "execution of an order that was not next",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn details(order: u64, size: u64, price: u64, side: Side) -> Details {
        Details {
            order,
            size,
            price: Price(price),
            side,
        }
    }

    /// An order with its price and what it has left.
    type Rested = (u64, u64, u64);

    const BUYS: [Rested; 3] = [(1, 1000, 100), (2, 1000, 50), (3, 990, 70)];
    const SELLS: [Rested; 1] = [(4, 1010, 30)];

    fn market() -> ReplayedMarket {
        let mut market = ReplayedMarket::default();
        let buys = BUYS.map(|rested| (rested, Side::Buy));
        let sells = SELLS.map(|rested| (rested, Side::Sell));
        for ((order, price, size), side) in buys.into_iter().chain(sells) {
            let event = Event::New(details(order, size, price, side));
            assert_eq!(market.apply(&event), Applied::default());
        }
        market
    }

    /// What rests on both sides, in the order in which it would trade.
    fn book(market: &ReplayedMarket) -> [Vec<Rested>; 2] {
        market.book.check(&market.orders).unwrap();
        assert_eq!(usize::try_from(market.orders.len()), Ok(market.slots.len()));
        [Side::Buy, Side::Sell].map(|side| {
            let resting = market.book.resting(&market.orders, side);
            resting
                .map(|resting| (resting.order, resting.price, resting.quantity))
                .collect()
        })
    }

    fn check(event: Event, odd: Option<Odd>, after: [&[Rested]; 2]) {
        let mut market = market();
        assert_eq!(market.apply(&event).odd, odd, "{event:?}");
        assert_eq!(book(&market), after, "{event:?}");
        assert_eq!(market.tally.messages(), 5);
        let counted = odd.map(|odd| (odd, 1)).into_iter().collect();
        assert_eq!(market.tally.odd, counted);
    }

    #[test]
    fn what_an_unknown_order_loses_changes_nothing() {
        let unknown = details(9, 10, 1000, Side::Buy);
        for event in [
            Event::Executed(unknown),
            Event::Reduced(unknown),
            Event::Deleted(unknown),
        ] {
            check(event, Some(Odd::UnknownOrder), [&BUYS, &SELLS]);
        }
    }

    #[test]
    fn a_new_order_rests_wherever_it_is_unless_it_is_there() {
        let again = details(1, 10, 980, Side::Buy);
        check(Event::New(again), Some(Odd::Repeated), [&BUYS, &SELLS]);
        let crossing = details(5, 10, 1010, Side::Buy);
        let buys = [(5, 1010, 10), BUYS[0], BUYS[1], BUYS[2]];
        check(Event::New(crossing), Some(Odd::Crossing), [&buys, &SELLS]);
    }

    #[test]
    fn an_execution_takes_from_the_order_that_it_names_in_turn_or_not() {
        let first = details(1, 100, 1000, Side::Buy);
        check(Event::Executed(first), None, [&BUYS[1..], &SELLS]);
        let out_of_turn = Some(Odd::OutOfTurn);
        let second = details(2, 20, 1000, Side::Buy);
        let buys = [BUYS[0], (2, 1000, 30), BUYS[2]];
        check(Event::Executed(second), out_of_turn, [&buys, &SELLS]);
        let worse = details(3, 70, 990, Side::Buy);
        check(Event::Executed(worse), out_of_turn, [&BUYS[..2], &SELLS]);
    }

    #[test]
    fn an_orders_own_price_side_and_size_count() {
        let different = Some(Odd::Different);
        let more = details(1, 120, 1000, Side::Buy);
        check(Event::Executed(more), different, [&BUYS[1..], &SELLS]);
        check(Event::Reduced(more), different, [&BUYS[1..], &SELLS]);
        let other_side = details(4, 10, 1010, Side::Buy);
        let sells = [(4, 1010, 20)];
        check(Event::Reduced(other_side), different, [&BUYS, &sells]);
        let less = details(4, 10, 1010, Side::Sell);
        check(Event::Deleted(less), different, [&BUYS, &[]]);
        let other_price = details(4, 30, 1020, Side::Sell);
        check(Event::Deleted(other_price), different, [&BUYS, &[]]);
    }

    #[test]
    fn a_trade_is_told_from_the_side_of_who_came() {
        let sold = details(2, 20, 1000, Side::Buy);
        let told = |is_hidden| ReplayedTrade {
            order: 2,
            taker: Side::Sell,
            price: Price(1000),
            size: 20,
            is_hidden,
        };
        let trade = |event| market().apply(&event).trade;
        assert_eq!(trade(Event::Executed(sold)), Some(told(false)));
        assert_eq!(trade(Event::ExecutedHidden(sold)), Some(told(true)));
        assert_eq!(trade(Event::Deleted(sold)), None);
        assert_eq!(trade(Event::Cross), None);
    }

    #[test]
    fn what_is_hidden_does_not_change_the_book() {
        let mut market = market();
        let before = book(&market);
        let hidden = details(1, 20, 1000, Side::Buy);
        for event in [Event::ExecutedHidden(hidden), Event::Cross, Event::Halt] {
            assert_eq!(market.apply(&event).odd, None);
            assert_eq!(book(&market), before);
        }
    }
}
