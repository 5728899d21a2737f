//! What visitors ask, and what is told of it with its answer, or without.

use turnstile_check::rooms::{
    Booked, Cancelled, Confirmed, Extended, Held, NoHold, Operation, Place, Reference, Released,
};

use super::answer::{Names, Outcome};
use crate::pace::Garbled;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Booking {
    pub(super) reference: Reference,
    pub(super) place: Place,
    pub(super) id: u64,
}

/// A hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kept {
    pub(super) reference: Reference,
    pub(super) place: Place,
}

/// What a visitor asks.
#[derive(Clone, Copy, Debug)]
pub(super) enum What {
    Book { place: Place, id: u64 },
    Cancel { booking: Booking, id: u64 },
    Look { place: Place },
    Hold { place: Place, seconds: u64 },
    Extend { hold: Kept, seconds: u64 },
    Confirm { hold: Kept, id: u64 },
    Release { hold: Kept },
}

impl What {
    /// The same without an answer.
    pub(super) const fn unknown(&self) -> Operation {
        match *self {
            Self::Book { place, id } => Operation::Book {
                place,
                id,
                answer: Booked::Unknown,
            },
            Self::Cancel { booking, id } => Operation::Cancel {
                reference: booking.reference,
                id,
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
    pub(super) fn changes(&self) -> bool {
        match self {
            Self::Book { .. }
            | Self::Hold { .. }
            | Self::Extend { .. }
            | Self::Confirm { .. }
            | Self::Release { .. } => true,
            Self::Cancel { booking, id } => booking.id == *id,
            Self::Look { .. } => false,
        }
    }

    /// What was asked, with what was answered to it.
    pub(super) fn told(&self, names: &Names, outcome: &Outcome<'_>) -> Result<Operation, Garbled> {
        Ok(match (*self, outcome.reason) {
            (Self::Book { place, id }, None) => {
                let reference = parsed(outcome.reference)?;
                let answer = Booked::Done(reference);
                Operation::Book { place, id, answer }
            }
            (Self::Book { place, id }, Some(reason)) => {
                let answer = match (reason, outcome.nights) {
                    (b"sold_out", Some(nights)) => Booked::SoldOut(nights),
                    _ => Booked::Strange,
                };
                Operation::Book { place, id, answer }
            }
            (Self::Cancel { booking, id }, reason) => Operation::Cancel {
                reference: booking.reference,
                id,
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

fn parsed(reference: Option<&[u8]>) -> Result<Reference, Garbled> {
    Reference::parse(reference.ok_or(Garbled)?).map_err(|_none| Garbled)
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
