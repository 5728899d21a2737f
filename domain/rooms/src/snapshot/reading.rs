//! The state, read and derived again.

use turnstile_chassis::Decode as _;
use turnstile_types::{
    Machine as _, Malformed, Name, Night, Position, Principal, Reader, Stay, Timestamp,
};

use super::MAGIC;
use crate::{
    GuestId, GuestName, Rooms,
    ledger::{LedgerSlot, NO_SLOT, State},
    limits,
    table::{hash_of_name, scoped},
};

pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Rooms, Malformed> {
    Malformed::unless(reader.take(MAGIC.len(), "magic")? == MAGIC, "magic")?;
    let mut rooms = Rooms::empty();
    rooms.counts.booked = reader.u64("totals")?;
    rooms.counts.cancelled = reader.u64("totals")?;
    rooms.counts.held = reader.u64("totals")?;
    rooms.counts.expired = reader.u64("totals")?;
    read_names(&mut rooms, reader)?;
    read_rooms(&mut rooms, reader)?;
    let mut booked = Vec::new();
    let slots = reader.u32("slots")?;
    Malformed::unless(slots < NO_SLOT, "slots")?;
    for number in 0..slots {
        reader.lap()?;
        let slot = read_slot(&mut rooms, reader)?;
        rooms.ledger.restore_slot(slot);
        seat(&mut rooms, number, &slot, &mut booked)?;
    }
    read_free(&mut rooms, reader)?;

    // A guest's chain is in order of the positions, and linking makes a booking the newest.
    booked.sort_unstable();
    for (place, &(_, slot)) in booked.iter().enumerate() {
        if let Some(&(_, coming)) = booked.get(place + AHEAD) {
            rooms.guests.prefetch_of(&rooms.ledger, coming);
        }
        rooms.guests.link(&mut rooms.ledger, slot);
    }
    let counts = rooms.counts;
    Malformed::unless(
        counts.booked.checked_sub(counts.cancelled) == Some(counts.bookings),
        "totals",
    )?;
    Ok(rooms)
}

fn read_names(rooms: &mut Rooms, reader: &mut Reader<'_>) -> Result<(), Malformed> {
    for number in 0..reader.u32("principals")? {
        let principal = Principal(Name::decode(reader, "principal")?);
        Malformed::unless(rooms.principals.enrol(&principal) == number, "principal")?;
    }
    for _ in 0..reader.u32("properties")? {
        let property = Name::decode(reader, "property")?;
        Malformed::unless(rooms.directory.property(&property).is_none(), "property")?;
        let open = reader.flag("open")?;
        rooms.directory.add_property(property, open);
    }
    for number in 0..reader.u32("types")? {
        let property = reader.u32("type")?;
        Malformed::unless(property < rooms.directory.properties().len(), "type")?;
        let kind = Name::decode(reader, "type")?;
        Malformed::unless(rooms.directory.enrol_kind(property, kind) == number, "type")?;
    }
    Ok(())
}

/// A run of stopped nights: the room, the first night, how many.
type Run = (u32, u16, u16);

/// Entries for which memory is asked before they are put in their places: each place is anywhere in
/// a table, and waiting for one after the other is what a restore would do most.
const AHEAD: usize = 16;

/// The rooms that are read next.
struct Coming<'a> {
    reader: Reader<'a>,
    left: u32,
}

impl<'a> Coming<'a> {
    fn of(reader: &Reader<'a>, left: u32) -> Self {
        let reader = reader.clone();
        Self { reader, left }
    }

