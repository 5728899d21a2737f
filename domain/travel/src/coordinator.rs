//! The coordinator: transactions, what they wait for, and how they end.

mod commit;
mod deadlock;
mod holders;
mod itineraries;
mod jobs;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use turnstile_chassis::Bytes;
use turnstile_types::{Position, Timestamp};

use crate::{
    AbortReason, Desk, Desks, EventKind, Locator, Operation, Order, Outcome, Refusal, Report,
    Request, Say, Settings, Xid, limits,
};

pub(crate) use holders::TransactionHolders;
pub(crate) use itineraries::Itinerary;
pub(crate) use jobs::{Goal, LockWait, TravelJob};

/// Transactions, from their start to their end.
///
/// A transaction does one thing at a time, a job: operations at desks, one after the other, and
/// then an answer, a commit or both. The coordinator is told for whom an operation waits, and it
/// alone watches the time, so that it alone decides who is aborted, and why.
///
/// A trip in one command whose desks are all elsewhere is staged: that it is to be voted for becomes
/// durable beside the votes, and with all of them it is committed. The client is told at once, and the
/// decision, which the desks wait for, goes to the disk with what comes next. So after a restart what
/// was staged is not aborted but asked for; and who gives it up before tells that when it is durable.
///
/// Presumed abort: a transaction that is not here, and of which a desk asks, was aborted. So an
/// aborted one is forgotten at once, and a committed one is kept until every desk that voted yes
/// has said that it knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Coordinator {
    /// The last xid that was given.
    pub(crate) last: Xid,
    pub(crate) transactions: BTreeMap<Xid, Transaction>,
    pub(crate) holders: TransactionHolders,
    /// Those of them that wait for a lock or have begun to end: operators ask for them, and they are
    /// few among many.
    pub(crate) restless: BTreeSet<Xid>,
    /// How many wait for each, where anybody does.
    pub(crate) waited_for: BTreeMap<Xid, usize>,
    /// How the latest ended; decided ones whose desks do not know yet are among them.
    pub(crate) ended: BTreeMap<Xid, TransactionEnd>,
    pub(crate) itineraries: BTreeMap<Locator, Itinerary>,
    /// How many locators have been given.
    pub(crate) issued: u32,
    /// Those of them whose trips are staged.
    pub(crate) booking: BTreeSet<Locator>,
    /// How many itineraries there have been.
    pub(crate) booked: u32,
    pub(crate) deadlines: BTreeSet<(Timestamp, Xid)>,
    /// When held itineraries are released.
    pub(crate) holds: BTreeSet<(Timestamp, Locator)>,
    /// What it wants of the desks, until it is taken away.
    requests: VecDeque<(Desk, Request)>,
    /// What of that may wait for a record that is synced anyway.
    later: VecDeque<(Desk, Request)>,
    /// Answers to commands, until they are taken away.
    pub(crate) answers: Vec<(Position, Outcome)>,
    /// What happened, until it is taken away.
    pub(crate) news: Vec<EventKind>,
    /// Whether something firm was done or said, until it is taken away.
    pub(crate) promised: bool,
    /// Whether somebody waits for a decision that may be waiting itself, until it is taken away.
    pub(crate) impatient: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Bytes)]
pub(crate) struct Transaction {
    /// Desks that have been asked for something.
    pub(crate) touched: Desks,
    /// Desks that have voted yes.
    pub(crate) yes: Desks,
    pub(crate) phase: Phase,
    pub(crate) job: Option<TravelJob>,
    pub(crate) wait: Option<LockWait>,
    /// When it is given up.
    pub(crate) deadline: Option<Timestamp>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Bytes)]
