//! The machine once more, from lists alone: slow, and right at a glance.

mod answers;
mod moving;
mod snapshot;

use std::collections::BTreeSet;

use turnstile_rooms::{
    CancelReason, Command, Done, Event, EventKind, GuestId, Nights, Outcome, Reference, Refusal,
    Wish, limits,
};
use turnstile_types::{Context, Name, Position, Principal, Stay, Timestamp};

#[derive(Clone, Debug)]
pub(crate) struct Property {
    pub(crate) name: Name,
    pub(crate) open: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Room {
    pub(crate) property: usize,
    pub(crate) kind: usize,
    pub(crate) name: Name,
    pub(crate) withdrawn: bool,
    pub(crate) stopped: BTreeSet<u16>,
}

#[derive(Clone, Debug)]
pub(crate) struct Slot {
    pub(crate) generation: u32,
    pub(crate) entry: Option<Entry>,
}

#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) room: usize,
    pub(crate) principal: Principal,
    pub(crate) stay: Stay,
    pub(crate) since: Timestamp,
    pub(crate) position: Position,
    pub(crate) state: State,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum State {
    Booked { guest: String, id: GuestId },
    Held { until: Timestamp, made: Position },
    Expired { at: Timestamp, made: Position },
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Twin {
    pub(crate) principals: Vec<Principal>,
    pub(crate) properties: Vec<Property>,
    pub(crate) kinds: Vec<(usize, Name)>,
    pub(crate) rooms: Vec<Room>,
    pub(crate) slots: Vec<Slot>,
    /// The slot that is used next comes last.
    pub(crate) free: Vec<u32>,
    pub(crate) booked: u64,
    pub(crate) cancelled: u64,
    pub(crate) held: u64,
    pub(crate) expired: u64,
    pub(crate) events: Vec<Event>,
}

impl State {
    /// Whether it has its nights at an instant.
    pub(crate) fn stands(&self, now: Timestamp) -> bool {
        match self {
            Self::Booked { .. } => true,
            Self::Held { until, .. } => *until > now,
            Self::Expired { .. } => false,
        }
    }

    /// When time changes it.
    fn deadline(&self) -> Option<Timestamp> {
        match self {
            Self::Booked { .. } => None,
            Self::Held { until, .. } => Some(*until),
            Self::Expired { at, .. } => Some(at.plus_ms(limits::LATE_CONFIRM_MS)),
        }
    }
}

pub(crate) type NaturalKey = (Vec<(u8, usize, String)>, Name);

/// Where listings show a room.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum PlaceKey {
    Natural(NaturalKey),
    Loose(usize),
}

/// What natural order compares: numbers by how long and then by digits, everything else by byte.
pub(crate) fn natural_key(name: &Name) -> NaturalKey {
    let mut key: Vec<(u8, usize, String)> = Vec::new();
    let mut in_number = false;
    for letter in name.chars() {
        let digit = letter.is_ascii_digit();
        if digit && !in_number {
            key.push((b'0', 0, String::new()));
        } else if !digit {
            key.push((u8::try_from(letter).unwrap(), 0, String::new()));
        }
        if digit {
            let (_, length, number) = key.last_mut().unwrap();
            if letter != '0' || !number.is_empty() {
                number.push(letter);
                *length += 1;
            }
        }
        in_number = digit;
    }
    (key, *name)
}

fn open_type() -> Name {
    Name::parse(b"open").unwrap()
}

/// Where a wish leads.
enum Target {
    Room(usize),
    New(Name),
}

impl Twin {
    pub(crate) fn apply(&mut self, context: &Context<'_>, command: &Command<'_>) -> Outcome {
        self.tick(context);
        match self.decide(context, command) {
            Ok(done) => Outcome::Done(done),
            Err(refusal) => Outcome::Refused(refusal),
        }
    }

    pub(crate) fn next_deadline(&self) -> Option<Timestamp> {
        let entries = self.slots.iter().filter_map(|slot| slot.entry.as_ref());
        entries.filter_map(|entry| entry.state.deadline()).min()
    }

