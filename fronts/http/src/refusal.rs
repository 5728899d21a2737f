//! The services' refusals: each has one status, one word and one title, and may have data.

mod exchange;

use serde::ser::SerializeMap;

use turnstile_chassis::{Class, Refuse as _};
use turnstile_json::put_fields;

use crate::problem::Code;

/// The only mapping of refusals to statuses.
pub(crate) const fn status(class: Class) -> u16 {
    match class {
        Class::Invalid => 400,
        Class::Forbidden => 403,
        Class::NotFound => 404,
        Class::Conflict | Class::Early => 409,
        Class::Gone => 410,
        Class::Elsewhere => 421,
    }
}

/// A service's "no".
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    Rooms(turnstile_rooms::Refusal),
    Exchange(turnstile_exchange::Refusal),
    Games(turnstile_games::Refusal),
    Travel(turnstile_travel::Refusal),
}

impl From<turnstile_rooms::Refusal> for Code {
    fn from(refusal: turnstile_rooms::Refusal) -> Self {
        Self::Refused(Box::new(Refusal::Rooms(refusal)))
    }
}

impl From<turnstile_exchange::Refusal> for Code {
    fn from(refusal: turnstile_exchange::Refusal) -> Self {
        Self::Refused(Box::new(Refusal::Exchange(refusal)))
    }
}

impl From<turnstile_games::Refusal> for Code {
    fn from(refusal: turnstile_games::Refusal) -> Self {
        Self::Refused(Box::new(Refusal::Games(refusal)))
    }
}

impl From<turnstile_travel::Refusal> for Code {
    fn from(refusal: turnstile_travel::Refusal) -> Self {
        Self::Refused(Box::new(Refusal::Travel(refusal)))
    }
}

impl Refusal {
    pub(crate) fn status(&self) -> u16 {
        match self {
            Self::Rooms(refusal) => status(refusal.meaning().class),
            Self::Exchange(refusal) => exchange::status(*refusal),
            Self::Games(refusal) => status(refusal.meaning().class),
            Self::Travel(refusal) => status(refusal.meaning().class),
        }
    }

    pub(crate) const fn word(&self) -> &'static str {
        match self {
            Self::Rooms(refusal) => refusal.code(),
            Self::Exchange(refusal) => refusal.code(),
            Self::Games(refusal) => refusal.code(),
            Self::Travel(refusal) => refusal.code(),
        }
    }

    pub(crate) fn title(&self) -> &'static str {
        match self {
            Self::Rooms(refusal) => refusal.meaning().sentence,
            Self::Exchange(refusal) => exchange::title(*refusal),
            Self::Games(refusal) => refusal.meaning().sentence,
            Self::Travel(refusal) => refusal.meaning().sentence,
        }
    }

    /// Whether the same may be done when it is begun anew.
    pub(crate) fn is_passing(&self) -> bool {
        match self {
            Self::Rooms(_) | Self::Exchange(_) => false,
            Self::Games(refusal) => refusal.meaning().class == Class::Early,
            Self::Travel(turnstile_travel::Refusal::Aborted(reason)) => reason.is_passing(),
            Self::Travel(_) => false,
        }
    }

    /// Its data, as extension members.
    pub(crate) fn put_data<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        match self {
            Self::Rooms(refusal) => put_fields(refusal, map),
            Self::Exchange(refusal) => exchange::put_data(map, refusal),
            Self::Games(refusal) => put_fields(refusal, map),
            Self::Travel(refusal) => put_fields(refusal, map),
        }
    }
}

#[cfg(test)]
mod travel_tests {
    use turnstile_travel::{AbortReason, CustomerId, Desk, Item, Refusal, Xid};

    use crate::{Code, Problem};

    /// The status of a refusal, whether it may be tried anew, and the members that it adds.
    fn told(refusal: Refusal) -> (u16, bool, String) {
        let word = refusal.code();
        let problem = Problem::from(Code::from(refusal));
        let json = String::from_utf8(problem.json("/v1/travel/x", "r-1")).unwrap();
        let again = problem.code.retryable();
        let mark = format!(r#""code":"{word}","retryable":{again},"request_id":"r-1""#);
        let (_, data) = json.split_once(&mark).expect(word);
        let data = data.trim_end_matches('}').to_owned();
        (problem.code.status(), again, data)
    }

    #[test]
    fn a_refusal_has_its_status_and_tells_its_data() {
        let (item, customer) = (Item::Flight(7), CustomerId(-3));
        let of_item = r#","item":"flight-7""#;
        let rows = [
            (Refusal::NoSuchItem(item), 404, of_item),
            (Refusal::SoldOut(item), 409, of_item),
            (Refusal::ItemReserved(item), 409, of_item),
            (Refusal::NotReserved(item), 409, of_item),
            (Refusal::NoSuchCustomer(customer), 404, r#","customer":-3"#),
            (Refusal::CustomerExists(customer), 409, r#","customer":-3"#),
            (Refusal::SummaryTooLong { limit: 7 }, 409, r#","limit":7"#),
            (Refusal::Full { limit: 9 }, 409, r#","limit":9"#),
            (Refusal::UnknownTransaction, 404, ""),
            (Refusal::AlreadyCommitted, 409, ""),
            (Refusal::Busy, 409, ""),
            (Refusal::InDoubt(Desk::Cars), 409, r#","desk":"cars""#),
            (Refusal::NotInDoubt, 409, ""),
            (Refusal::MayBeCommitted, 409, ""),
            (Refusal::NoSuchItinerary, 404, ""),
            (Refusal::ItineraryOver, 410, ""),
            (Refusal::NotHeld, 409, ""),
            (
                Refusal::HoldTooLong { limit_ms: 5_000 },
                400,
                r#","ttl_seconds_max":5"#,
            ),
            (Refusal::NotHere, 421, ""),
            (Refusal::UnsoundSettings, 400, ""),
        ];
        for (refusal, status, data) in rows {
            let expected = (status, false, data.to_owned());
            assert_eq!(told(refusal.clone()), expected, "{refusal:?}");
        }
    }

    #[test]
    fn an_abort_tells_why_and_who_was_in_the_way() {
        let holder = Xid(12);
        let rows = [
            (AbortReason::Asked, false, ""),
            (AbortReason::Refused, false, ""),
            (AbortReason::Expired, false, ""),
            (AbortReason::Deadlock { holder }, true, r#","holder":12"#),
            (AbortReason::LockTimeout { holder }, true, r#","holder":12"#),
            (
                AbortReason::DeskAway(Desk::Rooms),
                true,
                r#","desk":"rooms""#,
            ),
            (
                AbortReason::DeskLost(Desk::Flights),
                true,
                r#","desk":"flights""#,
            ),
            (AbortReason::Restarted, true, ""),
            (AbortReason::Evicted, true, ""),
        ];
        for (reason, again, data) in rows {
            let data = format!(r#","cause":"{}"{data}"#, reason.code());
            assert_eq!(told(Refusal::Aborted(reason)), (409, again, data));
        }
    }
}
