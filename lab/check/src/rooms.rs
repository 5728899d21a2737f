//! Rooms in their plainest form: a table of rooms and nights, and who has each.

mod holds;
mod last;
mod moves;
mod pick;
#[cfg(test)]
mod tests;
mod words;

use std::collections::HashMap;

use crate::Model;

use holds::{Hold, RoomsClock};
pub use last::{Account, Final};
pub use words::{
    Booked, Cancelled, Confirmed, Extended, Held, InlineReference, Moved, NoHold, NoReference,
    Operation, Picked, Place, Released, Wish,
};

/// How many references that ended are remembered, to notice one that is given again.
const ENDED_MAX: usize = 1 << 20;

/// The table, replayed.
///
/// Bounded: by the cells of the table, the operations of unknown outcome, and 1,048,576 references
/// that have ended. What is unknown widens what may be answered: a booking that may have been made
/// *shades* its cells, one that may have been cancelled is *fading*. Whatever proves that it was
/// carried out settles it. Where several could explain an answer, none is settled: a violation may
/// go unnoticed then, but none is invented.
#[derive(Clone, Debug)]
pub struct Table {
    nights: u16,
    cells: Vec<Option<CellHolder>>,
    bookings: HashMap<InlineReference, Booking>,
    /// Those that are over by the clock, too: they may be confirmed late.
    holds: HashMap<InlineReference, Hold>,
    clock: RoomsClock,
    /// Whether some holds are not remembered.
    forgot_holds: bool,
    /// When each reference ended, by its position.
    ended: HashMap<InlineReference, u64>,
    /// Bookings that may have been made.
    shades: Vec<Shade>,
    /// Cells that are not in sale: free, and given to nobody.
    stopped: Vec<bool>,
    booked: u64,
    cancelled: u64,
}

/// Who has a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CellHolder {
    Booking(InlineReference),
    /// A hold, whose time may be over.
    Hold(InlineReference),
    /// A booking that was made without an answer: by its number among the shades.
    Shade(usize),
}

#[derive(Clone, Copy, Debug)]
struct Booking {
    place: Place,
    id: u64,
    position: u64,
    fading: bool,
}

#[derive(Clone, Copy, Debug)]
struct Shade {
    wish: Wish,
    /// A hold, which ends by itself.
    holds: bool,
    /// It was made, and for this: something proved it.
    settled: Option<Place>,
}

impl Table {
    /// An empty table.
    #[must_use]
    pub fn new(rooms: u32, nights: u16) -> Self {
        Self {
            nights,
            cells: vec![None; rooms as usize * usize::from(nights)],
            bookings: HashMap::new(),
            holds: HashMap::new(),
            clock: RoomsClock::default(),
            forgot_holds: false,
            ended: HashMap::new(),
            shades: Vec::new(),
            stopped: vec![false; rooms as usize * usize::from(nights)],
            booked: 0,
            cancelled: 0,
        }
    }

    /// The same for a server whose records may each be earlier than one before by so much.
    #[must_use]
    pub const fn with_slack(mut self, slack_ms: u64) -> Self {
        self.clock.slack_ms = slack_ms;
        self
    }

    /// Whether it lies in the table.
    #[must_use]
    pub fn has(&self, place: Place) -> bool {
        let rooms = self.cells.len() / usize::from(self.nights.max(1));
        let end = place.night.checked_add(place.nights);
        (place.room as usize) < rooms
            && place.nights > 0
            && end.is_some_and(|end| end <= self.nights)
    }

    fn index(&self, room: u32, night: u16) -> usize {
        room as usize * usize::from(self.nights) + usize::from(night)
    }

    fn holder(&self, room: u32, night: u16) -> Option<CellHolder> {
        match self.cells[self.index(room, night)] {
            Some(CellHolder::Hold(reference)) => {
                let hold = self.holds.get(&reference);
                let stands = hold.is_some_and(|hold| hold.may_stand(&self.clock));
                stands.then_some(CellHolder::Hold(reference))
            }
            holder => holder,
        }
    }

    fn fill(&mut self, place: Place, holder: Option<CellHolder>) {
        for night in place.each() {
            let cell = self.index(place.room, night);
            self.cells[cell] = holder;
        }
    }

    /// Whether somebody has the cell for certain.
    fn is_taken(&self, room: u32, night: u16) -> bool {
        match self.holder(room, night) {
            // The time of a hold may have come without being told.
            None | Some(CellHolder::Hold(_)) => false,
            Some(CellHolder::Shade(_)) => true,
            Some(CellHolder::Booking(reference)) => !self.is_fading(reference),
        }
    }

    fn is_fading(&self, reference: InlineReference) -> bool {
        self.bookings
            .get(&reference)
            .is_some_and(|booking| booking.fading)
    }

    /// The shades that may have been made and cover this cell: nobody else has any of theirs.
    fn shades_over(&self, room: u32, night: u16) -> impl Iterator<Item = usize> {
        let possible = move |shade: &Shade| {
            let place = shade.wish.at(room);
            shade.settled.is_none()
                && shade.wish.covers(room, night)
                && !place.each().any(|one| self.is_taken(room, one))
        };
        (0..self.shades.len()).filter(move |&number| possible(&self.shades[number]))
    }

