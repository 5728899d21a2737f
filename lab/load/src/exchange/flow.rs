//! The order flow: what each trader wants next; see `docs/exchange-load.md`.

use std::{collections::VecDeque, sync::Arc};

use turnstile_exchange::Side;

use crate::seed::Dice;

/// The path of the market: steps of one cent up or down, walked to its end and back.
const PATH_STEPS: u64 = 4_096;

/// A trader goes one step of the path in so many wishes.
const WISHES_A_STEP: u64 = 16;

/// Where the path begins and between what it stays, in cents.
const BEGIN: u64 = 10_000;
const LOWEST: u64 = 5_000;
const HIGHEST: u64 = 15_000;

/// How many orders a trader keeps open at least, so that the books have depth.
const KEPT: usize = 16;

/// The most orders that one trader remembers as open, and all of them together.
const HELD_MAX: usize = 4_096;
const HELD_ALL_MAX: usize = 1 << 20;

/// 95 cancels for each 100 new orders, of which 5 never wait.
const NEW: u64 = 100;
const CANCELS: u64 = 95;
const IMMEDIATE_PERCENT: u64 = 5;

/// Prices around which all traders of a run trade, in cents.
#[derive(Debug)]
pub(crate) struct Path(Vec<u64>);

/// What a trader wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wish {
    New(FlowOrder),
    Cancel(RestingOrder),
}

/// A new order. Accounts and symbols are numbers within the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FlowOrder {
    pub(crate) account: usize,
    pub(crate) symbol: usize,
    pub(crate) side: Side,
    pub(crate) quantity: u64,
    /// In cents.
    pub(crate) price: u64,
    /// It does not wait.
    pub(crate) immediate: bool,
}

/// An order that may be open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RestingOrder {
    pub(crate) order: u64,
    pub(crate) account: usize,
    /// Where its trader remembers it for the proof.
    pub(crate) place: usize,
}

/// One trader's wishes. The same seed and the same answers give the same wishes.
#[derive(Debug)]
pub(crate) struct Flow {
    dice: Dice,
    path: Arc<Path>,
    accounts: Vec<usize>,
    symbols: u64,
    /// Whether the door has orders that do not wait.
    immediate: bool,
    wishes: u64,
    held: VecDeque<RestingOrder>,
}

impl Path {
    pub(crate) fn of_seed(seed: u64) -> Self {
        let mut dice = Dice::of_user(seed, u64::MAX);
        let mut price = BEGIN;
        let step = |_| {
            let up = dice.below(2) == 0;
            price = if up { price + 1 } else { price - 1 };
            price = price.clamp(LOWEST, HIGHEST);
            price
        };
        Self((0..PATH_STEPS).map(step).collect())
    }

    fn at(&self, wishes: u64) -> u64 {
        let step = wishes / WISHES_A_STEP % (2 * PATH_STEPS);
        let step = step.min(2 * PATH_STEPS - 1 - step);
        self.0[usize::try_from(step).expect("the path has 4,096 steps")]
    }
}

impl Flow {
    pub(crate) fn new(
        dice: Dice,
        path: Arc<Path>,
        accounts: Vec<usize>,
        symbols: usize,
        immediate: bool,
        users: usize,
    ) -> Self {
        Self {
            dice,
            path,
            accounts,
            symbols: u64::try_from(symbols).expect("symbols are bounded"),
            immediate,
            wishes: 0,
            held: VecDeque::with_capacity((HELD_ALL_MAX / users.max(1)).clamp(64, HELD_MAX)),
        }
    }

    pub(crate) fn next(&mut self) -> Wish {
        self.wishes += 1;
        let cancels = self.dice.below(NEW + CANCELS) >= NEW;
        if cancels
            && self.held.len() > KEPT
            && let Some(held) = self.held.pop_front()
        {
            return Wish::Cancel(held);
        }
        Wish::New(self.order())
    }

    /// Remembers an order that rests, to cancel it one day; the oldest is forgotten when there are
    /// too many.
    pub(crate) fn rests(&mut self, held: RestingOrder) {
        if self.held.len() == self.held.capacity() {
            self.held.pop_front();
        }
        self.held.push_back(held);
    }

