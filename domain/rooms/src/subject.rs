//! Whose a request is: the properties to which grants are limited, and the holders of holds.

use turnstile_chassis::{Subject, SubjectOf};
use turnstile_types::Name;

use crate::{Answer, Command, Query, Reference, Rooms, about::About};

impl SubjectOf for Rooms {
    fn subject_of(&self, command: &Command<'_>) -> Subject {
        self.subject(command.about())
    }

    fn subject_of_query(&self, query: &Query) -> Subject {
        self.subject(query.about())
    }

    fn subject_of_answer(_query: &Query, answer: &Answer) -> Subject {
        match answer {
            Answer::Entry(entry) => Subject::of(entry.property),
            Answer::Page(_)
            | Answer::Availability(_)
            | Answer::Explanation(_)
            | Answer::Properties { .. }
            | Answer::Totals(_)
            | Answer::Rooms { .. }
            | Answer::StopSells { .. }
            | Answer::Refused(_) => Subject::Unknown,
        }
    }
}

impl Rooms {
    fn subject(&self, about: About) -> Subject {
        match about {
            About::All => Subject::All,
            About::Public => Subject::Public,
            About::Property(property) => Subject::of(property),
            About::Hold(hold) => self.subject_of_hold(hold),
            About::Entry(reference) => self.subject_of_entry(reference),
        }
    }

    fn subject_of_hold(&self, hold: Reference) -> Subject {
        self.ledger
            .look_up(hold)
            .map_or(Subject::Unknown, |(slot, _)| Subject::Things {
                names: [Some(self.property_of(slot)), None],
                holder: Some(self.principals.name(self.ledger.at(slot).principal)),
            })
    }

    fn subject_of_entry(&self, reference: Reference) -> Subject {
        self.ledger
            .look_up(reference)
            .map_or(Subject::Unknown, |(slot, _)| {
                Subject::of(self.property_of(slot))
            })
    }

    fn property_of(&self, slot: u32) -> Name {
        let property = self.directory.room_at(self.ledger.at(slot).room).property;
        self.directory.property_at(property).name
    }
}
