//! What a request is about: nothing but itself is every caller's own.

use turnstile_chassis::{Subject, SubjectOf};

use crate::{Access, Command, Query, about::About};

impl SubjectOf for Access {
    fn subject_of(&self, command: &Command) -> Subject {
        subject(command.about())
    }

    fn subject_of_query(&self, query: &Query) -> Subject {
        subject(query.about())
    }
}

const fn subject(about: About) -> Subject {
    match about {
        About::All => Subject::All,
        About::Caller => Subject::Caller,
    }
}
