//! The queries, answered from what is committed.

mod availability;
mod explain;
mod inventory;
mod listing;

use mysql_async::Row as Found;
use turnstile_rooms::{
    Answer, Cursor, Entry, EntryState, GuestId, Page, PropertySummary, Query, Reference, Refusal,
    Totals, limits,
};
use turnstile_types::{Name, Principal, Timestamp};

use crate::{
    decide::is_forgotten,
    fault::Fault,
    fields::{ColumnReader, Strange},
    known::{COUNTERS, NotDecided},
    rows::Record,
    session::Session,
    sql::{At, Quoted, put, put_list},
    tables::{BookingRow, BookingState, CountersRow, EndedRow, HoldRow, HoldState},
    wants::{put_ended, put_select},
};

pub(crate) async fn answer(
    session: &mut Session,
    now: Timestamp,
    principal: &Principal,
    query: &Query,
) -> Result<Answer, Fault> {
    match *query {
        Query::LookUp { reference } => look_up(session, now, reference.number()).await,
        Query::List {
            property,
            room,
            from,
            to,
            cursor,
            limit,
        } => {
            let part = listing::Part {
                property,
                room,
                nights: from..to,
                cursor,
                limit,
            };
            listing::list(session, now, &part).await
        }
        Query::Guest { id, cursor, limit } => guest(session, id, cursor, limit).await,
        Query::Holds { cursor, limit } => holds(session, now, principal, cursor, limit).await,
        Query::Availability {
            property,
            room_type,
            stay,
        } => availability::availability(session, now, (property, room_type), stay).await,
        Query::Explain {
            property,
            wish,
            stay,
        } => explain::explain(session, now, (property, &wish), stay).await,
        Query::Properties { cursor, limit } => properties(session, cursor, limit).await,
        Query::Totals => totals(session, now).await,
        Query::ListRooms {
            property,
            cursor,
            limit,
        } => inventory::rooms(session, now, property, (cursor, limit)).await,
        Query::ListStopSells {
            property,
            stay,
            cursor,
            limit,
        } => inventory::stop_sells(session, now, (property, stay), (cursor, limit)).await,
    }
}

/// The answer to a query of something that is not there.
fn refused(halt: NotDecided) -> Result<Answer, Fault> {
    match halt {
        NotDecided::Refused(refusal) => Ok(Answer::Refused(refusal)),
        NotDecided::Unknown => Err(Fault::Broken("a query did not read what it takes".into())),
    }
}

async fn look_up(session: &mut Session, now: Timestamp, number: u64) -> Result<Answer, Fault> {
    let mut sql = String::new();
    put_select::<BookingRow>(&mut sql);
    put!(sql, "WHERE reference={number};\n");
    put_select::<HoldRow>(&mut sql);
    put!(sql, "WHERE reference={number};\n");
    put_ended(&mut sql, [number]);
    let answers = session.read(&sql).await?;
    let [bookings, holds, ended] = sets(answers)?;
    if let Some((_, booking)) = records::<BookingRow>(&bookings)?.pop() {
        return Ok(if booking.state == BookingState::Cancelled {
            Answer::Refused(Refusal::Ended)
        } else {
            Answer::Entry(booked(number, booking))
        });
    }
    Ok(match records::<HoldRow>(&holds)?.pop() {
        None => {
            let last = records::<EndedRow>(&ended)?.pop();
            let generation = Reference::of_number(number).generation;
            let has_ended = last.is_some_and(|(_, last)| last.generation >= generation);
            Answer::Refused(if has_ended {
                Refusal::Ended
            } else {
                Refusal::NotFound
            })
        }
        Some((_, hold)) if is_forgotten(&hold, now) => Answer::Refused(Refusal::Ended),
        Some((_, hold)) => Answer::Entry(held(number, &hold, now)),
    })
}

async fn guest(
    session: &mut Session,
    id: GuestId,
    cursor: Option<Cursor>,
    limit: u16,
) -> Result<Answer, Fault> {
    let mut sql = String::new();
    put_select::<BookingRow>(&mut sql);
    let GuestId { seal, last_four } = id;
    put!(
        sql,
        "WHERE seal={seal} AND last_four={last_four} AND state='booked'"
    );
    if let Some(Cursor(shown)) = cursor {
        put!(sql, " AND position<{shown}");
    }
    put!(sql, " ORDER BY position DESC LIMIT {};\n", one_more(limit));
    let [bookings] = sets(session.read(&sql).await?)?;
    let bookings = records::<BookingRow>(&bookings)?;
    let entries = bookings.into_iter().map(|(number, booking)| {
        let shown = Cursor(booking.position.0);
        (booked(number, booking), shown)
    });
    Ok(Answer::Page(page(entries.collect(), limit)))
}

async fn holds(
    session: &mut Session,
    now: Timestamp,
    principal: &Principal,
    cursor: Option<Cursor>,
    limit: u16,
) -> Result<Answer, Fault> {
    let mut sql = String::new();
    put_select::<HoldRow>(&mut sql);
    put!(
        sql,
        "WHERE principal={} AND state='held' AND held_until>{}",
        Quoted(&principal.0),
        At(now)
    );
    if let Some(Cursor(shown)) = cursor {
        put!(sql, " AND made>{shown}");
    }
    put!(sql, " ORDER BY made LIMIT {};\n", one_more(limit));
    let [holds] = sets(session.read(&sql).await?)?;
    let holds = records::<HoldRow>(&holds)?;
    let entries = holds
        .into_iter()
        .map(|(number, hold)| (held(number, &hold, now), Cursor(hold.made.0)));
    Ok(Answer::Page(page(entries.collect(), limit)))
}