    pub(crate) fn tick(&mut self, context: &Context<'_>) {
        loop {
            let due = (0..self.slots.len())
                .filter_map(|slot| {
                    let entry = self.slots[slot].entry.as_ref()?;
                    Some((entry.state.deadline()?, slot))
                })
                .min()
                .filter(|&(deadline, _)| deadline <= context.now);
            let Some((_, slot)) = due else { return };
            let entry = self.slots[slot].entry.as_mut().unwrap();
            if let State::Held { until, made } = entry.state {
                entry.state = State::Expired { at: until, made };
                entry.position = context.position;
                self.expired += 1;
                self.tell(context, EventKind::Expired, slot);
            } else {
                self.forget(slot);
            }
        }
    }

    fn forget(&mut self, slot: usize) {
        self.slots[slot].entry = None;
        self.slots[slot].generation += 1;
        self.free.push(u32::try_from(slot).unwrap());
    }

    fn decide(&mut self, context: &Context<'_>, command: &Command<'_>) -> Result<Done, Refusal> {
        match *command {
            Command::AddProperty { property, open } => self.add_property(context, property, open),
            Command::AddRoom {
                property,
                room,
                room_type,
            } => self.add_room(context, &property, room, room_type),
            Command::WithdrawRoom { property, room } => self.withdraw(context, &property, &room),
            Command::StopSell {
                property,
                room,
                stay,
                stopped,
            } => self.stop_sell(context, (&property, &room), stay, stopped),
            Command::Book {
                property,
                wish,
                stay,
                guest,
                id,
            } => {
                let guest = guest.as_str().to_owned();
                let property = self.property(&property)?;
                self.exists(property, &wish)?;
                let target = self.target(property, &wish, stay, context.now)?;
                let (reference, room) = self.enter(
                    context,
                    (property, target, stay),
                    State::Booked { guest, id },
                );
                self.booked += 1;
                self.tell(context, EventKind::Booked, reference.slot as usize);
                Ok(Done::Booked { reference, room })
            }
            Command::Hold {
                property,
                wish,
                stay,
                ttl_ms,
            } => self.hold(context, &property, (&wish, stay), ttl_ms),
            Command::Extend { hold, ttl_ms } => self.extend(context, hold, ttl_ms),
            Command::Confirm { hold, guest, id } => {
                let guest = guest.as_str().to_owned();
                self.confirm(context, hold, State::Booked { guest, id })
            }
            Command::Release { hold } => {
                let slot = self.look_up(hold)?;
                self.open_hold(slot)?;
                self.tell(context, EventKind::Released, slot);
                self.forget(slot);
                Ok(Done::Released)
            }
            Command::Cancel { booking, id } => self.cancel(context, booking, Some(id)),
            Command::CancelForGuest { booking, reason } => {
                self.cancel_for_guest(context, booking, reason)
            }
            Command::Move {
                booking,
                wish,
                stay,
                id,
            } => self.move_booking(context, booking, (&wish, stay), id),
        }
    }

    pub(crate) fn property(&self, name: &Name) -> Result<usize, Refusal> {
        let found = self.properties.iter().position(|other| other.name == *name);
        found.ok_or(Refusal::UnknownProperty)
    }

    fn room(&self, property: usize, name: &Name) -> Option<usize> {
        self.rooms
            .iter()
            .position(|room| room.property == property && room.name == *name)
    }

    fn kind(&mut self, property: usize, name: Name) -> usize {
        let found = self.kinds.iter().position(|&kind| kind == (property, name));
        found.unwrap_or_else(|| {
            self.kinds.push((property, name));
            self.kinds.len() - 1
        })
    }

    fn add_property(
        &mut self,
        context: &Context<'_>,
        name: Name,
        open: bool,
    ) -> Result<Done, Refusal> {
        if self.property(&name).is_ok() {
            return Err(Refusal::PropertyExists);
        }
        self.properties.push(Property { name, open });
        let place = (self.properties.len() - 1, None);
        self.announce(context, EventKind::PropertyAdded, place, None, None);
        Ok(Done::PropertyAdded)
    }

