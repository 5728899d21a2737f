//! Events as messages of a channel.

use std::fmt::Write;

use turnstile_travel::{AbortReason, Event, EventKind};

/// The channel on which every event of the service is told.
pub const CHANNEL: &str = "travel.events";

/// One event as one line of JSON. No text in it has anything to escape. What was answered late is
/// told by its word only: it is for the one who asked.
#[must_use]
pub fn event_json(event: &Event) -> String {
    let mut json = String::with_capacity(256);
    let mut put = |text: std::fmt::Arguments<'_>| {
        json.write_fmt(text)
            .expect("writing to memory does not fail");
    };
    let (position, ordinal) = (event.position, event.ordinal);
    let (at, code) = (event.at, event.kind.code());
    put(format_args!(
        r#"{{"position":{position},"ordinal":{ordinal},"at":"{at}","event":"{code}""#
    ));
    match &event.kind {
        EventKind::Answered { ticket, outcome } => {
            let outcome = outcome.code();
            put(format_args!(r#","ticket":{ticket},"outcome":"{outcome}""#));
        }
        EventKind::Committed { xid } => put(format_args!(r#","xid":{xid}"#)),
        EventKind::Aborted { xid, reason } => {
            let word = reason.code();
            put(format_args!(r#","xid":{xid},"reason":"{word}""#));
            match reason {
                AbortReason::Deadlock { holder } | AbortReason::LockTimeout { holder } => {
                    put(format_args!(r#","holder":{holder}"#));
                }
                AbortReason::DeskAway(desk) | AbortReason::DeskLost(desk) => {
                    put(format_args!(r#","desk":"{}""#, desk.code()));
                }
                AbortReason::Asked
                | AbortReason::Refused
                | AbortReason::Expired
                | AbortReason::Restarted
                | AbortReason::Evicted => {}
            }
        }
        EventKind::Held { locator, until } => {
            put(format_args!(r#","locator":"{locator}","until":"{until}""#));
        }
        EventKind::Booked { locator }
        | EventKind::Confirmed { locator }
        | EventKind::Cancelled { locator }
        | EventKind::Expired { locator } => put(format_args!(r#","locator":"{locator}""#)),
        EventKind::Resolved {
            desk,
            xid,
            commit,
            by,
        } => {
            let (desk, by) = (desk.code(), &*by.0);
            put(format_args!(
                r#","desk":"{desk}","xid":{xid},"commit":{commit},"by":"{by}""#
            ));
        }
        EventKind::Disagreed { desk, xid } => {
            put(format_args!(r#","desk":"{}","xid":{xid}"#, desk.code()));
        }
        EventKind::Met { desk } => put(format_args!(r#","desk":"{}""#, desk.code())),
    }
    json.push('}');
    json
}

#[cfg(test)]
mod tests {
    use turnstile_travel::{Desk, Locator, Outcome, Refusal, Xid};
    use turnstile_types::{Position, Principal, Timestamp};

    use super::*;

    #[test]
    fn each_event_is_one_object_with_what_applies() {
        let (xid, holder, desk) = (Xid(5), Xid(3), Desk::Cars);
        let locator = Locator::parse(b"AB6X5T").unwrap();
        let until = Timestamp(60_000);
        let aborted = |reason| EventKind::Aborted { xid, reason };
        let answered = |outcome| EventKind::Answered {
            ticket: Position(9),
            outcome,
        };
        let busy = Outcome::Refused(Refusal::Busy);
        let rows = [
            (answered(busy), r#""answered","ticket":9,"outcome":"busy""#),
            (EventKind::Committed { xid }, r#""committed","xid":5"#),
            (
                aborted(AbortReason::Deadlock { holder }),
                r#""aborted","xid":5,"reason":"deadlock","holder":3"#,
            ),
            (
                aborted(AbortReason::DeskLost(desk)),
                r#""aborted","xid":5,"reason":"desk_lost","desk":"cars""#,
            ),
            (
                aborted(AbortReason::Asked),
                r#""aborted","xid":5,"reason":"asked""#,
            ),
            (
                EventKind::Held { locator, until },
                r#""held","locator":"AB6X5T","until":"1970-01-01T00:01:00.000Z""#,
            ),
            (
                EventKind::Cancelled { locator },
                r#""cancelled","locator":"AB6X5T""#,
            ),
            (
                EventKind::Resolved {
                    desk,
                    xid,
                    commit: true,
                    by: Principal::local(),
                },
                r#""resolved","desk":"cars","xid":5,"commit":true,"by":"local""#,
            ),
            (
                EventKind::Disagreed { desk, xid },
                r#""disagreed","desk":"cars","xid":5"#,
            ),
            (EventKind::Met { desk }, r#""met","desk":"cars""#),
        ];
        for (kind, rest) in rows {
            let event = Event {
                position: Position(12),
                ordinal: 1,
                at: Timestamp(0),
                kind,
            };
            let json = event_json(&event);
            let head = r#"{"position":12,"ordinal":1,"at":"1970-01-01T00:00:00.000Z","event":"#;
            assert_eq!(json, format!("{head}{rest}}}"));
            serde_json::from_str::<serde_json::Value>(&json).unwrap();
        }
    }
}
