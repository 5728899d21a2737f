//! The twin's answers, from lists alone.

use turnstile_rooms::{
    Answer, Block, Cursor, Entry, EntryState, Explanation, GuestId, Nights, Page, PropertySummary,
    Query, Refusal, RoomInSale, StoppedRoom, Totals, TypeAvailability, Wish, limits,
};
use turnstile_types::{Name, Night, Position, Principal, Stay, Timestamp};

use super::{Room, State, Target, Twin, natural_key};

impl Twin {
    pub(crate) fn query(&self, now: Timestamp, principal: &Principal, query: &Query) -> Answer {
        match *query {
            Query::LookUp { reference } => match self.look_up(reference) {
                Ok(slot) => match self.entry(slot, now) {
                    Some(entry) => Answer::Entry(entry),
                    None => Answer::Refused(Refusal::Ended),
                },
                Err(refusal) => Answer::Refused(refusal),
            },
            Query::List {
                property,
                room,
                from,
                to,
                cursor,
                limit,
            } => self
                .list(now, (&property, room), (from, to), cursor, limit)
                .map_or_else(Answer::Refused, Answer::Page),
            Query::Guest { id, cursor, limit } => self.guest(now, id, cursor, limit),
            Query::Holds { cursor, limit } => self.holds(now, principal, cursor, limit),
            Query::Availability {
                property,
                room_type,
                stay,
            } => self
                .availability(now, &property, room_type, stay)
                .map_or_else(Answer::Refused, Answer::Availability),
            Query::Explain {
                property,
                wish,
                stay,
            } => self
                .explain(now, &property, &wish, stay)
                .map_or_else(Answer::Refused, Answer::Explanation),
            Query::Properties { cursor, limit } => self.list_properties(cursor, limit),
            Query::Totals => Answer::Totals(self.totals(now)),
            Query::ListRooms {
                property,
                cursor,
                limit,
            } => self.list_rooms(&property, (cursor, limit)),
            Query::ListStopSells {
                property,
                stay,
                cursor,
                limit,
            } => self.list_stop_sells(now, (&property, stay), (cursor, limit)),
        }
    }

    fn list_rooms(&self, property: &Name, page: (Option<Cursor>, u16)) -> Answer {
        let listed = self.inventory(property, page, |room| {
            let Room { name, kind, .. } = &self.rooms[room];
            Some(RoomInSale {
                room: *name,
                room_type: self.kinds[*kind].1,
            })
        });
        listed.map_or_else(Answer::Refused, |(rooms, next)| Answer::Rooms {
            rooms,
            next,
        })
    }

    fn list_stop_sells(
        &self,
        now: Timestamp,
        (property, stay): (&Name, Stay),
        page: (Option<Cursor>, u16),
    ) -> Answer {
        let listed = self.inventory(property, page, |room| {
            let (bits, _) = self.in_the_way(room, stay, now);
            let first = stay.arrival();
            let nights = Nights { first, bits };
            let room = self.rooms[room].name;
            (bits != 0).then_some(StoppedRoom { room, nights })
        });
        listed.map_or_else(Answer::Refused, |(stop_sells, next)| Answer::StopSells {
            stop_sells,
            next,
        })
    }

    /// What is shown of the rooms in sale, behind the one that a cursor names.
    fn inventory<T>(
        &self,
        property: &Name,
        (cursor, limit): (Option<Cursor>, u16),
        shown: impl Fn(usize) -> Option<T>,
    ) -> Result<(Vec<T>, Option<Cursor>), Refusal> {
        let property = self.property(property)?;
        let mut after = None;
        if let Some(Cursor(cursor)) = cursor {
            let room = usize::try_from(cursor >> 32).unwrap();
            let part = cursor >> 16 & 0xffff;
            match self.rooms.get(room) {
                Some(known) if known.property == property && part <= 1 => {
                    after = Some(self.place_key(room, part == 1));
                }
                _ => return Ok((Vec::new(), None)),
            }
        }
        let mut found = Vec::new();
        for room in self.wished(property, &Wish::Any) {
            let loose = self.is_loose(room);
            if after
                .as_ref()
                .is_some_and(|after| self.place_key(room, loose) <= *after)
            {
                continue;
            }
            let next = u64::try_from(room).unwrap() << 32 | u64::from(loose) << 16;
            found.extend(shown(room).map(|item| (item, Cursor(next))));
        }
        let more = found.len() > usize::from(limit);
        found.truncate(usize::from(limit));
        let next = found.last().filter(|_| more).map(|&(_, next)| next);
        Ok((found.into_iter().map(|(item, _)| item).collect(), next))
    }

