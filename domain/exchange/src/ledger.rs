//! Every order that is kept, open or ended.

use turnstile_book::Slot;
use turnstile_types::Timestamp;

use crate::{
    ClientId, EndReason, OrderId, SelfTrade, Side, TicketState, TimeInForce,
    clients::{ClientOrder, ClientOrderIds, Sent},
    executions::{Chain, Executions, OrderFill},
    ids::Ids,
    limits,
    slab::{Linked, NONE, RowPool, some},
};

/// The orders, found by id, with their executions and client ids.
///
/// An order has one row for its whole life: 96 bytes, whether it is open or ended. Open rows are
/// chained for each account, by id; ended ones in the order in which they ended, which is the
/// order in which they are forgotten.
#[derive(Debug)]
pub(crate) struct OrderLedger {
    rows: RowPool<Row>,
    ids: Ids,
    pub(crate) executions: Executions,
    clients: ClientOrderIds,
    /// Orders accepted so far; the id of the last one.
    pub(crate) accepted: u64,
    open: u32,
    ended: EndedOrders,
}

/// One order, in units of its symbol.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub(crate) id: OrderId,
    pub(crate) account: u32,
    pub(crate) symbol: u32,
    /// As it was sent or last replaced.
    pub(crate) quantity: u64,
    /// Open, when it is open; cancelled, when it has ended.
    pub(crate) rest: u64,
    /// Ticks; zero for a market order.
    pub(crate) limit: u64,
    pub(crate) since: Timestamp,
    /// When it expires; zero for one that does not.
    pub(crate) until: Timestamp,
    pub(crate) executions: Chain,
    /// Its client id.
    pub(crate) client: u32,
    /// The principal that sent it, as [`Senders`](crate::senders::Senders) number it.
    pub(crate) sender: u32,
    pub(crate) state: State,
    pub(crate) side: Side,
    pub(crate) patience: OrderValidity,
    pub(crate) self_trade: SelfTrade,
}

/// [`TimeInForce`] without its date, which is the row's `until`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OrderValidity {
    GoodTillCancel,
    GoodTillDate,
    ImmediateOrCancel,
    FillOrKill,
    PostOnly,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum State {
    /// It is being matched, by the command that is decided now.
    Arriving,
    Open {
        slot: Slot,
        /// The account's open orders before and after it.
        older: u32,
        newer: u32,
    },
    Ended {
        at: Timestamp,
        /// None: it was filled.
        reason: Option<EndReason>,
        /// The one that ended next; the next free row when this one is free.
        next: u32,
    },
}

impl State {
    /// Where an open order rests, and the account's open orders before and after it.
    pub(crate) fn open(self) -> (Slot, u32, u32) {
        match self {
            Self::Open { slot, older, newer } => (slot, older, newer),
            Self::Arriving | Self::Ended { .. } => {
                unreachable!("only open orders are on a book and in an account's list")
            }
        }
    }

    /// When an order ended, and the one that ended next.
    fn ended(self) -> (Timestamp, u32) {
        match self {
            Self::Ended { at, next, .. } => (at, next),
            Self::Arriving | Self::Open { .. } => {
                unreachable!("only ended orders are in the list of them")
            }
        }
    }
}

/// The open orders of an account, by id.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpenOrders {
    oldest: u32,
    newest: u32,
    pub(crate) count: u32,
}

#[derive(Clone, Copy, Debug)]
struct EndedOrders {
    first: u32,
    last: u32,
    count: u32,
}

impl OpenOrders {
    pub(crate) const NONE: Self = Self {
        oldest: NONE,
        newest: NONE,
        count: 0,
    };
}

impl Row {
    pub(crate) const fn time_in_force(&self) -> TimeInForce {
        match self.patience {
            OrderValidity::GoodTillCancel => TimeInForce::GoodTillCancel,
            OrderValidity::GoodTillDate => TimeInForce::GoodTillDate(self.until),
            OrderValidity::ImmediateOrCancel => TimeInForce::ImmediateOrCancel,
            OrderValidity::FillOrKill => TimeInForce::FillOrKill,
            OrderValidity::PostOnly => TimeInForce::PostOnly,
        }
    }

    /// Its numbers as they are now.
    pub(crate) const fn sent(&self) -> Sent {
        Sent {
            quantity: self.quantity,
            limit: self.limit,
        }
    }

    /// What was executed of it.
    pub(crate) const fn filled(&self) -> u64 {
        self.quantity - self.rest
    }

    pub(crate) const fn is_open(&self) -> bool {
        matches!(self.state, State::Open { .. })
    }
}

impl OrderValidity {
    /// The two halves of a time in force.
    pub(crate) const fn of(time_in_force: TimeInForce) -> (Self, Timestamp) {
        match time_in_force {
            TimeInForce::GoodTillCancel => (Self::GoodTillCancel, Timestamp(0)),
            TimeInForce::GoodTillDate(until) => (Self::GoodTillDate, until),
            TimeInForce::ImmediateOrCancel => (Self::ImmediateOrCancel, Timestamp(0)),
            TimeInForce::FillOrKill => (Self::FillOrKill, Timestamp(0)),
            TimeInForce::PostOnly => (Self::PostOnly, Timestamp(0)),
        }
    }

