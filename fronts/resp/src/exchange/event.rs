//! Events as messages of channels.

use std::fmt::{self, Write};

use turnstile_exchange::{Event, EventKind, Level, Party, REPLACED, Symbol};

/// A pattern of every channel of the service.
pub const CHANNELS: &str = "exchange.events.*";

/// The channel on which the events of one symbol are told; each event is told on one channel only.
#[must_use]
pub fn channel(symbol: Symbol) -> String {
    let prefix = CHANNELS.trim_end_matches('*');
    format!("{prefix}{symbol}")
}

/// One event as one line of JSON, numbers with a point as text. What does not apply is left out.
#[must_use]
pub fn event_json(event: &Event) -> String {
    let mut json = Json(String::with_capacity(512));
    json.put(format_args!(
        r#"{{"position":{},"ordinal":{},"at":"{}","kind":"{}","symbol":"{}""#,
        event.position,
        event.ordinal,
        event.at,
        event.kind.code(),
        event.symbol
    ));
    if let Some(seq) = event.seq {
        json.put(format_args!(r#","seq":{seq}"#));
    }
    if let Some(level) = &event.level {
        json.level(level);
    }
    json.kind(&event.kind);
    json.0.push('}');
    json.0
}

/// An object that grows.
struct Json(String);

impl Json {
    fn put(&mut self, text: fmt::Arguments<'_>) {
        self.0
            .write_fmt(text)
            .expect("writing to memory does not fail");
    }

    fn level(&mut self, level: &Level) {
        let Level {
            side: of,
            price,
            quantity,
            orders,
        } = level;
        let of = of.code();
        self.put(format_args!(
            r#","level":{{"side":"{of}","price":"{price}","quantity":"{quantity}","orders":{orders}}}"#
        ));
    }

    fn kind(&mut self, kind: &EventKind) {
        match kind {
            EventKind::Opened {
                party,
                side: of,
                price,
            }
            | EventKind::Reduced {
                party,
                side: of,
                price,
            } => {
                self.0.push(',');
                self.party(party);
                let of = of.code();
                self.put(format_args!(r#","side":"{of}","price":"{price}""#));
            }
            EventKind::Traded {
                trade,
                price,
                quantity,
                side: of,
                maker,
                taker,
            } => {
                let of = of.code();
                self.put(format_args!(
                    r#","trade":{trade},"price":"{price}","quantity":"{quantity}","side":"{of}","maker":{{"#
                ));
                self.party(maker);
                self.0.push_str(r#"},"taker":{"#);
                self.party(taker);
                self.0.push('}');
            }
            EventKind::Cancelled {
                party,
                side: of,
                quantity,
                reason,
            } => {
                self.0.push(',');
                self.party(party);
                let (of, reason) = (of.code(), reason.map_or(REPLACED, |reason| reason.code()));
                self.put(format_args!(
                    r#","side":"{of}","quantity":"{quantity}","reason":"{reason}""#
                ));
            }
            EventKind::Rejected {
                account,
                client_id,
                code,
            } => {
                self.put(format_args!(r#","account":"{account}""#));
                self.client_id(client_id.as_deref());
                self.put(format_args!(r#","reason":"{code}""#));
            }
            EventKind::Halted | EventKind::Resumed => {}
        }
    }

    /// One side of an event about an order, as fields of the object that is open.
    fn party(&mut self, party: &Party) {
        self.put(format_args!(
            r#""order":{},"account":"{}""#,
            party.order, party.account
        ));
        self.client_id(party.client_id.as_deref());
        self.put(format_args!(r#","open":"{}""#, party.open));
    }

    /// Of all text in events, only a client's id can hold what JSON escapes: visible ASCII has two
    /// such characters.
    fn client_id(&mut self, id: Option<&str>) {
        let Some(id) = id else {
            return;
        };
        self.0.push_str(r#","client_id":""#);
        for character in id.chars() {
            if matches!(character, '"' | '\\') {
                self.0.push('\\');
            }
            self.0.push(character);
        }
        self.0.push('"');
    }
}
