//! Loading what commands will touch while they still wait.

use std::{collections::VecDeque, hint::black_box};

use turnstile_types::{Name, Night};

use crate::{Command, Rooms, Wish, ledger::State};

/// Commands that are loaded for together: enough that memory answers many questions at once, few
/// enough that the first ones are still in the cache when the last one is decided.
const GROUP: usize = 16;

/// Commands that are remembered; further ones are decided without preparation.
const EXPECTED_MAX: usize = 1_024;

/// Commands that were announced and wait to be decided.
///
/// A booking needs a chain of cache lines (table, room, calendar, shelf), and with millions of
/// bookings each is a wait for memory. The chains of a group of commands are walked side by side,
/// one link at a time for all of them, so that the waits overlap. Reading early is all that it
/// does: the values read are thrown away.
#[derive(Debug)]
pub(crate) struct Warming {
    expected: VecDeque<Expected>,
    /// How many of the commands to come have been loaded for.
    warm: usize,
}

/// What is known of a command before anything is loaded.
#[derive(Clone, Copy, Debug)]
enum Expected {
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

impl Warming {
    pub(crate) fn new() -> Self {
        Self {
            expected: VecDeque::with_capacity(EXPECTED_MAX),
            warm: 0,
        }
    }
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
            } => Some(Expected::Entry {
                slot: reference.slot,
            }),
            Command::AddProperty { .. }
            | Command::AddRoom { .. }
            | Command::WithdrawRoom { .. }
            | Command::StopSell { .. }
            | Command::Book { .. }
            | Command::Hold { .. } => None,
        };
        let mut warming = self.warming.borrow_mut();
        if warming.expected.len() < EXPECTED_MAX {
            warming.expected.extend(expected);
        }
    }

    fn expected_booking(
        &self,
        (property, room): (&Name, &Name),
        night: Night,
        seal: u64,
    ) -> Option<Expected> {
        let hash = self.directory.hash_of_room(property, room)?;
        Some(Expected::Booking { hash, night, seal })
    }

    /// Loads for the next commands, when the ones that it was done for are decided.
    pub(crate) fn warm(&mut self) {
        let warming = self.warming.get_mut();
        if warming.warm > 0 {
            warming.warm -= 1;
            return;
        }
        if warming.expected.is_empty() {
            return;
        }
        let count = warming.expected.len().min(GROUP);
        let mut group = [None; GROUP];
        for (place, expected) in group.iter_mut().zip(warming.expected.drain(..count)) {
            *place = Some(expected);
        }
        warming.warm = count - 1;
        self.walk(&group);
    }

    /// Walks the chains of a group, one link at a time for all.
    fn walk(&self, group: &[Option<Expected>; GROUP]) {
        let rooms = &self.directory;
        let mut touched = 0;
        for &expected in group.iter().flatten() {
            touched ^= match expected {
                Expected::Booking { hash, seal, .. } => {
                    rooms.touch_name(hash) ^ self.guests.touch(seal)
                }
                Expected::Entry { slot } => self.ledger.get(slot).map_or(0, |at| at.position.0),
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
    fn spot(&self, expected: Expected, touched: &mut u64) -> Option<Spot> {
        match expected {
            Expected::Booking { hash, night, .. } => {
                let room = self.directory.guess_room(hash)?;
                Some(Spot { room, night })
            }
            Expected::Entry { slot } => {
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
