//! Stable bytes of what is more than its fields. Byte map and promise: `docs/formats/travel.md`.
//!
//! What only lives within one record (requests under way, answers, events) is not in the bytes of the
//! state, and what is kept twice to be found sooner is derived again.

use turnstile_chassis::{Decode, Encode, put_text, read_text};
use turnstile_types::{Malformed, Reader};

use crate::{
    Desks, Location, Locator, Trip, coordinator::Coordinator, locks::Locks, operation::Resource,
};

/// The number of the itinerary.
impl Encode for Locator {
    fn encode(&self, out: &mut Vec<u8>) {
        self.number().encode(out);
    }
}

impl Decode<'_> for Locator {
    fn decode(reader: &mut Reader<'_>, field: &'static str) -> Result<Self, Malformed> {
        Self::of(reader.u32(field)?).ok_or(Malformed { field })
    }
}

impl Encode for Location {
    fn encode(&self, out: &mut Vec<u8>) {
        put_text(self.as_str().as_bytes(), out);
    }
}

impl Decode<'_> for Location {
    fn decode(reader: &mut Reader<'_>, field: &'static str) -> Result<Self, Malformed> {
        let text = read_text(reader, field)?;
        let location = Self::parse(text).map_err(|_invalid| Malformed { field })?;
        let same = location.as_str().as_bytes() == text;
        same.then_some(location).ok_or(Malformed { field })
    }
}

impl Encode for Desks {
    fn encode(&self, out: &mut Vec<u8>) {
        self.bits().encode(out);
    }
}

impl Decode<'_> for Desks {
    fn decode(reader: &mut Reader<'_>, field: &'static str) -> Result<Self, Malformed> {
        Self::from_bits(reader.u8(field)?).ok_or(Malformed { field })
    }
}

impl Encode for Trip {
    fn encode(&self, out: &mut Vec<u8>) {
        self.items().encode(out);
    }
}

impl Decode<'_> for Trip {
    fn decode(reader: &mut Reader<'_>, field: &'static str) -> Result<Self, Malformed> {
        Self::new(Vec::decode(reader, field)?).ok_or(Malformed { field })
    }
}

impl Encode for Locks<Resource> {
    fn encode(&self, out: &mut Vec<u8>) {
        self.queues.encode(out);
        self.held.encode(out);
    }
}

impl Decode<'_> for Locks<Resource> {
    fn decode(reader: &mut Reader<'_>, _field: &'static str) -> Result<Self, Malformed> {
        Ok(Self::of(
            Decode::decode(reader, "lock")?,
            Decode::decode(reader, "locks held")?,
        ))
    }
}

impl Encode for Coordinator {
    fn encode(&self, out: &mut Vec<u8>) {
        self.last.encode(out);
        self.transactions.encode(out);
        self.ended.encode(out);
        self.itineraries.encode(out);
        self.issued.encode(out);
    }
}

impl Decode<'_> for Coordinator {
    fn decode(reader: &mut Reader<'_>, _field: &'static str) -> Result<Self, Malformed> {
        let mut coordinator = Self::new();
        coordinator.last = Decode::decode(reader, "last transaction")?;
        coordinator.transactions = Decode::decode(reader, "transaction")?;
        coordinator.ended = Decode::decode(reader, "ended transaction")?;
        coordinator.itineraries = Decode::decode(reader, "itinerary")?;
        coordinator.issued = Decode::decode(reader, "itineraries")?;
        coordinator.arm();
        Ok(coordinator)
    }
}
