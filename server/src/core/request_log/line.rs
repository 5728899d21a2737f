//! One line of the access log: its fields, as text and as JSON.

use std::{borrow::Cow, fmt::Write as _, net::SocketAddr, time::Duration};

use turnstile_types::{Position, Principal, Timestamp};

use super::TraceParent;
use crate::counters::{DOORS, DoorName};

/// How lines look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LineFormat {
    /// `key=value` behind the time.
    #[default]
    Text,
    /// An object of JSON.
    Json,
}

/// Where the time of a request went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TimeParts {
    /// From its arrival until the loop began to decide it.
    pub(crate) queue: Duration,
    /// Until it was decided.
    pub(crate) decide: Duration,
    /// Until its group was durable.
    pub(crate) sync: Duration,
    /// Until its answer was given to the system.
    pub(crate) send: Duration,
}

impl TimeParts {
    pub(crate) fn total(&self) -> Duration {
        self.queue + self.decide + self.sync + self.send
    }
}

/// What is said about one request that was answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RequestLine {
    /// When its answer left.
    pub(crate) at: Timestamp,
    pub(crate) door: DoorName,
    pub(crate) peer: Option<SocketAddr>,
    pub(crate) principal: Option<Principal>,
    /// What was asked for, in words of the catalogue: nothing that a client has made up.
    pub(crate) operation: Cow<'static, str>,
    /// `done`, `ok`, or the word of the refusal or error.
    pub(crate) outcome: Cow<'static, str>,
    /// Over HTTP.
    pub(crate) status: Option<u16>,
    /// Of its record, or of the state that answered.
    pub(crate) position: Option<Position>,
    /// Of its answer, where that ends.
    pub(crate) bytes: Option<u64>,
    pub(crate) request_id: Box<str>,
    pub(crate) trace: Option<TraceParent>,
    pub(crate) parts: TimeParts,
}

/// A value of a field.
enum LoggedValue<'a> {
    Text(&'a str),
    Number(u64),
}

impl RequestLine {
    pub(super) fn door_name(&self) -> &'static str {
        DOORS.get(self.door as usize).copied().unwrap_or_default()
    }

    /// Its fields behind the time, in their order. What is not known is left out.
    fn each(&self, put: &mut impl FnMut(&'static str, LoggedValue<'_>)) {
        put("door", LoggedValue::Text(self.door_name()));
        if let Some(peer) = self.peer {
            put("peer", LoggedValue::Text(&peer.to_string()));
        }
        if let Some(principal) = &self.principal {
            put("principal", LoggedValue::Text(&principal.to_string()));
        }
        put("operation", LoggedValue::Text(&self.operation));
        put("outcome", LoggedValue::Text(&self.outcome));
        let numbers = [
            ("status", self.status.map(u64::from)),
            ("position", self.position.map(|position| position.0)),
            ("bytes", self.bytes),
        ];
        for (name, number) in numbers {
            if let Some(number) = number {
                put(name, LoggedValue::Number(number));
            }
        }
        let parts = &self.parts;
        for (name, part) in [
            ("us", parts.total()),
            ("queue_us", parts.queue),
            ("decide_us", parts.decide),
            ("sync_us", parts.sync),
            ("send_us", parts.send),
        ] {
            put(name, LoggedValue::Number(micros(part)));
        }
        put("request_id", LoggedValue::Text(&self.request_id));
        if let Some(trace) = &self.trace {
            put("traceparent", LoggedValue::Text(&trace.to_string()));
        }
    }

    /// Appends the line with its end.
    pub(super) fn put(&self, format: LineFormat, out: &mut String) {
        let at = self.at;
        match format {
            LineFormat::Text => {
                append(out, format_args!("{at}"));
                self.each(&mut |name, field| match field {
                    LoggedValue::Number(number) => append(out, format_args!(" {name}={number}")),
                    LoggedValue::Text(text) if is_plain(text) => {
                        append(out, format_args!(" {name}={text}"));
                    }
                    LoggedValue::Text(text) => append(out, format_args!(" {name}={text:?}")),
                });
                out.push('\n');
            }
            LineFormat::Json => {
                append(out, format_args!("{{\"time\":\"{at}\""));
                self.each(&mut |name, field| {
                    let value = match field {
                        LoggedValue::Number(number) => number.into(),
                        LoggedValue::Text(text) => serde_json::Value::from(text),
                    };
                    append(out, format_args!(",\"{name}\":{value}"));
                });
                out.push_str("}\n");
            }
        }
    }
}

fn append(out: &mut String, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("a string takes all text");
}

/// Whether a value needs no quotes.
fn is_plain(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'=' | b'\\');
    !text.is_empty() && text.bytes().all(is_plain)
}

pub(crate) fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in super::super) fn line(id: &str) -> RequestLine {
        RequestLine {
            at: Timestamp(1_809_172_800_001),
            door: DoorName::Resp,
            peer: Some(SocketAddr::from(([127, 0, 0, 1], 9))),
            principal: Some(Principal::local()),
            operation: "rooms.book".into(),
            outcome: "done".into(),
            status: None,
            position: Some(Position(7)),
            bytes: Some(12),
            request_id: id.into(),
            trace: None,
            parts: TimeParts {
                queue: Duration::from_micros(1),
                decide: Duration::from_micros(2),
                sync: Duration::from_micros(300),
                send: Duration::from_micros(4),
            },
        }
    }

    fn shown(line: &RequestLine, format: LineFormat) -> String {
        let mut out = String::new();
        line.put(format, &mut out);
        out
    }

    #[test]
    fn both_forms_say_the_same() {
        let example = b"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        let line = RequestLine {
            trace: TraceParent::parse(example).ok(),
            ..line("r-1")
        };
        assert_eq!(
            shown(&line, LineFormat::Text),
            "2027-05-01T12:00:00.001Z door=resp peer=127.0.0.1:9 principal=local operation=rooms.book \
             outcome=done position=7 bytes=12 us=307 queue_us=1 decide_us=2 sync_us=300 send_us=4 \
             request_id=r-1 traceparent=00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\n"
        );
        let json: serde_json::Value =
            serde_json::from_str(&shown(&line, LineFormat::Json)).unwrap();
        assert_eq!(json["time"], "2027-05-01T12:00:00.001Z");
        assert_eq!((&json["door"], &json["us"]), (&"resp".into(), &307.into()));
        assert_eq!(json.as_object().unwrap().len(), 15);
    }

    #[test]
    fn no_id_of_a_client_breaks_a_line_or_a_field() {
        let hostile = "a\"b=c\\d";
        let text = shown(&line(hostile), LineFormat::Text);
        assert!(text.ends_with("request_id=\"a\\\"b=c\\\\d\"\n"), "{text}");
        let json: serde_json::Value =
            serde_json::from_str(&shown(&line(hostile), LineFormat::Json)).unwrap();
        assert_eq!(json["request_id"], hostile);
    }
}
