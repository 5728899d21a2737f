//! Checks whether an order may enter the market, and what it would match now.

use std::cell::OnceCell;

use turnstile_book::{Incoming, Owner, Quote, Slot};

use crate::{
    Cash, Exchange, Refusal, SelfTrade, Side,
    ledger::OrderValidity,
    symbols::{Listed, Scales},
};

/// What an order wants, in units, before anything has changed for it.
#[derive(Clone, Debug)]
pub(super) struct Wish {
    pub(super) account: u32,
    /// None: it would be created.
    pub(super) symbol: Option<u32>,
    pub(super) scales: Scales,
    pub(super) side: Side,
    pub(super) quantity: u64,
    /// None: a market order.
    pub(super) limit: Option<u64>,
    pub(super) patience: OrderValidity,
    pub(super) self_trade: SelfTrade,
    /// What the book would give for it, once somebody has asked.
    pub(super) quote: OnceCell<Quote>,
}

/// Orders of a book that are looked at one by one for a quote, whoever asks: more than most orders
/// meet, so that these cost no look at anything else.
const QUOTED_SINGLY: u32 = 64;

impl Wish {
    /// The order as the book sees it. A market order goes as far as the band.
    pub(super) fn incoming(&self, row: u32, listed: &Listed) -> Incoming {
        let worst = match self.side {
            Side::Buy => listed.high,
            Side::Sell => listed.low,
        };
        Incoming {
            order: u64::from(row),
            owner: Owner(self.account),
            side: self.side,
            price: self.limit.or(worst),
            quantity: self.quantity,
            self_trade: self.self_trade,
        }
    }
}

impl Exchange {
    /// Refuses what the symbol does not take now: everything while it is halted, and limits
    /// outside its band.
    pub(super) fn trades_now(&self, wish: &Wish) -> Result<(), Refusal> {
        let Some(symbol) = wish.symbol else {
            return Ok(());
        };
        let listed = self.symbols.at(symbol);
        if listed.halted {
            return Err(Refusal::SymbolHalted);
        }
        let Some(limit) = wish.limit else {
            return Ok(());
        };
        let below = listed.low.is_some_and(|low| limit < low);
        let above = listed.high.is_some_and(|high| limit > high);
        if below || above {
            let (low, high) = listed.band();
            return Err(Refusal::OutsideBand { low, high });
        }
        Ok(())
    }

    /// Refuses what is larger than the account may order.
    pub(super) fn within_bounds(&self, wish: &Wish) -> Result<(), Refusal> {
        let bounds = self.accounts.at(wish.account).bounds();
        if let Some(limit) = bounds.quantity {
            let quantity = wish.scales.quantity(wish.quantity);
            // Both have at most 18 digits after the point.
            if quantity.at_scale(18) > limit.at_scale(18) {
                return Err(Refusal::QuantityLimit { limit });
            }
        }
        if let Some(limit) = bounds.notional
            && Cash(self.notional(wish)) > limit
        {
            return Err(Refusal::NotionalLimit { limit });
        }
        Ok(())
    }

    /// Limit x quantity; for a market order, what the book would give for it now.
    fn notional(&self, wish: &Wish) -> u128 {
        match wish.limit {
            Some(limit) => wish.scales.value(limit, wish.quantity),
            None => wish.scales.cash(self.quote(wish).value),
        }
    }

    /// Refuses what would not match as it wants to.
    pub(super) fn matches_as_wished(&self, wish: &Wish) -> Result<(), Refusal> {
        if wish.limit.is_none() && !self.would_match(wish) {
            return Err(Refusal::NoMarket);
        }
        match wish.patience {
            OrderValidity::FillOrKill if self.quote(wish).quantity < wish.quantity => {
                Err(Refusal::NotFillable)
            }
            OrderValidity::PostOnly if self.would_match(wish) => Err(Refusal::WouldMatch),
            OrderValidity::GoodTillCancel
            | OrderValidity::GoodTillDate
            | OrderValidity::ImmediateOrCancel
            | OrderValidity::FillOrKill
            | OrderValidity::PostOnly => Ok(()),
        }
    }

    fn would_match(&self, wish: &Wish) -> bool {
        wish.symbol.is_some_and(|symbol| {
            let listed = self.symbols.at(symbol);
            let incoming = wish.incoming(0, listed);
            listed.book.would_match(&self.orders, &incoming)
        })
    }

    /// Refuses what is not paid for by the free cash or shares, and by what the order that it
    /// replaces has `set_aside` of them: cash for a buy, shares for a sell.
    pub(super) fn covered(&self, wish: &Wish, set_aside: u128) -> Result<(), Refusal> {
        match wish.side {
            Side::Buy => {
                let needed = self.notional(wish).saturating_sub(set_aside);
                self.afford(wish.account, needed)
            }
            Side::Sell => {
                let free = wish
                    .symbol
                    .map_or(0, |symbol| self.positions.free(wish.account, symbol));
                let needed = u128::from(wish.quantity).saturating_sub(set_aside);
                let needed = u64::try_from(needed).expect("less than the quantity");
                if needed > free {
                    return Err(Refusal::InsufficientShares {
                        needed: wish.scales.quantity(needed),
                        free: wish.scales.quantity(free),
                    });
                }
                Ok(())
            }
        }
    }

    /// What an order would trade now.
    fn quote(&self, wish: &Wish) -> Quote {
        *wish.quote.get_or_init(|| {
            let Some(symbol) = wish.symbol else {
                return Quote::default();
            };
            let listed = self.symbols.at(symbol);
            let incoming = wish.incoming(0, listed);
            // The own orders are looked for only where as many others have been looked at.
            let single = self.may_meet(wish, symbol).max(QUOTED_SINGLY);
            listed.book.quote(&self.orders, &incoming, single, || {
                self.own_opposite(wish, symbol)
            })
        })
    }

    /// How many orders of its own account an order may meet, at most.
    fn may_meet(&self, wish: &Wish, symbol: u32) -> u32 {
        let account = self.accounts.at(wish.account);
        let has_any = match wish.side {
            Side::Buy => {
                let position = self.positions.find(wish.account, symbol);
                position.is_some_and(|position| position.reserved > 0)
            }
            Side::Sell => account.reserved > 0,
        };
        if has_any { account.open.count } else { 0 }
    }

    /// Where the account's own orders rest on the other side of a book.
    fn own_opposite(&self, wish: &Wish, symbol: u32) -> Vec<Slot> {
        if self.may_meet(wish, symbol) == 0 {
            return Vec::new();
        }
        let list = self.accounts.at(wish.account).open;
        let open = self.ledger.open_from(list, None);
        let open = open.map(|row| self.ledger.at(row));
        open.filter(|row| row.symbol == symbol && row.side != wish.side)
            .map(|row| row.state.open().0)
            .collect()
    }
}
