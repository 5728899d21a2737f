//! A desk: its items and customers, with locks and undo.

mod shelves;

use std::collections::{BTreeMap, btree_map::Entry};

use turnstile_chassis::Bytes;
use turnstile_types::Timestamp;

use crate::{
    CustomerId, Finding, Operation, Order, Report, Request, Say, Vote, Xid,
    locks::{Blockers, Locks, Mode},
    operation::Resource,
};

pub(crate) use shelves::{Customer, DeskTables, Undo, UndoLog};

/// One desk: a resource manager of the ancestor.
///
/// Operations change the shelves at once, under locks, and leave behind how to undo them; a commit
/// forgets that, an abort does it. A desk hears one coordinator only and knows no other desk. It
/// has no opinion: what can be done it votes for. But it does not wait for ever: when it has not
/// heard of its coordinator for too long, it undoes what is open, except where it has voted yes;
/// then only the decision, or an operator, ends it.
#[derive(Clone, Debug, PartialEq, Eq, Bytes)]
pub(crate) struct Participant {
    pub(crate) shelves: DeskTables,
    pub(crate) locks: Locks<Resource>,
    pub(crate) branches: BTreeMap<Xid, Branch>,
    /// What was decided here, alone or by hand, until the coordinator says that it knows.
    pub(crate) settled: BTreeMap<Xid, bool>,
    /// When the coordinator was last heard of, where it is in another process.
    pub(crate) heard: Timestamp,
}

/// A transaction at one desk.
#[derive(Clone, Debug, Default, PartialEq, Eq, Bytes)]
pub(crate) struct Branch {
    /// How to undo it, the last first.
    pub(crate) undo: UndoLog,
    /// What it will do when it gets its lock. Boxed: few wait, and many are open.
    pub(crate) waiting: Option<Box<Operation>>,
    /// For whom the coordinator knows it to wait.
    pub(crate) told: Vec<Xid>,
    /// Whether it votes when that is done, unasked.
    pub(crate) finishes: bool,
    /// Whether it has voted yes.
    pub(crate) prepared: bool,
}

impl Participant {
    pub(crate) const fn new() -> Self {
        Self {
            shelves: DeskTables::new(),
            locks: Locks::new(),
            branches: BTreeMap::new(),
            settled: BTreeMap::new(),
            heard: Timestamp(0),
        }
    }

    /// Does what the coordinator wants, and says what there is to say.
    pub(crate) fn hear(&mut self, request: Request, say: &mut Vec<Report>) {
        let xid = request.xid;
        match request.order {
            Order::Operate { first, operation } => {
                let idle = |branch: &Branch| branch.waiting.is_none() && !branch.prepared;
                if self.branches.get(&xid).map_or(first, idle) {
                    self.branches.entry(xid).or_default();
                    self.attempt(xid, operation, say);
                } else {
                    say.push(report(xid, Say::Gone));
                }
            }
            Order::Finish { operation } => {
                if let Entry::Vacant(place) = self.branches.entry(xid) {
                    place.insert(Branch::default()).finishes = true;
                    self.attempt(xid, operation, say);
                } else {
                    say.push(report(xid, Say::Gone));
                }
            }
            Order::Prepare => self.vote(xid, say),
            Order::Commit => {
                let committed = self.settled.get(&xid).is_none_or(|&committed| committed);
                if committed {
                    // What an operator said is what the coordinator knows for good.
                    self.settled.remove(&xid);
                }
                self.end(xid, true, say);
                say.push(report(xid, Say::Ended { committed }));
            }
            Order::CommitAlone => self.commit_alone(xid, say),
            Order::Abort => {
                self.end(xid, false, say);
                if let Some(&committed) = self.settled.get(&xid) {
                    say.push(report(xid, Say::Ended { committed }));
                }
            }
            Order::Forget => {
                self.settled.remove(&xid);
            }
        }
        self.tell_waits(say);
    }

    /// One end of the line has begun a new life: what was not voted for is aborted at both ends,
    /// and everything else that the coordinator must know is said again.
    pub(crate) fn restate(&mut self, say: &mut Vec<Report>) {
        self.abandon();
        say.clear();
        let prepared = self.branches.keys();
        say.extend(prepared.map(|&xid| report(xid, Say::Voted(Vote::Yes))));
        let settled = self.settled.iter();
        say.extend(settled.map(|(&xid, &committed)| report(xid, Say::Ended { committed })));
    }

    /// An operator decides. Says whether there was something to decide.
    pub(crate) fn resolve(&mut self, xid: Xid, commit: bool, say: &mut Vec<Report>) -> bool {
        if self
            .branches
            .get(&xid)
            .is_none_or(|branch| !branch.prepared)
        {
            return false;
        }
        self.settle(xid, commit, say);
        self.tell_waits(say);
        true
    }

    /// Whether it has voted here for a trip, which may be committed with no word to this desk.
    pub(crate) fn may_be_committed(&self, xid: Xid) -> bool {
        let branch = self.branches.get(&xid);
        branch.is_some_and(|branch| branch.prepared && branch.finishes)
    }

