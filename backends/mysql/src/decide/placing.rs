//! New bookings and holds.

use turnstile_rooms::{Done, GuestId, Reference, Refusal, Wish, limits};
use turnstile_types::{Name, Principal, Stay, Timestamp};

use super::{Asked, Target, due, existing, layout, nights, refuse_ttl, target};
use crate::{
    known::{Attempt, Known},
    tables::{BookingRow, BookingState, HoldRow, HoldState, PlacedStay, PropertyRow},
};

pub(super) fn book(
    known: &mut Known,
    asked: &Asked,
    (property, wish, stay): (Name, &Wish, Stay),
    (guest, id): (&str, GuestId),
) -> Attempt<Done> {
    let (name, property) = existing(known, property, wish)?;
    let place = Place::find(known, (name, &property), wish, stay)?;
    let (reference, placed) = place.enter(known, asked, None);
    let room = placed.room;
    let booking = BookingRow {
        placed,
        guest: guest.into(),
        id,
        position: asked.position,
        state: BookingState::Booked,
    };
    known.bookings.set(&reference, booking);
    known.count(|counters| {
        counters.bookings += 1;
        counters.booked_total += 1;
    });
    let reference = Reference::of_number(reference);
    Ok(Done::Booked { reference, room })
}

pub(super) fn hold(
    known: &mut Known,
    asked: &Asked,
    (property, wish, stay): (Name, &Wish, Stay),
    ttl_ms: u32,
) -> Attempt<Done> {
    let (name, property) = existing(known, property, wish)?;
    refuse_ttl(ttl_ms)?;
    refuse_holds(known, &asked.principal)?;
    let place = Place::find(known, (name, &property), wish, stay)?;
    let until = known.now.plus_ms(ttl_ms.into());
    let (reference, placed) = place.enter(known, asked, Some(until));
    let room = placed.room;
    let hold = HoldRow {
        placed,
        until,
        made: asked.position,
        position: asked.position,
        state: HoldState::Held,
    };
    known.holds.set(&reference, hold);
    known.count(|counters| counters.held_total += 1);
    let reference = Reference::of_number(reference);
    Ok(Done::Held {
        reference,
        room,
        until,
    })
}

/// Refuses a principal that has as many open holds as it may have.
fn refuse_holds(known: &mut Known, principal: &Principal) -> Attempt<()> {
    let limit = limits::HOLDS_PER_PRINCIPAL_MAX;
    let found = known.open_holds(principal)?;
    let now = known.now;
    let is_open = |hold: Option<&HoldRow>| {
        let open = |hold: &HoldRow| {
            hold.state == HoldState::Held && hold.until > now && hold.placed.principal == *principal
        };
        u64::from(hold.is_some_and(open))
    };
    let (mut more, mut fewer) = (0, 0);
    for change in known.holds.changes() {
        more += is_open(change.after);
        fewer += is_open(change.before);
    }
    if found + more - fewer >= u64::from(limit) {
        return Err(Refusal::TooManyHolds { limit }.into());
    }
    Ok(())
}

/// Where a stay will be, with the holds that are over and still have nights there.
#[derive(Debug)]
pub(super) struct Place {
    property: Name,
    target: Target,
    stay: Stay,
    over: Vec<u64>,
}

impl Place {
    pub(super) fn find(
        known: &mut Known,
        (name, property): (Name, &PropertyRow),
        wish: &Wish,
        stay: Stay,
    ) -> Attempt<Self> {
        let target = target(known, (name, property), wish, stay)?;
        Self::at(known, name, target, stay)
    }

    pub(super) fn at(known: &mut Known, name: Name, target: Target, stay: Stay) -> Attempt<Self> {
        let over = match target {
            Target::Room(room) => due::holders(known, &(name, room), stay)?,
            Target::New(..) => Vec::new(),
        };
        Ok(Self {
            property: name,
            target,
            stay,
            over,
        })
    }

    /// Takes the nights under a new reference.
    fn enter(
        self,
        known: &mut Known,
        asked: &Asked,
        until: Option<Timestamp>,
    ) -> (u64, PlacedStay) {
        let (property, stay) = (self.property, self.stay);
        let room = self.settle(known, asked);
        let reference = known.counters().next_reference;
        known.count(|counters| counters.next_reference += 1);
        known.bookings.know(reference, None);
        known.holds.know(reference, None);
        let placed = PlacedStay {
            property,
            room,
            stay,
            principal: asked.principal,
            since: known.now,
        };
        nights::take(known, &placed, reference, until);
        (reference, placed)
    }

    /// The room, whose nights are free from now on.
    pub(super) fn settle(self, known: &mut Known, asked: &Asked) -> Name {
        for reference in self.over {
            due::expire(known, reference, asked.position);
        }
        match self.target {
            Target::Room(room) => room,
            Target::New(room, number) => {
                layout::begin_room(known, (self.property, room), number);
                room
            }
        }
    }
}
