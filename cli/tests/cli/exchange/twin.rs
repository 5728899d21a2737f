//! A day of a made-up market, told in LOBSTER's format, and its book kept by a naive twin: one
//! list of orders in the order of their arrival, counted anew after each message.

use std::collections::BTreeMap;

use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};

/// Levels a side.
const LEVELS: usize = 5;

/// About so many orders rest.
const RESTING: usize = 80;

#[derive(Debug)]
pub(crate) struct Day {
    pub(crate) messages: Vec<String>,
    /// The book after each.
    pub(crate) rows: Vec<String>,
    pub(crate) unknown: usize,
    pub(crate) out_of_turn: usize,
    /// Messages that take more from an order than it has.
    pub(crate) too_much: usize,
    /// Executions of all kinds.
    pub(crate) trades: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Order {
    id: u64,
    size: u64,
    price: i64,
    /// 1: buy; -1: sell.
    direction: i64,
}

struct Twin {
    dice: StdRng,
    orders: Vec<Order>,
    next_id: u64,
    middle: i64,
    day: Day,
}

/// A day of so many messages. The same seed gives the same day.
pub(crate) fn day(messages: usize, seed: u64) -> Day {
    let mut twin = Twin {
        dice: StdRng::seed_from_u64(seed),
        orders: Vec::new(),
        next_id: 1,
        middle: 1_000_000,
        day: Day {
            messages: Vec::new(),
            rows: Vec::new(),
            unknown: 0,
            out_of_turn: 0,
            too_much: 0,
            trades: 0,
        },
    };
    for _ in 0..messages {
        twin.step();
        let row = twin.row();
        twin.day.rows.push(row);
    }
    twin.day
}

impl Twin {
    fn step(&mut self) {
        self.middle += self.dice.random_range(-1..=1) * 100;
        let wants_more = self.dice.random_range(0..2 * RESTING) >= self.orders.len();
        match self.dice.random_range(0..100) {
            0..50 if wants_more => self.submit(),
            _ if self.orders.is_empty() => self.submit(),
            0..30 => self.delete(),
            30..55 => self.reduce(),
            55..85 => self.execute_next(),
            85..88 => self.execute_any(),
            88..92 => self.tell_hidden(),
            92..97 => self.tell_unknown(),
            97..99 => self.tell(7, 0, 0, -1, -1),
            _ => self.tell(6, -1, 100, self.middle, 1),
        }
    }

    fn tell(&mut self, kind: u8, id: i64, size: u64, price: i64, direction: i64) {
        let line = self.day.messages.len();
        let time = format!("{}.{:09}", 34_200 + line / 100, line % 100 * 7_654_321);
        let message = format!("{time},{kind},{id},{size},{price},{direction}");
        self.day.messages.push(message);
        self.day.trades += usize::from([4, 5].contains(&kind));
    }

    fn tell_of(&mut self, kind: u8, order: Order, size: u64) {
        let id = order.id.try_into().unwrap();
        self.tell(kind, id, size, order.price, order.direction);
    }

    fn submit(&mut self) {
        let direction = [-1, 1][self.dice.random_range(0..2)];
        let away = self.dice.random_range(1..30) * 100;
        let order = Order {
            id: self.next_id,
            size: self.dice.random_range(1..500),
            price: self.middle - direction * away,
            direction,
        };
        self.next_id += 1;
        self.orders.push(order);
        self.tell_of(1, order, order.size);
    }

    fn any(&mut self) -> Order {
        self.orders[self.dice.random_range(0..self.orders.len())]
    }

    fn delete(&mut self) {
        let order = self.any();
        self.lower(order, order.size);
        self.tell_of(3, order, order.size);
    }

    fn reduce(&mut self) {
        let order = self.any();
        self.take(2, order);
    }

    /// Executes the oldest order of the best price of a side.
    fn execute_next(&mut self) {
        let direction = self.any().direction;
        let order = self.next(direction);
        self.take(4, order);
    }

    fn execute_any(&mut self) {
        let order = self.any();
        let out_of_turn = order != self.next(order.direction);
        let too_much = self.take(4, order);
        self.day.out_of_turn += usize::from(out_of_turn && !too_much);
    }

    fn next(&self, direction: i64) -> Order {
        let side = self
            .orders
            .iter()
            .filter(|order| order.direction == direction);
        // Of equal ones, `min_by_key` finds the first: the oldest.
        *side.min_by_key(|order| -order.price * direction).unwrap()
    }

    /// Takes a part of an order, all of it, or now and then more than it has.
    fn take(&mut self, kind: u8, order: Order) -> bool {
        let too_much = self.dice.random_range(0..100) == 0;
        let size = if too_much {
            order.size + 1
        } else {
            self.dice.random_range(1..=order.size)
        };
        self.lower(order, size);
        self.tell_of(kind, order, size);
        self.day.too_much += usize::from(too_much);
        too_much
    }

    fn lower(&mut self, order: Order, size: u64) {
        let found = self.orders.iter_mut().find(|found| found.id == order.id);
        let found = found.unwrap();
        found.size = found.size.saturating_sub(size);
        self.orders.retain(|order| order.size > 0);
    }

    fn tell_hidden(&mut self) {
        let size = self.dice.random_range(1..500);
        self.tell(5, 0, size, self.middle, 1);
    }

    fn tell_unknown(&mut self) {
        let kind = self.dice.random_range(2..=4);
        let id = 1_000_000_000 + i64::from(kind);
        self.tell(kind, id, 100, self.middle, -1);
        self.day.unknown += 1;
    }

    /// The levels of a side, best first, and then as many empty ones as are needed.
    fn levels(&self, direction: i64) -> Vec<(i64, u64)> {
        let mut levels = BTreeMap::new();
        for order in self
            .orders
            .iter()
            .filter(|order| order.direction == direction)
        {
            *levels.entry(-order.price * direction).or_insert(0) += order.size;
        }
        let mut levels: Vec<(i64, u64)> = levels
            .into_iter()
            .map(|(key, size)| (-key * direction, size))
            .collect();
        levels.resize(LEVELS.max(levels.len()), (-9_999_999_999 * direction, 0));
        levels
    }

    fn row(&self) -> String {
        let (asks, bids) = (self.levels(-1), self.levels(1));
        let mut cells = Vec::new();
        for level in 0..LEVELS {
            for (price, size) in [asks[level], bids[level]] {
                cells.push(price.to_string());
                cells.push(size.to_string());
            }
        }
        cells.join(",")
    }
}
