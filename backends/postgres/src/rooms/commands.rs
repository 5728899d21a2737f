//! Commands on their way to the database: one array for each field.

use std::time::SystemTime;

use tokio_postgres::{Row, types::ToSql};
use turnstile_contract::Request;
use turnstile_rooms::{CancelReason, Command, GuestId, GuestName, Reference, Rooms, Wish};
use turnstile_types::{Name, Stay};

use super::{order::natural_place, values::number_of};
use crate::{connection::Connection, trouble::StatementFailure};

/// The one statement by which a batch is decided, for those who measure the database alone. Its first
/// parameter is the instant; the others are arrays with a place for each command, which become one
/// of whole commands there.
pub const EXECUTE: &str = "
    SELECT r.position, r.replayed, (r.outcome).answer, (r.outcome).reference, (r.outcome).room,
           (r.outcome).until, (r.outcome).late, (r.outcome).arrival - date 'epoch' AS arrival,
           (r.outcome).departure - date 'epoch' AS departure, (r.outcome).nights,
           (r.outcome).bound, (r.outcome).from_room
    FROM rooms.execute($1, (
        SELECT array_agg(ROW(ROW(
            c.operation, c.principal, c.key, c.content, c.property, c.wish, c.wanted, c.arrival,
            c.departure, c.ttl_ms, c.flag, c.kind, c.place, c.reference, c.guest, c.seal,
            c.last_four
        )::rooms.command, c.reason, c.own, c.others)::rooms.request ORDER BY c.number)
        FROM unnest(
            $2::text[], $3::text[], $4::text[], $5::int8[], $6::text[], $7::text[], $8::text[],
            $9::int4[], $10::int4[], $11::int8[], $12::bool[], $13::text[], $14::bytea[],
            $15::int8[], $16::text[], $17::int8[], $18::int2[], $19::text[],
            $20::text[], $21::text[]
        ) WITH ORDINALITY AS c (
            operation, principal, key, content, property, wish, wanted, arrival, departure, ttl_ms,
            flag, kind, place, reference, guest, seal, last_four, reason, own,
            others, number
        )
    )) r";

/// A batch of commands, as `rooms.request` has their fields.
#[derive(Debug, Default)]
pub(super) struct CommandColumns<'a> {
    operation: Vec<&'static str>,
    principal: Vec<String>,
    key: Vec<Option<&'a str>>,
    content: Vec<Option<i64>>,
    property: Vec<Option<String>>,
    wish: Vec<Option<&'static str>>,
    wanted: Vec<Option<String>>,
    arrival: Vec<Option<i32>>,
    departure: Vec<Option<i32>>,
    ttl_ms: Vec<Option<i64>>,
    flag: Vec<Option<bool>>,
    kind: Vec<Option<String>>,
    place: Vec<Option<Vec<u8>>>,
    reference: Vec<Option<i64>>,
    guest: Vec<Option<&'a str>>,
    seal: Vec<Option<i64>>,
    last_four: Vec<Option<i16>>,
    reason: Vec<Option<&'a str>>,
    own: Vec<String>,
    others: Vec<String>,
}

/// The fields of one command, as far as it has them.
#[derive(Default)]
struct CommandRow<'a> {
    property: Option<Name>,
    wish: Option<&'static str>,
    wanted: Option<Name>,
    stay: Option<Stay>,
    ttl_ms: Option<u32>,
    flag: Option<bool>,
    kind: Option<Name>,
    place: Option<Vec<u8>>,
    reference: Option<Reference>,
    guest: Option<GuestName<'a>>,
    id: Option<GuestId>,
    reason: Option<CancelReason<'a>>,
}

