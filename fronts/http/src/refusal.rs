//! The services' refusals: each has one status, one word and one title, and may have data.

use serde::ser::SerializeMap;
use turnstile_chassis::{Class, Meaning, Refuse as _};
use turnstile_json::put_fields;

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

macro_rules! refusals {
    ($($name:ident: $machine:ident),+ $(,)?) => {
        /// A service's "no".
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum Refusal {
            $($machine(turnstile_services::$name::Refusal),)+
        }

        impl Refusal {
            fn meaning(&self) -> Meaning {
                match self {
                    $(Self::$machine(refusal) => refusal.meaning(),)+
                }
            }

            /// Its data, as extension members.
            pub(crate) fn put_data<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
                match self {
                    $(Self::$machine(refusal) => put_fields(refusal, map),)+
                }
            }
        }
    };
}

turnstile_services::services!(refusals);

impl Refusal {
    pub(crate) fn status(&self) -> u16 {
        status(self.meaning().class)
    }

    pub(crate) fn word(&self) -> &'static str {
        self.meaning().code
    }

    pub(crate) fn title(&self) -> &'static str {
        self.meaning().sentence
    }

    /// Whether the same may be done when it is begun anew.
    pub(crate) fn is_passing(&self) -> bool {
        match self {
            Self::Travel(turnstile_travel::Refusal::Aborted(reason)) => reason.is_passing(),
            _ => self.meaning().class == Class::Early,
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

#[cfg(test)]
mod exchange_tests {
    use turnstile_exchange::{Cash, CommandField, Decimal, OrderId, Refusal};

    use crate::{Code, Problem};

    /// The status of a refusal, and the members that it adds to its problem.
    fn told(refusal: Refusal) -> (u16, String) {
        let problem = Problem::from(Code::from(refusal));
        let json = String::from_utf8(problem.json("/v1/exchange/x", "r-1")).unwrap();
        let word = refusal.code();
        let mark = format!(r#""code":"{word}","retryable":false,"request_id":"r-1""#);
        let (_, data) = json.split_once(&mark).expect(word);
        (problem.code.status(), data.trim_end_matches('}').to_owned())
    }

    #[test]
    fn a_refusal_without_data_has_its_status() {
        let rows = [
            (Refusal::UnknownAccount, 404),
            (Refusal::AccountExists, 409),
            (Refusal::UnknownSymbol, 404),
            (Refusal::SymbolExists, 409),
            (Refusal::ScaleTooLarge, 400),
            (Refusal::MarketMustNotWait, 400),
            (Refusal::NoMarket, 409),
            (Refusal::NotFillable, 409),
            (Refusal::WouldMatch, 409),
            (Refusal::DateOver, 400),
            (Refusal::EmptyBand, 400),
            (Refusal::SymbolHalted, 409),
            (Refusal::NotFound, 404),
            (Refusal::NotYours, 403),
            (Refusal::NotOpen, 409),
        ];
        for (refusal, status) in rows {
            assert_eq!(told(refusal), (status, String::new()), "{}", refusal.code());
        }
    }

    #[test]
    fn a_refusal_with_data_tells_it() {
        let (needed, limit) = (Decimal::new(35, 1), Decimal::new(2, 0));
        let (free, cash) = (limit, Cash(150_000_000));
        let (field, scale) = (CommandField::Price, 4);
        let order = OrderId(9);
        let (low, high) = (Some(limit), None);
        let short = Refusal::InsufficientFunds {
            needed: cash,
            free: Cash(0),
        };
        let digits = r#","field":"price","scale":4"#;
        let rows = [
            (Refusal::TooManyDigits { field, scale }, 400, digits),
            (Refusal::TooLarge { field }, 400, r#","field":"price""#),
            (Refusal::Zero { field }, 400, r#","field":"price""#),
            (short, 409, r#","needed":"1.5","free":"0""#),
            (
                Refusal::InsufficientShares { needed, free },
                409,
                r#","needed":"3.5","free":"2""#,
            ),
            (Refusal::OutsideBand { low, high }, 409, r#","low":"2""#),
            (
                Refusal::TooManyOpenOrders { limit: 7 },
                409,
                r#","limit":7"#,
            ),
            (Refusal::QuantityLimit { limit }, 409, r#","limit":"2""#),
            (
                Refusal::NotionalLimit { limit: cash },
                409,
                r#","limit":"1.5""#,
            ),
            (Refusal::ClientIdReused { order }, 409, r#","order":9"#),
            (Refusal::Full { limit: 3 }, 409, r#","limit":3"#),
        ];
        for (refusal, status, data) in rows {
            assert_eq!(told(refusal), (status, data.to_owned()));
        }
    }
}
