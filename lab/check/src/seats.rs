//! The seats of one show in their plainest form: bits for each row, and who has which of them.
//!
//! What is known of the server's clock: a hold tells when its time is over, and so the time of its own
//! record. Whatever shows that a hold is over *claims* that its time has come; when a later record tells an
//! earlier time, the hold has ended too early. A hold whose time has come stands in nobody's way.

#[cfg(test)]
mod tests;
mod words;

use std::collections::{BTreeSet, HashMap};

use crate::Model;

pub use words::{
    MAP_ROWS, SeatBlock, SeatHolder, SeatWish, ShowAnswer, ShowOperation, ShowRequest, SoldEntry,
};

/// The show, replayed.
///
/// Bounded: by the seats and the bookings and holds that stand. An operation of unknown outcome *clouds*
/// it: seats that somebody may have change what all later requests get, so from then on nothing is
/// compared any more. Users ask under keys for that reason, and ask again what was not answered.
#[derive(Debug)]
pub struct ShowModel {
    /// The taken seats of each row, by section.
    taken: Vec<[u64; MAP_ROWS]>,
    row_seats: u32,
    sold: HashMap<u64, SoldSeats>,
    /// What is held, by the end of its time.
    holds: BTreeSet<(u64, u64)>,
    clock: SeatsClock,
    /// The number that was given last.
    last: u64,
    closed: bool,
    booked: u64,
    cancelled: u64,
    clouded: bool,
}

/// A booking or hold that stands.
#[derive(Clone, Copy, Debug)]
struct SoldSeats {
    entry: SoldEntry,
    /// Since when.
    position: u64,
}

/// What is known of the server's clock at the position that was replayed last.
#[derive(Clone, Copy, Debug, Default)]
struct SeatsClock {
    /// It is not earlier, in milliseconds.
    now: u64,
    /// Who claims that: a hold that was over, at this position.
    claimed: Option<(u64, u64)>,
}

impl ShowModel {
    /// Sections of [`MAP_ROWS`] rows with so many seats each, all of them free.
    #[must_use]
    pub fn new(sections: u16, row_seats: u32) -> Self {
        Self {
            taken: vec![[0; MAP_ROWS]; usize::from(sections)],
            row_seats,
            sold: HashMap::new(),
            holds: BTreeSet::new(),
            clock: SeatsClock::default(),
            last: 0,
            closed: false,
            booked: 0,
            cancelled: 0,
            clouded: false,
        }
    }

    /// Whether there was an operation of unknown outcome.
    #[must_use]
    pub const fn is_clouded(&self) -> bool {
        self.clouded
    }

    /// How many bookings were made, confirmed holds among them.
    #[must_use]
    pub const fn booked(&self) -> u64 {
        self.booked
    }

    /// How many bookings were cancelled.
    #[must_use]
    pub const fn cancelled(&self) -> u64 {
        self.cancelled
    }

