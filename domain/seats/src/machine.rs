//! The machine: what becomes of every command.

use turnstile_chassis::{Countable, Cursor, Needs as _, Served};
use turnstile_types::{
    Context, Effect, Machine, Malformed, Name, PartitionFounding, Position, Principal, Reader,
    Sink, Timestamp,
};

use crate::{
    Answer, BookingNumber, Choice, Command, Done, Event, EventKind, Outcome, Query, Refusal,
    SeatEntryState, SeatNumbers, Seats, Totals, check,
    hall::{HallShow, SeatSection},
    limits, queries, snapshot,
    state::SeatEntry,
};

impl Machine for Seats {
    type Command<'a> = Command;
    type Outcome = Outcome;
    type Query = Query;
    type Answer = Answer;
    type Event = Event;

    const SERVICE: u8 = 5;

    fn empty() -> Self {
        Self::new()
    }

    fn found_in(&mut self, founding: &PartitionFounding) {
        self.first = BookingNumber::before_those_of(founding.number);
        self.last = self.last.max(self.first);
    }

    fn apply(&mut self, context: &Context<'_>, command: &Command) -> Outcome {
        self.sweep(context);
        self.decide(context, command).into()
    }

    fn effect_of(outcome: &Outcome) -> Effect {
        outcome.effect()
    }

    fn next_deadline(&self) -> Option<Timestamp> {
        self.expiries.first().map(|&(until, _)| until)
    }

    fn tick(&mut self, context: &Context<'_>) {
        self.sweep(context);
    }

    fn query(&self, _now: Timestamp, _principal: &Principal, query: &Query) -> Answer {
        queries::answer(self, query).unwrap_or_else(Answer::Refused)
    }

    fn drain_events(&mut self, take: &mut dyn FnMut(Event)) {
        self.events.drain(take);
    }

    turnstile_chassis::declared_bytes!();

    fn snapshot(&self, out: &mut dyn Sink) {
        snapshot::write(self, out);
    }

    fn restore_from(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        snapshot::read(reader)
    }

    fn place_of(event: &Event) -> (Position, u32) {
        (event.position, event.ordinal)
    }

    fn check(&self) -> Result<(), Vec<String>> {
        check::examine(self)
    }
}

impl Served for Seats {
    const NAME: &'static str = "seats";
    const ABOUT: &'static str = "Numbered seats of shows: book, hold, cancel";

    type Totals = Totals;

    fn is_new(&self) -> bool {
        self.is_new()
    }

    fn opens(&self, command: &Command) -> Option<Countable> {
        command.needed().opens.then_some(Countable::Holds)
    }

    fn open_of(&self, principal: &Principal, of: Countable) -> u32 {
        match of {
            Countable::Holds => self.holders.of(principal),
            Countable::Transactions | Countable::Orders => 0,
        }
    }

    turnstile_chassis::relayed_bytes!();

    fn next_of(answer: &mut Answer) -> Option<&mut Option<Cursor>> {
        match answer {
            Answer::Page { next, .. } | Answer::Shows { next, .. } => Some(next),
            Answer::Entry(_)
            | Answer::Availability(_)
            | Answer::Map(_)
            | Answer::Totals(_)
            | Answer::Refused(_) => None,
        }
    }

    fn add_answer(sum: &mut Answer, other: &Answer) {
        if let (Answer::Totals(sum), Answer::Totals(other)) = (sum, other) {
            Self::add_totals(sum, other);
        }
    }

    fn add_totals(sum: &mut Totals, other: &Totals) {
        let Totals {
            shows,
            seats,
            bookings,
            holds,
            seats_booked,
            seats_held,
            booked_total,
            cancelled_total,
            held_total,
            expired_total,
        } = *other;
        sum.shows += shows;
        sum.seats += seats;
        sum.bookings += bookings;
        sum.holds += holds;
        sum.seats_booked += seats_booked;
        sum.seats_held += seats_held;
        sum.booked_total += booked_total;
        sum.cancelled_total += cancelled_total;
        sum.held_total += held_total;
        sum.expired_total += expired_total;
    }

    fn standing(&self) -> Vec<(u64, String)> {
        let totals = self.totals();
        vec![
            (totals.seats_booked, "seats are booked".to_owned()),
            (totals.seats_held, "seats are held".to_owned()),
        ]
    }
}

impl Seats {
    fn decide(&mut self, context: &Context<'_>, command: &Command) -> Result<Done, Refusal> {
        match *command {
            Command::AddShow { show, begins } => self.add_show(context, show, begins),
            Command::AddSection {
                show,
                section,
                rows,
                row_seats,
            } => self.add_section(
                context,
                show,
                SeatSection::new(section, rows.get(), row_seats.get()),
            ),
            Command::CloseSale { show, closed } => self.close_sale(context, show, closed),
            Command::Book {
                show,
                section,
                seats,
                buyer,
            } => {
                let state = SeatEntryState::Booked { buyer };
                let (reference, seats) = self.sell(context, [show, section], seats, state)?;
                Ok(Done::Booked { reference, seats })
            }
            Command::Hold {
                show,
                section,
                seats,
                ttl_seconds,
            } => {
                let until = context.now.plus_ms(u64::from(ttl_seconds.get()) * 1_000);
                let state = SeatEntryState::Held { until };
                let (reference, seats) = self.sell(context, [show, section], seats, state)?;
                Ok(Done::Held {
                    reference,
                    seats,
                    until,
                })
            }
            Command::Confirm { hold, buyer } => self.confirm(context, hold, buyer),
            Command::Release { hold } => {
                self.held(hold)?;
                self.end(context, hold, EventKind::Released);
                Ok(Done::Released)
            }
            Command::Cancel { booking, buyer } => self.cancel(context, booking, buyer),
        }
    }

