//! Applies commands; one file for each subject.
//!
//! Refusals come in one order. For every command: the account, the order it names (`not_found`,
//! `not_yours`, `not_open`) or the symbol, then the numbers, each as `zero`, `too_many_digits`,
//! `too_large`. A new order and a replacement then meet, in this order: `market_must_not_wait`,
//! `date_over`, `symbol_halted`, `outside_band`, the account's limits (`quantity_limit`,
//! `notional_limit`, `too_many_open_orders`), what the book says (`no_market`, `not_fillable`,
//! `would_match`), what they cost (`insufficient_funds`, `insufficient_shares`), and last `full`.
//! A client id is looked at before anything but the account, so that a repeated order is answered
//! whatever has changed since.

mod accounts;
mod arrival;
mod cancel;
mod order;
mod quote;
mod replace;
mod symbols;

use turnstile_types::Context;

use crate::{Command, Done, Exchange, OrderRef, Refusal};

impl Exchange {
    pub(crate) fn decide(
        &mut self,
        context: &Context<'_>,
        command: &Command,
    ) -> Result<Done, Refusal> {
        match command {
            Command::CreateAccount { account, cash } => self.create_account(*account, *cash),
            Command::CreateSymbol {
                symbol,
                price_scale,
                quantity_scale,
            } => self.create_symbol(*symbol, *price_scale, *quantity_scale),
            Command::Grant {
                account,
                symbol,
                quantity,
            } => self.grant(account, symbol, *quantity),
            Command::Deposit { account, amount } => self.deposit(account, *amount),
            Command::Withdraw { account, amount } => self.withdraw(account, *amount),
            Command::Order(order) => self.order(context, order),
            Command::Cancel { account, order } => self.cancel(context, account, order),
            Command::Replace {
                account,
                order,
                quantity,
                limit,
            } => self.replace(context, (account, order), *quantity, *limit),
            Command::CancelAll { account, symbol } => {
                self.cancel_all(context, account, symbol.as_ref())
            }
            Command::SetBand { symbol, low, high } => self.set_band(symbol, *low, *high),
            Command::Halt { symbol, halted } => self.halt(context, symbol, *halted),
            Command::SetLimits {
                account,
                open_orders,
                quantity,
                notional,
            } => self.set_limits(account, *open_orders, *quantity, *notional),
        }
    }

    /// The row of the order that an account names.
    pub(crate) fn named(&self, account: Option<u32>, order: &OrderRef) -> Result<u32, Refusal> {
        match order {
            OrderRef::Id(id) => self.ledger.find(*id).ok_or(Refusal::NotFound),
            OrderRef::Client(id) => {
                let account = account.ok_or(Refusal::UnknownAccount)?;
                self.ledger
                    .find_client(account, id)
                    .ok_or(Refusal::NotFound)
            }
        }
    }

    /// The row of an account's own open order.
    fn own_open(&self, account: u32, order: &OrderRef) -> Result<u32, Refusal> {
        let row = self.named(Some(account), order)?;
        let found = self.ledger.at(row);
        if found.account != account {
            return Err(Refusal::NotYours);
        }
        if !found.is_open() {
            return Err(Refusal::NotOpen);
        }
        Ok(row)
    }
}