    /// Whether such an order may wait on the book.
    pub(crate) const fn waits(self) -> bool {
        match self {
            Self::GoodTillCancel | Self::GoodTillDate | Self::PostOnly => true,
            Self::ImmediateOrCancel | Self::FillOrKill => false,
        }
    }
}

impl Linked for Row {
    fn next_mut(&mut self) -> &mut u32 {
        match &mut self.state {
            State::Ended { next, .. } => next,
            State::Arriving | State::Open { .. } => unreachable!("only an ended row is free"),
        }
    }
}

impl OrderLedger {
    pub(crate) fn new() -> Self {
        Self {
            rows: RowPool::empty(),
            ids: Ids::default(),
            executions: Executions::new(),
            clients: ClientOrderIds::new(),
            accepted: 0,
            open: 0,
            ended: EndedOrders {
                first: NONE,
                last: NONE,
                count: 0,
            },
        }
    }

    pub(crate) fn find(&self, id: OrderId) -> Option<u32> {
        self.ids.find(id)
    }

    pub(crate) fn at(&self, row: u32) -> &Row {
        self.rows.at(row)
    }

    pub(crate) fn at_mut(&mut self, row: u32) -> &mut Row {
        self.rows.at_mut(row)
    }

    pub(crate) const fn open(&self) -> u32 {
        self.open
    }

    /// How many orders have ended and are remembered.
    pub(crate) const fn ended(&self) -> u32 {
        self.ended.count
    }

    /// How many orders are remembered.
    pub(crate) const fn len(&self) -> u32 {
        self.rows.used()
    }

    /// The id of the order that is accepted next.
    pub(crate) const fn next_id(&self) -> OrderId {
        OrderId(self.accepted + 1)
    }

    /// Keeps an order under the next id.
    pub(crate) fn accept(&mut self, row: Row) -> u32 {
        assert!(row.id == self.next_id(), "ids are given one by one");
        self.accepted += 1;
        self.keep(row)
    }

    /// Keeps an order.
    pub(crate) fn keep(&mut self, row: Row) -> u32 {
        let number = self.rows.take(row);
        self.ids.insert(row.id, number);
        number
    }

    /// The order under an account's client id.
    pub(crate) fn find_client(&self, account: u32, id: &ClientId) -> Option<u32> {
        self.clients.find(account, id, |number| {
            let row = self.rows.at(number);
            (row.account, row.client)
        })
    }

    /// Gives an order its client id, which its account has not used.
    pub(crate) fn introduce(&mut self, number: u32, client: &ClientOrder) {
        let row = self.rows.at_mut(number);
        row.client = self.clients.add((row.account, number), client, row.sent());
    }

    pub(crate) fn client_id(&self, row: &Row) -> Option<ClientId> {
        some(row.client).map(|client| *self.clients.id(client))
    }

    pub(crate) fn client(&self, row: &Row) -> Option<ClientOrder> {
        some(row.client).map(|client| self.clients.at(client, row.sent()))
    }

    /// How many client ids are remembered.
    pub(crate) const fn clients(&self) -> u32 {
        self.clients.len()
    }

    /// Remembers what is answered to an order, if it has a client id.
    pub(crate) fn note_answer(&mut self, number: u32, state: TicketState) {
        let row = self.rows.at(number);
        if let Some(client) = some(row.client) {
            self.clients.answer(client, state, row.executions.count);
        }
    }

    /// Replaces what an order has open, and its limit.
    pub(crate) fn replace(&mut self, number: u32, rest: u64, limit: u64) {
        let row = self.rows.at_mut(number);
        if let Some(client) = some(row.client) {
            self.clients.keep_sent(client, row.sent());
        }
        row.quantity = row.filled() + rest;
        row.rest = rest;
        row.limit = limit;
    }

    pub(crate) fn execute(&mut self, number: u32, executed: OrderFill) {
        let row = self.rows.at_mut(number);
        row.rest -= executed.quantity;
        self.executions.push(&mut row.executions, executed);
    }

    /// Makes an order that rests on the book the newest of its account's.
    pub(crate) fn open_newest(&mut self, list: &mut OpenOrders, number: u32, slot: Slot) {
        let older = list.newest;
        self.set_newer(list, older, number);
        list.newest = number;
        let newer = NONE;
        self.rows.at_mut(number).state = State::Open { slot, older, newer };
        list.count += 1;
        self.open += 1;
    }

    /// An open order rests elsewhere now.
    pub(crate) fn move_to(&mut self, number: u32, to: Slot) {
        if let State::Open { slot, .. } = &mut self.rows.at_mut(number).state {
            *slot = to;
        }
    }

