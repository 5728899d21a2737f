//! What visitors call rooms and nights, and the answers that they read.

use std::sync::Arc;

use turnstile_check::rooms::{InlineReference, Place};
use turnstile_client::resp::{self, Token};
use turnstile_types::Night;

use super::what::What;
use crate::{
    line::PlaceInLine,
    pace::Garbled,
    reply::{Tokens, error, millis},
};

/// The first night that is sold.
const FIRST_NIGHT: &[u8] = b"2027-01-01";

/// The names of rooms and nights by their numbers: no other run against the same server has its rooms.
#[derive(Clone, Debug)]
pub(crate) struct RoomNames {
    /// The unchanging beginning of a room's name.
    stem: Arc<[u8]>,
    /// The texts of all nights, and of the last departure.
    nights: Arc<[[u8; 10]]>,
}

impl RoomNames {
    /// Rooms with this before their number, and so many nights.
    pub(crate) fn new(stem: &str, nights: u16) -> Self {
        let first = Night::parse(FIRST_NIGHT).expect("the first night is a date");
        let text = |later| -> [u8; 10] {
            let night = first.checked_add(later).expect("a year later is a date");
            let text = night.to_string().into_bytes();
            text.try_into().expect("a date has ten characters")
        };
        Self {
            stem: stem.as_bytes().into(),
            nights: (0..=nights).map(text).collect(),
        }
    }

    /// The same nights of other rooms.
    pub(crate) fn with_stem(&self, stem: &str) -> Self {
        Self {
            stem: stem.as_bytes().into(),
            nights: Arc::clone(&self.nights),
        }
    }

    pub(crate) fn stem(&self) -> &[u8] {
        &self.stem
    }

    pub(crate) fn put_room(&self, out: &mut Vec<u8>, room: u32) {
        out.extend_from_slice(&self.stem);
        resp::put_decimal(out, u64::from(room));
    }

    pub(crate) fn night(&self, night: u16) -> &[u8] {
        &self.nights[usize::from(night)]
    }

    /// The number of a night.
    fn night_of(&self, text: &[u8]) -> Option<u16> {
        let found = self.nights.binary_search_by(|night| night[..].cmp(text));
        u16::try_from(found.ok()?).ok()
    }

    /// The number of a room; nothing when it is none of the run's.
    pub(crate) fn room(&self, name: &[u8]) -> Option<u32> {
        let number = name.strip_prefix(&self.stem[..])?;
        str::from_utf8(number).ok()?.parse().ok()
    }

    /// The place with these texts; nothing when it is none of the run's.
    pub(crate) fn place(&self, room: &[u8], arrival: &[u8], departure: &[u8]) -> Option<Place> {
        let room = self.room(room)?;
        let night = self.night_of(arrival)?;
        let nights = self.night_of(departure)?.checked_sub(night)?;
        Some(Place {
            room,
            night,
            nights,
        })
    }

    /// The bits of these nights of a stay that begins with `first`; nothing when one is not in it.
    fn bits(
        &self,
        first: u16,
        nights: &mut Tokens<'_>,
        count: usize,
    ) -> Result<Option<u64>, Garbled> {
        let mut bits = Some(0);
        for _ in 0..count {
            let night = nights.text()?;
            let later = self
                .night_of(night)
                .and_then(|night| night.checked_sub(first));
            bits = bits.and_then(|bits| Some(bits | 1_u64.checked_shl(u32::from(later?))?));
        }
        Ok(bits)
    }
}

/// An answer to a visitor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer<'a> {
    Error(&'a [u8]),
    Outcome(Outcome<'a>),
    /// Nothing was done: there is a line.
    Waits(PlaceInLine),
    /// Who has a night; nothing when it is free.
    Seen(Option<(InlineReference, Place)>),
}

/// What was answered to a command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Outcome<'a> {
    pub(crate) position: u64,
    /// Why it was refused; nothing when it was done.
    pub(crate) reason: Option<&'a [u8]>,
    pub(crate) reference: Option<&'a [u8]>,
    pub(crate) room: &'a [u8],
    pub(crate) arrival: &'a [u8],
    pub(crate) departure: &'a [u8],
    /// When a hold ends, in milliseconds.
    pub(crate) until: Option<u64>,
    /// Whether a hold was confirmed when its time was over.
    pub(crate) late: bool,
    /// The nights of a refusal, as bits of the stay; nothing when there are others among them.
    pub(crate) nights: Option<u64>,
}

impl Outcome<'_> {
    /// What a cancelled booking was for.
    pub(crate) fn place(&self, names: &RoomNames) -> Result<Place, Garbled> {
        let place = names.place(self.room, self.arrival, self.departure);
        place.ok_or(Garbled)
    }
}

