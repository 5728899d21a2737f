//! The rows that a transaction has read, and its changes to them.

use std::collections::{BTreeMap, BTreeSet};

use mysql_async::Row as Answer;
use turnstile_rooms::{Reference, Refusal};
use turnstile_types::{Name, Night, Principal, Stay, Timestamp};

use crate::{
    fields::{ColumnReader, Strange},
    rows::{Record, Rows},
    tables::{
        BookingRow, CancellationRow, CountersRow, EndedRow, HoldRow, KeyRow, NightKey, NightRow,
        PropertyRow, RoomKey, RoomRow, StoppedRow, WriterRow,
    },
    wants::{HALF_BITS, Question, RoomNights, StayQuery, Wants},
};

/// The key of the one row of counters.
pub(crate) const COUNTERS: u8 = 1;

/// Why a decision stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotDecided {
    Refused(Refusal),
    /// It takes something that is not known yet, and noted as wanted by now. Nothing was changed.
    Unknown,
}

impl From<Refusal> for NotDecided {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

pub(crate) type Attempt<T> = Result<T, NotDecided>;

/// The first free rooms of a search, as the transaction found them.
#[derive(Clone, Debug)]
pub(crate) struct Free {
    /// Each with whether holds that are over still have nights of it.
    pub(crate) rooms: Vec<(Name, bool)>,
    /// Whether these are all.
    pub(crate) all: bool,
}

/// What is in the way of a search in all rooms but some, as the transaction found them.
#[derive(Clone, Debug)]
pub(crate) struct Ways {
    pub(crate) but: BTreeSet<Name>,
    /// The nights that are taken or stopped in every room.
    pub(crate) in_all: u128,
    /// The nights that are stopped in rooms where none is taken.
    pub(crate) stopped: u128,
}

/// A part of the database, read under the lock that whoever decides holds.
///
/// It grows while commands are decided: what a decision misses is noted in `wanted`, read, and the
/// decision begins again. Rows are changed here first and written at the end, all at once.
#[derive(Debug)]
pub(crate) struct Known {
    pub(crate) now: Timestamp,
    pub(crate) wanted: Wants,
    pub(crate) keys: Rows<KeyRow>,
    pub(crate) properties: Rows<PropertyRow>,
    pub(crate) rooms: Rows<RoomRow>,
    pub(crate) bookings: Rows<BookingRow>,
    pub(crate) holds: Rows<HoldRow>,
    pub(crate) cancellations: Rows<CancellationRow>,
    ended: Rows<EndedRow>,
    pub(crate) taken: Rows<NightRow>,
    pub(crate) stopped: Rows<StoppedRow>,
    pub(crate) writers: Rows<WriterRow>,
    counters: Rows<CountersRow>,
    stopped_ever: BTreeSet<RoomKey>,
    first_nights: BTreeMap<RoomKey, Option<Night>>,
    open_holds: BTreeMap<Principal, u64>,
    types: BTreeMap<(Name, Name), bool>,
    free: BTreeMap<StayQuery, Free>,
    ways: BTreeMap<StayQuery, Ways>,
}

impl Known {
    pub(crate) fn new(now: Timestamp) -> Self {
        Self {
            now,
            wanted: Wants::default(),
            keys: Rows::default(),
            properties: Rows::default(),
            rooms: Rows::default(),
            bookings: Rows::default(),
            holds: Rows::default(),
            cancellations: Rows::default(),
            ended: Rows::default(),
            taken: Rows::default(),
            stopped: Rows::default(),
            writers: Rows::default(),
            counters: Rows::default(),
            stopped_ever: BTreeSet::new(),
            first_nights: BTreeMap::new(),
            open_holds: BTreeMap::new(),
            types: BTreeMap::new(),
            free: BTreeMap::new(),
            ways: BTreeMap::new(),
        }
    }

    pub(crate) fn counters(&self) -> &CountersRow {
        let counters = self.counters.get(&COUNTERS).flatten();
        counters.expect("counters are read before anything else")
    }

    pub(crate) fn count(&mut self, change: impl FnOnce(&mut CountersRow)) {
        let mut counters = self.counters().clone();
        change(&mut counters);
        self.counters.set(&COUNTERS, counters);
    }

    pub(crate) fn property(&mut self, name: &Name) -> Attempt<Option<PropertyRow>> {
        let found = self.properties.get(name).map(Option::<&_>::cloned);
        found.ok_or_else(|| {
            self.wanted.properties.insert(*name);
            NotDecided::Unknown
        })
    }

    pub(crate) fn room(&mut self, key: &RoomKey) -> Attempt<Option<RoomRow>> {
        let found = self.rooms.get(key).map(Option::<&_>::cloned);
        found.ok_or_else(|| {
            self.wanted.rooms.insert(*key);
            NotDecided::Unknown
        })
    }

    pub(crate) fn booking(&mut self, reference: u64) -> Attempt<Option<BookingRow>> {
        let found = self.bookings.get(&reference).map(Option::<&_>::cloned);
        found.ok_or_else(|| self.want_entry(reference))
    }

