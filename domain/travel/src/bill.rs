//! What there is of an item, and what a customer has.

use turnstile_chassis::{Bytes, Field, Fields, Kind, Show, Value, Visitor};

use crate::{CustomerId, Item};

/// What there is of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Bytes, Fields)]
pub struct Stock {
    pub free: u32,
    pub reserved: u32,
    /// Of one.
    pub price: u32,
}

/// What a customer has, sorted by item.
#[derive(Clone, Debug, PartialEq, Eq, Bytes)]
pub struct Bill {
    pub customer: CustomerId,
    pub lines: Vec<BillLine>,
}

/// So many of one item, each at this price.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Bytes, Fields)]
pub struct BillLine {
    pub item: Item,
    pub count: u32,
    /// Of one, when the first of them was reserved.
    pub price: u32,
}

impl Bill {
    /// What the customer owes.
    #[must_use]
    pub fn total(&self) -> u64 {
        let owed = |line: &BillLine| u64::from(line.count) * u64::from(line.price);
        self.lines.iter().map(owed).sum()
    }
}

impl Fields for Bill {
    fn visit(&self, visitor: &mut impl Visitor) {
        visitor.field("customer", &self.customer);
        visitor.field("total", &self.total());
        visitor.field("lines", &self.lines);
    }

    fn describe() -> Vec<Field> {
        vec![
            Field::new("customer", "", CustomerId::kind()),
            Field::new("total", "The sum of count x price.", u64::kind()),
            Field::new("lines", "", <[BillLine]>::kind()),
        ]
    }
}

impl Value for Bill {
    fn show<S: Show>(&self, show: S) -> S::Out {
        show.object(self)
    }

    fn kind() -> Kind {
        Kind::Object {
            name: "Bill",
            fields: Self::describe,
        }
    }
}
