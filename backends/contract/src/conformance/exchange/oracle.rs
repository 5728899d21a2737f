//! The machine, as it would have answered.

use std::collections::BTreeMap;

use turnstile_exchange::{
    Answer, Command, Done, Exchange, OrderId, OrderRef, OrderView, Outcome, Query, Refusal,
};
use turnstile_types::{Context, Machine, Position, Principal, Timestamp};

/// An order that neither side ever has.
const NOBODYS: OrderId = OrderId(u64::MAX);

/// The machine, and what the back end calls the orders that both know.
#[derive(Debug)]
pub(super) struct Oracle {
    machine: Exchange,
    position: Position,
    /// The back end's orders, and the machine's.
    ours: BTreeMap<OrderId, OrderId>,
    /// The machine's orders, and the back end's.
    theirs: BTreeMap<OrderId, OrderId>,
}

impl Oracle {
    pub(super) fn new() -> Self {
        Self {
            machine: Exchange::empty(),
            position: Position(0),
            ours: BTreeMap::new(),
            theirs: BTreeMap::new(),
        }
    }

    /// Decides a command that names what the back end knows, and says what the back end should have
    /// answered in place of `given`.
    pub(super) fn decide(
        &mut self,
        now: Timestamp,
        principal: &Principal,
        command: &Command,
        given: &Outcome,
    ) -> Result<Outcome, String> {
        self.tick(now);
        let context = self.next(now, principal);
        let command = self.translated(*command);
        let mut expected = self.machine.apply(&context, &command);
        if let (Some(ours), Some(theirs)) = (accepted(&expected), accepted(given)) {
            self.learn(ours, theirs)?;
        }
        self.translate(&mut expected);
        Ok(expected)
    }

    /// Expires everything at the instant at which it is due.
    pub(super) fn tick(&mut self, now: Timestamp) {
        while let Some(due) = self.machine.next_deadline().filter(|&due| due <= now) {
            let local = Principal::local();
            let context = self.next(due, &local);
            self.machine.tick(&context);
        }
    }

    /// Answers a query that names what the back end knows, in its words. Numbers of trades, which
    /// are the back end's own, are left out.
    pub(super) fn query(&mut self, now: Timestamp, query: &Query) -> Answer {
        self.tick(now);
        let mut query = *query;
        if let Query::Order { order, .. } = &mut query {
            self.our_ref(order);
        }
        let mut answer = self.machine.query(now, &Principal::local(), &query);
        self.translate_answer(&mut answer);
        answer
    }

    /// Whether the machine is sound.
    pub(super) fn check(&self) -> Result<(), String> {
        self.machine.check().map_err(|faults| faults.join("; "))
    }

    fn next<'a>(&mut self, now: Timestamp, principal: &'a Principal) -> Context<'a> {
        self.position = Position(self.position.0 + 1);
        Context {
            position: self.position,
            now,
            principal,
        }
    }

    fn learn(&mut self, ours: OrderId, theirs: OrderId) -> Result<(), String> {
        let known = *self.ours.entry(theirs).or_insert(ours);
        if known != ours || *self.theirs.entry(ours).or_insert(theirs) != theirs {
            return Err(format!("order {theirs} was given to two orders"));
        }
        Ok(())
    }

    fn our_ref(&self, order: &mut OrderRef) {
        if let OrderRef::Id(id) = order {
            *id = self.ours.get(id).copied().unwrap_or(NOBODYS);
        }
    }

    fn translated(&self, mut command: Command) -> Command {
        if let Command::Cancel { order, .. } | Command::Replace { order, .. } = &mut command {
            self.our_ref(order);
        }
        command
    }

    fn their(&self, order: &mut OrderId) {
        *order = self.theirs.get(order).copied().unwrap_or(NOBODYS);
    }

    fn translate(&self, outcome: &mut Outcome) {
        match outcome {
            Outcome::Done(Done::Accepted { ticket, .. } | Done::Replaced { ticket, .. }) => {
                self.their(&mut ticket.order);
            }
            Outcome::Done(Done::Cancelled { order, .. })
            | Outcome::Refused(Refusal::ClientIdReused { order }) => self.their(order),
            Outcome::Done(_) | Outcome::Refused(_) => {}
        }
    }

    fn translate_answer(&self, answer: &mut Answer) {
        forget_trades(answer);
        match answer {
            Answer::Order(order) => self.translate_order(order),
            Answer::Orders { orders, .. } => {
                for order in orders {
                    self.translate_order(order);
                }
            }
            Answer::Queue { bids, asks, .. } => {
                for queued in bids.iter_mut().chain(asks) {
                    self.their(&mut queued.order);
                }
            }
            Answer::Trades { trades, .. } => {
                for trade in trades {
                    self.their(&mut trade.maker);
                    self.their(&mut trade.taker);
                }
            }
            _ => {}
        }
    }

    fn translate_order(&self, order: &mut OrderView) {
        self.their(&mut order.order);
        for execution in &mut order.executions {
            self.their(&mut execution.counterparty);
        }
    }
}

/// The order that was accepted.
pub(super) const fn accepted(outcome: &Outcome) -> Option<OrderId> {
    match outcome {
        Outcome::Done(Done::Accepted { ticket, .. }) => Some(ticket.order),
        _ => None,
    }
}

/// Leaves the numbers of trades out of an answer.
pub(super) fn forget_trades(answer: &mut Answer) {
    if let Answer::Trades { trades, .. } = answer {
        for trade in trades {
            trade.trade = 0;
        }
    }
}
