//! The slow twin: one sorted list, no cleverness.

use turnstile_book::{Incoming, Owner, Quote, SelfTrade, Side, Stop};

/// An order of the twin. Later entries of equal price are later in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) order: u64,
    pub(crate) owner: Owner,
    pub(crate) side: Side,
    pub(crate) price: u64,
    pub(crate) quantity: u64,
}

/// What the twin reports: the same as the book, without slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    Fill { maker: Entry, quantity: u64 },
    Expired { maker: Entry },
}

/// All orders of one symbol, in the order in which they arrived.
#[derive(Clone, Debug, Default)]
pub(crate) struct Twin {
    entries: Vec<Entry>,
}

impl Twin {
    pub(crate) fn take(&mut self, incoming: &Incoming) -> (u64, Stop, Vec<Told>) {
        let (mut left, mut told) = (incoming.quantity, Vec::new());
        for maker in self.side(incoming.side.opposite()) {
            if !crosses(incoming, maker.price) {
                break;
            }
            if maker.owner == incoming.owner && incoming.self_trade != SelfTrade::Allow {
                let mode = incoming.self_trade;
                if matches!(mode, SelfTrade::ExpireMaker | SelfTrade::ExpireBoth) {
                    self.remove(maker.order);
                    told.push(Told::Expired { maker });
                }
                if matches!(mode, SelfTrade::ExpireTaker | SelfTrade::ExpireBoth) {
                    return (left, Stop::TakerExpired, told);
                }
                continue;
            }
            let quantity = left.min(maker.quantity);
            left -= quantity;
            self.lower(maker.order, maker.quantity - quantity);
            told.push(Told::Fill { maker, quantity });
            if left == 0 {
                return (left, Stop::NoneLeft, told);
            }
        }
        (left, Stop::NoMatch, told)
    }

    pub(crate) fn quote(&self, incoming: &Incoming) -> Quote {
        let (_, _, told) = self.clone().take(incoming);
        let mut quote = Quote::default();
        for told in told {
            if let Told::Fill { maker, quantity } = told {
                quote.quantity += quantity;
                quote.value += u128::from(maker.price) * u128::from(quantity);
            }
        }
        quote
    }

    pub(crate) fn rest(&mut self, entry: Entry) {
        self.entries.push(entry);
    }

    pub(crate) fn lower(&mut self, order: u64, quantity: u64) {
        let entry = self.entries.iter_mut().find(|entry| entry.order == order);
        entry.expect("a known order").quantity = quantity;
        self.entries.retain(|entry| entry.quantity > 0);
    }

    pub(crate) fn remove(&mut self, order: u64) {
        self.entries.retain(|entry| entry.order != order);
    }

    pub(crate) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The orders of a side, the first to trade first.
    pub(crate) fn side(&self, side: Side) -> Vec<Entry> {
        let of_side = self.entries.iter().filter(|entry| entry.side == side);
        let mut entries: Vec<Entry> = of_side.copied().collect();
        match side {
            Side::Buy => entries.sort_by_key(|entry| std::cmp::Reverse(entry.price)),
            Side::Sell => entries.sort_by_key(|entry| entry.price),
        }
        entries
    }
}

fn crosses(incoming: &Incoming, price: u64) -> bool {
    incoming.price.is_none_or(|limit| match incoming.side {
        Side::Buy => price <= limit,
        Side::Sell => price >= limit,
    })
}
