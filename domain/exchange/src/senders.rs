//! The principals that have sent orders, and how many orders of each are open.

use std::collections::BTreeMap;

use turnstile_types::{Name, Principal};

/// The number of `local`: before there were keys, all orders were its own.
pub(crate) const LOCAL: u32 = 0;

/// The principals that have sent an order, by numbers from 1, so that an order keeps four bytes for its own.
/// They are never forgotten: there are as many as have been given keys. A snapshot has those with open
/// orders only, because nothing else is asked of them.
#[derive(Debug, Default)]
pub(crate) struct Senders {
    named: Vec<OrderSender>,
    numbers: BTreeMap<Name, u32>,
    /// The one that sent the last order; it decides nothing.
    last: u32,
    /// The open orders of all of them.
    open: u32,
}

#[derive(Clone, Copy, Debug)]
struct OrderSender {
    name: Name,
    open: u32,
}

impl Senders {
    /// The number of a principal, a new one at its first order.
    #[inline]
    pub(crate) fn enrol(&mut self, principal: &Principal) -> u32 {
        if *principal == Principal::local() {
            return LOCAL;
        }
        if self.name(self.last) == Some(principal.0) {
            return self.last;
        }
        let next = u32::try_from(self.named.len()).expect("principals are limited") + 1;
        self.last = *self.numbers.entry(principal.0).or_insert(next);
        if self.last == next {
            let name = principal.0;
            self.named.push(OrderSender { name, open: 0 });
        }
        self.last
    }

    /// The name of a sender; nothing for `local`.
    pub(crate) fn name(&self, number: u32) -> Option<Name> {
        let at = number.checked_sub(1)?;
        self.named.get(at as usize).map(|sender| sender.name)
    }

    /// The names of all of them.
    pub(crate) fn names(&self) -> impl Iterator<Item = Name> {
        self.named.iter().map(|sender| sender.name)
    }

    /// An order of this sender rests on a book from now on.
    pub(crate) fn open(&mut self, number: u32) {
        if let Some(sender) = self.at_mut(number) {
            sender.open += 1;
            self.open += 1;
        }
    }

    /// An open order of this sender has ended.
    pub(crate) fn close(&mut self, number: u32) {
        if let Some(sender) = self.at_mut(number) {
            sender.open -= 1;
            self.open -= 1;
        }
    }

    fn at_mut(&mut self, number: u32) -> Option<&mut OrderSender> {
        self.named.get_mut(number.checked_sub(1)? as usize)
    }

    /// How many open orders are not those of `local`.
    pub(crate) const fn all_open(&self) -> u32 {
        self.open
    }

    /// How many open orders a principal has, of all open orders; `local` has those that are nobody else's.
    pub(crate) fn open_of(&self, principal: &Principal, all: u32) -> u32 {
        if *principal == Principal::local() {
            return all - self.open;
        }
        let at = self.numbers.get(&principal.0);
        let sender = at.and_then(|number| self.named.get(*number as usize - 1));
        sender.map_or(0, |sender| sender.open)
    }
}