pub(crate) enum Phase {
    #[byte(0x01)]
    Open,
    /// Its only desk decides.
    #[byte(0x02)]
    Alone { desk: Desk },
    #[byte(0x03)]
    Preparing { awaited: Desks },
    /// The same of a trip, whose end is known by that and by the votes alone. A locator is kept for it.
    #[byte(0x05)]
    Staged {
        awaited: Desks,
        locator: Option<Locator>,
    },
    /// It was staged before a restart, and may be committed: these desks are asked for their votes.
    #[byte(0x06)]
    Doubtful {
        awaited: Desks,
        locator: Option<Locator>,
    },
    /// Committed; these have not said that they know.
    #[byte(0x04)]
    Committing { awaited: Desks },
}

impl Phase {
    /// Whether its end may be known to the desks alone, which do not answer.
    const fn is_elsewhere(self) -> bool {
        matches!(self, Self::Alone { .. } | Self::Doubtful { .. })
    }

    /// The locator that is kept for its trip.
    pub(crate) const fn locator(self) -> Option<Locator> {
        match self {
            Self::Staged { locator, .. } | Self::Doubtful { locator, .. } => locator,
            Self::Open | Self::Alone { .. } | Self::Preparing { .. } | Self::Committing { .. } => {
                None
            }
        }
    }

    /// Whether votes are gathered and none is missing, which never lasts.
    pub(crate) const fn has_all_votes(self) -> bool {
        match self {
            Self::Preparing { awaited }
            | Self::Staged { awaited, .. }
            | Self::Doubtful { awaited, .. } => awaited.is_empty(),
            Self::Open | Self::Alone { .. } | Self::Committing { .. } => false,
        }
    }

    /// Whether it is durable that it is to be voted for.
    const fn is_staged(self) -> bool {
        matches!(self, Self::Staged { .. } | Self::Doubtful { .. })
    }
}

impl Transaction {
    /// The desks that vote as soon as they have done what they are asked for. They are asked for one
    /// thing only, and in other processes, where a vote that need not be asked for saves a round
    /// trip and is synced while others are still being asked. Here, where all of that is one
    /// record, no desk should be in doubt while another lets its operation wait.
    fn finishing(&self, moment: Moment) -> Desks {
        match self.job.as_ref().map(|job| &job.goal) {
            Some(Goal::Book { .. } | Goal::Release { .. }) => moment.settings.roles.desks.others(),
            _ => Desks::NONE,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Bytes)]
pub(crate) enum TransactionEnd {
    #[byte(0x01)]
    Committed,
    #[byte(0x02)]
    Aborted(AbortReason),
}

/// The instant of a decision, and what has been chosen for it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    pub(crate) now: Timestamp,
    pub(crate) settings: Settings,
    /// Whether trips are staged; they were not always.
    pub(crate) stages: bool,
}

/// The ticket of a job for whose answer nobody waits.
pub(crate) const NOBODY: Position = Position(0);

impl Coordinator {
    pub(crate) fn new() -> Self {
        Self {
            last: Xid(0),
            transactions: BTreeMap::new(),
            holders: TransactionHolders::default(),
            restless: BTreeSet::new(),
            waited_for: BTreeMap::new(),
            ended: BTreeMap::new(),
            itineraries: BTreeMap::new(),
            issued: 0,
            booking: BTreeSet::new(),
            booked: 0,
            deadlines: BTreeSet::new(),
            holds: BTreeSet::new(),
            requests: VecDeque::new(),
            later: VecDeque::new(),
            answers: Vec::new(),
            news: Vec::new(),
            promised: false,
            impatient: false,
        }
    }

    /// Derives what is kept twice to be found sooner.
    pub(crate) fn arm(&mut self) {
        let deadlines = self.transactions.iter();
        let deadlines = deadlines.filter_map(|(&xid, one)| Some((one.deadline?, xid)));
        self.deadlines = deadlines.collect();
        let waits = self
            .transactions
            .values()
            .filter_map(|one| one.wait.as_ref());
        self.waited_for = BTreeMap::new();
        for &other in waits.flat_map(|wait| &wait.before) {
            *self.waited_for.entry(other).or_default() += 1;
        }
        let restless = self.transactions.iter();
        let restless = restless.filter(|(_, one)| one.wait.is_some() || one.phase != Phase::Open);
        self.restless = restless.map(|(&xid, _)| xid).collect();
        let holds = self.itineraries.iter().filter(|(_, one)| !one.releasing);
        let holds = holds.filter_map(|(&locator, one)| Some((one.until?, locator)));
        self.holds = holds.collect();
        let phases = self.transactions.values().map(|one| one.phase);
        self.booking = phases.filter_map(Phase::locator).collect();
    }

