//! The machine: its entry points.

use std::{cell::RefCell, collections::BTreeSet};

use turnstile_chassis::{Countable, Cursor, Events, Needs as _, Served};
use turnstile_types::{
    Context, Effect, Machine, Malformed, Name, PartitionFounding, Position, Principal, Reader,
    Sink, Stay, Timestamp,
};

use crate::{
    Answer, CancelReason, Command, Event, EventKind, FormerPlace, Outcome, Query, Reference, Rooms,
    Totals,
    calendar::Calendar,
    directory::PropertyDirectory,
    expected::Expected,
    guests::Guests,
    ledger::{Ledger, LedgerSlot, State},
    limits,
    principals::Principals,
    queries,
    shelves::Mark,
    snapshot,
    state::Counts,
};

impl Machine for Rooms {
    type Command<'a> = Command<'a>;
    type Outcome = Outcome;
    type Query = Query;
    type Answer = Answer;
    type Event = Event;

    const SERVICE: u8 = 1;

    fn empty() -> Self {
        Self {
            directory: PropertyDirectory::new(),
            calendar: Calendar::new(),
            ledger: Ledger::new(),
            guests: Guests::new(),
            principals: Principals::new(),
            deadlines: BTreeSet::new(),
            counts: Counts::default(),
            expected: RefCell::new(Expected::empty()),
            events: Events::empty(),
        }
    }

    fn found_in(&mut self, founding: &PartitionFounding) {
        self.ledger.found_in(founding.number);
    }

    fn apply(&mut self, context: &Context<'_>, command: &Command<'_>) -> Outcome {
        self.warm();
        self.sweep(context);
        self.decide(context, command).into()
    }

    fn prefetch(&self, command: &Command<'_>) {
        self.expect_command(command);
    }

    fn effect_of(outcome: &Outcome) -> Effect {
        outcome.effect()
    }

    fn next_deadline(&self) -> Option<Timestamp> {
        self.deadlines.first().map(|&(deadline, _)| deadline)
    }

    fn tick(&mut self, context: &Context<'_>) {
        self.sweep(context);
    }

    fn query(&self, now: Timestamp, principal: &Principal, query: &Query) -> Answer {
        queries::answer(self, now, principal, query)
    }

    fn drain_events(&mut self, take: &mut dyn FnMut(Event)) {
        self.events.drain(take);
    }

    fn move_events(&mut self, events: &mut Vec<Event>) {
        self.events.move_to(events);
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
        self.examine()
    }
}

impl Served for Rooms {
    const NAME: &'static str = "rooms";
    const ABOUT: &'static str = "Rooms of hotels for nights: book, hold, move, cancel";

    type Totals = Totals;

    fn is_new(&self) -> bool {
        self.totals() == Totals::default()
    }

    fn opens(&self, command: &Command<'_>) -> Option<Countable> {
        command.needed().opens.then_some(Countable::Holds)
    }

    fn open_of(&self, principal: &Principal, of: Countable) -> u32 {
        match of {
            Countable::Holds => self.open_holds_of(principal),
            Countable::Transactions | Countable::Orders => 0,
        }
    }

    turnstile_chassis::relayed_bytes!();

    fn next_of(answer: &mut Answer) -> Option<&mut Option<Cursor>> {
        match answer {
            Answer::Page(page) => Some(&mut page.next),
            Answer::Properties { next, .. }
            | Answer::Rooms { next, .. }
            | Answer::StopSells { next, .. } => Some(next),
            Answer::Entry(_)
            | Answer::Availability(_)
            | Answer::Explanation(_)
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
            bookings,
            holds,
            properties,
            rooms,
            booked_total,
            cancelled_total,
            held_total,
            expired_total,
        } = *other;
        sum.bookings += bookings;
        sum.holds += holds;
        sum.properties += properties;
        sum.rooms += rooms;
        sum.booked_total += booked_total;
        sum.cancelled_total += cancelled_total;
        sum.held_total += held_total;
        sum.expired_total += expired_total;
    }

