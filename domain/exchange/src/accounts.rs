//! Accounts and their cash.

use crate::{
    AccountId, Cash, Decimal,
    ledger::OpenOrders,
    slab::RowSlab,
    table::{Table, hash_of},
};

/// All accounts, in the order of their creation; they are never forgotten.
///
/// Cash moves only by the methods below, which keep the sum of it all: what a trade takes from one
/// account and does not give to another shows at once.
#[derive(Debug)]
pub(crate) struct Accounts {
    rows: RowSlab<CashAccount>,
    numbers: Table,
    /// The free and reserved cash of all accounts.
    held: u128,
}

#[derive(Debug)]
pub(crate) struct CashAccount {
    pub(crate) id: AccountId,
    /// Cash in units of `10^-8`.
    pub(crate) free: u128,
    pub(crate) reserved: u128,
    pub(crate) open: OpenOrders,
    /// Few accounts have any.
    pub(crate) bounds: Option<Box<Bounds>>,
}

/// What an account may do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bounds {
    pub(crate) open_orders: Option<u32>,
    pub(crate) quantity: Option<Decimal>,
    pub(crate) notional: Option<Cash>,
}

impl CashAccount {
    pub(crate) fn bounds(&self) -> Bounds {
        self.bounds.as_deref().copied().unwrap_or_default()
    }
}

impl Accounts {
    pub(crate) fn new() -> Self {
        Self {
            rows: RowSlab::empty(),
            numbers: Table::empty(),
            held: 0,
        }
    }

    pub(crate) fn find(&self, id: &AccountId) -> Option<u32> {
        self.numbers
            .find(hash_of_account(id), |number| self.rows.at(number).id == *id)
    }

    /// The first account under this name's hash, without a look at it; see `warming`.
    pub(crate) fn guess(&self, id: &AccountId) -> Option<u32> {
        self.numbers.find(hash_of_account(id), |_| true)
    }

    /// Adds an account that is not there.
    pub(crate) fn add(&mut self, id: AccountId) -> u32 {
        let number = self.rows.push(CashAccount {
            id,
            free: 0,
            reserved: 0,
            open: OpenOrders::NONE,
            bounds: None,
        });
        self.numbers.insert(hash_of_account(&id), number);
        number
    }

    pub(crate) const fn len(&self) -> u32 {
        self.rows.len()
    }

    pub(crate) fn at(&self, number: u32) -> &CashAccount {
        self.rows.at(number)
    }

    pub(crate) fn at_mut(&mut self, number: u32) -> &mut CashAccount {
        self.rows.at_mut(number)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &CashAccount> {
        self.rows.iter()
    }

    /// The free and reserved cash of all accounts.
    pub(crate) const fn held(&self) -> u128 {
        self.held
    }

    /// Adds free and reserved cash as a snapshot has them; none when nobody could have so much.
    pub(crate) fn restore(&mut self, number: u32, free: u128, reserved: u128) -> Option<()> {
        self.held = self.held.checked_add(free)?.checked_add(reserved)?;
        let account = self.rows.at_mut(number);
        account.free += free;
        account.reserved += reserved;
        Some(())
    }

    /// Adds free cash.
    pub(crate) fn credit(&mut self, number: u32, amount: u128) {
        self.rows.at_mut(number).free += amount;
        self.held += amount;
    }

    /// Takes free cash away.
    pub(crate) fn debit(&mut self, number: u32, amount: u128) {
        self.rows.at_mut(number).free -= amount;
        self.held -= amount;
    }

    /// Sets free cash aside.
    pub(crate) fn reserve(&mut self, number: u32, amount: u128) {
        let account = self.rows.at_mut(number);
        account.free -= amount;
        account.reserved += amount;
    }

    /// Frees cash that was set aside.
    pub(crate) fn release(&mut self, number: u32, amount: u128) {
        let account = self.rows.at_mut(number);
        account.reserved -= amount;
        account.free += amount;
    }

    /// Takes away cash that was set aside.
    pub(crate) fn spend(&mut self, number: u32, amount: u128) {
        self.rows.at_mut(number).reserved -= amount;
        self.held -= amount;
    }
}

fn hash_of_account(id: &AccountId) -> u64 {
    hash_of(0, id.padded())
}