    pub(crate) fn hold(&mut self, reference: u64) -> Attempt<Option<HoldRow>> {
        let found = self.holds.get(&reference).map(Option::<&_>::cloned);
        found.ok_or_else(|| self.want_entry(reference))
    }

    /// Whether a reference had ended before the state was copied to here.
    pub(crate) fn has_ended(&mut self, number: u64) -> Attempt<bool> {
        let reference = Reference::of_number(number);
        match self.ended.get(&reference.slot) {
            Some(ended) => Ok(ended.is_some_and(|last| last.generation >= reference.generation)),
            None => Err(self.want_entry(number)),
        }
    }

    pub(crate) fn want_entry(&mut self, reference: u64) -> NotDecided {
        self.wanted.entries.insert(reference);
        NotDecided::Unknown
    }

    /// The stopped and the taken nights of a stay in one room, as bits.
    pub(crate) fn in_the_way(&mut self, room: &RoomKey, stay: Stay) -> Attempt<(u128, u128)> {
        let (mut stopped, mut taken) = (0, 0);
        let mut halt = None;
        for (bit, night) in stay.iter().enumerate() {
            let key = (room.0, night, room.1);
            match self.taken.get(&key) {
                Some(row) => {
                    let stands = row.is_some_and(|row| row.stands(self.now));
                    taken |= u128::from(stands) << bit;
                }
                None => halt = Some(NotDecided::Unknown),
            }
            match self.is_stopped(&key) {
                Some(is_stopped) => stopped |= u128::from(is_stopped) << bit,
                None => halt = Some(NotDecided::Unknown),
            }
        }
        if let Some(halt) = halt {
            let span = RoomNights::new(*room, stay);
            self.wanted.taken.insert(span);
            if self.counters().stops > 0 {
                self.wanted.stopped.insert(span);
            }
            return Err(halt);
        }
        Ok((stopped, taken))
    }

    fn is_stopped(&self, key: &NightKey) -> Option<bool> {
        match self.stopped.get(key) {
            Some(row) => Some(row.is_some()),
            None => (self.counters().stops == 0).then_some(false),
        }
    }

    /// Whether the rows of a stay's stopped nights are known, and not only that there are none at all.
    pub(crate) fn stopped_rows(&mut self, room: &RoomKey, stay: Stay) -> Attempt<()> {
        let unknown = |night| self.stopped.get(&(room.0, night, room.1)).is_none();
        if stay.iter().any(unknown) {
            self.wanted.stopped.insert(RoomNights::new(*room, stay));
            return Err(NotDecided::Unknown);
        }
        Ok(())
    }

    /// All nights of a room that are stopped by now.
    pub(crate) fn stopped_ever(&mut self, room: &RoomKey) -> Attempt<Vec<NightKey>> {
        if !self.stopped_ever.contains(room) {
            self.wanted.stopped_ever.insert(*room);
            return Err(NotDecided::Unknown);
        }
        let keys = self.stopped.iter().map(|(key, _)| *key);
        Ok(keys.filter(|key| (key.0, key.2) == *room).collect())
    }

    /// The arrival of the first stay that a room has, as the transaction found it.
    pub(crate) fn first_night(&mut self, room: &RoomKey) -> Attempt<Option<Night>> {
        let found = self.first_nights.get(room).copied();
        found.ok_or_else(|| {
            self.wanted.first_nights.insert(*room);
            NotDecided::Unknown
        })
    }

    /// Open holds of a principal, as the transaction found them.
    pub(crate) fn open_holds(&mut self, principal: &Principal) -> Attempt<u64> {
        let found = self.open_holds.get(principal).copied();
        found.ok_or_else(|| {
            self.wanted.open_holds.insert(*principal);
            NotDecided::Unknown
        })
    }

    /// Whether a room in sale has a type, as the transaction found it.
    pub(crate) fn has_type(&mut self, property: &Name, room_type: &Name) -> Attempt<bool> {
        let found = self.types.get(&(*property, *room_type)).copied();
        found.ok_or_else(|| {
            self.wanted.types.insert((*property, *room_type));
            NotDecided::Unknown
        })
    }

    /// At least so many first free rooms, as the transaction found them, or all.
    pub(crate) fn free(&mut self, search: &StayQuery, count: usize) -> Attempt<Free> {
        match self.free.get(search) {
            Some(free) if free.all || free.rooms.len() >= count => Ok(free.clone()),
            _ => {
                self.wanted.free.insert(*search, count);
                Err(NotDecided::Unknown)
            }
        }
    }

    /// What is in the way in all rooms but some, as the transaction found them.
    pub(crate) fn ways(&mut self, search: &StayQuery, but: &BTreeSet<Name>) -> Attempt<Ways> {
        match self.ways.get(search) {
            Some(ways) if ways.but.is_superset(but) => Ok(ways.clone()),
            _ => {
                self.wanted.ways.insert(*search, but.clone());
                Err(NotDecided::Unknown)
            }
        }
    }

