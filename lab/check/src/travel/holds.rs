//! Itineraries that are held, and how what stands is confirmed or given back.
//!
//! What is told of the server's clock: a hold that is made at once ends so long after the time of its
//! record. So that time is known, and can only be later at all places behind. Whatever shows that a hold
//! is over *claims* that its time has come; when it is told afterwards that it had not, the hold has
//! ended too early. It may stand longer: it is given back in a transaction, which may have to wait, and
//! nobody is told. Where it is known how long that takes at most, it is over from then on, and whatever
//! shows it is wrong.

use std::collections::VecDeque;

use super::{Agency, StandingItinerary, TripBooked, TripCancelled, TripConfirmed, WorldChange};
use crate::{Model as _, rooms::InlineReference};

/// A server whose clock moves further than this from one hold to the next may have stood still.
const GAP_MS_MAX: u64 = 1_000;

/// Holds by when they are over for certain.
#[derive(Clone, Debug, Default)]
pub(super) struct Deadlines {
    /// How long a hold may stand after its time, in milliseconds in which the server was seen to work;
    /// nothing when that is not known.
    late_ms_max: Option<u64>,
    /// Those milliseconds so far, and the server's clock when they were last counted.
    worked: u64,
    counted_at: u64,
    /// By when of them each is over, in the order in which they were made.
    holds: VecDeque<(u64, InlineReference)>,
}

/// What is known of a hold.
#[derive(Clone, Copy, Debug)]
pub(super) struct TripHold {
    /// In milliseconds of the server; zero when it may have been given back before.
    until: u64,
    /// It may have been confirmed.
    in_doubt: bool,
}

/// What is known of the server's clock at the place that is replayed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HoldClock {
    /// It is not earlier, in milliseconds.
    now: u64,
    /// Who claims that: a hold that was over at this place.
    claimed: Option<(InlineReference, u64)>,
}

impl TripHold {
    /// Of what was booked, if it is held.
    pub(super) const fn of(answer: TripBooked) -> Option<Self> {
        match answer {
            TripBooked::Held { until, .. } => Some(Self {
                until,
                in_doubt: false,
            }),
            _ => None,
        }
    }

    /// Whether it is over when its time is, whatever was not answered.
    pub(super) const fn must_end(&self) -> bool {
        !self.in_doubt
    }
}

impl Deadlines {
    /// The server's clock was told.
    fn hear(&mut self, now: u64) {
        if self.counted_at > 0 {
            self.worked += now.saturating_sub(self.counted_at).min(GAP_MS_MAX);
        }
        self.counted_at = self.counted_at.max(now);
    }

    /// A hold was made whose time is over so long after it was made.
    fn add(&mut self, locator: InlineReference, lasts: u64) {
        if let Some(late) = self.late_ms_max {
            self.holds.push_back((self.worked + lasts + late, locator));
        }
    }

    /// One that is over for certain.
    fn take(&mut self) -> Option<InlineReference> {
        let &(deadline, locator) = self.holds.front()?;
        (deadline <= self.worked).then(|| {
            self.holds.pop_front();
            locator
        })
    }
}

impl Agency {
    /// The same, of whose holds none stands for longer than this after its time, in milliseconds, as long
    /// as the server works.
    #[must_use]
    pub fn with_holds_late_by(mut self, ms: u64) -> Self {
        self.deadlines.late_ms_max = Some(ms);
        self
    }

    /// A hold was made.
    pub(super) fn begin_hold(&mut self, locator: InlineReference, hold: TripHold) {
        let lasts = hold.until.saturating_sub(self.clock.now);
        self.deadlines.add(locator, lasts);
    }

    /// Holds that cannot stand any more are over.
    pub(super) fn end_holds(&mut self) {
        while let Some(locator) = self.deadlines.take() {
            let must_end = self.hold(locator).is_some_and(|hold| hold.must_end());
            if let Some(number) = self.fading(locator).filter(|_number| must_end) {
                self.settle(number);
            }
        }
    }

    /// A hold that did not have to wait tells the time of its record.
    pub(super) fn hear_time(&mut self, place: u64, answer: TripBooked) -> Result<(), String> {
        let TripBooked::Held { asked: now, .. } = answer else {
            return Ok(());
        };
        let clock = self.clock;
        let waited = !place.is_multiple_of(Self::PLACES);
        self.deadlines.hear(now);
        if now > clock.now || (now < clock.now && !waited) {
            self.clock = HoldClock { now, claimed: None };
        }
        if waited || now >= clock.now {
            return Ok(());
        }
        let (position, was) = (place / Self::PLACES, clock.now);
        Err(match clock.claimed {
            None => format!("position {position} is of the time {now}, after {was}"),
            Some((hold, over)) => format!(
                "hold {hold} until {was} was over at position {}, but at position {position} it was \
                 only {now}: it ended too early",
                over / Self::PLACES
            ),
        })
    }

    /// Something shows that the time of a hold has come.
    pub(super) fn claim_over(&mut self, locator: InlineReference) {
        let hold = self.hold(locator);
        let until = hold.map_or(0, |hold| hold.until);
        if until > self.clock.now {
            self.clock = HoldClock {
                now: until,
                claimed: Some((locator, self.at)),
            };
        }
    }

    fn hold(&self, locator: InlineReference) -> Option<TripHold> {
        self.itineraries.get(&locator)?.hold
    }

    /// What may give an itinerary back at any time.
    pub(super) fn fading(&self, locator: InlineReference) -> Option<usize> {
        self.floating.iter().position(|one| one.what.ends(locator))
    }

