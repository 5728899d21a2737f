//! The bytes of the whole state. Byte map: `docs/formats/travel.md`.
//!
//! What only lives within one record (requests under way, answers, events) is not there, and what
//! is kept twice to be found sooner is derived again.

use turnstile_types::{Malformed, Reader};

use super::{Wire, fields, kinds};
use crate::{
    channel::Channel,
    coordinator::{Coordinator, End, Goal, Itinerary, Job, Phase, Transaction, Wait},
    locks::{Holder, Locks, Mode, Queue, Waiter},
    machine::PerDesk,
    operation::Resource,
    participant::{Branch, Customer, Participant, Shelves, Undo},
};

impl<T: Wire> Wire for PerDesk<T> {
    fn put(&self, out: &mut Vec<u8>) {
        self.iter().for_each(|(_, one)| one.put(out));
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(Self::new([
            T::read(reader)?,
            T::read(reader)?,
            T::read(reader)?,
            T::read(reader)?,
        ]))
    }
}

impl<M: Wire> Wire for Channel<M> {
    fn put(&self, out: &mut Vec<u8>) {
        for number in [self.life, self.peer_life, self.received, self.sent] {
            number.put(out);
        }
        self.unacknowledged.put(out);
        self.postponed.put(out);
        self.due.put(out);
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(Self {
            life: Wire::read(reader)?,
            peer_life: Wire::read(reader)?,
            received: Wire::read(reader)?,
            sent: Wire::read(reader)?,
            unacknowledged: Wire::read(reader)?,
            postponed: Wire::read(reader)?,
            due: Wire::read(reader)?,
        })
    }
}

impl Wire for Locks<Resource> {
    fn put(&self, out: &mut Vec<u8>) {
        self.queues.put(out);
        self.held.put(out);
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(Self::of(Wire::read(reader)?, Wire::read(reader)?))
    }
}

impl Wire for Coordinator {
    fn put(&self, out: &mut Vec<u8>) {
        self.last.put(out);
        self.transactions.put(out);
        self.ended.put(out);
        self.itineraries.put(out);
        self.issued.put(out);
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        let mut coordinator = Self::new();
        coordinator.last = Wire::read(reader)?;
        coordinator.transactions = Wire::read(reader)?;
        coordinator.ended = Wire::read(reader)?;
        coordinator.itineraries = Wire::read(reader)?;
        coordinator.issued = Wire::read(reader)?;
        coordinator.arm();
        Ok(coordinator)
    }
}

kinds!(Mode {
    0x01 Shared,
    0x02 Intent,
    0x03 Exclusive,
});

kinds!(Resource {
    0x01 Roster,
    0x02 Customer(customer),
    0x03 Item(item),
});

fields!(Holder { xid, mode });
fields!(Waiter {
    xid,
    mode,
    converts
});
fields!(Queue { holders, waiters });

fields!(Participant {
    shelves,
    locks,
    branches,
    settled,
    heard
});
fields!(Shelves {
    items,
    customers,
    picked
});
fields!(Customer { since, lines });

kinds!(Undo {
    0x01 Item { item, before },
    0x02 Customer { customer, before },
});

fields!(Branch {
    undo,
    waiting,
    told,
    finishes,
    prepared
});

fields!(Transaction {
    touched,
    yes,
    phase,
    job,
    wait,
    deadline
});
fields!(Wait { holder, before });
fields!(Job {
    ticket,
    goal,
    at,
    todo,
    taken,
    refusal
});
fields!(Itinerary {
    customer,
    since,
    items,
    until,
    releasing
});

kinds!(Phase {
    0x01 Open,
    0x02 Alone { desk },
    0x03 Preparing { awaited },
    0x04 Committing { awaited },
    0x05 Staged { awaited, locator },
    0x06 Doubtful { awaited, locator },
});

kinds!(Goal {
    0x01 Operate,
    0x02 RemoveCustomer,
    0x03 Summarize { bills },
    0x04 Reserve { customer },
    0x05 Commit,
    0x06 Book { customer, until, since },
    0x07 Release { locator, expired },
});

kinds!(End {
    0x01 Committed,
    0x02 Aborted(reason),
});
