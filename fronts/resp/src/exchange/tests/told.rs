//! Events as lines of JSON.

use proptest::prelude::*;
use turnstile_exchange::{EndReason, Event, EventKind, Level, OrderId, Party, Side};
use turnstile_types::{Position, Timestamp};

use super::{account, client_id, decimal, symbol};
use crate::exchange::{CHANNELS, channel};
use turnstile_json::object;

fn party(order: u64, id: Option<&str>) -> Party {
    Party {
        order: OrderId(order),
        account: account("ada"),
        client_id: id.map(client_id),
        open: decimal("7.5"),
    }
}

fn event(kind: EventKind) -> Event {
    Event {
        position: Position(3),
        ordinal: 1,
        at: Timestamp(0),
        symbol: symbol("ACME"),
        seq: None,
        level: None,
        kind,
    }
}

#[test]
fn an_event_is_a_line_of_json() {
    let (side, price) = (Side::Buy, decimal("9.5"));
    let cancelled = |reason| EventKind::Cancelled {
        party: party(7, None),
        side: Side::Sell,
        quantity: decimal("2"),
        reason,
    };
    let rows = [
        (
            EventKind::Opened {
                party: party(7, Some("c-1")),
                side,
                price,
            },
            r#""symbol":"ACME","kind":"opened","order":7,"account":"ada","client_id":"c-1","open":"7.5","side":"buy","price":"9.5"}"#,
        ),
        (
            EventKind::Reduced {
                party: party(7, None),
                side,
                price,
            },
            r#""symbol":"ACME","kind":"reduced","order":7,"account":"ada","open":"7.5","side":"buy","price":"9.5"}"#,
        ),
        (
            EventKind::Traded {
                trade: 5,
                price,
                quantity: decimal("2"),
                side: Side::Sell,
                maker: party(7, None),
                taker: party(8, Some("c")),
            },
            r#""symbol":"ACME","kind":"traded","trade":5,"price":"9.5","quantity":"2","side":"sell","maker":{"order":7,"account":"ada","open":"7.5"},"taker":{"order":8,"account":"ada","client_id":"c","open":"7.5"}}"#,
        ),
        (
            cancelled(Some(EndReason::MassCancelled)),
            r#""symbol":"ACME","kind":"cancelled","order":7,"account":"ada","open":"7.5","side":"sell","quantity":"2","reason":"mass_cancelled"}"#,
        ),
        (
            cancelled(None),
            r#""symbol":"ACME","kind":"cancelled","order":7,"account":"ada","open":"7.5","side":"sell","quantity":"2","reason":"replaced"}"#,
        ),
        (
            EventKind::Rejected {
                account: account("ada"),
                client_id: Some(client_id("c-1")),
                code: "no_market",
            },
            r#""symbol":"ACME","kind":"rejected","account":"ada","client_id":"c-1","reason":"no_market"}"#,
        ),
        (EventKind::Halted, r#""symbol":"ACME","kind":"halted"}"#),
        (EventKind::Resumed, r#""symbol":"ACME","kind":"resumed"}"#),
    ];
    let head = r#"{"position":3,"ordinal":1,"at":"1970-01-01T00:00:00.000Z","#;
    for (kind, rest) in rows {
        assert_eq!(object(&event(kind)), format!("{head}{rest}"));
    }
}

#[test]
fn a_change_of_the_book_tells_its_number_and_the_level_as_it_is_now() {
    let level = Level {
        side: Side::Sell,
        price: decimal("9.5"),
        quantity: decimal("0"),
        orders: 0,
    };
    let event = Event {
        seq: Some(12),
        level: Some(level),
        ..event(EventKind::Halted)
    };
    assert_eq!(
        object(&event),
        r#"{"position":3,"ordinal":1,"at":"1970-01-01T00:00:00.000Z","symbol":"ACME","seq":12,"level":{"side":"sell","price":"9.5","quantity":"0","orders":0},"kind":"halted"}"#
    );
}

#[test]
fn the_events_of_a_symbol_have_a_channel_that_the_pattern_covers() {
    let name = channel(symbol("BRK.B"));
    assert_eq!(
        (name.as_str(), CHANNELS),
        ("exchange.events.BRK.B", "exchange.events.*")
    );
}

proptest! {
    #[test]
    fn any_client_id_comes_back_from_json(id in "[!-~]{1,36}") {
        let event = event(EventKind::Opened {
            party: party(7, Some(&id)),
            side: Side::Buy,
            price: decimal("1"),
        });
        let json: serde_json::Value = serde_json::from_str(&object(&event)).unwrap();
        prop_assert_eq!(json["client_id"].as_str(), Some(id.as_str()));
        let quoted = serde_json::to_string(&id).unwrap();
        let field = format!("\"client_id\":{quoted},");
        prop_assert!(object(&event).contains(&field), "{}", object(&event));
    }
}