/// Reads a whole reply in RESP3.
pub(crate) fn told<'a>(
    reply: &'a [u8],
    names: &RoomNames,
    what: &What,
) -> Result<Answer<'a>, Garbled> {
    match what {
        What::Look { .. } => look(reply, names),
        What::Book { place, .. } | What::Hold { place, .. } => outcome(reply, names, place.night),
        What::Pick { wish, .. } => outcome(reply, names, wish.night),
        What::Cancel { .. } | What::Extend { .. } | What::Confirm { .. } | What::Release { .. } => {
            outcome(reply, names, 0)
        }
    }
}

/// Reads a whole reply in RESP3 to a command about a stay that begins with this night.
fn outcome<'a>(reply: &'a [u8], names: &RoomNames, first: u16) -> Result<Answer<'a>, Garbled> {
    let mut tokens = Tokens(reply);
    if let Some(code) = error(reply)? {
        return Ok(Answer::Error(code));
    }
    let mut outcome = Outcome::default();
    let (mut word, mut position, mut line) = (&b""[..], None, PlaceInLine::default());
    for _ in 0..tokens.pairs()? {
        match (tokens.text()?, tokens.next()?) {
            (b"outcome", Token::Bulk(text) | Token::Simple(text)) => word = text,
            (b"reason", Token::Bulk(reason) | Token::Simple(reason)) => {
                outcome.reason = Some(reason);
            }
            (b"reference", Token::Bulk(text)) => outcome.reference = Some(text),
            (b"room", Token::Bulk(text)) => outcome.room = text,
            (b"arrival", Token::Bulk(text)) => outcome.arrival = text,
            (b"departure", Token::Bulk(text)) => outcome.departure = text,
            (b"until", Token::Bulk(text) | Token::Simple(text)) => {
                outcome.until = Some(millis(text).ok_or(Garbled)?);
            }
            (b"late", Token::Boolean(late)) => outcome.late = late,
            (b"nights", Token::Array(count)) => {
                outcome.nights = names.bits(first, &mut tokens, count)?;
            }
            (b"position", Token::Integer(number)) => position = u64::try_from(number).ok(),
            (b"place", Token::Integer(number)) => line.place = count(number)?,
            (b"wait_seconds", Token::Integer(number)) => line.wait_s = count(number)?,
            (b"retry_after", Token::Integer(number)) => line.retry_s = count(number)?,
            // What else there is has one value.
            (_, Token::Array(_) | Token::Map(_)) => return Err(Garbled),
            _ => {}
        }
    }
    if word == b"waiting" && line.place > 0 {
        return Ok(Answer::Waits(line));
    }
    if (word == b"done") == outcome.reason.is_some() {
        return Err(Garbled);
    }
    outcome.position = position.ok_or(Garbled)?;
    Ok(Answer::Outcome(outcome))
}

fn count(number: i64) -> Result<u64, Garbled> {
    u64::try_from(number).map_err(|_negative| Garbled)
}

/// Reads a whole reply in RESP3 to a look at one night.
fn look<'a>(reply: &'a [u8], names: &RoomNames) -> Result<Answer<'a>, Garbled> {
    let mut tokens = Tokens(reply);
    if let Some(code) = error(reply)? {
        return Ok(Answer::Error(code));
    }
    let mut seen = None;
    for _ in 0..tokens.pairs()? {
        let (name, value) = (tokens.text()?, tokens.next()?);
        let blocks = match (name, value) {
            (b"blocks", Token::Array(blocks)) => blocks,
            (b"blocks", _) | (_, Token::Array(_) | Token::Map(_)) => return Err(Garbled),
            _ => continue,
        };
        // One night of one room is at most one booking's.
        if blocks > 1 {
            return Err(Garbled);
        }
        if blocks == 1 {
            seen = Some(block(&mut tokens, names)?);
        }
    }
    Ok(Answer::Seen(seen))
}

