//! Decides commands from the rows that a transaction has read.
//!
//! A decision first reads everything that it takes, and stops where something is not known; only then
//! does it change anything. So it can begin again.

mod due;
mod holding;
mod layout;
mod moving;
mod nights;
mod placing;
mod target;

use turnstile_contract::{OutOfScope, Scope};
use turnstile_rooms::{Command, Done, Refusal, Wish, limits};
use turnstile_types::{Name, Position, Principal, Timestamp};

use crate::{
    known::{Attempt, Known, NotDecided},
    tables::{BookingRow, BookingState, HoldRow, HoldState, PlacedStay, PropertyRow},
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
    Booking(BookingRow),
    Hold(HoldRow),
}

impl Entry {
    const fn placed(&self) -> &PlacedStay {
        match self {
            Self::Booking(booking) => &booking.placed,
            Self::Hold(hold) => &hold.placed,
        }
    }
}

/// Decides a command, unless it is outside of its scope.
pub(crate) fn decide_within(
    known: &mut Known,
    asked: &Asked,
    (scope, command): (&Scope, &Command<'_>),
) -> Attempt<Result<Done, OutOfScope>> {
    if let Some(reference) = command.entry().filter(|_| !scope.is_everything()) {
        let entry = match look_up(known, reference.number()) {
            Ok(entry) => Some(entry),
            Err(NotDecided::Refused(_)) => None,
            Err(unknown @ NotDecided::Unknown) => return Err(unknown),
        };
        let placed = entry.as_ref().map(Entry::placed);
        let named = placed.map(|placed| (&placed.property, &placed.principal));
        if let Err(why) = scope.judge(&asked.principal, named) {
            return Ok(Err(why));
        }
    }
    decide(known, asked, command).map(Ok)
}

fn decide(known: &mut Known, asked: &Asked, command: &Command<'_>) -> Attempt<Done> {
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
            let guest = (guest.as_str(), id);
            placing::book(known, asked, (property, &wish, stay), guest)
        }
        Command::Hold {
            property,
            wish,
            stay,
            ttl_ms,
        } => placing::hold(known, asked, (property, &wish, stay), ttl_ms),
        Command::Extend { hold, ttl_ms } => holding::extend(known, asked, hold, ttl_ms),
        Command::Confirm { hold, guest, id } => {
            holding::confirm(known, asked, hold, (guest.as_str(), id))
        }
        Command::Release { hold } => holding::release(known, asked, hold),
        Command::Cancel { booking, id } => holding::cancel(known, asked, booking, id),
        Command::CancelForGuest { booking, reason } => {
            holding::cancel_for_guest(known, asked, booking, reason)
        }
        Command::Move {
            booking,
            wish,
            stay,
            id,
        } => moving::move_booking(known, asked, booking, (&wish, stay), id),
    }
}

/// The property, when it is there and so is what the wish names.
pub(crate) fn existing(known: &mut Known, name: Name, wish: &Wish) -> Attempt<(Name, PropertyRow)> {
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

fn refuse_ttl(ttl_ms: u32) -> Attempt<()> {
    let ttl_ms_max = limits::HOLD_TTL_MS_MAX;
    if (1..=ttl_ms_max).contains(&ttl_ms) {
        return Ok(());
    }
    Err(Refusal::HoldTooLong { ttl_ms_max }.into())
}

/// What a reference names, when it has not ended.
fn look_up(known: &mut Known, reference: u64) -> Attempt<Entry> {
    let (booking, hold) = (known.booking(reference)?, known.hold(reference)?);
    if let Some(booking) = booking {
        return match booking.state {
            BookingState::Cancelled => Err(Refusal::Ended.into()),
            BookingState::Booked => Ok(Entry::Booking(booking)),
        };
    }
    let Some(hold) = hold else {
        return match known.has_ended(reference)? {
            true => Err(Refusal::Ended.into()),
            false => Err(Refusal::NotFound.into()),
        };
    };
    if is_forgotten(&hold, known.now) {
        return Err(NotDecided::Refused(Refusal::Ended));
    }
    Ok(Entry::Hold(hold))
}

/// Whether nothing can be done with a hold any more.
pub(crate) fn is_forgotten(hold: &HoldRow, now: Timestamp) -> bool {
    match hold.state {
        HoldState::Held | HoldState::Expired => hold.until.plus_ms(limits::LATE_CONFIRM_MS) <= now,
        HoldState::Confirmed | HoldState::Released | HoldState::Forgotten => true,
    }
}