    /// Something that may have been made.
    fn shade(&mut self, wish: Wish, holds: bool) {
        self.shades.push(Shade {
            wish,
            holds,
            settled: None,
        });
    }

    /// Who has a cell, in words.
    fn told_of(&self, room: u32, night: u16) -> String {
        match self.holder(room, night) {
            None => "is free".to_owned(),
            Some(CellHolder::Shade(_)) => "was booked by a request without an answer".to_owned(),
            Some(CellHolder::Hold(reference)) => format!("is held as {reference}"),
            Some(CellHolder::Booking(reference)) => {
                let since = self.bookings.get(&reference);
                let since = since.map_or(0, |booking| booking.position);
                format!("was booked as {reference} at position {since}")
            }
        }
    }

    /// A booking ends, by a cancellation with or without an answer.
    fn end(&mut self, reference: InlineReference, position: u64) {
        let Some(booking) = self.bookings.remove(&reference) else {
            return;
        };
        for night in booking.place.each() {
            let cell = self.index(booking.place.room, night);
            if self.cells[cell] == Some(CellHolder::Booking(reference)) {
                self.cells[cell] = None;
            }
        }
        self.cancelled += 1;
        self.note_end(reference, position);
    }

    /// Remembers that a reference is given to nobody any more.
    fn note_end(&mut self, reference: InlineReference, position: u64) {
        if self.ended.len() >= ENDED_MAX {
            // The older half is forgotten.
            let mut ends: Vec<u64> = self.ended.values().copied().collect();
            let (_, middle, _) = ends.select_nth_unstable(ENDED_MAX / 2);
            let middle = *middle;
            self.ended.retain(|_reference, end| *end > middle);
        }
        self.ended.insert(reference, position);
    }

    /// Makes room in a cell that is known to be free, where a fading booking or a hold was.
    fn clear_fading(&mut self, room: u32, night: u16, position: u64) {
        match self.holder(room, night) {
            Some(CellHolder::Booking(reference)) if self.is_fading(reference) => {
                self.end(reference, position);
            }
            Some(CellHolder::Hold(_)) => self.clear_hold(room, night, position),
            _ => {}
        }
    }

    fn was_given(&self, reference: InlineReference) -> bool {
        self.bookings.contains_key(&reference)
            || self.ended.contains_key(&reference)
            || self.holds.contains_key(&reference)
    }

    /// Somebody gets a place: nobody may have it.
    fn make_free(&mut self, position: u64, place: Place, got: &str) -> Result<(), String> {
        for night in place.each() {
            self.clear_fading(place.room, night, position);
        }
        match place.each().find(|&night| self.is_taken(place.room, night)) {
            None => Ok(()),
            Some(night) => {
                let told = self.told_of(place.room, night);
                Err(format!(
                    "{place} was {got}, but night {night} {told}: it is sold twice"
                ))
            }
        }
    }

    fn book(
        &mut self,
        position: u64,
        place: Place,
        id: u64,
        reference: InlineReference,
    ) -> Result<(), String> {
        let again = self.was_given(reference);
        let free = self.make_free(position, place, &format!("booked as {reference}"));
        self.booked += 1;
        self.fill(place, Some(CellHolder::Booking(reference)));
        self.bookings.insert(
            reference,
            Booking {
                place,
                id,
                position,
                fading: false,
            },
        );
        free?;
        if again {
            return Err(format!("{reference} for {place} was given before"));
        }
        Ok(())
    }

    fn sold_out(&mut self, position: u64, place: Place, nights: u64) -> Result<(), String> {
        if nights == 0 || nights >> place.nights != 0 {
            return Err(format!("{place} was refused as sold out for other nights"));
        }
        for (bit, night) in place.each().enumerate() {
            let said = nights >> bit & 1 == 1;
            let (room, taken) = (place.room, self.is_taken(place.room, night));
            if !said && taken {
                let told = self.told_of(room, night);
                return Err(format!(
                    "{place} was refused, but night {night} is not among the nights that are sold, \
                     and {told}"
                ));
            }
            if !said {
                self.clear_fading(room, night, position);
            } else if self.holder(room, night).is_none() {
                let mut shades = self.shades_over(room, night);
                match (shades.next(), shades.next()) {
                    (None, _) => {
                        drop(shades);
                        return Err(format!(
                            "{place} was refused as sold out for night {night}, which is free"
                        ));
                    }
                    (Some(_), Some(_)) => {}
                    (Some(only), None) if self.shades[only].holds => {}
                    (Some(only), None) => {
                        drop(shades);
                        self.settle(only, room, position);
                    }
                }
            }
        }
        Ok(())
    }

    /// A booking without an answer was made.
    fn settle(&mut self, shade: usize, room: u32, position: u64) {
        let place = self.shades[shade].wish.at(room);
        for night in place.each() {
            self.clear_fading(place.room, night, position);
        }
        self.shades[shade].settled = Some(place);
        self.fill(place, Some(CellHolder::Shade(shade)));
        self.booked += 1;
    }
}

