//! What a request says that it is about.

use crate::{AccountId, OrderId};

/// What a request is about, before the state is asked who has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum About {
    /// All accounts, or a symbol that every account trades.
    All,
    /// What every trader sees.
    Public,
    /// An account. An order is looked up by it alone, which refuses orders of others.
    Account(AccountId),
    /// An order, by its number or by what an account has named it; beside a number any account may be named.
    Order(Option<AccountId>, Option<OrderId>),
}
