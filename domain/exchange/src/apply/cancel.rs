//! Cancelling orders: one, many, and those whose date has come.

use turnstile_types::Context;

use crate::{
    AccountId, Done, EndReason, Exchange, OrderRef, Refusal, Symbol, ledger::State, slab::NONE,
};

impl Exchange {
    pub(super) fn cancel(
        &mut self,
        context: &Context<'_>,
        account: &AccountId,
        order: &OrderRef,
    ) -> Result<Done, Refusal> {
        let account = self.accounts.find(account).ok_or(Refusal::UnknownAccount)?;
        let row = self.own_open(account, order)?;
        let found = *self.ledger.at(row);
        self.take_off(context, row, EndReason::Cancelled);
        let scales = self.symbols.at(found.symbol).scales;
        Ok(Done::Cancelled {
            order: found.id,
            quantity: scales.quantity(found.rest),
        })
    }

    pub(super) fn cancel_all(
        &mut self,
        context: &Context<'_>,
        account: &AccountId,
        symbol: Option<&Symbol>,
    ) -> Result<Done, Refusal> {
        let account = self.accounts.find(account).ok_or(Refusal::UnknownAccount)?;
        let symbol = symbol
            .map(|name| self.symbols.find(name).ok_or(Refusal::UnknownSymbol))
            .transpose()?;
        let mut orders = 0;
        let list = self.accounts.at(account).open;
        let mut next = self.ledger.open_from(list, None).next();
        while let Some(row) = next {
            let order = *self.ledger.at(row);
            next = match order.state {
                State::Open { newer, .. } => (newer != NONE).then_some(newer),
                State::Arriving | State::Ended { .. } => None,
            };
            if symbol.is_none_or(|symbol| symbol == order.symbol) {
                self.take_off(context, row, EndReason::MassCancelled);
                orders += 1;
            }
        }
        Ok(Done::AllCancelled { orders })
    }

    /// Takes an open order off its book and ends it.
    pub(crate) fn take_off(&mut self, context: &Context<'_>, row: u32, reason: EndReason) {
        let order = *self.ledger.at(row);
        self.take_off_book(row);
        self.give_back(row);
        self.conclude(context, row, Some(reason));
        let kind = self.cancelled(row, order.rest, Some(reason));
        self.tell_change(context, order.symbol, (order.side, order.limit), kind);
    }

    /// Takes an open order off its book, and no more.
    pub(super) fn take_off_book(&mut self, row: u32) {
        let order = self.ledger.at(row);
        let (slot, ..) = order.state.open();
        let book = &mut self.symbols.at_mut(order.symbol).book;
        let left = book.cancel(&mut self.orders, slot);
        assert!(left == order.rest, "the book and the ledger agree");
    }
}