    fn add_room(
        &mut self,
        context: &Context<'_>,
        property: &Name,
        name: Name,
        room_type: Name,
    ) -> Result<Done, Refusal> {
        let property = self.property(property)?;
        let known = self.room(property, &name);
        if known.is_some_and(|room| !self.rooms[room].withdrawn) {
            return Err(Refusal::RoomExists);
        }
        if known.is_none() {
            self.refuse_full(property)?;
        }
        let kind = self.kind(property, room_type);
        if let Some(room) = known {
            self.rooms[room].withdrawn = false;
            self.rooms[room].kind = kind;
        } else {
            self.push_room(property, kind, name);
        }
        self.announce(
            context,
            EventKind::RoomAdded,
            (property, Some(name)),
            None,
            None,
        );
        Ok(Done::RoomAdded)
    }

    fn refuse_full(&self, property: usize) -> Result<(), Refusal> {
        let limit = if self.properties[property].open {
            limits::ROOMS_PER_OPEN_PROPERTY_MAX
        } else {
            limits::ROOMS_PER_PROPERTY_MAX
        };
        let rooms = self.rooms.iter().filter(|room| room.property == property);
        if rooms.count() >= limit as usize {
            return Err(Refusal::TooManyRooms { limit });
        }
        Ok(())
    }

    fn push_room(&mut self, property: usize, kind: usize, name: Name) -> usize {
        self.rooms.push(Room {
            property,
            kind,
            name,
            withdrawn: false,
            stopped: BTreeSet::new(),
        });
        self.rooms.len() - 1
    }

    fn withdraw(
        &mut self,
        context: &Context<'_>,
        property: &Name,
        name: &Name,
    ) -> Result<Done, Refusal> {
        let property = self.property(property)?;
        let room = self.room(property, name).ok_or(Refusal::UnknownRoom)?;
        if self.rooms[room].withdrawn {
            return Err(Refusal::UnknownRoom);
        }
        let standing = self.standing(room, context.now);
        if let Some(night) = standing.iter().map(|&(_, stay)| stay.arrival()).min() {
            return Err(Refusal::RoomInUse { night });
        }
        self.rooms[room].withdrawn = true;
        self.rooms[room].stopped.clear();
        self.announce(
            context,
            EventKind::RoomWithdrawn,
            (property, Some(*name)),
            None,
            None,
        );
        Ok(Done::RoomWithdrawn)
    }

    fn stop_sell(
        &mut self,
        context: &Context<'_>,
        (property, name): (&Name, &Name),
        stay: Stay,
        stopped: bool,
    ) -> Result<Done, Refusal> {
        let property = self.property(property)?;
        self.exists(property, &Wish::Room(*name))?;
        let room = match self.room(property, name) {
            Some(room) => room,
            None => {
                self.refuse_full(property)?;
                let kind = self.kind(property, open_type());
                self.push_room(property, kind, *name)
            }
        };
        for night in stay.iter() {
            if stopped {
                self.rooms[room].stopped.insert(night.days());
            } else {
                self.rooms[room].stopped.remove(&night.days());
            }
        }
        let (kind, done) = if stopped {
            (EventKind::SaleStopped, Done::SaleStopped)
        } else {
            (EventKind::SaleResumed, Done::SaleResumed)
        };
        self.announce(context, kind, (property, Some(*name)), None, Some(stay));
        Ok(done)
    }

