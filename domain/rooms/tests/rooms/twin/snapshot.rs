//! The twin's snapshot, from lists alone.

use turnstile_types::{Name, put_bytes, put_u8, put_u16, put_u32, put_u64};

use super::{Entry, State, Twin};

impl Twin {
    pub(crate) fn snapshot(&self) -> Vec<u8> {
        let mut out = b"rooms\0\0\x01".to_vec();
        for count in [self.booked, self.cancelled, self.held, self.expired] {
            put_u64(&mut out, count);
        }
        put_length(&mut out, self.principals.len());
        for principal in &self.principals {
            put_name(&mut out, &principal.0);
        }
        put_length(&mut out, self.properties.len());
        for property in &self.properties {
            put_name(&mut out, &property.name);
            put_u8(&mut out, u8::from(property.open));
        }
        put_length(&mut out, self.kinds.len());
        for (property, name) in &self.kinds {
            put_length(&mut out, *property);
            put_name(&mut out, name);
        }
        self.put_rooms(&mut out);
        put_length(&mut out, self.slots.len());
        for slot in &self.slots {
            match &slot.entry {
                None => {
                    put_u8(&mut out, 0);
                    put_u32(&mut out, slot.generation);
                }
                Some(entry) => self.put_entry(&mut out, slot.generation, entry),
            }
        }
        for &slot in self.free.iter().rev() {
            put_u32(&mut out, slot);
        }
        out
    }

    fn put_rooms(&self, out: &mut Vec<u8>) {
        put_length(out, self.rooms.len());
        for room in &self.rooms {
            put_length(out, room.kind);
            put_u8(out, u8::from(room.withdrawn));
            put_name(out, &room.name);
            let has = |night: u16| room.stopped.contains(&night);
            let firsts = room.stopped.iter().copied();
            let firsts: Vec<u16> = firsts
                .filter(|&night| night == 0 || !has(night - 1))
                .collect();
            put_u16(out, u16::try_from(firsts.len()).unwrap());
            for first in firsts {
                put_u16(out, first);
                let end = (first..).find(|&night| !has(night)).unwrap();
                put_u16(out, end - first);
            }
        }
    }

    fn put_entry(&self, out: &mut Vec<u8>, generation: u32, entry: &Entry) {
        put_u8(
            out,
            match entry.state {
                State::Booked { .. } => 2,
                State::Held { .. } => 3,
                State::Expired { .. } => 4,
            },
        );
        put_u32(out, generation);
        put_length(out, entry.room);
        let principal = self.principals.iter().position(|p| *p == entry.principal);
        put_length(out, principal.unwrap());
        put_u16(out, entry.stay.arrival().days());
        put_u8(out, entry.stay.nights());
        put_u64(out, entry.since.0);
        put_u64(out, entry.position.0);
        match &entry.state {
            State::Booked { guest, id } => {
                put_bytes(out, guest.as_bytes());
                put_u64(out, id.seal);
                put_u16(out, id.last_four);
            }
            State::Held { until: end, made } | State::Expired { at: end, made } => {
                put_u64(out, end.0);
                put_u64(out, made.0);
            }
        }
    }
}

fn put_length(out: &mut Vec<u8>, length: usize) {
    put_u32(out, u32::try_from(length).unwrap());
}

fn put_name(out: &mut Vec<u8>, name: &Name) {
    put_u8(out, u8::try_from(name.len()).unwrap());
    out.extend_from_slice(name.as_bytes());
}
