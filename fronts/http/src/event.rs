//! Events as server-sent events: `id: <position>.<ordinal>`, the kind as the name, JSON as data.

use std::{fmt, io::Write};

use turnstile_chassis::{Fields, Source as _};
use turnstile_json::{InPartition, Object};
use turnstile_types::{Name, Position};

use crate::{
    given::{Given, Reader},
    problem::Problem,
};

/// The place of an event in its feed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct EventId {
    pub position: Position,
    /// Counts the events of one record.
    pub ordinal: u32,
}

/// Some text that is no [`EventId`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidEventId;

impl EventId {
    /// Of a record's position, and the event's number among that record's events.
    #[must_use]
    pub const fn of((position, ordinal): (Position, u32)) -> Self {
        Self { position, ordinal }
    }

    /// The first event of the record behind this event's.
    #[must_use]
    pub const fn following(self) -> Self {
        Self {
            position: self.position.next(),
            ordinal: 0,
        }
    }

    /// Reads `<position>` or `<position>.<ordinal>`; a position alone stands for all its events.
    ///
    /// # Errors
    /// Any other text.
    pub fn parse(text: &str) -> Result<Self, InvalidEventId> {
        let (position, ordinal) = match text.split_once('.') {
            Some((position, ordinal)) => (position, number(ordinal)?),
            None => (text, u64::from(u32::MAX)),
        };
        Ok(Self {
            position: Position(number(position)?),
            ordinal: u32::try_from(ordinal).map_err(|_large| InvalidEventId)?,
        })
    }
}

impl EventId {
    /// The last id that an event before this one can have.
    #[must_use]
    pub const fn preceding(self) -> Self {
        match self.ordinal.checked_sub(1) {
            Some(ordinal) => Self { ordinal, ..self },
            None if self.position.0 == 0 => self,
            None => Self {
                position: Position(self.position.0 - 1),
                ordinal: u32::MAX,
            },
        }
    }
}

/// The most partitions that a stream may have.
const STREAM_PARTS_MAX: usize = 64;

/// A place in each of the feeds that a stream tells: one, or those of all partitions in the order of these.
/// `<position>.<ordinal>`, with commas between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventIds(pub Vec<EventId>);

impl EventIds {
    /// Reads one id, or several with commas between them.
    ///
    /// # Errors
    /// Any other text.
    pub fn parse(text: &str) -> Result<Self, InvalidEventId> {
        let ids = text.split(',').take(STREAM_PARTS_MAX + 1);
        let ids: Vec<_> = ids.map(EventId::parse).collect::<Result<_, _>>()?;
        if ids.len() > STREAM_PARTS_MAX {
            return Err(InvalidEventId);
        }
        Ok(Self(ids))
    }
}

impl fmt::Display for EventIds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, id) in self.0.iter().enumerate() {
            if place > 0 {
                f.write_str(",")?;
            }
            match id.ordinal {
                u32::MAX => id.position.fmt(f)?,
                _ => id.fmt(f)?,
            }
        }
        Ok(())
    }
}

/// Plain digits, without the sign that `parse` would take.
fn number(text: &str) -> Result<u64, InvalidEventId> {
    if !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(InvalidEventId);
    }
    text.parse().map_err(|_large| InvalidEventId)
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.position, self.ordinal)
    }
}

impl fmt::Display for InvalidEventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a place in the feed is <position> or <position>.<ordinal>")
    }
}

impl std::error::Error for InvalidEventId {}

/// Reads the event that a client saw last.
pub(crate) fn since(reader: &mut Reader<'_>) -> Option<Option<EventId>> {
    reader.optional("since", |text| {
        EventId::parse(str::from_utf8(text).unwrap_or_default())
    })
}

/// The same where a feed takes no other parameter.
///
/// # Errors
/// Wrong parameters.
pub fn read_since<'a>(given: &'a Given<'a>) -> Result<Option<EventId>, Problem> {
    given.read_with(since)
}