    fn hold(
        &mut self,
        context: &Context<'_>,
        property: &Name,
        (wish, stay): (&Wish, Stay),
        ttl_ms: u32,
    ) -> Result<Done, Refusal> {
        let property = self.property(property)?;
        self.exists(property, wish)?;
        refuse_ttl(ttl_ms)?;
        let limit = limits::HOLDS_PER_PRINCIPAL_MAX;
        let open = self.slots.iter().filter_map(|slot| slot.entry.as_ref());
        let open = open.filter(|entry| {
            entry.principal == *context.principal && matches!(entry.state, State::Held { .. })
        });
        if open.count() >= limit as usize {
            return Err(Refusal::TooManyHolds { limit });
        }
        let target = self.target(property, wish, stay, context.now)?;
        let until = context.now.plus_ms(ttl_ms.into());
        let made = context.position;
        let (reference, room) = self.enter(
            context,
            (property, target, stay),
            State::Held { until, made },
        );
        self.held += 1;
        self.tell(context, EventKind::Held, reference.slot as usize);
        Ok(Done::Held {
            reference,
            room,
            until,
        })
    }

    fn extend(
        &mut self,
        context: &Context<'_>,
        hold: Reference,
        ttl_ms: u32,
    ) -> Result<Done, Refusal> {
        let slot = self.look_up(hold)?;
        let made = self.open_hold(slot)?;
        refuse_ttl(ttl_ms)?;
        let entry = self.slots[slot].entry.as_mut().unwrap();
        let until = context.now.plus_ms(ttl_ms.into());
        let until_max = entry.since.plus_ms(limits::HOLD_TOTAL_MS_MAX);
        if until > until_max {
            return Err(Refusal::HoldCeiling { until_max });
        }
        entry.state = State::Held { until, made };
        entry.position = context.position;
        self.tell(context, EventKind::Extended, slot);
        Ok(Done::Extended { until })
    }

    fn confirm(
        &mut self,
        context: &Context<'_>,
        hold: Reference,
        booked: State,
    ) -> Result<Done, Refusal> {
        let slot = self.look_up(hold)?;
        let entry = self.slots[slot].entry.clone().unwrap();
        let room = &self.rooms[entry.room];
        let late = match entry.state {
            State::Booked { .. } => return Err(Refusal::AlreadyConfirmed),
            State::Held { .. } => false,
            State::Expired { .. } => {
                let (stopped, taken) = self.in_the_way(entry.room, entry.stay, context.now);
                if room.withdrawn || stopped | taken != 0 {
                    return Err(Refusal::HoldExpired);
                }
                true
            }
        };
        let done = Done::Confirmed {
            reference: hold,
            room: room.name,
            late,
        };
        let entry = self.slots[slot].entry.as_mut().unwrap();
        entry.state = booked;
        entry.position = context.position;
        self.booked += 1;
        self.tell(context, EventKind::Confirmed, slot);
        Ok(done)
    }

    fn cancel(
        &mut self,
        context: &Context<'_>,
        booking: Reference,
        id: Option<GuestId>,
    ) -> Result<Done, Refusal> {
        let slot = self.look_up(booking)?;
        let entry = self.slots[slot].entry.clone().unwrap();
        match entry.state {
            State::Booked { id: booked, .. } if id.is_some_and(|id| id != booked) => {
                return Err(Refusal::WrongGuest);
            }
            State::Booked { .. } => {}
            State::Held { .. } | State::Expired { .. } => return Err(Refusal::NotConfirmed),
        }
        self.tell(context, EventKind::Cancelled, slot);
        self.forget(slot);
        self.cancelled += 1;
        Ok(Done::Cancelled {
            room: self.rooms[entry.room].name,
            stay: entry.stay,
        })
    }

    fn cancel_for_guest(
        &mut self,
        context: &Context<'_>,
        booking: Reference,
        reason: CancelReason<'_>,
    ) -> Result<Done, Refusal> {
        let done = self.cancel(context, booking, None)?;
        let event = self.events.last_mut().unwrap();
        event.reason = Some(reason.as_str().into());
        Ok(done)
    }

    fn look_up(&self, reference: Reference) -> Result<usize, Refusal> {
        let slot = self
            .slots
            .get(reference.slot as usize)
            .ok_or(Refusal::NotFound)?;
        if reference.generation < slot.generation {
            return Err(Refusal::Ended);
        }
        if reference.generation > slot.generation || slot.entry.is_none() {
            return Err(Refusal::NotFound);
        }
        Ok(reference.slot as usize)
    }

