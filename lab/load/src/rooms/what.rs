//! What visitors ask, and what the witness hears of it with its answer, or without.

use turnstile_check::rooms::{
    Booked, Cancelled, Confirmed, Extended, Held, InlineReference, NoHold, Operation, Picked,
    Place, Released, Wish,
};

use super::answer::{Outcome, RoomNames};
use crate::pace::Garbled;

/// A booking that was acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Booking {
    pub(crate) reference: InlineReference,
    pub(crate) place: Place,
    /// The id number that booked it.
    pub(crate) id: u64,
}

/// A hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept {
    pub(crate) reference: InlineReference,
    pub(crate) place: Place,
}

/// What a visitor asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// `guest` is the number of a guest's name.
    Book {
        place: Place,
        id: u64,
        guest: u8,
    },
    /// One of several rooms, which the property names by a type.
    Pick {
        wish: Wish,
        by_type: bool,
        id: u64,
    },
    Cancel {
        booking: Booking,
        id: u64,
    },
    Look {
        place: Place,
    },
    Hold {
        place: Place,
        seconds: u64,
    },
    Extend {
        hold: Kept,
        seconds: u64,
    },
    Confirm {
        hold: Kept,
        id: u64,
    },
    Release {
        hold: Kept,
    },
}

impl What {
    /// The number of its operation.
    pub(crate) const fn operation(&self) -> usize {
        match self {
            Self::Book { .. } | Self::Pick { .. } => 0,
            Self::Cancel { .. } => 1,
            Self::Look { .. } => 2,
            Self::Hold { .. } => 3,
            Self::Extend { .. } => 4,
            Self::Confirm { .. } => 5,
            Self::Release { .. } => 6,
        }
    }

    /// Whether its answer gives a new reference.
    pub(crate) const fn gives_reference(&self) -> bool {
        matches!(
            self,
            Self::Book { .. } | Self::Pick { .. } | Self::Hold { .. }
        )
    }

    /// The same without an answer.
    pub(crate) const fn unknown(&self) -> Operation {
        match *self {
            Self::Book { place, id, .. } => Operation::Book {
                place,
                id,
                answer: Booked::Unknown,
            },
            Self::Pick { wish, .. } => Operation::Pick {
                wish,
                answer: Picked::Unknown { holds: false },
            },
            Self::Cancel { booking, id } => Operation::Cancel {
                reference: booking.reference,
                id: Some(id),
                answer: Cancelled::Unknown,
            },
            Self::Look { place } => Operation::Look { place, found: None },
            Self::Hold { place, seconds } => Operation::Hold {
                place,
                ttl_ms: seconds * 1_000,
                answer: Held::Unknown,
            },
            Self::Extend { hold, seconds } => Operation::Extend {
                reference: hold.reference,
                ttl_ms: seconds * 1_000,
                answer: Extended::Unknown,
            },
            Self::Confirm { hold, id } => Operation::Confirm {
                reference: hold.reference,
                id,
                answer: Confirmed::Unknown,
            },
            Self::Release { hold } => Operation::Release {
                reference: hold.reference,
                answer: Released::Unknown,
            },
        }
    }

    /// Whether it changes anything if it is carried out.
    pub(crate) fn changes(&self) -> bool {
        match self {
            Self::Book { .. }
            | Self::Pick { .. }
            | Self::Hold { .. }
            | Self::Extend { .. }
            | Self::Confirm { .. }
            | Self::Release { .. } => true,
            Self::Cancel { booking, id } => booking.id == *id,
            Self::Look { .. } => false,
        }
    }

    /// What was asked, with what was answered to it.
    #[expect(
        clippy::too_many_lines,
        reason = "an exhaustive match, one arm for each request"
    )]
    pub(crate) fn told(
        &self,
        names: &RoomNames,
        outcome: &Outcome<'_>,
    ) -> Result<Operation, Garbled> {
        Ok(match (*self, outcome.reason) {
            (Self::Book { place, id, .. }, reason) => Operation::Book {
                place,
                id,
                answer: match (reason, outcome.nights) {
                    (None, _) => Booked::Done(parsed(outcome.reference)?),
                    (Some(b"sold_out"), Some(nights)) => Booked::SoldOut(nights),
                    (Some(_), _) => Booked::Strange,
                },
            },
            (Self::Pick { wish, id, .. }, reason) => Operation::Pick {
                wish,
                answer: match (reason, outcome.nights) {
                    (None, _) => Picked::Booked {
                        room: names.room(outcome.room).ok_or(Garbled)?,
                        id,
                        reference: parsed(outcome.reference)?,
                    },
                    (Some(b"sold_out"), Some(nights)) => Picked::SoldOut(nights),
                    (Some(_), _) => Picked::Strange,
                },
            },
            (Self::Cancel { booking, id }, reason) => Operation::Cancel {
                reference: booking.reference,
                id: Some(id),
                answer: match reason {
                    None => Cancelled::Done(outcome.place(names)?),
                    Some(b"ended" | b"not_found") => Cancelled::Gone,
                    Some(b"wrong_guest") => Cancelled::WrongGuest,
                    Some(_) => Cancelled::Strange,
                },
            },
            (Self::Hold { place, seconds }, reason) => Operation::Hold {
                place,
                ttl_ms: seconds * 1_000,
                answer: match (reason, outcome.nights) {
                    (None, _) => Held::Done {
                        reference: parsed(outcome.reference)?,
                        until: outcome.until.ok_or(Garbled)?,
                    },
                    (Some(b"sold_out"), Some(nights)) => Held::SoldOut(nights),
                    (Some(_), _) => Held::Strange,
                },
            },
            (Self::Extend { hold, seconds }, reason) => Operation::Extend {
                reference: hold.reference,
                ttl_ms: seconds * 1_000,
                answer: match reason {
                    None => Extended::Done(outcome.until.ok_or(Garbled)?),
                    Some(reason) => Extended::Refused(no_hold(reason)),
                },
            },
            (Self::Confirm { hold, id }, reason) => Operation::Confirm {
                reference: hold.reference,
                id,
                answer: match reason {
                    None => Confirmed::Done {
                        room: names.room(outcome.room).ok_or(Garbled)?,
                        late: outcome.late,
                    },
                    Some(reason) => Confirmed::Refused(no_hold(reason)),
                },
            },
            (Self::Release { hold }, reason) => Operation::Release {
                reference: hold.reference,
                answer: match reason {
                    None => Released::Done,
                    Some(reason) => Released::Refused(no_hold(reason)),
                },
            },
            (Self::Look { .. }, _) => return Err(Garbled),
        })
    }
}

fn parsed(reference: Option<&[u8]>) -> Result<InlineReference, Garbled> {
    InlineReference::parse(reference.ok_or(Garbled)?).map_err(|_none| Garbled)
}

/// Why there is no hold any more.
fn no_hold(reason: &[u8]) -> NoHold {
    match reason {
        b"hold_expired" => NoHold::Expired,
        b"already_confirmed" => NoHold::Confirmed,
        b"ended" | b"not_found" => NoHold::Gone,
        _ => NoHold::Strange,
    }
}
