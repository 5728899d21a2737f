//! The answers that buyers read whole, for the witness.

use turnstile_check::seats::{MAP_ROWS, SeatBlock, SeatHolder, ShowAnswer, ShowRequest, SoldEntry};
use turnstile_client::resp::Token;
use turnstile_services::seats::BookingNumber;

use super::{plan::buyer_of, show::ShowPlan};
use crate::{
    again::KeyedReply,
    pace::Garbled,
    reply::{Tokens, error, millis},
};

/// The fields of an answer.
#[derive(Clone, Copy, Debug, Default)]
struct SeatsFields<'a> {
    outcome: &'a [u8],
    reason: Option<&'a [u8]>,
    position: Option<u64>,
    number: Option<u64>,
    seats: Option<SeatBlock>,
    until: Option<u64>,
    free: Option<u32>,
    state: &'a [u8],
    buyer: &'a [u8],
    map: Option<[u64; MAP_ROWS]>,
}

/// Reads a whole reply in RESP3.
pub(super) fn told<'a>(
    reply: &'a [u8],
    ask: &ShowRequest,
    show: ShowPlan,
) -> Result<KeyedReply<'a, ShowAnswer>, Garbled> {
    if let Some(code) = error(reply)? {
        return Ok(KeyedReply::Error(code));
    }
    let fields = SeatsFields::read(reply, ask.section().unwrap_or(0))?;
    if fields.outcome == b"waiting" {
        return Ok(KeyedReply::Waits);
    }
    let seats = fields.seats.filter(|seats| show.has(seats));
    let answer = match fields.reason {
        Some(reason) => refused(reason, seats, fields.free),
        None => fields.done(ask, seats),
    };
    // What is seen of a booking tells the position of its last change.
    let position = fields.position.filter(|_position| !ask.is_reading());
    if position.is_none() && !ask.is_reading() {
        return Err(Garbled);
    }
    Ok(KeyedReply::Answered {
        position,
        answer: answer.unwrap_or(ShowAnswer::Strange),
        refused: fields.reason,
    })
}

fn refused(reason: &[u8], seats: Option<SeatBlock>, free: Option<u32>) -> Option<ShowAnswer> {
    Some(match reason {
        b"taken" => ShowAnswer::Taken(seats?),
        b"not_adjacent" => ShowAnswer::NotAdjacent { free: free? },
        b"sale_closed" => ShowAnswer::NotOnSale,
        b"ended" => ShowAnswer::Ended,
        b"wrong_buyer" => ShowAnswer::WrongBuyer,
        b"already_confirmed" => ShowAnswer::AlreadyConfirmed,
        b"not_confirmed" => ShowAnswer::NotConfirmed,
        _ => return None,
    })
}

impl<'a> SeatsFields<'a> {
    /// Of an answer about seats of this section.
    fn read(reply: &'a [u8], section: u16) -> Result<Self, Garbled> {
        let mut tokens = Tokens(reply);
        let mut fields = Self::default();
        for _ in 0..tokens.pairs()? {
            match (tokens.text()?, tokens.next()?) {
                (b"position", Token::Integer(number)) => {
                    fields.position = u64::try_from(number).ok();
                }
                (b"free", Token::Integer(number)) => fields.free = u32::try_from(number).ok(),
                (b"seats", Token::Array(count)) => {
                    let texts: Result<Vec<&[u8]>, Garbled> =
                        (0..count).map(|_| tokens.text()).collect();
                    fields.seats = SeatBlock::parse(section, texts?);
                }
                (b"rows", Token::Array(count)) => fields.map = map(&mut tokens, count)?,
                (_, Token::Array(_) | Token::Map(_)) => return Err(Garbled),
                (b"outcome", Token::Bulk(text) | Token::Simple(text)) => fields.outcome = text,
                (b"reason", Token::Bulk(text) | Token::Simple(text)) => fields.reason = Some(text),
                (b"reference", Token::Bulk(text) | Token::Simple(text)) => {
                    let number = BookingNumber::parse(text).map_err(|_invalid| Garbled)?;
                    fields.number = Some(number.0);
                }
                (b"until", Token::Bulk(text) | Token::Simple(text)) => {
                    fields.until = Some(millis(text).ok_or(Garbled)?);
                }
                (b"state", Token::Bulk(text) | Token::Simple(text)) => fields.state = text,
                (b"buyer", Token::Bulk(text) | Token::Simple(text)) => fields.buyer = text,
                // What else there is has one value.
                _ => {}
            }
        }
        Ok(fields)
    }

