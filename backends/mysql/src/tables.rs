//! The tables, row by row.

mod ledger;

use turnstile_contract::natural_key;
use turnstile_rooms::GuestId;
use turnstile_types::{Name, Night, Position, Principal, Stay, Timestamp};

use crate::{
    fields::{Fields, Strange},
    rows::Record,
    sql::{At, Bytes, Quoted, Text, Values},
};

pub(crate) use self::ledger::{Counters, Ended, First, Writer};

/// A room of a property.
pub(crate) type RoomKey = (Name, Name);

/// A night of a room: property, night, room.
pub(crate) type NightKey = (Name, Night, Name);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Property {
    pub(crate) number: u64,
    pub(crate) open: bool,
    pub(crate) rooms_known: u32,
    pub(crate) rooms_in_sale: u32,
    pub(crate) lowest_number: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Room {
    pub(crate) room_type: Name,
    pub(crate) number: u64,
    pub(crate) withdrawn: bool,
    pub(crate) loose: bool,
}

/// What bookings and holds have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Placed {
    pub(crate) property: Name,
    pub(crate) room: Name,
    pub(crate) stay: Stay,
    pub(crate) principal: Principal,
    pub(crate) since: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Booking {
    pub(crate) placed: Placed,
    pub(crate) guest: String,
    pub(crate) id: GuestId,
    pub(crate) position: Position,
    pub(crate) cancelled: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hold {
    pub(crate) placed: Placed,
    pub(crate) until: Timestamp,
    pub(crate) made: Position,
    pub(crate) position: Position,
    pub(crate) state: HoldState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HoldState {
    /// It has its nights, until its time is over: then others may take them.
    Held,
    Expired,
    Confirmed,
    Released,
    Forgotten,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Taken {
    pub(crate) reference: u64,
    pub(crate) until: Option<Timestamp>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stopped;

impl Taken {
    /// Whether it keeps others out at an instant.
    pub(crate) fn stands(&self, now: Timestamp) -> bool {
        self.until.is_none_or(|until| until > now)
    }
}

impl Placed {
    pub(crate) fn nights(&self) -> impl Iterator<Item = NightKey> + use<> {
        let (property, room) = (self.property, self.room);
        self.stay.iter().map(move |night| (property, night, room))
    }

    pub(crate) fn read(fields: &mut Fields<'_>) -> Result<Self, Strange> {
        Ok(Self {
            property: fields.name("property")?,
            room: fields.name("room")?,
            stay: fields.stay()?,
            principal: fields.principal()?,
            since: fields.instant("since")?,
        })
    }

    fn put(&self, values: &mut Values<'_>) {
        values.put(Quoted(&self.property));
        values.put(Quoted(&self.room));
        values.put(format_args!("'{}'", self.stay.arrival()));
        values.put(format_args!("'{}'", self.stay.departure()));
        values.put(Quoted(&self.principal.0));
        values.put(At(self.since));
    }
}

impl Record for Property {
    type Key = Name;

    const TABLE: &'static str = "properties";
    const COLUMNS: &'static [&'static str] = &[
        "name",
        "number",
        "is_open",
        "rooms_known",
        "rooms_in_sale",
        "lowest_number",
    ];

    fn read(fields: &mut Fields<'_>) -> Result<(Name, Self), Strange> {
        let name = fields.name("name")?;
        let property = Self {
            number: fields.number("number")?,
            open: fields.flag("is_open")?,
            rooms_known: fields.number("rooms_known")?,
            rooms_in_sale: fields.number("rooms_in_sale")?,
            lowest_number: fields.number("lowest_number")?,
        };
        Ok((name, property))
    }

    fn put_key(key: &Name, values: &mut Values<'_>) {
        values.put(Quoted(key));
    }

    fn put(&self, _key: &Name, values: &mut Values<'_>) {
        values.put(self.number);
        values.put(self.open);
        values.put(self.rooms_known);
        values.put(self.rooms_in_sale);
        values.put(self.lowest_number);
    }
}

impl Record for Room {
    type Key = RoomKey;

    const TABLE: &'static str = "rooms";
    const COLUMNS: &'static [&'static str] = &[
        "property",
        "name",
        "room_type",
        "number",
        "withdrawn",
        "loose",
        "place",
    ];

    fn read(fields: &mut Fields<'_>) -> Result<(RoomKey, Self), Strange> {
        let key = (fields.name("property")?, fields.name("name")?);
        let room = Self {
            room_type: fields.name("room_type")?,
            number: fields.number("number")?,
            withdrawn: fields.flag("withdrawn")?,
            loose: fields.flag("loose")?,
        };
        Ok((key, room))
    }

    fn put_key((property, name): &RoomKey, values: &mut Values<'_>) {
        values.put(Quoted(property));
        values.put(Quoted(name));
    }

    fn put(&self, (_, name): &RoomKey, values: &mut Values<'_>) {
        values.put(Quoted(&self.room_type));
        values.put(self.number);
        values.put(self.withdrawn);
        values.put(self.loose);
        values.put(Bytes(&place(name, self.loose, self.number)));
    }
}

/// What sorts rooms of a property: in natural order, and the loose ones as they came.
pub(crate) fn place(name: &Name, loose: bool, number: u64) -> Vec<u8> {
    if loose {
        number.to_be_bytes().to_vec()
    } else {
        natural_key(name.as_bytes())
    }
}

impl Record for Booking {
    type Key = u64;

    const TABLE: &'static str = "bookings";
    const COLUMNS: &'static [&'static str] = &[
        "reference",
        "property",
        "room",
        "arrival",
        "departure",
        "principal",
        "since",
        "guest",
        "seal",
        "last_four",
        "position",
        "state",
    ];

    fn read(fields: &mut Fields<'_>) -> Result<(u64, Self), Strange> {
        let reference = fields.number("reference")?;
        let booking = Self {
            placed: Placed::read(fields)?,
            guest: fields.text("guest")?.to_owned(),
            id: fields.guest_id()?,
            position: fields.position("position")?,
            cancelled: match fields.bytes("state")? {
                b"booked" => false,
                b"cancelled" => true,
                _ => return Err(Strange { field: "state" }),
            },
        };
        Ok((reference, booking))
    }

    fn put_key(key: &u64, values: &mut Values<'_>) {
        values.put(key);
    }

    fn put(&self, _key: &u64, values: &mut Values<'_>) {
        self.placed.put(values);
        values.put(Text(&self.guest));
        values.put(self.id.seal);
        values.put(self.id.last_four);
        values.put(self.position);
        values.put(if self.cancelled {
            "'cancelled'"
        } else {
            "'booked'"
        });
    }
}

impl HoldState {
    const WORDS: [(Self, &'static str); 5] = [
        (Self::Held, "held"),
        (Self::Expired, "expired"),
        (Self::Confirmed, "confirmed"),
        (Self::Released, "released"),
        (Self::Forgotten, "forgotten"),
    ];

    fn word(self) -> &'static str {
        let found = Self::WORDS.into_iter().find(|&(state, _)| state == self);
        found.expect("every state has a word").1
    }
}

impl Record for Hold {
    type Key = u64;

    const TABLE: &'static str = "holds";
    const COLUMNS: &'static [&'static str] = &[
        "reference",
        "property",
        "room",
        "arrival",
        "departure",
        "principal",
        "since",
        "held_until",
        "made",
        "position",
        "state",
    ];

    fn read(fields: &mut Fields<'_>) -> Result<(u64, Self), Strange> {
        let reference = fields.number("reference")?;
        let placed = Placed::read(fields)?;
        let until = fields.instant("held_until")?;
        let made = fields.position("made")?;
        let position = fields.position("position")?;
        let word = fields.text("state")?;
        let known = HoldState::WORDS
            .into_iter()
            .find(|&(_, known)| known == word);
        let (state, _) = known.ok_or(Strange { field: "state" })?;
        let hold = Self {
            placed,
            until,
            made,
            position,
            state,
        };
        Ok((reference, hold))
    }

    fn put_key(key: &u64, values: &mut Values<'_>) {
        values.put(key);
    }

    fn put(&self, _key: &u64, values: &mut Values<'_>) {
        self.placed.put(values);
        values.put(At(self.until));
        values.put(self.made);
        values.put(self.position);
        values.put(format_args!("'{}'", self.state.word()));
    }
}

fn read_night(fields: &mut Fields<'_>) -> Result<NightKey, Strange> {
    Ok((
        fields.name("property")?,
        fields.night("night")?,
        fields.name("room")?,
    ))
}

fn put_night((property, night, room): &NightKey, values: &mut Values<'_>) {
    values.put(Quoted(property));
    values.put(format_args!("'{night}'"));
    values.put(Quoted(room));
}

impl Record for Taken {
    type Key = NightKey;

    const TABLE: &'static str = "nights";
    const COLUMNS: &'static [&'static str] =
        &["property", "night", "room", "reference", "held_until"];

    fn read(fields: &mut Fields<'_>) -> Result<(NightKey, Self), Strange> {
        let key = read_night(fields)?;
        let taken = Self {
            reference: fields.number("reference")?,
            until: fields.instant_or_null("held_until")?,
        };
        Ok((key, taken))
    }

    fn put_key(key: &NightKey, values: &mut Values<'_>) {
        put_night(key, values);
    }

    fn put(&self, _key: &NightKey, values: &mut Values<'_>) {
        values.put(self.reference);
        values.put_or_null(self.until.map(At));
    }
}

impl Record for Stopped {
    type Key = NightKey;

    const TABLE: &'static str = "stops";
    const COLUMNS: &'static [&'static str] = &["property", "night", "room"];

    fn read(fields: &mut Fields<'_>) -> Result<(NightKey, Self), Strange> {
        Ok((read_night(fields)?, Self))
    }

    fn put_key(key: &NightKey, values: &mut Values<'_>) {
        put_night(key, values);
    }

    fn put(&self, _key: &NightKey, _values: &mut Values<'_>) {}
}
