//! One line of a LOBSTER message file: what happened to the visible book of one symbol.
//!
//! The columns are described in `docs/formats/lobster.md`.

use std::{fmt, str};

use turnstile_book::Side;

/// Digits after the point of a price: the files have dollars times 10,000.
const PRICE_SCALE: u32 = 4;

/// What a line says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Message<'a> {
    /// Seconds after midnight, as it is written.
    pub(crate) time: &'a str,
    pub(crate) event: Event,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// Type 1: an order rests. What it traded on arrival was told before it.
    New(Details),
    /// Type 2: a part of an order is cancelled.
    Reduced(Details),
    /// Type 3: all that is left of an order is cancelled.
    Deleted(Details),
    /// Type 4: somebody traded with an order on the visible book.
    Executed(Details),
    /// Type 5: somebody traded with an order that the visible book does not show.
    ExecutedHidden(Details),
    /// Type 6: the sum of an auction, whose parts are lines of their own.
    Cross,
    /// Type 7: trading halts or goes on.
    Halt,
}

/// What is said of the resting order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Details {
    pub(crate) order: u64,
    /// Shares; at least one.
    pub(crate) size: u64,
    pub(crate) price: Price,
    pub(crate) side: Side,
}

/// All that rests at one price, as a row of an orderbook file shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Level {
    pub(crate) side: Side,
    pub(crate) price: Price,
    /// Shares; at least one.
    pub(crate) size: u64,
}

/// Dollars times 10,000.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Price(pub(crate) u64);

/// A line that is no message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BadLine {
    /// From 1.
    pub(crate) column: usize,
    pub(crate) reason: LobsterFault,
    /// What stands in the column.
    pub(crate) text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LobsterFault {
    /// The line ends before this column.
    Missing,
    /// There is nothing to be in this column.
    Surplus,
    Utf8,
    Time,
    Type,
    Order,
    Size,
    Price,
    Direction,
    /// A row of a book ends before this column.
    RowMissing,
    /// A size of a book's level, which may be 0.
    RowSize,
}

/// The columns of a line. New files have a seventh, which nothing here needs: who sent the order.
const COLUMNS: usize = 6;
const COLUMNS_MAX: usize = 7;

impl<'a> Message<'a> {
    /// Reads a line without its end.
    pub(crate) fn parse(line: &'a [u8]) -> Result<Self, BadLine> {
        let line = str::from_utf8(line).map_err(|error| {
            let good = &line[..error.valid_up_to()];
            let commas = good.iter().filter(|&&byte| byte == b',').count();
            bad(commas, LobsterFault::Utf8, &String::from_utf8_lossy(line))
        })?;
        let mut columns = [""; COLUMNS];
        let mut found = 0;
        for text in line.split(',') {
            if let Some(column) = columns.get_mut(found) {
                *column = text.trim();
            } else if found >= COLUMNS_MAX {
                return Err(bad(found, LobsterFault::Surplus, text));
            }
            found += 1;
        }
        if found < COLUMNS {
            return Err(bad(found, LobsterFault::Missing, ""));
        }
        let [time, kind, ..] = columns;
        if !is_decimal(time) {
            return Err(bad(0, LobsterFault::Time, time));
        }
        let event = match kind {
            "1" => Event::New(Details::read(&columns)?),
            "2" => Event::Reduced(Details::read(&columns)?),
            "3" => Event::Deleted(Details::read(&columns)?),
            "4" => Event::Executed(Details::read(&columns)?),
            "5" => Event::ExecutedHidden(Details::read(&columns)?),
            "6" => Event::Cross,
            "7" => Event::Halt,
            _ => return Err(bad(1, LobsterFault::Type, kind)),
        };
        Ok(Self { time, event })
    }
}

impl Event {
    /// The book before this, of which the levels after it are shown; nothing when they cannot be.
    pub(crate) fn undone(&self, mut levels: Vec<Level>) -> Option<Vec<Level>> {
        let of = |details: Details| {
            move |level: &&mut Level| (level.side, level.price) == (details.side, details.price)
        };
        match self {
            Self::New(details) => {
                let level = levels.iter_mut().find(of(*details))?;
                level.size = level.size.checked_sub(details.size)?;
                levels.retain(|level| level.size > 0);
            }
            Self::Reduced(details) | Self::Deleted(details) | Self::Executed(details) => {
                let Details {
                    side, price, size, ..
                } = *details;
                match levels.iter_mut().find(of(*details)) {
                    Some(level) => level.size += size,
                    None => levels.push(Level { side, price, size }),
                }
            }
            Self::ExecutedHidden(_) | Self::Cross | Self::Halt => {}
        }
        Some(levels)
    }
}

