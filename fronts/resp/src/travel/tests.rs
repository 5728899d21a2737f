//! Requests as clients write them, and replies as clients read them, byte by byte.

mod asked;
mod replies;

use turnstile_travel::{CustomerId, Item, Locator};

const ADA: CustomerId = CustomerId(42);

fn item(text: &str) -> Item {
    Item::parse(text.as_bytes()).unwrap()
}

fn locator() -> Locator {
    Locator::parse(b"AB6X5T").unwrap()
}
