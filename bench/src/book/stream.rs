//! The order flow that drives the book: the same messages on every machine, for one regime.

use std::{cmp::Reverse, collections::BinaryHeap};

use turnstile_book::Side;

use super::regime::MarketRegime;
use crate::dice::Draws;

/// Where the market opens, in ticks.
const OPENING: i64 = 1_000_000;
const IMMEDIATE_PERCENT: u32 = 15;
const MODIFIED_PERCENT: u32 = 20;
const REPRICED_PERCENT: u32 = 80;
const CANCELLED_PERCENT: u32 = 95;
/// Cancels and modifications that are sent a second time, and come too late.
const REPEATED_PERCENT: u32 = 2;
const QUANTITY_MAX: u64 = 100;
/// How many new orders arrive during the mean life of an order next to the middle.
const LIFE_ORDERS: f64 = 400.0;
/// How many new orders arrive at most before an order that is modified is modified.
const MODIFIED_AFTER_ORDERS: u64 = 100;
/// Ticks that an immediate order reaches over the middle, at most.
const REACH: u64 = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MessageVerb {
    Submit { side: Side, immediate: bool },
    Cancel,
    Modify,
}

/// One message, in sixteen bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Message {
    pub(super) verb: MessageVerb,
    pub(super) number: u32,
    pub(super) price: u32,
    pub(super) quantity: u32,
}

/// What an order that is on its way to the book will send later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Later {
    /// In 256ths of the time between two new orders.
    time: u64,
    /// The messages of one moment keep their order.
    sequence: u64,
    cancel: bool,
    number: u32,
    price: u32,
    quantity: u32,
}

/// How far from the middle orders stand: a power law with a hump at eight ticks.
#[derive(Debug)]
struct Depths {
    cumulated: Vec<f64>,
}

impl Depths {
    fn new() -> Self {
        let mut sum = 0.0;
        let weights = (0..800_i32).map(|level| {
            let distance = f64::from(level) + 1.0;
            // distance ^ 2.25 by square roots, which are exact everywhere.
            let power = distance * distance * distance.sqrt().sqrt();
            // exp(-z * z / 2) for whole z.
            let hump = match (level - 8).abs() {
                0 => 1.0,
                1 => 0.606_531,
                2 => 0.135_335,
                3 => 0.011_109,
                _ => 0.0,
            };
            sum += 1.0 / power + 5.0 * hump;
            sum
        });
        Self {
            cumulated: weights.collect(),
        }
    }

    fn roll(&self, dice: &mut Draws) -> u32 {
        let all = self.cumulated.last().copied().unwrap_or(0.0);
        let at = dice.unit() * all;
        let level = self.cumulated.partition_point(|&sum| sum < at);
        u32::try_from(level).expect("there are 800 depths")
    }
}

/// The messages of one regime.
pub(super) struct OrderFlow {
    dice: Draws,
    depths: Depths,
    regime: MarketRegime,
    /// New orders so far; also the next order's number.
    orders: u32,
    /// The middle of the market, in 256ths of a tick.
    middle: i64,
    later: BinaryHeap<Reverse<Later>>,
    sequence: u64,
    messages: Vec<Message>,
}

impl OrderFlow {
    pub(super) fn of(regime: MarketRegime, messages: usize) -> Vec<Message> {
        let mut stream = Self {
            dice: Draws::new(0x7075_7273_7469_6c65 ^ regime as u64),
            depths: Depths::new(),
            regime,
            orders: 0,
            middle: OPENING << 8,
            later: BinaryHeap::new(),
            sequence: 0,
            messages: Vec::with_capacity(messages),
        };
        while stream.messages.len() < messages {
            stream.step();
        }
        stream.messages.truncate(messages);
        stream.messages
    }

    fn step(&mut self) {
        let now = u64::from(self.orders) << 8;
        while let Some(&Reverse(later)) = self.later.peek()
            && later.time <= now
        {
            self.later.pop();
            let verb = if later.cancel {
                MessageVerb::Cancel
            } else {
                MessageVerb::Modify
            };
            self.messages.push(Message {
                verb,
                number: later.number,
                price: later.price,
                quantity: later.quantity,
            });
        }
        self.middle = self.regime.moved(self.middle, self.orders, &mut self.dice);
        self.arrive(now);
        self.orders += 1;
    }

