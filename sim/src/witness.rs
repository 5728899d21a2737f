//! What happens in rooms, as the outside witness hears it.
//!
//! [`Table`] knows rooms and nights by number and nothing of the domain. Here each command and its
//! outcome are told to it in its own words.

use std::collections::BTreeMap;

use turnstile_check::{
    Model as _,
    rooms::{
        Cancelled, Confirmed, Extended, InlineReference as Mark, Moved, NoHold, Operation, Picked,
        Place, Released, Table, Wish as Wanted,
    },
};
use turnstile_rooms::{
    Command, Done, Event, GuestId, Nights, Outcome, Reference, Refusal, Rooms, Wish,
};
use turnstile_types::{Name, Position, Stay, Timestamp};

use crate::actors::RulesModel;

/// Rooms and nights of the simulated world, with some to spare.
const ROOMS: u32 = 64;
const NIGHTS: u16 = 16;

/// The first night on which anybody stays: 2027-01-01.
const FIRST_NIGHT: u16 = 20_819;

/// The property in which every room name exists.
const OPEN: &[u8] = b"open";

/// Why an open property refuses nobody who takes any room.
const ALWAYS_ONE_MORE: &str = "an open property always has one more room";

/// What is wanted where the wish does not matter.
const NO_WISH: Wanted = Wanted {
    first: 0,
    rooms: 1,
    night: 0,
    nights: 1,
};

/// A room of a property.
type NamedRoom = (Vec<u8>, Vec<u8>);

/// Tells the table of rooms what happens.
#[derive(Debug)]
pub(crate) struct WitnessFeed {
    table: Table,
    rooms: BTreeMap<NamedRoom, u32>,
    ids: BTreeMap<GuestId, u64>,
}

impl Default for WitnessFeed {
    fn default() -> Self {
        Self {
            table: Table::new(ROOMS, NIGHTS),
            rooms: BTreeMap::new(),
            ids: BTreeMap::new(),
        }
    }
}

