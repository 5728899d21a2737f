//! Reads the keys as the items of a copy.

use std::collections::BTreeMap;

use redis::{FromRedisValue, Pipeline, cmd, pipe};
use turnstile_contract::{
    Tally,
    copy::{Halt, KeyTeller, Teller},
};
use turnstile_rooms::{Counted, EntryState, Piece, Reference, Standing, limits};
use turnstile_types::{Name, Position, Timestamp};

use super::scan;
use crate::{
    answer::{StrangeAnswer, entry_of},
    link::{CallFailure, Dialer},
    names::key,
};

/// Members of a set, and hashes, that are asked for at once.
pub(super) const PAGE: usize = 500;

/// Who tells.
///
/// Redis knows no order of its hashes. So that slots come in theirs, the numbers of all bookings are
/// gathered first: 12 bytes for each.
pub(super) struct Telling<'a> {
    pub(super) link: &'a Dialer,
    pub(super) tally: &'a Tally,
    pub(super) now: Timestamp,
}

/// Something in a slot: its slot and generation, and whether it is a booking or a hold.
type SlotReference = (u32, u32, bool);

type Hash = BTreeMap<String, Vec<u8>>;

fn name(bytes: &[u8]) -> Result<Name, StrangeAnswer> {
    Name::parse(bytes).map_err(|_text| StrangeAnswer("name"))
}

impl Telling<'_> {
    /// Tells the pieces.
    pub(super) async fn tell(&self, mut teller: Teller, slots: u32) -> Result<KeyTeller, Halt> {
        let properties: BTreeMap<Vec<u8>, String> =
            self.ask(cmd("HGETALL").arg(key("properties"))).await?;
        for (property, kind) in &properties {
            let property = Piece::Property {
                name: name(property)?,
                open: kind == "open",
            };
            teller.put(property).await?;
        }
        for property in properties.keys() {
            let property = name(property)?;
            self.tell_rooms(property, false, &mut teller).await?;
            self.tell_rooms(property, true, &mut teller).await?;
        }
        let mut due = 0;
        for page in self.slots().await?.chunks(PAGE) {
            due += self.tell_slots(page, &mut teller).await?;
        }
        let names = [
            "booked_total",
            "cancelled_total",
            "held_total",
            "expired_total",
        ];
        let mut asked = cmd("HMGET");
        asked.arg(key("totals")).arg(&names);
        let totals: [Option<u64>; 4] = self.ask(&asked).await?;
        let [booked, cancelled, held, expired] = totals.map(Option::unwrap_or_default);
        let counted = Counted {
            booked,
            cancelled,
            held,
            expired: expired + due,
        };
        Ok(teller.finish(slots, counted).await?)
    }

    pub(super) async fn ask<T: FromRedisValue>(&self, call: &redis::Cmd) -> Result<T, CallFailure> {
        self.link.ask(self.tally, call).await
    }

    async fn tell_rooms(
        &self,
        property: Name,
        loose: bool,
        teller: &mut Teller,
    ) -> Result<(), Halt> {
        let set = if loose { "loose" } else { "order" };
        let set = key(&format!("{set}/{}", property.as_str()));
        for first in (0..).step_by(PAGE) {
            let last = first + PAGE - 1;
            let mut page = cmd("ZRANGE");
            page.arg(&set).arg(first).arg(last);
            let members: Vec<Vec<u8>> = self.ask(&page).await?;
            if members.is_empty() {
                break;
            }
            let rooms = members.iter().map(|member| room_of(member));
            let rooms: Vec<&[u8]> = rooms.collect();
            let types = key(&format!("rooms/{}", property.as_str()));
            let types: Vec<Vec<u8>> = self.ask(cmd("HMGET").arg(types).arg(&rooms)).await?;
            for (room, room_type) in rooms.iter().zip(&types) {
                let room = Piece::Room {
                    property,
                    name: name(room)?,
                    room_type: name(room_type)?,
                    loose,
                    withdrawn: false,
                };
                teller.put(room).await?;
            }
        }
        Ok(())
    }

    /// What there is in slots, in their order.
    async fn slots(&self) -> Result<Vec<SlotReference>, Halt> {
        let mut slots: Vec<SlotReference> = Vec::new();
        let gathered = scan(
            (self.link, self.tally),
            "booking/",
            async |names: Vec<String>| {
                for name in names {
                    let number = name
                        .parse()
                        .map_err(|_text| StrangeAnswer("number of a booking"));
                    let reference = Reference::of_number(number?);
                    slots.push((reference.slot, reference.generation, true));
                }
                Ok::<_, Halt>(())
            },
        );
        gathered.await?;
        let mut cursor = 0;
        loop {
            let mut scan = cmd("HSCAN");
            scan.arg(key("ended")).arg(cursor).arg("COUNT").arg(PAGE);
            let (next, ended): (u64, Vec<u32>) = self.ask(&scan).await?;
            for pair in ended.chunks_exact(2) {
                if let &[slot, generation] = pair {
                    slots.push((slot, generation, false));
                }
            }
            cursor = next;
            if cursor == 0 {
                break;
            }
        }
        slots.sort_unstable();
        // A scan may show what it has shown before.
        slots.dedup();
        Ok(slots)
    }

    /// Tells some slots, and says how many holds are over there that are not noted as such.
    async fn tell_slots(&self, slots: &[SlotReference], teller: &mut Teller) -> Result<u64, Halt> {
        let mut calls: Pipeline = pipe();
        for &(slot, generation, _) in slots.iter().filter(|(_, _, stands)| *stands) {
            let number = u64::from(generation) << 32 | u64::from(slot);
            calls.cmd("HGETALL").arg(key(&format!("booking/{number}")));
        }
        let hashes: Vec<Hash> = self.link.ask_all(self.tally, &calls).await?;
        let mut hashes = hashes.into_iter();
        let mut due = 0;
        for &(slot, generation, stands) in slots {
            let hash = if stands { hashes.next() } else { None };
            // One that is gone since it was found was forgotten by whoever did what was due.
            let Some(hash) = hash.filter(|hash| !hash.is_empty()) else {
                teller.put_ended(slot, generation).await?;
                continue;
            };
            let number = u64::from(generation) << 32 | u64::from(slot);
            let mut entry = entry_of(Reference::of_number(number), &hash)?;
            if let EntryState::Held { until } = entry.state
                && until <= self.now
            {
                entry.state = EntryState::Expired { at: until };
                due += 1;
            }
            if let EntryState::Expired { at } = entry.state
                && at.plus_ms(limits::LATE_CONFIRM_MS) <= self.now
            {
                teller.put_ended(slot, generation).await?;
                continue;
            }
            let made = match entry.state {
                EntryState::Booked => None,
                EntryState::Held { .. } | EntryState::Expired { .. } => {
                    Some(made(&hash)?.unwrap_or(entry.position))
                }
            };
            teller.put_standing(Standing { entry, made }).await?;
        }
        Ok(due)
    }
}

/// The room of a member: behind the last zero byte, where it has what sorts it before.
fn room_of(member: &[u8]) -> &[u8] {
    member.rsplit(|&byte| byte == 0).next().unwrap_or(member)
}

/// The command that made a hold; nothing where it was made before that was kept.
fn made(hash: &Hash) -> Result<Option<Position>, StrangeAnswer> {
    let Some(text) = hash.get("made") else {
        return Ok(None);
    };
    let number = str::from_utf8(text).ok().and_then(|text| text.parse().ok());
    number
        .map(|number| Some(Position(number)))
        .ok_or(StrangeAnswer("made"))
}
