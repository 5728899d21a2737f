//! Commit in one phase or two, and abort.

use crate::{
    AbortReason, Desk, Desks, Done, EventKind, Locator, Order, Outcome, Refusal, Request, Vote,
    Xid, limits,
};

use super::{Coordinator, Goal, Moment, Phase, TransactionEnd, TravelJob, first};

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
        if moment.stages && touched.without(unasked).is_empty() {
            return self.stage(moment, xid, awaited);
        }
        transaction.phase = Phase::Preparing { awaited };
        for desk in awaited.without(unasked).iter() {
            self.send(desk, xid, Order::Prepare);
        }
        self.decide_when_all_have_voted(moment, xid);
    }

    /// All desks have done their part of a trip and vote for it; what they vote for becomes durable
    /// here meanwhile.
    fn stage(&mut self, moment: Moment, xid: Xid, awaited: Desks) {
        let transaction = self.transactions.get(&xid).expect("it is here");
        let goal = transaction.job.as_ref().map(|job| &job.goal);
        let is_booking = matches!(goal, Some(Goal::Book { .. }));
        let locator = is_booking.then(|| self.issue());
        let transaction = self.transactions.get_mut(&xid).expect("it is here");
        transaction.phase = Phase::Staged { awaited, locator };
        self.booking.extend(locator);
        self.promised = true;
        self.decide_when_all_have_voted(moment, xid);
    }

    pub(super) fn voted(&mut self, moment: Moment, desk: Desk, xid: Xid, vote: Vote) {
        let Some(transaction) = self.transactions.get_mut(&xid) else {
            // A desk asks what became of it: it was aborted, or it would be here.
            return self.send(desk, xid, Order::Abort);
        };
        let is_awaited = match &mut transaction.phase {
            Phase::Open => transaction.touched.contains(desk),
            Phase::Preparing { awaited }
            | Phase::Staged { awaited, .. }
            | Phase::Doubtful { awaited, .. } => {
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

    /// The decision to commit. It is durable before it is sent, because a parcel with it is firm. What
    /// was staged in this life is committed by that and by the votes: whoever waits is told at once, and
    /// the decision goes to the disk with the next record that must, unless somebody waits for it.
    fn decide_when_all_have_voted(&mut self, moment: Moment, xid: Xid) {
        let transaction = self.transactions.get(&xid).expect("it is here");
        let (phase, yes) = (transaction.phase, transaction.yes);
        let (Phase::Preparing { awaited }
        | Phase::Staged { awaited, .. }
        | Phase::Doubtful { awaited, .. }) = phase
        else {
            return;
        };
        if !awaited.is_empty() {
            return;
        }
        let may_wait = matches!(phase, Phase::Staged { .. }) && !self.is_waited_for(xid);
        self.enter(xid, Phase::Committing { awaited: yes });
        for desk in yes.iter() {
            let order = Order::Commit;
            if may_wait {
                self.later.push_back((desk, Request { xid, order }));
            } else {
                self.send(desk, xid, order);
            }
        }
        self.set_deadline(xid, None);
        let promised = self.promised;
        self.committed(moment, xid, phase.locator());
        if may_wait {
            self.promised = promised;
        }
        self.forget_when_all_know(xid);
    }

    /// Changes the phase of what was to be voted for.
    fn enter(&mut self, xid: Xid, phase: Phase) {
        let transaction = self.transactions.get_mut(&xid).expect("it is here");
        let before = std::mem::replace(&mut transaction.phase, phase);
        if let Some(locator) = before.locator() {
            self.booking.remove(&locator);
        }
    }

    /// Whether somebody waits for this one to end, or perhaps.
    fn is_waited_for(&self, xid: Xid) -> bool {
        let mut restless = self.restless.iter();
        let waits = |other: &Xid| {
            let wait = self
                .transactions
                .get(other)
                .and_then(|one| one.wait.as_ref());
            wait.is_some_and(|wait| wait.before.contains(&xid))
        };
        self.restless.len() > limits::WAITERS_ASKED || restless.any(waits)
    }

    /// A desk says how a transaction ended there.
    pub(super) fn desk_ended(&mut self, moment: Moment, desk: Desk, xid: Xid, committed: bool) {
        let transaction = self.transactions.get_mut(&xid);
        match transaction.map(|transaction| &mut transaction.phase) {
            Some(Phase::Alone { desk: sole }) if *sole == desk => {
                self.send(desk, xid, Order::Forget);
                if committed {
                    self.set_deadline(xid, None);
                    self.committed(moment, xid, None);
                    self.remove(xid);
                } else {
                    self.abort(moment, xid, AbortReason::DeskLost(desk));
                }
            }
            Some(Phase::Committing { awaited }) => {
                awaited.remove(desk);
                if !committed {
                    self.tell(EventKind::Disagreed { desk, xid });
                    self.send(desk, xid, Order::Forget);
                }
                self.forget_when_all_know(xid);
            }
            // It was undone there by hand. What was committed by hand, the decision will meet.
            Some(Phase::Preparing { .. } | Phase::Staged { .. } | Phase::Doubtful { .. })
                if !committed =>
            {
                self.abort(moment, xid, AbortReason::DeskLost(desk));
            }
            // That is as good as the vote before it, which a restart may ask for.
            Some(Phase::Staged { .. } | Phase::Doubtful { .. }) => {
                self.voted(moment, desk, xid, Vote::Yes);
            }
            Some(_) => {}
            None => {
                if committed && !matches!(self.ended.get(&xid), Some(TransactionEnd::Committed)) {
                    self.tell(EventKind::Disagreed { desk, xid });
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

    /// It is decided: whoever waits for it is told, perhaps a locator that was kept for it.
    fn committed(&mut self, moment: Moment, xid: Xid, locator: Option<Locator>) {
        self.remember(xid, TransactionEnd::Committed);
        self.tell(EventKind::Committed { xid });
        let transaction = self.transactions.get_mut(&xid).expect("it is here");
        let Some(job) = transaction.job.take() else {
            return;
        };
        let TravelJob {
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
            } => {
                let locator = locator.unwrap_or_else(|| self.issue());
                self.keep_itinerary(moment, (customer, since), (locator, taken), until)
            }
            Goal::Release { locator, expired } => self.strike_itinerary(locator, expired),
            Goal::Operate
            | Goal::RemoveCustomer
            | Goal::Summarize { .. }
            | Goal::Reserve { .. }
            | Goal::Commit => Done::Committed,
        };
        self.answer(ticket, Outcome::Done(done));
    }

    /// Aborts a transaction on request, also one that waits or gathers votes.
    pub(crate) fn abort_on_request(
        &mut self,
        moment: Moment,
        xid: Xid,
        reason: AbortReason,
    ) -> Result<Done, Refusal> {
        match self.open(xid)?.phase {
            Phase::Open | Phase::Preparing { .. } | Phase::Staged { .. } => {
                self.abort(moment, xid, reason);
                Ok(Done::Aborted)
            }
            Phase::Doubtful { awaited, .. } => Err(Refusal::InDoubt(first(awaited))),
            Phase::Alone { .. } | Phase::Committing { .. } => Err(Refusal::Busy),
        }
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

    fn undo(&mut self, xid: Xid, reason: AbortReason) -> Option<TravelJob> {
        self.set_deadline(xid, None);
        let transaction = self.remove(xid);
        let phase = transaction.phase;
        if let Some(locator) = phase.locator() {
            self.booking.remove(&locator);
        }
        // Nobody may hear of it before it is durable: a restart would ask for the votes instead.
        self.promised |= phase.is_staged();
        for desk in transaction.touched.iter() {
            self.send(desk, xid, Order::Abort);
        }
        self.remember(xid, TransactionEnd::Aborted(reason));
        self.tell(EventKind::Aborted { xid, reason });
        transaction.job
    }

    fn remember(&mut self, xid: Xid, end: TransactionEnd) {
        self.ended.insert(xid, end);
        if self.ended.len() > limits::ENDED_MAX {
            self.ended.pop_first();
        }
    }
}
