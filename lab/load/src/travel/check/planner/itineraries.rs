//! Trips in one command: booked, held, confirmed and cancelled.

use std::time::Duration;

use turnstile_check::{
    Seen,
    rooms::InlineReference,
    travel::{AgencyOperation, TripBooked, TripCancelled, TripConfirmed, TripItems},
};

use super::{Planner, refused};
use crate::{
    again::WitnessOf,
    pace::{self, Garbled},
    travel::check::{answer::Outcome, plan::Fate},
};

/// A hold that is being given back is asked for again so long after, in milliseconds.
const BUSY_MS: u64 = 5;

impl Planner {
    pub(super) fn take_booking(
        &mut self,
        (customer, trip): (u16, TripItems),
        hold_ms: Option<u64>,
        outcome: &Outcome<'_>,
        witness: &mut WitnessOf<Self>,
    ) -> Result<(), Garbled> {
        let answer = match outcome.reason {
            None => {
                self.ended = Some(pace::Answer::Done);
                self.booked(hold_ms, outcome)?
            }
            Some(b"aborted") => {
                witness.hears_nothing();
                self.ended = Some(refused(outcome));
                return Ok(());
            }
            Some(reason) => {
                self.ended = Some(refused(outcome));
                match (reason, outcome.item) {
                    (b"in_doubt", _) if hold_ms.is_some() => TripBooked::HeldUnknown,
                    (b"in_doubt", _) => TripBooked::Unknown,
                    (b"sold_out", Some(item)) => TripBooked::SoldOut(item),
                    _ => TripBooked::Strange,
                }
            }
        };
        let waited = outcome.decided.is_some() || outcome.replayed;
        let seen = match (answer, outcome.place()) {
            (TripBooked::Unknown | TripBooked::HeldUnknown, _) => Seen::Unknown,
            // Nothing was promised, so that a crash may have given its place again.
            (TripBooked::SoldOut(_), _) if waited => Seen::Reading,
            (_, Some(place)) => Seen::At(place),
            (_, None) => Seen::Unknown,
        };
        let operation = AgencyOperation::Book {
            customer,
            trip,
            answer,
        };
        witness.hears(seen, operation);
        Ok(())
    }

    /// What was booked, or held.
    fn booked(
        &mut self,
        hold_ms: Option<u64>,
        outcome: &Outcome<'_>,
    ) -> Result<TripBooked, Garbled> {
        let (locator, price) = outcome.locator.zip(outcome.paid()).ok_or(Garbled)?;
        let Some(hold_ms) = hold_ms else {
            self.held.keep(locator);
            return Ok(TripBooked::Done { locator, price });
        };
        let until = outcome.until.ok_or(Garbled)?;
        let fate = self.plan.fate(hold_ms);
        self.keep_hold(locator, fate);
        Ok(TripBooked::Held {
            locator,
            price,
            asked: until.saturating_sub(hold_ms),
            until,
        })
    }

    /// It waits for nobody: the place of the command is where it was decided.
    pub(super) fn take_confirmation(
        &mut self,
        locator: InlineReference,
        outcome: &Outcome<'_>,
        witness: &mut WitnessOf<Self>,
    ) {
        let answer = match outcome.reason {
            None => TripConfirmed::Done,
            Some(b"itinerary_over") => TripConfirmed::Over,
            Some(b"busy") => TripConfirmed::Busy,
            Some(b"not_held") => TripConfirmed::NotHeld,
            Some(_) => TripConfirmed::Strange,
        };
        match answer {
            TripConfirmed::Done => self.held.keep(locator),
            TripConfirmed::Busy => self.stands(locator, true),
            _ => self.held.end(locator),
        }
        self.ended = Some(match answer {
            TripConfirmed::Done => pace::Answer::Done,
            _ => refused(outcome),
        });
        let operation = AgencyOperation::Confirm { locator, answer };
        witness.hears(Seen::At(outcome.asked_at()), operation);
    }

    pub(super) fn take_cancellation(
        &mut self,
        (locator, held): (InlineReference, bool),
        outcome: &Outcome<'_>,
        witness: &mut WitnessOf<Self>,
    ) {
        let answer = match outcome.reason {
            None => TripCancelled::Done,
            Some(b"aborted") => {
                self.stands(locator, held);
                witness.hears_nothing();
                self.ended = Some(refused(outcome));
                return;
            }
            Some(b"in_doubt") => TripCancelled::Unknown,
            Some(b"itinerary_over") => TripCancelled::Over,
            Some(b"busy") => TripCancelled::Busy,
            Some(_) => TripCancelled::Strange,
        };
        self.ended = Some(match answer {
            TripCancelled::Done => pace::Answer::Done,
            _ => refused(outcome),
        });
        match answer {
            TripCancelled::Busy => self.stands(locator, held),
            _ => self.held.end(locator),
        }
        let seen = match (answer, outcome.place()) {
            (TripCancelled::Unknown, _) | (TripCancelled::Done, None) => Seen::Unknown,
            (TripCancelled::Done, Some(place)) => Seen::At(place),
            // It was refused at once.
            (TripCancelled::Over | TripCancelled::Busy | TripCancelled::Strange, _) => {
                Seen::At(outcome.asked_at())
            }
        };
        let operation = AgencyOperation::Cancel { locator, answer };
        witness.hears(seen, operation);
    }

    /// Goes on with a hold when its fate says so.
    fn keep_hold(&mut self, locator: InlineReference, fate: Fate) {
        let when = self.now + Duration::from_millis(fate.after_ms);
        self.hold = Some((locator, fate, when));
    }

    /// It stands as before, as far as is known.
    pub(super) fn stands(&mut self, locator: InlineReference, held: bool) {
        if held {
            let (after_ms, confirms) = (BUSY_MS, false);
            self.keep_hold(locator, Fate { after_ms, confirms });
        } else {
            self.held.keep(locator);
        }
    }
}
