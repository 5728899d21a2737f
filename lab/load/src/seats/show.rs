//! The show of a run: what it has, and what the server says of it.

use turnstile_check::seats::{SeatBlock, SeatHolder, SoldEntry};
use turnstile_client::{Connection, resp::Value};
use turnstile_services::seats::BookingNumber;

use super::plan::buyer_of;
use crate::{Error, door::field, error::unfit, reply::millis};

/// Bookings of a page of the listing.
const PAGE: &[u8] = b"1000";

/// When the show begins: no run lasts so long.
const BEGINS: &[u8] = b"2090-01-01T00:00:00Z";

/// Sections with as many rows of as many seats each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ShowPlan {
    pub(crate) sections: u16,
    pub(crate) rows: u8,
    pub(crate) row_seats: u8,
}

/// The show of one run.
#[derive(Clone, Debug)]
pub(crate) struct RunShow {
    pub(crate) name: String,
    pub(crate) plan: ShowPlan,
}

/// A listed booking or hold; nothing where its seats are not seats of one row of the show.
pub(crate) type ListedBooking = (BookingNumber, Option<SoldEntry>);

impl ShowPlan {
    /// Whether these seats are there.
    pub(crate) fn has(&self, seats: &SeatBlock) -> bool {
        let last = u64::BITS - seats.bits.leading_zeros();
        let is_in_row = (1..=u32::from(self.row_seats)).contains(&last);
        seats.section < self.sections && seats.row < self.rows && is_in_row
    }

    pub(crate) fn section_seats(&self) -> usize {
        usize::from(self.rows) * usize::from(self.row_seats)
    }

    pub(crate) fn seats(&self) -> usize {
        usize::from(self.sections) * self.section_seats()
    }

    /// The numbers of these seats, counted from 0 over all sections, row by row.
    pub(crate) fn numbers(&self, seats: &SeatBlock) -> impl Iterator<Item = usize> + use<> {
        let row = usize::from(seats.row) * usize::from(self.row_seats);
        let before = usize::from(seats.section) * self.section_seats() + row;
        let each = seats.each();
        each.map(move |seat| before + usize::try_from(seat).expect("a row has 64 seats at most"))
    }
}

impl RunShow {
    /// Adds a show. A position of the server should name it, so that no two runs share one.
    pub(crate) fn open(door: &mut Connection, name: String, plan: ShowPlan) -> Result<Self, Error> {
        prepare(door, "SEATS.ADD-SHOW", &[name.as_bytes(), BEGINS])?;
        let (rows, row_seats) = (plan.rows.to_string(), plan.row_seats.to_string());
        for section in 0..plan.sections {
            let section = format!("s{section}");
            let words = [&*name, &section, &rows, &row_seats].map(str::as_bytes);
            prepare(door, "SEATS.ADD-SECTION", &words)?;
        }
        Ok(Self { name, plan })
    }

    /// Every booking and hold of the show that the server lists.
    pub(crate) fn list(&self, door: &mut Connection) -> Result<Vec<ListedBooking>, Error> {
        let mut listed = Vec::new();
        let mut from: Option<String> = None;
        loop {
            let name = self.name.as_bytes();
            let mut words = vec![&b"SEATS.LIST-BOOKINGS"[..], name, b"LIMIT", PAGE];
            if let Some(from) = &from {
                words.extend([&b"CURSOR"[..], from.as_bytes()]);
            }
            let page = door.command(&words)?;
            let entries = field(&page, "entries").and_then(Value::as_array);
            let read: Option<Vec<ListedBooking>> =
                entries.and_then(|entries| entries.iter().map(listed_entry).collect());
            let Some(read) = read else {
                return Err(unfit("SEATS.LIST-BOOKINGS", &page));
            };
            listed.extend(read);
            from = field(&page, "next").and_then(cursor_text);
            if from.is_none() {
                return Ok(listed);
            }
        }
    }

    /// The number of free seats of each section, and of the most adjacent ones.
    pub(crate) fn availability(&self, door: &mut Connection) -> Result<Vec<(u32, u32)>, Error> {
        let answer = door.command(&[b"SEATS.GET-AVAILABILITY", self.name.as_bytes()])?;
        let sections = field(&answer, "sections").and_then(Value::as_array);
        let read = |section: &Value| {
            let count = |name| match field(section, name)? {
                Value::Integer(count) => u32::try_from(*count).ok(),
                _ => None,
            };
            Some((count("free")?, count("adjacent")?))
        };
        let sections: Option<Vec<(u32, u32)>> =
            sections.and_then(|sections| sections.iter().map(read).collect());
        let whole = sections.filter(|all| all.len() == usize::from(self.plan.sections));
        whole.ok_or_else(|| unfit("SEATS.GET-AVAILABILITY", &answer))
    }
}

fn cursor_text(cursor: &Value) -> Option<String> {
    match cursor {
        Value::Integer(number) => Some(number.to_string()),
        other => other.as_str().map(str::to_owned),
    }
}

fn listed_entry(entry: &Value) -> Option<ListedBooking> {
    let text = |name: &str| field(entry, name)?.as_bytes();
    let number = BookingNumber::parse(text("reference")?).ok()?;
    let holder = match text("state")? {
        b"booked" => SeatHolder::Buyer(buyer_of(text("buyer")?)),
        b"held" => SeatHolder::Until(millis(text("until")?)?),
        _ => return None,
    };
    let seats = field(entry, "seats")?.as_array()?;
    let section = str::from_utf8(text("section")?.strip_prefix(b"s")?).ok()?;
    let texts = seats.iter().map_while(Value::as_bytes);
    let seats = SeatBlock::parse(section.parse().ok()?, texts);
    Some((number, seats.map(|seats| SoldEntry { seats, holder })))
}

/// Has something made.
fn prepare(door: &mut Connection, command: &'static str, arguments: &[&[u8]]) -> Result<(), Error> {
    let words = std::iter::once(command.as_bytes()).chain(arguments.iter().copied());
    let answer = door.command(&words.collect::<Vec<_>>())?;
    let done = match &answer {
        Value::Map(_) => field(&answer, "outcome").and_then(Value::as_str) == Some("done"),
        other => matches!(other.as_array(), Some([Value::Integer(1), ..])),
    };
    if done {
        return Ok(());
    }
    Err(unfit(command, &answer))
}
