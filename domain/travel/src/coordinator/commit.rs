//! How a transaction ends: in one phase, in two, or not at all.

use crate::{AbortReason, Desk, Done, EventKind, Order, Outcome, Refusal, Vote, Xid, limits};

use super::{Coordinator, End, Goal, Job, Moment, Phase};

impl Coordinator {
    /// Lets the desks that were touched decide: a single one by itself, several by their votes.
    pub(super) fn commit(&mut self, moment: Moment, xid: Xid) {
        let transaction = self.transactions.get_mut(&xid).expect("it is here");
        let touched = transaction.touched;
        self.await_desks(moment, xid, touched);
        self.restless.insert(xid);
        let transaction = self.transactions.get_mut(&xid).expect("it is here");
        if let Some(desk) = touched.sole() {
            transaction.phase = Phase::Alone { desk };
            return self.send(desk, xid, Order::CommitAlone);
        }
        let awaited = touched.without(transaction.yes);
        let unasked = transaction.finishing(moment);
        transaction.phase = Phase::Preparing { awaited };
        for desk in awaited.without(unasked).iter() {
            self.send(desk, xid, Order::Prepare);
        }
        self.decide_when_all_have_voted(moment, xid);
    }

    pub(super) fn voted(&mut self, moment: Moment, desk: Desk, xid: Xid, vote: Vote) {
        let Some(transaction) = self.transactions.get_mut(&xid) else {
            // A desk asks what became of it: it was aborted, or it would be here.
            return self.send(desk, xid, Order::Abort);
        };
        let is_awaited = match &mut transaction.phase {
            Phase::Open => transaction.touched.contains(desk),
            Phase::Preparing { awaited } => {
                let is_awaited = awaited.contains(desk);
                awaited.remove(desk);
                is_awaited
            }
            Phase::Alone { .. } | Phase::Committing { .. } => false,
        };
        match vote {
            _ if !is_awaited => return,
            Vote::No => return self.abort(moment, xid, AbortReason::DeskLost(desk)),
            Vote::Yes => transaction.yes.insert(desk),
            Vote::ReadOnly => {}
        }
        self.decide_when_all_have_voted(moment, xid);
    }

    /// The decision to commit. It is durable before it is sent, because a parcel with it is firm.
    fn decide_when_all_have_voted(&mut self, moment: Moment, xid: Xid) {
        let transaction = self.transactions.get_mut(&xid).expect("it is here");
        let Phase::Preparing { awaited } = transaction.phase else {
            return;
        };
        if !awaited.is_empty() {
            return;
        }
        let yes = transaction.yes;
        transaction.phase = Phase::Committing { awaited: yes };
        for desk in yes.iter() {
            self.send(desk, xid, Order::Commit);
        }
        self.set_deadline(xid, None);
        self.committed(moment, xid);
        self.forget_when_all_know(xid);
    }

    /// A desk says how a transaction ended there.
    pub(super) fn desk_ended(&mut self, moment: Moment, desk: Desk, xid: Xid, committed: bool) {
        let transaction = self.transactions.get_mut(&xid);
        match transaction.map(|transaction| &mut transaction.phase) {
            Some(Phase::Alone { desk: sole }) if *sole == desk => {
                self.send(desk, xid, Order::Forget);
                if committed {
                    self.set_deadline(xid, None);
                    self.committed(moment, xid);
                    self.remove(xid);
                } else {
                    self.abort(moment, xid, AbortReason::DeskLost(desk));
                }
            }
            Some(Phase::Committing { awaited }) => {
                awaited.remove(desk);
                if !committed {
                    self.news.push(EventKind::Disagreed { desk, xid });
                    self.send(desk, xid, Order::Forget);
                }
                self.forget_when_all_know(xid);
            }
            // It was undone there by hand. What was committed by hand, the decision will meet.
            Some(Phase::Preparing { .. }) if !committed => {
                self.abort(moment, xid, AbortReason::DeskLost(desk));
            }
            Some(_) => {}
            None => {
                if committed && !matches!(self.ended.get(&xid), Some(End::Committed)) {
                    self.news.push(EventKind::Disagreed { desk, xid });
                }
                self.send(desk, xid, Order::Forget);
            }
        }
    }

    fn forget_when_all_know(&mut self, xid: Xid) {
        let phase = self
            .transactions
            .get(&xid)
            .map(|transaction| transaction.phase);
        if matches!(phase, Some(Phase::Committing { awaited }) if awaited.is_empty()) {
            self.remove(xid);
        }
    }

    /// It is decided: whoever waits for it is told.
    fn committed(&mut self, moment: Moment, xid: Xid) {
        self.remember(xid, End::Committed);
        self.news.push(EventKind::Committed { xid });
        let transaction = self.transactions.get_mut(&xid).expect("it is here");
        let Some(job) = transaction.job.take() else {
            return;
        };
        let Job {
            ticket,
            goal,
            taken,
            ..
        } = job;
        let done = match goal {
            Goal::Book {
                customer,
                until,
                since,
            } => self.keep_itinerary(moment, (customer, since), taken, until),
            Goal::Release { locator, expired } => self.strike_itinerary(locator, expired),
            Goal::Operate
            | Goal::RemoveCustomer
            | Goal::Summarize { .. }
            | Goal::Reserve { .. }
            | Goal::Commit => Done::Committed,
        };
        self.answer(ticket, Outcome::Done(done));
    }

    /// Aborts a transaction that is not decided. Whatever it was doing is answered with that.
    pub(super) fn abort(&mut self, moment: Moment, xid: Xid, reason: AbortReason) {
        let refusal = Refusal::Aborted(reason);
        if let Some(job) = self.undo(xid, reason) {
            self.abandon(moment, &job);
            self.answer(job.ticket, Outcome::Refused(refusal));
        }
    }

    /// Aborts a transaction that was only there for a job that was refused.
    pub(super) fn abort_refused(&mut self, moment: Moment, xid: Xid, refusal: Refusal) {
        let job = self.undo(xid, AbortReason::Refused).expect("it has a job");
        let refusal = self.give_up_itinerary(moment, &job, refusal);
        self.answer(job.ticket, Outcome::Refused(refusal));
    }

    fn undo(&mut self, xid: Xid, reason: AbortReason) -> Option<Job> {
        self.set_deadline(xid, None);
        let transaction = self.remove(xid);
        for desk in transaction.touched.iter() {
            self.send(desk, xid, Order::Abort);
        }
        self.remember(xid, End::Aborted(reason));
        self.news.push(EventKind::Aborted { xid, reason });
        transaction.job
    }

    fn remember(&mut self, xid: Xid, end: End) {
        self.ended.insert(xid, end);
        if self.ended.len() > limits::ENDED_MAX {
            self.ended.pop_first();
        }
    }
}