    /// It was refused, for it is being given back: only the end of a hold does that by itself.
    fn may_be_busy(&mut self, locator: InlineReference) -> bool {
        self.claim_over(locator);
        self.hold(locator).is_some()
    }

    /// An itinerary that stands is said to be over: so it is if it may have ended, otherwise it is lost.
    fn over_or_lost(&mut self, locator: InlineReference) -> Result<(), String> {
        if let Some(number) = self.fading(locator) {
            self.settle(number);
            return Ok(());
        }
        let Some(itinerary) = self.itineraries.get(&locator).copied() else {
            return Ok(());
        };
        self.world.make(&itinerary.given_back());
        self.end(locator);
        let since = itinerary.since / Self::PLACES;
        Err(format!(
            "was refused, for it is over, but {:?} was booked at position {since}: it is lost",
            itinerary.trip
        ))
    }

    pub(super) fn cancel(
        &mut self,
        locator: InlineReference,
        answer: TripCancelled,
    ) -> Result<(), String> {
        let wrong = |sentence: &str| Err(format!("the cancellation of {locator} {sentence}"));
        let fading = self.fading(locator);
        match (answer, self.itineraries.get(&locator).copied()) {
            (TripCancelled::Done, Some(itinerary)) => {
                if let Some(number) = fading {
                    self.floating.swap_remove(number);
                }
                self.world.make(&itinerary.given_back());
                self.end(locator);
                Ok(())
            }
            (TripCancelled::Done, None) if self.over.contains(&locator) => {
                wrong("was done, but that was over")
            }
            (TripCancelled::Done, None) => wrong("was done, but that was never booked"),
            (TripCancelled::Over, Some(_)) => match self.over_or_lost(locator) {
                Ok(()) => Ok(()),
                Err(lost) => wrong(&lost),
            },
            (TripCancelled::Over, None) => Ok(()),
            (TripCancelled::Busy, _) if self.may_be_busy(locator) => Ok(()),
            (TripCancelled::Unknown, _) => wrong("has no answer, but a position"),
            (TripCancelled::Strange | TripCancelled::Busy, _) => wrong("was refused for no reason"),
        }
    }

    pub(super) fn confirm(
        &mut self,
        locator: InlineReference,
        answer: TripConfirmed,
    ) -> Result<(), String> {
        let wrong = |sentence: &str| Err(format!("the confirmation of {locator} {sentence}"));
        let known = self.itineraries.get(&locator).copied();
        let held = known.map(|itinerary: StandingItinerary| itinerary.hold);
        match (answer, held) {
            (TripConfirmed::Done, Some(Some(_))) => {
                self.confirmed(locator);
                Ok(())
            }
            (TripConfirmed::Done, Some(None)) => wrong("was done, but that was confirmed before"),
            (TripConfirmed::Done, None) if self.over.contains(&locator) => {
                wrong("was done, but that was over: others may have what was held")
            }
            (TripConfirmed::Done, None) => wrong("was done, but that was never held"),
            (TripConfirmed::Over, _) => match self.over_or_lost(locator) {
                Ok(()) => Ok(()),
                Err(lost) => wrong(&lost),
            },
            (TripConfirmed::NotHeld, Some(Some(hold))) if hold.in_doubt => {
                self.confirmed(locator);
                Ok(())
            }
            (TripConfirmed::NotHeld, Some(None)) => Ok(()),
            (TripConfirmed::NotHeld, Some(Some(_))) => wrong("was refused, but it is held"),
            (TripConfirmed::NotHeld, None) => wrong("was refused as booked, but it is over"),
            (TripConfirmed::Busy, _) if self.may_be_busy(locator) => Ok(()),
            (TripConfirmed::Unknown, _) => wrong("has no answer, but a position"),
            (TripConfirmed::Strange | TripConfirmed::Busy, _) => wrong("was refused for no reason"),
        }
    }

    /// A hold is a booking now, and does not end by itself.
    fn confirmed(&mut self, locator: InlineReference) {
        if let Some(number) = self.fading(locator) {
            self.floating.swap_remove(number);
        }
        if let Some(itinerary) = self.itineraries.get_mut(&locator) {
            itinerary.hold = None;
        }
    }

    /// Nobody knows whether a hold was confirmed.
    pub(super) fn doubt_hold(&mut self, locator: InlineReference) {
        let itinerary = self.itineraries.get_mut(&locator);
        if let Some(hold) = itinerary.and_then(|one| one.hold.as_mut()) {
            hold.in_doubt = true;
        }
    }

    /// A cancellation whose place is not known: what it gives back, and whether it did; nothing when
    /// there is no more to be known.
    pub(super) fn suspect_cancellation(
        &mut self,
        locator: InlineReference,
        answer: TripCancelled,
    ) -> Option<(Vec<WorldChange>, bool)> {
        let itinerary = self.itineraries.get_mut(&locator)?;
        let certain = match answer {
            TripCancelled::Done => true,
            TripCancelled::Unknown => false,
            TripCancelled::Over | TripCancelled::Busy | TripCancelled::Strange => return None,
        };
        let given_back = itinerary.given_back();
        if let (false, Some(hold)) = (certain, itinerary.hold.as_mut()) {
            // It may be given back at any time, as it may end.
            hold.until = 0;
            return None;
        }
        if certain {
            if let Some(number) = self.fading(locator) {
                self.floating.swap_remove(number);
            }
            self.end(locator);
        }
        Some((given_back, certain))
    }
}