    fn standing(&self) -> Vec<(u64, String)> {
        vec![(self.totals().bookings, "bookings stand".to_owned())]
    }
}

impl Rooms {
    /// What the machine has done and holds, as the last record left it.
    #[must_use]
    pub fn totals(&self) -> Totals {
        Totals {
            bookings: self.counts.bookings,
            holds: u64::try_from(self.principals.open()).expect("a count fits 64 bits"),
            properties: u64::from(self.directory.properties().len()),
            rooms: self.directory.in_sale,
            booked_total: self.counts.booked,
            cancelled_total: self.counts.cancelled,
            held_total: self.counts.held,
            expired_total: self.counts.expired,
        }
    }

    /// Does what is due, in order of the deadlines, then of the slots.
    fn sweep(&mut self, context: &Context<'_>) {
        while let Some(&(deadline, slot)) = self.deadlines.first() {
            if deadline > context.now {
                return;
            }
            self.deadlines.pop_first();
            match self.ledger.at(slot).state {
                State::Held { until, made } => self.expire(context, slot, until, made),
                State::Expired { .. } => self.ledger.remove(slot),
                State::Free { .. } | State::Spent | State::Booked(_) => {
                    unreachable!("only holds have deadlines")
                }
            }
        }
    }

    fn expire(&mut self, context: &Context<'_>, slot: u32, until: Timestamp, made: Position) {
        let LedgerSlot {
            room,
            stay,
            principal,
            ..
        } = *self.ledger.at(slot);
        self.vacate(room, stay, slot);
        self.principals.remove_hold(principal, made, slot);
        let entry = self.ledger.at_mut(slot);
        entry.state = State::Expired { at: until, made };
        entry.position = context.position;
        self.deadlines
            .insert((until.plus_ms(limits::LATE_CONFIRM_MS), slot));
        self.counts.expired += 1;
        self.tell(context, EventKind::Expired, slot);
    }

    /// Gives nights to a slot, everywhere.
    pub(crate) fn occupy(&mut self, room: u32, stay: Stay, slot: u32) {
        self.directory.look(room);
        let nights = &mut self.directory.room_mut(room).nights;
        self.calendar.occupy(nights, stay, slot);
        self.directory.mark(room, Mark::Occupied, stay, true);
    }

    /// Takes nights from a slot, everywhere.
    pub(crate) fn vacate(&mut self, room: u32, stay: Stay, slot: u32) {
        self.directory.look(room);
        let nights = &mut self.directory.room_mut(room).nights;
        self.calendar.vacate(nights, stay, slot);
        self.directory.mark(room, Mark::Occupied, stay, false);
    }

    /// Adds an event about a booking or hold.
    pub(crate) fn tell(&mut self, context: &Context<'_>, kind: EventKind, slot: u32) {
        let entry = self.ledger.at(slot);
        let (room, stay) = (entry.room, entry.stay);
        let place = (
            self.directory.room_at(room).property,
            Some(self.directory.room_name(room)),
        );
        let reference = self.ledger.reference(slot);
        self.announce(context, kind, place, Some((reference, stay)));
    }

    /// Adds an event.
    pub(crate) fn announce(
        &mut self,
        context: &Context<'_>,
        kind: EventKind,
        place: (u32, Option<Name>),
        entry: Option<(Reference, Stay)>,
    ) {
        self.announce_with(context, kind, place, entry, (None, None));
    }

    /// Adds an event that may have a reason, or tell where a booking was before.
    pub(crate) fn announce_with(
        &mut self,
        context: &Context<'_>,
        kind: EventKind,
        (property, room): (u32, Option<Name>),
        entry: Option<(Reference, Stay)>,
        (reason, from): (Option<CancelReason<'_>>, Option<FormerPlace>),
    ) {
        self.events.put(context.position, |ordinal| Event {
            position: context.position,
            ordinal,
            at: context.now,
            kind,
            property: self.directory.property_at(property).name,
            room,
            reference: entry.map(|(reference, _)| reference),
            stay: entry.map(|(_, stay)| stay),
            reason: reason.map(|reason| reason.as_str().into()),
            from,
        });
    }
}
