//! What a request is about: the properties to which grants are limited.

use turnstile_chassis::Subject;
use turnstile_types::Name;

use crate::{Command, Query, Reference, Rooms};

impl Rooms {
    pub(crate) fn subject_of_command(&self, command: &Command<'_>) -> Subject {
        match command {
            Command::AddProperty { property, .. }
            | Command::AddRoom { property, .. }
            | Command::WithdrawRoom { property, .. }
            | Command::StopSell { property, .. }
            | Command::Book { property, .. }
            | Command::Hold { property, .. } => Subject::of(*property),
            Command::Extend { hold, .. }
            | Command::Confirm { hold, .. }
            | Command::Release { hold } => self.subject_of_hold(*hold),
            // Whoever cancels knows the id number that booked it, or manages its property.
            Command::Cancel { booking, .. } | Command::CancelForGuest { booking, .. } => {
                self.subject_of_entry(*booking)
            }
        }
    }

    pub(crate) fn subject_of_question(&self, query: &Query) -> Subject {
        match query {
            Query::LookUp { reference } => self.subject_of_entry(*reference),
            Query::List { property, .. } | Query::Explain { property, .. } => {
                Subject::of(*property)
            }
            // They may be of all properties.
            Query::Guest { .. } => Subject::All,
            // The caller's own holds, and what every guest of a hotel sees.
            Query::Holds { .. }
            | Query::Availability { .. }
            | Query::Properties { .. }
            | Query::Totals => Subject::Public,
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
