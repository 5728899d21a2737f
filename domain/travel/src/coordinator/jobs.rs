//! The running operations of a transaction.

use std::collections::VecDeque;

use turnstile_chassis::Bytes;
use turnstile_types::{Position, Timestamp};

use super::{Coordinator, Moment};
use crate::{
    AbortReason, Bill, CustomerId, Desk, Done, Finding, Item, Locator, Operation, Outcome, Refusal,
    Trip, Xid, limits,
};

/// What is being done for one command.
#[derive(Clone, Debug, PartialEq, Eq, Bytes)]
pub(crate) struct TravelJob {
    /// Who waits for the answer.
    pub(crate) ticket: Position,
    pub(crate) goal: Goal,
    /// The desk that was asked last.
    pub(crate) at: Desk,
    pub(crate) todo: VecDeque<(Desk, Operation)>,
    /// What has been reserved, each with its price.
    pub(crate) taken: Vec<(Item, u32)>,
    /// Why it cannot be done; what was reserved is being given back.
    pub(crate) refusal: Option<Refusal>,
}

#[derive(Clone, Debug, PartialEq, Eq, Bytes)]
pub(crate) enum Goal {
    /// One operation, whose finding is the answer.
    #[byte(0x01)]
    Operate,
    #[byte(0x02)]
    RemoveCustomer,
    #[byte(0x03)]
    Summarize { bills: Vec<Bill> },
    #[byte(0x04)]
    Reserve { customer: CustomerId },
    #[byte(0x05)]
    Commit,
    /// Reserve, commit, and keep an itinerary.
    #[byte(0x06)]
    Book {
        customer: CustomerId,
        until: Option<Timestamp>,
        since: Xid,
    },
    /// Give everything back, commit, and strike the itinerary.
    #[byte(0x07)]
    Release { locator: Locator, expired: bool },
}

/// For whom the job's operation waits.
#[derive(Clone, Debug, PartialEq, Eq, Bytes)]
pub(crate) struct LockWait {
    pub(crate) holder: Xid,
    pub(crate) before: Vec<Xid>,
}

impl TravelJob {
    pub(crate) fn new(ticket: Position, goal: Goal, todo: VecDeque<(Desk, Operation)>) -> Self {
        let at = todo.front().map_or(Desk::Customers, |(desk, _)| *desk);
        Self {
            ticket,
            goal,
            at,
            todo,
            taken: Vec::new(),
            refusal: None,
        }
    }

    pub(crate) fn single(ticket: Position, goal: Goal, desk: Desk, operation: Operation) -> Self {
        Self::new(ticket, goal, VecDeque::from([(desk, operation)]))
    }

    /// Reserves a trip desk by desk, always in one order, so that two trips never wait for each
    /// other.
    pub(crate) fn trip(ticket: Position, goal: Goal, trip: &Trip) -> Self {
        let take = |items| Operation::Take { items };
        Self::new(
            ticket,
            goal,
            by_desk(trip.items().iter().copied(), |item| *item, take),
        )
    }
}

/// One operation for each desk that sells some of the items, sorted by desk and item.
pub(super) fn by_desk<T: Copy + Ord>(
    items: impl Iterator<Item = T>,
    item_of: impl Fn(&T) -> Item,
    operation: impl Fn(Vec<T>) -> Operation,
) -> VecDeque<(Desk, Operation)> {
    let desk_of = |one: &T| item_of(one).desk();
    let mut items: Vec<T> = items.collect();
    items.sort_by_key(|one| (desk_of(one), *one));
    let parts = items.chunk_by(|one, next| desk_of(one) == desk_of(next));
    let parts = parts.filter_map(|part| Some((desk_of(part.first()?), operation(part.to_vec()))));
    parts.collect()
}

pub(super) fn give_back(items: impl Iterator<Item = (Item, u32)>) -> VecDeque<(Desk, Operation)> {
    by_desk(
        items,
        |(item, _)| *item,
        |items| Operation::GiveBack { items },
    )
}

impl Coordinator {
    /// Takes the next step of the job, or concludes it.
    pub(super) fn proceed(&mut self, moment: Moment, xid: Xid) {
        let transaction = self.transactions.get_mut(&xid).expect("it is here");
        let job = transaction.job.as_mut().expect("it has a job");
        let Some((desk, operation)) = job.todo.pop_front() else {
            return self.conclude(moment, xid);
        };
        job.at = desk;
        self.ask(moment, xid, desk, operation);
    }

    /// Everything asked for has been found.
    fn conclude(&mut self, moment: Moment, xid: Xid) {
        let transaction = self.transactions.get_mut(&xid).expect("it is here");
        let job = transaction.job.as_mut().expect("it has a job");
        if let Some(refusal) = job.refusal.take() {
            return self.finish(moment, xid, Outcome::Refused(refusal));
        }
        let done = match &mut job.goal {
            Goal::Operate => unreachable!("the finding was the answer"),
            Goal::RemoveCustomer => Done::CustomerDeleted,
            Goal::Summarize { bills } => Done::Summary(std::mem::take(bills)),
            Goal::Reserve { .. } => Done::Reserved,
            Goal::Commit | Goal::Book { .. } | Goal::Release { .. } => {
                return self.commit(moment, xid);
            }
        };
        self.finish(moment, xid, Outcome::Done(done));
    }

