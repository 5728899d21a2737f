//! Shows, their sections, and who has which seat.

use turnstile_types::{Name, Timestamp};

use crate::{BookingNumber, Choice, Refusal, SeatNumber, SeatNumbers};

/// One show.
#[derive(Debug)]
pub(crate) struct HallShow {
    pub(crate) name: Name,
    pub(crate) begins: Timestamp,
    pub(crate) is_closed: bool,
    /// In the order in which they were added.
    pub(crate) sections: Vec<SeatSection>,
}

impl HallShow {
    pub(crate) fn section(&self, name: &Name) -> Result<usize, Refusal> {
        let found = self
            .sections
            .iter()
            .position(|section| section.name == *name);
        found.ok_or(Refusal::UnknownSection)
    }

    pub(crate) fn seats(&self) -> u32 {
        self.sections.iter().map(SeatSection::seats).sum()
    }

    pub(crate) fn free(&self) -> u32 {
        self.sections.iter().map(|section| section.free).sum()
    }

    /// Only before it begins.
    pub(crate) fn before_it_begins(&self, now: Timestamp) -> Result<(), Refusal> {
        if now < self.begins {
            return Ok(());
        }
        let begins = self.begins;
        Err(Refusal::Begun { begins })
    }

    /// Only while its seats are sold.
    pub(crate) fn on_sale(&self, now: Timestamp) -> Result<(), Refusal> {
        self.before_it_begins(now)?;
        if self.is_closed {
            return Err(Refusal::SaleClosed);
        }
        Ok(())
    }
}

/// Who has a seat.
pub(crate) type SeatOwner = Option<BookingNumber>;

/// Rows with as many seats each. The owners of its seats are the truth; the numbers of free seats are
/// derived from them.
#[derive(Debug)]
pub(crate) struct SeatSection {
    pub(crate) name: Name,
    pub(crate) rows: u16,
    pub(crate) row_seats: u16,
    /// Row by row; zero for a free seat, because bookings are counted from 1.
    owners: Vec<u64>,
    /// Free seats of each row.
    row_free: Vec<u16>,
    pub(crate) free: u32,
}

impl SeatSection {
    /// A section of which every seat is free.
    pub(crate) fn new(name: Name, rows: u16, row_seats: u16) -> Self {
        let mut section = Self {
            name,
            rows,
            row_seats,
            owners: Vec::new(),
            row_free: vec![row_seats; usize::from(rows)],
            free: 0,
        };
        section.free = section.seats();
        section.owners = vec![0; section.seats() as usize];
        section
    }

    pub(crate) fn seats(&self) -> u32 {
        u32::from(self.rows) * u32::from(self.row_seats)
    }

    /// The owners of its seats, row by row, with the numbers of free seats.
    pub(crate) fn each_row(&self) -> impl Iterator<Item = (u16, u16, &[u64])> {
        let rows = self.owners.chunks_exact(usize::from(self.row_seats));
        let rows = (1..).zip(&self.row_free).zip(rows);
        rows.map(|((row, &free), owners)| (row, free, owners))
    }

    /// The place of a seat among the owners. That of a row which is not there lies behind them all.
    fn place(&self, seat: SeatNumber) -> Option<usize> {
        let row = seat.row.checked_sub(1)?;
        let number = seat.number.checked_sub(1);
        let number = number.filter(|number| *number < self.row_seats)?;
        Some(usize::from(row) * usize::from(self.row_seats) + usize::from(number))
    }

    /// The seat at a place among the owners, from 0 row by row, and who has it.
    pub(crate) fn at(&self, place: usize) -> Option<(SeatNumber, SeatOwner)> {
        let owner = *self.owners.get(place)?;
        let row_seats = usize::from(self.row_seats);
        let number = |zero_based: usize| u16::try_from(zero_based + 1).ok();
        let seat = SeatNumber {
            row: number(place / row_seats)?,
            number: number(place % row_seats)?,
        };
        Some((seat, owner_of(owner)))
    }