    fn add_show(
        &mut self,
        context: &Context<'_>,
        name: Name,
        begins: Timestamp,
    ) -> Result<Done, Refusal> {
        if self.by_name.contains_key(&name) {
            return Err(Refusal::ShowExists);
        }
        let limit = limits::SHOWS_MAX;
        if self.totals.shows >= u64::from(limit) {
            return Err(Refusal::TooManyShows { limit });
        }
        self.open(HallShow {
            name,
            begins,
            is_closed: false,
            sections: Vec::new(),
        });
        self.tell(context, EventKind::ShowAdded, (name, None), None);
        Ok(Done::ShowAdded)
    }

    fn add_section(
        &mut self,
        context: &Context<'_>,
        name: Name,
        section: SeatSection,
    ) -> Result<Done, Refusal> {
        let show = self.find(&name)?;
        let place = (name, Some(section.name));
        self.furnish(show, section)?;
        self.tell(context, EventKind::SectionAdded, place, None);
        Ok(Done::SectionAdded)
    }

    fn close_sale(
        &mut self,
        context: &Context<'_>,
        name: Name,
        closed: bool,
    ) -> Result<Done, Refusal> {
        let show = self.find(&name)?;
        self.show_mut(show).is_closed = closed;
        let (kind, done) = if closed {
            (EventKind::SaleClosed, Done::SaleClosed)
        } else {
            (EventKind::SaleOpened, Done::SaleOpened)
        };
        self.tell(context, kind, (name, None), None);
        Ok(done)
    }

    /// Gives seats of a section to a new booking or hold.
    fn sell(
        &mut self,
        context: &Context<'_>,
        [show, section]: [Name; 2],
        choice: Choice,
        state: SeatEntryState,
    ) -> Result<(BookingNumber, SeatNumbers), Refusal> {
        let at = self.find(&show)?;
        let found = self.show(at);
        let section = found.section(&section)?;
        found.on_sale(context.now)?;
        let place = found.sections.get(section);
        let seats = place.ok_or(Refusal::UnknownSection)?.choose(choice)?;
        self.last.0 += 1;
        let booking = SeatEntry {
            show: at,
            section,
            seats,
            state,
            principal: *context.principal,
            since: context.now,
            position: context.position,
        };
        self.admit(self.last, booking);
        let kind = match state {
            SeatEntryState::Booked { .. } => {
                self.totals.booked_total += 1;
                EventKind::Booked
            }
            SeatEntryState::Held { .. } => {
                self.totals.held_total += 1;
                EventKind::Held
            }
        };
        self.tell_of(context, kind, self.last);
        Ok((self.last, seats))
    }

    fn confirm(
        &mut self,
        context: &Context<'_>,
        hold: BookingNumber,
        buyer: Name,
    ) -> Result<Done, Refusal> {
        let seats = self.held(hold)?.seats;
        let booking = self.remove(hold);
        let booking = SeatEntry {
            state: SeatEntryState::Booked { buyer },
            position: context.position,
            ..booking
        };
        self.admit(hold, booking);
        self.totals.booked_total += 1;
        self.tell_of(context, EventKind::Confirmed, hold);
        Ok(Done::Confirmed {
            reference: hold,
            seats,
        })
    }

    fn cancel(
        &mut self,
        context: &Context<'_>,
        number: BookingNumber,
        wanted: Name,
    ) -> Result<Done, Refusal> {
        let booking = self.look_up(number)?;
        let SeatEntryState::Booked { buyer } = booking.state else {
            return Err(Refusal::NotConfirmed);
        };
        if buyer != wanted {
            return Err(Refusal::WrongBuyer);
        }
        self.show(booking.show).before_it_begins(context.now)?;
        let seats = booking.seats;
        self.end(context, number, EventKind::Cancelled);
        self.totals.cancelled_total += 1;
        Ok(Done::Cancelled { seats })
    }

    /// Every hold that is due expires, in the order of the instants, then of the numbers.
    fn sweep(&mut self, context: &Context<'_>) {
        while let Some(&(until, number)) = self.expiries.first() {
            if until > context.now {
                return;
            }
            self.end(context, number, EventKind::Expired);
            self.totals.expired_total += 1;
        }
    }

    /// Ends a booking or hold: its seats are free again.
    fn end(&mut self, context: &Context<'_>, number: BookingNumber, kind: EventKind) {
        self.tell_of(context, kind, number);
        self.remove(number);
    }

    /// An open hold.
    fn held(&self, number: BookingNumber) -> Result<&SeatEntry, Refusal> {
        let booking = self.look_up(number)?;
        match booking.state {
            SeatEntryState::Held { .. } => Ok(booking),
            SeatEntryState::Booked { .. } => Err(Refusal::AlreadyConfirmed),
        }
    }

    /// Adds an event about a booking or hold.
    fn tell_of(&mut self, context: &Context<'_>, kind: EventKind, number: BookingNumber) {
        let booking = self.bookings.get(&number);
        let booking = booking.expect("a booking that was looked up");
        let show = self.show(booking.show);
        let section = show.sections.get(booking.section);
        let place = (show.name, section.map(|section| section.name));
        let about = Some((number, booking.seats));
        self.tell(context, kind, place, about);
    }

    fn tell(
        &mut self,
        context: &Context<'_>,
        kind: EventKind,
        (show, section): (Name, Option<Name>),
        about: Option<(BookingNumber, SeatNumbers)>,
    ) {
        self.events.put(context.position, |ordinal| Event {
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
}