    /// An entry as it is at an instant; nothing when it is forgotten by then.
    fn entry(&self, slot: usize, now: Timestamp) -> Option<Entry> {
        let entry = self.slots[slot].entry.as_ref().unwrap();
        let mut guest = None;
        let mut sealed = None;
        let state = match &entry.state {
            State::Booked { guest: name, id } => {
                guest = Some(name.as_str().into());
                sealed = Some(*id);
                EntryState::Booked
            }
            State::Held { until, .. } if *until > now => EntryState::Held { until: *until },
            State::Held { until: at, .. } | State::Expired { at, .. } => {
                if at.plus_ms(limits::LATE_CONFIRM_MS) <= now {
                    return None;
                }
                EntryState::Expired { at: *at }
            }
        };
        let room = &self.rooms[entry.room];
        Some(Entry {
            reference: self.reference(slot),
            state,
            property: self.properties[room.property].name,
            room: room.name,
            stay: entry.stay,
            guest,
            id: sealed,
            principal: entry.principal,
            since: entry.since,
            position: entry.position,
        })
    }

    fn list(
        &self,
        now: Timestamp,
        (property, room): (&Name, Option<Name>),
        (from, to): (Night, Night),
        cursor: Option<Cursor>,
        limit: u16,
    ) -> Result<Page, Refusal> {
        let property = self.property(property)?;
        let wish = room.map_or(Wish::Any, Wish::Room);
        self.exists(property, &wish)?;
        let mut key_after = None;
        if let Some(Cursor(cursor)) = cursor {
            let room = usize::try_from(cursor >> 32).unwrap();
            let (part, arrival) = (cursor >> 16 & 0xffff, cursor & 0xffff);
            match self.rooms.get(room) {
                Some(known) if known.property == property && part <= 1 => {
                    key_after = Some((self.place_key(room, part == 1), arrival));
                }
                _ => {
                    return Ok(Page {
                        entries: Vec::new(),
                        next: None,
                    });
                }
            }
        }
        let mut found = Vec::new();
        for room in self.wished(property, &wish) {
            let mut standing = self.standing(room, now);
            standing.sort_by_key(|(_, stay)| stay.arrival());
            for (slot, stay) in standing {
                let arrival = u64::from(stay.arrival().days());
                let loose = self.is_loose(room);
                let key = (self.place_key(room, loose), arrival);
                let touches = from < to && stay.arrival() < to && from < stay.departure();
                let same_room = key_after.as_ref().is_some_and(|after| after.0 == key.0);
                let skipped = if matches!(wish, Wish::Room(_)) && !same_room {
                    false
                } else {
                    key_after.as_ref().is_some_and(|after| key <= *after)
                };
                if touches && !skipped {
                    let next =
                        u64::try_from(room).unwrap() << 32 | u64::from(loose) << 16 | arrival;
                    found.push((self.entry(slot, now).unwrap(), next));
                }
            }
        }
        Ok(page(found, limit))
    }

    fn guest(&self, now: Timestamp, wanted: GuestId, cursor: Option<Cursor>, limit: u16) -> Answer {
        let mut found = Vec::new();
        for (slot, kept) in self.slots.iter().enumerate() {
            let Some(entry) = &kept.entry else { continue };
            let before = cursor.is_none_or(|Cursor(shown)| entry.position.0 < shown);
            match &entry.state {
                State::Booked { id, .. } if *id == wanted && before => {
                    found.push((self.entry(slot, now).unwrap(), entry.position.0));
                }
                _ => {}
            }
        }
        found.sort_by_key(|&(_, position)| std::cmp::Reverse(position));
        Answer::Page(page(found, limit))
    }

    fn holds(
        &self,
        now: Timestamp,
        principal: &Principal,
        cursor: Option<Cursor>,
        limit: u16,
    ) -> Answer {
        let mut found = Vec::new();
        for (slot, kept) in self.slots.iter().enumerate() {
            let Some(entry) = &kept.entry else { continue };
            if entry.principal != *principal {
                continue;
            }
            match entry.state {
                State::Held {
                    until,
                    made: Position(made),
                } if until > now && cursor.is_none_or(|Cursor(shown)| made > shown) => {
                    found.push((self.entry(slot, now).unwrap(), made));
                }
                _ => {}
            }
        }
        found.sort_by_key(|&(_, made)| made);
        Answer::Page(page(found, limit))
    }

