//! Symbols, their shares, bands and halts.

use turnstile_types::Context;

use crate::{
    AccountId, CommandField, Decimal, Done, EventKind, Exchange, Refusal, Symbol, limits,
    symbols::Scales,
};

impl Exchange {
    pub(super) fn create_symbol(
        &mut self,
        name: Symbol,
        price_scale: u8,
        quantity_scale: u8,
    ) -> Result<Done, Refusal> {
        if self.symbols.find(&name).is_some() {
            return Err(Refusal::SymbolExists);
        }
        let scales = Scales::new(price_scale, quantity_scale).ok_or(Refusal::ScaleTooLarge)?;
        self.room_for_symbol()?;
        self.symbols.add(name, scales);
        Ok(Done::SymbolCreated)
    }

    fn room_for_symbol(&self) -> Result<(), Refusal> {
        if self.symbols.is_full() {
            let limit = limits::SYMBOLS_MAX;
            return Err(Refusal::Full { limit });
        }
        Ok(())
    }

    /// The scales of a symbol, whether it is there or would be created.
    pub(super) fn scales_of(&self, symbol: Option<u32>) -> Scales {
        symbol.map_or(Scales::DEFAULT, |symbol| self.symbols.at(symbol).scales)
    }

    /// Refuses a symbol that would have to be created where there is no room.
    pub(super) fn may_list(&self, symbol: Option<u32>) -> Result<(), Refusal> {
        symbol.map_or_else(|| self.room_for_symbol(), |_| Ok(()))
    }

    /// The symbol, created where it is new.
    pub(super) fn listed(&mut self, symbol: Option<u32>, name: Symbol) -> u32 {
        symbol.unwrap_or_else(|| self.symbols.add(name, Scales::DEFAULT))
    }

    pub(super) fn grant(
        &mut self,
        id: &AccountId,
        name: &Symbol,
        quantity: Decimal,
    ) -> Result<Done, Refusal> {
        let account = self.accounts.find(id).ok_or(Refusal::UnknownAccount)?;
        let symbol = self.symbols.find(name);
        let scales = self.scales_of(symbol);
        let shares = scales.shares(quantity)?;
        let before = symbol.map_or(0, |symbol| self.symbols.at(symbol).issued);
        let field = CommandField::Quantity;
        let issued = before
            .checked_add(shares)
            .ok_or(Refusal::TooLarge { field })?;
        self.may_list(symbol)?;

        let symbol = self.listed(symbol, *name);
        self.symbols.at_mut(symbol).issued = issued;
        self.shares += u128::from(shares);
        self.positions.credit(account, symbol, shares);
        let position = self.positions.find(account, symbol);
        let held = position.map_or(0, |position| position.free + position.reserved);
        Ok(Done::Granted {
            position: scales.quantity(held),
        })
    }

    pub(super) fn set_band(
        &mut self,
        name: &Symbol,
        low: Option<Decimal>,
        high: Option<Decimal>,
    ) -> Result<Done, Refusal> {
        let symbol = self.symbols.find(name).ok_or(Refusal::UnknownSymbol)?;
        let scales = self.symbols.at(symbol).scales;
        let low = low.map(|low| scales.ticks(low)).transpose()?;
        let high = high.map(|high| scales.ticks(high)).transpose()?;
        if low.zip(high).is_some_and(|(low, high)| low > high) {
            return Err(Refusal::EmptyBand);
        }
        let listed = self.symbols.at_mut(symbol);
        (listed.low, listed.high) = (low, high);
        Ok(Done::BandSet)
    }

    pub(super) fn halt(
        &mut self,
        context: &Context<'_>,
        name: &Symbol,
        halted: bool,
    ) -> Result<Done, Refusal> {
        let symbol = self.symbols.find(name).ok_or(Refusal::UnknownSymbol)?;
        let listed = self.symbols.at_mut(symbol);
        let (done, kind) = if halted {
            (Done::Halted, EventKind::Halted)
        } else {
            (Done::Resumed, EventKind::Resumed)
        };
        if listed.halted != halted {
            listed.halted = halted;
            self.tell(context, *name, kind);
        }
        Ok(done)
    }
}