impl<'a> CommandColumns<'a> {
    /// # Errors
    /// A request that is no command of rooms.
    pub(super) fn of(requests: &[&'a Request]) -> Result<Self, StatementFailure> {
        let mut columns = Self::default();
        for request in requests {
            let command = request.command::<Rooms>();
            let command = command.map_err(|malformed| {
                StatementFailure::Broken(format!("not a command of rooms: {malformed}"))
            })?;
            let [own, others] = request.scope().patterns();
            columns.own.push(own);
            columns.others.push(others);
            let key = request.key();
            columns.key.push(key);
            let content = key.map(|_key| request.content::<Rooms>().cast_signed());
            columns.content.push(content);
            columns
                .principal
                .push(request.principal.0.as_str().to_owned());
            columns.operation.push(match command {
                // A flag says which of the two it is.
                Command::StopSell { .. } => "stop_sell",
                _ => command.code(),
            });
            columns.push(row_of(&command));
        }
        Ok(columns)
    }

    fn push(&mut self, fields: CommandRow<'a>) {
        let text = |name: Option<Name>| name.map(|name| name.as_str().to_owned());
        self.property.push(text(fields.property));
        self.wish.push(fields.wish);
        self.wanted.push(text(fields.wanted));
        let days = |night: Option<turnstile_types::Night>| night.map(|night| night.days().into());
        self.arrival.push(days(fields.stay.map(Stay::arrival)));
        self.departure.push(days(fields.stay.map(Stay::departure)));
        self.ttl_ms.push(fields.ttl_ms.map(i64::from));
        self.flag.push(fields.flag);
        self.kind.push(text(fields.kind));
        self.place.push(fields.place);
        self.reference.push(fields.reference.map(number_of));
        self.guest.push(fields.guest.map(|guest| guest.as_str()));
        self.seal.push(fields.id.map(|id| id.seal.cast_signed()));
        let four = fields
            .id
            .map(|id| i16::try_from(id.last_four).expect("at most four digits"));
        self.last_four.push(four);
        self.reason
            .push(fields.reason.map(|reason| reason.as_str()));
    }

    /// Has them decided at an instant; a row for each, in their order.
    pub(super) async fn execute(
        &self,
        connection: &mut Connection,
        now: SystemTime,
    ) -> Result<Vec<Row>, StatementFailure> {
        let parameters: [&(dyn ToSql + Sync); 21] = [
            &now,
            &self.operation,
            &self.principal,
            &self.key,
            &self.content,
            &self.property,
            &self.wish,
            &self.wanted,
            &self.arrival,
            &self.departure,
            &self.ttl_ms,
            &self.flag,
            &self.kind,
            &self.place,
            &self.reference,
            &self.guest,
            &self.seal,
            &self.last_four,
            &self.reason,
            &self.own,
            &self.others,
        ];
        connection.rows(EXECUTE, &parameters).await
    }
}

pub(super) const fn wish_of(wish: Wish) -> (&'static str, Option<Name>) {
    match wish {
        Wish::Room(room) => ("room", Some(room)),
        Wish::Type(kind) => ("type", Some(kind)),
        Wish::Any => ("any", None),
    }
}

/// What a command asks, and for what.
fn row_of<'a>(command: &Command<'a>) -> CommandRow<'a> {
    let mut row = CommandRow::default();
    match *command {
        Command::AddProperty { property, open } => {
            (row.property, row.flag) = (Some(property), Some(open));
        }
        Command::AddRoom {
            property,
            room,
            room_type,
        } => {
            (row.property, row.wanted) = (Some(property), Some(room));
            (row.kind, row.place) = (Some(room_type), Some(natural_place(&room)));
        }
        Command::WithdrawRoom { property, room } => {
            (row.property, row.wanted) = (Some(property), Some(room));
        }
        Command::StopSell {
            property,
            room,
            stay,
            stopped,
        } => {
            (row.property, row.wanted) = (Some(property), Some(room));
            (row.stay, row.flag) = (Some(stay), Some(stopped));
        }
        Command::Book {
            property,
            wish,
            stay,
            guest,
            id,
        } => {
            row.wish(Some(property), wish, stay);
            (row.guest, row.id) = (Some(guest), Some(id));
        }
        Command::Hold {
            property,
            wish,
            stay,
            ttl_ms,
        } => {
            row.wish(Some(property), wish, stay);
            row.ttl_ms = Some(ttl_ms);
        }
        Command::Extend { hold, ttl_ms } => {
            (row.reference, row.ttl_ms) = (Some(hold), Some(ttl_ms));
        }
        Command::Confirm { hold, guest, id } => {
            row.reference = Some(hold);
            (row.guest, row.id) = (Some(guest), Some(id));
        }
        Command::Release { hold } => row.reference = Some(hold),
        Command::Cancel { booking, id } => (row.reference, row.id) = (Some(booking), Some(id)),
        Command::CancelForGuest { booking, reason } => {
            (row.reference, row.reason) = (Some(booking), Some(reason));
        }
        // The property is that of the booking.
        Command::Move {
            booking,
            wish,
            stay,
            id,
        } => {
            row.wish(None, wish, stay);
            (row.reference, row.id) = (Some(booking), Some(id));
        }
    }
    row
}

impl CommandRow<'_> {
    fn wish(&mut self, property: Option<Name>, wish: Wish, stay: Stay) {
        (self.property, self.stay) = (property, Some(stay));
        let (word, wanted) = wish_of(wish);
        (self.wish, self.wanted) = (Some(word), wanted);
    }
}
