//! What a request is about: the shows to which grants are limited.

use turnstile_chassis::Subject;

use crate::{BookingNumber, Command, Query, Seats};

impl Seats {
    pub(crate) fn subject_of_command(&self, command: &Command) -> Subject {
        match command {
            Command::AddShow { show, .. }
            | Command::AddSection { show, .. }
            | Command::CloseSale { show, .. }
            | Command::Book { show, .. }
            | Command::Hold { show, .. } => Subject::of(*show),
            Command::Confirm { hold, .. } | Command::Release { hold } => {
                self.subject_of_hold(*hold)
            }
            // Whoever cancels knows the buyer.
            Command::Cancel { booking, .. } => self.subject_of_booking(*booking),
        }
    }

    pub(crate) fn subject_of_question(&self, query: &Query) -> Subject {
        match query {
            Query::LookUp { reference } => self.subject_of_booking(*reference),
            Query::List { show, .. } => Subject::of(*show),
            Query::Availability { .. }
            | Query::Map { .. }
            | Query::Shows { .. }
            | Query::Totals => Subject::Public,
        }
    }

    fn subject_of_hold(&self, hold: BookingNumber) -> Subject {
        self.look_up(hold)
            .map_or(Subject::Unknown, |booking| Subject::Things {
                names: [Some(self.show(booking.show).name), None],
                holder: Some(booking.principal),
            })
    }

    fn subject_of_booking(&self, number: BookingNumber) -> Subject {
        self.look_up(number).map_or(Subject::Unknown, |booking| {
            Subject::of(self.show(booking.show).name)
        })
    }
}
