//! Answers to queries, from the state as it is.

use turnstile_types::Name;

use crate::{
    Answer, BookingNumber, Cursor, Entry, MapRow, Query, Refusal, Seats, SectionSummary,
    ShowSummary,
    hall::{HallShow, SeatSection, longest_free},
    limits,
    state::SeatEntry,
};

pub(crate) fn answer(seats: &Seats, query: &Query) -> Result<Answer, Refusal> {
    match *query {
        Query::LookUp { reference } => {
            let booking = seats.look_up(reference)?;
            Ok(Answer::Entry(Box::new(entry(seats, reference, booking))))
        }
        Query::List {
            show,
            cursor,
            limit,
        } => list(seats, &show, cursor, limit),
        Query::Availability { show, section } => {
            let show = seats.show(seats.find(&show)?);
            let wanted = section.map(|name| show.section(&name)).transpose()?;
            let sections = show.sections.iter().enumerate();
            let sections = sections.filter(|(at, _)| wanted.is_none_or(|wanted| wanted == *at));
            let sections = sections.map(|(_, section)| section_summary(section));
            Ok(Answer::Availability(sections.collect()))
        }
        Query::Map { show, section } => {
            let show = seats.show(seats.find(&show)?);
            let section = show.sections.get(show.section(&section)?);
            Ok(Answer::Map(section.map(map).unwrap_or_default()))
        }
        Query::Shows { cursor, limit } => Ok(shows(seats, cursor, limit)),
        Query::Totals => Ok(Answer::Totals(seats.totals())),
    }
}

fn entry(seats: &Seats, reference: BookingNumber, booking: &SeatEntry) -> Entry {
    let show = seats.show(booking.show);
    let section = show.sections.get(booking.section);
    Entry {
        reference,
        state: booking.state,
        show: show.name,
        section: section.expect("a section is never removed").name,
        seats: booking.seats,
        principal: booking.principal,
        since: booking.since,
        position: booking.position,
    }
}

/// The bookings and holds whose foremost seat is at the cursor or behind it. A cursor counts the seats of
/// the show, section by section and row by row.
fn list(seats: &Seats, show: &Name, cursor: Option<Cursor>, limit: u16) -> Result<Answer, Refusal> {
    let show = seats.show(seats.find(show)?);
    let begin = cursor.map_or(0, |Cursor(begin)| begin);
    let mut entries = Vec::new();
    let mut next = None;
    for (examined, (place, seat, owner)) in owners(show, begin).enumerate() {
        if entries.len() == usize::from(limit) || examined == limits::SEATS_EXAMINED_MAX {
            next = Some(Cursor(place));
            break;
        }
        let Some(owner) = owner else { continue };
        let booking = seats.look_up(owner)?;
        if booking.seats.first() == seat {
            entries.push(entry(seats, owner, booking));
        }
    }
    Ok(Answer::Page { entries, next })
}

/// The seats of a show from a place on, with their owners.
fn owners(
    show: &HallShow,
    begin: u64,
) -> impl Iterator<Item = (u64, crate::SeatNumber, crate::hall::SeatOwner)> {
    let mut before = 0;
    show.sections.iter().flat_map(move |section| {
        let start = before;
        before += u64::from(section.seats());
        let skipped = begin.saturating_sub(start).min(u64::from(section.seats()));
        let skipped = usize::try_from(skipped).unwrap_or(usize::MAX);
        (skipped..section.seats() as usize).filter_map(move |place| {
            let (seat, owner) = section.at(place)?;
            Some((start + u64::try_from(place).ok()?, seat, owner))
        })
    })
}

fn section_summary(section: &SeatSection) -> SectionSummary {
    let runs = section
        .each_row()
        .map(|(_, _, owners)| longest_free(owners));
    SectionSummary {
        section: section.name,
        rows: section.rows,
        row_seats: section.row_seats,
        free: section.free,
        adjacent: runs.max().unwrap_or(0),
    }
}

fn map(section: &SeatSection) -> Vec<MapRow> {
    let rows = section.each_row().map(|(row, free, owners)| {
        let seats = owners
            .iter()
            .map(|owner| if *owner == 0 { '.' } else { 'x' });
        MapRow {
            row,
            free,
            seats: seats.collect::<String>().into(),
        }
    });
    rows.collect()
}

/// Shows in the order in which they were added; the cursor is the number of those before.
fn shows(seats: &Seats, cursor: Option<Cursor>, limit: u16) -> Answer {
    let begin = cursor.map_or(0, |Cursor(begin)| {
        usize::try_from(begin).unwrap_or(usize::MAX)
    });
    let rest = seats.shows.get(begin..).unwrap_or_default();
    let page = rest.get(..usize::from(limit)).unwrap_or(rest);
    let next = (page.len() < rest.len()).then(|| begin + page.len());
    Answer::Shows {
        shows: page.iter().map(show_summary).collect(),
        next: next.and_then(|next| u64::try_from(next).ok()).map(Cursor),
    }
}

fn show_summary(show: &HallShow) -> ShowSummary {
    ShowSummary {
        show: show.name,
        begins: show.begins,
        closed: show.is_closed,
        sections: u32::try_from(show.sections.len()).expect("sections are limited"),
        seats: show.seats(),
        free: show.free(),
    }
}