impl RulesModel<Rooms> for WitnessFeed {
    fn show(
        &mut self,
        (position, now): (Position, Timestamp),
        asked: Option<(&Command<'_>, &Outcome)>,
        _events: &[Event],
    ) -> Result<(), String> {
        self.table.tell_time(position.0, now.0)?;
        match asked {
            None => return Ok(()),
            Some((command, Outcome::Done(done))) => self.done(position, command, *done)?,
            Some((command, Outcome::Refused(refusal))) => {
                self.refused(position, command, refusal)?;
            }
        }
        // If only the end of a hold explains it, its time must have come.
        self.table.tell_time(position.0, now.0)
    }

    fn agrees(&self, _now: Timestamp, rooms: &Rooms) -> Result<(), String> {
        let (found, expected) = (rooms.totals().bookings, self.table.bookings());
        if found != expected as u64 {
            return Err(format!("{found} bookings stand, not {expected}"));
        }
        Ok(())
    }
}

impl WitnessFeed {
    #[expect(
        clippy::too_many_lines,
        reason = "a match with one arm for each command"
    )]
    fn done(
        &mut self,
        position: Position,
        command: &Command<'_>,
        done: Done,
    ) -> Result<(), String> {
        let operation = match (*command, done) {
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
                let (room, id) = (self.room(property, room), self.id(id));
                let reference = mark(reference);
                Operation::Pick {
                    wish: self.wanted(property, wish, stay, room),
                    answer: Picked::Booked {
                        room,
                        id,
                        reference,
                    },
                }
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
            ) => {
                let room = self.room(property, room);
                let wish = self.wanted(property, wish, stay, room);
                let answer = Picked::Held {
                    room,
                    ttl_ms: u64::from(ttl_ms),
                    reference: mark(reference),
                    until: until.0,
                };
                Operation::Pick { wish, answer }
            }
            (Command::Extend { hold, ttl_ms }, Done::Extended { until }) => Operation::Extend {
                reference: mark(hold),
                ttl_ms: u64::from(ttl_ms),
                answer: Extended::Done(until.0),
            },
            (
                Command::Confirm { hold, id, .. },
                Done::Confirmed {
                    reference,
                    room,
                    late,
                },
            ) if hold == reference => Operation::Confirm {
                reference: mark(hold),
                id: self.id(id),
                answer: Confirmed::Done {
                    room: self.room_of(hold, room),
                    late,
                },
            },
            (Command::Release { hold }, Done::Released) => Operation::Release {
                reference: mark(hold),
                answer: Released::Done,
            },
            (Command::Cancel { booking, id }, Done::Cancelled { room, stay }) => {
                let place = place(self.room_of(booking, room), stay);
                self.cancelled(booking, Some(id), Cancelled::Done(place))
            }
            (Command::CancelForGuest { booking, .. }, Done::Cancelled { room, stay }) => {
                let place = place(self.room_of(booking, room), stay);
                self.cancelled(booking, None, Cancelled::Done(place))
            }
            (
                Command::Move {
                    booking,
                    wish,
                    stay,
                    id,
                },
                Done::Moved { room, from },
            ) => {
                let property = self.property_of(booking)?;
                let room = self.room(property, room);
                let from = place(self.room(property, from.room), from.stay);
                let wish = self.wanted(property, wish, stay, room);
                self.moved((booking, id), wish, Moved::Done { room, from })
            }
            (command, done) => return self.arranged(&command, done),
        };
        self.table.apply(position.0, &operation)
    }

    /// What is about rooms and not about guests.
    fn arranged(&mut self, command: &Command<'_>, done: Done) -> Result<(), String> {
        match (*command, done) {
            (Command::WithdrawRoom { property, room }, Done::RoomWithdrawn) => {
                let room = self.room(property, room);
                self.table.stop(whole(room), true);
                self.table.withdraw(room)
            }
            (
                Command::StopSell {
                    property,
                    room,
                    stay,
                    stopped,
                },
                Done::SaleStopped | Done::SaleResumed,
            ) if stopped == (done == Done::SaleStopped) => {
                let room = self.room(property, room);
                self.table.stop(place(room, stay), stopped);
                Ok(())
            }
            (Command::AddRoom { property, room, .. }, Done::RoomAdded) => {
                self.room(property, room);
                Ok(())
            }
            (Command::AddProperty { .. }, Done::PropertyAdded) => Ok(()),
            (command, done) => Err(format!("{command:?} was answered by {done:?}")),
        }
    }

    /// A refusal must have a reason that the table can see, where it sees reasons of that kind.
    fn refused(
        &mut self,
        position: Position,
        command: &Command<'_>,
        refusal: &Refusal,
    ) -> Result<(), String> {
        let no_hold = match refusal {
            Refusal::HoldExpired => Some(NoHold::Expired),
            Refusal::AlreadyConfirmed => Some(NoHold::Confirmed),
            Refusal::NotFound | Refusal::Ended => Some(NoHold::Gone),
            _ => None,
        };
        let operation = match (*command, refusal, no_hold) {
            (
                Command::Book {
                    property,
                    wish,
                    stay,
                    ..
                }
                | Command::Hold {
                    property,
                    wish,
                    stay,
                    ..
                },
                Refusal::SoldOut { nights },
                _,
            ) => {
                if property.as_bytes() == OPEN && !matches!(wish, Wish::Room(_)) {
                    return Err(ALWAYS_ONE_MORE.to_owned());
                }
                Operation::Pick {
                    wish: self.wanted(property, wish, stay, 0),
                    answer: Picked::SoldOut(bits(stay, *nights)),
                }
            }
            (
                Command::Move {
                    booking,
                    wish,
                    stay,
                    id,
                },
                Refusal::SoldOut { .. } | Refusal::WrongGuest | Refusal::NotFound | Refusal::Ended,
                _,
            ) => self.move_refused((booking, id), (wish, stay), refusal)?,
            (Command::Cancel { booking, id }, Refusal::WrongGuest, _) => {
                self.cancelled(booking, Some(id), Cancelled::WrongGuest)
            }
            (Command::Cancel { booking, id }, Refusal::NotFound | Refusal::Ended, _) => {
                self.cancelled(booking, Some(id), Cancelled::Gone)
            }
            (Command::CancelForGuest { booking, .. }, Refusal::WrongGuest, _) => {
                self.cancelled(booking, None, Cancelled::WrongGuest)
            }
            (Command::CancelForGuest { booking, .. }, Refusal::NotFound | Refusal::Ended, _) => {
                self.cancelled(booking, None, Cancelled::Gone)
            }
            (Command::Confirm { hold, id, .. }, _, Some(why)) => Operation::Confirm {
                reference: mark(hold),
                id: self.id(id),
                answer: Confirmed::Refused(why),
            },
            (Command::Extend { hold, ttl_ms }, _, Some(why)) => Operation::Extend {
                reference: mark(hold),
                ttl_ms: u64::from(ttl_ms),
                answer: Extended::Refused(why),
            },
            (Command::Release { hold }, _, Some(why)) => Operation::Release {
                reference: mark(hold),
                answer: Released::Refused(why),
            },
            _ => return Ok(()),
        };
        self.table.apply(position.0, &operation)
    }

    fn move_refused(
        &mut self,
        of: (Reference, GuestId),
        (wish, stay): (Wish, Stay),
        refusal: &Refusal,
    ) -> Result<Operation, String> {
        let (wish, answer) = match refusal {
            Refusal::SoldOut { nights } => {
                let property = self.property_of(of.0)?;
                if property.as_bytes() == OPEN && !matches!(wish, Wish::Room(_)) {
                    return Err(ALWAYS_ONE_MORE.to_owned());
                }
                let answer = Moved::SoldOut(bits(stay, *nights));
                (self.wanted(property, wish, stay, 0), answer)
            }
            Refusal::WrongGuest => (NO_WISH, Moved::WrongGuest),
            _ => (NO_WISH, Moved::Gone),
        };
        Ok(self.moved(of, wish, answer))
    }

    /// A cancellation with the id number that was given; nothing where a manager needed none.
    fn cancelled(
        &mut self,
        booking: Reference,
        id: Option<GuestId>,
        answer: Cancelled,
    ) -> Operation {
        Operation::Cancel {
            reference: mark(booking),
            id: id.map(|id| self.id(id)),
            answer,
        }
    }

    fn moved(
        &mut self,
        (booking, id): (Reference, GuestId),
        wish: Wanted,
        answer: Moved,
    ) -> Operation {
        Operation::Move {
            reference: mark(booking),
            id: self.id(id),
            wish,
            answer,
        }
    }

    /// The property in which a booking is.
    fn property_of(&self, booking: Reference) -> Result<Name, String> {
        let place = self.table.place_of(mark(booking));
        let has = |number: u32| place.is_some_and(|place| place.room == number);
        let mut rooms = self.rooms.iter();
        let ((property, _), _) = rooms
            .find(|&(_, &number)| has(number))
            .ok_or_else(|| format!("{booking} was moved, but that was never booked"))?;
        Ok(Name::parse(property).expect("it is a name"))
    }

    /// The number of a room: those of a property are added one after the other, in their order.
    fn room(&mut self, property: Name, room: Name) -> u32 {
        let next = u32::try_from(self.rooms.len()).expect("the world is small");
        let key = (property.as_bytes().to_vec(), room.as_bytes().to_vec());
        *self.rooms.entry(key).or_insert(next)
    }

    /// The number of a room that an answer names without its property: that of the booking or hold,
    /// or else one that is none of its property's.
    fn room_of(&self, reference: Reference, room: Name) -> u32 {
        let has = self.table.place_of(mark(reference)).map(|place| place.room);
        let named = self.rooms.iter();
        let named = named.filter(|((_, name), _)| name == room.as_bytes());
        let numbers: Vec<u32> = named.map(|(_, number)| *number).collect();
        let own = has.filter(|has| numbers.contains(has));
        own.or_else(|| numbers.first().copied())
            .unwrap_or(ROOMS - 1)
    }

    /// The rooms that are wanted. In an open property any other name would do, too: there only what was
    /// given is known.
    fn wanted(&mut self, property: Name, wish: Wish, stay: Stay, given: u32) -> Wanted {
        let of_property = |((own, _), _): &(&NamedRoom, &u32)| own == property.as_bytes();
        let (first, rooms) = match wish {
            Wish::Room(room) => (self.room(property, room), 1),
            Wish::Type(_) | Wish::Any if property.as_bytes() == OPEN => (given, 1),
            Wish::Type(_) | Wish::Any => {
                let own = self.rooms.iter().filter(of_property);
                let own: Vec<u32> = own.map(|(_, number)| *number).collect();
                let first = own.iter().min().copied().unwrap_or(0);
                (first, u32::try_from(own.len()).expect("the world is small"))
            }
        };
        let place = place(first, stay);
        Wanted {
            first,
            rooms,
            night: place.night,
            nights: place.nights,
        }
    }

    fn id(&mut self, id: GuestId) -> u64 {
        let next = u64::try_from(self.ids.len()).expect("guests are few");
        *self.ids.entry(id).or_insert(next)
    }
}

fn mark(reference: Reference) -> Mark {
    Mark::parse(reference.to_string().as_bytes()).expect("a reference is short")
}

fn place(room: u32, stay: Stay) -> Place {
    let (arrival, departure) = (stay.arrival().days(), stay.departure().days());
    Place {
        room,
        night: arrival - FIRST_NIGHT,
        nights: departure - arrival,
    }
}

/// All nights of a room.
const fn whole(room: u32) -> Place {
    Place {
        room,
        night: 0,
        nights: NIGHTS,
    }
}

/// Bit k: the k-th night of the stay; a bit behind them where another is among the nights.
fn bits(stay: Stay, nights: Nights) -> u64 {
    let outside = 1 << (stay.departure().days() - stay.arrival().days());
    let bit = |night| {
        let at = stay.iter().position(|own| own == night);
        at.map_or(outside, |at| 1 << at)
    };
    nights.iter().map(bit).fold(0, |bits, bit| bits | bit)
}

#[cfg(test)]
mod tests;