    /// Asks memory for the place of the next room's name. What is malformed is told when it is read.
    fn announce(&mut self, rooms: &Rooms) {
        let Some(left) = self.left.checked_sub(1) else {
            return;
        };
        self.left = left;
        let reader = &mut self.reader;
        let mut next = || {
            let kind = reader.u32("room")?;
            reader.flag("withdrawn")?;
            let room = Name::decode(reader, "room")?;
            let runs = usize::from(reader.u16("stopped")?);
            reader.take(runs * 4, "stopped")?;
            Ok::<_, Malformed>((kind, room))
        };
        if let Ok((kind, room)) = next()
            && let Some(kind) = rooms.directory.kinds().get(kind)
        {
            let hash = scoped(kind.property, hash_of_name(room.as_bytes()));
            rooms.directory.prefetch_room_name(hash);
        }
    }
}

/// Rooms come in order of their numbers, in which loose ones are put in sale. Those with shelves
/// are put in sale in their natural order, in which no shelf is ever split: restoring millions of
/// rooms takes seconds, not minutes.
fn read_rooms(rooms: &mut Rooms, reader: &mut Reader<'_>) -> Result<(), Malformed> {
    let (mut in_sale, mut stopped) = (Vec::new(), Vec::new());
    let count = reader.u32("rooms")?;
    let mut coming = Coming::of(reader, count);
    for _ in 0..AHEAD {
        coming.announce(rooms);
    }
    for _ in 0..count {
        reader.lap()?;
        coming.announce(rooms);
        let kind = reader.u32("room")?;
        Malformed::unless(kind < rooms.directory.kinds().len(), "room")?;
        let withdrawn = reader.flag("withdrawn")?;
        let room_name = Name::decode(reader, "room")?;
        let property = rooms.directory.kind_at(kind).property;
        let known = rooms.directory.room(property, room_name.as_bytes());
        let limit = rooms.directory.rooms_max(property);
        let full = rooms.directory.property_at(property).rooms == limit;
        Malformed::unless(known.is_none() && !full, "room")?;
        let room = rooms.directory.add_room(kind, room_name);
        if !withdrawn && rooms.directory.is_loose(room) {
            rooms.directory.offer(room, kind);
        } else if !withdrawn {
            in_sale.push((kind, rooms.directory.key_of(room), room));
        }
        let runs = stopped.len();
        read_stopped(reader, room, &mut stopped)?;
        Malformed::unless(!withdrawn || stopped.len() == runs, "stopped")?;
    }
    in_sale.sort_unstable();
    for (kind, _, room) in in_sale {
        rooms.directory.offer(room, kind);
    }
    for (room, first, nights) in stopped {
        stop_run(rooms, room, first, nights)?;
    }
    Ok(())
}

fn read_stopped(
    reader: &mut Reader<'_>,
    room: u32,
    stopped: &mut Vec<Run>,
) -> Result<(), Malformed> {
    let mut end = None;
    for _ in 0..reader.u16("stopped")? {
        let (first, nights) = (reader.u16("stopped")?, reader.u16("stopped")?);
        let next = first.checked_add(nights).filter(|_| nights > 0);
        Malformed::unless(end < Some(first) && next.is_some(), "stopped")?;
        end = next;
        stopped.push((room, first, nights));
    }
    Ok(())
}

/// Stops the sale of a room on nights that follow each other.
pub(crate) fn stop_run(
    rooms: &mut Rooms,
    room: u32,
    first: u16,
    nights: u16,
) -> Result<(), Malformed> {
    let mut arrival = first;
    while arrival < first + nights {
        let departure = arrival.saturating_add(90).min(first + nights);
        let stay = Stay::new(Night::from_days(arrival), Night::from_days(departure))
            .map_err(|_invalid| Malformed { field: "stopped" })?;
        rooms.stop(room, stay, true);
        arrival = departure;
    }
    Ok(())
}

/// A slot that is used up: one of another state overwrites what it says.
pub(crate) fn empty_slot() -> LedgerSlot {
    let night = Night::from_days;
    LedgerSlot {
        generation: 0,
        room: 0,
        principal: 0,
        stay: Stay::new(night(0), night(1)).expect("one night is a stay"),
        since: Timestamp(0),
        position: Position(0),
        state: State::Spent,
    }
}

