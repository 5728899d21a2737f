//! Events as messages of a channel.

use std::fmt::Write;

use turnstile_rooms::Event;

/// The channel on which every event of the service is told.
pub const CHANNEL: &str = "rooms.events";

/// One event as one line of JSON. Names need no escapes: their alphabet has nothing to escape.
#[must_use]
pub fn event_json(event: &Event) -> String {
    let mut json = String::with_capacity(256);
    let mut put = |line: std::fmt::Arguments<'_>| {
        json.write_fmt(line)
            .expect("writing to memory does not fail");
    };
    put(format_args!(
        r#"{{"position":{},"ordinal":{},"at":"{}","event":"{}","property":"{}""#,
        event.position,
        event.ordinal,
        event.at,
        event.kind.code(),
        event.property
    ));
    if let Some(room) = event.room {
        put(format_args!(r#","room":"{room}""#));
    }
    if let Some(reference) = event.reference {
        put(format_args!(r#","reference":"{reference}""#));
    }
    if let Some(stay) = event.stay {
        let (arrival, departure) = (stay.arrival(), stay.departure());
        put(format_args!(
            r#","arrival":"{arrival}","departure":"{departure}""#
        ));
    }
    json.push('}');
    json
}
