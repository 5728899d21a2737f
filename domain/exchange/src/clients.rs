//! The ids that clients gave their orders, and what they were answered.

use crate::{
    ClientId, TicketState,
    slab::{Linked, Pool},
    table::{Table, hash_of},
};

/// The client ids of all orders that are remembered.
#[derive(Debug)]
pub(crate) struct Clients {
    rows: Pool<Client>,
    numbers: Table,
}

/// A client id, with what is needed to know the same order again and to answer it as the first
/// time, whatever has become of it since.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Client {
    pub(crate) id: ClientId,
    /// The state that was answered.
    pub(crate) state: TicketState,
    pub(crate) account: u32,
    /// Where the order lies; the next free row when this one is free.
    pub(crate) row: u32,
    /// How many executions the order had at once.
    pub(crate) at_once: u32,
    /// As it was sent, in units.
    pub(crate) quantity: u64,
    /// As it was sent, in ticks; zero for a market order.
    pub(crate) limit: u64,
}

impl Linked for Client {
    fn next_mut(&mut self) -> &mut u32 {
        &mut self.row
    }
}

impl Clients {
    pub(crate) fn new() -> Self {
        Self {
            rows: Pool::new(),
            numbers: Table::new(),
        }
    }

    pub(crate) fn find(&self, account: u32, id: &ClientId) -> Option<u32> {
        self.numbers.find(hash(account, id), |number| {
            let row = self.rows.at(number);
            row.account == account && row.id == *id
        })
    }

    /// Adds an id that its account has not used.
    pub(crate) fn add(&mut self, client: Client) -> u32 {
        let number = self.rows.take(client);
        self.numbers
            .insert(hash(client.account, &client.id), number);
        number
    }

    pub(crate) fn forget(&mut self, number: u32) {
        let client = self.rows.at(number);
        self.numbers
            .remove(hash(client.account, &client.id), number);
        self.rows.give_back(number);
    }

    pub(crate) fn at(&self, number: u32) -> &Client {
        self.rows.at(number)
    }

    pub(crate) fn at_mut(&mut self, number: u32) -> &mut Client {
        self.rows.at_mut(number)
    }

    pub(crate) const fn len(&self) -> u32 {
        self.rows.used()
    }
}

fn hash(account: u32, id: &ClientId) -> u64 {
    hash_of(account, id.padded())
}