    fn open_hold(&self, slot: usize) -> Result<Position, Refusal> {
        match self.slots[slot].entry.as_ref().unwrap().state {
            State::Held { made, .. } => Ok(made),
            State::Expired { .. } => Err(Refusal::HoldExpired),
            State::Booked { .. } => Err(Refusal::AlreadyConfirmed),
        }
    }

    /// Refuses a wish for something that is not there.
    fn exists(&self, property: usize, wish: &Wish) -> Result<(), Refusal> {
        let open = self.properties[property].open;
        match wish {
            Wish::Any => Ok(()),
            Wish::Room(name) => match self.room(property, name) {
                Some(room) if self.rooms[room].withdrawn => Err(Refusal::UnknownRoom),
                None if !open => Err(Refusal::UnknownRoom),
                _ => Ok(()),
            },
            Wish::Type(name) => {
                let any = !self.wished(property, wish).is_empty();
                if any || open && *name == open_type() {
                    Ok(())
                } else {
                    Err(Refusal::UnknownType)
                }
            }
        }
    }

    /// Whether a room is one of the many that nobody added.
    pub(crate) fn is_loose(&self, room: usize) -> bool {
        let room = &self.rooms[room];
        self.properties[room.property].open && self.kinds[room.kind].1 == open_type()
    }

    /// The rooms in sale that fit a wish: in natural order, but loose ones at the end and in order
    /// of appearance.
    fn wished(&self, property: usize, wish: &Wish) -> Vec<usize> {
        let mut rooms: Vec<usize> = (0..self.rooms.len())
            .filter(|&number| {
                let room = &self.rooms[number];
                let fits = match wish {
                    Wish::Any => true,
                    Wish::Room(name) => room.name == *name,
                    Wish::Type(name) => self.kinds[room.kind].1 == *name,
                };
                fits && room.property == property && !room.withdrawn
            })
            .collect();
        rooms.sort_by_key(|&room| self.place_key(room, self.is_loose(room)));
        rooms
    }

    /// What listings compare.
    pub(crate) fn place_key(&self, room: usize, loose: bool) -> PlaceKey {
        if loose {
            PlaceKey::Loose(room)
        } else {
            PlaceKey::Natural(natural_key(&self.rooms[room].name))
        }
    }

    /// The entries that have nights of a room, with their stays.
    fn standing(&self, room: usize, now: Timestamp) -> Vec<(usize, Stay)> {
        let slots = self.slots.iter().enumerate();
        slots
            .filter_map(|(slot, kept)| {
                let entry = kept.entry.as_ref()?;
                let here = entry.room == room && entry.state.stands(now);
                here.then_some((slot, entry.stay))
            })
            .collect()
    }

    /// The stopped and the taken nights of a stay, as bits.
    fn in_the_way(&self, room: usize, stay: Stay, now: Timestamp) -> (u128, u128) {
        let standing = self.standing(room, now);
        let (mut stopped, mut taken) = (0, 0);
        for (bit, night) in stay.iter().enumerate() {
            let is_taken = standing
                .iter()
                .any(|(_, other)| other.arrival() <= night && night < other.departure());
            let is_stopped = self.rooms[room].stopped.contains(&night.days());
            stopped |= u128::from(is_stopped) << bit;
            taken |= u128::from(is_taken) << bit;
        }
        (stopped, taken)
    }

