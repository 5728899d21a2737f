//! The machine once more, as simple as can be: lists that are searched from end to end, and nothing that
//! is kept twice.

use turnstile_seats::{
    Answer, BookingNumber, Choice, Command, Cursor, Done, Entry, Event, EventKind, MapRow, Outcome,
    Query, Refusal, SeatEntryState, SeatNumber, SeatNumbers, SectionSummary, ShowSummary, Totals,
};
use turnstile_types::{Context, Name, Principal, Timestamp};

#[derive(Debug, Default)]
pub(crate) struct Twin {
    shows: Vec<Show>,
    /// All that were ever made; the one with the number 1 is the first.
    made: Vec<Made>,
    pub(crate) events: Vec<Event>,
    cancelled: u64,
    expired: u64,
    confirmed: u64,
}

#[derive(Debug)]
struct Show {
    name: Name,
    begins: Timestamp,
    closed: bool,
    sections: Vec<(Name, u16, u16)>,
}

#[derive(Clone, Debug)]
struct Made {
    entry: Entry,
    began_as_hold: bool,
    over: bool,
}

type Decided = Result<Done, Refusal>;

impl Twin {
    /// How many open holds a principal has.
    pub(crate) fn holds_of(&self, principal: &Principal) -> usize {
        let open = self.made.iter().filter(|made| !made.over);
        let own = open.filter(|made| made.entry.principal == *principal);
        let is_held = |made: &&Made| matches!(made.entry.state, SeatEntryState::Held { .. });
        own.filter(is_held).count()
    }

    pub(crate) fn apply(&mut self, context: &Context<'_>, command: &Command) -> Outcome {
        self.tick(context);
        let decided = match *command {
            Command::AddShow { show, begins } => self.add_show(context, show, begins),
            Command::AddSection {
                show,
                section,
                rows,
                row_seats,
            } => self.add_section(context, show, (section, rows.get(), row_seats.get())),
            Command::CloseSale { show, closed } => self.find(show).map(|at| {
                self.shows[at].closed = closed;
                if closed {
                    self.tell(context, EventKind::SaleClosed, (show, None), None);
                    return Done::SaleClosed;
                }
                self.tell(context, EventKind::SaleOpened, (show, None), None);
                Done::SaleOpened
            }),
            Command::Book {
                show,
                section,
                seats,
                buyer,
            } => {
                let state = SeatEntryState::Booked { buyer };
                let sold = self.sell(context, (show, section), seats, state);
                sold.map(|(reference, seats)| Done::Booked { reference, seats })
            }
            Command::Hold {
                show,
                section,
                seats,
                ttl_seconds,
            } => {
                let until = Timestamp(context.now.0 + u64::from(ttl_seconds.get()) * 1_000);
                let sold = self.sell(
                    context,
                    (show, section),
                    seats,
                    SeatEntryState::Held { until },
                );
                sold.map(|(reference, seats)| Done::Held {
                    reference,
                    seats,
                    until,
                })
            }
            Command::Confirm { hold, buyer } => self.held(hold).map(|at| {
                let entry = &mut self.made[at].entry;
                entry.state = SeatEntryState::Booked { buyer };
                entry.position = context.position;
                let seats = entry.seats;
                self.confirmed += 1;
                self.tell_of(context, EventKind::Confirmed, at);
                Done::Confirmed {
                    reference: hold,
                    seats,
                }
            }),
            Command::Release { hold } => self.held(hold).map(|at| {
                self.end(context, EventKind::Released, at);
                Done::Released
            }),
            Command::Cancel { booking, buyer } => self.cancel(context, booking, buyer),
        };
        decided.into()
    }

    pub(crate) fn tick(&mut self, context: &Context<'_>) {
        let mut due: Vec<(Timestamp, usize)> = Vec::new();
        for (at, made) in self.made.iter().enumerate() {
            match made.entry.state {
                SeatEntryState::Held { until } if !made.over && until <= context.now => {
                    due.push((until, at));
                }
                _ => {}
            }
        }
        due.sort_unstable();
        for (_, at) in due {
            self.end(context, EventKind::Expired, at);
            self.expired += 1;
        }
    }

