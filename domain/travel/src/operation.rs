//! What a desk is asked to do in a transaction, and what it finds.

use std::fmt;

use turnstile_chassis::{Bytes, Kind, Show, Value};

use crate::{Bill, CustomerId, Item, Refusal, Stock, Xid, locks::Mode};

/// One step of a transaction at one desk. A desk does it whole or refuses it whole.
#[derive(Clone, Debug, PartialEq, Eq, Bytes)]
pub enum Operation {
    /// Adds to what there is of an item; a price of zero leaves the price as it is.
    #[byte(0x01)]
    Add { item: Item, count: u32, price: u32 },
    /// Removes an item of which nothing is reserved.
    #[byte(0x02)]
    Delete { item: Item },
    #[byte(0x03)]
    Look { item: Item },
    /// Reserves one of each; what stands twice is reserved twice.
    #[byte(0x04)]
    Take { items: Vec<Item> },
    /// Frees so many of each.
    #[byte(0x05)]
    GiveBack { items: Vec<(Item, u32)> },
    /// Adds a customer; None: with a number that the desk picks.
    #[byte(0x11)]
    AddCustomer { customer: Option<CustomerId> },
    /// Removes a customer and tells what it had.
    #[byte(0x12)]
    RemoveCustomer { customer: CustomerId },
    #[byte(0x13)]
    LookCustomer { customer: CustomerId },
    /// All customers after this one, in order of their numbers, as many as fit.
    #[byte(0x14)]
    Summarize { after: Option<CustomerId> },
    /// Puts one more of each on the customer's bill, at this price for all of them.
    #[byte(0x15)]
    Note {
        customer: CustomerId,
        items: Vec<(Item, u32)>,
    },
    /// Takes one of each off the bill of the customer that was added by `since`.
    #[byte(0x16)]
    Strike {
        customer: CustomerId,
        since: Xid,
        items: Vec<Item>,
    },
}

/// What a desk found.
#[derive(Clone, Debug, PartialEq, Eq, Bytes)]
pub enum Finding {
    #[byte(0x01)]
    Added,
    #[byte(0x02)]
    Deleted,
    #[byte(0x05)]
    GivenBack,
    #[byte(0x16)]
    Struck,
    /// None: there is no such item.
    #[byte(0x03)]
    Stock(Option<Stock>),
    /// What was reserved, each with its price.
    #[byte(0x04)]
    Taken(Vec<(Item, u32)>),
    #[byte(0x11)]
    Customer(CustomerId),
    /// What a removed customer had.
    #[byte(0x12)]
    Had(Vec<(Item, u32)>),
    /// None: there is no such customer.
    #[byte(0x13)]
    Bill(Option<Bill>),
    /// A part of the summary, and whether more follows.
    #[byte(0x14)]
    Bills { bills: Vec<Bill>, more: bool },
    /// The bill is that of the customer whom this transaction added.
    #[byte(0x15)]
    Noted { since: Xid },
    #[byte(0x20)]
    Refused(Refusal),
}

/// What a desk locks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Bytes)]
pub enum Resource {
    /// The customers as a whole: whoever reads all shares it, whoever changes one intends it.
    #[byte(0x01)]
    Roster,
    #[byte(0x02)]
    Customer(CustomerId),
    #[byte(0x03)]
    Item(Item),
}

impl Value for Resource {
    fn show<S: Show>(&self, show: S) -> S::Out {
        show.display(self)
    }

    fn kind() -> Kind {
        Kind::Text("flight-12")
    }
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Roster => f.write_str("customers"),
            Self::Customer(customer) => write!(f, "customer-{customer}"),
            Self::Item(item) => item.fmt(f),
        }
    }
}

impl Operation {
    /// Takes the locks that the operation needs, one after the other, until one is not granted.
    pub(crate) fn lock(&self, mut take: impl FnMut(Resource, Mode) -> bool) -> bool {
        match self {
            Self::Look { item } => take(Resource::Item(*item), Mode::Shared),
            Self::Add { item, .. } | Self::Delete { item } => {
                take(Resource::Item(*item), Mode::Exclusive)
            }
            Self::Take { items } => items
                .iter()
                .all(|item| take(Resource::Item(*item), Mode::Exclusive)),
            Self::GiveBack { items } => items
                .iter()
                .all(|(item, _)| take(Resource::Item(*item), Mode::Exclusive)),
            Self::LookCustomer { customer } => take(Resource::Customer(*customer), Mode::Shared),
            Self::Summarize { .. } => take(Resource::Roster, Mode::Shared),
            Self::AddCustomer { customer: None } => take(Resource::Roster, Mode::Intent),
            Self::AddCustomer {
                customer: Some(customer),
            }
            | Self::RemoveCustomer { customer }
            | Self::Note { customer, .. }
            | Self::Strike { customer, .. } => {
                take(Resource::Roster, Mode::Intent)
                    && take(Resource::Customer(*customer), Mode::Exclusive)
            }
        }
    }
}
