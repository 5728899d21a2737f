//! Any history gives the same reports and the same book as its slow twin.

use std::collections::BTreeMap;

use proptest::{collection::vec, prelude::*, sample::Index, test_runner::Config as ProptestConfig};
use turnstile_book::{
    Book, Depth, Incoming, Orders, Owner, Report, Resting, SelfTrade, Side, Slot, Stop,
};

use crate::twin::{Entry, Told, Twin};

#[derive(Clone, Debug)]
enum Step {
    /// An order for one of the books; what is left of it rests if it may.
    Arrive {
        book: usize,
        incoming: Incoming,
        rests: bool,
    },
    Cancel(Index),
    /// To a part of what is left, in 256ths.
    Reduce(Index, u8),
}

/// Two books in one storage, and their twins.
#[derive(Default)]
struct Pair {
    orders: Orders,
    books: [Book; 2],
    twins: [Twin; 2],
    slots: BTreeMap<u64, Slot>,
    arrived: u64,
}

impl Pair {
    fn step(&mut self, step: &Step) {
        match *step {
            Step::Arrive {
                book,
                incoming,
                rests,
            } => self.arrive(book, incoming, rests),
            Step::Cancel(index) => self.cancel(index),
            Step::Reduce(index, part) => self.reduce(index, part),
        }
        assert_eq!(self.orders.check(&self.books), Ok(()));
    }

    fn arrive(&mut self, book: usize, incoming: Incoming, rests: bool) {
        self.arrived += 1;
        let incoming = Incoming {
            order: self.arrived,
            ..incoming
        };
        let (orders, fast, twin) = (
            &mut self.orders,
            &mut self.books[book],
            &mut self.twins[book],
        );
        let expected = twin.quote(&incoming);
        let matches = fast.would_match(orders, &incoming);
        assert_eq!(matches, expected.quantity > 0, "{incoming:?}");
        for single in [0, 1, 3, u32::MAX] {
            let own = || {
                let resting = fast.resting(orders, incoming.side.opposite());
                let own = resting.filter(|order| order.owner == incoming.owner);
                own.map(|order| order.slot).collect()
            };
            let quote = fast.quote(orders, &incoming, single, own);
            assert_eq!(quote, expected, "{incoming:?}, {single} one by one");
        }
        let (left, stop, told) = twin.take(&incoming);
        let mut reports = Vec::new();
        let taken = fast.take(orders, &incoming, &mut |report| reports.push(report));
        assert_eq!((taken.left, taken.stop), (left, stop));
        let expected = told.iter().map(|told| report(&self.slots, told));
        assert_eq!(reports, expected.collect::<Vec<_>>());
        if let (true, Stop::NoMatch, Some(price)) = (rests, stop, incoming.price) {
            let slot = fast.rest(orders, &incoming, left);
            let found = fast.at(orders, incoming.side, price);
            assert_eq!(Some(orders.depth_at(slot)), found);
            self.slots.insert(incoming.order, slot);
            twin.rest(Entry {
                order: incoming.order,
                owner: incoming.owner,
                side: incoming.side,
                price,
                quantity: left,
            });
        }
        self.compare(book);
    }

    fn cancel(&mut self, index: Index) {
        let Some((book, entry)) = self.choose(index) else {
            return;
        };
        let slot = self.slots[&entry.order];
        let left = self.books[book].cancel(&mut self.orders, slot);
        assert_eq!(left, entry.quantity);
        self.twins[book].remove(entry.order);
        self.compare(book);
    }

    fn reduce(&mut self, index: Index, part: u8) {
        let Some((book, entry)) = self.choose(index) else {
            return;
        };
        let quantity = u128::from(entry.quantity) * u128::from(part) / 256;
        let quantity = u64::try_from(quantity).expect("a part of 64 bits").max(1);
        let slot = self.slots[&entry.order];
        self.books[book].reduce(&mut self.orders, slot, quantity);
        self.twins[book].lower(entry.order, quantity);
        self.compare(book);
    }

    fn all(&self) -> impl Iterator<Item = (usize, Entry)> {
        let twins = self.twins.iter().enumerate();
        twins.flat_map(|(book, twin)| twin.entries().iter().map(move |&entry| (book, entry)))
    }

    fn oldest(&self) -> Option<(usize, Entry)> {
        self.all().min_by_key(|(_, entry)| entry.order)
    }

    fn choose(&self, index: Index) -> Option<(usize, Entry)> {
        let all: Vec<(usize, Entry)> = self.all().collect();
        (!all.is_empty()).then(|| all[index.index(all.len())])
    }

    fn compare(&self, book: usize) {
        let (fast, orders) = (&self.books[book], &self.orders);
        for side in [Side::Buy, Side::Sell] {
            let expected = self.twins[book].side(side);
            let expected: Vec<Resting> = expected.iter().map(|e| self.resting(e)).collect();
            let resting: Vec<Resting> = fast.resting(orders, side).collect();
            assert_eq!(resting, expected);
            let levels: Vec<Depth> = fast.levels(orders, side).collect();
            let depths: Vec<(Depth, &[Resting])> = expected
                .chunk_by(|one, next| one.price == next.price)
                .map(|queue| (depth(queue), queue))
                .collect();
            assert_eq!(
                levels,
                depths.iter().map(|(depth, _)| *depth).collect::<Vec<_>>()
            );
            assert_eq!(fast.best(orders, side), levels.first().copied());
            for (depth, queue) in depths {
                assert_eq!(fast.at(orders, side, depth.price), Some(depth));
                let found: Vec<Resting> = fast.queue(orders, side, depth.price).collect();
                assert_eq!(found, queue);
                let beside = depth.price ^ 1;
                let there = levels.iter().find(|level| level.price == beside).copied();
                assert_eq!(fast.at(orders, side, beside), there);
            }
        }
    }

