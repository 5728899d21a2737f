//! What a resting order costs in memory.

use serde::Serialize;
use turnstile_book::{Book, Incoming, Orders, Owner, SelfTrade, Side};
use turnstile_trial::Tally;

use crate::dice::Dice;

/// How a million orders lie in books.
#[derive(Debug, Serialize)]
pub(super) struct Memory {
    pub(super) shape: &'static str,
    pub(super) orders: u32,
    pub(super) bytes_per_order: f64,
}

pub(super) fn measure(orders: u32) -> Vec<Memory> {
    let near = |dice: &mut Dice| 1_000_000 + dice.below(2_000);
    vec![
        shape("one book, 2,000 prices", (orders, 1), near),
        shape("1,000 books, 2,000 prices each", (orders, 1_000), near),
        shape("one book, any prices of 64 bits", (orders, 1), Dice::throw),
    ]
}

fn shape(
    shape: &'static str,
    (count, books): (u32, usize),
    price: impl Fn(&mut Dice) -> u64,
) -> Memory {
    let before = Tally::now();
    let mut orders = Orders::new();
    let mut books: Vec<Book> = std::iter::repeat_with(Book::new).take(books).collect();
    let mut dice = Dice::new(1);
    for number in 0..count {
        let incoming = Incoming {
            order: u64::from(number),
            owner: Owner(0),
            side: [Side::Buy, Side::Sell][usize::from(number % 2 == 1)],
            price: Some(price(&mut dice)),
            quantity: 1,
            self_trade: SelfTrade::Allow,
        };
        let books_end = books.len() as u64;
        let book = usize::try_from(dice.below(books_end)).expect("an index of a book");
        books[book].rest(&mut orders, &incoming, 1);
    }
    #[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
    let bytes = Tally::now().bytes_since(before) as f64;
    Memory {
        shape,
        orders: count,
        bytes_per_order: bytes / f64::from(count),
    }
}

#[cfg(test)]
mod tests {
    use super::measure;

    #[test]
    fn a_resting_order_stays_within_its_budget() {
        let bytes: Vec<f64> = measure(1 << 17)
            .iter()
            .map(|memory| memory.bytes_per_order)
            .collect();
        assert!(
            bytes[0] < 64.0 && bytes[1] < 200.0 && bytes[2] < 200.0,
            "{bytes:?}"
        );
    }
}
