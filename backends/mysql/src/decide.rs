//! The commands, decided from what a transaction knows.
//!
//! A decision first reads everything that it takes, and stops where something is not known; only then
//! does it change anything. So it can begin again.

mod due;
mod holding;
mod layout;
mod target;

use turnstile_rooms::{Command, Done, Refusal, Wish, limits};
use turnstile_types::{Name, Position, Principal, Stay, Timestamp};

use crate::{
    known::{Found, Halt, Known},
    tables::{Booking, Hold, HoldState, Placed, Property},
};

pub(crate) use self::{
    due::clean_up,
    target::{Target, target},
};

/// The type of rooms in an open property that nobody added.
const OPEN_TYPE: &str = "open";

/// Who asks, and the position that the command has when it is decided.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked {
    pub(crate) principal: Principal,
    pub(crate) position: Position,
}

/// What a reference names.
#[derive(Clone, Debug)]
enum Entry {
    Booking(Booking),
    Hold(Hold),
}

pub(crate) fn decide(known: &mut Known, asked: &Asked, command: &Command<'_>) -> Found<Done> {
    match *command {
        Command::AddProperty { property, open } => layout::add_property(known, property, open),
        Command::AddRoom {
            property,
            room,
            room_type,
        } => layout::add_room(known, (property, room), room_type),
        Command::WithdrawRoom { property, room } => layout::withdraw(known, (property, room)),
        Command::StopSell {
            property,
            room,
            stay,
            stopped,
        } => layout::stop_sell(known, (property, room), stay, stopped),
        Command::Book {
            property,
            wish,
            stay,
            guest,
            id,
        } => {
            let (name, property) = existing(known, property, &wish)?;
            let place = Place::find(known, (name, &property), &wish, stay)?;
            let (reference, placed) = place.enter(known, asked, None);
            let room = placed.room;
            let booking = Booking {
                placed,
                guest: guest.as_str().to_owned(),
                id,
                position: asked.position,
                cancelled: false,
            };
            known.bookings.know(reference, None);
            known.bookings.set(&reference, booking);
            known.count(|counters| {
                counters.bookings += 1;
                counters.booked_total += 1;
            });
            let reference = crate::fields::reference_of(reference);
            Ok(Done::Booked { reference, room })
        }
        Command::Hold {
            property,
            wish,
            stay,
            ttl_ms,
        } => {
            let (name, property) = existing(known, property, &wish)?;
            refuse_ttl(ttl_ms)?;
            refuse_holds(known, &asked.principal)?;
            let place = Place::find(known, (name, &property), &wish, stay)?;
            let until = known.now.plus_ms(ttl_ms.into());
            let (reference, placed) = place.enter(known, asked, Some(until));
            let room = placed.room;
            let hold = Hold {
                placed,
                until,
                made: asked.position,
                position: asked.position,
                state: HoldState::Held,
            };
            known.holds.know(reference, None);
            known.holds.set(&reference, hold);
            known.count(|counters| counters.held_total += 1);
            let reference = crate::fields::reference_of(reference);
            Ok(Done::Held {
                reference,
                room,
                until,
            })
        }
        Command::Extend { hold, ttl_ms } => holding::extend(known, asked, hold, ttl_ms),
        Command::Confirm { hold, guest, id } => {
            holding::confirm(known, asked, hold, (guest.as_str(), id))
        }
        Command::Release { hold } => holding::release(known, asked, hold),
        Command::Cancel { booking, id } => holding::cancel(known, asked, booking, id),
    }
}

/// The property, when it is there and so is what the wish names.
pub(crate) fn existing(known: &mut Known, name: Name, wish: &Wish) -> Found<(Name, Property)> {
    let property = known.property(&name)?.ok_or(Refusal::UnknownProperty)?;
    match wish {
        Wish::Any => {}
        Wish::Room(room) => match known.room(&(name, *room))? {
            Some(room) if room.withdrawn => return Err(Refusal::UnknownRoom.into()),
            None if !property.open => return Err(Refusal::UnknownRoom.into()),
            _ => {}
        },
        Wish::Type(room_type) => {
            let is_open_type = property.open && &**room_type == OPEN_TYPE;
            if !is_open_type && !known.has_type(&name, room_type)? {
                return Err(Refusal::UnknownType.into());
            }
        }
    }
    Ok((name, property))
}

fn refuse_ttl(ttl_ms: u32) -> Found<()> {
    let ttl_ms_max = limits::HOLD_TTL_MS_MAX;
    if (1..=ttl_ms_max).contains(&ttl_ms) {
        return Ok(());
    }
    Err(Refusal::HoldTooLong { ttl_ms_max }.into())
}

/// Refuses a principal that has as many open holds as it may have.
fn refuse_holds(known: &mut Known, principal: &Principal) -> Found<()> {
    let limit = limits::HOLDS_PER_PRINCIPAL_MAX;
    let found = known.open_holds(principal)?;
    let now = known.now;
    let is_open = |hold: Option<&Hold>| {
        let open = |hold: &Hold| {
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
struct Place {
    property: Name,
    target: Target,
    stay: Stay,
    over: Vec<u64>,
}

impl Place {
    fn find(
        known: &mut Known,
        (name, property): (Name, &Property),
        wish: &Wish,
        stay: Stay,
    ) -> Found<Self> {
        let target = target(known, (name, property), wish, stay)?;
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
    fn enter(self, known: &mut Known, asked: &Asked, until: Option<Timestamp>) -> (u64, Placed) {
        for reference in self.over {
            due::expire(known, reference, asked.position);
        }
        let room = match self.target {
            Target::Room(room) => room,
            Target::New(room, number) => {
                layout::begin_room(known, (self.property, room), number);
                room
            }
        };
        let reference = known.counters().next_reference;
        known.count(|counters| counters.next_reference += 1);
        let placed = Placed {
            property: self.property,
            room,
            stay: self.stay,
            principal: asked.principal,
            since: known.now,
        };
        holding::take(known, &placed, reference, until);
        (reference, placed)
    }
}

/// What a reference names, when it has not ended.
fn look_up(known: &mut Known, reference: u64) -> Found<Entry> {
    let (booking, hold) = (known.booking(reference)?, known.hold(reference)?);
    if let Some(booking) = booking {
        return match booking.cancelled {
            true => Err(Refusal::Ended.into()),
            false => Ok(Entry::Booking(booking)),
        };
    }
    let hold = hold.ok_or(Refusal::NotFound)?;
    if is_forgotten(&hold, known.now) {
        return Err(Halt::Refused(Refusal::Ended));
    }
    Ok(Entry::Hold(hold))
}

/// Whether nothing can be done with a hold any more.
pub(crate) fn is_forgotten(hold: &Hold, now: Timestamp) -> bool {
    match hold.state {
        HoldState::Held | HoldState::Expired => hold.until.plus_ms(limits::LATE_CONFIRM_MS) <= now,
        HoldState::Confirmed | HoldState::Released | HoldState::Forgotten => true,
    }
}