    /// Takes in the answers to what was wanted.
    pub(crate) fn learn(
        &mut self,
        asked: Vec<Question>,
        answers: &[Vec<Answer>],
    ) -> Result<(), Strange> {
        if asked.len() != answers.len() {
            return Err(Strange {
                field: "number of results",
            });
        }
        for (question, rows) in asked.into_iter().zip(answers) {
            match question {
                Question::Counters => know(&mut self.counters, rows)?,
                Question::Keys => know(&mut self.keys, rows)?,
                Question::Properties => know(&mut self.properties, rows)?,
                Question::Rooms => know(&mut self.rooms, rows)?,
                Question::Taken => know(&mut self.taken, rows)?,
                Question::Stopped => know(&mut self.stopped, rows)?,
                Question::Bookings => know(&mut self.bookings, rows)?,
                Question::Holds => know(&mut self.holds, rows)?,
                Question::Ended => know(&mut self.ended, rows)?,
                Question::Free(search, count) => {
                    let rooms = rows.iter().map(|row| {
                        let mut fields = ColumnReader::of(row);
                        Ok((fields.name("name")?, fields.flag("stale")?))
                    });
                    let rooms = rooms.collect::<Result<Vec<(Name, bool)>, Strange>>()?;
                    let all = rooms.len() < count;
                    self.free.insert(search, Free { rooms, all });
                }
                Question::FirstNight(room) => {
                    let night = only(rows)?.night_or_null("arrival")?;
                    self.first_nights.insert(room, night);
                }
                Question::OpenHolds(principal) => {
                    let count = only(rows)?.number("holds")?;
                    self.open_holds.insert(principal, count);
                }
                Question::Type(property, room_type) => {
                    let exists = only(rows)?.flag("type")?;
                    self.types.insert((property, room_type), exists);
                }
                Question::Ways(search, but) => {
                    let mut fields = only(rows)?;
                    let ways = Ways {
                        but,
                        in_all: bits(&mut fields)?,
                        stopped: bits(&mut fields)?,
                    };
                    self.ways.insert(search, ways);
                }
            }
        }
        self.note_what_is_not_there();
        Ok(())
    }

    /// What was asked for and did not come is not there.
    fn note_what_is_not_there(&mut self) {
        let wants = std::mem::take(&mut self.wanted);
        for key in wants.keys {
            self.keys.know(key, None);
        }
        for name in wants.properties {
            self.properties.know(name, None);
        }
        for room in wants.rooms {
            self.rooms.know(room, None);
        }
        for span in wants.taken {
            for night in span.nights() {
                self.taken.know((span.property, night, span.room), None);
            }
        }
        for span in wants.stopped {
            for night in span.nights() {
                self.stopped.know((span.property, night, span.room), None);
            }
        }
        for reference in wants.entries {
            self.bookings.know(reference, None);
            self.holds.know(reference, None);
            self.ended.know(Reference::of_number(reference).slot, None);
        }
        self.stopped_ever.extend(wants.stopped_ever);
    }

    /// The statements that bring the database to where this is: rows before what refers to them.
    pub(crate) fn put_writes(&self, sql: &mut String) {
        self.properties.put_writes(sql);
        self.rooms.put_writes(sql);
        self.bookings.put_writes(sql);
        self.holds.put_writes(sql);
        self.cancellations.put_writes(sql);
        self.taken.put_writes(sql);
        self.stopped.put_writes(sql);
        self.keys.put_writes(sql);
        self.counters.put_writes(sql);
        self.writers.put_writes(sql);
    }

    /// The statements that bring it back to where it was found.
    pub(crate) fn put_undo(&self, sql: &mut String) {
        self.writers.put_undo(sql);
        self.counters.put_undo(sql);
        self.keys.put_undo(sql);
        self.stopped.put_undo(sql);
        self.taken.put_undo(sql);
        self.cancellations.put_undo(sql);
        self.holds.put_undo(sql);
        self.bookings.put_undo(sql);
        self.rooms.put_undo(sql);
        self.properties.put_undo(sql);
    }
}

/// The fields of a question's only row.
fn only(rows: &[Answer]) -> Result<ColumnReader<'_>, Strange> {
    match rows {
        [row] => Ok(ColumnReader::of(row)),
        _ => Err(Strange {
            field: "number of rows",
        }),
    }
}

fn know<R: Record>(table: &mut Rows<R>, rows: &[Answer]) -> Result<(), Strange> {
    for row in rows {
        let (key, row) = R::read(&mut ColumnReader::of(row))?;
        table.know(key, Some(row));
    }
    Ok(())
}

/// The nights of a stay as bits, from two numbers, the lower half first.
pub(crate) fn bits(fields: &mut ColumnReader<'_>) -> Result<u128, Strange> {
    let low: u64 = fields.number_or_zero("low bits")?;
    let high: u64 = fields.number_or_zero("high bits")?;
    let half = (1 << HALF_BITS) - 1;
    Ok(u128::from(high & half) << HALF_BITS | u128::from(low & half))
}