impl Model for Table {
    type Operation = Operation;

    fn apply(&mut self, position: u64, operation: &Operation) -> Result<(), String> {
        match *operation {
            Operation::Book { place, id, answer } => match answer {
                Booked::Done(reference) => self.book(position, place, id, reference),
                Booked::SoldOut(nights) => self.sold_out(position, place, nights),
                Booked::Unknown => Err(format!("{place} has no answer, but a position")),
                Booked::Strange => Err(format!("{place} was refused for no reason")),
            },
            Operation::Cancel {
                reference,
                id,
                answer,
            } => self.cancel(position, ("cancellation", reference, id), answer),
            Operation::Hold {
                place,
                ttl_ms,
                answer,
            } => self.hold(position, (place, ttl_ms), answer),
            Operation::Extend {
                reference,
                ttl_ms,
                answer,
            } => self.extend(position, (reference, ttl_ms), answer),
            Operation::Confirm {
                reference,
                id,
                answer,
            } => self.confirm(position, (reference, id), answer),
            Operation::Release { reference, answer } => self.release(position, reference, answer),
            Operation::Pick { wish, answer } => self.pick(position, wish, answer),
            Operation::Move {
                reference,
                id,
                wish,
                answer,
            } => self.moves(position, (reference, id), wish, answer),
            Operation::Look { place, .. } => Err(format!("a look at {place} has a position")),
        }
    }

    fn agrees(&self, reading: &Operation) -> bool {
        let Operation::Look { place, found } = *reading else {
            return false;
        };
        let (room, night) = (place.room, place.night);
        match (found, self.holder(room, night)) {
            (None, Some(CellHolder::Hold(reference))) => self.holds[&reference].until.is_none(),
            (None, _) => !self.is_taken(room, night),
            (Some((reference, found)), Some(CellHolder::Hold(holder))) if reference == holder => {
                self.holds[&reference].place == found
            }
            (Some((_, found)), Some(CellHolder::Shade(shade))) => {
                self.shades[shade].settled == Some(found)
            }
            (Some((reference, found)), Some(CellHolder::Booking(holder)))
                if reference == holder =>
            {
                let booking = self.bookings.get(&reference);
                booking.is_some_and(|booking| booking.place == found)
            }
            (Some((reference, found)), _) => {
                let unknown =
                    !self.bookings.contains_key(&reference) && !self.ended.contains_key(&reference);
                let mut shades = self.shades_over(room, night);
                unknown && shades.any(|shade| self.shades[shade].wish.allows(found))
            }
        }
    }

    fn shown(&self, reading: &Operation) -> String {
        let Operation::Look { place, .. } = *reading else {
            return "it is no reading".to_owned();
        };
        format!("{place} {}", self.told_of(place.room, place.night))
    }

    /// Its room; a booking that nobody knows has none.
    fn part(&self, operation: &Operation) -> Option<u32> {
        match *operation {
            Operation::Book { place, .. } | Operation::Look { place, .. } => Some(place.room),
            // It may tell that the time of others is over.
            Operation::Hold { .. } | Operation::Extend { .. } | Operation::Pick { .. } => None,
            // It has two.
            Operation::Move { .. } => None,
            Operation::Cancel { reference, .. }
            | Operation::Confirm { reference, .. }
            | Operation::Release { reference, .. } => {
                let booking = self.bookings.get(&reference).map(|booking| booking.place);
                let hold = || self.holds.get(&reference).map(|hold| hold.place);
                Some(booking.or_else(hold).map_or(u32::MAX, |place| place.room))
            }
        }
    }

    /// Who sees a night free that is held may have looked when the time of the hold was over.
    fn true_from(&self, reading: &Operation) -> Option<u64> {
        let Operation::Look { place, found: None } = *reading else {
            return None;
        };
        let Some(CellHolder::Hold(reference)) = self.holder(place.room, place.night) else {
            return None;
        };
        let until = self.holds[&reference].until?;
        Some(until.saturating_sub(self.clock.slack_ms))
    }

    fn time_of(&self, operation: &Operation) -> Option<u64> {
        operation.time()
    }

    fn suspect(&mut self, operation: &Operation) {
        match *operation {
            Operation::Book { place, .. } => self.shade(place.wish(), false),
            Operation::Hold { place, .. } => self.shade(place.wish(), true),
            Operation::Pick { wish, answer } => {
                self.shade(wish, answer == Picked::Unknown { holds: true });
            }
            Operation::Extend { reference, .. } | Operation::Release { reference, .. } => {
                self.doubt_hold(reference);
            }
            Operation::Confirm { reference, .. } => {
                if let Some(place) = self.doubt_confirmation(reference) {
                    self.shade(place.wish(), false);
                }
            }
            Operation::Cancel { reference, .. } => {
                if let Some(booking) = self.bookings.get_mut(&reference) {
                    booking.fading = true;
                }
            }
            Operation::Look { .. } => {}
            Operation::Move { .. } => unreachable!("a move comes with its answer"),
        }
    }
}
