//! Answers to queries as replies: maps in RESP3, flat arrays of fields and values in RESP2.

use turnstile_rooms::{
    Answer, Block, Cursor, Entry, EntryState, Explanation, PropertySummary, Totals,
    TypeAvailability,
};
use turnstile_types::{Name, Stay};

use super::outcome::{count, put_night, put_nights, put_reference, put_refusal};
use crate::Encoder;

/// Appends what was answered to a query. A listing is its entries and where the next page begins,
/// if there is one.
pub fn put_answer(reply: &mut Encoder<'_>, answer: &Answer) {
    match answer {
        Answer::Entry(entry) => put_entry(reply, entry),
        Answer::Page(page) => {
            reply.map(2);
            reply.text("entries");
            reply.array(page.entries.len());
            for entry in &page.entries {
                put_entry(reply, entry);
            }
            put_next(reply, page.next);
        }
        Answer::Availability(types) => {
            reply.array(types.len());
            for availability in types {
                put_availability(reply, availability);
            }
        }
        Answer::Explanation(explanation) => put_explanation(reply, explanation),
        Answer::Properties { properties, next } => {
            reply.map(2);
            reply.text("properties");
            reply.array(properties.len());
            for property in properties {
                put_property(reply, property);
            }
            put_next(reply, *next);
        }
        Answer::Totals(totals) => put_totals(reply, totals),
        Answer::Refused(refusal) => put_refusal(reply, refusal),
    }
}

fn put_next(reply: &mut Encoder<'_>, next: Option<Cursor>) {
    reply.text("next");
    match next {
        Some(Cursor(next)) => reply.shown(next),
        None => reply.null(),
    }
}

fn put_name(reply: &mut Encoder<'_>, field: &str, name: Name) {
    reply.text(field);
    reply.text(&name);
}

fn put_stay(reply: &mut Encoder<'_>, stay: Stay) {
    reply.text("arrival");
    put_night(reply, stay.arrival());
    reply.text("departure");
    put_night(reply, stay.departure());
}

fn put_entry(reply: &mut Encoder<'_>, entry: &Entry) {
    let (state, until) = match entry.state {
        EntryState::Booked => ("booked", None),
        EntryState::Held { until } => ("held", Some(until)),
        EntryState::Expired { at } => ("expired", Some(at)),
    };
    reply.map(11 + usize::from(until.is_some()));
    reply.text("reference");
    put_reference(reply, entry.reference);
    reply.text("state");
    reply.text(state);
    put_name(reply, "property", entry.property);
    put_name(reply, "room", entry.room);
    put_stay(reply, entry.stay);
    reply.text("guest");
    match &entry.guest {
        Some(guest) => reply.text(guest),
        None => reply.null(),
    }
    reply.text("id");
    match entry.id {
        Some(id) => reply.text(&id.masked()),
        None => reply.null(),
    }
    put_name(reply, "principal", entry.principal.0);
    reply.text("since");
    reply.shown(entry.since);
    reply.text("position");
    reply.integer(entry.position.0);
    if let Some(until) = until {
        reply.text("until");
        reply.shown(until);
    }
}

fn put_availability(reply: &mut Encoder<'_>, availability: &TypeAvailability) {
    reply.map(4);
    put_name(reply, "type", availability.room_type);
    reply.text("rooms");
    reply.integer(u64::from(availability.rooms));
    reply.text("free");
    reply.array(availability.free.len());
    for free in &availability.free {
        reply.integer(u64::from(*free));
    }
    reply.text("free_throughout");
    reply.integer(u64::from(availability.free_throughout));
}

fn put_explanation(reply: &mut Encoder<'_>, explanation: &Explanation) {
    reply.map(2);
    reply.text("would_get");
    match explanation.would_get {
        Some(room) => reply.text(&room),
        None => reply.null(),
    }
    reply.text("blocks");
    reply.array(explanation.blocks.len());
    for block in &explanation.blocks {
        put_block(reply, block);
    }
}

fn put_block(reply: &mut Encoder<'_>, block: &Block) {
    match *block {
        Block::Booking {
            room,
            reference,
            stay,
        } => {
            reply.map(5);
            put_block_head(reply, "booking", room);
            reply.text("reference");
            put_reference(reply, reference);
            put_stay(reply, stay);
        }
        Block::Hold {
            room,
            reference,
            stay,
            until,
        } => {
            reply.map(6);
            put_block_head(reply, "hold", room);
            reply.text("reference");
            put_reference(reply, reference);
            put_stay(reply, stay);
            reply.text("until");
            reply.shown(until);
        }
        Block::StopSell { room, nights } => {
            reply.map(3);
            put_block_head(reply, "stop_sell", room);
            reply.text("nights");
            reply.array(count(nights));
            put_nights(reply, nights);
        }
    }
}

fn put_block_head(reply: &mut Encoder<'_>, kind: &str, room: Name) {
    reply.text("block");
    reply.text(kind);
    put_name(reply, "room", room);
}

fn put_property(reply: &mut Encoder<'_>, summary: &PropertySummary) {
    reply.map(3);
    put_name(reply, "property", summary.property);
    reply.text("open");
    reply.boolean(summary.open);
    reply.text("rooms");
    reply.integer(u64::from(summary.rooms));
}

fn put_totals(reply: &mut Encoder<'_>, totals: &Totals) {
    let fields = [
        ("bookings", totals.bookings),
        ("holds", totals.holds),
        ("properties", totals.properties),
        ("rooms", totals.rooms),
        ("booked_total", totals.booked_total),
        ("cancelled_total", totals.cancelled_total),
        ("held_total", totals.held_total),
        ("expired_total", totals.expired_total),
    ];
    reply.map(fields.len());
    for (field, value) in fields {
        reply.text(field);
        reply.integer(value);
    }
}
