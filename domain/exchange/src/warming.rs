//! Prefetches what waiting commands will touch.

use turnstile_chassis::prefetch;

use crate::{Command, Exchange, about::About, expected::Target, ledger::State};

impl Exchange {
    /// Puts a command on the belt. The tables are read at once: they do not tell where they would
    /// look.
    pub(crate) fn expect_command(&self, command: &Command) {
        let About::Account(account) = command.about() else {
            return;
        };
        let (symbol, order) = if let Command::Order(order) = command {
            (Some(order.symbol), None)
        } else if let Command::Grant { symbol, .. } = command {
            (Some(*symbol), None)
        } else if let Command::Cancel { order, .. } | Command::Replace { order, .. } = command {
            (None, order.id())
        } else {
            (None, None)
        };
        let target = Target {
            account: self.accounts.guess(&account),
            symbol: symbol.and_then(|name| self.symbols.guess(&name)),
            row: order.and_then(|id| self.ledger.find(id)),
        };
        let mut expected = self.expected.borrow_mut();
        expected.put(target, |link, target| self.ask(link, target));
    }

    /// A command is about to be decided: those behind it move on.
    pub(crate) fn warm(&self) {
        let mut expected = self.expected.borrow_mut();
        expected.advance_one(|link, target| self.ask(link, target));
    }

    /// Asks memory for one link of a command's chain; the link before it has arrived.
    fn ask(&self, link: usize, target: &Target) {
        if link == 0 {
            if let Some(account) = target.account {
                prefetch(self.accounts.at(account));
            }
            if let Some(symbol) = target.symbol {
                prefetch(self.symbols.at(symbol));
            }
            if let Some(row) = target.row {
                prefetch(self.ledger.at(row));
            }
            return;
        }
        if let Some((account, symbol)) = target.account.zip(target.symbol)
            && let Some(position) = self.positions.find(account, symbol)
        {
            prefetch(position);
        }
        if let Some(row) = target.row
            && let State::Open { slot, .. } = self.ledger.at(row).state
        {
            self.orders.prefetch(slot);
        }
    }
}
