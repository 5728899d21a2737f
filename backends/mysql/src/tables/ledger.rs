//! Tables for the server only: keys, counters, writers, ended references.

use turnstile_types::{Position, Principal, Timestamp};

use crate::{
    fields::{Fields, Strange},
    rows::Record,
    sql::{Ascii, At, Bytes, Quoted, Values},
};

/// What was first answered under an idempotency key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct First {
    /// [`turnstile_contract::Request::content`] of the command.
    pub(crate) content: u64,
    pub(crate) position: Position,
    pub(crate) outcome: Vec<u8>,
    pub(crate) since: Timestamp,
}

/// The one row that whoever decides has locked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counters {
    pub(crate) position: Position,
    pub(crate) next_reference: u64,
    pub(crate) next_room: u64,
    pub(crate) next_property: u64,
    pub(crate) bookings: u64,
    pub(crate) booked_total: u64,
    pub(crate) cancelled_total: u64,
    pub(crate) held_total: u64,
    pub(crate) expired_total: u64,
    pub(crate) stops: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Writer {
    pub(crate) batch: u64,
    pub(crate) since: Timestamp,
}

/// The last reference of a slot that had ended before the state was copied to here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ended {
    pub(crate) generation: u32,
}

impl Record for First {
    type Key = (Principal, String);

    const TABLE: &'static str = "idempotency_keys";
    const COLUMNS: &'static [&'static str] = &[
        "principal",
        "idem_key",
        "content",
        "position",
        "outcome",
        "since",
    ];

    fn read(fields: &mut Fields<'_>) -> Result<(Self::Key, Self), Strange> {
        let key = (fields.principal()?, fields.text("idem_key")?.to_owned());
        let content = fields.bytes("content")?.try_into();
        let content = content.map_err(|_length| Strange { field: "content" })?;
        let first = Self {
            content: u64::from_be_bytes(content),
            position: fields.position("position")?,
            outcome: fields.bytes("outcome")?.to_vec(),
            since: fields.instant("since")?,
        };
        Ok((key, first))
    }

    fn put_key((principal, key): &Self::Key, values: &mut Values<'_>) {
        values.put(Quoted(&principal.0));
        values.put(Ascii(key));
    }

    fn put(&self, _key: &Self::Key, values: &mut Values<'_>) {
        values.put(Bytes(&self.content.to_be_bytes()));
        values.put(self.position);
        values.put(Bytes(&self.outcome));
        values.put(At(self.since));
    }
}

impl Record for Counters {
    type Key = u8;

    const TABLE: &'static str = "counters";
    const COLUMNS: &'static [&'static str] = &[
        "id",
        "position",
        "next_reference",
        "next_room",
        "next_property",
        "bookings",
        "booked_total",
        "cancelled_total",
        "held_total",
        "expired_total",
        "stops",
    ];
    const IS_WAITED_FOR: bool = true;

    fn read(fields: &mut Fields<'_>) -> Result<(u8, Self), Strange> {
        let id = fields.number("id")?;
        let counters = Self {
            position: fields.position("position")?,
            next_reference: fields.number("next_reference")?,
            next_room: fields.number("next_room")?,
            next_property: fields.number("next_property")?,
            bookings: fields.number("bookings")?,
            booked_total: fields.number("booked_total")?,
            cancelled_total: fields.number("cancelled_total")?,
            held_total: fields.number("held_total")?,
            expired_total: fields.number("expired_total")?,
            stops: fields.number("stops")?,
        };
        Ok((id, counters))
    }

    fn put_key(key: &u8, values: &mut Values<'_>) {
        values.put(key);
    }

    fn put(&self, _key: &u8, values: &mut Values<'_>) {
        values.put(self.position);
        for number in [
            self.next_reference,
            self.next_room,
            self.next_property,
            self.bookings,
            self.booked_total,
            self.cancelled_total,
            self.held_total,
            self.expired_total,
            self.stops,
        ] {
            values.put(number);
        }
    }
}

impl Record for Writer {
    type Key = u64;

    const TABLE: &'static str = "writers";
    const COLUMNS: &'static [&'static str] = &["writer", "batch", "since"];

    fn read(fields: &mut Fields<'_>) -> Result<(u64, Self), Strange> {
        let writer = fields.number("writer")?;
        let state = Self {
            batch: fields.number("batch")?,
            since: fields.instant("since")?,
        };
        Ok((writer, state))
    }

    fn put_key(key: &u64, values: &mut Values<'_>) {
        values.put(key);
    }

    fn put(&self, _key: &u64, values: &mut Values<'_>) {
        values.put(self.batch);
        values.put(At(self.since));
    }
}

impl Record for Ended {
    type Key = u32;

    const TABLE: &'static str = "ended";
    const COLUMNS: &'static [&'static str] = &["slot", "generation"];

    fn read(fields: &mut Fields<'_>) -> Result<(u32, Self), Strange> {
        let slot = fields.number("slot")?;
        let generation = fields.number("generation")?;
        Ok((slot, Self { generation }))
    }

    fn put_key(key: &u32, values: &mut Values<'_>) {
        values.put(key);
    }

    fn put(&self, _key: &u32, values: &mut Values<'_>) {
        values.put(self.generation);
    }
}