    /// What was done, or seen; nothing when a field of that is missing.
    fn done(&self, ask: &ShowRequest, seats: Option<SeatBlock>) -> Option<ShowAnswer> {
        Some(match *ask {
            ShowRequest::Book { .. } => ShowAnswer::Booked {
                number: self.number?,
                seats: seats?,
            },
            ShowRequest::Hold { .. } => ShowAnswer::Held {
                number: self.number?,
                seats: seats?,
                until: self.until?,
            },
            ShowRequest::Confirm { .. } => ShowAnswer::Confirmed(seats?),
            ShowRequest::Release { .. } => ShowAnswer::Released,
            ShowRequest::Cancel { .. } => ShowAnswer::Cancelled(seats?),
            ShowRequest::Sale { closed } => ShowAnswer::Sale { closed },
            ShowRequest::Map { .. } => ShowAnswer::Map(self.map?),
            ShowRequest::LookUp { .. } => ShowAnswer::Entry(SoldEntry {
                seats: seats?,
                holder: match self.state {
                    b"booked" => SeatHolder::Buyer(buyer_of(self.buyer)),
                    b"held" => SeatHolder::Until(self.until?),
                    _ => return None,
                },
            }),
        })
    }
}

/// The taken seats of each row; nothing when there are other rows, or a number of free seats is wrong.
fn map(tokens: &mut Tokens<'_>, rows: usize) -> Result<Option<[u64; MAP_ROWS]>, Garbled> {
    let mut map = [0; MAP_ROWS];
    let mut is_right = rows == MAP_ROWS;
    for _ in 0..rows {
        let (mut row, mut free, mut seats) = (0, 0, &b""[..]);
        for _ in 0..tokens.pairs()? {
            match (tokens.text()?, tokens.next()?) {
                (b"row", Token::Integer(number)) => row = number,
                (b"free", Token::Integer(number)) => free = number,
                (b"seats", Token::Bulk(text) | Token::Simple(text)) => seats = text,
                _ => return Err(Garbled),
            }
        }
        let taken = (0..).zip(seats).filter(|(_, letter)| **letter == b'x');
        let bits = taken.fold(0, |bits, (seat, _)| {
            bits | 1_u64.checked_shl(seat).unwrap_or(0)
        });
        let points = seats.iter().filter(|letter| **letter == b'.').count();
        is_right &= i64::try_from(points) == Ok(free);
        let place = usize::try_from(row - 1).ok();
        match place.and_then(|place| map.get_mut(place)) {
            Some(kept) => *kept = bits,
            None => is_right = false,
        }
    }
    Ok(is_right.then_some(map))
}

#[cfg(test)]
mod tests {
    use turnstile_check::seats::SeatWish;

    use super::*;

    const SHOW: ShowPlan = ShowPlan {
        sections: 2,
        rows: 8,
        row_seats: 12,
    };

    const BOOK: ShowRequest = ShowRequest::Book {
        wish: SeatWish::Best {
            section: 1,
            count: 2,
        },
        buyer: 7,
    };

