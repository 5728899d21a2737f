//! The tables, row by row.

use turnstile_chassis::{Readable, Words};
use turnstile_contract::natural_key;
use turnstile_rooms::GuestId;
use turnstile_types::{Name, Night, Position, Principal, Stay, Timestamp};

use crate::{
    fields::{ColumnReader, Strange},
    rows::Record,
    sql::{Ascii, At, HexLiteral, Quoted, RowValues, TextLiteral},
};

/// A room of a property.
pub(crate) type RoomKey = (Name, Name);

/// A night of a room: property, night, room.
pub(crate) type NightKey = (Name, Night, Name);

/// What a row has in one column, or in several that stand together.
trait TableColumn: Sized {
    /// Reads it; `name` is that of its first column.
    fn read(fields: &mut ColumnReader<'_>, name: &'static str) -> Result<Self, Strange>;

    fn put(&self, values: &mut RowValues<'_>);
}

/// Declares tables: the name of each, its key with its columns, and what its rows have beside the key.
macro_rules! tables {
    ($(
        $(#[$meta:meta])*
        $row:ident in $table:literal $($waited_for:ident)?, $key:ty [$($of_key:literal)+]
        { $($(#[$doc:meta])* $field:ident: $type:ty [$first:literal $($further:literal)*],)* }
    )+) => {$(
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub(crate) struct $row {
            $($(#[$doc])* pub(crate) $field: $type,)*
        }

        impl Record for $row {
            type Key = $key;

            const TABLE: &'static str = $table;
            const COLUMNS: &'static [&'static str] =
                &[$($of_key,)+ $($first, $($further,)*)*];
            const IS_WAITED_FOR: bool = !stringify!($($waited_for)?).is_empty();

            fn read(fields: &mut ColumnReader<'_>) -> Result<($key, Self), Strange> {
                let key = TableColumn::read(fields, "key")?;
                let row = Self {
                    $($field: TableColumn::read(fields, $first)?,)*
                };
                Ok((key, row))
            }

            fn put_key(key: &$key, values: &mut RowValues<'_>) {
                key.put(values);
            }

            fn put(&self, _key: &$key, _values: &mut RowValues<'_>) {
                $(self.$field.put(_values);)*
            }
        }
    )+};
}

tables! {
    PropertyRow in "properties", Name ["name"] {
        number: u64 ["number"],
        open: bool ["is_open"],
        rooms_known: u32 ["rooms_known"],
        rooms_in_sale: u32 ["rooms_in_sale"],
        lowest_number: u32 ["lowest_number"],
    }

    BookingRow in "bookings", u64 ["reference"] {
        placed: PlacedStay ["property" "room" "arrival" "departure" "principal" "since"],
        guest: Box<str> ["guest"],
        id: GuestId ["seal" "last_four"],
        position: Position ["position"],
        state: BookingState ["state"],
    }

    HoldRow in "holds", u64 ["reference"] {
        placed: PlacedStay ["property" "room" "arrival" "departure" "principal" "since"],
        until: Timestamp ["held_until"],
        made: Position ["made"],
        position: Position ["position"],
        state: HoldState ["state"],
    }

    /// A booking that a manager cancelled for the guest.
    CancellationRow in "cancellations", u64 ["reference"] {
        principal: Principal ["principal"],
        reason: Box<str> ["reason"],
        since: Timestamp ["since"],
    }

    NightRow in "nights", NightKey ["property" "night" "room"] {
        reference: u64 ["reference"],
        until: Option<Timestamp> ["held_until"],
    }

    StoppedRow in "stops", NightKey ["property" "night" "room"] {}

    /// The one row that whoever decides has locked.
    #[derive(Default)]
    CountersRow in "counters" waited_for, u8 ["id"] {
        position: Position ["position"],
        next_reference: u64 ["next_reference"],
        next_room: u64 ["next_room"],
        next_property: u64 ["next_property"],
        bookings: u64 ["bookings"],
        booked_total: u64 ["booked_total"],
        cancelled_total: u64 ["cancelled_total"],
        held_total: u64 ["held_total"],
        expired_total: u64 ["expired_total"],
        stops: u64 ["stops"],
    }

    WriterRow in "writers", u64 ["writer"] {
        batch: u64 ["batch"],
        since: Timestamp ["since"],
    }

    /// The last reference of a slot that had ended before the state was copied to here.
    #[derive(Copy)]
    EndedRow in "ended", u32 ["slot"] {
        generation: u32 ["generation"],
    }

    /// What was first answered under an idempotency key.
    KeyRow in "idempotency_keys", (Principal, String) ["principal" "idem_key"] {
        content: Content ["content"],
        position: Position ["position"],
        outcome: Vec<u8> ["outcome"],
        since: Timestamp ["since"],
    }
}

/// [`turnstile_contract::Request::content`] of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Content(pub(crate) u64);

/// What bookings and holds have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PlacedStay {
    pub(crate) property: Name,
    pub(crate) room: Name,
    pub(crate) stay: Stay,
    pub(crate) principal: Principal,
    pub(crate) since: Timestamp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
pub(crate) enum BookingState {
    Booked,
    Cancelled,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
pub(crate) enum HoldState {
    /// It has its nights, until its time is over: then others may take them.
    Held,
    Expired,
    Confirmed,
    Released,
    Forgotten,
}

impl NightRow {
    /// Whether it keeps others out at an instant.
    pub(crate) fn stands(&self, now: Timestamp) -> bool {
        self.until.is_none_or(|until| until > now)
    }
}

impl PlacedStay {
    pub(crate) fn nights(&self) -> impl Iterator<Item = NightKey> + use<> {
        let (property, room) = (self.property, self.room);
        self.stay.iter().map(move |night| (property, night, room))
    }

    pub(crate) fn read(fields: &mut ColumnReader<'_>) -> Result<Self, Strange> {
        Ok(Self {
            property: fields.name("property")?,
            room: fields.name("room")?,
            stay: fields.stay()?,
            principal: fields.principal()?,
            since: fields.instant("since")?,
        })
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RoomRow {
    pub(crate) room_type: Name,
    pub(crate) number: u64,
    pub(crate) withdrawn: bool,
    pub(crate) loose: bool,
}

/// Its last column follows from the others and is only written.
impl Record for RoomRow {
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

    fn read(fields: &mut ColumnReader<'_>) -> Result<(RoomKey, Self), Strange> {
        let key = TableColumn::read(fields, "property")?;
        let room = Self {
            room_type: fields.name("room_type")?,
            number: fields.number("number")?,
            withdrawn: fields.flag("withdrawn")?,
            loose: fields.flag("loose")?,
        };
        Ok((key, room))
    }

    fn put_key(key: &RoomKey, values: &mut RowValues<'_>) {
        key.put(values);
    }

    fn put(&self, (_, name): &RoomKey, values: &mut RowValues<'_>) {
        self.room_type.put(values);
        self.number.put(values);
        self.withdrawn.put(values);
        self.loose.put(values);
        values.put(HexLiteral(&place(name, self.loose, self.number)));
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

/// Implements [`TableColumn`] for types of one column: how each is read and how it is written.
macro_rules! columns {
    ($($type:ty: $read:expr, $put:expr;)+) => {$(
        impl TableColumn for $type {
            fn read(fields: &mut ColumnReader<'_>, name: &'static str) -> Result<Self, Strange> {
                let read: fn(&mut ColumnReader<'_>, &'static str) -> Result<Self, Strange> = $read;
                read(fields, name)
            }

            fn put(&self, values: &mut RowValues<'_>) {
                let put: fn(&Self, &mut RowValues<'_>) = $put;
                put(self, values);
            }
        }
    )+};
}

columns! {
    u8: |fields, name| fields.number(name), |number, values| values.put(number);
    u32: |fields, name| fields.number(name), |number, values| values.put(number);
    u64: |fields, name| fields.number(name), |number, values| values.put(number);
    bool: |fields, name| fields.flag(name), |flag, values| values.put(flag);
    Name: |fields, name| fields.name(name), |name, values| values.put(Quoted(name));
    Night: |fields, name| fields.night(name), |night, values| values.put(format_args!("'{night}'"));
    Position: |fields, name| fields.position(name), |position, values| values.put(position);
    Timestamp: |fields, name| fields.instant(name), |instant, values| values.put(At(*instant));
    Option<Timestamp>: |fields, name| fields.instant_or_null(name), |at, values| values.put_or_null(at.map(At));
    Principal: |fields, _| fields.principal(), |principal, values| principal.0.put(values);
    String: |fields, name| Ok(fields.text(name)?.to_owned()), |key, values| values.put(Ascii(key));
    Box<str>: |fields, name| Ok(fields.text(name)?.into()), |text, values| values.put(TextLiteral(text));
    Vec<u8>: |fields, name| Ok(fields.bytes(name)?.to_vec()), |bytes, values| values.put(HexLiteral(bytes));
    BookingState: read_word, |state, values| values.put(format_args!("'{}'", state.code()));
    HoldState: read_word, |state, values| values.put(format_args!("'{}'", state.code()));
}

fn read_word<T: for<'a> Readable<'a>>(
    fields: &mut ColumnReader<'_>,
    field: &'static str,
) -> Result<T, Strange> {
    T::read(fields.bytes(field)?).map_err(|_invalid| Strange { field })
}

impl TableColumn for Content {
    fn read(fields: &mut ColumnReader<'_>, field: &'static str) -> Result<Self, Strange> {
        let bytes = fields.bytes(field)?.try_into();
        let bytes = bytes.map_err(|_length| Strange { field })?;
        Ok(Self(u64::from_be_bytes(bytes)))
    }

    fn put(&self, values: &mut RowValues<'_>) {
        values.put(HexLiteral(&self.0.to_be_bytes()));
    }
}

impl TableColumn for PlacedStay {
    fn read(fields: &mut ColumnReader<'_>, _name: &'static str) -> Result<Self, Strange> {
        Self::read(fields)
    }

    fn put(&self, values: &mut RowValues<'_>) {
        self.property.put(values);
        self.room.put(values);
        self.stay.arrival().put(values);
        self.stay.departure().put(values);
        self.principal.put(values);
        self.since.put(values);
    }
}

impl TableColumn for GuestId {
    fn read(fields: &mut ColumnReader<'_>, _name: &'static str) -> Result<Self, Strange> {
        fields.guest_id()
    }

    fn put(&self, values: &mut RowValues<'_>) {
        values.put(self.seal);
        values.put(self.last_four);
    }
}

impl<A: TableColumn, B: TableColumn> TableColumn for (A, B) {
    fn read(fields: &mut ColumnReader<'_>, name: &'static str) -> Result<Self, Strange> {
        Ok((A::read(fields, name)?, B::read(fields, name)?))
    }

    fn put(&self, values: &mut RowValues<'_>) {
        self.0.put(values);
        self.1.put(values);
    }
}

impl<A: TableColumn, B: TableColumn, C: TableColumn> TableColumn for (A, B, C) {
    fn read(fields: &mut ColumnReader<'_>, name: &'static str) -> Result<Self, Strange> {
        Ok((
            A::read(fields, name)?,
            B::read(fields, name)?,
            C::read(fields, name)?,
        ))
    }

    fn put(&self, values: &mut RowValues<'_>) {
        self.0.put(values);
        self.1.put(values);
        self.2.put(values);
    }
}