/// The same of a service that partitions may decide: the last event of each that is followed; and which of
/// them, if it is one alone.
///
/// # Errors
/// Wrong parameters.
pub fn read_since_in_partition<'a>(
    given: &'a Given<'a>,
) -> Result<(Option<EventIds>, Option<Name>), Problem> {
    given.read_with(|reader| {
        let since = reader.optional("since", |text| {
            EventIds::parse(str::from_utf8(text).unwrap_or_default())
        });
        let partition = reader.optional("partition", Name::parse);
        Some((since?, partition?))
    })
}

/// An event of a service: where it stands in the feed, and the word of its kind.
pub trait FeedEvent: Fields {
    fn id(&self) -> EventId;

    fn kind(&self) -> &'static str;
}

macro_rules! feed_events {
    ($($name:ident: $machine:ident),+ $(,)?) => {$(
        impl FeedEvent for turnstile_services::$name::Event {
            fn id(&self) -> EventId {
                EventId::of((self.position, self.ordinal))
            }

            fn kind(&self) -> &'static str {
                self.kind.code()
            }
        }
    )+};
}

turnstile_services::services!(feed_events);

/// Appends one event.
pub fn put_event(event: &impl FeedEvent, out: &mut Vec<u8>) {
    put_block(event.id(), event.kind(), event, out);
}

/// Appends one event of a partition to a stream that tells several; the ids say what it has told of each, this
/// event among it.
pub fn put_event_in(partition: &str, ids: &EventIds, event: &impl FeedEvent, out: &mut Vec<u8>) {
    let fields = InPartition {
        partition,
        fields: event,
    };
    put_block(ids, event.kind(), &fields, out);
}

/// Appends fields as the event of this id and kind.
pub(crate) fn put_block(
    id: impl fmt::Display,
    kind: &str,
    fields: &impl Fields,
    out: &mut Vec<u8>,
) {
    put_line(out, format_args!("id: {id}\nevent: {kind}\ndata: "));
    serde_json::to_writer(&mut *out, &Object(fields)).expect("fields are texts and numbers");
    out.extend_from_slice(b"\n\n");
}

/// Tells a follower that the feed does not go on at the place it asked for, and where it begins now:
/// what came behind is no longer kept, or this server is not as far, as its state was brought back from
/// a copy. What holds must be read from the listings.
pub fn put_reset(first: EventId, out: &mut Vec<u8>) {
    put_line(
        out,
        format_args!("event: reset\ndata: {{\"first\":\"{first}\"}}\n\n"),
    );
}

/// The same of one partition of a stream that tells several.
pub fn put_reset_in(partition: &str, first: EventId, out: &mut Vec<u8>) {
    put_line(
        out,
        format_args!(
            "event: reset\ndata: {{\"partition\":\"{partition}\",\"first\":\"{first}\"}}\n\n"
        ),
    );
}

/// Tells a follower that it was too slow: the events up to `first` are lost to it.
pub fn put_lagged(missed: u64, first: EventId, out: &mut Vec<u8>) {
    put_line(
        out,
        format_args!("event: lagged\ndata: {{\"missed\":{missed},\"first\":\"{first}\"}}\n\n"),
    );
}

/// Tells a follower that the server stops; nothing comes after it. It has no id, so that a follower goes
/// on behind the last event that it has seen.
pub const STOPPING: &[u8] = b"event: stopping\ndata: {}\n\n";

/// The same of one partition of a stream that tells several.
pub fn put_lagged_in(partition: &str, missed: u64, first: EventId, out: &mut Vec<u8>) {
    put_line(
        out,
        format_args!(
            "event: lagged\ndata: {{\"partition\":\"{partition}\",\"missed\":{missed},\
             \"first\":\"{first}\"}}\n\n"
        ),
    );
}

fn put_line(out: &mut Vec<u8>, line: fmt::Arguments<'_>) {
    out.write_fmt(line).expect("a vector takes all bytes");
}

#[cfg(test)]
mod tests {
    use turnstile_rooms::{Event, EventKind};
    use turnstile_types::{Name, Principal, Timestamp};

