//! What the table is in the end, by the server and by the replay.

use std::collections::{BTreeSet, HashMap};

use super::{CellHolder, InlineReference, Place, Table};
use crate::Charge;

/// Compares a table that nobody changes any more with what the server says of each room.
#[derive(Debug)]
pub struct Final {
    table: Table,
    /// What the server says stands, by reference.
    standing: HashMap<InlineReference, Place>,
    /// Which of that it says is held: until when.
    held: HashMap<InlineReference, u64>,
    /// Who booked what stands, and the position of its last change, where the server tells that.
    noted: HashMap<InlineReference, (Option<u64>, u64)>,
    /// Shades that were found standing.
    found: BTreeSet<usize>,
    /// The times of the server's clock before and after it was asked, in milliseconds.
    between: (u64, u64),
    charge: Charge,
}

/// How often the server must have booked and cancelled, and what does not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    pub booked: u64,
    pub cancelled: u64,
    /// Bookings that stand.
    pub standing: u64,
    pub charge: Charge,
}

impl Final {
    #[must_use]
    pub fn of(table: Table, between: (u64, u64)) -> Self {
        Self {
            table,
            between,
            standing: HashMap::new(),
            held: HashMap::new(),
            noted: HashMap::new(),
            found: BTreeSet::new(),
            charge: Charge::default(),
        }
    }

    /// The server says that these bookings stand for a room, and no others.
    pub fn room(&mut self, room: u32, bookings: &[(InlineReference, Place)]) {
        let mut nights = BTreeSet::new();
        for &(reference, place) in bookings {
            if place.room != room || !self.table.has(place) {
                self.charge
                    .add(|| format!("{reference} stands for {place}, which no client asked for"));
                continue;
            }
            if let Some(night) = place.each().find(|&night| !nights.insert(night)) {
                self.charge.add(|| {
                    format!("{reference} and another booking stand for room {room}, night {night}")
                });
            }
            self.standing.insert(reference, place);
        }
    }

    /// The server says that this, which stands, is held until then.
    pub fn held(&mut self, reference: InlineReference, until: u64) {
        self.held.insert(reference, until);
    }

    /// The server says that this, which stands, was booked by this id number (a hold: by none), and changed
    /// last at this position.
    pub fn noted(&mut self, reference: InlineReference, id: Option<u64>, position: u64) {
        self.noted.insert(reference, (id, position));
    }

    /// The comparison, after all rooms.
    #[must_use]
    pub fn account(mut self) -> Account {
        self.compare_known();
        self.compare_holds();
        self.compare_unknown();
        let standing = self.standing.len() - self.held.len();
        let standing = u64::try_from(standing).expect("a table is small");
        Account {
            booked: self.table.booked,
            cancelled: self.table.cancelled,
            standing,
            charge: self.charge,
        }
    }

    /// Every booking of the replay stands, but those that may have been cancelled.
    fn compare_known(&mut self) {
        self.compare_notes();
        let bookings = self.table.bookings.iter();
        let mut known: Vec<_> = bookings.map(|(key, one)| (*key, *one)).collect();
        known.sort_unstable_by_key(|(_, booking)| booking.position);
        for (reference, booking) in known {
            let place = booking.place;
            match self.standing.get(&reference) {
                Some(stands) if *stands == place => {}
                Some(stands) => self
                    .charge
                    .add(|| format!("{reference} was for {place}, and stands for {stands}")),
                None if booking.fading => self.table.end(reference, u64::MAX),
                None => self.charge.add(|| {
                    let position = booking.position;
                    format!("{reference} for {place} was booked at position {position}: it is lost")
                }),
            }
        }
    }

    /// What is noted of bookings and holds is as it was told.
    fn compare_notes(&mut self) {
        for (reference, noted) in &self.noted {
            let booking = self.table.bookings.get(reference);
            let booking = booking.map(|booking| (Some(booking.id), booking.position));
            let hold = self.table.holds.get(reference);
            let known = booking.or_else(|| hold.map(|hold| (None, hold.position)));
            if known.is_some_and(|known| known != *noted) {
                self.charge.add(|| {
                    format!(
                        "{reference} is noted with the id number and position {noted:?}, by the                          replay {known:?}"
                    )
                });
            }
        }
    }

    /// Every hold whose time is not over stands, and no other.
    fn compare_holds(&mut self) {
        let ((before, after), slack_ms) = (self.between, self.table.clock.slack_ms);
        for (reference, hold) in &self.table.holds {
            let (place, position) = (hold.place, hold.position);
            let Some(until) = hold.until else {
                continue;
            };
            match (self.standing.get(reference), self.held.get(reference)) {
                (None, _) if until > after + slack_ms => self.charge.add(|| {
                    format!(
                        "{reference} for {place} was held at position {position} until {until}, and \
                         it was only {after}: it is lost"
                    )
                }),
                (None, _) => {}
                (Some(_), _) if until + slack_ms <= before => self.charge.add(|| {
                    format!("hold {reference} until {until} stands, but it was {before}")
                }),
                (Some(stands), Some(end)) if *stands == place && *end == until => {}
                (Some(stands), end) => self.charge.add(|| {
                    format!(
                        "{reference} holds {place} until {until}, and stands for {stands} until {end:?}"
                    )
                }),
            }
        }
    }

    /// Every other booking that stands was asked for by a request without an answer.
    fn compare_unknown(&mut self) {
        let others = self.standing.iter();
        let mut others: Vec<_> = others
            .filter(|(reference, _)| !self.table.bookings.contains_key(*reference))
            .filter(|(reference, _)| {
                let hold = self.table.holds.get(reference);
                hold.is_none_or(|hold| hold.until.is_none())
            })
            .map(|(reference, place)| (*reference, *place))
            .collect();
        others.sort_unstable_by_key(|(reference, _)| *reference);
        for (reference, place) in others {
            let fading = self.table.holds.get(&reference);
            let is_held = self.held.contains_key(&reference);
            if is_held && fading.is_some_and(|hold| hold.until.is_none() && hold.place == place) {
                continue;
            }
            match self.shade_for(place, is_held) {
                Some(shade) => {
                    if !is_held && self.table.shades[shade].settled.is_none() {
                        self.table.settle(shade, place.room, u64::MAX);
                    }
                    self.found.insert(shade);
                }
                None => self.charge.add(|| {
                    let why = match self.table.ended.get(&reference) {
                        Some(end) => format!("was cancelled at position {end}"),
                        None => "was never booked".to_owned(),
                    };
                    format!("{reference} stands for {place}, but {why}")
                }),
            }
        }
        for (number, shade) in self.table.shades.iter().enumerate() {
            if let Some(place) = shade.settled
                && !self.found.contains(&number)
            {
                self.charge.add(|| {
                    format!("{place} was booked by a request without an answer: it is lost")
                });
            }
        }
    }

    /// The request without an answer that explains such a booking, or such a hold.
    fn shade_for(&self, place: Place, is_held: bool) -> Option<usize> {
        let table = &self.table;
        let explains = |&shade: &usize| {
            let one = &table.shades[shade];
            one.wish.allows(place) && one.holds == is_held && !self.found.contains(&shade)
        };
        match table.holder(place.room, place.night) {
            Some(CellHolder::Shade(shade)) => Some(shade).filter(explains),
            Some(CellHolder::Booking(_) | CellHolder::Hold(_)) | None => {
                table.shades_over(place.room, place.night).find(explains)
            }
        }
    }
}
