//! A balanced flow of orders, whatever the protocol.
//!
//! Of 16 requests of a connection 6 are orders that rest away from the touch, 6 cancel the oldest
//! such order, 2 rest at the touch and 2 cross the spread and fill one of these each. So 10 are
//! orders, of which 2 trade at once, and 6 are cancels; nothing is refused. Each connection has
//! about fifty orders on the books, and whatever is put at the touch is taken from there: the books
//! stay as they are, however long it takes.
//!
//! A connection speaks for two accounts, so that nobody meets an order of their own. All
//! connections trade the same symbols. On even symbols sells wait at the touch and buys cross; on
//! odd ones it is the other way round.

use std::collections::VecDeque;

use crate::dice::Dice;

pub(super) const SYMBOLS: u32 = 64;

/// Where orders cross, in cents.
const TOUCH: u32 = 10_000;

/// Prices on either side of the touch.
const PRICES: u32 = 100;

/// Orders of a connection that wait before the oldest is cancelled.
const RESTING: usize = 48;

const TOUCH_QUANTITY: u32 = 10;

const CYCLE: [Part; 16] = [
    Part::Rest(Side::Buy),
    Part::Cancel,
    Part::Rest(Side::Sell),
    Part::Cancel,
    Part::Touch(Side::Sell),
    Part::Cross(Side::Buy),
    Part::Rest(Side::Buy),
    Part::Cancel,
    Part::Rest(Side::Sell),
    Part::Cancel,
    Part::Touch(Side::Buy),
    Part::Cross(Side::Sell),
    Part::Rest(Side::Buy),
    Part::Cancel,
    Part::Rest(Side::Sell),
    Part::Cancel,
];

#[derive(Clone, Copy, Debug)]
enum Part {
    Rest(Side),
    Cancel,
    Touch(Side),
    Cross(Side),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Buy,
    Sell,
}

/// One request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Order {
        account: u32,
        symbol: u32,
        side: Side,
        quantity: u32,
        cents: u32,
        /// Whether it is one to cancel later.
        rests: bool,
    },
    Cancel {
        account: u32,
        order: u64,
    },
}

/// What one connection asks for.
#[derive(Debug)]
pub(super) struct Flow {
    maker: u32,
    taker: u32,
    dice: Dice,
    place: usize,
    /// The symbol of the order at the touch that is to be taken next.
    touched: u32,
    /// Orders away from the touch, the oldest first.
    resting: VecDeque<u64>,
}

impl Flow {
    pub(super) fn new(number: u32) -> Self {
        let [maker, taker] = accounts(number);
        Self {
            maker,
            taker,
            dice: Dice::new(u64::from(number) << 32),
            place: 0,
            touched: 0,
            resting: VecDeque::new(),
        }
    }

    pub(super) fn next(&mut self) -> Step {
        let part = CYCLE[self.place];
        self.place = (self.place + 1) % CYCLE.len();
        match part {
            Part::Rest(side) => self.rest(side),
            Part::Cancel if self.resting.len() < RESTING => self.rest(Side::Buy),
            Part::Cancel => Step::Cancel {
                account: self.maker,
                order: self.resting.pop_front().expect("it has many"),
            },
            Part::Touch(side) => {
                let odd = u32::from(side == Side::Buy);
                self.touched = self.dice.below(SYMBOLS / 2) * 2 + odd;
                self.at_the_touch(self.maker, side)
            }
            Part::Cross(side) => self.at_the_touch(self.taker, side),
        }
    }

    /// Notes the number of an order that rests away from the touch.
    pub(super) fn rested(&mut self, order: u64) {
        self.resting.push_back(order);
    }

    fn rest(&mut self, side: Side) -> Step {
        let away = 1 + self.dice.below(PRICES);
        Step::Order {
            account: self.maker,
            symbol: self.dice.below(SYMBOLS),
            side,
            quantity: 1 + self.dice.below(100),
            cents: match side {
                Side::Buy => TOUCH - away,
                Side::Sell => TOUCH + away,
            },
            rests: true,
        }
    }

    const fn at_the_touch(&self, account: u32, side: Side) -> Step {
        Step::Order {
            account,
            symbol: self.touched,
            side,
            quantity: TOUCH_QUANTITY,
            cents: TOUCH,
            rests: false,
        }
    }
}

/// The two accounts of a connection: numbers that no sample market has.
pub(super) const fn accounts(number: u32) -> [u32; 2] {
    [9_000_000 + 2 * number, 9_000_001 + 2 * number]
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{CYCLE, Flow, RESTING, Side, Step, TOUCH};

    /// What two connections put on the books in turn, played on the simplest of markets.
    #[test]
    fn the_books_stay_bounded_and_nobody_is_refused() {
        let mut flows = [Flow::new(0), Flow::new(1)];
        let (mut orders, mut resting) = (0, BTreeMap::new());
        let mut at_touch: BTreeMap<u32, Vec<(Side, u32)>> = BTreeMap::new();
        let (mut trades, mut cancels) = (0, 0);
        for turn in 0..2_000 {
            let flow = &mut flows[turn % 2];
            for _ in 0..CYCLE.len() {
                match flow.next() {
                    Step::Cancel { account, order } => {
                        assert_eq!(resting.remove(&order), Some(account));
                        cancels += 1;
                    }
                    Step::Order {
                        account,
                        symbol,
                        side,
                        cents,
                        rests,
                        ..
                    } => {
                        orders += 1;
                        if rests {
                            assert_eq!(cents < TOUCH, side == Side::Buy);
                            resting.insert(orders, account);
                            flow.rested(orders);
                            continue;
                        }
                        let waiting = at_touch.entry(symbol).or_default();
                        match waiting.first().copied() {
                            Some((opposite, owner)) if opposite != side => {
                                assert_ne!(owner, account, "nobody trades with themselves");
                                waiting.remove(0);
                                trades += 1;
                            }
                            _ => waiting.push((side, account)),
                        }
                    }
                }
            }
        }
        assert_eq!(trades, 2 * 2_000);
        assert_eq!(at_touch.values().map(Vec::len).sum::<usize>(), 0);
        assert!(
            resting.len() < 2 * (RESTING + CYCLE.len()),
            "{}",
            resting.len()
        );
        assert_eq!(orders + cancels, 16 * 2_000);
        assert!(cancels > 5 * 2_000, "{cancels}");
    }
}
