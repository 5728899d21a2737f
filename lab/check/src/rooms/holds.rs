//! Holds, which end by the server's clock.
//!
//! What is told of that clock: a hold that is made, or given more time, ends so long after the time of
//! its record. So that time is known, and can only be later at all positions behind. Whatever shows
//! that a hold is over *claims* that its time has come; when it is told afterwards that it had not, the
//! hold has ended too early. A hold whose time has come as far as is known may stand in nobody's way.

use super::{
    Booking, CellHolder, Confirmed, Extended, Held, InlineReference, NoHold, Place, Released, Table,
};

/// How many holds are remembered that are over and may be confirmed late.
const OVER_MAX: usize = 1 << 20;

/// How long after its end the server remembers a hold, in milliseconds.
const REMEMBERED_MS: u64 = 24 * 60 * 60 * 1_000;

#[derive(Clone, Copy, Debug)]
pub(super) struct Hold {
    pub(super) place: Place,
    /// In milliseconds of the server. None: it may have ended, or been given more time.
    pub(super) until: Option<u64>,
    pub(super) position: u64,
}

/// What is known of the server's clock at the position that was replayed last.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RoomsClock {
    /// It is not earlier, in milliseconds.
    pub(super) now: u64,
    /// How much earlier a later record may be: where a database decides, several do at a time.
    pub(super) slack_ms: u64,
    /// Who claims that: a hold that ended, at this position.
    claimed: Option<(InlineReference, u64)>,
}

impl RoomsClock {
    /// Whether that time has certainly come.
    pub(super) const fn has_passed(&self, until: u64) -> bool {
        until.saturating_add(self.slack_ms) <= self.now
    }
}

impl Hold {
    /// Whether it may still have its nights.
    pub(super) fn may_stand(&self, clock: &RoomsClock) -> bool {
        self.until.is_none_or(|until| !clock.has_passed(until))
    }
}

impl Table {
    /// A record tells its time.
    fn told(&mut self, position: u64, now: u64) -> Result<(), String> {
        let clock = &mut self.clock;
        if now + clock.slack_ms >= clock.now {
            if now > clock.now {
                (clock.now, clock.claimed) = (now, None);
            }
            return Ok(());
        }
        let (was, claimed) = (clock.now, clock.claimed);
        (clock.now, clock.claimed) = (now, None);
        Err(match claimed {
            None => format!("position {position} is of the time {now}, after {was}"),
            Some((hold, over)) => format!(
                "hold {hold} until {was} was over at position {over}, but at position {position} it \
                 was only {now}: it ended too early"
            ),
        })
    }

    /// The server's clock says this at a position. Who feeds the table knows it from elsewhere, and tells
    /// it before and after what happens there.
    ///
    /// # Errors
    /// It was later already, or a hold has ended too early.
    pub fn tell_time(&mut self, position: u64, now: u64) -> Result<(), String> {
        self.told(position, now)
    }

    /// Whether it is held for certain.
    pub(super) fn is_held(&self, reference: InlineReference) -> bool {
        let hold = self.holds.get(&reference);
        hold.is_some_and(|hold| hold.until.is_some() && hold.may_stand(&self.clock))
    }

    /// Whether a hold ended so long ago that the server need not know it any more.
    fn is_forgotten(&self, hold: &Hold) -> bool {
        let until = hold.until.unwrap_or(u64::MAX);
        self.clock.has_passed(until.saturating_add(REMEMBERED_MS))
    }

    /// Something shows that a hold is over.
    fn claim_over(&mut self, reference: InlineReference, position: u64) {
        match self.holds.get(&reference).map(|hold| hold.until) {
            Some(Some(until)) if until > self.clock.now => {
                (self.clock.now, self.clock.claimed) = (until, Some((reference, position)));
            }
            // Nobody asks for it any more, but it may have been confirmed.
            Some(None) => drop(self.holds.remove(&reference)),
            Some(Some(_)) | None => {}
        }
    }

    /// Somebody else has a cell for certain, or it is free: a hold there is over.
    pub(super) fn clear_hold(&mut self, room: u32, night: u16, position: u64) {
        if let Some(CellHolder::Hold(reference)) = self.holder(room, night) {
            self.claim_over(reference, position);
            let cell = self.index(room, night);
            self.cells[cell] = None;
        }
    }

