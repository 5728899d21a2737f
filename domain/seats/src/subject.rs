//! Whose a request is: the shows to which grants are limited, and the holders of holds.

use turnstile_chassis::{Subject, SubjectOf};

use crate::{BookingNumber, Command, Query, Seats, about::About};

impl SubjectOf for Seats {
    fn subject_of(&self, command: &Command) -> Subject {
        self.subject(command.about())
    }

    fn subject_of_query(&self, query: &Query) -> Subject {
        self.subject(query.about())
    }
}

impl Seats {
    fn subject(&self, about: About) -> Subject {
        match about {
            About::All => Subject::All,
            About::Public => Subject::Public,
            About::Show(show) => Subject::of(show),
            About::Hold(hold) => self.subject_of_hold(hold),
            About::Booking(number) => self.subject_of_booking(number),
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
