//! An independent model of what has been sold: rooms and nights in a map, nothing else.
//!
//! It decides nothing. It is shown each command with its outcome, in order of position, and says
//! whether such an outcome was possible.

use std::collections::BTreeMap;

use turnstile_rooms::{Command, Done, Event, GuestId, Outcome, Reference, Refusal, Rooms, Wish};
use turnstile_types::{Name, Night, Position, Stay, Timestamp};

use crate::actors::Model;

/// A booking or an open hold.
#[derive(Clone, Debug)]
struct Taken {
    property: Name,
    room: Name,
    stay: Stay,
    /// Nothing for a booking.
    until: Option<Timestamp>,
    id: Option<GuestId>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Occupancy {
    nights: BTreeMap<(Name, Name, Night), Reference>,
    taken: BTreeMap<Reference, Taken>,
    /// Holds whose time is over, and what they were for.
    expired: BTreeMap<Reference, Taken>,
}

impl Model<Rooms> for Occupancy {
    fn show(
        &mut self,
        (_position, now): (Position, Timestamp),
        asked: Option<(&Command<'_>, &Outcome)>,
        _events: &[Event],
    ) -> Result<(), String> {
        self.expire(now);
        match asked {
            None => Ok(()),
            Some((command, Outcome::Done(done))) => self.done(now, command, *done),
            Some((command, Outcome::Refused(refusal))) => self.refused(command, refusal),
        }
    }

    fn agrees(&self, _now: Timestamp, rooms: &Rooms) -> Result<(), String> {
        let (found, expected) = (rooms.totals().bookings, self.bookings());
        if found != expected as u64 {
            return Err(format!("{found} bookings stand, not {expected}"));
        }
        Ok(())
    }
}

impl Occupancy {
    /// Frees the nights of holds whose time is over.
    fn expire(&mut self, now: Timestamp) {
        let over = |taken: &Taken| taken.until.is_some_and(|until| until <= now);
        let references: Vec<Reference> = self
            .taken
            .iter()
            .filter(|(_, taken)| over(taken))
            .map(|(at, _)| *at)
            .collect();
        for reference in references {
            if let Some(taken) = self.remove(reference) {
                self.expired.insert(reference, taken);
            }
        }
    }

    fn done(&mut self, now: Timestamp, command: &Command<'_>, done: Done) -> Result<(), String> {
        match (*command, done) {
            (
                Command::Book {
                    property,
                    wish,
                    stay,
                    id,
                    ..
                },
                Done::Booked { reference, room },
            ) => {
                wished(wish, room)?;
                self.take(
                    reference,
                    Taken {
                        property,
                        room,
                        stay,
                        until: None,
                        id: Some(id),
                    },
                )
            }
            (
                Command::Hold {
                    property,
                    wish,
                    stay,
                    ttl_ms,
                },
                Done::Held {
                    reference,
                    room,
                    until,
                },
            ) if until == now.plus_ms(u64::from(ttl_ms)) => {
                wished(wish, room)?;
                self.take(
                    reference,
                    Taken {
                        property,
                        room,
                        stay,
                        until: Some(until),
                        id: None,
                    },
                )
            }
            (command, done) => self.later(now, &command, done),
        }
    }

    /// What comes after a sale, or has nothing to do with one.
    fn later(&mut self, now: Timestamp, command: &Command<'_>, done: Done) -> Result<(), String> {
        match (*command, done) {
            (Command::Extend { hold, .. }, Done::Extended { until }) => {
                self.extended(now, hold, until)
            }
            (
                Command::Confirm { hold, id, .. },
                Done::Confirmed {
                    reference,
                    room,
                    late,
                },
            ) => self.confirmed(hold, reference, room, late, id),
            (Command::Release { hold }, Done::Released) => self.released(hold),
            (Command::Cancel { booking, id }, Done::Cancelled { room, stay }) => {
                self.cancelled(booking, id, room, stay)
            }
            (Command::WithdrawRoom { property, room }, Done::RoomWithdrawn) => {
                self.withdrawn(property, room)
            }
            (Command::AddProperty { .. }, Done::PropertyAdded)
            | (Command::AddRoom { .. }, Done::RoomAdded)
            | (Command::StopSell { stopped: true, .. }, Done::SaleStopped)
            | (Command::StopSell { stopped: false, .. }, Done::SaleResumed) => Ok(()),
            (command, done) => Err(format!("{command:?} was answered by {done:?}")),
        }
    }

    fn extended(
        &mut self,
        now: Timestamp,
        hold: Reference,
        until: Timestamp,
    ) -> Result<(), String> {
        match self.taken.get_mut(&hold) {
            Some(Taken {
                until: Some(end), ..
            }) if until > now => {
                *end = until;
                Ok(())
            }
            other => Err(format!("{hold} was extended to {until} and is {other:?}")),
        }
    }