    pub(super) fn hold(
        &mut self,
        position: u64,
        (place, ttl_ms): (Place, u64),
        answer: Held,
    ) -> Result<(), String> {
        let (reference, until) = match answer {
            Held::Done { reference, until } => (reference, until),
            Held::SoldOut(nights) => return self.sold_out(position, place, nights),
            Held::Unknown => return Err(format!("{place} has no answer, but a position")),
            Held::Strange => return Err(format!("{place} was refused for no reason")),
        };
        let in_time = self.told(position, until.saturating_sub(ttl_ms));
        let again = self.was_given(reference);
        let free = self.make_free(position, place, &format!("held as {reference}"));
        self.fill(place, Some(CellHolder::Hold(reference)));
        self.forget_holds(OVER_MAX);
        let until = Some(until);
        let hold = Hold {
            place,
            until,
            position,
        };
        self.holds.insert(reference, hold);
        in_time.and(free)?;
        if again {
            return Err(format!("{reference} for {place} was given before"));
        }
        Ok(())
    }

    /// The half of those that are over which ended longest ago is forgotten where there are too many: those
    /// that just ended may be confirmed late.
    pub(super) fn forget_holds(&mut self, most: usize) {
        if self.holds.len() < most {
            return;
        }
        let clock = self.clock;
        let over = |hold: &Hold| hold.until.filter(|&until| clock.has_passed(until));
        let mut ends: Vec<u64> = self.holds.values().filter_map(over).collect();
        if ends.is_empty() {
            return;
        }
        let half = (ends.len() - 1) / 2;
        let (_, &mut middle, _) = ends.select_nth_unstable(half);
        self.holds
            .retain(|_reference, hold| over(hold).is_none_or(|until| until > middle));
        self.forgot_holds = true;
    }

    /// Why an answer to what was asked about a hold cannot be, where that is not known, or over.
    fn lacks(&self, reference: InlineReference, what: &str) -> Result<(), String> {
        if self.forgot_holds {
            return Ok(());
        }
        Err(
            match (self.bookings.get(&reference), self.ended.get(&reference)) {
                (Some(booking), _) => {
                    let since = booking.position;
                    format!("hold {reference} {what}, but it was confirmed at position {since}")
                }
                (None, Some(end)) => {
                    format!("hold {reference} {what}, but that ended at position {end}")
                }
                (None, None) => format!("hold {reference} {what}, but that was never given"),
            },
        )
    }

    /// Whether a refusal to do something with a hold is right.
    fn no_hold(
        &mut self,
        position: u64,
        reference: InlineReference,
        why: NoHold,
    ) -> Result<(), String> {
        let known = self.holds.get(&reference).copied();
        match (why, known) {
            (NoHold::Strange, _) => Err(format!("hold {reference} was refused for no reason")),
            (NoHold::Expired, Some(_)) => {
                self.claim_over(reference, position);
                Ok(())
            }
            (NoHold::Expired, None) => self.lacks(reference, "was refused as expired"),
            (NoHold::Confirmed, Some(hold)) if hold.until.is_none() => Ok(()),
            (NoHold::Gone, Some(hold)) if hold.until.is_none() => {
                self.claim_over(reference, position);
                Ok(())
            }
            (NoHold::Confirmed, None) if self.bookings.contains_key(&reference) => Ok(()),
            (NoHold::Confirmed, None) => self.lacks(reference, "was refused as confirmed"),
            (NoHold::Gone, Some(hold)) if self.is_forgotten(&hold) => {
                self.holds.remove(&reference);
                Ok(())
            }
            (NoHold::Gone, None) if self.bookings.contains_key(&reference) => {
                self.lacks(reference, "was refused as gone")
            }
            (NoHold::Gone, None) => Ok(()),
            (NoHold::Confirmed | NoHold::Gone, Some(hold)) => {
                let (place, since) = (hold.place, hold.position);
                self.holds.remove(&reference);
                Err(format!(
                    "hold {reference} was refused, for it is {why:?}, but {place} was held at position \
                     {since}: it is lost"
                ))
            }
        }
    }

