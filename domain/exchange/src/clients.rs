//! The ids that clients gave their orders, and the first answer to each.

use crate::{
    ClientId, EndReason, TicketState, limits,
    slab::{Linked, NONE, RowPool, some},
    table::{Table, hash_of},
};

/// A client id, with what is needed to know the same order again and to answer it as the first
/// time, whatever has become of it since.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClientOrder {
    pub(crate) id: ClientId,
    /// The state that was answered.
    pub(crate) state: TicketState,
    /// How many executions the order had at once.
    pub(crate) at_once: u32,
    pub(crate) sent: Sent,
}

/// The numbers of an order as it was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sent {
    /// Units.
    pub(crate) quantity: u64,
    /// Ticks; zero for a market order.
    pub(crate) limit: u64,
}

/// The client ids of all orders that are remembered; an order keeps the number of its own.
///
/// Millions of orders may rest under ids of 36 bytes, so that little is kept beside the id. It is
/// found by way of its order, which knows the account; what was sent is what the order has, unless
/// the order was replaced since, as few are.
#[derive(Debug)]
pub(crate) struct ClientOrderIds {
    kept: RowPool<ClientEntry>,
    first: RowPool<SentLink>,
    /// The rows of orders by account and client id.
    orders: Table,
}

#[derive(Clone, Copy, Debug)]
struct ClientEntry {
    id: ClientId,
    answered: Answered,
    /// What was sent, once that is not what the order has; the next free one when this is free.
    first: u32,
}

#[derive(Clone, Copy, Debug)]
struct SentLink {
    sent: Sent,
    next: u32,
}

/// What an order was answered, in four bytes: the state in the lowest three bits, and how many
/// executions it had at once.
#[derive(Clone, Copy, Debug)]
struct Answered(u32);

const STATES: [TicketState; 7] = [
    TicketState::Open,
    TicketState::Filled,
    TicketState::Ended(EndReason::Cancelled),
    TicketState::Ended(EndReason::MassCancelled),
    TicketState::Ended(EndReason::Expired),
    TicketState::Ended(EndReason::Immediate),
    TicketState::Ended(EndReason::SelfTrade),
];

const STATE_BITS: u32 = 3;

const _: () = assert!(STATES.len() <= 1 << STATE_BITS);
const _: () = assert!(
    limits::OPEN_ORDERS_MAX < 1 << (u32::BITS - STATE_BITS),
    "an order executes with each open one at most once"
);

impl Answered {
    fn new(state: TicketState, at_once: u32) -> Self {
        let place = (0..).zip(STATES).find(|&(_, listed)| listed == state);
        let (place, _) = place.expect("every state is listed");
        Self(at_once << STATE_BITS | place)
    }

    fn state(self) -> TicketState {
        let place = self.0 & ((1 << STATE_BITS) - 1);
        *STATES
            .get(place as usize)
            .expect("only listed states are kept")
    }

    const fn at_once(self) -> u32 {
        self.0 >> STATE_BITS
    }
}

impl Linked for ClientEntry {
    fn next_mut(&mut self) -> &mut u32 {
        &mut self.first
    }
}

impl Linked for SentLink {
    fn next_mut(&mut self) -> &mut u32 {
        &mut self.next
    }
}

impl ClientOrderIds {
    pub(crate) fn new() -> Self {
        Self {
            kept: RowPool::empty(),
            first: RowPool::empty(),
            orders: Table::empty(),
        }
    }

    /// The order under an account's client id. `order` says of a row whose it is, and which client
    /// id it has.
    pub(crate) fn find(
        &self,
        account: u32,
        id: &ClientId,
        order: impl Fn(u32) -> (u32, u32),
    ) -> Option<u32> {
        self.orders.find(hash(account, id), |row| {
            let (owner, number) = order(row);
            owner == account && self.kept.at(number).id == *id
        })
    }

    /// Adds the id of an order that its account has not used. `now` is what the order has.
    pub(crate) fn add(
        &mut self,
        (account, row): (u32, u32),
        client: &ClientOrder,
        now: Sent,
    ) -> u32 {
        self.orders.insert(hash(account, &client.id), row);
        let number = self.kept.take(ClientEntry {
            id: client.id,
            answered: Answered::new(client.state, client.at_once),
            first: NONE,
        });
        if client.sent != now {
            self.keep_sent(number, client.sent);
        }
        number
    }

    pub(crate) fn forget(&mut self, number: u32, (account, row): (u32, u32)) {
        let kept = *self.kept.at(number);
        self.orders.remove(hash(account, &kept.id), row);
        if let Some(first) = some(kept.first) {
            self.first.give_back(first);
        }
        self.kept.give_back(number);
    }

    pub(crate) fn id(&self, number: u32) -> &ClientId {
        &self.kept.at(number).id
    }

    /// A client id with all that is known of it; `now` is what the order has.
    pub(crate) fn at(&self, number: u32, now: Sent) -> ClientOrder {
        let kept = self.kept.at(number);
        ClientOrder {
            id: kept.id,
            state: kept.answered.state(),
            at_once: kept.answered.at_once(),
            sent: some(kept.first).map_or(now, |first| self.first.at(first).sent),
        }
    }

    /// Notes what is answered to an order.
    pub(crate) fn answer(&mut self, number: u32, state: TicketState, at_once: u32) {
        self.kept.at_mut(number).answered = Answered::new(state, at_once);
    }

    /// Keeps what was sent, unless that was done before.
    pub(crate) fn keep_sent(&mut self, number: u32, sent: Sent) {
        let kept = self.kept.at_mut(number);
        if kept.first == NONE {
            kept.first = self.first.take(SentLink { sent, next: NONE });
        }
    }

    pub(crate) const fn len(&self) -> u32 {
        self.kept.used()
    }
}

fn hash(account: u32, id: &ClientId) -> u64 {
    hash_of(account, id.padded())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_id_takes_44_bytes() {
        assert_eq!(size_of::<ClientEntry>(), 44);
    }

    #[test]
    fn what_was_answered_is_kept_in_four_bytes() {
        for state in STATES {
            for at_once in [0, 1, limits::OPEN_ORDERS_MAX] {
                let answered = Answered::new(state, at_once);
                assert_eq!((answered.state(), answered.at_once()), (state, at_once));
            }
        }
    }

    #[test]
    fn what_was_sent_is_kept_once_and_given_back() {
        let mut clients = ClientOrderIds::new();
        let sent = |quantity| Sent { quantity, limit: 7 };
        let client = ClientOrder {
            id: ClientId::parse(b"a").unwrap(),
            state: TicketState::Open,
            at_once: 0,
            sent: sent(3),
        };
        let number = clients.add((5, 0), &client, sent(3));
        assert_eq!(clients.at(number, sent(3)).sent, sent(3));
        clients.keep_sent(number, sent(3));
        clients.keep_sent(number, sent(2));
        assert_eq!(clients.at(number, sent(1)).sent, sent(3));
        let owner = |row: u32| (5, row);
        assert_eq!(clients.find(5, &client.id, owner), Some(0));
        assert_eq!(clients.find(6, &client.id, owner), None);
        clients.forget(number, (5, 0));
        assert_eq!(clients.find(5, &client.id, owner), None);
        assert_eq!((clients.len(), clients.first.used()), (0, 0));
    }
}
