//! The reads of a transaction, as SQL statements.

use std::collections::{BTreeMap, BTreeSet};

use turnstile_rooms::{Reference, limits};
use turnstile_types::{Name, Night, Principal, Stay, Timestamp};

use crate::{
    rows::Record,
    sql::{Ascii, At, Quoted, put, put_list},
    tables::{
        BookingRow, EndedRow, HoldRow, KeyRow, NightRow, PropertyRow, RoomKey, RoomRow, StoppedRow,
    },
};

/// Points that one statement looks up: more make the optimizer of the database forget the index.
const POINTS_PER_STATEMENT: usize = 500;

/// Holds that one tick cleans up; the next does the rest.
pub(crate) const DUE_MAX: usize = 1_000;

/// Nights of a stay in the lower half of its bits: databases do not agree with themselves on whether
/// their numbers have a sign, and so they never need one.
pub(crate) const HALF_BITS: u32 = 60;

/// Rooms for a stay: any of a property, or those of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct StayQuery {
    pub(crate) property: Name,
    pub(crate) room_type: Option<Name>,
    pub(crate) arrival: Night,
    pub(crate) departure: Night,
}

/// Some nights of a room.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RoomNights {
    pub(crate) property: Name,
    pub(crate) room: Name,
    pub(crate) arrival: Night,
    pub(crate) departure: Night,
}

/// Everything that is wanted, gathered, so that each table is asked once for all.
#[derive(Debug, Default)]
pub(crate) struct Wants {
    pub(crate) keys: BTreeSet<(Principal, String)>,
    pub(crate) properties: BTreeSet<Name>,
    pub(crate) rooms: BTreeSet<RoomKey>,
    pub(crate) taken: BTreeSet<RoomNights>,
    pub(crate) stopped: BTreeSet<RoomNights>,
    /// Bookings or holds.
    pub(crate) entries: BTreeSet<u64>,
    /// Rooms all of whose stopped nights are wanted.
    pub(crate) stopped_ever: BTreeSet<RoomKey>,
    /// Rooms whose first taken night is wanted.
    pub(crate) first_nights: BTreeSet<RoomKey>,
    pub(crate) open_holds: BTreeSet<Principal>,
    /// Types of a property of which it is wanted whether any room has them.
    pub(crate) types: BTreeSet<(Name, Name)>,
    /// The first free rooms, and how many of them.
    pub(crate) free: BTreeMap<StayQuery, usize>,
    /// What is in the way in all rooms but some.
    pub(crate) ways: BTreeMap<StayQuery, BTreeSet<Name>>,
    pub(crate) due: bool,
}

/// One statement's rows are an answer to this.
#[derive(Clone, Debug)]
pub(crate) enum Question {
    Counters,
    Keys,
    Properties,
    Rooms,
    Taken,
    Stopped,
    Bookings,
    Holds,
    Ended,
    FirstNight(RoomKey),
    OpenHolds(Principal),
    Type(Name, Name),
    Free(StayQuery, usize),
    Ways(StayQuery, BTreeSet<Name>),
}

impl StayQuery {
    pub(crate) fn new(property: Name, room_type: Option<Name>, stay: Stay) -> Self {
        Self {
            property,
            room_type,
            arrival: stay.arrival(),
            departure: stay.departure(),
        }
    }
}

impl RoomNights {
    pub(crate) fn new((property, room): RoomKey, stay: Stay) -> Self {
        Self {
            property,
            room,
            arrival: stay.arrival(),
            departure: stay.departure(),
        }
    }

    pub(crate) fn nights(&self) -> impl Iterator<Item = Night> + use<> {
        (self.arrival.days()..self.departure.days()).map(Night::from_days)
    }
}

/// `SELECT` with every column of a table.
pub(crate) fn put_select<R: Record>(sql: &mut String) {
    put!(sql, "SELECT {} FROM {} ", R::COLUMNS.join(","), R::TABLE);
}

impl Wants {
    /// The statements, and what each is about.
    pub(crate) fn ask(&self, now: Timestamp, sql: &mut String) -> Vec<Question> {
        let mut asked = Vec::new();
        self.ask_for_keys(sql, &mut asked);
        if !self.properties.is_empty() {
            put_select::<PropertyRow>(sql);
            sql.push_str("WHERE name IN (");
            put_list(sql, ",", &self.properties, |sql, name| {
                put!(sql, "{}", Quoted(name));
            });
            sql.push_str(");\n");
            asked.push(Question::Properties);
        }
        if !self.rooms.is_empty() {
            put_select::<RoomRow>(sql);
            sql.push_str("WHERE ");
            put_list(sql, " OR ", &self.rooms, |sql, (property, name)| {
                put!(
                    sql,
                    "property={} AND name={}",
                    Quoted(property),
                    Quoted(name)
                );
            });
            sql.push_str(";\n");
            asked.push(Question::Rooms);
        }
        ask_for_nights::<NightRow>(sql, &self.taken, &Question::Taken, &mut asked);
        ask_for_nights::<StoppedRow>(sql, &self.stopped, &Question::Stopped, &mut asked);
        self.ask_for_entries(now, sql, &mut asked);
        self.ask_for_facts(now, sql, &mut asked);
        for (search, &count) in &self.free {
            put_free(sql, search, now, count);
            asked.push(Question::Free(*search, count));
        }
        for (search, but) in &self.ways {
            put_ways(sql, search, now, but);
            asked.push(Question::Ways(*search, but.clone()));
        }
        asked
    }

