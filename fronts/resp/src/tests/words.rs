//! Requests of any words to every operation of every service.

use std::fmt::Debug;

use proptest::prelude::*;
use turnstile_rooms::{Door, IdKey};

use super::{any_word, framed, syntaxes};
use crate::{Call, Invalid, Request, Spoken as _, catalogue::Action};

/// Words that mean something somewhere.
const KNOWN: &[&str] = &[
    "0",
    "7",
    "-1",
    "10",
    "9.5",
    "42",
    "7:9",
    "id:c",
    "99999999999999999999",
    "",
    "ada",
    "bob",
    "ACME",
    "hotel",
    "101",
    "R00",
    "S7",
    "AB6X5T",
    "3-12,3-13",
    "best:2",
    "type:double",
    "234123412346",
    "2027-03-01",
    "2027-03-03",
    "2026-12-24T10:04:05Z",
    "flight-7",
    "car-rome",
    "room-rome",
    "flights",
    "gomoku",
    "drawn",
    "wins",
    "elo",
    "waiting",
    "skip",
    "BUY",
    "SELL",
    "MARKET",
    "GTC",
    "IOC",
    "COMMIT",
    "KEY",
    "CURSOR",
    "LIMIT",
    "UNTIL",
    "SELF_TRADE",
    "CLIENT_ID",
    "SYMBOL",
    "ACCOUNT",
    "LOW",
    "HIGH",
    "LEVELS",
    "OPEN_ORDERS",
    "QUANTITY",
    "NOTIONAL",
    "PRICE_SCALE",
    "QUANTITY_SCALE",
    "CLAIM",
    "MEASURE",
    "EACH_SIDE",
    "HOLD_MS",
    "TTL_SECONDS",
    "STATE",
    "ROOM",
    "TYPE",
    "OPEN",
];

/// Whether a request is what its operation is, or an error that names the operation.
fn is_right<C: Debug, Q: Debug>(
    call: &'static Call,
    found: &Result<Request<'_, C, Q>, Box<Invalid>>,
) -> bool {
    match found {
        Ok(Request::Query(_)) => call.is_read(),
        Ok(Request::Command { .. }) => !call.is_read(),
        Err(invalid) => {
            let name = call.name().to_ascii_uppercase();
            invalid.call == call && invalid.to_string().starts_with(&name)
        }
    }
}

macro_rules! reading {
    ($($name:ident: $machine:ident),+ $(,)?) => {
        fn is_read_right(action: Action, call: &'static Call, words: &[Vec<u8>]) -> bool {
            let id_key = IdKey::new([3; 16]);
            let door = Door {
                id_key: &id_key,
                verhoeff: true,
            };
            framed(call.name(), words, |arguments| match action {
                $(Action::$machine(call) => {
                    type Service = turnstile_services::$name::$machine;
                    is_right(call, &Service::parse(call, arguments, door))
                })+
                Action::Session(_) => false,
            })
        }
    };
}

turnstile_services::services!(reading);

proptest! {
    #[test]
    fn any_words_are_a_request_or_an_error_that_names_the_operation(
        words in proptest::collection::vec(any_word(KNOWN), 0..12),
    ) {
        for (action, call, _) in syntaxes() {
            prop_assert!(is_read_right(action, call, &words), "{}", call.name());
        }
    }
}

#[test]
fn what_changes_something_takes_a_key() {
    for (_, call, syntax) in syntaxes() {
        let last = syntax.arguments.last();
        let takes_key = last.and_then(|argument| argument.token) == Some("KEY");
        assert_eq!(takes_key, !call.is_read(), "{}", call.name());
    }
    assert!(syntaxes().count() > 100);
}
