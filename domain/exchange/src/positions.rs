//! Shares by account and symbol.

use std::collections::BTreeSet;

use crate::{
    slab::RowSlab,
    table::{Table, hash_of_pair},
};

/// A position for each account and symbol that ever had shares of it, which is kept when it is
/// empty again: whoever trades a symbol trades it often.
///
/// Shares move only by the methods below, which keep the sum of them all.
#[derive(Debug)]
pub(crate) struct Positions {
    rows: RowSlab<SharePosition>,
    numbers: Table,
    /// Account, symbol, row: the order in which an account's positions are listed.
    order: BTreeSet<(u32, u32, u32)>,
    /// The free and reserved shares of all accounts and symbols.
    held: u128,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct SharePosition {
    pub(crate) account: u32,
    pub(crate) symbol: u32,
    /// Shares in units of the symbol.
    pub(crate) free: u64,
    pub(crate) reserved: u64,
}

impl Positions {
    pub(crate) fn new() -> Self {
        Self {
            rows: RowSlab::empty(),
            numbers: Table::empty(),
            order: BTreeSet::new(),
            held: 0,
        }
    }

    fn number(&self, account: u32, symbol: u32) -> Option<u32> {
        self.numbers.find(hash_of_pair(account, symbol), |number| {
            let row = self.rows.at(number);
            (row.account, row.symbol) == (account, symbol)
        })
    }

    fn held_at(&mut self, account: u32, symbol: u32) -> &mut SharePosition {
        let number = self.number(account, symbol);
        self.rows
            .at_mut(number.expect("who parts with shares has a position"))
    }

    pub(crate) fn find(&self, account: u32, symbol: u32) -> Option<&SharePosition> {
        self.number(account, symbol)
            .map(|number| self.rows.at(number))
    }

    /// The shares that an account may sell.
    pub(crate) fn free(&self, account: u32, symbol: u32) -> u64 {
        self.find(account, symbol).map_or(0, |row| row.free)
    }

    /// An account's positions from a symbol on.
    pub(crate) fn of(&self, account: u32, from: u32) -> impl Iterator<Item = &SharePosition> {
        self.order
            .range((account, from, 0)..=(account, u32::MAX, u32::MAX))
            .map(|&(_, _, number)| self.rows.at(number))
    }

    /// All positions, by account and symbol.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &SharePosition> {
        self.order
            .iter()
            .map(|&(_, _, number)| self.rows.at(number))
    }

    pub(crate) const fn len(&self) -> u32 {
        self.rows.len()
    }

    /// The free and reserved shares of all.
    pub(crate) const fn held(&self) -> u128 {
        self.held
    }

    /// Adds free shares; a position even when they are none.
    pub(crate) fn credit(&mut self, account: u32, symbol: u32, shares: u64) {
        let number = self.number(account, symbol);
        let number = number.unwrap_or_else(|| self.add(account, symbol));
        self.rows.at_mut(number).free += shares;
        self.held += u128::from(shares);
    }

    /// Adds a position that is not there.
    fn add(&mut self, account: u32, symbol: u32) -> u32 {
        let number = self.rows.push(SharePosition {
            account,
            symbol,
            free: 0,
            reserved: 0,
        });
        self.numbers.insert(hash_of_pair(account, symbol), number);
        self.order.insert((account, symbol, number));
        number
    }

    /// Adds reserved shares as a snapshot has them; none when there is no position, or nobody could
    /// have so many.
    pub(crate) fn restore_reserved(
        &mut self,
        account: u32,
        symbol: u32,
        shares: u64,
    ) -> Option<()> {
        let number = self.number(account, symbol)?;
        let row = self.rows.at_mut(number);
        let reserved = row.reserved.checked_add(shares)?;
        row.free.checked_add(reserved)?;
        row.reserved = reserved;
        self.held += u128::from(shares);
        Some(())
    }

    /// Takes free shares away.
    pub(crate) fn debit(&mut self, account: u32, symbol: u32, shares: u64) {
        self.held_at(account, symbol).free -= shares;
        self.held -= u128::from(shares);
    }

    /// Sets free shares aside.
    pub(crate) fn reserve(&mut self, account: u32, symbol: u32, shares: u64) {
        let row = self.held_at(account, symbol);
        row.free -= shares;
        row.reserved += shares;
    }

    /// Frees shares that were set aside.
    pub(crate) fn release(&mut self, account: u32, symbol: u32, shares: u64) {
        let row = self.held_at(account, symbol);
        row.reserved -= shares;
        row.free += shares;
    }

    /// Takes away shares that were set aside.
    pub(crate) fn spend(&mut self, account: u32, symbol: u32, shares: u64) {
        self.held_at(account, symbol).reserved -= shares;
        self.held -= u128::from(shares);
    }
}
