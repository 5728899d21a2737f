//! Writes the items of a copy as rows.

use turnstile_contract::copy::{CopiedKey, Head};
use turnstile_rooms::{Counted, EntryState, Piece, Standing};
use turnstile_types::Night;

use crate::{
    address::StorageEngine,
    fault::Fault,
    fields::ColumnReader,
    rows::{Record, Rows},
    session::Session,
    sql::{HexLiteral, put},
    tables::{
        BookingRow, BookingState, Content, EndedRow, HoldRow, HoldState, KeyRow, NightRow,
        PlacedStay, PropertyRow, RoomRow, StoppedRow,
    },
};

/// What is known of properties without counting again: their rooms, and the lowest number that is no
/// room's name.
const SIZES: &str = "\
UPDATE properties p JOIN (
    SELECT property, COUNT(*) AS known, SUM(NOT withdrawn) AS in_sale FROM rooms GROUP BY property
) AS counted ON counted.property=p.name
SET p.rooms_known=counted.known, p.rooms_in_sale=counted.in_sale;
UPDATE properties p JOIN (
    SELECT property, COUNT(*) AS numbered FROM (
        SELECT property, CAST(name AS UNSIGNED) AS number,
               ROW_NUMBER() OVER (PARTITION BY property ORDER BY CAST(name AS UNSIGNED)) AS place
        FROM rooms WHERE name REGEXP '^[1-9][0-9]{0,8}$'
    ) AS numbers WHERE number=place GROUP BY property
) AS counted ON counted.property=p.name
SET p.lowest_number=counted.numbered+1 WHERE p.is_open;
";

/// What was taken so far.
#[derive(Debug, Default)]
pub(super) struct Taken {
    properties: u64,
    rooms: u64,
    /// The latest generation of any reference so far.
    generation: u32,
    counted: Counted,
    is_in_memory: bool,
}

/// The rows of some pieces.
#[derive(Default)]
struct RowBatch {
    properties: Rows<PropertyRow>,
    rooms: Rows<RoomRow>,
    stopped: Rows<StoppedRow>,
    bookings: Rows<BookingRow>,
    holds: Rows<HoldRow>,
    nights: Rows<NightRow>,
    ended: Rows<EndedRow>,
}

/// Whether the tables are empty; counters of what was refused may be there.
pub(super) async fn is_empty(session: &mut Session) -> Result<bool, Fault> {
    let sql = "SELECT EXISTS (SELECT 1 FROM properties) OR EXISTS (SELECT 1 FROM bookings) OR \
               EXISTS (SELECT 1 FROM holds) OR EXISTS (SELECT 1 FROM ended) OR \
               EXISTS (SELECT 1 FROM idempotency_keys);";
    let row = session.row(sql, "no answer").await?;
    Ok(!ColumnReader::of(&row).flag("exists")?)
}

/// Puts a row where none may be.
fn add<R: Record>(rows: &mut Rows<R>, key: &R::Key, row: R) -> Result<(), Fault> {
    if rows.get(key).is_some() {
        let table = R::TABLE;
        return Err(Fault::Broken(format!("{table} would have {key:?} twice")));
    }
    rows.know(key.clone(), None);
    rows.set(key, row);
    Ok(())
}

/// Writes what is remembered under keys.
pub(super) async fn take_keys(session: &mut Session, keys: Vec<CopiedKey>) -> Result<(), Fault> {
    let mut rows = Rows::<KeyRow>::default();
    for known in keys {
        let name = (known.principal, known.key().as_str().to_owned());
        let first = KeyRow {
            content: Content(known.content),
            position: known.position,
            outcome: known.outcome_bytes(),
            since: known.at,
        };
        add(&mut rows, &name, first)?;
    }
    let mut sql = String::new();
    rows.put_writes(&mut sql);
    if sql.is_empty() {
        return Ok(());
    }
    session.ask(&sql).await.map(drop)
}

impl Taken {
    /// Writes what the state has beside its pieces.
    pub(super) async fn begin(
        &mut self,
        session: &mut Session,
        head: &Head,
        engine: StorageEngine,
    ) -> Result<(), Fault> {
        self.is_in_memory = engine == StorageEngine::Memory;
        let mut sql = String::new();
        put!(
            sql,
            "UPDATE turnstile SET secret={} WHERE id=1;\n",
            HexLiteral(&head.id_key.secret())
        );
        // What tables in memory have lost keeps its references.
        let generation = match engine {
            StorageEngine::InnoDb => "0",
            StorageEngine::Memory => "GREATEST(incarnation, 1) - 1",
        };
        put!(
            sql,
            "UPDATE counters, turnstile SET position=GREATEST(position, {}), \
             next_reference=({generation})<<32|{};\n",
            head.position,
            head.slots
        );
        session.ask(&sql).await.map(drop)
    }