fn block(tokens: &mut Tokens<'_>, names: &RoomNames) -> Result<(InlineReference, Place), Garbled> {
    let (mut reference, mut room, mut arrival, mut departure) =
        (None, &b""[..], &b""[..], &b""[..]);
    for _ in 0..tokens.pairs()? {
        let (name, text) = (tokens.text()?, tokens.text()?);
        match name {
            b"reference" => reference = InlineReference::parse(text).ok(),
            b"room" => room = text,
            b"arrival" => arrival = text,
            b"departure" => departure = text,
            _ => {}
        }
    }
    let place = names.place(room, arrival, departure).ok_or(Garbled)?;
    Ok((reference.ok_or(Garbled)?, place))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> RoomNames {
        RoomNames::new("check7-", 30)
    }

    #[test]
    fn names_and_numbers_of_places_are_the_same_both_ways() {
        let names = names();
        let mut room = Vec::new();
        names.put_room(&mut room, 12);
        assert_eq!(room, b"check7-12");
        assert_eq!(
            (names.night(0), names.night(30)),
            (&b"2027-01-01"[..], &b"2027-01-31"[..])
        );
        let place = Place {
            room: 12,
            night: 3,
            nights: 2,
        };
        assert_eq!(
            names.place(&room, names.night(3), names.night(5)),
            Some(place)
        );
        for (room, arrival, departure) in [
            ("check8-12", "2027-01-04", "2027-01-06"),
            ("check7-x", "2027-01-04", "2027-01-06"),
            ("check7-12", "2026-12-31", "2027-01-06"),
            ("check7-12", "2027-01-06", "2027-01-04"),
        ] {
            let place = names.place(room.as_bytes(), arrival.as_bytes(), departure.as_bytes());
            assert_eq!(place, None);
        }
    }

    #[test]
    fn outcomes_are_read_with_their_positions() {
        let done = b"%4\r\n$7\r\noutcome\r\n$4\r\ndone\r\n$9\r\nreference\r\n$3\r\nR01\r\n\
            $4\r\nroom\r\n$8\r\ncheck7-1\r\n$8\r\nposition\r\n:9\r\n";
        let Ok(Answer::Outcome(read)) = outcome(done, &names(), 0) else {
            panic!("it is an outcome");
        };
        assert_eq!(
            (read.position, read.reason, read.reference),
            (9, None, Some(&b"R01"[..]))
        );
        let refused = b"%4\r\n$7\r\noutcome\r\n$7\r\nrefused\r\n$6\r\nreason\r\n$8\r\nsold_out\r\n\
            $6\r\nnights\r\n*2\r\n$10\r\n2027-01-04\r\n$10\r\n2027-01-06\r\n$8\r\nposition\r\n:10\r\n";
        let Ok(Answer::Outcome(read)) = outcome(refused, &names(), 3) else {
            panic!("it is an outcome");
        };
        assert_eq!((read.position, read.nights), (10, Some(0b101)));
        let Ok(Answer::Outcome(read)) = outcome(refused, &names(), 4) else {
            panic!("it is an outcome");
        };
        assert_eq!(read.nights, None, "a night before the stay");
        let waits = b"%4\r\n$7\r\noutcome\r\n$7\r\nwaiting\r\n$5\r\nplace\r\n:7\r\n\
            $12\r\nwait_seconds\r\n:70\r\n$11\r\nretry_after\r\n:30\r\n";
        let line = PlaceInLine {
            place: 7,
            wait_s: 70,
            retry_s: 30,
        };
        assert_eq!(outcome(waits, &names(), 0), Ok(Answer::Waits(line)));
        assert_eq!(
            outcome(b"-BUSY later\r\n", &names(), 0),
            Ok(Answer::Error(b"BUSY"))
        );
        for garbled in [
            &b"*2\r\n:1\r\n:2\r\n"[..],
            b"%1\r\n$7\r\noutcome\r\n$4\r\ndone\r\n",
            b"%1\r\n$8\r\nposition\r\n:10\r\n",
            b"%1\r\n$7\r\noutcome\r\n$7\r\nwaiting\r\n",
            b"%2\r\n$7\r\noutcome\r\n$7\r\nrefused\r\n$8\r\nposition\r\n:10\r\n",
        ] {
            assert_eq!(outcome(garbled, &names(), 0), Err(Garbled));
        }
    }

    #[test]
    fn looks_are_read_with_the_booking_that_has_the_night() {
        let free = b"%2\r\n$9\r\nwould_get\r\n$8\r\ncheck7-1\r\n$6\r\nblocks\r\n*0\r\n";
        assert_eq!(look(free, &names()), Ok(Answer::Seen(None)));
        let taken = b"%2\r\n$9\r\nwould_get\r\n_\r\n$6\r\nblocks\r\n*1\r\n%5\r\n$4\r\nkind\r\n\
            $7\r\nbooking\r\n$4\r\nroom\r\n$8\r\ncheck7-1\r\n$9\r\nreference\r\n$3\r\nR01\r\n\
            $7\r\narrival\r\n$10\r\n2027-01-02\r\n$9\r\ndeparture\r\n$10\r\n2027-01-04\r\n";
        let place = Place {
            room: 1,
            night: 1,
            nights: 2,
        };
        let reference = InlineReference::parse(b"R01").unwrap();
        assert_eq!(
            look(taken, &names()),
            Ok(Answer::Seen(Some((reference, place))))
        );
        assert_eq!(look(taken, &RoomNames::new("check8-", 30)), Err(Garbled));
    }
}
