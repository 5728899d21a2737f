//! Deadlock detection: a cycle is found when it closes.

use std::collections::{BTreeMap, BTreeSet};

use crate::{AbortReason, Xid};

use super::{Coordinator, LockWait, Moment, Phase};

impl Coordinator {
    /// A desk tells for whom an operation waits.
    pub(super) fn waits(&mut self, moment: Moment, xid: Xid, wait: LockWait) {
        let is_decided = |other: &Xid| {
            let transaction = self.transactions.get(other);
            transaction.is_some_and(|one| matches!(one.phase, Phase::Committing { .. }))
        };
        self.impatient |= wait.before.iter().any(is_decided);
        let begins = !self.set_wait(xid, Some(wait));
        let transaction = self.transactions.get(&xid).expect("it is asked of");
        let desk = transaction.job.as_ref().map(|job| job.at);
        if begins && desk.is_some_and(|desk| moment.settings.roles.desks.contains(desk)) {
            // A desk elsewhere has had its deadline since it was asked.
            self.expire_at(xid, moment.now.plus_ms(moment.settings.wait_ms));
        }
        self.restless.insert(xid);
        if !moment.settings.detect_deadlocks {
            return;
        }
        // Most wait in a long queue and nobody waits for them: they close no circle, however many they are.
        while self.waited_for.contains_key(&xid)
            && let Some(circle) = self.circle(xid)
        {
            let victim = *circle.last().expect("a circle has members");
            let wait = self.wait_of(victim).expect("who is in a circle waits");
            let holder = wait.holder;
            self.abort(moment, victim, AbortReason::Deadlock { holder });
        }
    }

    /// Notes for whom a transaction waits from now on; answers whether it waited before.
    pub(super) fn set_wait(&mut self, xid: Xid, wait: Option<LockWait>) -> bool {
        for &other in wait.iter().flat_map(|wait| &wait.before) {
            *self.waited_for.entry(other).or_default() += 1;
        }
        let transaction = self.transactions.get_mut(&xid).expect("it is here");
        let old = std::mem::replace(&mut transaction.wait, wait);
        for other in old.iter().flat_map(|wait| &wait.before) {
            if let Some(waiters) = self.waited_for.get_mut(other) {
                *waiters -= 1;
                if *waiters == 0 {
                    self.waited_for.remove(other);
                }
            }
        }
        old.is_some()
    }

    fn wait_of(&self, xid: Xid) -> Option<&LockWait> {
        self.transactions.get(&xid)?.wait.as_ref()
    }

    /// Those who wait for each other with this one among them, the youngest last. Who has ended
    /// waits for nobody, so that what a desk said before that does no harm.
    fn circle(&self, start: Xid) -> Option<BTreeSet<Xid>> {
        let mut reached_from = BTreeMap::new();
        let mut open = vec![start];
        while let Some(xid) = open.pop() {
            for &next in self.wait_of(xid).into_iter().flat_map(|wait| &wait.before) {
                if next == start {
                    return Some(path(&reached_from, start, xid));
                }
                if let std::collections::btree_map::Entry::Vacant(place) = reached_from.entry(next)
                {
                    place.insert(xid);
                    open.push(next);
                }
            }
        }
        None
    }
}

/// Everybody on the way from `start` to `end`.
fn path(reached_from: &BTreeMap<Xid, Xid>, start: Xid, end: Xid) -> BTreeSet<Xid> {
    let mut path = BTreeSet::from([start, end]);
    let mut at = end;
    while at != start {
        at = *reached_from
            .get(&at)
            .expect("it was reached from somewhere");
        path.insert(at);
    }
    path
}