    fn ask_for_keys(&self, sql: &mut String, asked: &mut Vec<Question>) {
        if self.keys.is_empty() {
            return;
        }
        put_select::<KeyRow>(sql);
        sql.push_str("WHERE ");
        put_list(sql, " OR ", &self.keys, |sql, (principal, key)| {
            let principal = Quoted(&principal.0);
            put!(sql, "principal={principal} AND idem_key={}", Ascii(key));
        });
        sql.push_str(";\n");
        asked.push(Question::Keys);
    }

    fn ask_for_entries(&self, now: Timestamp, sql: &mut String, asked: &mut Vec<Question>) {
        if !self.entries.is_empty() {
            let put_references = |sql: &mut String| {
                sql.push_str("WHERE reference IN (");
                put_list(sql, ",", &self.entries, |sql, number| put!(sql, "{number}"));
                sql.push_str(");\n");
            };
            put_select::<BookingRow>(sql);
            put_references(sql);
            put_select::<HoldRow>(sql);
            put_references(sql);
            put_ended(sql, self.entries.iter().copied());
            asked.extend([Question::Bookings, Question::Holds, Question::Ended]);
        }
        if self.due {
            let forgotten = Timestamp(now.0.saturating_sub(limits::LATE_CONFIRM_MS));
            for (state, over) in [("held", now), ("expired", forgotten)] {
                put_select::<HoldRow>(sql);
                let over = At(over);
                put!(sql, "WHERE state='{state}' AND held_until<={over} ");
                put!(sql, "ORDER BY held_until LIMIT {DUE_MAX};\n");
                asked.push(Question::Holds);
            }
        }
    }

    fn ask_for_facts(&self, now: Timestamp, sql: &mut String, asked: &mut Vec<Question>) {
        let now = At(now);
        for room in &self.stopped_ever {
            put_select::<StoppedRow>(sql);
            let (property, name) = (Quoted(&room.0), Quoted(&room.1));
            put!(sql, "WHERE property={property} AND room={name};\n");
            asked.push(Question::Stopped);
        }
        for room in &self.first_nights {
            let (property, name) = (Quoted(&room.0), Quoted(&room.1));
            let here = format!("property={property} AND room={name}");
            put!(
                sql,
                "SELECT MIN(arrival) FROM (SELECT MIN(arrival) AS arrival FROM bookings \
                 WHERE {here} AND state='booked' UNION ALL SELECT MIN(arrival) FROM holds \
                 WHERE {here} AND state='held' AND held_until>{now}) AS firsts;\n"
            );
            asked.push(Question::FirstNight(*room));
        }
        for principal in &self.open_holds {
            put!(
                sql,
                "SELECT COUNT(*) FROM holds WHERE principal={} AND state='held' AND \
                 held_until>{now};\n",
                Quoted(&principal.0)
            );
            asked.push(Question::OpenHolds(*principal));
        }
        for (property, room_type) in &self.types {
            put!(
                sql,
                "SELECT EXISTS (SELECT 1 FROM rooms WHERE property={} AND room_type={} AND \
                 NOT withdrawn);\n",
                Quoted(property),
                Quoted(room_type)
            );
            asked.push(Question::Type(*property, *room_type));
        }
    }
}

/// Asks which references of the slots of some had ended before they came to here.
pub(crate) fn put_ended(sql: &mut String, references: impl IntoIterator<Item = u64>) {
    put_select::<EndedRow>(sql);
    sql.push_str("WHERE slot IN (");
    put_list(sql, ",", references, |sql, number| {
        put!(sql, "{}", Reference::of_number(number).slot);
    });
    sql.push_str(");\n");
}

/// Asks for nights one by one, which is how the key finds them.
fn ask_for_nights<R: Record>(
    sql: &mut String,
    spans: &BTreeSet<RoomNights>,
    question: &Question,
    asked: &mut Vec<Question>,
) {
    for spans in in_statements(spans) {
        put_select::<R>(sql);
        sql.push_str("WHERE ");
        put_list(sql, " OR ", spans, |sql, span| {
            let (property, room) = (Quoted(&span.property), Quoted(&span.room));
            put!(sql, "property={property} AND room={room} AND night IN (");
            put_list(sql, ",", span.nights(), |sql, night| put!(sql, "'{night}'"));
            sql.push(')');
        });
        sql.push_str(";\n");
        asked.push(question.clone());
    }
}

