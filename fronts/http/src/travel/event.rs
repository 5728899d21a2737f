//! What happened in travel, as server-sent events.

use serde::Serialize;
use turnstile_travel::{AbortReason, Event, EventKind, Locator};
use turnstile_types::Timestamp;
use utoipa::ToSchema;

use crate::{
    answer::Text,
    event::{EventId, put_block},
};

/// One thing that happened in travel. What does not apply to its kind is left out.
#[derive(Debug, Default, Serialize, ToSchema)]
pub(crate) struct TravelEventView {
    position: u64,
    /// Counts the events of one record, from 0; answers that were waited for are counted and not
    /// told.
    ordinal: u32,
    #[schema(format = DateTime)]
    at: String,
    /// `committed`, `aborted`, `booked`, `held`, `confirmed`, `cancelled`, `expired`, `resolved` (by
    /// an operator), `disagreed` (a desk ended a transaction otherwise than was decided, because an
    /// operator said so) or `met` (a desk that started anew).
    #[schema(value_type = String, example = "booked")]
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    xid: Option<u64>,
    /// Why it was aborted.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    reason: Option<&'static str>,
    /// The transaction that was in the way.
    #[serde(skip_serializing_if = "Option::is_none")]
    holder: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    desk: Option<&'static str>,
    /// What the operator decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    decision: Option<&'static str>,
    /// Who the operator was.
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    locator: Option<Text<Locator>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    until: Option<Text<Timestamp>>,
}

impl TravelEventView {
    fn of(event: &Event) -> Self {
        let view = Self {
            position: event.position.0,
            ordinal: event.ordinal,
            at: event.at.to_string(),
            kind: event.kind.code(),
            ..Self::default()
        };
        match event.kind {
            // For the one who asked, and on no feed.
            EventKind::Answered { .. } => view,
            EventKind::Committed { xid } => Self {
                xid: Some(xid.0),
                ..view
            },
            EventKind::Aborted { xid, reason } => Self {
                xid: Some(xid.0),
                reason: Some(reason.code()),
                ..view.blamed(reason)
            },
            EventKind::Held { locator, until } => Self {
                locator: Some(Text(locator)),
                until: Some(Text(until)),
                ..view
            },
            EventKind::Booked { locator }
            | EventKind::Confirmed { locator }
            | EventKind::Cancelled { locator }
            | EventKind::Expired { locator } => Self {
                locator: Some(Text(locator)),
                ..view
            },
            EventKind::Resolved {
                desk,
                xid,
                commit,
                by,
            } => Self {
                by: Some(by.to_string()),
                desk: Some(desk.code()),
                xid: Some(xid.0),
                decision: Some(if commit { "commit" } else { "abort" }),
                ..view
            },
            EventKind::Disagreed { desk, xid } => Self {
                desk: Some(desk.code()),
                xid: Some(xid.0),
                ..view
            },
            EventKind::Met { desk } => Self {
                desk: Some(desk.code()),
                ..view
            },
        }
    }

    fn blamed(self, reason: AbortReason) -> Self {
        match reason {
            AbortReason::Deadlock { holder } | AbortReason::LockTimeout { holder } => Self {
                holder: Some(holder.0),
                ..self
            },
            AbortReason::DeskAway(desk) | AbortReason::DeskLost(desk) => Self {
                desk: Some(desk.code()),
                ..self
            },
            AbortReason::Asked
            | AbortReason::Refused
            | AbortReason::Expired
            | AbortReason::Restarted
            | AbortReason::Evicted => self,
        }
    }
}

/// Appends one event.
pub fn put_event(event: &Event, out: &mut Vec<u8>) {
    let id = EventId::of((event.position, event.ordinal));
    put_block(id, event.kind.code(), &TravelEventView::of(event), out);
}

#[cfg(test)]
mod tests {
    use turnstile_travel::{Desk, Xid};
    use turnstile_types::{Position, Principal};

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
                r#","xid":7,"reason":"lock_timeout","holder":6"#,
            ),
            (
                aborted(AbortReason::DeskAway(desk)),
                r#","xid":7,"reason":"desk_away","desk":"cars""#,
            ),
            (aborted(AbortReason::Asked), r#","xid":7,"reason":"asked""#),
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
                r#","xid":7,"desk":"cars","decision":"commit","by":"local""#,
            ),
            (
                EventKind::Disagreed { desk, xid },
                r#","xid":7,"desk":"cars""#,
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
