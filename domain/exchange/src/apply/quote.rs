//! Checks whether an order may enter the market, and what it would match now.

use turnstile_book::{Incoming, Owner};

use crate::{
    Cash, Exchange, Refusal, SelfTrade, Side,
    ledger::OrderValidity,
    symbols::{Listed, Scales},
};

/// What an order wants, in units, before anything has changed for it.
#[derive(Clone, Copy, Debug)]
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
}

/// What the book would give an order now.
#[derive(Clone, Copy, Debug, Default)]
struct Quote {
    quantity: u64,
    value: u128,
}

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
            None => self.quote(wish).value,
        }
    }

    /// Refuses what would not match as it wants to.
    pub(super) fn matches_as_wished(&self, wish: &Wish) -> Result<(), Refusal> {
        if wish.limit.is_none() && self.quote(wish).quantity == 0 {
            return Err(Refusal::NoMarket);
        }
        let listed = wish.symbol.map(|symbol| self.symbols.at(symbol));
        match wish.patience {
            OrderValidity::FillOrKill => {
                let filled = listed.is_some_and(|listed| {
                    let incoming = wish.incoming(0, listed);
                    listed.book.can_fill(&self.orders, &incoming)
                });
                filled.then_some(()).ok_or(Refusal::NotFillable)
            }
            OrderValidity::PostOnly => {
                let matched = listed.is_some_and(|listed| {
                    let incoming = wish.incoming(0, listed);
                    listed.book.would_match(&self.orders, &incoming)
                });
                (!matched).then_some(()).ok_or(Refusal::WouldMatch)
            }
            OrderValidity::GoodTillCancel
            | OrderValidity::GoodTillDate
            | OrderValidity::ImmediateOrCancel => Ok(()),
        }
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

    /// What an order would trade now, order by order, as the book would do it.
    fn quote(&self, wish: &Wish) -> Quote {
        let mut quote = Quote::default();
        let Some(symbol) = wish.symbol else {
            return quote;
        };
        let listed = self.symbols.at(symbol);
        let incoming = wish.incoming(0, listed);
        for resting in listed.book.resting(&self.orders, wish.side.opposite()) {
            let within = incoming.price.is_none_or(|limit| match wish.side {
                Side::Buy => resting.price <= limit,
                Side::Sell => resting.price >= limit,
            });
            if !within || quote.quantity == wish.quantity {
                break;
            }
            if resting.owner == incoming.owner {
                match wish.self_trade {
                    SelfTrade::Allow => {}
                    SelfTrade::Skip | SelfTrade::ExpireMaker => continue,
                    SelfTrade::ExpireTaker | SelfTrade::ExpireBoth => break,
                }
            }
            let quantity = resting.quantity.min(wish.quantity - quote.quantity);
            quote.quantity += quantity;
            quote.value += wish.scales.value(resting.price, quantity);
        }
        quote
    }
}