    pub(crate) fn next_deadline(&self) -> Option<Timestamp> {
        let open = self.made.iter().filter(|made| !made.over);
        let deadlines = open.filter_map(|made| match made.entry.state {
            SeatEntryState::Held { until } => Some(until),
            SeatEntryState::Booked { .. } => None,
        });
        deadlines.min()
    }

    fn add_show(&mut self, context: &Context<'_>, name: Name, begins: Timestamp) -> Decided {
        if self.find(name).is_ok() {
            return Err(Refusal::ShowExists);
        }
        self.shows.push(Show {
            name,
            begins,
            closed: false,
            sections: Vec::new(),
        });
        self.tell(context, EventKind::ShowAdded, (name, None), None);
        Ok(Done::ShowAdded)
    }

    fn add_section(
        &mut self,
        context: &Context<'_>,
        show: Name,
        section: (Name, u16, u16),
    ) -> Decided {
        let at = self.find(show)?;
        if self.section(at, section.0).is_ok() {
            return Err(Refusal::SectionExists);
        }
        self.shows[at].sections.push(section);
        let place = (show, Some(section.0));
        self.tell(context, EventKind::SectionAdded, place, None);
        Ok(Done::SectionAdded)
    }

    fn sell(
        &mut self,
        context: &Context<'_>,
        (show, section): (Name, Name),
        choice: Choice,
        state: SeatEntryState,
    ) -> Result<(BookingNumber, SeatNumbers), Refusal> {
        let at = self.find(show)?;
        let (_, rows, row_seats) = self.section(at, section)?;
        let begins = self.shows[at].begins;
        if begins <= context.now {
            return Err(Refusal::Begun { begins });
        }
        if self.shows[at].closed {
            return Err(Refusal::SaleClosed);
        }
        let seats = match choice {
            Choice::Named(seats) => {
                for seat in seats.iter() {
                    if seat.row > rows || seat.number > row_seats {
                        return Err(Refusal::UnknownSeat { seat });
                    }
                }
                let taken = seats
                    .iter()
                    .filter(|seat| self.owner(show, section, *seat).is_some());
                if let Ok(seats) = SeatNumbers::new(taken) {
                    return Err(Refusal::Taken { seats });
                }
                seats
            }
            Choice::Best(count) => self.best((show, section), (rows, row_seats), count.get())?,
        };
        let reference = BookingNumber(self.made.len() as u64 + 1);
        let entry = Entry {
            reference,
            state,
            show,
            section,
            seats,
            principal: *context.principal,
            since: context.now,
            position: context.position,
        };
        let began_as_hold = matches!(state, SeatEntryState::Held { .. });
        self.made.push(Made {
            entry,
            began_as_hold,
            over: false,
        });
        let kind = if began_as_hold {
            EventKind::Held
        } else {
            EventKind::Booked
        };
        self.tell_of(context, kind, self.made.len() - 1);
        Ok((reference, seats))
    }

    /// Every place where they could be, the best one first.
    fn best(
        &self,
        (show, section): (Name, Name),
        (rows, row_seats): (u16, u16),
        count: u16,
    ) -> Result<SeatNumbers, Refusal> {
        let is_free = |row, number| {
            let seat = SeatNumber { row, number };
            self.owner(show, section, seat).is_none()
        };
        let mut places = Vec::new();
        for row in 1..=rows {
            for first in 1..=(row_seats + 1).saturating_sub(count) {
                if (first..first + count).all(|number| is_free(row, number)) {
                    let left = first - 1;
                    let right = row_seats + 1 - first - count;
                    places.push((row, left.abs_diff(right), first));
                }
            }
        }
        let Some((row, _, first)) = places.into_iter().min() else {
            let map = self.rows(show, section, (rows, row_seats));
            let free = map.iter().map(|row| u32::from(row.free)).sum();
            return Err(Refusal::NotAdjacent { free });
        };
        let seats = (first..first + count).map(|number| SeatNumber { row, number });
        Ok(SeatNumbers::new(seats).unwrap())
    }

