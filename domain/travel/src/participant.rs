//! A desk: what it sells or keeps, locked by transactions that it can undo.

mod shelves;

use std::collections::{BTreeMap, BTreeSet};

use turnstile_types::Timestamp;

use crate::{
    CustomerId, Finding, Operation, Order, Report, Request, Say, Vote, Xid,
    locks::{Blockers, Locks, Mode},
    operation::Resource,
};

pub(crate) use shelves::{Customer, Shelves, Undo};

/// One desk: a resource manager of the ancestor.
///
/// Operations change the shelves at once, under locks, and leave behind how to undo them; a commit
/// forgets that, an abort does it. A desk hears one coordinator only and knows no other desk. It
/// has no opinion: what can be done it votes for. But it does not wait for ever: a transaction of
/// which it hears nothing for `patience` is undone, unless it has voted yes; then only the
/// decision, or an operator, ends it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Participant {
    pub(crate) shelves: Shelves,
    pub(crate) locks: Locks<Resource>,
    pub(crate) branches: BTreeMap<Xid, Branch>,
    /// What was decided here, alone or by hand, until the coordinator says that it knows.
    pub(crate) settled: BTreeMap<Xid, bool>,
    /// When branches are looked after; never sooner than they need it.
    pub(crate) watches: BTreeSet<(Timestamp, Xid)>,
}

/// A transaction at one desk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Branch {
    /// How to undo it, the last first.
    pub(crate) undo: Vec<Undo>,
    /// What it will do when it gets its lock. Boxed: few wait, and many are open.
    pub(crate) waiting: Option<Box<Operation>>,
    /// For whom the coordinator knows it to wait.
    pub(crate) told: Vec<Xid>,
    /// Whether it has voted yes.
    pub(crate) prepared: bool,
    /// When it was last asked for something.
    pub(crate) heard: Timestamp,
    /// When it is looked after.
    pub(crate) watch: Option<Timestamp>,
}

/// When a desk hears something, and how long it stands silence; None: its coordinator is in the
/// same process, and never silent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hearing {
    pub(crate) now: Timestamp,
    pub(crate) patience_ms: Option<u64>,
}

impl Participant {
    pub(crate) const fn new() -> Self {
        Self {
            shelves: Shelves::new(),
            locks: Locks::new(),
            branches: BTreeMap::new(),
            settled: BTreeMap::new(),
            watches: BTreeSet::new(),
        }
    }

    /// Does what the coordinator wants, and says what there is to say.
    pub(crate) fn hear(&mut self, hearing: Hearing, request: Request, say: &mut Vec<Report>) {
        let xid = request.xid;
        match request.order {
            Order::Operate { first, operation } => {
                let idle = |branch: &Branch| branch.waiting.is_none() && !branch.prepared;
                if self.branches.get(&xid).map_or(first, idle) {
                    self.open(hearing, xid);
                    self.attempt(xid, operation, say);
                } else {
                    say.push(report(xid, Say::Gone));
                }
            }
            Order::Prepare => {
                let vote = self.vote(xid, say);
                say.push(report(xid, Say::Voted(vote)));
            }
            Order::Commit => {
                let committed = self.settled.get(&xid).is_none_or(|&committed| committed);
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
        let open = self.branches.iter().filter(|(_, branch)| !branch.prepared);
        for xid in open.map(|(&xid, _)| xid).collect::<Vec<_>>() {
            self.end(xid, false, say);
        }
        self.locks.take_stirred();
        // What those said who went on for a moment, until they were aborted too.
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
        self.end(xid, commit, say);
        self.settled.insert(xid, commit);
        say.push(report(xid, Say::Ended { committed: commit }));
        self.tell_waits(say);
        true
    }

    /// Undoes what has not been heard of for too long.
    pub(crate) fn tick(&mut self, hearing: Hearing, say: &mut Vec<Report>) {
        while let Some(&(at, xid)) = self.watches.first().filter(|watch| watch.0 <= hearing.now) {
            self.watches.remove(&(at, xid));
            let branch = self
                .branches
                .get_mut(&xid)
                .expect("what is watched is open");
            let patience = hearing.patience_ms.unwrap_or_default();
            let until = branch.heard.plus_ms(patience);
            branch.watch = None;
            if branch.prepared {
                continue;
            }
            if until > hearing.now {
                branch.watch = Some(until);
                self.watches.insert((until, xid));
            } else {
                self.end(xid, false, say);
            }
        }
        self.tell_waits(say);
    }

    fn open(&mut self, hearing: Hearing, xid: Xid) {
        let branch = self.branches.entry(xid).or_insert_with(|| Branch {
            undo: Vec::new(),
            waiting: None,
            told: Vec::new(),
            prepared: false,
            heard: hearing.now,
            watch: None,
        });
        branch.heard = hearing.now;
        if let (None, Some(patience)) = (branch.watch, hearing.patience_ms) {
            let until = hearing.now.plus_ms(patience);
            branch.watch = Some(until);
            self.watches.insert((until, xid));
        }
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
        let finding = found.unwrap_or_else(Finding::Refused);
        say.push(report(xid, Say::Found(finding)));
    }

    /// A number for a new customer, which nobody has and nobody asks about; it is locked.
    fn pick(&mut self, xid: Xid) -> Option<CustomerId> {
        loop {
            let picked = self.shelves.pick()?;
            let resource = Resource::Customer(picked);
            if !self.locks.is_locked(&resource) {
                assert!(
                    self.locks.acquire(xid, resource, Mode::Exclusive),
                    "nobody has it"
                );
                return Some(picked);
            }
        }
    }

    fn vote(&mut self, xid: Xid, say: &mut Vec<Report>) -> Vote {
        let ready = |branch: &&mut Branch| branch.waiting.is_none();
        let Some(branch) = self.branches.get_mut(&xid).filter(ready) else {
            return Vote::No;
        };
        if !branch.undo.is_empty() {
            branch.prepared = true;
            return Vote::Yes;
        }
        self.end(xid, true, say);
        Vote::ReadOnly
    }

    fn commit_alone(&mut self, xid: Xid, say: &mut Vec<Report>) {
        if self.vote(xid, say) != Vote::No {
            self.end(xid, true, say);
            self.settled.insert(xid, true);
        }
        let committed = self.settled.get(&xid).is_some_and(|&committed| committed);
        say.push(report(xid, Say::Ended { committed }));
    }

    /// Ends a transaction, if it is open here, and lets those go on who waited for it.
    fn end(&mut self, xid: Xid, commit: bool, say: &mut Vec<Report>) {
        let Some(branch) = self.branches.remove(&xid) else {
            return;
        };
        if let Some(watch) = branch.watch {
            self.watches.remove(&(watch, xid));
        }
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
