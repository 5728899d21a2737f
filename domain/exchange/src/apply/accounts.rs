//! Accounts, their cash and their limits.

use crate::{
    AccountId, CASH_SCALE, Cash, CommandField, Decimal, Done, Exchange, Refusal, accounts::Bounds,
    limits,
};

/// An amount in units of cash.
fn amount(number: Decimal) -> Result<u128, Refusal> {
    number.at_scale(CASH_SCALE).ok_or(Refusal::TooManyDigits {
        field: CommandField::Cash,
        scale: CASH_SCALE,
    })
}

/// An amount of cash that moves: not zero.
fn moved(number: Decimal) -> Result<u128, Refusal> {
    if number.is_zero() {
        return Err(Refusal::Zero {
            field: CommandField::Cash,
        });
    }
    amount(number)
}

impl Exchange {
    pub(super) fn create_account(&mut self, id: AccountId, cash: Decimal) -> Result<Done, Refusal> {
        if self.accounts.find(&id).is_some() {
            return Err(Refusal::AccountExists);
        }
        let cash = amount(cash)?;
        let sum = self.sum_with(cash)?;
        if self.accounts.len() >= limits::ACCOUNTS_MAX {
            let limit = limits::ACCOUNTS_MAX;
            return Err(Refusal::Full { limit });
        }
        let account = self.accounts.add(id);
        self.accounts.credit(account, cash);
        self.cash = sum;
        Ok(Done::AccountCreated)
    }

    pub(super) fn deposit(&mut self, id: &AccountId, amount: Decimal) -> Result<Done, Refusal> {
        let account = self.accounts.find(id).ok_or(Refusal::UnknownAccount)?;
        let amount = moved(amount)?;
        self.cash = self.sum_with(amount)?;
        self.accounts.credit(account, amount);
        let cash = Cash(self.accounts.at(account).free);
        Ok(Done::Deposited { cash })
    }

    pub(super) fn withdraw(&mut self, id: &AccountId, amount: Decimal) -> Result<Done, Refusal> {
        let account = self.accounts.find(id).ok_or(Refusal::UnknownAccount)?;
        let amount = moved(amount)?;
        self.afford(account, amount)?;
        self.accounts.debit(account, amount);
        self.cash -= amount;
        let cash = Cash(self.accounts.at(account).free);
        Ok(Done::Withdrawn { cash })
    }

    /// All cash, after so much more is put in.
    fn sum_with(&self, amount: u128) -> Result<u128, Refusal> {
        let field = CommandField::Cash;
        let sum = self.cash.checked_add(amount);
        sum.ok_or(Refusal::TooLarge { field })
    }

    /// Refuses what an account's free cash does not cover.
    pub(super) fn afford(&self, account: u32, needed: u128) -> Result<(), Refusal> {
        let free = self.accounts.at(account).free;
        if needed > free {
            let (needed, free) = (Cash(needed), Cash(free));
            return Err(Refusal::InsufficientFunds { needed, free });
        }
        Ok(())
    }

    pub(super) fn set_limits(
        &mut self,
        id: &AccountId,
        open_orders: Option<u32>,
        quantity: Option<Decimal>,
        notional: Option<Decimal>,
    ) -> Result<Done, Refusal> {
        let account = self.accounts.find(id).ok_or(Refusal::UnknownAccount)?;
        let bounds = Bounds {
            open_orders,
            quantity,
            notional: notional.map(amount).transpose()?.map(Cash),
        };
        self.accounts.at_mut(account).bounds =
            (bounds != Bounds::default()).then(|| Box::new(bounds));
        Ok(Done::LimitsSet)
    }
}