    fn resting(&self, entry: &Entry) -> Resting {
        Resting {
            slot: self.slots[&entry.order],
            order: entry.order,
            owner: entry.owner,
            side: entry.side,
            price: entry.price,
            quantity: entry.quantity,
        }
    }
}

fn report(slots: &BTreeMap<u64, Slot>, told: &Told) -> Report {
    match *told {
        Told::Fill { maker, quantity } => Report::Fill {
            maker: slots[&maker.order],
            maker_order: maker.order,
            maker_owner: maker.owner,
            price: maker.price,
            quantity,
            maker_left: maker.quantity - quantity,
        },
        Told::Expired { maker } => Report::Expired {
            maker: slots[&maker.order],
            maker_order: maker.order,
            maker_owner: maker.owner,
            price: maker.price,
            left: maker.quantity,
        },
    }
}

fn depth(queue: &[Resting]) -> Depth {
    let sum: u128 = queue.iter().map(|order| u128::from(order.quantity)).sum();
    Depth {
        price: queue[0].price,
        quantity: u64::try_from(sum).unwrap_or(u64::MAX),
        orders: u32::try_from(queue.len()).expect("a short queue"),
    }
}

fn near() -> impl Strategy<Value = u64> + Clone {
    1_000..1_040_u64
}

/// Prices that an enemy would choose: everywhere, next to powers of two, at both ends.
fn anywhere() -> impl Strategy<Value = u64> + Clone {
    let around =
        (0..64_u32, 0..3_u64).prop_map(|(bit, more)| (1_u64 << bit).wrapping_add(more) - 1);
    prop_oneof![
        any::<u64>(),
        around,
        Just(0),
        Just(u64::MAX),
        near(),
        (0..400_u64).prop_map(|page| page * 4_096),
    ]
}

fn few() -> impl Strategy<Value = u64> + Clone {
    1..20_u64
}

/// Quantities whose sums do not fit 64 bits.
fn huge() -> impl Strategy<Value = u64> + Clone {
    prop_oneof![few(), u64::MAX - 5..=u64::MAX, 1..=u64::MAX]
}

fn self_trade() -> impl Strategy<Value = SelfTrade> {
    prop_oneof![
        2 => Just(SelfTrade::Allow),
        2 => Just(SelfTrade::Skip),
        1 => Just(SelfTrade::ExpireMaker),
        1 => Just(SelfTrade::ExpireTaker),
        1 => Just(SelfTrade::ExpireBoth),
    ]
}

fn incoming(
    prices: impl Strategy<Value = u64>,
    quantities: impl Strategy<Value = u64>,
) -> impl Strategy<Value = Incoming> {
    let side = prop_oneof![Just(Side::Buy), Just(Side::Sell)];
    let price = prop_oneof![
        12 => prices.prop_map(Some),
        1 => Just(None),
    ];
    (0..4_u32, side, price, quantities, self_trade()).prop_map(
        |(owner, side, price, quantity, self_trade)| Incoming {
            order: 0,
            owner: Owner(owner),
            side,
            price,
            quantity,
            self_trade,
        },
    )
}

fn steps(
    prices: impl Strategy<Value = u64> + Clone + 'static,
    quantities: impl Strategy<Value = u64> + Clone + 'static,
    length: usize,
) -> impl Strategy<Value = Vec<Step>> {
    let arrive =
        (0..2_usize, incoming(prices, quantities), 0..10_u8).prop_map(|(book, incoming, ioc)| {
            Step::Arrive {
                book,
                incoming,
                rests: ioc > 0,
            }
        });
    let step = prop_oneof![
        6 => arrive,
        2 => any::<Index>().prop_map(Step::Cancel),
        1 => (any::<Index>(), any::<u8>()).prop_map(|(index, part)| Step::Reduce(index, part)),
    ];
    vec(step, 1..length)
}

fn run(steps: Vec<Step>) {
    let mut pair = Pair::default();
    for step in steps {
        pair.step(&step);
    }
    while let Some((book, entry)) = pair.oldest() {
        let left = pair.books[book].cancel(&mut pair.orders, pair.slots[&entry.order]);
        assert_eq!(left, entry.quantity);
        pair.twins[book].remove(entry.order);
    }
    assert_eq!(pair.orders.check(&pair.books), Ok(()));
    assert!(pair.orders.is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, ..ProptestConfig::default() })]

    #[test]
    fn a_busy_market_trades_like_its_twin(steps in steps(near(), few(), 60)) {
        run(steps);
    }

    #[test]
    fn prices_may_be_anywhere(steps in steps(anywhere(), few(), 60)) {
        run(steps);
    }

    #[test]
    fn quantities_may_have_any_size(steps in steps(1_000..1_003_u64, huge(), 40)) {
        run(steps);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20, ..ProptestConfig::default() })]

    #[test]
    fn long_histories_end_like_short_ones(steps in steps(900..1_400_u64, few(), 900)) {
        run(steps);
    }
}
