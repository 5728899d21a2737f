//! What the machine owns.

use std::{cell::RefCell, collections::BTreeSet};

use turnstile_book::{Depth, Orders, Report};
use turnstile_chassis::Events;
use turnstile_types::Timestamp;

use crate::{
    Event, accounts::Accounts, expected::PrefetchBelt, ledger::OrderLedger, positions::Positions,
    senders::Senders, symbols::Symbols,
};

/// Accounts, and what they trade.
///
/// Each symbol has a book, which knows prices, quantities and queues and nothing else; the orders
/// of all books lie in one place. The ledger has a row for every order that is remembered, open or
/// ended; the book knows an order by the number of its row. Accounts have cash, positions have
/// shares, each free or reserved: an open order has reserved what its whole rest may cost, so that
/// whatever matches is paid for.
///
/// Conservation: cash and shares move by the methods of `Accounts` and `Positions` alone, which
/// keep sums; after each command these are compared with what was put in.
///
/// Time: before a command is decided, every order whose date has come is expired, as by
/// [`tick`](turnstile_types::Machine::tick), and a few ended orders that need not be remembered any
/// more are forgotten. Beyond that a refusal changes nothing.
#[derive(Debug)]
pub struct Exchange {
    pub(crate) accounts: Accounts,
    pub(crate) symbols: Symbols,
    pub(crate) positions: Positions,
    pub(crate) ledger: OrderLedger,
    /// Whose open orders they are.
    pub(crate) senders: Senders,
    /// The open orders of all books.
    pub(crate) orders: Orders,
    /// When open orders expire: the instant, the order's id, its row.
    pub(crate) deadlines: BTreeSet<(Timestamp, u64, u32)>,
    /// All cash: what was put in, less what was taken out.
    pub(crate) cash: u128,
    /// All shares that were ever granted, of all symbols.
    pub(crate) shares: u128,
    /// Trades so far.
    pub(crate) trades: u64,
    /// What the book told of the order that is matched; empty between commands.
    pub(crate) reports: Vec<(Report, Depth)>,
    pub(crate) expected: RefCell<PrefetchBelt>,
    pub(crate) events: Events<Event>,
}
