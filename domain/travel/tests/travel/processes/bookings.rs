//! Trips that are booked and cancelled in one command, each as its customer saw it and as it was decided.

use turnstile_travel::{Command, CustomerId, Done, Event, EventKind, Outcome, Refusal, Xid};
use turnstile_types::Position;

use super::clients::{OneCommand, Story};
use crate::scenery::trip;

#[derive(Default)]
pub(super) struct Bookings {
    asked: Vec<Booking>,
    /// How many of the coordinator's events have been looked through.
    seen: usize,
    /// How often one was decided that had been decided before.
    pub(super) found_again: usize,
}

struct Booking {
    /// None: the coordinator was lost before it had that on the disk, and with it the answer.
    position: Option<u64>,
    command: OneCommand,
    /// The moment at which it was decided, when all its locks were held; how many events there had
    /// been by then; and its transaction.
    decided: Option<(u64, usize, Xid)>,
    told: Option<Outcome>,
}

impl Bookings {
    /// Asks for a trip, at this position of the coordinator.
    pub(super) fn ask(
        &mut self,
        customer: CustomerId,
        items: Vec<&'static str>,
        position: u64,
    ) -> Command {
        let trip = trip(&items);
        self.asked.push(Booking {
            position: Some(position),
            command: OneCommand::Book { customer, items },
            decided: None,
            told: None,
        });
        Command::Book {
            customer,
            trip,
            hold_ms: None,
        }
    }

    /// Asks to cancel one of those that were told to be booked, by this number, at this position.
    pub(super) fn cancel(&mut self, number: usize, position: u64) -> Option<Command> {
        let standing = self.asked.iter().filter_map(|booking| match booking.told {
            Some(Outcome::Done(Done::Booked { locator, .. })) => {
                booking.decided.map(|(.., booked)| (locator, booked))
            }
            _ => None,
        });
        let standing: Vec<_> = standing.collect();
        let &(locator, booked) = standing.get(number % standing.len().max(1))?;
        self.asked.push(Booking {
            position: Some(position),
            command: OneCommand::Cancel { booked },
            decided: None,
            told: None,
        });
        Some(Command::Cancel { locator })
    }

    fn at(&mut self, position: u64) -> Option<&mut Booking> {
        let mut asked = self.asked.iter_mut();
        asked.find(|booking| booking.position == Some(position))
    }

    /// The coordinator is lost; it gives positions after this one again.
    pub(super) fn lose_after(&mut self, last: u64) {
        for booking in &mut self.asked {
            booking.position = booking.position.filter(|position| *position <= last);
        }
    }

    /// What is told stays told; only who was in doubt hears more, and after a restart whoever asks again
    /// may hear that it is.
    pub(super) fn hear(&mut self, position: u64, outcome: &Outcome) {
        let Some(booking) = self.at(position) else {
            return;
        };
        let unknown = Outcome::Refused(Refusal::NoSuchItinerary);
        assert_ne!(outcome, &unknown, "position {position} knows it better");
        let in_doubt = |told: &Outcome| matches!(told, Outcome::Refused(Refusal::InDoubt(_)));
        match &booking.told {
            Some(told) if !in_doubt(told) => {
                assert!(
                    told == outcome || in_doubt(outcome),
                    "position {position} is told {told:?}, then {outcome:?}"
                );
            }
            Some(_) | None => booking.told = Some(outcome.clone()),
        }
    }

    /// Whether whatever was asked for has been answered.
    pub(super) fn are_told(&self) -> bool {
        self.asked.iter().all(|booking| booking.told.is_some())
    }

    pub(super) fn told(&self) -> Vec<Option<&Outcome>> {
        let told = self.asked.iter().map(|booking| booking.told.as_ref());
        told.collect()
    }

    /// Looks which of them have been decided since the last look.
    pub(super) fn look(&mut self, events: &[Event], moment: u64) {
        let mut fresh = &events[self.seen..];
        while let [first, rest @ ..] = fresh {
            fresh = rest;
            if let EventKind::Committed { xid } = first.kind
                && let Some(ticket) = ticket(rest)
            {
                let booking = self.at(ticket.0).expect("somebody asked for it");
                let decided = (moment, events.len() - rest.len(), xid);
                let before = booking.decided.replace(decided);
                self.found_again += usize::from(before.is_some());
            }
        }
        self.seen = events.len();
    }

    /// Those that were decided, as transactions that were done step by step.
    pub(super) fn stories(&mut self) -> Vec<Story> {
        let mut asked = std::mem::take(&mut self.asked);
        asked.retain(|booking| {
            let promised = matches!(booking.told, Some(Outcome::Done(_)));
            assert!(
                booking.decided.is_some() || !promised,
                "told and not decided"
            );
            booking.decided.is_some()
        });
        asked.sort_by_key(|booking| booking.decided);
        asked.into_iter().filter_map(Booking::story).collect()
    }
}

impl Booking {
    fn story(self) -> Option<Story> {
        let (moment, _, xid) = self.decided?;
        let told = match self.told {
            Some(Outcome::Done(_)) => Some(Outcome::Done(Done::Committed)),
            other => other,
        };
        Some(Story {
            xid,
            steps: Vec::new(),
            command: Some(self.command),
            locked: Some(moment),
            told,
        })
    }
}

/// Whose trip it is that is told first, if it is one: of whoever is answered in the same record with
/// its end, or else of the record itself.
fn ticket(events: &[Event]) -> Option<Position> {
    let [first, rest @ ..] = events else {
        return None;
    };
    let ends_so = |outcome: &Outcome| match (&first.kind, outcome) {
        (EventKind::Booked { locator: given }, Outcome::Done(Done::Booked { locator, .. })) => {
            locator == given
        }
        (EventKind::Cancelled { .. }, outcome) => *outcome == Outcome::Done(Done::Cancelled),
        _ => false,
    };
    if !matches!(
        first.kind,
        EventKind::Booked { .. } | EventKind::Cancelled { .. }
    ) {
        return None;
    }
    let mut record = rest
        .iter()
        .take_while(|event| event.position == first.position);
    let answered = record.find_map(|event| match &event.kind {
        EventKind::Answered { ticket, outcome } if ends_so(outcome) => Some(*ticket),
        _ => None,
    });
    Some(answered.unwrap_or(first.position))
}
