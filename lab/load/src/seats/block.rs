//! Adjacent seats of one row, which is all that a buyer asks for.

use std::fmt;

use turnstile_client::resp;

use super::{ROW_SEATS, ROWS, SECTION_SEATS, SECTIONS};

/// Adjacent seats of one row of the show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// The first seat, counted from 0 over all sections, row by row.
    first: usize,
    count: usize,
}

impl Block {
    /// The block of a row that begins at this seat; sections, rows and seats are counted from 0.
    pub(super) const fn new(section: usize, row: usize, seat: usize, count: usize) -> Self {
        Self {
            first: section * SECTION_SEATS + row * ROW_SEATS + seat,
            count,
        }
    }

    /// The block that these texts name, such as `3-12` and `3-13`; nothing when they name no adjacent
    /// seats of the show.
    pub(super) fn parse<'a>(
        section: usize,
        mut texts: impl Iterator<Item = &'a [u8]>,
    ) -> Option<Self> {
        let (row, seat) = parse_seat(texts.next()?)?;
        let mut block = Self::new(section, row, seat, 1);
        for text in texts {
            if parse_seat(text)? != (row, seat + block.count) {
                return None;
            }
            block.count += 1;
        }
        (section < SECTIONS).then_some(block)
    }

    pub(super) const fn section(&self) -> usize {
        self.first / SECTION_SEATS
    }

    pub(super) const fn count(&self) -> usize {
        self.count
    }

    /// Its seats, counted from 0 over all sections.
    pub(super) fn seats(&self) -> impl Iterator<Item = usize> + use<> {
        self.first..self.first + self.count
    }

    /// Appends its seats as a request names them.
    pub(super) fn put(&self, out: &mut Vec<u8>) {
        for (place, seat) in self.seats().enumerate() {
            if place > 0 {
                out.push(b',');
            }
            let (row, number) = numbers(seat);
            resp::put_decimal(out, row);
            out.push(b'-');
            resp::put_decimal(out, number);
        }
    }
}

impl fmt::Display for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = Vec::new();
        self.put(&mut text);
        let seats = String::from_utf8_lossy(&text);
        write!(f, "s{} {seats}", self.section())
    }
}

/// Row and number of a seat in its section, from 1.
fn numbers(seat: usize) -> (u64, u64) {
    let within = seat % SECTION_SEATS;
    let number = |from_0: usize| u64::try_from(from_0 + 1).expect("a show is small");
    (number(within / ROW_SEATS), number(within % ROW_SEATS))
}

/// Row and seat, counted from 0.
fn parse_seat(text: &[u8]) -> Option<(usize, usize)> {
    let (row, number) = str::from_utf8(text).ok()?.split_once('-')?;
    let read = |digits: &str, most: usize| {
        let number: usize = digits.parse().ok()?;
        (1..=most).contains(&number).then(|| number - 1)
    };
    Some((read(row, ROWS)?, read(number, ROW_SEATS)?))
}

#[cfg(test)]
mod tests {
    use super::Block;

    #[test]
    fn a_block_is_read_as_it_is_written() {
        let block = Block::new(9, 39, 46, 4);
        assert_eq!(block.to_string(), "s9 40-47,40-48,40-49,40-50");
        let parse = |text: &str| Block::parse(9, text.split(',').map(str::as_bytes));
        assert_eq!(parse("40-47,40-48,40-49,40-50"), Some(block));
        for text in [
            "", "1", "0-1", "41-1", "1-51", "1-1,1-3", "1-1,2-2", "1-1,1-1",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
