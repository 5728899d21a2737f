//! What the refusals of rooms are in HTTP.

use serde::ser::SerializeMap;
use turnstile_rooms::Refusal;

pub(super) const fn status(refusal: Refusal) -> u16 {
    match refusal {
        Refusal::WrongGuest => 403,
        Refusal::UnknownProperty
        | Refusal::UnknownRoom
        | Refusal::UnknownType
        | Refusal::NotFound => 404,
        Refusal::PropertyExists
        | Refusal::RoomExists
        | Refusal::RoomInUse { .. }
        | Refusal::TooManyRooms { .. }
        | Refusal::SoldOut { .. }
        | Refusal::StopSell { .. }
        | Refusal::AlreadyConfirmed
        | Refusal::NotConfirmed
        | Refusal::TooManyHolds { .. }
        | Refusal::HoldTooLong { .. }
        | Refusal::HoldCeiling { .. } => 409,
        Refusal::Ended | Refusal::HoldExpired => 410,
    }
}

pub(super) const fn title(refusal: Refusal) -> &'static str {
    match refusal {
        Refusal::UnknownProperty => "There is no such property",
        Refusal::UnknownRoom => "The property has no such room",
        Refusal::UnknownType => "The property has no room of this type",
        Refusal::PropertyExists => "The property exists",
        Refusal::RoomExists => "The room exists",
        Refusal::RoomInUse { .. } => "The room is booked or held",
        Refusal::TooManyRooms { .. } => "The property has as many rooms as it may have",
        Refusal::SoldOut { .. } => "No room is free for all of these nights",
        Refusal::StopSell { .. } => "The sale is stopped for some of these nights",
        Refusal::NotFound => "There never was such a booking or hold",
        Refusal::WrongGuest => "The id number is not the one that booked",
        Refusal::Ended => "The booking was cancelled, or the hold is over",
        Refusal::HoldExpired => "The hold has expired",
        Refusal::AlreadyConfirmed => "It is a booking already",
        Refusal::NotConfirmed => "It is a hold, not a booking: release it",
        Refusal::TooManyHolds { .. } => "The caller has as many open holds as it may have",
        Refusal::HoldTooLong { .. } => "A hold does not last so long",
        Refusal::HoldCeiling { .. } => "The hold cannot be extended so far",
    }
}

/// The data of a refusal, as extension members.
pub(super) fn put_data<M: SerializeMap>(map: &mut M, refusal: &Refusal) -> Result<(), M::Error> {
    match refusal {
        Refusal::SoldOut { nights } | Refusal::StopSell { nights } => {
            let nights: Vec<String> = nights.iter().map(|night| night.to_string()).collect();
            map.serialize_entry("nights", &nights)
        }
        Refusal::RoomInUse { night } => map.serialize_entry("night", &format_args!("{night}")),
        Refusal::TooManyRooms { limit } | Refusal::TooManyHolds { limit } => {
            map.serialize_entry("limit", limit)
        }
        Refusal::HoldTooLong { ttl_ms_max } => {
            map.serialize_entry("ttl_seconds_max", &(ttl_ms_max / 1_000))
        }
        Refusal::HoldCeiling { until_max } => {
            map.serialize_entry("until_max", &format_args!("{until_max}"))
        }
        Refusal::UnknownProperty
        | Refusal::UnknownRoom
        | Refusal::UnknownType
        | Refusal::PropertyExists
        | Refusal::RoomExists
        | Refusal::NotFound
        | Refusal::WrongGuest
        | Refusal::Ended
        | Refusal::HoldExpired
        | Refusal::AlreadyConfirmed
        | Refusal::NotConfirmed => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use turnstile_rooms::Nights;
    use turnstile_types::{Night, Timestamp};

    use super::*;
    use crate::{Code, Problem};

    fn json_of(problem: &Problem) -> String {
        String::from_utf8(problem.json("/v1/rooms/x", "r-1")).unwrap()
    }

    #[test]
    fn every_refusal_has_its_status_and_data() {
        let nights = Nights {
            first: Night::from_days(0),
            bits: 1,
        };
        let rows = [
            (Refusal::UnknownProperty, 404, ""),
            (Refusal::UnknownRoom, 404, ""),
            (Refusal::UnknownType, 404, ""),
            (Refusal::PropertyExists, 409, ""),
            (Refusal::RoomExists, 409, ""),
            (
                Refusal::RoomInUse {
                    night: nights.first,
                },
                409,
                r#","night":"1970-01-01""#,
            ),
            (Refusal::TooManyRooms { limit: 7 }, 409, r#","limit":7"#),
            (
                Refusal::SoldOut { nights },
                409,
                r#","nights":["1970-01-01"]"#,
            ),
            (
                Refusal::StopSell { nights },
                409,
                r#","nights":["1970-01-01"]"#,
            ),
            (Refusal::NotFound, 404, ""),
            (Refusal::WrongGuest, 403, ""),
            (Refusal::Ended, 410, ""),
            (Refusal::HoldExpired, 410, ""),
            (Refusal::AlreadyConfirmed, 409, ""),
            (Refusal::NotConfirmed, 409, ""),
            (Refusal::TooManyHolds { limit: 3 }, 409, r#","limit":3"#),
            (
                Refusal::HoldTooLong { ttl_ms_max: 60_000 },
                409,
                r#","ttl_seconds_max":60"#,
            ),
            (
                Refusal::HoldCeiling {
                    until_max: Timestamp(0),
                },
                409,
                r#","until_max":"1970-01-01T00:00:00.000Z""#,
            ),
        ];
        for (refusal, status, data) in rows {
            let problem = Problem::from(Code::from(refusal));
            let word = refusal.code();
            assert_eq!(problem.code.status(), status, "{word}");
            let end = format!(r#""code":"{word}","retryable":false,"request_id":"r-1"{data}}}"#);
            assert!(json_of(&problem).ends_with(&end), "{}", json_of(&problem));
        }
    }
}
