//! What a resting order costs in memory.

use turnstile_book::{Book, Incoming, Orders, Owner, SelfTrade, Side};
use turnstile_trial::Tally;

use crate::{
    dice::Draws,
    ratio::{Bound, Ratio},
    section::{MeasuredRow, Section, SubjectMetric},
};

/// The most bytes of a resting order in one dense book.
const BYTES: Bound = Bound::AtMost(64.0);

pub(super) fn measure(orders: u32) -> Section {
    let near = |dice: &mut Draws| 1_000_000 + dice.below(2_000);
    let dense = bytes((orders, 1), near);
    let rows = [
        ("one book, 2,000 prices", dense),
        (
            "1,000 books, 2,000 prices each",
            bytes((orders, 1_000), near),
        ),
        (
            "one book, any prices of 64 bits",
            bytes((orders, 1), Draws::throw),
        ),
    ];
    let subjects = rows.map(|(shape, bytes)| {
        MeasuredRow::new(
            format!("{orders} in {shape}"),
            vec![SubjectMetric::one("bytes each", bytes)],
        )
    });
    let setting = "Resting orders, by the allocator's count";
    let mut section = Section::new("Memory", setting, subjects.to_vec());
    let target = "bytes for each of a million resting orders";
    section.claim_ratio(target, Ratio::spread(&[dense]), BYTES);
    section
}

/// Bytes of an order, of so many in so many books.
fn bytes((count, books): (u32, usize), price: impl Fn(&mut Draws) -> u64) -> f64 {
    let before = Tally::now();
    let mut orders = Orders::new();
    let mut books: Vec<Book> = std::iter::repeat_with(Book::new).take(books).collect();
    let mut dice = Draws::new(1);
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
    bytes / f64::from(count)
}

#[cfg(test)]
mod tests {
    use super::measure;

    #[test]
    fn a_resting_order_stays_within_its_budget() {
        let section = measure(1 << 17);
        let bytes = section.subjects.iter();
        let bytes: Vec<f64> = bytes.map(|shape| shape.values("bytes each")[0]).collect();
        assert!(
            bytes[0] < 64.0 && bytes[1] < 200.0 && bytes[2] < 200.0,
            "{bytes:?}"
        );
    }
}
