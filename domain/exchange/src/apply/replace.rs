//! Changing an order in one step.

use std::cell::OnceCell;

use turnstile_types::Context;

use crate::{
    AccountId, Cash, CommandField, Decimal, Done, EventKind, Exchange, OrderRef, Refusal, Side,
    Ticket, TicketState, apply::quote::Wish, ledger::Row, limits,
};

impl Exchange {
    pub(super) fn replace(
        &mut self,
        context: &Context<'_>,
        (account, order): (&AccountId, &OrderRef),
        quantity: Decimal,
        limit: Option<Decimal>,
    ) -> Result<Done, Refusal> {
        let account = self.accounts.find(account).ok_or(Refusal::UnknownAccount)?;
        let row = self.own_open(account, order)?;
        let old = *self.ledger.at(row);
        let wish = self.new_wish(&old, quantity, limit)?;
        self.trades_now_or_shrinks(&old, &wish)?;
        if shrinks(&old, &wish) {
            self.reduce(context, row, wish.quantity);
            let scales = wish.scales;
            let ticket = Ticket {
                order: old.id,
                state: TicketState::Open,
                filled: scales.quantity(0),
                value: Cash(0),
                open: scales.quantity(wish.quantity),
            };
            return Ok(Done::Replaced {
                ticket,
                kept_place: true,
            });
        }
        self.within_bounds(&wish)?;
        self.matches_as_wished(&wish)?;
        let set_aside = match old.side {
            Side::Buy => wish.scales.value(old.limit, old.rest),
            Side::Sell => u128::from(old.rest),
        };
        self.covered(&wish, set_aside)?;

        self.take_off_book(row);
        self.give_back(row);
        let kind = self.cancelled(row, old.rest, None);
        self.tell_change(context, old.symbol, (old.side, old.limit), kind);
        let limit = wish.limit.expect("an open order has a limit");
        self.ledger.replace(row, wish.quantity, limit);
        let incoming = wish.incoming(row, self.symbols.at(old.symbol));
        let ticket = self.arrive(context, row, &incoming);
        Ok(Done::Replaced {
            ticket,
            kept_place: false,
        })
    }

    /// What a replaced order wants from now on.
    fn new_wish(
        &self,
        old: &Row,
        quantity: Decimal,
        limit: Option<Decimal>,
    ) -> Result<Wish, Refusal> {
        let scales = self.symbols.at(old.symbol).scales;
        let quantity = scales.shares(quantity)?;
        // What was executed counts: an order is never larger than an order may be.
        if old.filled() + quantity > limits::UNITS_MAX {
            let field = CommandField::Quantity;
            return Err(Refusal::TooLarge { field });
        }
        let limit = limit.map(|limit| scales.ticks(limit)).transpose()?;
        Ok(Wish {
            account: old.account,
            symbol: Some(old.symbol),
            scales,
            side: old.side,
            quantity,
            limit: Some(limit.unwrap_or(old.limit)),
            patience: old.patience,
            self_trade: old.self_trade,
            quote: OnceCell::new(),
        })
    }

    /// A halt stops every replacement; the band only one that moves.
    fn trades_now_or_shrinks(&self, old: &Row, wish: &Wish) -> Result<(), Refusal> {
        match self.trades_now(wish) {
            Err(Refusal::OutsideBand { .. }) if shrinks(old, wish) => Ok(()),
            answer => answer,
        }
    }

    /// Reduces an order where it stands.
    fn reduce(&mut self, context: &Context<'_>, row: u32, quantity: u64) {
        let old = *self.ledger.at(row);
        if quantity == old.rest {
            return;
        }
        let (slot, ..) = old.state.open();
        let listed = self.symbols.at_mut(old.symbol);
        let price = listed.scales.price(old.limit);
        listed.book.reduce(&mut self.orders, slot, quantity);
        self.give_back_part(row, old.rest - quantity);
        self.ledger.replace(row, quantity, old.limit);
        let kind = EventKind::Reduced {
            party: self.party(row, quantity),
            side: old.side,
            price,
        };
        self.tell_change(context, old.symbol, (old.side, old.limit), kind);
    }
}

/// Whether an order stays where it is, with less or as much.
fn shrinks(old: &Row, wish: &Wish) -> bool {
    wish.limit == Some(old.limit) && wish.quantity <= old.rest
}