    fn cancel(&mut self, context: &Context<'_>, number: BookingNumber, wanted: Name) -> Decided {
        let at = self.look_up(number)?;
        let Entry {
            state, show, seats, ..
        } = self.made[at].entry;
        let SeatEntryState::Booked { buyer } = state else {
            return Err(Refusal::NotConfirmed);
        };
        if buyer != wanted {
            return Err(Refusal::WrongBuyer);
        }
        let begins = self.shows[self.find(show)?].begins;
        if begins <= context.now {
            return Err(Refusal::Begun { begins });
        }
        self.end(context, EventKind::Cancelled, at);
        self.cancelled += 1;
        Ok(Done::Cancelled { seats })
    }

    fn end(&mut self, context: &Context<'_>, kind: EventKind, at: usize) {
        self.made[at].over = true;
        self.tell_of(context, kind, at);
    }

    fn find(&self, show: Name) -> Result<usize, Refusal> {
        let found = self.shows.iter().position(|one| one.name == show);
        found.ok_or(Refusal::UnknownShow)
    }

    fn section(&self, show: usize, section: Name) -> Result<(Name, u16, u16), Refusal> {
        let mut sections = self.shows[show].sections.iter();
        let found = sections.find(|(name, ..)| *name == section);
        found.copied().ok_or(Refusal::UnknownSection)
    }

    fn owner(&self, show: Name, section: Name, seat: SeatNumber) -> Option<usize> {
        let mut owners = self.made.iter().enumerate().filter(|(_, made)| {
            let entry = &made.entry;
            let is_there = entry.show == show && entry.section == section;
            !made.over && is_there && entry.seats.iter().any(|one| one == seat)
        });
        let owner = owners.next().map(|(at, _)| at);
        assert_eq!(owners.next().map(|(at, _)| at), None, "sold twice");
        owner
    }

    fn look_up(&self, number: BookingNumber) -> Result<usize, Refusal> {
        let at = usize::try_from(number.0).unwrap().wrapping_sub(1);
        match self.made.get(at) {
            None => Err(Refusal::NotFound),
            Some(made) if made.over => Err(Refusal::Ended),
            Some(_) => Ok(at),
        }
    }

    fn held(&self, number: BookingNumber) -> Result<usize, Refusal> {
        let at = self.look_up(number)?;
        match self.made[at].entry.state {
            SeatEntryState::Held { .. } => Ok(at),
            SeatEntryState::Booked { .. } => Err(Refusal::AlreadyConfirmed),
        }
    }

    fn tell_of(&mut self, context: &Context<'_>, kind: EventKind, at: usize) {
        let entry = &self.made[at].entry;
        let place = (entry.show, Some(entry.section));
        let about = Some((entry.reference, entry.seats));
        self.tell(context, kind, place, about);
    }

    fn tell(
        &mut self,
        context: &Context<'_>,
        kind: EventKind,
        (show, section): (Name, Option<Name>),
        about: Option<(BookingNumber, SeatNumbers)>,
    ) {
        let last = self.events.last();
        let ordinal = match last {
            Some(last) if last.position == context.position => last.ordinal + 1,
            _ => 0,
        };
        self.events.push(Event {
            position: context.position,
            ordinal,
            at: context.now,
            kind,
            show,
            section,
            reference: about.map(|(reference, _)| reference),
            seats: about.map(|(_, seats)| seats),
        });
    }

    pub(crate) fn query(&self, query: &Query) -> Answer {
        self.answer(query).unwrap_or_else(Answer::Refused)
    }

    fn answer(&self, query: &Query) -> Result<Answer, Refusal> {
        match *query {
            Query::LookUp { reference } => {
                let at = self.look_up(reference)?;
                Ok(Answer::Entry(Box::new(self.made[at].entry.clone())))
            }
            Query::List {
                show,
                cursor,
                limit,
            } => self.list(show, cursor, usize::from(limit)),
            Query::Availability { show, section } => {
                let at = self.find(show)?;
                let mut wanted = self.shows[at].sections.clone();
                if let Some(section) = section {
                    wanted = vec![self.section(at, section)?];
                }
                let sections = wanted.into_iter().map(|one| self.availability(show, one));
                Ok(Answer::Availability(sections.collect()))
            }
            Query::Map { show, section } => {
                let (_, rows, row_seats) = self.section(self.find(show)?, section)?;
                Ok(Answer::Map(self.rows(show, section, (rows, row_seats))))
            }
            Query::Shows { cursor, limit } => {
                let begin = cursor.map_or(0, |Cursor(begin)| usize::try_from(begin).unwrap());
                let end = begin.saturating_add(usize::from(limit));
                let all = self.shows.iter().enumerate();
                let page = all.filter(|(at, _)| (begin..end).contains(at));
                Ok(Answer::Shows {
                    shows: page.map(|(_, show)| self.summary(show)).collect(),
                    next: (end < self.shows.len()).then_some(Cursor(end as u64)),
                })
            }
            Query::Totals => Ok(Answer::Totals(self.totals())),
        }
    }

