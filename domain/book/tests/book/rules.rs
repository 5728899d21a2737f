//! The rules of the book, one by one.

use turnstile_book::{Book, Incoming, Orders, Owner, Report, SelfTrade, Side, Slot, Stop, Taken};

/// A book with orders of a few owners, numbered as they arrive.
#[derive(Default)]
struct Scene {
    orders: Orders,
    book: Book,
}

fn order(order: u64, owner: u32, side: Side, price: u64, quantity: u64) -> Incoming {
    Incoming {
        order,
        owner: Owner(owner),
        side,
        price: Some(price),
        quantity,
        self_trade: SelfTrade::Allow,
    }
}

impl Scene {
    fn rest(&mut self, incoming: Incoming) -> Slot {
        self.book
            .rest(&mut self.orders, &incoming, incoming.quantity)
    }

    /// Fills as maker, price and quantity, and how it ended.
    fn take(&mut self, incoming: Incoming) -> (Vec<(u64, u64, u64)>, Taken) {
        let mut fills = Vec::new();
        let taken = self.book.take(&mut self.orders, &incoming, &mut |report| {
            if let Report::Fill {
                maker_order,
                price,
                quantity,
                ..
            } = report
            {
                fills.push((maker_order, price, quantity));
            }
        });
        (fills, taken)
    }

    fn depth(&self, side: Side) -> Vec<(u64, u64, u32)> {
        let levels = self.book.levels(&self.orders, side);
        levels
            .map(|level| (level.price, level.quantity, level.orders))
            .collect()
    }
}

#[test]
fn the_worked_example_of_the_exchange_trades_as_it_should() {
    let mut scene = Scene::default();
    for resting in [
        order(1, 1, Side::Buy, 125, 300),
        order(2, 2, Side::Sell, 130, 100),
        order(3, 3, Side::Buy, 127, 200),
        order(4, 4, Side::Sell, 128, 500),
        order(5, 5, Side::Sell, 140, 200),
        order(6, 6, Side::Buy, 125, 400),
    ] {
        let nothing = Taken {
            left: resting.quantity,
            stop: Stop::NoMatch,
        };
        assert_eq!(scene.take(resting), (vec![], nothing));
        scene.rest(resting);
    }
    let full = Taken {
        left: 0,
        stop: Stop::NoneLeft,
    };
    let fills = vec![(3, 127, 200), (1, 125, 200)];
    let sell = order(7, 7, Side::Sell, 124, 400);
    assert_eq!(scene.take(sell), (fills, full));
    assert_eq!(scene.depth(Side::Buy), [(125, 500, 2)]);
    let sells = [(128, 500, 1), (130, 100, 1), (140, 200, 1)];
    assert_eq!(scene.depth(Side::Sell), sells);
}

#[test]
fn a_reduced_order_keeps_its_place_in_the_queue() {
    let mut scene = Scene::default();
    let first = scene.rest(order(1, 1, Side::Sell, 10, 9));
    scene.rest(order(2, 2, Side::Sell, 10, 9));
    scene.book.reduce(&mut scene.orders, first, 4);
    assert_eq!(scene.depth(Side::Sell), [(10, 13, 2)]);
    let (fills, _) = scene.take(order(3, 3, Side::Buy, 10, 5));
    assert_eq!(fills, [(1, 10, 4), (2, 10, 1)]);
}

#[test]
fn a_market_order_takes_any_price_and_stops_at_the_end_of_the_book() {
    let mut scene = Scene::default();
    scene.rest(order(1, 1, Side::Sell, u64::MAX, 2));
    scene.rest(order(2, 1, Side::Sell, 0, 1));
    let market = Incoming {
        price: None,
        ..order(3, 2, Side::Buy, 0, 5)
    };
    let rest = Taken {
        left: 2,
        stop: Stop::NoMatch,
    };
    assert_eq!(
        scene.take(market),
        (vec![(2, 0, 1), (1, u64::MAX, 2)], rest)
    );
    assert_eq!(scene.depth(Side::Sell), []);
}

#[test]
fn skipped_orders_of_the_owner_stay_and_the_book_may_be_crossed() {
    let mut scene = Scene::default();
    scene.rest(order(1, 7, Side::Sell, 10, 1));
    scene.rest(order(2, 8, Side::Sell, 11, 1));
    let buy = Incoming {
        self_trade: SelfTrade::Skip,
        ..order(3, 7, Side::Buy, 12, 3)
    };
    let (fills, taken) = scene.take(buy);
    assert_eq!(fills, [(2, 11, 1)]);
    scene.book.rest(&mut scene.orders, &buy, taken.left);
    assert_eq!(scene.depth(Side::Sell), [(10, 1, 1)]);
    assert_eq!(scene.depth(Side::Buy), [(12, 2, 1)]);
    assert_eq!(scene.orders.check([&scene.book]), Ok(()));
}

#[test]
fn a_book_that_forgets_an_order_is_found_out() {
    let mut scene = Scene::default();
    scene.rest(order(1, 1, Side::Buy, 5, 1));
    let strangers = scene.orders.check([&Book::new()]);
    let broken = "the books have [0, 0, 0] orders, levels and forks, but [1, 1, 0] are kept";
    assert_eq!(strangers, Err(broken.to_owned()));
}

#[test]
fn an_empty_book_and_a_slot_are_small() {
    assert_eq!((size_of::<Book>(), size_of::<Option<Slot>>()), (24, 4));
}
