//! What happened in travel, as server-sent events.

use turnstile_json::Object;
use turnstile_travel::Event;

use crate::event::{EventId, put_block};

/// Appends one event.
pub fn put_event(event: &Event, out: &mut Vec<u8>) {
    let id = EventId::of((event.position, event.ordinal));
    put_block(id, event.kind.code(), &Object(event), out);
}

#[cfg(test)]
mod tests {
    use turnstile_travel::{AbortReason, Desk, EventKind, Locator, Xid};
    use turnstile_types::{Position, Principal, Timestamp};

    use super::*;

    #[test]
    fn an_event_tells_what_belongs_to_its_kind() {
        let (xid, holder, desk) = (Xid(7), Xid(6), Desk::Cars);
        let locator = Locator::parse(b"7K2M9Q").unwrap();
        let until = Timestamp(0);
        let aborted = |reason| EventKind::Aborted { xid, reason };
        let rows = [
            (EventKind::Committed { xid }, r#","xid":7"#),
            (
                aborted(AbortReason::LockTimeout { holder }),
                r#","xid":7,"cause":"lock_timeout","holder":6"#,
            ),
            (
                aborted(AbortReason::DeskAway(desk)),
                r#","xid":7,"cause":"desk_away","desk":"cars""#,
            ),
            (aborted(AbortReason::Asked), r#","xid":7,"cause":"asked""#),
            (EventKind::Expired { locator }, r#","locator":"7K2M9Q""#),
            (
                EventKind::Held { locator, until },
                r#","locator":"7K2M9Q","until":"1970-01-01T00:00:00.000Z""#,
            ),
            (
                EventKind::Resolved {
                    desk,
                    xid,
                    commit: true,
                    by: Principal::local(),
                },
                r#","desk":"cars","xid":7,"decision":"commit","by":"local""#,
            ),
            (
                EventKind::Disagreed { desk, xid },
                r#","desk":"cars","xid":7"#,
            ),
            (EventKind::Met { desk }, r#","desk":"cars""#),
        ];
        for (kind, data) in rows {
            let code = kind.code();
            let event = Event {
                position: Position(9),
                ordinal: 1,
                at: Timestamp(0),
                kind,
            };
            let mut out = Vec::new();
            put_event(&event, &mut out);
            let expected = format!(
                "id: 9.1\nevent: {code}\ndata: {{\"position\":9,\"ordinal\":1,\
                 \"at\":\"1970-01-01T00:00:00.000Z\",\"kind\":\"{code}\"{data}}}\n\n"
            );
            assert_eq!(String::from_utf8(out).unwrap(), expected);
        }
    }
}