    /// Answers the job of a transaction that stays open.
    fn finish(&mut self, moment: Moment, xid: Xid, outcome: Outcome) {
        let transaction = self.transactions.get_mut(&xid).expect("it is here");
        let job = transaction.job.take().expect("it has a job");
        self.answer(job.ticket, outcome);
        self.expire_at(xid, moment.now.plus_ms(moment.settings.lifetime_ms));
    }

    /// A desk has done, or refused, what it was asked for.
    pub(super) fn found(&mut self, moment: Moment, xid: Xid, finding: Finding) {
        if self.set_wait(xid, None) {
            self.restless.remove(&xid);
        }
        let transaction = self.transactions.get_mut(&xid).expect("it is here");
        let job = transaction.job.as_mut().expect("it has a job");
        match (finding, &mut job.goal) {
            (Finding::Refused(refusal), _) => return self.refused(moment, xid, refusal),
            (finding, Goal::Operate) => {
                let lost = AbortReason::DeskLost(job.at);
                return match done(finding) {
                    Some(done) => self.finish(moment, xid, Outcome::Done(done)),
                    None => self.abort(moment, xid, lost),
                };
            }
            (Finding::Taken(taken), Goal::Reserve { customer } | Goal::Book { customer, .. }) => {
                job.taken.extend(taken);
                if job.todo.is_empty() {
                    let (customer, items) = (*customer, job.taken.clone());
                    let note = Operation::Note { customer, items };
                    job.todo.push_back((Desk::Customers, note));
                }
            }
            (Finding::Noted { since }, Goal::Book { since: noted, .. }) => *noted = since,
            (Finding::Had(had), Goal::RemoveCustomer) => job.todo = give_back(had.into_iter()),
            (Finding::Bills { bills, more }, Goal::Summarize { bills: all }) => {
                let after = bills.last().map(|bill| bill.customer).filter(|_| more);
                all.extend(bills);
                if lines(all) > limits::SUMMARY_LINES_MAX {
                    let limit = u32::try_from(limits::SUMMARY_LINES_MAX).expect("it is small");
                    return self.refused(moment, xid, Refusal::SummaryTooLong { limit });
                }
                if after.is_some() {
                    let rest = Operation::Summarize { after };
                    job.todo.push_back((Desk::Customers, rest));
                }
            }
            (Finding::Noted { .. }, Goal::Reserve { .. })
            | (Finding::GivenBack | Finding::Struck, _) => {}
            _ => {
                let lost = AbortReason::DeskLost(job.at);
                return self.abort(moment, xid, lost);
            }
        }
        self.proceed(moment, xid);
    }

    /// One step of the job cannot be done: the transaction is as it was before the job. One that
    /// is only for this job is over.
    fn refused(&mut self, moment: Moment, xid: Xid, refusal: Refusal) {
        let transaction = self.transactions.get_mut(&xid).expect("it is here");
        let job = transaction.job.as_mut().expect("it has a job");
        match &job.goal {
            Goal::Book { .. } | Goal::Release { .. } => {
                self.abort_refused(moment, xid, refusal);
            }
            Goal::Reserve { .. } if job.refusal.is_none() => {
                let taken = std::mem::take(&mut job.taken);
                job.todo = give_back(taken.into_iter().map(|(item, _)| (item, 1)));
                job.refusal = Some(refusal);
                self.proceed(moment, xid);
            }
            // The desks do not agree about what is reserved: nothing of it may stand.
            _ if matches!(refusal, Refusal::NotReserved(_)) => {
                let lost = AbortReason::DeskLost(job.at);
                self.abort(moment, xid, lost);
            }
            Goal::Operate
            | Goal::RemoveCustomer
            | Goal::Summarize { .. }
            | Goal::Reserve { .. }
            | Goal::Commit => self.finish(moment, xid, Outcome::Refused(refusal)),
        }
    }
}

/// How many lines a summary has: one for each customer, and those of its bill.
fn lines(bills: &[Bill]) -> usize {
    bills.iter().map(|bill| 1 + bill.lines.len()).sum()
}

/// What a finding is to whoever asked for just that.
fn done(finding: Finding) -> Option<Done> {
    match finding {
        Finding::Added => Some(Done::Added),
        Finding::Deleted => Some(Done::Deleted),
        Finding::Stock(stock) => Some(Done::Stock(stock)),
        Finding::Customer(customer) => Some(Done::CustomerAdded(customer)),
        Finding::Bill(bill) => Some(Done::Bill(bill)),
        Finding::GivenBack
        | Finding::Struck
        | Finding::Taken(_)
        | Finding::Had(_)
        | Finding::Bills { .. }
        | Finding::Noted { .. }
        | Finding::Refused(_) => None,
    }
}
