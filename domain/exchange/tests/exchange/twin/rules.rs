//! Accounts, symbols and what may be done.

use turnstile_exchange::{
    Cash, Command, CommandField, Decimal, Done, EventKind, Refusal, Symbol, limits,
};
use turnstile_types::Context;

use super::{Holder, Listed, Twin};

/// A number from 1 to the largest, in units of its scale.
pub(super) fn units(number: Decimal, scale: u8, field: CommandField) -> Result<u64, Refusal> {
    if number.is_zero() {
        return Err(Refusal::Zero { field });
    }
    let units = number.at_scale(scale);
    let units = units.ok_or(Refusal::TooManyDigits { field, scale })?;
    let units = u64::try_from(units).unwrap_or(u64::MAX);
    if units > limits::UNITS_MAX {
        return Err(Refusal::TooLarge { field });
    }
    Ok(units)
}

fn cash_of(number: Decimal) -> Result<u128, Refusal> {
    let field = CommandField::Cash;
    let units = number.at_scale(8);
    units.ok_or(Refusal::TooManyDigits { field, scale: 8 })
}

fn moved(number: Decimal) -> Result<u128, Refusal> {
    if number.is_zero() {
        return Err(Refusal::Zero {
            field: CommandField::Cash,
        });
    }
    cash_of(number)
}

impl Twin {
    pub(super) fn list(&mut self, name: Symbol, price_scale: u8, quantity_scale: u8) {
        self.symbols.push(Listed {
            name,
            price_scale,
            quantity_scale,
            halted: false,
            low: None,
            high: None,
            issued: 0,
            seq: 0,
            trades: Vec::new(),
        });
    }

    pub(super) fn rule(
        &mut self,
        context: &Context<'_>,
        command: &Command,
    ) -> Result<Done, Refusal> {
        match *command {
            Command::CreateAccount { account, cash } => {
                if self.holder(account).is_ok() {
                    return Err(Refusal::AccountExists);
                }
                self.accounts.push(Holder {
                    id: account,
                    cash: cash_of(cash)?,
                    open_orders: None,
                    quantity: None,
                    notional: None,
                    shares: Vec::new(),
                });
                Ok(Done::AccountCreated)
            }
            Command::CreateSymbol {
                symbol,
                price_scale,
                quantity_scale,
            } => {
                if self.listed(symbol).is_some() {
                    return Err(Refusal::SymbolExists);
                }
                if price_scale + quantity_scale > 8 {
                    return Err(Refusal::ScaleTooLarge);
                }
                self.list(symbol, price_scale, quantity_scale);
                Ok(Done::SymbolCreated)
            }
            Command::Grant {
                account,
                symbol,
                quantity,
            } => {
                self.holder(account)?;
                let shares = units(quantity, self.scales(symbol).1, CommandField::Quantity)?;
                if self.listed(symbol).is_none() {
                    self.list(symbol, 4, 4);
                }
                self.listed_mut(symbol).issued += shares;
                self.move_shares(account, symbol, shares, 0);
                let position = self.quantity(symbol, self.shares(account, symbol));
                Ok(Done::Granted { position })
            }
            Command::Deposit { account, amount } => {
                self.holder(account)?;
                self.holder_mut(account).cash += moved(amount)?;
                let cash = self.free_cash(account);
                Ok(Done::Deposited { cash })
            }
            Command::Withdraw { account, amount } => {
                self.holder(account)?;
                let needed = Cash(moved(amount)?);
                let free = self.free_cash(account);
                if needed > free {
                    return Err(Refusal::InsufficientFunds { needed, free });
                }
                self.holder_mut(account).cash -= needed.0;
                let cash = self.free_cash(account);
                Ok(Done::Withdrawn { cash })
            }
            _ => self.bound(context, command),
        }
    }

    fn bound(&mut self, context: &Context<'_>, command: &Command) -> Result<Done, Refusal> {
        match *command {
            Command::SetBand { symbol, low, high } => {
                self.listed(symbol).ok_or(Refusal::UnknownSymbol)?;
                let scale = self.scales(symbol).0;
                let ticks = |price| units(price, scale, CommandField::Price);
                let low = low.map(ticks).transpose()?;
                let high = high.map(ticks).transpose()?;
                if low.is_some() && high.is_some() && low > high {
                    return Err(Refusal::EmptyBand);
                }
                let listed = self.listed_mut(symbol);
                (listed.low, listed.high) = (low, high);
                Ok(Done::BandSet)
            }
            Command::Halt { symbol, halted } => {
                let before = self.listed(symbol).ok_or(Refusal::UnknownSymbol)?.halted;
                self.listed_mut(symbol).halted = halted;
                let (done, kind) = if halted {
                    (Done::Halted, EventKind::Halted)
                } else {
                    (Done::Resumed, EventKind::Resumed)
                };
                if before != halted {
                    self.tell(context, symbol, None, kind);
                }
                Ok(done)
            }
            Command::SetLimits {
                account,
                open_orders,
                quantity,
                notional,
            } => {
                self.holder(account)?;
                let notional = notional.map(cash_of).transpose()?.map(Cash);
                let holder = self.holder_mut(account);
                (holder.open_orders, holder.quantity) = (open_orders, quantity);
                holder.notional = notional;
                Ok(Done::LimitsSet)
            }
            _ => unreachable!("the other commands are about orders"),
        }
    }

    pub(super) fn free_cash(&self, account: turnstile_exchange::AccountId) -> Cash {
        let cash = self.holder(account).unwrap().cash;
        Cash(cash - self.reserved_cash(account))
    }
}