impl Level {
    /// A row without its end: ask price, ask size, bid price, bid size of each level; those that are
    /// not there have size 0.
    pub(crate) fn parse_row(row: &str) -> Result<Vec<Self>, BadLine> {
        let columns: Vec<&str> = row.split(',').map(str::trim).collect();
        let mut levels = Vec::new();
        for (pair, columns) in columns.chunks(2).enumerate() {
            let (column, side) = (2 * pair, [Side::Sell, Side::Buy][pair % 2]);
            let [price, size] = columns else {
                return Err(bad(column + 1, LobsterFault::RowMissing, ""));
            };
            let size: u64 = size
                .parse()
                .map_err(|_no_number| bad(column + 1, LobsterFault::RowSize, size))?;
            if size == 0 {
                continue;
            }
            let price = price
                .parse()
                .map_err(|_no_number| bad(column, LobsterFault::Price, price))?;
            levels.push(Self {
                side,
                price: Price(price),
                size,
            });
        }
        if !columns.len().is_multiple_of(4) {
            return Err(bad(columns.len(), LobsterFault::RowMissing, ""));
        }
        Ok(levels)
    }
}

impl Details {
    fn read(columns: &[&str; COLUMNS]) -> Result<Self, BadLine> {
        let number = |column: usize, least: u64, reason| {
            columns[column]
                .parse()
                .ok()
                .filter(|number| *number >= least)
                .ok_or_else(|| bad(column, reason, columns[column]))
        };
        Ok(Self {
            order: number(2, 0, LobsterFault::Order)?,
            size: number(3, 1, LobsterFault::Size)?,
            price: Price(number(4, 0, LobsterFault::Price)?),
            side: match columns[5] {
                "1" => Side::Buy,
                "-1" => Side::Sell,
                text => return Err(bad(5, LobsterFault::Direction, text)),
            },
        })
    }
}

/// A bad line, by its column from 0.
fn bad(column: usize, reason: LobsterFault, text: &str) -> BadLine {
    BadLine {
        column: column + 1,
        reason,
        text: text.to_owned(),
    }
}

/// Whether it is digits with at most one point among them.
fn is_decimal(text: &str) -> bool {
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    [whole, part]
        .iter()
        .all(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Dollars, with all four digits of their parts.
impl fmt::Display for Price {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dollar = 10_u64.pow(PRICE_SCALE);
        write!(f, "{}.{:04}", self.0 / dollar, self.0 % dollar)
    }
}

impl fmt::Display for LobsterFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Missing => "a message has six columns, this one is missing",
            Self::Surplus => "a message has six or seven columns, this is one too many",
            Self::Utf8 => "not UTF-8",
            Self::Time => "no time in seconds after midnight",
            Self::Type => "no type from 1 to 7",
            Self::Order => "no order id",
            Self::Size => "no size of 1 or more",
            Self::Price => "no price in dollars times 10,000",
            Self::Direction => "no direction: 1 is buy, -1 is sell",
            Self::RowMissing => {
                "a row of a book has four columns for each level, this one is missing"
            }
            Self::RowSize => "no size",
        })
    }
}

