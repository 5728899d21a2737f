//! What an order would trade, without a trade.

use std::collections::BTreeMap;

use crate::{Book, Incoming, Orders, SelfTrade, Slot};

/// What [`Book::take`] would trade of an order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quote {
    pub quantity: u64,
    /// The sum of price times quantity.
    pub value: u128,
}

impl Quote {
    /// Adds what the order takes of a quantity at a price. Says whether it is filled then.
    fn add(&mut self, incoming: &Incoming, price: u64, quantity: u128) -> bool {
        let left = incoming.quantity - self.quantity;
        let quantity = u64::try_from(quantity).map_or(left, |quantity| quantity.min(left));
        self.quantity += quantity;
        // No more than the whole quantity at the highest price, both of 64 bits.
        self.value += u128::from(price) * u128::from(quantity);
        quantity == left
    }
}

impl Book {
    /// What `take` would trade. A fill-or-kill order asks whether that is its whole quantity.
    ///
    /// The first `single` orders are looked at one by one. An order that goes further is quoted
    /// by the sums of the levels, less what its owner has there: `own` are the slots of all that
    /// the owner has on the other side. So the work grows with the number of levels and of own
    /// orders. Only an order that stops at the first of its owner's looks at each order of that
    /// level.
    #[must_use]
    pub fn quote(
        &self,
        orders: &Orders,
        incoming: &Incoming,
        single: u32,
        own: impl FnOnce() -> Vec<Slot>,
    ) -> Quote {
        if incoming.self_trade == SelfTrade::Allow {
            return self.quote_by_level(orders, incoming, Vec::new());
        }
        self.quote_by_order(orders, incoming, single)
            .unwrap_or_else(|| self.quote_by_level(orders, incoming, own()))
    }

    /// None where that takes a look at more orders than `most`.
    fn quote_by_order(&self, orders: &Orders, incoming: &Incoming, most: u32) -> Option<Quote> {
        let mut quote = Quote::default();
        let levels = self.within(orders, incoming);
        let mut met = levels.flat_map(|level| orders.queue(level));
        for order in met.by_ref().take(most as usize) {
            let order = orders.orders.at(order);
            match incoming.passes(order.owner) {
                None => return Some(quote),
                Some(true) => {}
                Some(false) => {
                    let price = incoming.price_of(orders, order.level);
                    if quote.add(incoming, price, u128::from(order.quantity)) {
                        return Some(quote);
                    }
                }
            }
        }
        met.next().is_none().then_some(quote)
    }

    fn quote_by_level(&self, orders: &Orders, incoming: &Incoming, own: Vec<Slot>) -> Quote {
        let mut own_sums: BTreeMap<u32, u128> = BTreeMap::new();
        for slot in own {
            let order = orders.orders.at(slot.index());
            *own_sums.entry(order.level).or_insert(0) += u128::from(order.quantity);
        }
        let mut quote = Quote::default();
        for level in self.within(orders, incoming) {
            let price = incoming.price_of(orders, level);
            let sum = orders.levels.sum(level);
            let (available, stops) = match own_sums.get(&level) {
                None => (sum, false),
                Some(_) if incoming.passes(incoming.owner).is_none() => {
                    (orders.before(level, incoming), true)
                }
                Some(own) => (sum - own, false),
            };
            if quote.add(incoming, price, available) || stops {
                break;
            }
        }
        quote
    }
}

impl Incoming {
    fn price_of(&self, orders: &Orders, level: u32) -> u64 {
        self.side.opposite().key(orders.levels.at(level).key)
    }
}

impl Orders {
    /// The sum of a queue up to the first order that the incoming one avoids.
    fn before(&self, level: u32, incoming: &Incoming) -> u128 {
        self.queue(level)
            .map(|index| self.orders.at(index))
            .take_while(|order| !incoming.avoids(order.owner))
            .map(|order| u128::from(order.quantity))
            .sum()
    }
}