    use super::*;

    #[test]
    fn a_place_in_the_feed_reads_back() {
        let id = |position, ordinal| EventId {
            position: Position(position),
            ordinal,
        };
        let rows = [
            ("7.2", Ok(id(7, 2))),
            ("7", Ok(id(7, u32::MAX))),
            ("0.0", Ok(id(0, 0))),
            ("", Err(InvalidEventId)),
            ("7.", Err(InvalidEventId)),
            ("+7.1", Err(InvalidEventId)),
            ("7.4294967296", Err(InvalidEventId)),
            ("x", Err(InvalidEventId)),
        ];
        for (text, expected) in rows {
            assert_eq!(EventId::parse(text), expected, "{text:?}");
        }
        assert_eq!(id(7, 2).to_string(), "7.2");
    }

    #[test]
    fn the_places_of_several_partitions_read_back() {
        let id = |position, ordinal| EventId {
            position: Position(position),
            ordinal,
        };
        let ids = EventIds(vec![id(7, 2), id(0, 0)]);
        assert_eq!(ids.to_string(), "7.2,0.0");
        assert_eq!(EventIds::parse("7.2,0.0"), Ok(ids));
        assert_eq!(EventIds::parse("7.2"), Ok(EventIds(vec![id(7, 2)])));
        let after_all = EventIds(vec![id(7, u32::MAX), id(1, 0)]);
        assert_eq!(after_all.to_string(), "7,1.0");
        assert_eq!(EventIds::parse("7,1.0"), Ok(after_all));
        let many = vec!["1.0"; STREAM_PARTS_MAX + 1].join(",");
        for wrong in ["", "7.2,", ",7.2", "7.2;0.0", "main=7.2", &many] {
            assert_eq!(EventIds::parse(wrong), Err(InvalidEventId), "{wrong:?}");
        }
        let rows = [
            (id(7, 2), id(7, 1)),
            (id(7, 0), id(6, u32::MAX)),
            (id(0, 0), id(0, 0)),
        ];
        for (one, before) in rows {
            assert_eq!(one.preceding(), before);
        }
    }

    #[test]
    fn an_event_is_one_block_of_lines() {
        let mut out = Vec::new();
        let event = Event {
            position: Position(7),
            ordinal: 0,
            at: Timestamp(0),
            kind: EventKind::PropertyAdded,
            property: Name::parse(b"grand").unwrap(),
            room: None,
            reference: None,
            stay: None,
            reason: None,
            from: None,
        };
        put_event(&event, &mut out);
        put_lagged(3, EventId::of((event.position, 0)), &mut out);
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "id: 7.0\nevent: property_added\ndata: {\"position\":7,\"ordinal\":0,\
             \"at\":\"1970-01-01T00:00:00.000Z\",\"kind\":\"property_added\",\
             \"property\":\"grand\"}\n\nevent: lagged\ndata: {\"missed\":3,\"first\":\"7.0\"}\n\n"
        );
        let mut out = Vec::new();
        let ids = EventIds(vec![EventId::default(), event.id()]);
        put_event_in("b", &ids, &event, &mut out);
        put_lagged_in("b", 3, event.id(), &mut out);
        put_reset_in("b", event.id(), &mut out);
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "id: 0.0,7.0\nevent: property_added\ndata: {\"partition\":\"b\",\"position\":7,\
             \"ordinal\":0,\"at\":\"1970-01-01T00:00:00.000Z\",\"kind\":\"property_added\",\
             \"property\":\"grand\"}\n\nevent: lagged\ndata: {\"partition\":\"b\",\"missed\":3,\
             \"first\":\"7.0\"}\n\nevent: reset\ndata: {\"partition\":\"b\",\"first\":\"7.0\"}\n\n"
        );
    }

    #[test]
    fn an_event_tells_what_belongs_to_its_kind() {
        use turnstile_travel::{AbortReason, Desk, EventKind, Locator, Xid};

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
            let event = turnstile_travel::Event {
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