impl fmt::Display for BadLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: `{}`", self.column, self.reason, self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DETAILS: Details = Details {
        order: 16_113_575,
        size: 18,
        price: Price(5_853_300),
        side: Side::Buy,
    };

    #[test]
    fn every_type_is_read() {
        let rows = [
            (1, Event::New(DETAILS)),
            (2, Event::Reduced(DETAILS)),
            (3, Event::Deleted(DETAILS)),
            (4, Event::Executed(DETAILS)),
            (5, Event::ExecutedHidden(DETAILS)),
            (6, Event::Cross),
            (7, Event::Halt),
        ];
        for (kind, event) in rows {
            let time = "34200.004241176";
            for end in ["", ",null"] {
                let line = format!("{time},{kind},16113575,18,5853300,1{end}");
                let message = Message::parse(line.as_bytes());
                assert_eq!(message, Ok(Message { time, event }), "{line}");
            }
        }
        let sell = Message::parse(b"34200,1,16113575,18,5853300,-1").unwrap();
        let side = Side::Sell;
        assert_eq!(sell.event, Event::New(Details { side, ..DETAILS }));
    }

    #[test]
    fn auctions_and_halts_have_numbers_of_their_own_kind() {
        for line in ["34200.1,6,-1,117,5850000,1", "34200.1,7,0,0,-1,-1"] {
            assert!(Message::parse(line.as_bytes()).is_ok(), "{line}");
        }
    }

    #[test]
    fn the_first_bad_column_is_named() {
        let rows: [(&[u8], usize, LobsterFault, &str); 17] = [
            (b"", 2, LobsterFault::Missing, ""),
            (b"1.5,1,7,100,1000", 6, LobsterFault::Missing, ""),
            (b"1.5,1,7,100,1000,1,null,x", 8, LobsterFault::Surplus, "x"),
            (
                b"1.5,1,7,100,10\xff0,1",
                5,
                LobsterFault::Utf8,
                "1.5,1,7,100,10\u{fffd}0,1",
            ),
            (b"time,1,7,100,1000,1", 1, LobsterFault::Time, "time"),
            (b"-1.5,1,7,100,1000,1", 1, LobsterFault::Time, "-1.5"),
            (b"1.,1,7,100,1000,1", 1, LobsterFault::Time, "1."),
            (b"1.2.3,1,7,100,1000,1", 1, LobsterFault::Time, "1.2.3"),
            (b"1.5,8,7,100,1000,1", 2, LobsterFault::Type, "8"),
            (b"1.5,,7,100,1000,1", 2, LobsterFault::Type, ""),
            (b"1.5,1,-7,100,1000,1", 3, LobsterFault::Order, "-7"),
            (b"1.5,1,x,0,y,z", 3, LobsterFault::Order, "x"),
            (b"1.5,1,7,0,1000,1", 4, LobsterFault::Size, "0"),
            (b"1.5,1,7,1.5,1000,1", 4, LobsterFault::Size, "1.5"),
            (b"1.5,1,7,100,-1000,1", 5, LobsterFault::Price, "-1000"),
            (b"1.5,1,7,100,1000,0", 6, LobsterFault::Direction, "0"),
            (b"1.5,5,0,100,1000,+1", 6, LobsterFault::Direction, "+1"),
        ];
        for (line, column, reason, text) in rows {
            let expected = BadLine {
                column,
                reason,
                text: text.to_owned(),
            };
            assert_eq!(Message::parse(line), Err(expected), "{line:?}");
        }
    }

    #[test]
    fn a_row_of_a_book_is_read_but_for_levels_that_are_not_there() {
        let level = |side, price, size| Level {
            side,
            price: Price(price),
            size,
        };
        let row = "1000200,30,1000000,150,9999999999,0,-9999999999,0";
        let levels = vec![
            level(Side::Sell, 1_000_200, 30),
            level(Side::Buy, 1_000_000, 150),
        ];
        assert_eq!(Level::parse_row(row), Ok(levels));
        let rows = [
            ("", 2, LobsterFault::RowMissing),
            ("1,2,3", 4, LobsterFault::RowMissing),
            ("1,2", 3, LobsterFault::RowMissing),
            ("1,x,3,4", 2, LobsterFault::RowSize),
            ("x,2,3,4", 1, LobsterFault::Price),
        ];
        for (row, column, reason) in rows {
            let found = Level::parse_row(row).unwrap_err();
            assert_eq!((found.column, found.reason), (column, reason), "{row}");
        }
    }

    #[test]
    fn the_book_before_a_message_is_the_one_after_it_undone() {
        let level = |size| Level {
            side: DETAILS.side,
            price: DETAILS.price,
            size,
        };
        let rows = [
            (Event::New(DETAILS), vec![level(20)], Some(vec![level(2)])),
            (Event::New(DETAILS), vec![level(18)], Some(vec![])),
            (Event::New(DETAILS), vec![level(17)], None),
            (Event::New(DETAILS), vec![], None),
            (Event::Deleted(DETAILS), vec![], Some(vec![level(18)])),
            (
                Event::Executed(DETAILS),
                vec![level(2)],
                Some(vec![level(20)]),
            ),
            (Event::Halt, vec![level(2)], Some(vec![level(2)])),
        ];
        for (event, after, before) in rows {
            assert_eq!(event.undone(after.clone()), before, "{event:?} {after:?}");
        }
    }

    #[test]
    fn a_price_is_shown_in_dollars() {
        assert_eq!(Price(5_853_300).to_string(), "585.3300");
        assert_eq!(Price(7).to_string(), "0.0007");
    }
}