    pub(super) async fn take(
        &mut self,
        session: &mut Session,
        pieces: Vec<Piece>,
    ) -> Result<(), Fault> {
        let mut batch = RowBatch::default();
        for piece in pieces {
            self.put(&mut batch, piece)?;
        }
        let sql = batch.writes();
        if sql.is_empty() {
            return Ok(());
        }
        session.ask(&sql).await.map(drop)
    }

    fn put(&mut self, batch: &mut RowBatch, piece: Piece) -> Result<(), Fault> {
        match piece {
            Piece::Property { name, open } => {
                let property = PropertyRow {
                    number: self.properties,
                    open,
                    rooms_known: 0,
                    rooms_in_sale: 0,
                    lowest_number: 1,
                };
                self.properties += 1;
                add(&mut batch.properties, &name, property)
            }
            Piece::Room {
                property,
                name,
                room_type,
                loose,
                withdrawn,
            } => {
                let room = RoomRow {
                    room_type,
                    number: self.rooms,
                    withdrawn,
                    loose,
                };
                self.rooms += 1;
                add(&mut batch.rooms, &(property, name), room)
            }
            Piece::Stopped {
                property,
                room,
                first,
                nights,
            } => (0..nights).try_for_each(|further| {
                let night = Night::from_days(first.days() + further);
                add(&mut batch.stopped, &(property, night, room), StoppedRow {})
            }),
            Piece::Standing(standing) => {
                let reference = standing.entry.reference;
                self.generation = self.generation.max(reference.generation);
                if let Some(generation) = reference.generation.checked_sub(1) {
                    add(&mut batch.ended, &reference.slot, EndedRow { generation })?;
                }
                batch.put_standing(*standing)
            }
            Piece::Over { slot, next } => {
                let generation = next.map_or(u32::MAX, |next| next.saturating_sub(1));
                self.generation = self.generation.max(generation);
                add(&mut batch.ended, &slot, EndedRow { generation })
            }
            Piece::Totals(counted) => {
                self.counted = counted;
                Ok(())
            }
        }
    }

    /// Writes what is known when all is there.
    pub(super) async fn settle(&self, session: &mut Session) -> Result<(), Fault> {
        let Counted {
            booked,
            cancelled,
            held,
            expired,
        } = self.counted;
        let mut sql = SIZES.to_owned();
        put!(
            sql,
            "UPDATE counters SET next_property={}, next_room={}, bookings={}, \
             booked_total={booked}, cancelled_total={cancelled}, held_total={held}, \
             expired_total={expired}, stops=(SELECT COUNT(*) FROM stops);\n",
            self.properties,
            self.rooms,
            booked.saturating_sub(cancelled)
        );
        if self.is_in_memory {
            // When they begin anew, their references are later than all that came here.
            put!(
                sql,
                "UPDATE turnstile SET incarnation=GREATEST(incarnation, {}) WHERE id=1;\n",
                self.generation.saturating_add(1)
            );
        }
        session.ask(&sql).await.map(drop)
    }
}

impl RowBatch {
    fn put_standing(&mut self, Standing { entry, made }: Standing) -> Result<(), Fault> {
        let number = entry.reference.number();
        let placed = PlacedStay {
            property: entry.property,
            room: entry.room,
            stay: entry.stay,
            principal: entry.principal,
            since: entry.since,
        };
        let (until, state) = match entry.state {
            EntryState::Booked => (None, None),
            EntryState::Held { until } => (Some(until), Some((until, HoldState::Held))),
            EntryState::Expired { at } => (None, Some((at, HoldState::Expired))),
        };
        if !matches!(entry.state, EntryState::Expired { .. }) {
            for night in placed.nights() {
                let reference = number;
                add(&mut self.nights, &night, NightRow { reference, until })?;
            }
        }
        if let Some((until, state)) = state {
            let hold = HoldRow {
                placed,
                until,
                made: made.unwrap_or(entry.position),
                position: entry.position,
                state,
            };
            return add(&mut self.holds, &number, hold);
        }
        let booking = BookingRow {
            placed,
            guest: entry.guest.unwrap_or_default(),
            id: entry
                .id
                .ok_or_else(|| Fault::Broken("a booking without a guest".into()))?,
            position: entry.position,
            state: BookingState::Booked,
        };
        add(&mut self.bookings, &number, booking)
    }

    /// The statements that write all rows, those before that others refer to.
    fn writes(&self) -> String {
        let mut sql = String::new();
        self.properties.put_writes(&mut sql);
        self.rooms.put_writes(&mut sql);
        self.stopped.put_writes(&mut sql);
        self.bookings.put_writes(&mut sql);
        self.holds.put_writes(&mut sql);
        self.nights.put_writes(&mut sql);
        self.ended.put_writes(&mut sql);
        sql
    }
}