    /// What stands, with its number.
    pub fn standing(&self) -> impl Iterator<Item = (u64, SoldEntry)> + '_ {
        self.sold.iter().map(|(number, sold)| (*number, sold.entry))
    }

    /// When the time of the last hold is over, in milliseconds of the server.
    #[must_use]
    pub fn last_end(&self) -> Option<u64> {
        self.holds.last().map(|(until, _)| *until)
    }

    /// Free seats of a section, and the most of them next to each other in one row.
    #[must_use]
    pub fn free(&self, section: u16) -> (u32, u32) {
        let rows = self.rows_at(section, self.clock.now);
        let runs = rows.iter().map(|row| self.longest_free(*row));
        (self.count_free(&rows), runs.max().unwrap_or(0))
    }

    /// The server's clock says this at a position.
    ///
    /// # Errors
    /// It was later already, or a hold was over too early.
    pub fn tell_time(&mut self, position: u64, now: u64) -> Result<(), String> {
        let (was, claimed) = (self.clock.now, self.clock.claimed);
        if now == was {
            return Ok(());
        }
        self.clock = SeatsClock { now, claimed: None };
        self.end_holds();
        match claimed {
            _ if now > was => Ok(()),
            None => Err(format!(
                "position {position} is of the time {now}, after {was}"
            )),
            Some((hold, over)) => Err(format!(
                "hold {hold} until {was} was over at position {over}, but at position {position} it \
                 was only {now}: it ended too early"
            )),
        }
    }

    /// Takes away the holds whose time has come.
    fn end_holds(&mut self) {
        while let Some(&(until, number)) = self.holds.first()
            && until <= self.clock.now
        {
            self.end(number);
        }
    }

    fn end(&mut self, number: u64) {
        let Some(SoldSeats { entry, .. }) = self.sold.remove(&number) else {
            return;
        };
        if let SeatHolder::Until(until) = entry.holder {
            self.holds.remove(&(until, number));
        }
        if let Some(row) = self.row(entry.seats) {
            *row &= !entry.seats.bits;
        }
    }

    fn give(&mut self, position: u64, number: u64, entry: SoldEntry) {
        self.end(number);
        if let SeatHolder::Until(until) = entry.holder {
            self.holds.insert((until, number));
        }
        if let Some(row) = self.row(entry.seats) {
            *row |= entry.seats.bits;
        }
        self.sold.insert(number, SoldSeats { entry, position });
        self.last = self.last.max(number);
    }

    fn row(&mut self, seats: SeatBlock) -> Option<&mut u64> {
        let rows = self.taken.get_mut(usize::from(seats.section))?;
        rows.get_mut(usize::from(seats.row))
    }

    /// The taken seats of a section at this time, or later than that of the last record.
    fn rows_at(&self, section: u16, time: u64) -> [u64; MAP_ROWS] {
        let rows = self.taken.get(usize::from(section)).copied();
        let mut rows = rows.unwrap_or([u64::MAX; MAP_ROWS]);
        for (_, number) in self.holds.range(..=(time, u64::MAX)) {
            let seats = self.sold[number].entry.seats;
            if seats.section == section
                && let Some(row) = rows.get_mut(usize::from(seats.row))
            {
                *row &= !seats.bits;
            }
        }
        rows
    }

    /// What stands under a number at this time.
    fn find(&self, number: u64, time: u64) -> Option<SoldEntry> {
        let entry = self.sold.get(&number)?.entry;
        let is_over = matches!(entry.holder, SeatHolder::Until(until) if until <= time);
        (!is_over).then_some(entry)
    }

    /// The later times at which something else may be answered: those at which a hold is over.
    fn later(&self) -> impl Iterator<Item = u64> + '_ {
        let ends = self.holds.range((self.clock.now + 1, 0)..);
        ends.map(|(until, _)| *until)
    }

    /// How this must have been answered at this time. Numbers of new bookings, and times, are those that
    /// were told.
    fn expected(&self, operation: &ShowOperation, time: u64) -> ShowAnswer {
        match operation.ask {
            ShowRequest::Book { wish, .. } => self.choose(wish, time).map_or_else(
                |refused| refused,
                |seats| ShowAnswer::Booked {
                    number: match operation.answer {
                        ShowAnswer::Booked { number, .. } => number,
                        _ => self.last + 1,
                    },
                    seats,
                },
            ),
            ShowRequest::Hold { wish, ttl_ms } => self.choose(wish, time).map_or_else(
                |refused| refused,
                |seats| {
                    let (number, until) = match operation.answer {
                        ShowAnswer::Held { number, until, .. } => (number, until),
                        _ => (self.last + 1, time + ttl_ms),
                    };
                    ShowAnswer::Held {
                        number,
                        seats,
                        until,
                    }
                },
            ),
            ShowRequest::Confirm { number, .. } => match self.find(number, time) {
                Some(SoldEntry { seats, holder }) => match holder {
                    SeatHolder::Until(_) => ShowAnswer::Confirmed(seats),
                    SeatHolder::Buyer(_) => ShowAnswer::AlreadyConfirmed,
                },
                None => ShowAnswer::Ended,
            },
            ShowRequest::Release { number, .. } => match self.find(number, time) {
                Some(SoldEntry { holder, .. }) => match holder {
                    SeatHolder::Until(_) => ShowAnswer::Released,
                    SeatHolder::Buyer(_) => ShowAnswer::AlreadyConfirmed,
                },
                None => ShowAnswer::Ended,
            },
            ShowRequest::Cancel { number, buyer, .. } => match self.find(number, time) {
                Some(SoldEntry { seats, holder }) => match holder {
                    SeatHolder::Until(_) => ShowAnswer::NotConfirmed,
                    SeatHolder::Buyer(one) if one != buyer => ShowAnswer::WrongBuyer,
                    SeatHolder::Buyer(_) => ShowAnswer::Cancelled(seats),
                },
                None => ShowAnswer::Ended,
            },
            ShowRequest::Sale { closed } => ShowAnswer::Sale { closed },
            ShowRequest::Map { section } => ShowAnswer::Map(self.rows_at(section, time)),
            ShowRequest::LookUp { number, .. } => match self.find(number, time) {
                Some(entry) => ShowAnswer::Entry(entry),
                None => ShowAnswer::Ended,
            },
        }
    }

    /// The seats that somebody who wants these gets at this time, or the refusal.
    fn choose(&self, wish: SeatWish, time: u64) -> Result<SeatBlock, ShowAnswer> {
        if self.closed {
            return Err(ShowAnswer::NotOnSale);
        }
        let section = wish.section();
        let rows = self.rows_at(section, time);
        match wish {
            SeatWish::Named(seats) => {
                let taken = rows.get(usize::from(seats.row)).copied();
                match seats.bits & taken.unwrap_or(u64::MAX) {
                    0 => Ok(seats),
                    bits => Err(ShowAnswer::Taken(SeatBlock { bits, ..seats })),
                }
            }
            SeatWish::Best { count, .. } => {
                let count = u32::from(count);
                let found = (0..).zip(rows).find_map(|(row, taken)| {
                    let first = self.nearest_to_middle(taken, count)?;
                    Some(SeatBlock::adjacent(section, row, first, count))
                });
                let free = self.count_free(&rows);
                found.ok_or(ShowAnswer::NotAdjacent { free })
            }
        }
    }

    /// The first of so many adjacent free seats, those whose middle is nearest to that of the row; of two
    /// that are as near, the ones with the lower numbers.
    fn nearest_to_middle(&self, taken: u64, count: u32) -> Option<u32> {
        let last = self.row_seats.checked_sub(count)?;
        let free = |first: &u32| SeatBlock::adjacent(0, 0, *first, count).bits & taken == 0;
        // Twice the distance of both middles: those may lie between two seats.
        let distance = |first: &u32| (2 * first + count).abs_diff(self.row_seats);
        (0..=last).filter(free).min_by_key(distance)
    }

    fn longest_free(&self, taken: u64) -> u32 {
        let mut lengths = (1..=self.row_seats).rev();
        lengths
            .find(|count| self.nearest_to_middle(taken, *count).is_some())
            .unwrap_or(0)
    }

    fn count_free(&self, rows: &[u64; MAP_ROWS]) -> u32 {
        rows.iter()
            .map(|taken| self.row_seats - taken.count_ones())
            .sum()
    }

    /// Whether an answer is right as things are, or as they are when the time of some holds is over.
    fn fits(&mut self, position: u64, operation: &ShowOperation) -> bool {
        let right = |time| self.expected(operation, time) == operation.answer;
        if right(self.clock.now) {
            return true;
        }
        // The record of a new hold has told its time, and all other holds stand.
        let tells_time = self.time_of(operation).is_some();
        let Some(now) = self.later().find(|time| !tells_time && right(*time)) else {
            return false;
        };
        let hold = self
            .holds
            .range((now, 0)..)
            .next()
            .map(|(_, number)| *number);
        self.clock = SeatsClock {
            now,
            claimed: hold.map(|hold| (hold, position)),
        };
        self.end_holds();
        true
    }

    /// Does what was told, be it right or wrong.
    fn make(&mut self, position: u64, operation: &ShowOperation) {
        let entry = |seats, holder| SoldEntry { seats, holder };
        match (operation.ask, operation.answer) {
            (ShowRequest::Book { buyer, .. }, ShowAnswer::Booked { number, seats }) => {
                self.booked += 1;
                self.give(position, number, entry(seats, SeatHolder::Buyer(buyer)));
            }
            (
                ShowRequest::Hold { .. },
                ShowAnswer::Held {
                    number,
                    seats,
                    until,
                },
            ) => self.give(position, number, entry(seats, SeatHolder::Until(until))),
            (ShowRequest::Confirm { number, buyer, .. }, ShowAnswer::Confirmed(seats)) => {
                self.booked += 1;
                self.give(position, number, entry(seats, SeatHolder::Buyer(buyer)));
            }
            (ShowRequest::Cancel { number, .. }, ShowAnswer::Cancelled(_)) => {
                self.cancelled += 1;
                self.end(number);
            }
            (ask, ShowAnswer::Released | ShowAnswer::Ended) => {
                if let Some(number) = ask.about() {
                    self.end(number);
                }
            }
            (ShowRequest::Sale { .. }, ShowAnswer::Sale { closed }) => self.closed = closed,
            _ => {}
        }
    }

    /// Why an answer is wrong.
    fn accuse(&self, operation: &ShowOperation) -> String {
        let ShowOperation { ask, answer } = operation;
        let right = self.expected(operation, self.clock.now);
        let twice = answer.sold().and_then(|seats| self.holder_of(seats, ask));
        let lost = ask.about().filter(|_number| *answer == ShowAnswer::Ended);
        let lost = lost.and_then(|number| self.sold.get(&number));
        let why = match (twice, lost) {
            (Some((number, SoldSeats { position, .. })), _) => {
                format!(": {number} has one of them since position {position}, so it is sold twice")
            }
            (None, Some(SoldSeats { position, .. })) => {
                format!(": it stands since position {position}, so it is lost")
            }
            (None, None) => String::new(),
        };
        format!("{ask:?} was answered {answer:?}, by the replay it is {right:?}{why}")
    }

    /// Who else has one of these seats.
    fn holder_of(&self, seats: SeatBlock, ask: &ShowRequest) -> Option<(u64, SoldSeats)> {
        let own = ask.about();
        let mut sold = self.sold.iter().map(|(number, sold)| (*number, *sold));
        sold.find(|(number, sold)| {
            let other = sold.entry.seats;
            let same_row = (other.section, other.row) == (seats.section, seats.row);
            same_row && other.bits & seats.bits != 0 && Some(*number) != own
        })
    }
}

