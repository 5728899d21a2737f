//! Answers queries from the current state.

mod availability;
mod explain;
mod inventory;
mod listing;

use turnstile_types::{Principal, Stay, Timestamp};

use crate::{
    Answer, Cursor, Entry, EntryState, PropertySummary, Query, Reference, Refusal, Rooms, Totals,
    ledger::{LedgerSlot, State, Taken},
    limits,
};

pub(crate) fn answer(
    rooms: &Rooms,
    now: Timestamp,
    principal: &Principal,
    query: &Query,
) -> Answer {
    let view = View::new(rooms, now);
    match *query {
        Query::LookUp { reference } => view
            .look_up(reference)
            .map_or_else(Answer::Refused, Answer::Entry),
        Query::List {
            property,
            room,
            from,
            to,
            cursor,
            limit,
        } => view
            .list(&property, room.as_ref(), (from, to), (cursor, limit))
            .map_or_else(Answer::Refused, Answer::Page),
        Query::Guest { id, cursor, limit } => Answer::Page(view.guest(id, cursor, limit)),
        Query::Holds { cursor, limit } => Answer::Page(view.holds(principal, cursor, limit)),
        Query::Availability {
            property,
            room_type,
            stay,
        } => view
            .availability(&property, room_type.as_ref(), stay)
            .map_or_else(Answer::Refused, Answer::Availability),
        Query::Explain {
            property,
            wish,
            stay,
        } => view
            .explain(&property, &wish, stay)
            .map_or_else(Answer::Refused, Answer::Explanation),
        Query::Properties { cursor, limit } => view.properties(cursor, limit),
        Query::Totals => Answer::Totals(view.totals()),
        Query::ListRooms {
            property,
            cursor,
            limit,
        } => view.rooms_in_sale(&property, (cursor, limit)).map_or_else(
            Answer::Refused,
            |(rooms, next)| Answer::Rooms { rooms, next },
        ),
        Query::ListStopSells {
            property,
            stay,
            cursor,
            limit,
        } => view
            .stop_sells(&property, stay, (cursor, limit))
            .map_or_else(Answer::Refused, |(stop_sells, next)| Answer::StopSells {
                stop_sells,
                next,
            }),
    }
}

/// The state at an instant: a hold whose time is over counts as expired, and one that has been
/// expired for too long as forgotten, even when no tick has swept it yet.
#[derive(Debug)]
pub(crate) struct View<'a> {
    pub(crate) rooms: &'a Rooms,
    pub(crate) now: Timestamp,
    /// Holds that are due, but still have their nights; nearly always none.
    due: Vec<(u32, Stay)>,
}

impl<'a> View<'a> {
    pub(crate) fn new(rooms: &'a Rooms, now: Timestamp) -> Self {
        let due = rooms
            .deadlines
            .iter()
            .take_while(|&&(deadline, _)| deadline <= now)
            .map(|&(_, slot)| rooms.ledger.at(slot))
            .filter(|entry| matches!(entry.state, State::Held { .. }))
            .map(|entry| (entry.room, entry.stay))
            .collect();
        Self { rooms, now, due }
    }

    fn look_up(&self, reference: Reference) -> Result<Entry, Refusal> {
        let (slot, _) = self.rooms.ledger.look_up(reference)?;
        let entry = self.entry(slot);
        match entry.state {
            EntryState::Expired { at } if at.plus_ms(limits::LATE_CONFIRM_MS) <= self.now => {
                Err(Refusal::Ended)
            }
            EntryState::Booked | EntryState::Held { .. } | EntryState::Expired { .. } => Ok(entry),
        }
    }

    pub(crate) fn entry(&self, slot: u32) -> Entry {
        let rooms = self.rooms;
        let LedgerSlot {
            room,
            principal,
            stay,
            since,
            position,
            state,
            ..
        } = *rooms.ledger.at(slot);
        let (state, guest) = match state.taken().expect("only entries are shown") {
            Taken::Booked(guest) => (EntryState::Booked, Some(guest)),
            Taken::Held { until, .. } if until > self.now => (EntryState::Held { until }, None),
            Taken::Held { until: at, .. } | Taken::Expired { at, .. } => {
                (EntryState::Expired { at }, None)
            }
        };
        let property = rooms.directory.room_at(room).property;
        Entry {
            reference: rooms.ledger.reference(slot),
            state,
            property: rooms.directory.property_at(property).name,
            room: rooms.directory.room_name(room),
            stay,
            guest: guest.map(|guest| rooms.guests.name(&guest).into()),
            id: guest.map(|guest| guest.id()),
            principal: rooms.principals.name(principal),
            since,
            position,
        }
    }

    /// Whether the entry in a slot has its nights at this instant.
    fn stands(&self, slot: u32) -> bool {
        match self.rooms.ledger.at(slot).state {
            State::Booked(_) => true,
            State::Held { until, .. } => until > self.now,
            State::Free { .. } | State::Spent | State::Expired { .. } => false,
        }
    }

    /// The cursor is the number of the last property shown.
    fn properties(&self, cursor: Option<Cursor>, limit: u16) -> Answer {
        let directory = &self.rooms.directory;
        let after = match cursor {
            None => None,
            Some(Cursor(number)) => {
                let known = u32::try_from(number)
                    .ok()
                    .and_then(|number| directory.properties().get(number));
                let Some(last) = known else {
                    return Answer::Properties {
                        properties: Vec::new(),
                        next: None,
                    };
                };
                Some(last.name)
            }
        };
        let limit = usize::from(limit.max(1));
        let mut numbers = directory
            .properties_after(after)
            .take(limit + 1)
            .collect::<Vec<_>>();
        let more = numbers.len() > limit;
        numbers.truncate(limit);
        Answer::Properties {
            properties: numbers
                .iter()
                .map(|&number| {
                    let property = directory.property_at(number);
                    PropertySummary {
                        property: property.name,
                        open: property.open,
                        rooms: property.in_sale,
                    }
                })
                .collect(),
            next: numbers
                .last()
                .filter(|_| more)
                .map(|&number| Cursor(u64::from(number))),
        }
    }

    /// How many holds are over whose end the state has not noted yet.
    pub(crate) fn due(&self) -> u64 {
        u64::try_from(self.due.len()).expect("a count fits 64 bits")
    }

    fn totals(&self) -> Totals {
        let due = self.due();
        let totals = self.rooms.totals();
        Totals {
            holds: totals.holds - due,
            expired_total: totals.expired_total + due,
            ..totals
        }
    }
}