async fn properties(
    session: &mut Session,
    cursor: Option<Cursor>,
    limit: u16,
) -> Result<Answer, Fault> {
    let mut sql = "SELECT name, is_open, rooms_in_sale, number FROM properties".to_owned();
    if let Some(Cursor(shown)) = cursor {
        put!(
            sql,
            " WHERE name>(SELECT name FROM properties WHERE number={shown})"
        );
    }
    put!(sql, " ORDER BY name LIMIT {};\n", one_more(limit));
    let [rows] = sets(session.read(&sql).await?)?;
    let mut found = rows
        .iter()
        .map(|row| {
            let mut fields = ColumnReader::of(row);
            let summary = PropertySummary {
                property: fields.name("name")?,
                open: fields.flag("is_open")?,
                rooms: fields.number("rooms_in_sale")?,
            };
            Ok((summary, Cursor(fields.number("number")?)))
        })
        .collect::<Result<Vec<_>, Strange>>()?;
    let next = cut(&mut found, limit);
    let properties = found.into_iter().map(|(summary, _)| summary).collect();
    Ok(Answer::Properties { properties, next })
}

async fn totals(session: &mut Session, now: Timestamp) -> Result<Answer, Fault> {
    let mut sql = String::new();
    put_select::<CountersRow>(&mut sql);
    put!(sql, "WHERE id={COUNTERS};\n");
    let over = At(now);
    put!(
        sql,
        "SELECT (SELECT SUM(rooms_in_sale) FROM properties), \
         (SELECT COUNT(*) FROM holds WHERE state='held' AND held_until>{over}), \
         (SELECT COUNT(*) FROM holds WHERE state='held' AND held_until<={over});\n"
    );
    let [counters, sums] = sets(session.read(&sql).await?)?;
    let counters = records::<CountersRow>(&counters)?.pop();
    let (_, counters) = counters.ok_or_else(|| short("counters"))?;
    let sums = sums.first().ok_or_else(|| short("sums"))?;
    let mut sums = ColumnReader::of(sums);
    let rooms = sums.number_or_zero("rooms")?;
    let holds = sums.number("holds")?;
    let over: u64 = sums.number("holds")?;
    Ok(Answer::Totals(Totals {
        bookings: counters.bookings,
        holds,
        properties: counters.next_property,
        rooms,
        booked_total: counters.booked_total,
        cancelled_total: counters.cancelled_total,
        held_total: counters.held_total,
        expired_total: counters.expired_total + over,
    }))
}

pub(crate) fn booked(number: u64, booking: BookingRow) -> Entry {
    Entry {
        reference: Reference::of_number(number),
        state: EntryState::Booked,
        property: booking.placed.property,
        room: booking.placed.room,
        stay: booking.placed.stay,
        guest: Some(booking.guest),
        id: Some(booking.id),
        principal: booking.placed.principal,
        since: booking.placed.since,
        position: booking.position,
    }
}

pub(crate) fn held(number: u64, hold: &HoldRow, now: Timestamp) -> Entry {
    let state = if hold.state == HoldState::Held && hold.until > now {
        EntryState::Held { until: hold.until }
    } else {
        EntryState::Expired { at: hold.until }
    };
    Entry {
        reference: Reference::of_number(number),
        state,
        property: hold.placed.property,
        room: hold.placed.room,
        stay: hold.placed.stay,
        guest: None,
        id: None,
        principal: hold.placed.principal,
        since: hold.placed.since,
        position: hold.position,
    }
}

/// How many rows tell a full page and whether there is another.
fn one_more(limit: u16) -> u32 {
    u32::from(limit) + 1
}

/// Cuts what was found to a page, and says where the next begins, when there is one.
fn cut<T>(found: &mut Vec<(T, Cursor)>, limit: u16) -> Option<Cursor> {
    let more = found.len() > usize::from(limit);
    found.truncate(usize::from(limit));
    found.last().filter(|_| more).map(|&(_, next)| next)
}

fn page(mut found: Vec<(Entry, Cursor)>, limit: u16) -> Page {
    let next = cut(&mut found, limit);
    let entries = found.into_iter().map(|(entry, _)| entry).collect();
    Page { entries, next }
}

/// The rows of so many statements.
fn sets<const COUNT: usize>(answers: Vec<Vec<Found>>) -> Result<[Vec<Found>; COUNT], Fault> {
    let sets = answers.try_into();
    sets.map_err(|_other: Vec<_>| short("number of results"))
}

fn short(field: &'static str) -> Fault {
    Strange { field }.into()
}

fn records<R: Record>(rows: &[Found]) -> Result<Vec<(R::Key, R)>, Strange> {
    rows.iter()
        .map(|row| R::read(&mut ColumnReader::of(row)))
        .collect()
}

/// The columns of a table, by its name.
fn put_columns<R: Record>(sql: &mut String) {
    put_list(sql, ",", R::COLUMNS, |sql, column| {
        put!(sql, "{}.{column}", R::TABLE);
    });
}

/// The rooms that are looked at, in their order, from some place on: so many and no more.
fn put_rooms(sql: &mut String, property: &Name, which: &str) {
    put!(
        sql,
        "(SELECT name, number, loose, place FROM rooms WHERE property={}{which} \
         ORDER BY loose, place LIMIT {}) AS looked_at",
        Quoted(property),
        limits::ROOMS_EXAMINED_MAX
    );
}