impl Model for ShowModel {
    type Operation = ShowOperation;

    fn apply(&mut self, position: u64, operation: &ShowOperation) -> Result<(), String> {
        if self.clouded {
            return Ok(());
        }
        let ShowOperation { ask, answer } = *operation;
        if ask.is_reading() {
            return Err(format!("{ask:?} has a position"));
        }
        match answer {
            ShowAnswer::Unknown => return Err(format!("{ask:?} has no answer, but a position")),
            ShowAnswer::Strange => return Err(format!("{ask:?} was answered strangely")),
            _ => {}
        }
        let time = self.time_of(operation);
        let in_time = time.map_or(Ok(()), |now| self.tell_time(position, now));
        let given = match answer {
            ShowAnswer::Booked { number, .. } | ShowAnswer::Held { number, .. } => Some(number),
            _ => None,
        };
        let again = given.filter(|number| *number <= self.last);
        let right = if self.fits(position, operation) {
            Ok(())
        } else {
            Err(self.accuse(operation))
        };
        self.make(position, operation);
        in_time.and(right)?;
        again.map_or(Ok(()), |number| {
            Err(format!(
                "{ask:?} got number {number}, which was given before"
            ))
        })
    }

    fn agrees(&self, reading: &ShowOperation) -> bool {
        self.clouded || self.expected(reading, self.clock.now) == reading.answer
    }

    fn shown(&self, reading: &ShowOperation) -> String {
        format!("it is {:?}", self.expected(reading, self.clock.now))
    }

    fn suspect(&mut self, _operation: &ShowOperation) {
        self.clouded = true;
    }

    /// Its section; whether there is a sale is seen in none.
    fn part(&self, operation: &ShowOperation) -> Option<u32> {
        Some(operation.ask.section().map_or(u32::MAX, u32::from))
    }

    fn true_from(&self, reading: &ShowOperation) -> Option<u64> {
        let mut later = self.later();
        later.find(|time| self.expected(reading, *time) == reading.answer)
    }

    fn time_of(&self, operation: &ShowOperation) -> Option<u64> {
        match (operation.ask, operation.answer) {
            (ShowRequest::Hold { ttl_ms, .. }, ShowAnswer::Held { until, .. }) => {
                Some(until.saturating_sub(ttl_ms))
            }
            _ => None,
        }
    }
}