fn read_slot(rooms: &mut Rooms, reader: &mut Reader<'_>) -> Result<LedgerSlot, Malformed> {
    let state = reader.u8("slot")?;
    let mut slot = empty_slot();
    match state {
        0x00 => {
            slot.generation = reader.u32("generation")?;
            Malformed::unless(slot.generation > 0, "generation")?;
            slot.state = State::Free { next: NO_SLOT };
            return Ok(slot);
        }
        0x01 => {
            slot.generation = u32::MAX;
            return Ok(slot);
        }
        0x02..=0x04 => {}
        _ => return Err(Malformed { field: "slot" }),
    }
    slot.generation = reader.u32("generation")?;
    slot.room = reader.u32("entry")?;
    slot.principal = reader.u32("entry")?;
    slot.stay = reader.stay("entry")?;
    slot.since = reader.instant("since")?;
    slot.position = Position(reader.u64("position")?);
    Malformed::unless(slot.room < rooms.directory.rooms().len(), "entry")?;
    Malformed::unless(slot.principal < rooms.principals.len(), "entry")?;
    if state == 0x02 {
        let guest = GuestName::decode(reader, "guest")?;
        let id = GuestId::decode(reader, "guest id")?;
        slot.state = State::Booked(rooms.guests.register(guest, id));
        return Ok(slot);
    }
    let until = reader.instant("until")?;
    let made = Position(reader.u64("made")?);
    let latest = slot.since.plus_ms(limits::HOLD_TOTAL_MS_MAX);
    Malformed::unless(until <= latest && made <= slot.position, "hold")?;
    slot.state = if state == 0x03 {
        State::Held { until, made }
    } else {
        State::Expired { at: until, made }
    };
    Ok(slot)
}

/// Puts an entry that lies in its slot everywhere else where it belongs.
pub(crate) fn seat(
    rooms: &mut Rooms,
    number: u32,
    slot: &LedgerSlot,
    booked: &mut Vec<(Position, u32)>,
) -> Result<(), Malformed> {
    match slot.state {
        State::Free { .. } | State::Spent => return Ok(()),
        State::Expired { at, .. } => {
            rooms
                .deadlines
                .insert((at.plus_ms(limits::LATE_CONFIRM_MS), number));
            return Ok(());
        }
        State::Held { until, made } => {
            let open = rooms.principals.holds_count(slot.principal);
            Malformed::unless(open < limits::HOLDS_PER_PRINCIPAL_MAX, "holds")?;
            rooms.principals.add_hold(slot.principal, made, number);
            rooms.deadlines.insert((until, number));
        }
        State::Booked(_) => {
            booked.push((slot.position, number));
            rooms.counts.bookings += 1;
        }
    }
    let room = rooms.directory.room_at(slot.room);
    let conflict = rooms.calendar.conflict(&room.nights, slot.stay);
    Malformed::unless(!room.withdrawn && conflict.occupied == 0, "nights")?;
    rooms.occupy(slot.room, slot.stay, number);
    Ok(())
}

fn read_free(rooms: &mut Rooms, reader: &mut Reader<'_>) -> Result<(), Malformed> {
    let free = |slot: &LedgerSlot| matches!(slot.state, State::Free { .. });
    let count = rooms.ledger.iter().filter(|slot| free(slot)).count();
    let mut order = Vec::with_capacity(count);
    let mut seen = vec![false; rooms.ledger.iter().count()];
    for _ in 0..count {
        let slot = reader.u32("free")?;
        let entry = rooms.ledger.get(slot).ok_or(Malformed { field: "free" })?;
        Malformed::unless(free(entry), "free")?;
        let seen = seen
            .get_mut(slot as usize)
            .ok_or(Malformed { field: "free" })?;
        Malformed::unless(!std::mem::replace(seen, true), "free")?;
        order.push(slot);
    }
    rooms.ledger.chain_free(&order);
    Ok(())
}