    /// Reads a map of texts; those that begin with a colon are numbers, those with spaces lists.
    fn read(
        ask: ShowRequest,
        pairs: &[(&str, &str)],
    ) -> Result<(Option<u64>, ShowAnswer), Garbled> {
        let bulk = |text: &str| format!("${}\r\n{text}\r\n", text.len());
        let mut reply = format!("%{}\r\n", pairs.len());
        for (name, value) in pairs {
            reply.push_str(&bulk(name));
            match value.strip_prefix(':') {
                Some(number) => reply.push_str(&format!(":{number}\r\n")),
                None if value.contains(' ') => {
                    let texts: Vec<&str> = value.split_whitespace().collect();
                    reply.push_str(&format!("*{}\r\n", texts.len()));
                    texts.iter().for_each(|text| reply.push_str(&bulk(text)));
                }
                None => reply.push_str(&bulk(value)),
            }
        }
        match told(reply.as_bytes(), &ask, SHOW)? {
            KeyedReply::Answered {
                position, answer, ..
            } => Ok((position, answer)),
            KeyedReply::Waits => Ok((None, ShowAnswer::Unknown)),
            KeyedReply::Error(code) => panic!("{}", code.escape_ascii()),
        }
    }

    #[test]
    fn answers_are_read_with_their_seats_and_positions() {
        let seats = SeatBlock::adjacent(1, 2, 3, 2);
        let place = ("position", ":9");
        let booked = ("reference", "S41");
        let rows = [
            (
                BOOK,
                &[("outcome", "done"), booked, ("seats", "3-4 3-5"), place][..],
                Ok((Some(9), ShowAnswer::Booked { number: 41, seats })),
            ),
            // There is no such row.
            (
                BOOK,
                &[("outcome", "done"), booked, ("seats", "9-4 9-5"), place],
                Ok((Some(9), ShowAnswer::Strange)),
            ),
            (
                BOOK,
                &[("reason", "not_adjacent"), ("free", ":3"), place],
                Ok((Some(9), ShowAnswer::NotAdjacent { free: 3 })),
            ),
            (
                BOOK,
                &[("reason", "unknown_show"), place],
                Ok((Some(9), ShowAnswer::Strange)),
            ),
            (
                BOOK,
                &[("outcome", "waiting"), ("place", ":4")],
                Ok((None, ShowAnswer::Unknown)),
            ),
            (BOOK, &[("outcome", "done"), booked], Err(Garbled)),
            (
                ShowRequest::LookUp {
                    number: 41,
                    section: 1,
                },
                &[
                    ("state", "booked"),
                    ("buyer", "u7"),
                    ("seats", "3-4 3-5"),
                    place,
                ],
                Ok((
                    None,
                    ShowAnswer::Entry(SoldEntry {
                        seats,
                        holder: SeatHolder::Buyer(7),
                    }),
                )),
            ),
        ];
        for (ask, pairs, expected) in rows {
            assert_eq!(read(ask, pairs), expected, "{pairs:?}");
        }
    }

    #[test]
    fn a_map_that_counts_its_free_seats_wrong_is_strange() {
        let ask = ShowRequest::Map { section: 0 };
        let map = |free: usize| {
            let rows = (1..=MAP_ROWS).map(|row| {
                let free = if row == 2 { free } else { 12 };
                let seats = if row == 2 { "x..x........" } else { "............" };
                format!("%3\r\n$3\r\nrow\r\n:{row}\r\n$4\r\nfree\r\n:{free}\r\n$5\r\nseats\r\n$12\r\n{seats}\r\n")
            });
            let rows: String = rows.collect();
            format!("%1\r\n$4\r\nrows\r\n*{MAP_ROWS}\r\n{rows}")
        };
        let answer = |reply: &str| match told(reply.as_bytes(), &ask, SHOW) {
            Ok(KeyedReply::Answered { answer, .. }) => answer,
            other => panic!("{other:?}"),
        };
        let mut taken = [0; MAP_ROWS];
        taken[1] = 0b1001;
        assert_eq!(answer(&map(10)), ShowAnswer::Map(taken));
        assert_eq!(answer(&map(11)), ShowAnswer::Strange);
    }
}