    fn list(&self, show: Name, cursor: Option<Cursor>, limit: usize) -> Result<Answer, Refusal> {
        let at = self.find(show)?;
        let (mut entries, mut place) = (Vec::new(), 0);
        for &(section, rows, row_seats) in &self.shows[at].sections {
            for row in 1..=rows {
                for number in 1..=row_seats {
                    let here = place;
                    place += 1;
                    if cursor.is_some_and(|Cursor(begin)| here < begin) {
                        continue;
                    }
                    if entries.len() == limit {
                        let next = Some(Cursor(here));
                        return Ok(Answer::Page { entries, next });
                    }
                    let seat = SeatNumber { row, number };
                    let owner = self.owner(show, section, seat);
                    let entry = owner.map(|owner| &self.made[owner].entry);
                    let first = entry.filter(|entry| entry.seats.iter().next() == Some(seat));
                    entries.extend(first.cloned());
                }
            }
        }
        let next = None;
        Ok(Answer::Page { entries, next })
    }

    fn rows(&self, show: Name, section: Name, (rows, row_seats): (u16, u16)) -> Vec<MapRow> {
        let row = |row| {
            let owner = |number| self.owner(show, section, SeatNumber { row, number });
            let seats = (1..=row_seats).map(|number| owner(number).map_or('.', |_| 'x'));
            let seats: String = seats.collect();
            MapRow {
                row,
                free: u16::try_from(seats.matches('.').count()).unwrap(),
                seats: seats.into(),
            }
        };
        (1..=rows).map(row).collect()
    }

    fn availability(
        &self,
        show: Name,
        (section, rows, row_seats): (Name, u16, u16),
    ) -> SectionSummary {
        let map = self.rows(show, section, (rows, row_seats));
        let runs = map.iter().flat_map(|row| row.seats.split('x'));
        SectionSummary {
            section,
            rows,
            row_seats,
            free: map.iter().map(|row| u32::from(row.free)).sum(),
            adjacent: runs
                .map(|run| u16::try_from(run.len()).unwrap())
                .max()
                .unwrap(),
        }
    }

    fn summary(&self, show: &Show) -> ShowSummary {
        let sections = show.sections.iter();
        let free = sections
            .clone()
            .map(|one| self.availability(show.name, *one).free);
        ShowSummary {
            show: show.name,
            begins: show.begins,
            closed: show.closed,
            sections: u32::try_from(show.sections.len()).unwrap(),
            seats: sections
                .map(|(_, rows, row_seats)| u32::from(rows * row_seats))
                .sum(),
            free: free.sum(),
        }
    }

    fn totals(&self) -> Totals {
        let mut totals = Totals {
            shows: self.shows.len() as u64,
            cancelled_total: self.cancelled,
            expired_total: self.expired,
            booked_total: self.confirmed,
            ..Totals::default()
        };
        for show in &self.shows {
            totals.seats += u64::from(self.summary(show).seats);
        }
        for made in &self.made {
            if made.began_as_hold {
                totals.held_total += 1;
            } else {
                totals.booked_total += 1;
            }
            let seats = u64::from(made.entry.seats.len());
            match made.entry.state {
                _ if made.over => {}
                SeatEntryState::Booked { .. } => {
                    totals.bookings += 1;
                    totals.seats_booked += seats;
                }
                SeatEntryState::Held { .. } => {
                    totals.holds += 1;
                    totals.seats_held += seats;
                }
            }
        }
        totals
    }
}
