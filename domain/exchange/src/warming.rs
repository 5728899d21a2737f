//! Loading what commands will touch while they still wait.

use std::hint::black_box;

use turnstile_chassis::GROUP;

use crate::{AccountId, Command, Exchange, OrderId, OrderRef, Symbol, ledger::State};

/// What is known of a command before anything is loaded.
///
/// A command needs chains of cache lines: an account by its name and the account; an order by its
/// id, the order, and its place on the book. With millions of them each link is a wait for memory.
/// The chains of a group of commands are walked side by side, one link at a time for all of them,
/// so that the waits overlap. Reading early is all that it does: the values are thrown away.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target {
    account: AccountId,
    symbol: Option<Symbol>,
    order: Option<OrderId>,
}

/// Where a command leads.
#[derive(Clone, Copy, Debug, Default)]
struct Spot {
    account: Option<u32>,
    symbol: Option<u32>,
    row: Option<u32>,
}

impl Exchange {
    /// Notes a command. Nothing is loaded yet: one load after the other would be waited for.
    pub(crate) fn expect_command(&self, command: &Command) {
        let (account, symbol, order) = match command {
            Command::Order(order) => (order.account, Some(order.symbol), None),
            Command::Grant {
                account, symbol, ..
            } => (*account, Some(*symbol), None),
            Command::Cancel { account, order } | Command::Replace { account, order, .. } => {
                let id = match order {
                    OrderRef::Id(id) => Some(*id),
                    OrderRef::Client(_) => None,
                };
                (*account, None, id)
            }
            Command::Deposit { account, .. }
            | Command::Withdraw { account, .. }
            | Command::CancelAll { account, .. }
            | Command::SetLimits { account, .. }
            | Command::CreateAccount { account, .. } => (*account, None, None),
            Command::CreateSymbol { .. } | Command::SetBand { .. } | Command::Halt { .. } => return,
        };
        self.expected.borrow_mut().note(Some(Target {
            account,
            symbol,
            order,
        }));
    }

    /// Loads for the next commands, when the ones that it was done for are decided.
    pub(crate) fn warm(&mut self) {
        let expected = self.expected.get_mut();
        if expected.is_due() {
            let group = expected.take_group();
            self.walk(&group);
        }
    }

    /// Walks the chains of a group, one link at a time for all.
    fn walk(&self, group: &[Option<Target>; GROUP]) {
        let mut spots = [Spot::default(); GROUP];
        for (spot, expected) in spots.iter_mut().zip(group.iter().flatten()) {
            *spot = Spot {
                account: self.accounts.guess(&expected.account),
                symbol: expected.symbol.and_then(|name| self.symbols.guess(&name)),
                row: expected.order.and_then(|id| self.ledger.find(id)),
            };
        }
        let mut touched = 0;
        for spot in &spots {
            let account = spot.account.map_or(0, |at| self.accounts.at(at).open.count);
            let symbol = spot.symbol.map_or(0, |at| self.symbols.at(at).open_orders);
            let row = spot.row.map_or(0, |at| self.ledger.at(at).symbol);
            touched ^= u64::from(account ^ symbol ^ row);
        }
        for spot in &spots {
            if let Some((account, symbol)) = spot.account.zip(spot.symbol) {
                touched ^= self.positions.touch(account, symbol);
            }
            if let Some(row) = spot.row
                && let State::Open { slot, .. } = self.ledger.at(row).state
            {
                touched ^= self.orders.touch(slot);
            }
        }
        black_box(touched);
    }
}