    /// The tickets of those who wait for an answer, in the order of their transactions. Who was told
    /// that it is in doubt has one.
    pub(crate) fn tickets(&self) -> impl Iterator<Item = Position> {
        let transactions = self.transactions.values();
        let waits = |one: &&Transaction| one.deadline.is_some() || !one.phase.is_elsewhere();
        let jobs = transactions
            .filter(waits)
            .filter_map(|one| one.job.as_ref());
        let tickets = jobs.map(|job| job.ticket);
        tickets.filter(|&ticket| ticket != NOBODY)
    }

    /// How many blocks of xids have been begun.
    pub(crate) const fn xid_blocks(&self) -> u64 {
        self.last.0.div_ceil(limits::XIDS_PER_BLOCK)
    }

    // What clients want

    pub(crate) fn start(&mut self, moment: Moment) -> Result<Xid, Refusal> {
        if self.transactions.len() >= limits::TRANSACTIONS_MAX {
            let limit = u32::try_from(limits::TRANSACTIONS_MAX).expect("limits are small");
            return Err(Refusal::Full { limit });
        }
        self.last = Xid(self.last.0 + 1);
        let transaction = Transaction {
            touched: Desks::NONE,
            yes: Desks::NONE,
            phase: Phase::Open,
            job: None,
            wait: None,
            deadline: None,
        };
        self.transactions.insert(self.last, transaction);
        self.expire_at(self.last, moment.now.plus_ms(moment.settings.lifetime_ms));
        Ok(self.last)
    }

    /// Begins a job of an open transaction that has none.
    pub(crate) fn begin(
        &mut self,
        moment: Moment,
        xid: Xid,
        job: TravelJob,
    ) -> Result<(), Refusal> {
        let transaction = self.open(xid)?;
        if transaction.phase != Phase::Open || transaction.job.is_some() {
            return Err(Refusal::Busy);
        }
        transaction.job = Some(job);
        self.proceed(moment, xid);
        Ok(())
    }

    /// A transaction that has not ended, for whoever asks.
    fn open(&mut self, xid: Xid) -> Result<&mut Transaction, Refusal> {
        match self.ended.get(&xid) {
            Some(TransactionEnd::Committed) => Err(Refusal::AlreadyCommitted),
            Some(TransactionEnd::Aborted(reason)) => Err(Refusal::Aborted(*reason)),
            None => self
                .transactions
                .get_mut(&xid)
                .ok_or(Refusal::UnknownTransaction),
        }
    }

    // What desks say

    pub(crate) fn hear(&mut self, moment: Moment, desk: Desk, report: Report) {
        let xid = report.xid;
        match report.say {
            Say::Voted(vote) => self.voted(moment, desk, xid, vote),
            Say::Ended { committed } => self.desk_ended(moment, desk, xid, committed),
            Say::Found(_) | Say::Waits { .. } | Say::Gone if !self.is_asking(xid, desk) => {}
            Say::Found(finding) => self.found(moment, xid, finding),
            Say::Waits { holder, before } => self.waits(moment, xid, LockWait { holder, before }),
            Say::Gone => self.abort(moment, xid, AbortReason::DeskLost(desk)),
        }
    }

    /// Whether an operation is under way there. What a desk says of others is of the past.
    fn is_asking(&self, xid: Xid, desk: Desk) -> bool {
        let transaction = self.transactions.get(&xid);
        transaction.is_some_and(|transaction| {
            transaction.phase == Phase::Open
                && transaction.job.as_ref().is_some_and(|job| job.at == desk)
        })
    }