    fn target(
        &self,
        property: usize,
        wish: &Wish,
        stay: Stay,
        now: Timestamp,
    ) -> Result<Target, Refusal> {
        let first = stay.arrival();
        let rooms = self.wished(property, wish);
        let ways: Vec<(u128, u128)> = rooms
            .iter()
            .map(|&room| self.in_the_way(room, stay, now))
            .collect();
        let named = matches!(wish, Wish::Room(_));
        let free = ways
            .iter()
            .zip(&rooms)
            .find(|&(&way, &room)| way == (0, 0) && (named || !self.is_loose(room)));
        if let Some((_, &free)) = free {
            return Ok(Target::Room(free));
        }
        if self.properties[property].open {
            let new = match wish {
                Wish::Room(name) => rooms.is_empty().then_some(*name),
                Wish::Type(name) => (*name == open_type()).then(|| self.lowest_number(property)),
                Wish::Any => Some(self.lowest_number(property)),
            };
            if let Some(name) = new {
                self.refuse_full(property)?;
                return Ok(Target::New(name));
            }
        }
        let stopped = if let Wish::Room(_) = wish {
            ways[0].0
        } else {
            let only_stopped = ways.iter().filter(|(_, taken)| *taken == 0);
            only_stopped.fold(0, |nights, (stopped, _)| nights | stopped)
        };
        if stopped != 0 {
            return Err(Refusal::StopSell {
                nights: Nights {
                    first,
                    bits: stopped,
                },
            });
        }
        let all = (1 << stay.nights()) - 1;
        let bits = ways
            .iter()
            .fold(all, |nights, (stopped, taken)| nights & (stopped | taken));
        Err(Refusal::SoldOut {
            nights: Nights { first, bits },
        })
    }

    fn lowest_number(&self, property: usize) -> Name {
        (1..)
            .map(|number: u32| Name::parse(number.to_string().as_bytes()).unwrap())
            .find(|name| self.room(property, name).is_none())
            .unwrap()
    }

    fn enter(
        &mut self,
        context: &Context<'_>,
        (property, target, stay): (usize, Target, Stay),
        state: State,
    ) -> (Reference, Name) {
        let room = match target {
            Target::Room(room) => room,
            Target::New(name) => {
                let kind = self.kind(property, open_type());
                self.push_room(property, kind, name)
            }
        };
        if !self.principals.contains(context.principal) {
            self.principals.push(*context.principal);
        }
        let entry = Entry {
            room,
            principal: *context.principal,
            stay,
            since: context.now,
            position: context.position,
            state,
        };
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot {
                generation: 0,
                entry: None,
            });
            u32::try_from(self.slots.len() - 1).unwrap()
        });
        let place = &mut self.slots[slot as usize];
        place.entry = Some(entry);
        let generation = place.generation;
        (Reference { slot, generation }, self.rooms[room].name)
    }

    fn tell(&mut self, context: &Context<'_>, kind: EventKind, slot: usize) {
        let entry = self.slots[slot].entry.as_ref().unwrap();
        let room = &self.rooms[entry.room];
        let (property, name, stay) = (room.property, room.name, entry.stay);
        let reference = self.reference(slot);
        self.announce(
            context,
            kind,
            (property, Some(name)),
            Some(reference),
            Some(stay),
        );
    }

    pub(crate) fn reference(&self, slot: usize) -> Reference {
        Reference {
            slot: u32::try_from(slot).unwrap(),
            generation: self.slots[slot].generation,
        }
    }

    fn announce(
        &mut self,
        context: &Context<'_>,
        kind: EventKind,
        (property, room): (usize, Option<Name>),
        reference: Option<Reference>,
        stay: Option<Stay>,
    ) {
        let before = self.events.iter().rev();
        let ordinal = before.take_while(|event| event.position == context.position);
        self.events.push(Event {
            position: context.position,
            ordinal: u32::try_from(ordinal.count()).unwrap(),
            at: context.now,
            kind,
            property: self.properties[property].name,
            room,
            reference,
            stay,
            reason: None,
            from: None,
        });
    }
}

fn refuse_ttl(ttl_ms: u32) -> Result<(), Refusal> {
    let ttl_ms_max = limits::HOLD_TTL_MS_MAX;
    if (1..=ttl_ms_max).contains(&ttl_ms) {
        Ok(())
    } else {
        Err(Refusal::HoldTooLong { ttl_ms_max })
    }
}
