//! Nothing is allocated once the storage has its size.

use turnstile_book::{Book, Incoming, Orders, Owner, SelfTrade, Side, Slot, Stop};
use turnstile_trial::{Counting, Tally};

#[global_allocator]
static COUNTING: Counting = Counting;

/// A few thousand orders over a few hundred wandering prices; returns what has traded.
fn session(orders: &mut Orders, book: &mut Book, resting: &mut Vec<Slot>) -> u64 {
    let mut traded = 0;
    for number in 0..20_000_u64 {
        let scattered = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        let side = [Side::Buy, Side::Sell][usize::from(scattered.is_multiple_of(2))];
        let away = scattered / 2 % 700;
        let mid = 100_000 + number;
        let incoming = Incoming {
            order: number,
            owner: Owner(u32::try_from(scattered % 5).expect("less than five")),
            side,
            price: Some(if side == Side::Buy {
                mid - away
            } else {
                mid + away
            }),
            quantity: 1 + scattered % 9,
            self_trade: SelfTrade::Allow,
        };
        let taken = book.take(orders, &incoming, &mut |_| traded += 1);
        if taken.stop == Stop::NoMatch {
            book.rest(orders, &incoming, taken.left);
        }
    }
    for side in [Side::Buy, Side::Sell] {
        resting.extend(book.resting(orders, side).map(|order| order.slot));
    }
    for slot in resting.drain(..) {
        book.cancel(orders, slot);
    }
    traded
}

#[test]
fn trading_allocates_nothing_in_the_steady_state() {
    let (mut orders, mut book, mut resting) = (Orders::new(), Book::new(), Vec::new());
    let traded = session(&mut orders, &mut book, &mut resting);
    assert!(traded > 1_000, "{traded} trades");
    let before = Tally::now();
    assert_eq!(session(&mut orders, &mut book, &mut resting), traded);
    assert_eq!(Tally::now().calls_since(before), 0);
    drop(Box::new(1));
    assert_eq!(
        Tally::now().calls_since(before),
        1,
        "allocations are counted"
    );
}

#[test]
fn room_that_was_reserved_is_never_grown() {
    let mut orders = Orders::with_capacity(30_000);
    let (mut book, mut resting) = (Book::new(), Vec::with_capacity(30_000));
    let before = Tally::now();
    let traded = session(&mut orders, &mut book, &mut resting);
    assert_eq!(
        (traded > 1_000, Tally::now().calls_since(before)),
        (true, 0)
    );
}
