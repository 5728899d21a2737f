//! Decides each command.

use std::collections::VecDeque;

use turnstile_types::{Context, Position, Principal};

use crate::{
    AbortReason, Command, Desk, Done, EventKind, Item, Operation, Refusal, Settings, Step, Travel,
    Xid,
    coordinator::{Goal, TravelJob},
};

/// What a command comes to at once. None: its answer is among the coordinator's, or comes later.
type PromptResult = Result<Option<Done>, Refusal>;

impl Travel {
    pub(super) fn decide(&mut self, context: &Context<'_>, command: &Command) -> PromptResult {
        match command {
            Command::Configure(settings) => self.configure(*settings).map(Some),
            Command::Recover => {
                self.stages = true;
                Ok(Some(self.recover(context.now)))
            }
            Command::RecoverUnstaged => Ok(Some(self.recover(context.now))),
            Command::Resolve { desk, xid, commit } => {
                let by = *context.principal;
                self.resolve((*desk, *xid, *commit), by).map(Some)
            }
            Command::Deliver(parcel) => self.deliver(context.now, parcel).map(Some),
            _ if !self.settings.roles.coordinator => Err(Refusal::NotHere),
            Command::Start => self.start(context).map(Some),
            Command::Within { xid, step } => {
                let job = job(context.position, step);
                let begun = self.coordinator.begin(self.moment(context.now), *xid, job);
                begun.map(|()| None)
            }
            Command::Abort { xid } => {
                let moment = self.moment(context.now);
                let asked = AbortReason::Asked;
                self.coordinator
                    .abort_on_request(moment, *xid, asked)
                    .map(Some)
            }
            Command::Evict { xid } => {
                let moment = self.moment(context.now);
                let evicted = AbortReason::Evicted;
                self.coordinator
                    .abort_on_request(moment, *xid, evicted)
                    .map(Some)
            }
            Command::Confirm { locator } if self.is_forsaken(*locator) => {
                Err(Refusal::ItineraryOver)
            }
            Command::Confirm { locator } => self.coordinator.confirm(*locator).map(Some),
            Command::Cancel { locator } => {
                let moment = self.moment(context.now);
                let cancelled = self.coordinator.cancel(moment, context.position, *locator);
                cancelled.map(|()| None)
            }
            Command::Book {
                customer,
                trip,
                hold_ms,
            } => {
                let moment = self.moment(context.now);
                let ticket = context.position;
                let booked = self
                    .coordinator
                    .book(moment, ticket, (*customer, trip), *hold_ms);
                booked.map(|()| None)
            }
        }
    }

    fn start(&mut self, context: &Context<'_>) -> Result<Done, Refusal> {
        let moment = self.moment(context.now);
        let xid = self.coordinator.start(moment)?;
        if *context.principal != Principal::local() {
            self.coordinator.holders.insert(xid, context.principal.0);
        }
        Ok(Done::Started { xid })
    }

    fn configure(&mut self, settings: Settings) -> Result<Done, Refusal> {
        if !self.accepts(&settings) {
            return Err(Refusal::UnsoundSettings);
        }
        self.settings = settings;
        Ok(Done::Configured)
    }

    /// Whether it could be configured so.
    #[must_use]
    pub fn accepts(&self, settings: &Settings) -> bool {
        let moves = settings.roles != self.settings.roles && !self.is_unused();
        !moves && settings.is_sound()
    }

    fn resolve(
        &mut self,
        (desk, xid, commit): (Desk, Xid, bool),
        by: Principal,
    ) -> Result<Done, Refusal> {
        if !self.settings.roles.desks.contains(desk) {
            return Err(Refusal::NotHere);
        }
        if !commit && self.stages && self.desks.at(desk).may_be_committed(xid) {
            return Err(Refusal::MayBeCommitted);
        }
        let mut say = Vec::new();
        if !self.desks.at_mut(desk).resolve(xid, commit, &mut say) {
            return Err(Refusal::NotInDoubt);
        }
        self.reports
            .extend(say.into_iter().map(|report| (desk, report)));
        self.coordinator.tell(EventKind::Resolved {
            desk,
            xid,
            commit,
            by,
        });
        Ok(Done::Resolved)
    }
}

/// What is to be done for one step of an open transaction.
fn job(ticket: Position, step: &Step) -> TravelJob {
    let single = |goal, desk, operation| TravelJob::single(ticket, goal, desk, operation);
    let at_item = |item: Item, operation| single(Goal::Operate, item.desk(), operation);
    let at_customers = |operation| single(Goal::Operate, Desk::Customers, operation);
    match *step {
        Step::Add { item, count, price } => at_item(item, Operation::Add { item, count, price }),
        Step::Delete { item } => at_item(item, Operation::Delete { item }),
        Step::Query { item } => at_item(item, Operation::Look { item }),
        Step::AddCustomer { customer } => at_customers(Operation::AddCustomer { customer }),
        Step::QueryCustomer { customer } => at_customers(Operation::LookCustomer { customer }),
        Step::DeleteCustomer { customer } => {
            let remove = Operation::RemoveCustomer { customer };
            single(Goal::RemoveCustomer, Desk::Customers, remove)
        }
        Step::Reserve { customer, ref trip } => {
            TravelJob::trip(ticket, Goal::Reserve { customer }, trip)
        }
        Step::Summary => {
            let goal = Goal::Summarize { bills: Vec::new() };
            single(goal, Desk::Customers, Operation::Summarize { after: None })
        }
        Step::Commit => TravelJob::new(ticket, Goal::Commit, VecDeque::new()),
    }
}