    fn order(&mut self) -> FlowOrder {
        let dice = &mut self.dice;
        let accounts = u64::try_from(self.accounts.len()).expect("accounts are bounded");
        let account = index(dice.below(accounts));
        let side = if dice.below(2) == 0 {
            Side::Buy
        } else {
            Side::Sell
        };
        // The smaller of two throws: most orders are near the middle. Two cents beyond it they
        // meet each other.
        let away = dice.below(24).min(dice.below(24));
        let middle = self.path.at(self.wishes);
        let price = match side {
            Side::Buy => middle + 2 - away,
            Side::Sell => middle + away - 2,
        };
        FlowOrder {
            account: self.accounts[account],
            symbol: index(dice.below(self.symbols)),
            side,
            quantity: 1 + dice.below(100),
            price,
            immediate: dice.below(100) < IMMEDIATE_PERCENT && self.immediate,
        }
    }
}

fn index(number: u64) -> usize {
    usize::try_from(number).expect("accounts and symbols are bounded")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(seed: u64, user: u64, immediate: bool) -> Flow {
        let path = Arc::new(Path::of_seed(seed));
        let dice = Dice::of_user(seed, user);
        Flow::new(dice, path, vec![4, 5, 6, 7], 3, immediate, 1)
    }

    /// The wishes of a trader whose every order rests.
    fn wishes(mut flow: Flow, count: u64) -> Vec<Wish> {
        let wishes = (0..count).map(|order| {
            let wish = flow.next();
            if let Wish::New(new) = wish {
                let account = new.account;
                let place = 0;
                flow.rests(RestingOrder {
                    order,
                    account,
                    place,
                });
            }
            wish
        });
        wishes.collect()
    }

    #[test]
    fn the_same_seed_wishes_the_same_and_others_do_not() {
        let first = wishes(flow(1, 2, true), 500);
        assert_eq!(first, wishes(flow(1, 2, true), 500));
        assert_ne!(first, wishes(flow(1, 3, true), 500));
        assert_ne!(first, wishes(flow(2, 2, true), 500));
    }

    #[test]
    fn orders_are_balanced_around_the_path_and_bounded() {
        let path = Path::of_seed(1);
        let (mut buys, mut quantity, mut immediate, mut count) = (0_u64, 0, 0_u64, 0_u64);
        for (wish, at) in wishes(flow(1, 0, true), 40_000).iter().zip(1..) {
            let Wish::New(new) = wish else { continue };
            count += 1;
            buys += u64::from(new.side == Side::Buy);
            immediate += u64::from(new.immediate);
            quantity += new.quantity;
            assert!((1..=100).contains(&new.quantity));
            assert!((4..8).contains(&new.account) && new.symbol < 3);
            let away = new.price.abs_diff(path.at(at));
            assert!(away <= 21, "{new:?}");
        }
        assert!((47..=53).contains(&(100 * buys / count)));
        assert!((49..=52).contains(&(quantity / count)));
        assert!((4..=6).contains(&(100 * immediate / count)));
        let never = wishes(flow(1, 0, false), 1_000);
        let waits = |wish: &Wish| {
            !matches!(
                wish,
                Wish::New(FlowOrder {
                    immediate: true,
                    ..
                })
            )
        };
        assert!(never.iter().all(waits));
    }

    #[test]
    fn ninety_five_are_cancelled_for_each_hundred_and_the_oldest_first() {
        let wishes = wishes(flow(1, 0, true), 40_000);
        let mut orders = 0..;
        let mut resting = VecDeque::new();
        let mut cancels = 0_u32;
        for (wish, number) in wishes.iter().zip(&mut orders) {
            match wish {
                Wish::New(new) => resting.push_back(RestingOrder {
                    order: number,
                    account: new.account,
                    place: 0,
                }),
                Wish::Cancel(held) => {
                    cancels += 1;
                    assert_eq!(resting.pop_front().as_ref(), Some(held));
                    assert!(resting.len() >= KEPT);
                }
            }
        }
        let news = 40_000 - cancels;
        assert!((93..=96).contains(&(100 * cancels / news)), "{cancels}");
    }

    #[test]
    fn the_path_comes_back_without_a_jump() {
        let path = Path::of_seed(1);
        let round = 2 * PATH_STEPS * WISHES_A_STEP;
        for wishes in 0..round + 100 {
            assert!(path.at(wishes).abs_diff(path.at(wishes + 1)) <= 1);
        }
        assert_eq!(path.at(0), path.at(round));
        assert_ne!(path.0, Path::of_seed(2).0);
    }
}