    /// The desk, or the line to it, has begun a new life: it has forgotten what it had not voted
    /// for, and must hear again what was decided.
    pub(crate) fn desk_lost(&mut self, moment: Moment, desk: Desk) {
        let touched = self.transactions.iter();
        let touched = touched.filter(|(_, transaction)| transaction.touched.contains(desk));
        let phase = |one: &Transaction| (one.phase, one.yes.contains(desk));
        let touched: Vec<_> = touched.map(|(&xid, one)| (xid, phase(one))).collect();
        for (xid, (phase, has_voted)) in touched {
            match phase {
                Phase::Open | Phase::Preparing { .. } | Phase::Staged { .. } if has_voted => {}
                Phase::Open | Phase::Preparing { .. } | Phase::Staged { .. } => {
                    self.abort(moment, xid, AbortReason::DeskLost(desk));
                }
                Phase::Doubtful { awaited, .. } if awaited.contains(desk) => {
                    self.send(desk, xid, Order::Prepare);
                }
                Phase::Alone { .. } => self.send(desk, xid, Order::CommitAlone),
                Phase::Committing { awaited } if awaited.contains(desk) => {
                    self.send(desk, xid, Order::Commit);
                }
                Phase::Doubtful { .. } | Phase::Committing { .. } => {}
            }
        }
    }

    /// The coordinator has begun a new life: what is not decided is aborted, unless it was staged.
    /// Xids go on at the next block, so that one that was told and lost is never given again.
    pub(crate) fn recover(&mut self, moment: Moment) {
        let staged = self.transactions.iter();
        let staged = staged.filter(|(_, transaction)| transaction.phase.is_staged());
        for xid in staged.map(|(&xid, _)| xid).collect::<Vec<_>>() {
            self.doubt(moment, xid);
        }
        let undecided = self.transactions.iter().filter(|(_, transaction)| {
            matches!(transaction.phase, Phase::Open | Phase::Preparing { .. })
        });
        for xid in undecided.map(|(&xid, _)| xid).collect::<Vec<_>>() {
            self.abort(moment, xid, AbortReason::Restarted);
        }
        self.last = Xid(self.xid_blocks() * limits::XIDS_PER_BLOCK);
    }

    /// What was staged may be committed: the desks have their time anew to say so.
    fn doubt(&mut self, moment: Moment, xid: Xid) {
        let transaction = self.transactions.get_mut(&xid).expect("it is here");
        if let Phase::Staged { awaited, locator } = transaction.phase {
            transaction.phase = Phase::Doubtful { awaited, locator };
        }
        self.expire_at(xid, moment.now.plus_ms(moment.settings.wait_ms));
    }

    // Time

    pub(crate) fn next_deadline(&self) -> Option<Timestamp> {
        let transactions = self.deadlines.first().map(|deadline| deadline.0);
        let holds = self.holds.first().map(|hold| hold.0);
        transactions.into_iter().chain(holds).min()
    }

    /// Gives one thing up whose time is over, if there is one.
    pub(crate) fn give_up_one(&mut self, moment: Moment) -> bool {
        let due = self.deadlines.first().filter(|due| due.0 <= moment.now);
        if let Some(&(_, xid)) = due {
            self.give_up(moment, xid);
            return true;
        }
        let due = self.holds.first().filter(|due| due.0 <= moment.now);
        let Some(&(_, locator)) = due else {
            return false;
        };
        self.release_expired(moment, locator);
        true
    }

