//! Whether an outcome fits what has happened.

use turnstile_exchange::{
    Command, Done, Event, EventKind, Order, OrderId, Outcome, Refusal, Ticket, TicketState,
};
use turnstile_types::Timestamp;

use super::{Market, Placed, Shown, ensure, units, value};

impl Market {
    /// Enters what a command has brought in, before its events.
    pub(super) fn place(&mut self, now: Timestamp, command: &Command, outcome: &Outcome) -> Shown {
        let Outcome::Done(done) = outcome else {
            return Ok(());
        };
        match (*command, *done) {
            (Command::CreateAccount { account, cash }, _) => {
                let before = self.cash.insert(account, units(cash));
                ensure(before.is_none(), || format!("{account} was created twice"))
            }
            (Command::Deposit { account, amount }, _) => {
                *self.cash.entry(account).or_default() += units(amount);
                Ok(())
            }
            (Command::Withdraw { account, amount }, _) => {
                let enough = units(amount) <= self.free_cash(account);
                ensure(enough, || format!("{account} has less than {amount}"))?;
                *self.cash.entry(account).or_default() -= units(amount);
                Ok(())
            }
            (
                Command::Grant {
                    account,
                    symbol,
                    quantity,
                },
                _,
            ) => {
                *self.shares.entry((account, symbol)).or_default() += units(quantity);
                Ok(())
            }
            (Command::Order(order), Done::Accepted { ticket, again }) => {
                self.accept(now, order, ticket, again)
            }
            (
                Command::Replace {
                    quantity, limit, ..
                },
                Done::Replaced { ticket, .. },
            ) => {
                let order = self.orders.get_mut(&ticket.order);
                let order = order.ok_or("an unknown order was replaced")?;
                order.open = units(quantity);
                order.limit = limit.or(order.limit);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Numbers are given in order, and a client id stands for one order.
    fn accept(&mut self, now: Timestamp, sent: Order, ticket: Ticket, again: bool) -> Shown {
        let client = sent.client_id.map(|client| (sent.account, client));
        let known = client.and_then(|client| self.clients.get(&client));
        let known = known.map(|id| &self.orders[id]);
        if again {
            let first = known.ok_or("a first order was taken for a repeated one")?;
            return ensure(first.ticket == ticket && first.sent == sent, || {
                format!("it is no repetition of {first:?}")
            });
        }
        let is_new = known.is_none_or(|known| known.may_be_forgotten(now));
        ensure(is_new, || format!("it repeats {known:?}"))?;
        let next = OrderId(self.orders.len() as u64 + 1);
        ensure(ticket.order == next, || format!("the next is {next}"))?;
        if let Some(client) = client {
            self.clients.insert(client, ticket.order);
        }
        let placed = Placed {
            sent,
            ticket,
            limit: sent.limit,
            open: units(sent.quantity),
            arrival: None,
            executions: Vec::new(),
            cancelled: None,
            ended: None,
        };
        self.orders.insert(ticket.order, placed);
        Ok(())
    }

    /// Compares what is answered with what has happened.
    pub(super) fn done(&self, command: &Command, done: &Done, events: &[Event]) -> Shown {
        let fits = match (*command, *done) {
            (Command::Deposit { account, .. }, Done::Deposited { cash })
            | (Command::Withdraw { account, .. }, Done::Withdrawn { cash }) => {
                self.free_cash(account) == cash.0
            }
            (
                Command::Grant {
                    account, symbol, ..
                },
                Done::Granted { position },
            ) => self.shares.get(&(account, symbol)) == Some(&units(position)),
            (Command::Order(_), Done::Accepted { again: true, .. }) => true,
            (Command::Order(_), Done::Accepted { ticket, .. })
            | (Command::Replace { .. }, Done::Replaced { ticket, .. }) => {
                return self.is_ticket(&ticket, events);
            }
            (Command::Cancel { account, .. }, Done::Cancelled { order, quantity }) => {
                self.orders.get(&order).is_some_and(|cancelled| {
                    cancelled.sent.account == account
                        && cancelled
                            .cancelled
                            .is_some_and(|(part, ..)| part == quantity)
                })
            }
            (Command::CancelAll { account, symbol }, Done::AllCancelled { .. }) => {
                let mut left = self.resting(account);
                !left.any(|order| symbol.is_none_or(|symbol| symbol == order.sent.symbol))
            }
            (Command::CreateAccount { .. }, Done::AccountCreated)
            | (Command::CreateSymbol { .. }, Done::SymbolCreated)
            | (Command::SetBand { .. }, Done::BandSet)
            | (Command::Halt { halted: true, .. }, Done::Halted)
            | (Command::Halt { halted: false, .. }, Done::Resumed)
            | (Command::SetLimits { .. }, Done::LimitsSet) => true,
            _ => false,
        };
        ensure(fits, || format!("{command:?} was answered by {done:?}"))
    }

    /// A ticket says what its order has traded now, and how it stands.
    fn is_ticket(&self, ticket: &Ticket, events: &[Event]) -> Shown {
        let (mut filled, mut cost) = (0, 0);
        for event in events {
            if let EventKind::Traded {
                price,
                quantity,
                taker,
                ..
            } = event.kind
                && taker.order == ticket.order
            {
                filled += units(quantity);
                cost += value(price, units(quantity));
            }
        }
        let order = &self.orders[&ticket.order];
        let state = match order.cancelled {
            Some((.., reason)) => TicketState::Ended(reason),
            None if order.open == 0 => TicketState::Filled,
            None => TicketState::Open,
        };
        let found = (units(ticket.filled), ticket.value.0, units(ticket.open));
        let same = found == (filled, cost, order.open) && ticket.state == state;
        ensure(same && order.arrival.is_some() == (order.open > 0), || {
            format!("{ticket:?} stands for {order:?}")
        })
    }

    /// A refusal must have a reason that the model can see, where it sees reasons of that kind.
    pub(super) fn refused(&self, now: Timestamp, command: &Command, refusal: &Refusal) -> Shown {
        let account = match *command {
            Command::CreateAccount { account, .. }
            | Command::Grant { account, .. }
            | Command::Deposit { account, .. }
            | Command::Withdraw { account, .. }
            | Command::Order(Order { account, .. })
            | Command::Cancel { account, .. }
            | Command::Replace { account, .. }
            | Command::CancelAll { account, .. }
            | Command::SetLimits { account, .. } => Some(account),
            Command::CreateSymbol { .. } | Command::SetBand { .. } | Command::Halt { .. } => None,
        };
        let named = match (*command, account) {
            (Command::Cancel { order, .. } | Command::Replace { order, .. }, Some(account)) => {
                self.remembered(now, account, order)
            }
            _ => None,
        };
        let has_account = account.is_some_and(|account| self.cash.contains_key(&account));
        let wrong = match *refusal {
            Refusal::UnknownAccount => has_account,
            Refusal::AccountExists => !has_account,
            Refusal::InsufficientFunds { needed, free } => {
                let owned = account.map_or(0, |account| self.free_cash(account));
                free.0 != owned || needed.0 <= owned
            }
            Refusal::InsufficientShares { needed, free } => match *command {
                Command::Order(order) => {
                    let owned = self.free_shares(order.account, order.symbol);
                    units(free) != owned || units(needed) <= owned
                }
                _ => false,
            },
            Refusal::NotFound => named.is_some(),
            Refusal::NotOpen => named.is_some_and(|order| order.arrival.is_some()),
            Refusal::NotYours => named.is_some_and(|order| Some(order.sent.account) == account),
            Refusal::ClientIdReused { order } => match *command {
                Command::Order(sent) => self.orders.get(&order).is_none_or(|first| {
                    first.sent.client_id != sent.client_id || first.sent == sent
                }),
                _ => true,
            },
            _ => false,
        };
        ensure(!wrong, || format!("{command:?} was refused: {refusal:?}"))
    }
}