    pub(super) fn extend(
        &mut self,
        position: u64,
        (reference, ttl_ms): (InlineReference, u64),
        answer: Extended,
    ) -> Result<(), String> {
        let until = match answer {
            Extended::Done(until) => until,
            Extended::Refused(why) => return self.no_hold(position, reference, why),
            Extended::Unknown => return Err(format!("{reference} has no answer, but a position")),
        };
        self.told(position, until.saturating_sub(ttl_ms))?;
        let clock = self.clock;
        let Some(hold) = self.holds.get_mut(&reference) else {
            return self.lacks(reference, "was given more time");
        };
        let (was, stood) = (hold.until, hold.may_stand(&clock));
        hold.until = Some(until);
        if stood {
            return Ok(());
        }
        let was = was.unwrap_or(0);
        Err(format!(
            "hold {reference} was given more time at {}, but ended at {was}",
            clock.now
        ))
    }

    pub(super) fn confirm(
        &mut self,
        position: u64,
        (reference, id): (InlineReference, u64),
        answer: Confirmed,
    ) -> Result<(), String> {
        let (room, late) = match answer {
            Confirmed::Done { room, late } => (room, late),
            Confirmed::Refused(why) => return self.not_confirmed(position, reference, why),
            Confirmed::Unknown => return Err(format!("{reference} has no answer, but a position")),
        };
        let Some(hold) = self.holds.get(&reference).copied() else {
            return self.lacks(reference, "was confirmed");
        };
        let in_time = late || hold.may_stand(&self.clock);
        if late {
            self.claim_over(reference, position);
        }
        self.holds.remove(&reference);
        self.let_go(reference, hold.place);
        if room != hold.place.room {
            let place = hold.place;
            return Err(format!(
                "hold {reference} was confirmed for room {room}, but it was for {place}"
            ));
        }
        let free = self.make_free(position, hold.place, &format!("confirmed as {reference}"));
        self.booked += 1;
        self.fill(hold.place, Some(CellHolder::Booking(reference)));
        let place = hold.place;
        let booking = Booking {
            place,
            id,
            position,
            fading: false,
        };
        self.bookings.insert(reference, booking);
        if !in_time {
            return Err(format!(
                "hold {reference} was confirmed as in time, but its time was over"
            ));
        }
        free
    }

    /// A confirmation that was refused: too late only where somebody else has one of the nights.
    fn not_confirmed(
        &mut self,
        position: u64,
        reference: InlineReference,
        why: NoHold,
    ) -> Result<(), String> {
        self.no_hold(position, reference, why)?;
        let Some(hold) = self
            .holds
            .get(&reference)
            .filter(|_hold| why == NoHold::Expired)
        else {
            return Ok(());
        };
        let (place, room) = (hold.place, hold.place.room);
        let own = Some(CellHolder::Hold(reference));
        let has = |night| {
            let holder = self.holder(room, night);
            holder.is_some() && holder != own
                || self.stopped[self.index(room, night)]
                || self.shades_over(room, night).next().is_some()
        };
        if place.each().any(has) {
            return Ok(());
        }
        Err(format!(
            "hold {reference} was refused as expired, but {place} is free"
        ))
    }

    pub(super) fn release(
        &mut self,
        position: u64,
        reference: InlineReference,
        answer: Released,
    ) -> Result<(), String> {
        match answer {
            Released::Done => {}
            Released::Refused(why) => return self.no_hold(position, reference, why),
            Released::Unknown => return Err(format!("{reference} has no answer, but a position")),
        }
        let Some(hold) = self.holds.remove(&reference) else {
            return self.lacks(reference, "was released");
        };
        self.let_go(reference, hold.place);
        self.note_end(reference, position);
        if hold.may_stand(&self.clock) {
            return Ok(());
        }
        Err(format!(
            "hold {reference} was released, but its time was over"
        ))
    }

    /// A hold has its cells no more.
    fn let_go(&mut self, reference: InlineReference, place: Place) {
        for night in place.each() {
            let cell = self.index(place.room, night);
            if self.cells[cell] == Some(CellHolder::Hold(reference)) {
                self.cells[cell] = None;
            }
        }
    }

    /// It is not known whether a hold was given back or given more time.
    pub(super) fn doubt_hold(&mut self, reference: InlineReference) {
        let clock = self.clock;
        if let Some(hold) = self.holds.get_mut(&reference)
            && hold.may_stand(&clock)
        {
            hold.until = None;
        }
    }

    /// It is not known whether a hold was confirmed: that can be done late, too. Answers what was held.
    pub(super) fn doubt_confirmation(&mut self, reference: InlineReference) -> Option<Place> {
        let hold = self.holds.get_mut(&reference)?;
        hold.until = None;
        Some(hold.place)
    }
}