    /// Takes an order out of its account's; its state is to be set.
    pub(crate) fn close(&mut self, list: &mut OpenOrders, number: u32) {
        let (_, older, newer) = self.rows.at(number).state.open();
        self.set_newer(list, older, newer);
        self.set_older(list, newer, older);
        self.rows.at_mut(number).state = State::Arriving;
        list.count -= 1;
        self.open -= 1;
    }

    fn set_newer(&mut self, list: &mut OpenOrders, number: u32, to: u32) {
        let Some(number) = some(number) else {
            list.oldest = to;
            return;
        };
        if let State::Open { newer, .. } = &mut self.rows.at_mut(number).state {
            *newer = to;
        }
    }

    fn set_older(&mut self, list: &mut OpenOrders, number: u32, to: u32) {
        let Some(number) = some(number) else {
            list.newest = to;
            return;
        };
        if let State::Open { older, .. } = &mut self.rows.at_mut(number).state {
            *older = to;
        }
    }

    /// The open orders of an account, the oldest first, from one of them or from the oldest.
    pub(crate) fn open_from(
        &self,
        list: OpenOrders,
        from: Option<u32>,
    ) -> impl Iterator<Item = u32> + '_ {
        std::iter::successors(from.or_else(|| some(list.oldest)), |&number| {
            some(self.rows.at(number).state.open().2)
        })
    }

    /// The newest open order of an account.
    pub(crate) fn newest_open(&self, list: OpenOrders) -> Option<&Row> {
        some(list.newest).map(|number| self.rows.at(number))
    }

    /// Ends an order, whose rest is cancelled.
    pub(crate) fn end(&mut self, number: u32, at: Timestamp, reason: Option<EndReason>) {
        self.rows.at_mut(number).state = State::Ended {
            at,
            reason,
            next: NONE,
        };
        match some(self.ended.last) {
            None => self.ended.first = number,
            Some(last) => *self.rows.at_mut(last).next_mut() = number,
        }
        self.ended.last = number;
        self.ended.count += 1;
    }

    /// The ended orders in the order in which they ended.
    pub(crate) fn iter_ended(&self) -> impl Iterator<Item = u32> + '_ {
        std::iter::successors(some(self.ended.first), |&number| {
            some(self.rows.at(number).state.ended().1)
        })
    }

    /// Forgets the order that ended first, if it ended a week ago or if more than `kept` have
    /// ended since. Says whether it did.
    #[inline]
    pub(crate) fn forget_oldest(&mut self, now: Timestamp, kept: u32) -> bool {
        let Some(first) = some(self.ended.first) else {
            return false;
        };
        let (at, _) = self.rows.at(first).state.ended();
        if at.plus_ms(limits::ENDED_MS) > now && self.ended.count <= kept {
            return false;
        }
        self.forget(first);
        true
    }

    fn forget(&mut self, first: u32) {
        let row = *self.rows.at(first);
        let (_, next) = row.state.ended();
        self.ended.first = next;
        if next == NONE {
            self.ended.last = NONE;
        }
        self.ended.count -= 1;
        self.ids.remove(row.id);
        self.executions.forget(row.executions);
        if let Some(client) = some(row.client) {
            self.clients.forget(client, (row.account, first));
        }
        self.rows.give_back(first);
    }
}

/// The row that the book knows an order by.
pub(crate) fn row_of(order: u64) -> u32 {
    u32::try_from(order).expect("the book was given the number of a row")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(ledger: &mut OrderLedger, at: Timestamp) {
        let number = ledger.accept(Row {
            id: ledger.next_id(),
            account: 0,
            symbol: 0,
            quantity: 1,
            rest: 1,
            limit: 1,
            since: at,
            until: Timestamp(0),
            executions: Chain::EMPTY,
            client: NONE,
            sender: 0,
            state: State::Arriving,
            side: Side::Buy,
            patience: OrderValidity::ImmediateOrCancel,
            self_trade: SelfTrade::Allow,
        });
        ledger.end(number, at, Some(EndReason::Immediate));
    }

    #[test]
    fn ended_orders_are_forgotten_when_they_are_old_or_too_many() {
        let mut ledger = OrderLedger::new();
        for at in 1..=5 {
            ended(&mut ledger, Timestamp(at));
        }
        let now = Timestamp(5);
        assert!(!ledger.forget_oldest(now, 5), "five may be kept");
        assert!(ledger.forget_oldest(now, 3));
        assert!(ledger.forget_oldest(now, 3));
        assert!(!ledger.forget_oldest(now, 3));
        assert_eq!(ledger.ended(), 3, "three may be kept");
        assert_eq!(ledger.find(OrderId(2)), None, "the oldest go first");
        assert!(ledger.find(OrderId(3)).is_some());
        let week = Timestamp(3 + limits::ENDED_MS);
        assert!(ledger.forget_oldest(week, 5));
        assert!(!ledger.forget_oldest(week, 5));
        assert_eq!(ledger.ended(), 2, "one of them is a week old");
        assert_eq!((ledger.find(OrderId(3)), ledger.len()), (None, 2));
    }

    #[test]
    fn an_order_takes_96_bytes() {
        assert_eq!(size_of::<Row>(), 96);
    }
}
