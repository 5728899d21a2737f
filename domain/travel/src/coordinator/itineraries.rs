//! Itineraries: trips that are booked or held in one command.

use turnstile_chassis::Bytes;
use turnstile_types::{Position, Timestamp};

use super::{Coordinator, Goal, Moment, NOBODY, TravelJob, jobs::give_back};
use crate::{
    CustomerId, Desk, Done, EventKind, Item, Locator, Operation, Refusal, Trip, Xid, limits,
};

/// A trip that stands on a customer's bill.
#[derive(Clone, Debug, PartialEq, Eq, Bytes)]
pub(crate) struct Itinerary {
    pub(crate) customer: CustomerId,
    /// The transaction that added the customer.
    pub(crate) since: Xid,
    /// Each at the price when it was reserved.
    pub(crate) items: Vec<(Item, u32)>,
    /// When it is released, unless it is confirmed; None: it is booked.
    pub(crate) until: Option<Timestamp>,
    /// Whether a transaction gives it back just now.
    pub(crate) releasing: bool,
}

impl Coordinator {
    pub(crate) fn book(
        &mut self,
        moment: Moment,
        ticket: Position,
        (customer, trip): (CustomerId, &Trip),
        hold_ms: Option<u64>,
    ) -> Result<(), Refusal> {
        let limit_ms = limits::HOLD_MS_MAX;
        if hold_ms.is_some_and(|ms| ms > limit_ms) {
            return Err(Refusal::HoldTooLong { limit_ms });
        }
        // Each open transaction may be about to take a locator.
        let open = u32::try_from(self.transactions.len()).expect("they are limited");
        let limit = Locator::COUNT;
        if self.issued >= limit - open {
            return Err(Refusal::Full { limit });
        }
        let goal = Goal::Book {
            customer,
            until: hold_ms.map(|ms| moment.now.plus_ms(ms)),
            since: Xid(0),
        };
        let xid = self.start(moment)?;
        self.begin(moment, xid, TravelJob::trip(ticket, goal, trip))
    }

    /// The next locator.
    pub(super) fn issue(&mut self) -> Locator {
        self.issued += 1;
        Locator::of(self.issued).expect("booking left room for it")
    }

    /// The transaction that booked it is committed.
    pub(super) fn keep_itinerary(
        &mut self,
        moment: Moment,
        (customer, since): (CustomerId, Xid),
        (locator, items): (Locator, Vec<(Item, u32)>),
        until: Option<Timestamp>,
    ) -> Done {
        self.booked += 1;
        let price = items.iter().map(|(_, price)| u64::from(*price)).sum();
        self.tell(
            until.map_or(EventKind::Booked { locator }, |until| EventKind::Held {
                locator,
                until,
            }),
        );
        // A commit may come after the hold is over; it is released with the next tick.
        if let Some(until) = until {
            self.holds.insert((until.max(moment.now), locator));
        }
        let itinerary = Itinerary {
            customer,
            since,
            items,
            until: until.map(|until| until.max(moment.now)),
            releasing: false,
        };
        self.itineraries.insert(locator, itinerary);
        Done::Booked {
            locator,
            price,
            until,
        }
    }

    pub(crate) fn confirm(&mut self, locator: Locator) -> Result<Done, Refusal> {
        let itinerary = self.standing(locator)?;
        let until = itinerary.until.take().ok_or(Refusal::NotHeld)?;
        self.holds.remove(&(until, locator));
        self.tell(EventKind::Confirmed { locator });
        Ok(Done::Confirmed)
    }

    pub(crate) fn cancel(
        &mut self,
        moment: Moment,
        ticket: Position,
        locator: Locator,
    ) -> Result<(), Refusal> {
        self.standing(locator)?;
        self.release(moment, ticket, locator, false)
    }

    /// An itinerary that is not being given back.
    fn standing(&mut self, locator: Locator) -> Result<&mut Itinerary, Refusal> {
        let given = locator.number() <= self.issued;
        match self.itineraries.get_mut(&locator) {
            None if self.booking.contains(&locator) => Err(Refusal::Busy),
            None if given => Err(Refusal::ItineraryOver),
            None => Err(Refusal::NoSuchItinerary),
            Some(itinerary) if itinerary.releasing => Err(Refusal::Busy),
            Some(itinerary) => Ok(itinerary),
        }
    }

    fn release(
        &mut self,
        moment: Moment,
        ticket: Position,
        locator: Locator,
        expired: bool,
    ) -> Result<(), Refusal> {
        let xid = self.start(moment)?;
        let itinerary = self.itineraries.get_mut(&locator).expect("it stands");
        itinerary.releasing = true;
        if let Some(until) = itinerary.until {
            self.holds.remove(&(until, locator));
        }
        let items = || itinerary.items.iter().map(|(item, _)| *item);
        let mut todo = give_back(items().map(|item| (item, 1)));
        let strike = Operation::Strike {
            customer: itinerary.customer,
            since: itinerary.since,
            items: items().collect(),
        };
        todo.push_back((Desk::Customers, strike));
        let goal = Goal::Release { locator, expired };
        self.begin(moment, xid, TravelJob::new(ticket, goal, todo))
    }

    /// The time of a held itinerary is over.
    pub(super) fn release_expired(&mut self, moment: Moment, locator: Locator) {
        if self.release(moment, NOBODY, locator, true).is_err() {
            self.hold_on(moment, locator);
        }
    }

    /// Tries again later.
    fn hold_on(&mut self, moment: Moment, locator: Locator) {
        let Some(itinerary) = self.itineraries.get_mut(&locator) else {
            return;
        };
        itinerary.releasing = false;
        if let Some(until) = itinerary.until.as_mut() {
            self.holds.remove(&(*until, locator));
            *until = (*until).max(moment.now.plus_ms(limits::RETRY_MS));
            self.holds.insert((*until, locator));
        }
    }

    /// The transaction that gave it back is committed.
    pub(super) fn strike_itinerary(&mut self, locator: Locator, expired: bool) -> Done {
        self.itineraries
            .remove(&locator)
            .expect("it was being released");
        self.tell(if expired {
            EventKind::Expired { locator }
        } else {
            EventKind::Cancelled { locator }
        });
        Done::Cancelled
    }

    /// A job is aborted: an itinerary that it was giving back stands as before.
    pub(super) fn abandon(&mut self, moment: Moment, job: &TravelJob) {
        if let Goal::Release { locator, .. } = job.goal {
            self.hold_on(moment, locator);
        }
    }

    /// A job is refused. An itinerary that cannot be given back is over already: its customer was
    /// deleted, and everything that the customer had was given back then.
    pub(super) fn give_up_itinerary(
        &mut self,
        moment: Moment,
        job: &TravelJob,
        refusal: Refusal,
    ) -> Refusal {
        let Goal::Release { locator, .. } = job.goal else {
            return refusal;
        };
        if matches!(refusal, Refusal::Full { .. }) {
            self.hold_on(moment, locator);
            return refusal;
        }
        self.itineraries.remove(&locator);
        self.tell(EventKind::Cancelled { locator });
        Refusal::ItineraryOver
    }
}
