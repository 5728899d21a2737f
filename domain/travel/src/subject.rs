//! Whose a request is: the customers to whom grants are limited, and who has started a transaction.

use turnstile_chassis::{Subject, SubjectOf};
use turnstile_types::Name;

use crate::{
    Command, CustomerId, Locator, Query, Travel, Xid,
    about::{About, StepAbout},
};

impl SubjectOf for Travel {
    fn subject_of(&self, command: &Command) -> Subject {
        self.subject(command.about())
    }

    fn subject_of_query(&self, query: &Query) -> Subject {
        self.subject(query.about())
    }
}

impl Travel {
    fn subject(&self, about: About) -> Subject {
        match about {
            About::All => Subject::All,
            About::Public => Subject::Public,
            About::Customer(customer) => Subject::of(name_of(customer)),
            About::Itinerary(locator) => self.subject_of_itinerary(locator),
            About::Step(xid, step) => self.of_holder(xid, subject_of_step(step)),
            About::Transaction(xid) => self.of_holder(xid, Subject::Unknown),
        }
    }

    /// The same within a transaction, which belongs to whoever has started it. To end it, no name is
    /// needed then.
    fn of_holder(&self, xid: Xid, subject: Subject) -> Subject {
        let Some(holder) = self.coordinator.holder(xid) else {
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

fn subject_of_step(about: StepAbout) -> Subject {
    match about {
        StepAbout::All | StepAbout::NewCustomer(None) => Subject::All,
        StepAbout::Public => Subject::Public,
        StepAbout::Customer(customer) | StepAbout::NewCustomer(Some(customer)) => {
            Subject::of(name_of(customer))
        }
        StepAbout::Transaction => Subject::Unknown,
    }
}

fn name_of(customer: CustomerId) -> Name {
    Name::parse(customer.to_string().as_bytes()).expect("a number is a name")
}
