//! What a request is about: the customers to whom grants are limited.

use turnstile_chassis::Subject;
use turnstile_types::Name;

use crate::{Command, CustomerId, Locator, Query, Step, Travel, Xid};

impl Travel {
    pub(crate) fn subject_of_command(&self, command: &Command) -> Subject {
        match command {
            Command::Start => Subject::Public,
            Command::Within { xid, step } => self.of_holder(*xid, subject_of_step(step)),
            // Its customers are known only to the desks that it has touched.
            Command::Abort { xid } => self.of_holder(*xid, Subject::Unknown),
            Command::Book { customer, .. } => Subject::of(name_of(*customer)),
            Command::Confirm { locator } | Command::Cancel { locator } => {
                self.subject_of_itinerary(*locator)
            }
            Command::Evict { .. }
            | Command::Configure(_)
            | Command::Recover
            | Command::RecoverUnstaged
            | Command::Resolve { .. }
            | Command::Deliver(_) => Subject::All,
        }
    }

    pub(crate) fn subject_of_question(&self, query: &Query) -> Subject {
        match query {
            Query::Itinerary { locator } => self.subject_of_itinerary(*locator),
            Query::Customer { customer } => Subject::of(name_of(*customer)),
            // They show whose locks are in the way.
            Query::Transaction { .. } | Query::Transactions { .. } => Subject::All,
            Query::Items { .. } | Query::Totals => Subject::Public,
        }
    }

    /// The same within a transaction, which belongs to whoever has started it. To end it, no name is
    /// needed then.
    fn of_holder(&self, xid: Xid, subject: Subject) -> Subject {
        let Some(holder) = self.coordinator.holders.get(xid) else {
            return subject;
        };
        let names = match subject {
            Subject::Things { names, .. } => names,
            Subject::All | Subject::AllHeldBy(_) => return Subject::AllHeldBy(holder),
            Subject::Caller | Subject::Public | Subject::Unknown => [None; 2],
        };
        let holder = Some(holder);
        Subject::Things { names, holder }
    }

    fn subject_of_itinerary(&self, locator: Locator) -> Subject {
        let itinerary = self.coordinator.itineraries.get(&locator);
        itinerary.map_or(Subject::Unknown, |itinerary| {
            Subject::of(name_of(itinerary.customer))
        })
    }
}

fn subject_of_step(step: &Step) -> Subject {
    match step {
        Step::AddCustomer {
            customer: Some(customer),
        }
        | Step::DeleteCustomer { customer }
        | Step::QueryCustomer { customer }
        | Step::Reserve { customer, .. } => Subject::of(name_of(*customer)),
        Step::Query { .. } => Subject::Public,
        // A new customer gets a number that no limit knows yet.
        Step::AddCustomer { customer: None }
        | Step::Add { .. }
        | Step::Delete { .. }
        | Step::Summary => Subject::All,
        Step::Commit => Subject::Unknown,
    }
}

fn name_of(customer: CustomerId) -> Name {
    Name::parse(customer.to_string().as_bytes()).expect("a number is a name")
}