    fn arrive(&mut self, now: u64) {
        let dice = &mut self.dice;
        let side = [Side::Buy, Side::Sell][usize::from(dice.percent(50))];
        let immediate = dice.percent(IMMEDIATE_PERCENT);
        let depth = self.depths.roll(dice);
        let away = if immediate {
            -i64::try_from(dice.below(REACH)).expect("a short way")
        } else {
            i64::from(depth) + 1
        };
        let away = if side == Side::Buy { -away } else { away };
        let price = u32::try_from((self.middle >> 8) + away).expect("prices stay near the opening");
        let quantity = u32::try_from(1 + dice.below(QUANTITY_MAX)).expect("a small quantity");
        let number = self.orders;
        self.messages.push(Message {
            verb: MessageVerb::Submit { side, immediate },
            number,
            price,
            quantity,
        });
        if !immediate {
            self.live(now, side, depth, (number, price, quantity));
        }
    }

    /// What happens to an order that may rest: a modification, its end, and either once more.
    fn live(&mut self, now: u64, side: Side, depth: u32, order: (u32, u32, u32)) {
        let (number, price, quantity) = order;
        let mut time = now;
        let modified = self.dice.percent(MODIFIED_PERCENT);
        let nearer = u32::from(self.dice.percent(REPRICED_PERCENT));
        let price = match side {
            Side::Buy => price + nearer,
            Side::Sell => price - nearer,
        };
        let mut later = Later {
            time,
            sequence: 0,
            cancel: false,
            number,
            price,
            quantity: quantity + 1,
        };
        if modified {
            time += 1 + self.dice.below(MODIFIED_AFTER_ORDERS << 8);
            self.send(Later { time, ..later });
        }
        if !self.dice.percent(CANCELLED_PERCENT) {
            return;
        }
        let life = self.dice.exponential() * LIFE_ORDERS * (1.0 + f64::from(depth)).sqrt();
        time += 1 + whole(life * 256.0);
        later.time = time;
        self.send(Later {
            cancel: true,
            ..later
        });
        if self.dice.percent(REPEATED_PERCENT) {
            later.time += 1 + self.dice.below(20 << 8);
            self.send(Later {
                cancel: true,
                ..later
            });
        }
        if modified && self.dice.percent(REPEATED_PERCENT) {
            later.time += 1 + self.dice.below(20 << 8);
            self.send(later);
        }
    }

    fn send(&mut self, later: Later) {
        self.sequence += 1;
        self.later.push(Reverse(Later {
            sequence: self.sequence,
            ..later
        }));
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a life is positive and far below 2^53"
)]
const fn whole(value: f64) -> u64 {
    value as u64
}

#[cfg(test)]
mod tests {
    use super::{Message, MessageVerb, OrderFlow};
    use crate::book::regime::MarketRegime;

    fn count(messages: &[Message], which: impl Fn(MessageVerb) -> bool) -> usize {
        messages
            .iter()
            .filter(|message| which(message.verb))
            .count()
    }

    #[test]
    fn the_same_regime_gives_the_same_messages() {
        let stream = || OrderFlow::of(MarketRegime::FlashCrash, 20_000);
        assert_eq!(stream(), stream());
        assert_ne!(stream(), OrderFlow::of(MarketRegime::Static, 20_000));
    }

    #[test]
    fn the_flow_has_the_stated_shares() {
        let messages = OrderFlow::of(MarketRegime::Normal, 200_000);
        let submits = count(&messages, |verb| matches!(verb, MessageVerb::Submit { .. }));
        let immediate = count(
            &messages,
            |verb| matches!(verb, MessageVerb::Submit { immediate, .. } if immediate),
        );
        let per_cent = |part: usize, whole: usize| part * 100 / whole;
        let shares = (
            per_cent(immediate, submits),
            per_cent(
                count(&messages, |verb| verb == MessageVerb::Modify),
                submits - immediate,
            ),
        );
        assert_eq!(shares, (15, 20));
        let cancels = per_cent(
            count(&messages, |verb| verb == MessageVerb::Cancel),
            submits - immediate,
        );
        assert!(
            (93..=97).contains(&cancels),
            "{cancels} cancels per 100 orders that may rest"
        );
    }
}
