//! Every limit of the machine, each with its reason.

/// Shows: a large box office sells some thousands at a time.
pub const SHOWS_MAX: u32 = 10_000;

/// Sections of a show: a stadium has up to 300 blocks.
pub const SECTIONS_PER_SHOW_MAX: u32 = 300;

/// Rows of a section, more than any block of a stadium has. With [`ROW_SEATS_MAX`] it bounds the search
/// for adjacent seats.
pub const ROWS_MAX: u16 = 200;

/// Seats of a row, more than the widest hall has.
pub const ROW_SEATS_MAX: u16 = 200;

/// Seats of a show: the largest stadium has 115,000. It bounds the time that a count of free seats takes.
pub const SEATS_PER_SHOW_MAX: u32 = 200_000;

/// Seats of all shows. A seat takes 8 bytes, and its booking at most 400 more.
pub const SEATS_MAX: u32 = 20_000_000;

/// Seats of one booking or hold: a school class books twice. The answer to a command stays small.
pub const BOOKING_SEATS_MAX: u16 = 20;

/// The longest time that a hold lasts: a payment page is filled in within minutes.
pub const HOLD_SECONDS_MAX: u16 = 900;

/// Seats that one page of a listing looks at. A page that ends here is short, even empty, and names where
/// the next begins: one query cannot stop the service for others.
pub const SEATS_EXAMINED_MAX: usize = 10_000;
