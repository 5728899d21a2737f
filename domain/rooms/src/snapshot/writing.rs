//! The state, written piece by piece.

use turnstile_chassis::{Encode as _, Pieces};
use turnstile_types::{
    Night, Sink, put_bytes, put_flag, put_instant, put_u8, put_u16, put_u32, put_u64,
};

use super::MAGIC;
use crate::{
    Rooms,
    ledger::{LedgerSlot, State},
};

pub(crate) fn write(rooms: &Rooms, out: &mut dyn Sink) {
    let mut pieces = Pieces::to(out);
    pieces.put(|buffer| {
        buffer.extend_from_slice(MAGIC);
        let counts = rooms.counts;
        for count in [counts.booked, counts.cancelled, counts.held, counts.expired] {
            put_u64(buffer, count);
        }
    });
    write_names(rooms, &mut pieces);
    write_rooms(rooms, &mut pieces);
    pieces.put(|buffer| put_u32(buffer, rooms.ledger.len()));
    for slot in rooms.ledger.iter() {
        pieces.put(|buffer| put_slot(rooms, slot, buffer));
    }
    for slot in rooms.ledger.free() {
        pieces.put(|buffer| put_u32(buffer, slot));
    }
    pieces.finish();
}

fn write_names(rooms: &Rooms, pieces: &mut Pieces<'_>) {
    pieces.put(|buffer| put_u32(buffer, rooms.principals.len()));
    for number in 0..rooms.principals.len() {
        pieces.put(|buffer| rooms.principals.name(number).0.encode(buffer));
    }
    pieces.put(|buffer| put_u32(buffer, rooms.directory.properties().len()));
    for property in rooms.directory.properties().iter() {
        pieces.put(|buffer| {
            property.name.encode(buffer);
            put_flag(buffer, property.open);
        });
    }
    pieces.put(|buffer| put_u32(buffer, rooms.directory.kinds().len()));
    for kind in rooms.directory.kinds().iter() {
        pieces.put(|buffer| {
            put_u32(buffer, kind.property);
            kind.name.encode(buffer);
        });
    }
}

fn write_rooms(rooms: &Rooms, pieces: &mut Pieces<'_>) {
    pieces.put(|buffer| put_u32(buffer, rooms.directory.rooms().len()));
    for (number, room) in (0..).zip(rooms.directory.rooms().iter()) {
        pieces.put(|buffer| {
            put_u32(buffer, room.kind);
            put_flag(buffer, room.withdrawn);
            rooms.directory.room_name(number).encode(buffer);
        });
        let runs = runs_of(rooms.calendar.stopped(&room.nights));
        pieces.put(|buffer| {
            let count = u16::try_from(runs.len()).expect("65,536 nights have 32,768 runs at most");
            put_u16(buffer, count);
            for (first, nights) in runs {
                put_u16(buffer, first);
                put_u16(buffer, nights);
            }
        });
    }
}

/// Nights in order as runs: the first night and how many.
pub(crate) fn runs_of(nights: impl Iterator<Item = Night>) -> Vec<(u16, u16)> {
    let mut runs: Vec<(u16, u16)> = Vec::new();
    for night in nights.map(Night::days) {
        match runs.last_mut() {
            Some((first, nights)) if *first + *nights == night => *nights += 1,
            _ => runs.push((night, 1)),
        }
    }
    runs
}

fn put_slot(rooms: &Rooms, slot: &LedgerSlot, buffer: &mut Vec<u8>) {
    match &slot.state {
        State::Free { .. } => {
            put_u8(buffer, 0x00);
            put_u32(buffer, slot.generation);
        }
        State::Spent => put_u8(buffer, 0x01),
        State::Booked(guest) => {
            put_u8(buffer, 0x02);
            put_entry(slot, buffer);
            put_bytes(buffer, rooms.guests.name(guest).as_bytes());
            guest.id().encode(buffer);
        }
        State::Held { until, made } => {
            put_u8(buffer, 0x03);
            put_entry(slot, buffer);
            put_instant(buffer, *until);
            put_u64(buffer, made.0);
        }
        State::Expired { at, made } => {
            put_u8(buffer, 0x04);
            put_entry(slot, buffer);
            put_instant(buffer, *at);
            put_u64(buffer, made.0);
        }
    }
}

fn put_entry(slot: &LedgerSlot, buffer: &mut Vec<u8>) {
    put_u32(buffer, slot.generation);
    put_u32(buffer, slot.room);
    put_u32(buffer, slot.principal);
    slot.stay.encode(buffer);
    put_instant(buffer, slot.since);
    put_u64(buffer, slot.position.0);
}
