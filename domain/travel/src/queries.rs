//! Answers queries from committed data and from the coordinator.

mod transactions;

use std::ops::Bound;

use turnstile_types::Position;

use crate::{
    Answer, Bill, CustomerId, Desk, Item, ItineraryState, ItineraryView, LateAnswer, Locator,
    Query, Stock, Totals, Travel, Xid,
    coordinator::{Coordinator, Itinerary},
    limits,
    operation::Resource,
    participant::{Customer, Participant, Undo},
};

pub(crate) fn answer(travel: &Travel, query: &Query) -> Answer {
    match *query {
        Query::Transaction { xid } => Answer::Transaction(transactions::one(travel, xid)),
        Query::Transactions {
            after,
            stage,
            limit,
        } => {
            let (transactions, next) = transactions::open(travel, (after, limit), stage);
            Answer::Transactions { transactions, next }
        }
        Query::Itinerary { locator } => Answer::Itinerary(travel.itinerary(locator)),
        Query::Items { desk, after, limit } => {
            let desk = travel.desks.at(desk);
            let (items, next) = desk.page_of_items(after, limit.min(limits::PAGE_MAX));
            Answer::Items { items, next }
        }
        Query::Customer { customer } => {
            Answer::Customer(travel.desks.at(Desk::Customers).committed_bill(customer))
        }
        Query::Totals => Answer::Totals(travel.totals()),
    }
}

impl Travel {
    /// How much there is.
    #[must_use]
    pub fn totals(&self) -> Totals {
        let coordinator = &self.coordinator;
        let shelves = || self.desks.iter().map(|(_, desk)| &desk.shelves);
        Totals {
            xids: coordinator.last.0,
            open: count(coordinator.transactions.len()),
            itineraries: count(coordinator.itineraries.len()),
            booked: coordinator.booked.into(),
            items: shelves().map(|shelves| count(shelves.items.len())).sum(),
            customers: shelves()
                .map(|shelves| count(shelves.customers.len()))
                .sum(),
        }
    }

    /// An itinerary that stands, is being booked, or is over; nothing if there never was one.
    #[must_use]
    pub fn itinerary(&self, locator: Locator) -> Option<ItineraryView> {
        if self.is_forsaken(locator) {
            return Some(over(locator));
        }
        self.coordinator.itinerary_view(locator)
    }

    /// Whether the customer of an itinerary was deleted, and with it all that it had. Where customers are kept
    /// in another process, only a cancellation finds that out.
    pub(crate) fn is_forsaken(&self, locator: Locator) -> bool {
        let itinerary = self.coordinator.itineraries.get(&locator);
        let itinerary = itinerary.filter(|one| !one.releasing);
        itinerary.is_some_and(|itinerary| {
            let desk = self.desks.at(Desk::Customers);
            self.settings.roles.desks.contains(Desk::Customers)
                && desk.committed_since(itinerary.customer) != Some(itinerary.since)
        })
    }

    /// What has become of the command under this ticket, which was told to wait.
    #[must_use]
    pub fn late_answer(&self, ticket: Position) -> LateAnswer {
        if let Some(outcome) = self.late.get(&ticket) {
            return LateAnswer::Given(outcome.clone());
        }
        if self.pending.contains(&ticket) {
            LateAnswer::Pending
        } else {
            LateAnswer::Unknown
        }
    }

    /// How many transactions were started and have not ended.
    #[must_use]
    pub fn open_transactions(&self) -> usize {
        self.coordinator.transactions.len()
    }

    /// Whether a transaction was started and has not ended.
    #[must_use]
    pub fn is_open(&self, xid: Xid) -> bool {
        self.coordinator.transactions.contains_key(&xid)
    }
}

fn count(length: usize) -> u64 {
    u64::try_from(length).expect("a count fits 64 bits")
}

impl Coordinator {
    fn itinerary_view(&self, locator: Locator) -> Option<ItineraryView> {
        let Some(itinerary) = self.itineraries.get(&locator) else {
            let mut view = over(locator);
            if self.booking.contains(&locator) {
                view.state = ItineraryState::Booking;
            }
            return (locator.number() <= self.issued).then_some(view);
        };
        Some(ItineraryView {
            locator,
            state: state_of(itinerary),
            customer: Some(itinerary.customer),
            items: itinerary.items.clone(),
        })
    }
}

const fn over(locator: Locator) -> ItineraryView {
    ItineraryView {
        locator,
        state: ItineraryState::Over,
        customer: None,
        items: Vec::new(),
    }
}

const fn state_of(itinerary: &Itinerary) -> ItineraryState {
    match itinerary.until {
        _ if itinerary.releasing => ItineraryState::Releasing,
        Some(until) => ItineraryState::Held { until },
        None => ItineraryState::Booked,
    }
}

impl Participant {
    /// Items in order, as they are committed, and where the next page begins. One that an open transaction
    /// deletes is left out.
    fn page_of_items(
        &self,
        after: Option<Item>,
        limit: usize,
    ) -> (Vec<(Item, Stock)>, Option<Item>) {
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        let range = self.shelves.items.range((from, Bound::Unbounded));
        let (mut items, mut last) = (Vec::new(), None);
        for (examined, (&item, &stock)) in range.enumerate() {
            if examined == limits::ITEMS_EXAMINED_MAX {
                return (items, last);
            }
            if let Some(stock) = self.committed_stock(item, stock) {
                if items.len() == limit {
                    let shown = items.last().map(|&(item, _)| item);
                    return (items, shown);
                }
                items.push((item, stock));
            }
            last = Some(item);
        }
        (items, None)
    }

    fn committed_stock(&self, item: Item, stock: Stock) -> Option<Stock> {
        match self.first_change(&Resource::Item(item)) {
            Some(Undo::Item { before, .. }) => *before,
            Some(Undo::Customer { .. }) | None => Some(stock),
        }
    }

    fn committed_bill(&self, customer: CustomerId) -> Option<Bill> {
        let lines = self.committed_customer(customer)?.lines.clone();
        Some(Bill { customer, lines })
    }

    /// The transaction that added a customer, as it is committed.
    fn committed_since(&self, customer: CustomerId) -> Option<Xid> {
        Some(self.committed_customer(customer)?.since)
    }

    fn committed_customer(&self, customer: CustomerId) -> Option<&Customer> {
        match self.first_change(&Resource::Customer(customer)) {
            Some(Undo::Customer { before, .. }) => before.as_ref(),
            Some(Undo::Item { .. }) | None => self.shelves.customers.get(&customer),
        }
    }

    /// What was there before whoever may change it did so.
    fn first_change(&self, resource: &Resource) -> Option<&Undo> {
        let writer = self.locks.writer(resource)?;
        self.branches.get(&writer)?.undo.first(resource)
    }
}