    /// When what is open is given up, if nothing is heard of the coordinator.
    pub(crate) fn abandoned_at(&self, patience_ms: u64) -> Option<Timestamp> {
        let mut branches = self.branches.values();
        let open = branches.any(|branch| !branch.prepared);
        open.then(|| self.heard.plus_ms(patience_ms))
    }

    /// Undoes everything that is open, except where it has voted yes.
    pub(crate) fn abandon(&mut self) {
        let open = self.branches.iter().filter(|(_, branch)| !branch.prepared);
        // What those say who go on for a moment, until they are undone too, is not said.
        let mut unsaid = Vec::new();
        for xid in open.map(|(&xid, _)| xid).collect::<Vec<_>>() {
            self.end(xid, false, &mut unsaid);
        }
        self.locks.take_stirred();
    }

    /// Does an operation, or leaves it waiting for the first lock that is not free. It is tried
    /// from its start when that one is granted; the locks that it has by then are no work.
    fn attempt(&mut self, xid: Xid, operation: Operation, say: &mut Vec<Report>) {
        let locks = &mut self.locks;
        let locked = operation.lock(|resource, mode| locks.acquire(xid, resource, mode));
        let branch = self.branches.get_mut(&xid).expect("it was opened");
        if !locked {
            branch.waiting = Some(Box::new(operation));
            return;
        }
        branch.told.clear();
        let operation = if operation == (Operation::AddCustomer { customer: None }) {
            let customer = self.pick(xid);
            Operation::AddCustomer { customer }
        } else {
            operation
        };
        let branch = self.branches.get_mut(&xid).expect("it was opened");
        let found = self.shelves.perform(xid, &operation, &mut branch.undo);
        let votes = branch.finishes && found.is_ok();
        let finding = found.unwrap_or_else(Finding::Refused);
        say.push(report(xid, Say::Found(finding)));
        if votes {
            self.vote(xid, say);
        }
    }

    /// A number for a new customer, which nobody has and nobody asks about; it is locked.
    fn pick(&mut self, xid: Xid) -> Option<CustomerId> {
        loop {
            let picked = self.shelves.pick()?;
            let resource = Resource::Customer(picked);
            if !self.locks.is_locked(&resource) {
                assert!(
                    self.locks.acquire(xid, resource, Mode::Exclusive),
                    "the lock is free"
                );
                return Some(picked);
            }
        }
    }

    fn vote(&mut self, xid: Xid, say: &mut Vec<Report>) {
        let committed_by_hand = self.settled.get(&xid) == Some(&true);
        let vote = match self.ready(xid) {
            // A restart of the coordinator asks again.
            None if committed_by_hand => Vote::Yes,
            None => Vote::No,
            // Who votes unasked may be asked again, and must know then that it has voted.
            Some(branch) if branch.undo.is_empty() && !branch.finishes => Vote::ReadOnly,
            Some(branch) => {
                branch.prepared = true;
                Vote::Yes
            }
        };
        say.push(report(xid, Say::Voted(vote)));
        if vote == Vote::ReadOnly {
            self.end(xid, true, say);
        }
    }

    /// What could be committed.
    fn ready(&mut self, xid: Xid) -> Option<&mut Branch> {
        let branch = self.branches.get_mut(&xid);
        branch.filter(|branch| branch.waiting.is_none())
    }

    fn commit_alone(&mut self, xid: Xid, say: &mut Vec<Report>) {
        if self.ready(xid).is_some() {
            return self.settle(xid, true, say);
        }
        let committed = self.settled.get(&xid).is_some_and(|&committed| committed);
        say.push(report(xid, Say::Ended { committed }));
    }

    /// Decides here. That is firm, so it is said first: what those find who go on now may leave
    /// only behind it.
    fn settle(&mut self, xid: Xid, commit: bool, say: &mut Vec<Report>) {
        self.settled.insert(xid, commit);
        say.push(report(xid, Say::Ended { committed: commit }));
        self.end(xid, commit, say);
    }

    /// Ends a transaction, if it is open here, and lets those go on who waited for it.
    fn end(&mut self, xid: Xid, commit: bool, say: &mut Vec<Report>) {
        let Some(branch) = self.branches.remove(&xid) else {
            return;
        };
        if !commit {
            self.shelves.revert(branch.undo);
        }
        for woken in self.locks.release(xid) {
            let branch = self.branches.get_mut(&woken).expect("who waits is open");
            let operation = branch.waiting.take().expect("it waited with an operation");
            self.attempt(woken, *operation, say);
        }
    }

    /// Tells for whom somebody waits that the coordinator does not know of. Who has ended since
    /// then needs no word: it is in nobody's way.
    fn tell_waits(&mut self, say: &mut Vec<Report>) {
        for (xid, Blockers { holder, before }) in self.locks.take_stirred() {
            let branch = self.branches.get_mut(&xid).expect("who waits is open");
            if before.iter().all(|other| branch.told.contains(other)) {
                continue;
            }
            branch.told.clone_from(&before);
            say.push(report(xid, Say::Waits { holder, before }));
        }
    }
}

const fn report(xid: Xid, say: Say) -> Report {
    Report { xid, say }
}
