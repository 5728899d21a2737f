//! What the refusals of travel are in HTTP.

use serde::ser::SerializeMap;
use turnstile_travel::{AbortReason, Refusal};

/// What no state would allow is 400; what this state does not allow is 409.
pub(super) const fn status(refusal: &Refusal) -> u16 {
    match refusal {
        Refusal::HoldTooLong { .. } | Refusal::UnsoundSettings => 400,
        Refusal::NoSuchItem(_)
        | Refusal::NoSuchCustomer(_)
        | Refusal::UnknownTransaction
        | Refusal::NoSuchItinerary => 404,
        Refusal::SoldOut(_)
        | Refusal::ItemReserved(_)
        | Refusal::NotReserved(_)
        | Refusal::CustomerExists(_)
        | Refusal::Full { .. }
        | Refusal::SummaryTooLong { .. }
        | Refusal::AlreadyCommitted
        | Refusal::Aborted(_)
        | Refusal::Busy
        | Refusal::InDoubt(_)
        | Refusal::NotInDoubt
        | Refusal::MayBeCommitted
        | Refusal::NotHeld => 409,
        Refusal::ItineraryOver => 410,
        Refusal::NotHere => 421,
    }
}

pub(super) const fn title(refusal: &Refusal) -> &'static str {
    match refusal {
        Refusal::NoSuchItem(_) => "There is no such item",
        Refusal::SoldOut(_) => "Nothing of the item is free",
        Refusal::ItemReserved(_) => "Something of the item is reserved",
        Refusal::NotReserved(_) => "Less of the item is reserved than is to be given back",
        Refusal::NoSuchCustomer(_) => "There is no such customer",
        Refusal::CustomerExists(_) => "The customer exists",
        Refusal::Full { .. } => "There are as many of them as there may be",
        Refusal::UnknownTransaction => "There never was such a transaction, or it is forgotten",
        Refusal::AlreadyCommitted => "The transaction is committed",
        Refusal::Aborted(_) => "The transaction was aborted",
        Refusal::Busy => "The last command is not answered yet, or the end is being decided",
        Refusal::InDoubt(_) => {
            "Whether it is committed is known at one desk, which does not answer"
        }
        Refusal::NotInDoubt => "The transaction does not wait for a decision at the desk",
        Refusal::MayBeCommitted => "The trip may be committed by the votes of all desks",
        Refusal::NoSuchItinerary => "There never was such an itinerary",
        Refusal::ItineraryOver => "The itinerary was cancelled, or its hold is over",
        Refusal::NotHeld => "The itinerary is booked already",
        Refusal::HoldTooLong { .. } => "An itinerary is not held so long",
        Refusal::SummaryTooLong { .. } => "All bills together are too long for one answer",
        Refusal::NotHere => "This server does not play that part of travel",
        Refusal::UnsoundSettings => "Travel cannot be set so",
    }
}

/// Whether it was nobody's fault, so that the transaction may be begun anew.
pub(super) const fn is_passing(refusal: &Refusal) -> bool {
    matches!(
        refusal,
        Refusal::Aborted(
            AbortReason::Deadlock { .. }
                | AbortReason::LockTimeout { .. }
                | AbortReason::DeskAway(_)
                | AbortReason::DeskLost(_)
                | AbortReason::Restarted
                | AbortReason::Evicted
        )
    )
}

pub(super) fn put_data<M: SerializeMap>(map: &mut M, refusal: &Refusal) -> Result<(), M::Error> {
    match refusal {
        Refusal::NoSuchItem(item)
        | Refusal::SoldOut(item)
        | Refusal::ItemReserved(item)
        | Refusal::NotReserved(item) => map.serialize_entry("item", &format_args!("{item}")),
        Refusal::NoSuchCustomer(customer) | Refusal::CustomerExists(customer) => {
            map.serialize_entry("customer", &customer.0)
        }
        Refusal::Full { limit } | Refusal::SummaryTooLong { limit } => {
            map.serialize_entry("limit", limit)
        }
        Refusal::Aborted(reason) => put_reason(map, *reason),
        Refusal::InDoubt(desk) => map.serialize_entry("desk", desk.code()),
        Refusal::HoldTooLong { limit_ms } => {
            map.serialize_entry("ttl_seconds_max", &(limit_ms / 1_000))
        }
        Refusal::UnknownTransaction
        | Refusal::AlreadyCommitted
        | Refusal::Busy
        | Refusal::NotInDoubt
        | Refusal::MayBeCommitted
        | Refusal::NoSuchItinerary
        | Refusal::ItineraryOver
        | Refusal::NotHeld
        | Refusal::NotHere
        | Refusal::UnsoundSettings => Ok(()),
    }
}

fn put_reason<M: SerializeMap>(map: &mut M, reason: AbortReason) -> Result<(), M::Error> {
    map.serialize_entry("reason", reason.code())?;
    match reason {
        AbortReason::Deadlock { holder } | AbortReason::LockTimeout { holder } => {
            map.serialize_entry("holder", &holder.0)
        }
        AbortReason::DeskAway(desk) | AbortReason::DeskLost(desk) => {
            map.serialize_entry("desk", desk.code())
        }
        AbortReason::Asked
        | AbortReason::Refused
        | AbortReason::Expired
        | AbortReason::Restarted
        | AbortReason::Evicted => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use turnstile_travel::{CustomerId, Desk, Item, Xid};

    use super::*;
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
            let data = format!(r#","reason":"{}"{data}"#, reason.code());
            assert_eq!(told(Refusal::Aborted(reason)), (409, again, data));
        }
    }
}
