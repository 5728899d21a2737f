//! The bytes of the whole state, in its one canonical form. Byte map: `docs/formats/seats.md`.
//!
//! Shows are written in the order in which they were added, bookings in that of their numbers; owners of
//! seats, expiries and the numbers of free seats are derived again.

use turnstile_chassis::{Bytes, Decode, Encode, Pieces, put_count, read_all};
use turnstile_types::{Malformed, Name, Position, Principal, Reader, Sink, Timestamp};

use crate::{
    BookingNumber, SeatEntryState, SeatNumbers, Seats, Totals, UpTo, check,
    hall::{HallShow, SeatSection},
    limits,
    state::SeatEntry,
};

/// What a snapshot begins with: the machine and the version of the form.
const MAGIC: &[u8; 8] = b"seats\0\0\x01";

/// What is counted for ever.
#[derive(Bytes)]
struct KeptTotals {
    last: BookingNumber,
    booked: u64,
    cancelled: u64,
    held: u64,
    expired: u64,
}

/// A show as written, before its sections.
#[derive(Bytes)]
struct KeptShow {
    name: Name,
    begins: Timestamp,
    is_closed: bool,
}

#[derive(Bytes)]
struct KeptSection {
    name: Name,
    rows: UpTo<{ limits::ROWS_MAX }>,
    row_seats: UpTo<{ limits::ROW_SEATS_MAX }>,
}

#[derive(Bytes)]
struct KeptBooking {
    number: BookingNumber,
    show: u32,
    section: u16,
    seats: SeatNumbers,
    state: KeptState,
    principal: Name,
    since: Timestamp,
    position: Position,
}

#[derive(Bytes)]
enum KeptState {
    #[byte(0x01)]
    Booked { buyer: Name },
    #[byte(0x02)]
    Held { until: Timestamp },
}

pub(crate) fn write(seats: &Seats, out: &mut dyn Sink) {
    let mut pieces = Pieces::to(out);
    let totals = seats.totals;
    pieces.put(|out| {
        out.extend_from_slice(MAGIC);
        let kept = KeptTotals {
            last: seats.last,
            booked: totals.booked_total,
            cancelled: totals.cancelled_total,
            held: totals.held_total,
            expired: totals.expired_total,
        };
        kept.encode(out);
        put_count(seats.shows.len(), out);
    });
    for show in &seats.shows {
        pieces.put(|out| write_show(show, out));
    }
    pieces.put(|out| put_count(seats.bookings.len(), out));
    for (number, booking) in &seats.bookings {
        pieces.put(|out| kept_booking(*number, booking).encode(out));
    }
    pieces.finish();
}

fn write_show(show: &HallShow, out: &mut Vec<u8>) {
    let kept = KeptShow {
        name: show.name,
        begins: show.begins,
        is_closed: show.is_closed,
    };
    kept.encode(out);
    put_count(show.sections.len(), out);
    for section in &show.sections {
        section.name.encode(out);
        section.rows.encode(out);
        section.row_seats.encode(out);
    }
}

fn kept_booking(number: BookingNumber, booking: &SeatEntry) -> KeptBooking {
    KeptBooking {
        number,
        show: u32::try_from(booking.show).expect("shows are limited"),
        section: u16::try_from(booking.section).expect("sections are limited"),
        seats: booking.seats,
        state: match booking.state {
            SeatEntryState::Booked { buyer } => KeptState::Booked { buyer },
            SeatEntryState::Held { until } => KeptState::Held { until },
        },
        principal: booking.principal.0,
        since: booking.since,
        position: booking.position,
    }
}

pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Seats, Malformed> {
    if reader.take(MAGIC.len(), "magic")? != MAGIC {
        return Err(Malformed { field: "magic" });
    }
    let mut seats = Seats::new();
    let kept = KeptTotals::decode(reader, "totals")?;
    seats.last = kept.last;
    for _ in 0..reader.u32("shows")? {
        read_show(&mut seats, reader)?;
    }
    read_all(reader, "booking", |kept: KeptBooking| {
        seats.take_kept(&kept)
    })?;
    seats.totals = Totals {
        booked_total: kept.booked,
        cancelled_total: kept.cancelled,
        held_total: kept.held,
        expired_total: kept.expired,
        ..seats.totals
    };
    check::examine(&seats).map_err(|_violations| Malformed { field: "seats" })?;
    Ok(seats)
}

fn read_show(seats: &mut Seats, reader: &mut Reader<'_>) -> Result<(), Malformed> {
    let field = "show";
    let KeptShow {
        name,
        begins,
        is_closed,
    } = KeptShow::decode(reader, field)?;
    let is_new = seats.find(&name).is_err();
    let fits = seats.totals.shows < u64::from(limits::SHOWS_MAX);
    Malformed::unless(is_new && fits, field)?;
    let at = seats.shows.len();
    seats.open(HallShow {
        name,
        begins,
        is_closed,
        sections: Vec::new(),
    });
    read_all(reader, "section", |kept: KeptSection| {
        let section = SeatSection::new(kept.name, kept.rows.get(), kept.row_seats.get());
        let furnished = seats.furnish(at, section);
        furnished.map_err(|_refused| Malformed { field: "section" })
    })
}

impl Seats {
    /// Adds the next booking, whose seats must be free.
    fn take_kept(&mut self, kept: &KeptBooking) -> Result<(), Malformed> {
        let field = "booking";
        let last = self.bookings.last_key_value().map(|(last, _)| *last);
        let is_next = last.unwrap_or(BookingNumber(0)) < kept.number && kept.number <= self.last;
        Malformed::unless(is_next, field)?;
        let (show, section) = (kept.show as usize, usize::from(kept.section));
        let found = self.shows.get(show);
        let found = found.and_then(|show| show.sections.get(section));
        let found = found.ok_or(Malformed { field })?;
        for seat in kept.seats.iter() {
            Malformed::unless(found.owner(seat) == Ok(None), field)?;
        }
        let booking = SeatEntry {
            show,
            section,
            seats: kept.seats,
            state: match kept.state {
                KeptState::Booked { buyer } => SeatEntryState::Booked { buyer },
                KeptState::Held { until } => SeatEntryState::Held { until },
            },
            principal: Principal(kept.principal),
            since: kept.since,
            position: kept.position,
        };
        self.admit(kept.number, booking);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bookings_come_in_the_order_of_numbers_that_were_given() {
        let name = |text: &str| Name::parse(text.as_bytes()).unwrap();
        let mut seats = Seats::new();
        seats.open(HallShow {
            name: name("gala"),
            begins: Timestamp(1),
            is_closed: false,
            sections: Vec::new(),
        });
        let section = SeatSection::new(name("stalls"), 1, 9);
        seats.furnish(0, section).unwrap();
        seats.last = BookingNumber(3);
        let mut take = |number, seat: &str| {
            let booking = KeptBooking {
                number: BookingNumber(number),
                show: 0,
                section: 0,
                seats: SeatNumbers::parse(seat.as_bytes()).unwrap(),
                state: KeptState::Booked { buyer: name("ada") },
                principal: name("local"),
                since: Timestamp(1),
                position: Position(1),
            };
            seats.take_kept(&booking).is_ok()
        };
        assert!(!take(0, "1-1"), "no booking has this number");
        assert!(take(2, "1-2"));
        assert!(!take(1, "1-3"), "a later one came before");
        assert!(!take(2, "1-4"), "it came before");
        assert!(!take(4, "1-5"), "it was not given yet");
        assert!(!take(3, "1-2"), "its seat is taken");
        assert!(take(3, "1-6"));
    }
}
