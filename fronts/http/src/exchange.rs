//! The exchange in HTTP: bodies and parameters to commands and queries, outcomes and answers to JSON.

mod answer;
mod event;
pub mod feed;
mod outcome;
mod query;
mod request;

pub use answer::tell_answer;
pub use event::{Interest, concerns, put_event};
pub use outcome::tell_outcome;
pub use query::{
    account, account_in, accounts, depth, interest, order_in, orders, queue, status, symbol_in,
    symbols, trades,
};
pub use request::{
    CashAmount, MassCancellation, NewAccount, NewBand, NewGrant, NewLimits, NewOrder, NewSymbol,
    OrderCancellation, OrderReplacement,
};

pub(crate) use answer::{
    AccountPage, AccountView, BookView, CancelledView, ExecutionView, LevelView, OrderPage,
    OrderView, PositionView, QueueView, QueuedView, SymbolPage, SymbolView, TradePage, TradeView,
};
pub(crate) use event::{ChangeView, MarketEventView, PartyView};
pub(crate) use outcome::{
    CashMoved, OrderCancelled, OrderPlaced, OrderReplaced, OrdersCancelled, SharesGranted,
};
