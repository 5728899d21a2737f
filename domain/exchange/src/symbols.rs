//! Symbols: scales, bands, books and the latest trades.

use std::collections::VecDeque;

use turnstile_book::Book;
use turnstile_types::Timestamp;

use crate::{
    CASH_SCALE, CommandField, Decimal, OrderId, Refusal, Side, Symbol, limits,
    slab::RowSlab,
    table::{Table, hash_of},
};

/// All symbols, in the order of their creation; they are never forgotten.
#[derive(Debug)]
pub(crate) struct Symbols {
    rows: RowSlab<Listed>,
    numbers: Table,
}

/// A symbol.
#[derive(Debug)]
pub(crate) struct Listed {
    pub(crate) name: Symbol,
    pub(crate) scales: Scales,
    pub(crate) halted: bool,
    /// Bounds of the limits that are accepted, in ticks.
    pub(crate) low: Option<u64>,
    pub(crate) high: Option<u64>,
    /// All shares that were ever granted.
    pub(crate) issued: u64,
    /// Changes of the book so far.
    pub(crate) seq: u64,
    pub(crate) open_orders: u32,
    pub(crate) book: Book,
    /// The latest, the oldest first.
    pub(crate) trades: VecDeque<Traded>,
}

/// A trade, in units of its symbol.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Traded {
    pub(crate) trade: u64,
    pub(crate) at: Timestamp,
    pub(crate) price: u64,
    pub(crate) quantity: u64,
    pub(crate) side: Side,
    pub(crate) maker: OrderId,
    pub(crate) taker: OrderId,
}

/// How many digits after the point a symbol's numbers have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Scales {
    price: u8,
    quantity: u8,
}

impl Scales {
    pub(crate) const DEFAULT: Self = Self {
        price: limits::PRICE_SCALE,
        quantity: limits::QUANTITY_SCALE,
    };

    /// Two scales whose product is exact in cash.
    pub(crate) fn new(price: u8, quantity: u8) -> Option<Self> {
        let both = price.checked_add(quantity)?;
        (both <= CASH_SCALE).then_some(Self { price, quantity })
    }

    pub(crate) const fn price_scale(self) -> u8 {
        self.price
    }

    pub(crate) const fn quantity_scale(self) -> u8 {
        self.quantity
    }

    /// Ticks of a price.
    pub(crate) fn ticks(self, price: Decimal) -> Result<u64, Refusal> {
        units(price, self.price, CommandField::Price)
    }

    /// Units of a quantity.
    pub(crate) fn shares(self, quantity: Decimal) -> Result<u64, Refusal> {
        units(quantity, self.quantity, CommandField::Quantity)
    }

    pub(crate) const fn price(self, ticks: u64) -> Decimal {
        Decimal::new(ticks, self.price)
    }

    pub(crate) const fn quantity(self, units: u64) -> Decimal {
        Decimal::new(units, self.quantity)
    }

    /// What a quantity costs at a price, in units of cash.
    pub(crate) fn value(self, ticks: u64, units: u64) -> u128 {
        self.cash(u128::from(ticks) * u128::from(units))
    }

    /// Units of cash of ticks times units. Exact: the largest price times the largest quantity at
    /// the smallest scales is below 2^127.
    pub(crate) fn cash(self, product: u128) -> u128 {
        let digits = u32::from(CASH_SCALE - self.price - self.quantity);
        product * u128::from(10_u64.pow(digits))
    }
}

/// A number in units of its scale, from 1 to the largest.
fn units(number: Decimal, scale: u8, field: CommandField) -> Result<u64, Refusal> {
    if number.is_zero() {
        return Err(Refusal::Zero { field });
    }
    let units = number
        .at_scale(scale)
        .ok_or(Refusal::TooManyDigits { field, scale })?;
    u64::try_from(units)
        .ok()
        .filter(|&units| units <= limits::UNITS_MAX)
        .ok_or(Refusal::TooLarge { field })
}

impl Listed {
    /// The band as callers know it.
    pub(crate) fn band(&self) -> (Option<Decimal>, Option<Decimal>) {
        let price = |ticks: Option<u64>| ticks.map(|ticks| self.scales.price(ticks));
        (price(self.low), price(self.high))
    }

    /// The price of the latest trade.
    pub(crate) fn last_price(&self) -> Option<u64> {
        self.trades.back().map(|traded| traded.price)
    }

    pub(crate) fn remember(&mut self, traded: Traded) {
        if self.trades.len() == limits::TRADES_KEPT {
            self.trades.pop_front();
        }
        self.trades.push_back(traded);
    }
}

impl Symbols {
    pub(crate) fn new() -> Self {
        Self {
            rows: RowSlab::empty(),
            numbers: Table::empty(),
        }
    }

    pub(crate) fn find(&self, name: &Symbol) -> Option<u32> {
        self.numbers.find(hash_of_symbol(name), |number| {
            self.rows.at(number).name == *name
        })
    }

    /// Adds a symbol that is not there.
    pub(crate) fn add(&mut self, name: Symbol, scales: Scales) -> u32 {
        let number = self.rows.push(Listed {
            name,
            scales,
            halted: false,
            low: None,
            high: None,
            issued: 0,
            seq: 0,
            open_orders: 0,
            book: Book::new(),
            trades: VecDeque::new(),
        });
        self.numbers.insert(hash_of_symbol(&name), number);
        number
    }

    /// Whether no further symbol may be added.
    pub(crate) const fn is_full(&self) -> bool {
        self.rows.len() >= limits::SYMBOLS_MAX
    }

    pub(crate) const fn len(&self) -> u32 {
        self.rows.len()
    }

    /// The first symbol under this name's hash, without a look at it; see `warming`.
    pub(crate) fn guess(&self, name: &Symbol) -> Option<u32> {
        self.numbers.find(hash_of_symbol(name), |_| true)
    }

    pub(crate) fn at(&self, number: u32) -> &Listed {
        self.rows.at(number)
    }

    pub(crate) fn at_mut(&mut self, number: u32) -> &mut Listed {
        self.rows.at_mut(number)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Listed> {
        self.rows.iter()
    }
}

fn hash_of_symbol(name: &Symbol) -> u64 {
    hash_of(0, name.padded())
}
