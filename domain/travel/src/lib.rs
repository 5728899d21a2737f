//! The machine that sells journeys: desks that lock what they sell, and a coordinator that sees to
//! it that all of them agree.

#![forbid(unsafe_code)]
#![deny(
    clippy::float_arithmetic,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm
)]

mod about;
pub mod limits;

mod command;
mod event;
mod outcome;
mod query;
mod settings;

mod item;
mod locator;
mod xid;

mod machine;
mod per_desk;
mod state;
mod subject;

mod coordinator;
mod participant;

mod message;
mod operation;

mod bill;
mod bytes;
mod channel;
mod locks;

mod check;
mod queries;

pub use bill::{Bill, BillLine, Stock};
pub use channel::{Body, Parcel};
pub use command::{Command, InvalidTrip, Step, Trip};
pub use event::{Event, EventKind};
pub use item::{CustomerId, Desk, Desks, InvalidItem, InvalidLocation, Item, Location};
pub use locator::{InvalidLocator, Locator};
pub use locks::Mode as LockMode;
pub use message::{Order, Report, Request, Say, Vote};
pub use operation::{Finding, Operation, Resource};
pub use outcome::{AbortReason, Done, Outcome, Refusal};
pub use per_desk::PerDesk;
pub use query::{
    Answer, BranchView, ItineraryState, ItineraryView, LateAnswer, Query, Stage, StockView, Totals,
    TransactionState, TransactionView,
};
pub use settings::{Settings, TravelRoles};
pub use state::Travel;
pub use xid::Xid;