    fn give_up(&mut self, moment: Moment, xid: Xid) {
        self.set_deadline(xid, None);
        let transaction = self
            .transactions
            .get_mut(&xid)
            .expect("what has a deadline is here");
        let reason = match (transaction.phase, &transaction.job, &transaction.wait) {
            (Phase::Open, None, _) => AbortReason::Expired,
            (Phase::Open, Some(_), Some(wait)) => AbortReason::LockTimeout {
                holder: wait.holder,
            },
            (Phase::Open, Some(job), None) => AbortReason::DeskAway(job.at),
            (Phase::Preparing { awaited } | Phase::Staged { awaited, .. }, ..) => {
                AbortReason::DeskAway(first(awaited))
            }
            (Phase::Alone { desk }, ..) => return self.leave_in_doubt(xid, desk),
            (Phase::Doubtful { awaited, .. }, ..) => {
                return self.leave_in_doubt(xid, first(awaited));
            }
            (Phase::Committing { .. }, ..) => unreachable!("a decision has no deadline"),
        };
        self.abort(moment, xid, reason);
    }

    /// Tells whoever waits that the end is known to a desk which does not answer. When it does, the
    /// same ticket has the end.
    fn leave_in_doubt(&mut self, xid: Xid, desk: Desk) {
        let job = self.transactions.get(&xid).and_then(|one| one.job.as_ref());
        if let Some(ticket) = job.map(|job| job.ticket) {
            self.answer(ticket, Outcome::Refused(Refusal::InDoubt(desk)));
        }
    }

    /// Says by when these desks must have answered. Those that are here do so before anything else
    /// happens, or say for whom they wait.
    fn await_desks(&mut self, moment: Moment, xid: Xid, desks: Desks) {
        if !desks.without(moment.settings.roles.desks).is_empty() {
            self.expire_at(xid, moment.now.plus_ms(moment.settings.wait_ms));
        }
    }

    fn expire_at(&mut self, xid: Xid, at: Timestamp) {
        self.set_deadline(xid, Some(at));
    }

    fn set_deadline(&mut self, xid: Xid, deadline: Option<Timestamp>) {
        let transaction = self.transactions.get_mut(&xid).expect("it is here");
        let old = std::mem::replace(&mut transaction.deadline, deadline);
        if let Some(old) = old {
            self.deadlines.remove(&(old, xid));
        }
        if let Some(new) = deadline {
            self.deadlines.insert((new, xid));
        }
    }

    /// Takes a transaction away that has ended, or is known to all to have ended.
    fn remove(&mut self, xid: Xid) -> Transaction {
        self.restless.remove(&xid);
        self.set_wait(xid, None);
        self.holders.remove(xid);
        self.transactions.remove(&xid).expect("it is here")
    }

    // What it says

    fn ask(&mut self, moment: Moment, xid: Xid, desk: Desk, operation: Operation) {
        let transaction = self.transactions.get_mut(&xid).expect("it is here");
        let first = !transaction.touched.contains(desk);
        transaction.touched.insert(desk);
        let order = if transaction.finishing(moment).contains(desk) {
            Order::Finish { operation }
        } else {
            Order::Operate { first, operation }
        };
        self.await_desks(moment, xid, Desks::only(desk));
        self.send(desk, xid, order);
    }

    fn send(&mut self, desk: Desk, xid: Xid, order: Order) {
        self.requests.push_back((desk, Request { xid, order }));
    }

    pub(crate) fn next_request(&mut self) -> Option<(Desk, Request)> {
        self.requests.pop_front()
    }

    /// The next request that may wait for a record that is synced anyway.
    pub(crate) fn next_later(&mut self) -> Option<(Desk, Request)> {
        self.later.pop_front()
    }

    fn answer(&mut self, ticket: Position, outcome: Outcome) {
        if ticket != NOBODY {
            self.promised |= outcome.is_firm();
            self.answers.push((ticket, outcome));
        }
    }

    pub(crate) fn tell(&mut self, kind: EventKind) {
        self.promised |= kind.is_firm();
        self.news.push(kind);
    }
}

/// The first of the desks whose votes are missing.
fn first(awaited: Desks) -> Desk {
    awaited.iter().next().expect("a vote is missing")
}