    fn availability(
        &self,
        now: Timestamp,
        property: &Name,
        room_type: Option<Name>,
        stay: Stay,
    ) -> Result<Vec<TypeAvailability>, Refusal> {
        let property = self.property(property)?;
        let types = match room_type {
            Some(name) => {
                self.exists(property, &Wish::Type(name))?;
                vec![name]
            }
            None => {
                let mut types: Vec<Name> = self
                    .kinds
                    .iter()
                    .filter(|&&(of, name)| {
                        of == property && !self.wished(property, &Wish::Type(name)).is_empty()
                    })
                    .map(|&(_, name)| name)
                    .collect();
                types.sort_by_key(natural_key);
                types
            }
        };
        let of_type = |room_type: Name| {
            let rooms = self.wished(property, &Wish::Type(room_type));
            let blocked: Vec<u128> = rooms
                .iter()
                .map(|&room| {
                    let (stopped, taken) = self.in_the_way(room, stay, now);
                    stopped | taken
                })
                .collect();
            let count = |free: &dyn Fn(u128) -> bool| {
                u32::try_from(blocked.iter().filter(|&&nights| free(nights)).count()).unwrap()
            };
            TypeAvailability {
                room_type,
                rooms: u32::try_from(rooms.len()).unwrap(),
                free: (0..stay.nights())
                    .map(|night| count(&|nights| nights >> night & 1 == 0))
                    .collect(),
                free_throughout: count(&|nights| nights == 0),
            }
        };
        Ok(types.into_iter().map(of_type).collect())
    }

    fn explain(
        &self,
        now: Timestamp,
        property: &Name,
        wish: &Wish,
        stay: Stay,
    ) -> Result<Explanation, Refusal> {
        let property = self.property(property)?;
        self.exists(property, wish)?;
        let would_get = match self.target(property, wish, stay, now) {
            Ok(Target::Room(room)) => Some(self.rooms[room].name),
            Ok(Target::New(name)) => Some(name),
            Err(_) => None,
        };
        let mut blocks = Vec::new();
        for number in self.wished(property, wish) {
            let room = self.rooms[number].name;
            let mut standing = self.standing(number, now);
            standing.sort_by_key(|(_, stay)| stay.arrival());
            for (slot, other) in standing {
                if !other.overlaps(stay) {
                    continue;
                }
                let reference = self.reference(slot);
                let stay = other;
                let entry = self.slots[slot].entry.as_ref().unwrap();
                blocks.push(match entry.state {
                    State::Held { until, .. } => Block::Hold {
                        room,
                        reference,
                        stay,
                        until,
                    },
                    _ => Block::Booking {
                        room,
                        reference,
                        stay,
                    },
                });
            }
            let (stopped, _) = self.in_the_way(number, stay, now);
            if stopped != 0 {
                let nights = Nights {
                    first: stay.arrival(),
                    bits: stopped,
                };
                blocks.push(Block::StopSell { room, nights });
            }
        }
        blocks.truncate(limits::EXPLAINED_BLOCKS_MAX);
        Ok(Explanation { would_get, blocks })
    }

    fn list_properties(&self, cursor: Option<Cursor>, limit: u16) -> Answer {
        let mut order: Vec<usize> = (0..self.properties.len()).collect();
        order.sort_by_key(|&number| self.properties[number].name);
        if let Some(Cursor(last)) = cursor {
            match order.iter().position(|&number| number as u64 == last) {
                Some(place) => drop(order.drain(..=place)),
                None => order.clear(),
            }
        }
        let shown = order.len().min(usize::from(limit));
        let next = (shown < order.len()).then(|| Cursor(order[shown - 1] as u64));
        let summary = |&number: &usize| PropertySummary {
            property: self.properties[number].name,
            open: self.properties[number].open,
            rooms: u32::try_from(self.wished(number, &Wish::Any).len()).unwrap(),
        };
        Answer::Properties {
            properties: order[..shown].iter().map(summary).collect(),
            next,
        }
    }

    fn totals(&self, now: Timestamp) -> Totals {
        let mut totals = Totals {
            properties: self.properties.len() as u64,
            rooms: self.rooms.iter().filter(|room| !room.withdrawn).count() as u64,
            booked_total: self.booked,
            cancelled_total: self.cancelled,
            held_total: self.held,
            expired_total: self.expired,
            ..Totals::default()
        };
        for entry in self.slots.iter().filter_map(|slot| slot.entry.as_ref()) {
            match entry.state {
                State::Booked { .. } => totals.bookings += 1,
                State::Held { until, .. } if until > now => totals.holds += 1,
                State::Held { .. } => totals.expired_total += 1,
                State::Expired { .. } => {}
            }
        }
        totals
    }
}

/// The first entries, and the cursor of the last one when there are more.
fn page(mut found: Vec<(Entry, u64)>, limit: u16) -> Page {
    let more = found.len() > usize::from(limit);
    found.truncate(usize::from(limit));
    let next = found.last().filter(|_| more).map(|&(_, next)| Cursor(next));
    Page {
        entries: found.into_iter().map(|(entry, _)| entry).collect(),
        next,
    }
}