    pub(crate) fn owner(&self, seat: SeatNumber) -> Result<SeatOwner, Refusal> {
        let place = self.place(seat).and_then(|place| self.owners.get(place));
        let owner = place.ok_or(Refusal::UnknownSeat { seat })?;
        Ok(owner_of(*owner))
    }

    /// The seats that somebody who wants these gets: all free.
    pub(crate) fn choose(&self, choice: Choice) -> Result<SeatNumbers, Refusal> {
        match choice {
            Choice::Named(seats) => self.named(seats),
            Choice::Best(count) => self.best(count.get()),
        }
    }

    fn named(&self, seats: SeatNumbers) -> Result<SeatNumbers, Refusal> {
        let mut taken = Vec::new();
        for seat in seats.iter() {
            if self.owner(seat)?.is_some() {
                taken.push(seat);
            }
        }
        match SeatNumbers::new(taken) {
            Ok(seats) => Err(Refusal::Taken { seats }),
            Err(_none) => Ok(seats),
        }
    }

    /// Of the foremost row that has as many adjacent free seats those nearest to its middle; of two that
    /// are as near, the ones with the lower numbers.
    fn best(&self, count: u16) -> Result<SeatNumbers, Refusal> {
        for (row, free, owners) in self.each_row() {
            if free < count {
                continue;
            }
            if let Some(first) = nearest_to_middle(owners, count) {
                let seats = (first..first + count).map(|number| SeatNumber { row, number });
                return Ok(SeatNumbers::new(seats).expect("a booking may have so many seats"));
            }
        }
        Err(Refusal::NotAdjacent { free: self.free })
    }

    /// Gives seats that are free to a booking.
    pub(crate) fn take(&mut self, seats: &SeatNumbers, booking: BookingNumber) {
        for seat in seats.iter() {
            let before = self.change(seat, booking.0);
            assert!(before == 0, "only a free seat is sold");
        }
        self.free -= seats.len();
    }

    /// Takes its seats from a booking.
    pub(crate) fn vacate(&mut self, seats: &SeatNumbers, booking: BookingNumber) {
        for seat in seats.iter() {
            let before = self.change(seat, 0);
            assert!(before == booking.0, "a booking has its seats");
        }
        self.free += seats.len();
    }

    /// Gives a seat to another owner, and returns the one before.
    fn change(&mut self, seat: SeatNumber, owner: u64) -> u64 {
        let place = self.place(seat).expect("a seat that was looked up");
        let kept = self.owners.get_mut(place).expect("a place in the section");
        let before = std::mem::replace(kept, owner);
        let row = usize::from(seat.row - 1);
        let free = self.row_free.get_mut(row).expect("a row of the section");
        if owner == 0 {
            *free += 1;
        } else {
            *free -= 1;
        }
        before
    }
}

fn owner_of(number: u64) -> SeatOwner {
    (number != 0).then_some(BookingNumber(number))
}

/// The number of the first of `count` adjacent free seats, those nearest to the middle of the row.
fn nearest_to_middle(owners: &[u64], count: u16) -> Option<u16> {
    let (mut free, mut best) = (0, None);
    for (number, owner) in (1_u16..).zip(owners) {
        free = if *owner == 0 { free + 1 } else { 0 };
        if free < count {
            continue;
        }
        let first = number + 1 - count;
        // Twice the distance of both middles: those may lie between two seats.
        let middle = usize::from(first) + usize::from(number);
        let distance = middle.abs_diff(owners.len() + 1);
        if best.is_none_or(|(nearest, _)| distance < nearest) {
            best = Some((distance, first));
        }
    }
    best.map(|(_, first)| first)
}

/// The most free seats next to each other.
pub(crate) fn longest_free(owners: &[u64]) -> u16 {
    let (mut free, mut longest) = (0, 0);
    for owner in owners {
        free = if *owner == 0 { free + 1 } else { 0 };
        longest = longest.max(free);
    }
    longest
}