/// Parts spans so that each part has few points.
fn in_statements(spans: &BTreeSet<RoomNights>) -> Vec<Vec<&RoomNights>> {
    let mut parts: Vec<Vec<&RoomNights>> = Vec::new();
    let mut points = POINTS_PER_STATEMENT;
    for span in spans {
        points += span.nights().count();
        match parts.last_mut() {
            Some(part) if points <= POINTS_PER_STATEMENT => part.push(span),
            _ => {
                points = span.nights().count();
                parts.push(vec![span]);
            }
        }
    }
    parts
}

/// `property='grand' AND night>='2027-12-24' AND night<'2027-12-27'`.
fn put_nights_of(sql: &mut String, search: &StayQuery) {
    put!(
        sql,
        "property={} AND night>='{}' AND night<'{}'",
        Quoted(&search.property),
        search.arrival,
        search.departure
    );
}

/// What keeps others out at an instant.
fn put_standing(sql: &mut String, now: Timestamp) {
    put!(sql, " AND (held_until IS NULL OR held_until>{})", At(now));
}

/// ` WHERE` the rooms in sale that a search is about.
pub(crate) fn put_rooms_of(sql: &mut String, search: &StayQuery) {
    let property = Quoted(&search.property);
    put!(sql, " WHERE rooms.property={property} AND NOT withdrawn");
    if let Some(room_type) = &search.room_type {
        put!(sql, " AND room_type={}", Quoted(room_type));
    }
}

/// The first free rooms in their order, loose ones left out; each with whether it has rows of holds
/// that are over.
fn put_free(sql: &mut String, search: &StayQuery, now: Timestamp, count: usize) {
    put!(
        sql,
        "SELECT name, stands IS NOT NULL FROM rooms LEFT JOIN (SELECT room, MAX(stands) AS stands \
         FROM (SELECT room, held_until IS NULL OR held_until>{} AS stands FROM nights WHERE ",
        At(now)
    );
    put_nights_of(sql, search);
    sql.push_str(" UNION ALL SELECT room, 1 FROM stops WHERE ");
    put_nights_of(sql, search);
    sql.push_str(") AS each_night GROUP BY room) AS each_room ON each_room.room=rooms.name");
    put_rooms_of(sql, search);
    put!(
        sql,
        " AND NOT loose AND IFNULL(stands,0)=0 ORDER BY place LIMIT {count};\n"
    );
}

/// The taken and the stopped nights of each room that has any, as bits.
pub(crate) fn put_bits(sql: &mut String, search: &StayQuery, now: Timestamp) {
    sql.push_str("SELECT room");
    put_bits_of(sql, search.arrival, "taken", "NOT is_stop");
    put_bits_of(sql, search.arrival, "stopped", "is_stop");
    sql.push_str(" FROM (SELECT room, night, FALSE AS is_stop FROM nights WHERE ");
    put_nights_of(sql, search);
    put_standing(sql, now);
    sql.push_str(" UNION ALL SELECT room, night, TRUE FROM stops WHERE ");
    put_nights_of(sql, search);
    sql.push_str(") AS each_night GROUP BY room");
}

/// `, ... AS taken_low, ... AS taken_high`: the nights of some rows as bits, in two halves.
pub(crate) fn put_bits_of(sql: &mut String, arrival: Night, name: &str, which: &str) {
    let bit = format!("DATEDIFF(night,'{arrival}')");
    put!(
        sql,
        ", BIT_OR(IF({which} AND {bit}<{HALF_BITS}, 1<<{bit}, 0)) AS {name}_low, \
         BIT_OR(IF({which} AND {bit}>={HALF_BITS}, 1<<({bit}-{HALF_BITS}), 0)) AS {name}_high"
    );
}

/// The nights that are in the way in every room, and those stopped in rooms that are not taken.
fn put_ways(sql: &mut String, search: &StayQuery, now: Timestamp, but: &BTreeSet<Name>) {
    let in_all = |half| format!("BIT_AND(IFNULL(taken_{half}|stopped_{half},0))");
    let stopped =
        |half| format!("BIT_OR(IF(IFNULL(taken_low|taken_high,0)=0, IFNULL(stopped_{half},0), 0))");
    put!(
        sql,
        "SELECT {}, {}, {}, {} FROM rooms LEFT JOIN (",
        in_all("low"),
        in_all("high"),
        stopped("low"),
        stopped("high")
    );
    put_bits(sql, search, now);
    sql.push_str(") AS ways ON ways.room=rooms.name");
    put_rooms_of(sql, search);
    if !but.is_empty() {
        sql.push_str(" AND name NOT IN (");
        put_list(sql, ",", but, |sql, name| put!(sql, "{}", Quoted(name)));
        sql.push(')');
    }
    sql.push_str(";\n");
}
