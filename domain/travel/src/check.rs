//! The invariants of the whole state.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    Desk, Item, Locator, Travel,
    coordinator::Coordinator,
    locks::{LockQueue, Locks},
    operation::Resource,
    participant::{DeskTables, Participant},
    settings::TravelRoles,
};

/// What does not hold, one sentence each.
#[derive(Debug, Default)]
struct InvariantFaults(Vec<String>);

impl InvariantFaults {
    fn unless(&mut self, holds: bool, sentence: impl FnOnce() -> String) {
        if !holds {
            self.0.push(sentence());
        }
    }
}

pub(crate) fn examine(travel: &Travel) -> Result<(), Vec<String>> {
    let mut faults = InvariantFaults::default();
    check_times(&travel.coordinator, &mut faults);
    let transactions = &travel.coordinator.transactions;
    let mut held = travel.coordinator.holders.xids();
    faults.unless(held.all(|xid| transactions.contains_key(&xid)), || {
        "a transaction that has ended belongs to a principal".to_owned()
    });
    faults.unless(travel.coordinator.holders.are_counted(), || {
        "transactions are not counted for the principals that have them".to_owned()
    });
    let waiting: BTreeSet<_> = travel.coordinator.tickets().collect();
    faults.unless(waiting == travel.pending, || {
        "it is not known for certain who waits for a late answer".to_owned()
    });
    for (desk, participant) in travel.desks.iter() {
        check_locks(desk, &participant.locks, &mut faults);
        check_branches(desk, participant, &mut faults);
    }
    if travel.settings.roles == TravelRoles::ALL {
        check_agreement(travel, &mut faults);
    }
    if faults.0.is_empty() {
        Ok(())
    } else {
        Err(faults.0)
    }
}

fn check_times(coordinator: &Coordinator, faults: &mut InvariantFaults) {
    let mut armed = coordinator.clone();
    armed.arm();
    faults.unless(armed.deadlines == coordinator.deadlines, || {
        "a transaction and its deadline do not agree".to_owned()
    });
    faults.unless(armed.restless == coordinator.restless, || {
        "a transaction that waits or ends is missing from the list for operators".to_owned()
    });
    faults.unless(armed.waited_for == coordinator.waited_for, || {
        "it is not known for certain who is waited for".to_owned()
    });
    faults.unless(armed.holds == coordinator.holds, || {
        "an itinerary and its hold do not agree".to_owned()
    });
    faults.unless(armed.booking == coordinator.booking, || {
        "a trip that is being booked and its locator do not agree".to_owned()
    });
    faults.unless(coordinator.booked <= coordinator.issued, || {
        "an itinerary has no locator".to_owned()
    });
    for (xid, transaction) in &coordinator.transactions {
        faults.unless(*xid <= coordinator.last, || {
            format!("transaction {xid} never started")
        });
        let decided = matches!(
            transaction.phase,
            crate::coordinator::Phase::Committing { .. }
        );
        faults.unless(!transaction.phase.has_all_votes(), || {
            format!("transaction {xid} has all votes and is not decided")
        });
        faults.unless(decided || !coordinator.ended.contains_key(xid), || {
            format!("transaction {xid} is open and has ended")
        });
    }
    let mut booking = coordinator.booking.iter();
    let is_new = |locator: &Locator| {
        locator.number() <= coordinator.issued && !coordinator.itineraries.contains_key(locator)
    };
    faults.unless(booking.all(is_new), || {
        "a trip that is being booked has the locator of another".to_owned()
    });
    let last = coordinator.itineraries.last_key_value();
    faults.unless(
        last.is_none_or(|(locator, _)| locator.number() <= coordinator.issued),
        || "an itinerary has a locator that was not given".to_owned(),
    );
}

fn check_locks(desk: Desk, locks: &Locks<Resource>, faults: &mut InvariantFaults) {
    for (resource, queue) in &locks.queues {
        faults.unless(is_in_order(queue), || {
            format!("{desk}: the queue for {resource:?} is wrong")
        });
        for holder in &queue.holders {
            let held = locks.held.get(&holder.xid);
            faults.unless(held.is_some_and(|held| held.contains(resource)), || {
                format!(
                    "{desk}: transaction {} does not know that it holds {resource:?}",
                    holder.xid
                )
            });
        }
        for waiter in &queue.waiters {
            faults.unless(locks.waiting.get(&waiter.xid) == Some(resource), || {
                format!("{desk}: transaction {} waits twice", waiter.xid)
            });
        }
    }
    let held: usize = locks.held.values().map(Vec::len).sum();
    let holders: usize = locks.queues.values().map(|queue| queue.holders.len()).sum();
    faults.unless(held == holders, || {
        format!("{desk}: locks are held that are not there")
    });
}

/// Holders fit together, nobody waits who could be served, and those who convert stand in front.
fn is_in_order(queue: &LockQueue) -> bool {
    let mut pairs = queue.holders.iter().zip(queue.holders.iter().skip(1));
    let fit = pairs.all(|(one, other)| one.mode.admits(other.mode));
    let holds = |xid| queue.holders.iter().any(|holder| holder.xid == xid);
    let converts = queue
        .waiters
        .iter()
        .all(|waiter| waiter.converts == holds(waiter.xid));
    let sorted = queue
        .waiters
        .iter()
        .is_sorted_by_key(|waiter| !waiter.converts);
    let must_wait = queue.waiters.front().is_none_or(|first| {
        let mut others = queue
            .holders
            .iter()
            .filter(|holder| holder.xid != first.xid);
        others.any(|holder| !holder.mode.admits(first.mode))
    });
    !queue.holders.is_empty() && fit && converts && sorted && must_wait
}

fn check_branches(desk: Desk, participant: &Participant, faults: &mut InvariantFaults) {
    for (xid, branch) in &participant.branches {
        let waits = participant.locks.waiting.contains_key(xid);
        faults.unless(waits == branch.waiting.is_some(), || {
            format!("{desk}: transaction {xid} waits for no lock, or for nothing")
        });
        faults.unless(!(branch.prepared && waits), || {
            format!("{desk}: transaction {xid} has voted and waits")
        });
    }
    let mut lockers = participant
        .locks
        .held
        .keys()
        .chain(participant.locks.waiting.keys());
    let open = lockers.all(|xid| participant.branches.contains_key(xid));
    faults.unless(open, || {
        format!("{desk}: a transaction that is not open holds locks")
    });
}

/// What the desks have committed, as if all that is open were aborted.
pub(crate) fn committed(participant: &Participant) -> DeskTables {
    let mut shelves = participant.shelves.clone();
    for branch in participant.branches.values() {
        shelves.revert(branch.undo.clone());
    }
    shelves
}

/// What is reserved at the desks is what stands on the bills.
fn check_agreement(travel: &Travel, faults: &mut InvariantFaults) {
    let mut reserved: BTreeMap<Item, u64> = BTreeMap::new();
    for desk in [Desk::Flights, Desk::Cars, Desk::Rooms] {
        let items = committed(travel.desks.at(desk)).items;
        let some = items.into_iter().filter(|(_, stock)| stock.reserved > 0);
        reserved.extend(some.map(|(item, stock)| (item, u64::from(stock.reserved))));
    }
    let mut billed: BTreeMap<Item, u64> = BTreeMap::new();
    let customers = committed(travel.desks.at(Desk::Customers)).customers;
    for line in customers.values().flat_map(|customer| &customer.lines) {
        *billed.entry(line.item).or_default() += u64::from(line.count);
    }
    faults.unless(reserved == billed, || {
        format!("reserved is {reserved:?}, on the bills is {billed:?}")
    });
}
