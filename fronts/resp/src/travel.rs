//! Travel in RESP: arguments to commands and queries, outcomes and answers to replies.

mod answer;
mod event;
mod outcome;
mod request;
#[cfg(test)]
mod tests;
mod values;
mod words;

pub use answer::{facts, put_answer};
pub use event::{CHANNEL, event_json};
pub use outcome::{Decided, put_late, put_outcome};
pub use request::{Request, parse};
pub use words::{Flaw, Invalid};

/// The commands of the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    Start,
    Add,
    Delete,
    Query,
    AddCustomer,
    DeleteCustomer,
    QueryCustomer,
    Reserve,
    Summary,
    Commit,
    Abort,
    Book,
    Confirm,
    Cancel,
    Itinerary,
    Customer,
    Items,
    Totals,
    TxList,
    TxShow,
    TxResolve,
}

impl Verb {
    /// Whether it only reads. Within a transaction a read takes locks, and may have to wait.
    #[must_use]
    pub const fn is_read(self) -> bool {
        match self {
            Self::Start
            | Self::Add
            | Self::Delete
            | Self::AddCustomer
            | Self::DeleteCustomer
            | Self::Reserve
            | Self::Commit
            | Self::Abort
            | Self::Book
            | Self::Confirm
            | Self::Cancel
            | Self::TxResolve => false,
            Self::Query
            | Self::QueryCustomer
            | Self::Summary
            | Self::Itinerary
            | Self::Customer
            | Self::Items
            | Self::Totals
            | Self::TxList
            | Self::TxShow => true,
        }
    }

    /// The command's name in the catalogue.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Start => "travel.start",
            Self::Add => "travel.add",
            Self::Delete => "travel.delete",
            Self::Query => "travel.query",
            Self::AddCustomer => "travel.addcustomer",
            Self::DeleteCustomer => "travel.deletecustomer",
            Self::QueryCustomer => "travel.querycustomer",
            Self::Reserve => "travel.reserve",
            Self::Summary => "travel.summary",
            Self::Commit => "travel.commit",
            Self::Abort => "travel.abort",
            Self::Book => "travel.book",
            Self::Confirm => "travel.confirm",
            Self::Cancel => "travel.cancel",
            Self::Itinerary => "travel.itinerary",
            Self::Customer => "travel.customer",
            Self::Items => "travel.items",
            Self::Totals => "travel.totals",
            Self::TxList => "travel.tx|list",
            Self::TxShow => "travel.tx|show",
            Self::TxResolve => "travel.tx|resolve",
        }
    }
}
