//! The executions of each order.

use turnstile_types::Timestamp;

use crate::{
    OrderId,
    slab::{Linked, NONE, RowPool, some},
};

/// The executions of one order, the oldest first; kept by the order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chain {
    first: u32,
    last: u32,
    pub(crate) count: u32,
}

impl Chain {
    pub(crate) const EMPTY: Self = Self {
        first: NONE,
        last: NONE,
        count: 0,
    };
}

/// One execution, in units of the symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OrderFill {
    pub(crate) quantity: u64,
    pub(crate) price: u64,
    pub(crate) at: Timestamp,
    pub(crate) counterparty: OrderId,
}

#[derive(Debug)]
struct ExecutionLink {
    executed: OrderFill,
    next: u32,
}

impl Linked for ExecutionLink {
    fn next_mut(&mut self) -> &mut u32 {
        &mut self.next
    }
}

/// The executions of all orders, chained: an order that is forgotten gives all of its executions
/// back in one step.
#[derive(Debug)]
pub(crate) struct Executions {
    items: RowPool<ExecutionLink>,
}

impl Executions {
    pub(crate) const fn new() -> Self {
        Self {
            items: RowPool::empty(),
        }
    }

    pub(crate) fn push(&mut self, chain: &mut Chain, executed: OrderFill) {
        let item = ExecutionLink {
            executed,
            next: NONE,
        };
        let index = self.items.take(item);
        match some(chain.last) {
            None => chain.first = index,
            Some(last) => self.items.at_mut(last).next = index,
        }
        chain.last = index;
        chain.count += 1;
    }

    pub(crate) fn iter(&self, chain: Chain) -> impl Iterator<Item = &OrderFill> {
        std::iter::successors(some(chain.first), |&at| some(self.items.at(at).next))
            .map(|at| &self.items.at(at).executed)
    }

    pub(crate) fn forget(&mut self, chain: Chain) {
        if chain.count > 0 {
            self.items
                .give_back_chain(chain.first, chain.last, chain.count);
        }
    }

    /// How many executions are remembered.
    pub(crate) const fn len(&self) -> u32 {
        self.items.used()
    }
}
