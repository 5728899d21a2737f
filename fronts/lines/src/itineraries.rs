//! Answers about itineraries. The ancestor has none; they are written as its bills are.

use std::fmt;

use turnstile_chassis::Refuse as _;
use turnstile_travel::{Done, ItineraryState, ItineraryView, Refusal, limits::HOLD_MS_MAX};

use crate::{
    LineVerb,
    sentence::{put, put_exception},
};

/// Appends what was done for such a line.
pub(crate) fn put_done(out: &mut Vec<u8>, verb: LineVerb, done: &Done) {
    match done {
        Done::Booked {
            locator,
            price,
            until: None,
        } => put(out, format_args!("Itinerary {locator} booked for ${price}")),
        Done::Booked {
            locator,
            price,
            until: Some(until),
        } => put(
            out,
            format_args!("Itinerary {locator} held until {until} for ${price}"),
        ),
        _ => put(out, verb.done()),
    }
}

/// Appends why such a line was not done; of a trip, the first item that is in the way.
pub(crate) fn put_refusal(out: &mut Vec<u8>, verb: LineVerb, refusal: &Refusal) {
    match refusal {
        Refusal::NotHere => put_exception(out, "this server is not the middleware"),
        Refusal::InDoubt(desk) => put(
            out,
            format_args!("Itinerary in doubt: only {desk} knows what has become of it"),
        ),
        _ => put(out, format_args!("{}: {}", verb.refused(), Why(refusal))),
    }
}

/// Why an itinerary is refused, to a person.
struct Why<'a>(&'a Refusal);

impl fmt::Display for Why<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Refusal::NoSuchItem(item) => write!(f, "there is no {item}"),
            Refusal::SoldOut(item) => write!(f, "{item} is sold out"),
            Refusal::NoSuchCustomer(customer) => write!(f, "there is no customer {customer}"),
            Refusal::Busy => f.write_str("it is being booked or cancelled"),
            Refusal::HoldTooLong { .. } => {
                write!(f, "a hold lasts at most {HOLD_MS_MAX} milliseconds")
            }
            Refusal::Aborted(reason) => reason.fmt(f),
            other => other.meaning().continued().fmt(f),
        }
    }
}

/// Appends an itinerary; nothing but the end of the block when there never was one.
pub fn put_itinerary(out: &mut Vec<u8>, view: Option<&ItineraryView>) {
    if let Some(view) = view {
        put(out, ItineraryHead(view));
        for (item, price) in &view.items {
            put(out, format_args!("1 {item} ${price}"));
        }
        if view.customer.is_some() {
            let prices = view.items.iter().map(|(_, price)| u64::from(*price));
            put(out, format_args!("Total ${}", prices.sum::<u64>()));
        }
    }
    out.push(b'\n');
}

/// Whose it is, and where it stands.
struct ItineraryHead<'a>(&'a ItineraryView);

impl fmt::Display for ItineraryHead<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Itinerary {}", self.0.locator)?;
        if let Some(customer) = self.0.customer {
            write!(f, " for customer {customer}")?;
        }
        write!(f, ": {}", self.0.state.code())?;
        match self.0.state {
            ItineraryState::Held { until } => write!(f, " until {until}"),
            ItineraryState::Booked
            | ItineraryState::Releasing
            | ItineraryState::Booking
            | ItineraryState::Over => Ok(()),
        }
    }
}
