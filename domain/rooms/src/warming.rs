//! Loading what commands will touch while they still wait.

use std::hint::black_box;

use turnstile_chassis::GROUP;
use turnstile_types::{Name, Night};

use crate::{Command, Rooms, Wish, ledger::State};

/// What is known of a command before anything is loaded.
///
/// A booking needs a chain of cache lines (table, room, calendar, shelf), and with millions of
/// bookings each is a wait for memory. The chains of a group of commands are walked side by side,
/// one link at a time for all of them, so that the waits overlap. Reading early is all that it
/// does: the values read are thrown away.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Target {
    /// The hash of the room's name, the first night, and the guest's seal.
    Booking {
        hash: u64,
        night: Night,
        seal: u64,
    },
    Entry {
        slot: u32,
    },
}

/// A room and the first night of a stay there.
#[derive(Clone, Copy, Debug)]
struct Spot {
    room: u32,
    night: Night,
}

impl Rooms {
    /// Notes a command. Nothing is loaded yet: one load after the other would be waited for.
    pub(crate) fn expect_command(&self, command: &Command<'_>) {
        let expected = match command {
            Command::Book {
                property,
                wish: Wish::Room(room),
                stay,
                id,
                ..
            } => self.expected_booking((property, room), stay.arrival(), id.seal),
            Command::Hold {
                property,
                wish: Wish::Room(room),
                stay,
                ..
            } => self.expected_booking((property, room), stay.arrival(), 0),
            Command::Extend {
                hold: reference, ..
            }
            | Command::Confirm {
                hold: reference, ..
            }
            | Command::Release { hold: reference }
            | Command::Cancel {
                booking: reference, ..
            } => Some(Target::Entry {
                slot: reference.slot,
            }),
            Command::AddProperty { .. }
            | Command::AddRoom { .. }
            | Command::WithdrawRoom { .. }
            | Command::StopSell { .. }
            | Command::Book { .. }
            | Command::Hold { .. } => None,
        };
        self.expected.borrow_mut().note(expected);
    }

    fn expected_booking(
        &self,
        (property, room): (&Name, &Name),
        night: Night,
        seal: u64,
    ) -> Option<Target> {
        let hash = self.directory.hash_of_room(property, room)?;
        Some(Target::Booking { hash, night, seal })
    }

    /// Loads for the next commands, when the ones that it was done for are decided.
    pub(crate) fn warm(&mut self) {
        let expected = self.expected.get_mut();
        if expected.is_due() {
            let group = expected.take_group();
            self.walk(&group);
        }
    }

    /// Walks the chains of a group, one link at a time for all.
    fn walk(&self, group: &[Option<Target>; GROUP]) {
        let rooms = &self.directory;
        let mut touched = 0;
        for &expected in group.iter().flatten() {
            touched ^= match expected {
                Target::Booking { hash, seal, .. } => {
                    rooms.touch_name(hash) ^ self.guests.touch(seal)
                }
                Target::Entry { slot } => self.ledger.get(slot).map_or(0, |at| at.position.0),
            };
        }
        let mut spots = [None; GROUP];
        for (spot, expected) in spots.iter_mut().zip(group) {
            *spot = expected.and_then(|expected| self.spot(expected, &mut touched));
        }
        for spot in spots.iter().flatten() {
            touched ^= u64::from(rooms.room_at(spot.room).property);
        }
        for spot in spots.iter().flatten() {
            let room = rooms.room_at(spot.room);
            touched ^= self.calendar.touch_index(&room.nights) ^ rooms.shelves.touch(room.shelf);
        }
        for spot in spots.iter().flatten() {
            let room = rooms.room_at(spot.room);
            touched ^= self.calendar.touch(&room.nights, spot.night);
            touched ^= rooms.shelves.touch_index(room.shelf);
        }
        for spot in spots.iter().flatten() {
            let shelf = rooms.room_at(spot.room).shelf;
            touched ^= rooms.shelves.touch_night(shelf, spot.night);
        }
        black_box(touched);
    }

    /// Where a command leads, which is known once its table entry or its slot is there.
    fn spot(&self, expected: Target, touched: &mut u64) -> Option<Spot> {
        match expected {
            Target::Booking { hash, night, .. } => {
                let room = self.directory.guess_room(hash)?;
                Some(Spot { room, night })
            }
            Target::Entry { slot } => {
                let entry = self.ledger.get(slot)?;
                if let State::Booked(guest) = entry.state {
                    *touched ^= self.guests.touch(guest.seal);
                }
                Some(Spot {
                    room: entry.room,
                    night: entry.stay.arrival(),
                })
            }
        }
    }
}