    fn released(&mut self, hold: Reference) -> Result<(), String> {
        match self.remove(hold).or_else(|| self.expired.remove(&hold)) {
            Some(Taken { until: Some(_), .. }) => Ok(()),
            other => Err(format!("{hold} was released and is {other:?}")),
        }
    }

    fn cancelled(
        &mut self,
        booking: Reference,
        id: GuestId,
        room: Name,
        stay: Stay,
    ) -> Result<(), String> {
        match self.remove(booking) {
            Some(Taken {
                until: None,
                id: Some(own),
                room: booked,
                stay: nights,
                ..
            }) if (own, booked, nights) == (id, room, stay) => Ok(()),
            other => Err(format!("{booking} was cancelled and is {other:?}")),
        }
    }

    fn withdrawn(&self, property: Name, room: Name) -> Result<(), String> {
        match self
            .taken
            .values()
            .find(|at| (at.property, at.room) == (property, room))
        {
            Some(taken) => Err(format!("{room} was withdrawn with {taken:?}")),
            None => Ok(()),
        }
    }

    fn confirmed(
        &mut self,
        hold: Reference,
        reference: Reference,
        room: Name,
        late: bool,
        id: GuestId,
    ) -> Result<(), String> {
        let kept = if late {
            self.expired.remove(&hold)
        } else {
            self.remove(hold)
        };
        match kept {
            Some(taken) if taken.until.is_some() && taken.room == room && hold == reference => self
                .take(
                    reference,
                    Taken {
                        until: None,
                        id: Some(id),
                        ..taken
                    },
                ),
            other => Err(format!(
                "{hold} was confirmed (late: {late}) and is {other:?}"
            )),
        }
    }

    /// A refusal must have a reason that the model can see, where it sees reasons of that kind.
    fn refused(&self, command: &Command<'_>, refusal: &Refusal) -> Result<(), String> {
        // An expired hold is forgotten some day, so only what stands must be known.
        let known = |reference: Reference| self.taken.contains_key(&reference);
        let wrong = match (*command, refusal) {
            (
                Command::Book {
                    property,
                    wish: Wish::Room(room),
                    stay,
                    ..
                }
                | Command::Hold {
                    property,
                    wish: Wish::Room(room),
                    stay,
                    ..
                },
                Refusal::SoldOut { nights },
            ) => !nights.iter().all(|night| {
                stay.iter().any(|own| own == night)
                    && self.nights.contains_key(&(property, room, night))
            }),
            (Command::Cancel { booking, .. }, Refusal::NotFound | Refusal::Ended) => known(booking),
            (Command::Cancel { booking, id }, Refusal::WrongGuest) => self
                .taken
                .get(&booking)
                .is_none_or(|taken| taken.id == Some(id)),
            (Command::Confirm { hold, .. }, Refusal::HoldExpired) => {
                !self.expired.contains_key(&hold)
            }
            (
                Command::Confirm { hold, .. }
                | Command::Extend { hold, .. }
                | Command::Release { hold },
                Refusal::NotFound | Refusal::Ended,
            ) => known(hold),
            _ => false,
        };
        if wrong {
            Err(format!("{command:?} was refused: {refusal:?}"))
        } else {
            Ok(())
        }
    }

    fn take(&mut self, reference: Reference, taken: Taken) -> Result<(), String> {
        for night in taken.stay.iter() {
            let place = (taken.property, taken.room, night);
            if let Some(other) = self.nights.insert(place, reference) {
                return Err(format!(
                    "{place:?} was sold twice: to {other} and to {reference}"
                ));
            }
        }
        match self.taken.insert(reference, taken) {
            Some(other) => Err(format!("{reference} was given twice, first for {other:?}")),
            None => Ok(()),
        }
    }

    fn remove(&mut self, reference: Reference) -> Option<Taken> {
        let taken = self.taken.remove(&reference)?;
        for night in taken.stay.iter() {
            self.nights.remove(&(taken.property, taken.room, night));
        }
        Some(taken)
    }

    /// Bookings that stand.
    fn bookings(&self) -> usize {
        self.taken
            .values()
            .filter(|taken| taken.until.is_none())
            .count()
    }
}

fn wished(wish: Wish, room: Name) -> Result<(), String> {
    match wish {
        Wish::Room(wanted) if wanted != room => Err(format!("{wanted} was wanted, {room} given")),
        Wish::Room(_) | Wish::Type(_) | Wish::Any => Ok(()),
    }
}
