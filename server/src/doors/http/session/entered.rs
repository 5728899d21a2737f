//! The orders that a session has sent, for the day it ends.

use std::collections::{BTreeMap, BTreeSet};

use tokio::time;
use turnstile_exchange::{
    AccountId, Answer as Told, Command, Done, Exchange, OrderId, OrderRef, Outcome, Query,
    TicketState,
};

use super::Answer;
use crate::{
    core::caller::Caller,
    doors::http::{
        Door,
        limits::{CANCEL_AGAIN, CANCELS_AT_ONCE, CANCELS_AT_ONCE_AWAY},
    },
};

/// The orders of a session that wants them cancelled when it ends, each with its account.
///
/// An order stays here until somebody [reviews](Self::review) them, also when it has ended; to
/// cancel it again does no harm. Orders of other sessions are never here, nor those of this one from
/// before it wanted this.
#[derive(Debug, Default)]
pub(super) struct Entered {
    is_wanted: bool,
    orders: BTreeMap<OrderId, AccountId>,
}

impl Entered {
    /// Begins to note orders, or forgets those that were noted.
    pub(super) fn set(&mut self, is_wanted: bool) {
        self.is_wanted = is_wanted;
        if !is_wanted {
            self.orders.clear();
        }
    }

    /// Whether one more order can be noted, of at most so many, with those whose answers are
    /// awaited.
    pub(super) fn has_room(&self, most: usize, awaited: usize) -> bool {
        !self.is_wanted || self.orders.len() + awaited < most
    }

    /// Notes an order that rests. One that is told again was sent before, perhaps by another
    /// session: what this session sent itself is noted already.
    pub(super) fn note(&mut self, answer: &Answer) {
        let (true, Some(account), Ok(reply)) = (self.is_wanted, answer.order, &answer.reply) else {
            return;
        };
        if let Outcome::Done(Done::Accepted {
            ticket,
            again: false,
        }) = reply.outcome
            && ticket.state == TicketState::Open
            && !reply.replayed
        {
            self.orders.insert(ticket.order, account);
        }
    }

    /// Forgets the orders that are not open any more.
    pub(super) async fn review(&mut self, door: &Door, caller: &Caller) {
        let accounts: BTreeSet<AccountId> = self.orders.values().copied().collect();
        for account in accounts {
            let query = Query::Orders {
                account,
                symbol: None,
                cursor: None,
                limit: u16::MAX,
            };
            let answer = door.courier.query::<Exchange>(caller, query).await;
            // Of an account with more open orders than one page holds, nothing is forgotten.
            let Ok((_, Told::Orders { orders, next: None })) = answer else {
                continue;
            };
            let open: BTreeSet<OrderId> = orders.iter().map(|order| order.order).collect();
            self.orders
                .retain(|order, of| *of != account || open.contains(order));
        }
    }

    /// Cancels all that was noted, and comes back when that is durable. What the loop does not take
    /// now is tried again, until the server ends.
    pub(super) async fn cancel(self, door: &Door, caller: &Caller) {
        let mut left: Vec<(OrderId, AccountId)> = self.orders.into_iter().collect();
        let at_once = if door.gate.in_databases.has::<Exchange>() {
            CANCELS_AT_ONCE_AWAY
        } else {
            CANCELS_AT_ONCE
        };
        while !left.is_empty() {
            let mut again = Vec::new();
            for some in left.chunks(at_once) {
                let sent: Vec<_> = some
                    .iter()
                    .map(|order| send((door, caller), *order))
                    .collect();
                for (order, answer) in some.iter().zip(sent) {
                    match answer.await {
                        Ok(_done_or_ended) => {}
                        Err(problem) if problem.code.retryable() => again.push(*order),
                        Err(problem) => {
                            tracing::error!(%problem, order = %order.0, "an order was not cancelled");
                        }
                    }
                }
            }
            left = again;
            if left.is_empty() {
                return;
            }
            if door.is_stopping() {
                tracing::warn!(orders = left.len(), "orders were left open at the end");
                return;
            }
            time::sleep(CANCEL_AGAIN).await;
        }
    }
}

fn send(
    (door, caller): (&Door, &Caller),
    (order, account): (OrderId, AccountId),
) -> impl Future<Output = Result<turnstile_embedded::Reply<Exchange>, turnstile_http::Problem>> {
    let order = OrderRef::Id(order);
    let cancel = Command::Cancel { account, order };
    door.courier.execute::<Exchange>(caller, None, &cancel)
}
