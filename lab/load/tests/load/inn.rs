//! A toy server of rooms that tells positions, in RESP3: honest, or with one fault.

mod line;

use std::{
    collections::BTreeMap,
    net::{SocketAddr, TcpListener},
    ops::Range,
    sync::{Arc, Mutex},
    thread,
};

use turnstile_client::resp::{put_bulk, put_count};

use crate::toy::converse;

pub(crate) use line::Kept;

use line::Line;

/// What is wrong with an inn. Every so often means every thirtieth command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wrong {
    Nothing,
    /// Every so often a booking or cancellation is carried out, and the connection is closed instead of
    /// an answer.
    Closes,
    /// Every so often a connection is closed, and the booking or cancellation is not carried out.
    Forgets,
    /// Answers come in pieces of seven bytes.
    Dribbles,
    /// Refusals tell no position.
    NoPosition,
    /// Every so often a booking is acknowledged and not written down.
    LosesUpdate,
    /// Every so often nobody looks whether a room is taken.
    SellsTwice,
    /// Looks are answered from what was there up to thirty commands ago.
    ReadsStale,
    /// Every so often a command is put before those of the last ten that were answered.
    Reorders,
    /// Every so often two commands have the same position.
    PositionTwice,
    /// Every so often a cancellation is acknowledged and not done.
    CancelIgnored,
    /// Anybody may cancel.
    CancelsForAll,
    /// A refusal names all nights of the stay.
    NamesAllNights,
    /// Every so often a booking has the reference of the one before.
    ReferenceTwice,
    /// Holds end half a second before their time.
    EndsEarly,
    /// Holds that are over block their nights still.
    NeverEnds,
    /// Nobody looks whether the nights of a hold that is confirmed late are free.
    ConfirmsBlindly,
    /// A confirmation is acknowledged, and there is no booking.
    ConfirmsNothing,
    /// What is released is not free.
    ReleasesNothing,
    /// A hold that was given more time ends as before.
    ExtendsNothing,
    /// The counter of bookings is one ahead once there are any.
    CountsOneMore,
}

#[derive(Clone, Debug)]
struct Booking {
    room: String,
    arrival: u32,
    departure: u32,
    id: String,
}

/// Kept for somebody, until then in milliseconds of the inn, which passes them as it is asked.
#[derive(Clone, Debug)]
struct Hold {
    booking: Booking,
    until: u64,
}

type Bookings = BTreeMap<String, Booking>;

#[derive(Debug)]
struct State {
    wrong: Wrong,
    /// Commands that were decided.
    position: u64,
    /// A position that nobody has got yet.
    kept: u64,
    last: String,
    booked: u64,
    cancelled: u64,
    bookings: Bookings,
    holds: BTreeMap<String, Hold>,
    /// Rooms that were added: one of them is given to who wants any.
    rooms: Vec<String>,
    /// What looks are answered from.
    shown: Bookings,
    /// Before bookings that have a key.
    line: Option<Line>,
}

/// Starts an inn that listens until the process ends.
pub(crate) fn start(wrong: Wrong) -> SocketAddr {
    start_with(wrong, None)
}

/// Starts one that keeps a line.
pub(crate) fn start_with_line(kept: Kept) -> SocketAddr {
    start_with(Wrong::Nothing, Some(Line::new(kept)))
}

fn start_with(wrong: Wrong, line: Option<Line>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let state = Arc::new(Mutex::new(State {
        wrong,
        position: 100,
        kept: 0,
        last: "R1".to_owned(),
        booked: 0,
        cancelled: 0,
        bookings: Bookings::new(),
        holds: BTreeMap::new(),
        rooms: Vec::new(),
        shown: Bookings::new(),
        line,
    }));
    thread::spawn(move || {
        for stream in listener.incoming() {
            let state = Arc::clone(&state);
            let piece = if wrong == Wrong::Dribbles {
                7
            } else {
                usize::MAX
            };
            thread::spawn(move || {
                converse(stream.unwrap(), piece, |words, out| {
                    state.lock().unwrap().answer(words, out)
                })
            });
        }
    });
    address
}

/// A place in line, to be asked for again at once.
fn put_place(place: usize, out: &mut Vec<u8>) {
    put_count(out, b'%', 4);
    put_bulk(out, b"outcome");
    put_bulk(out, b"waiting");
    for (name, number) in [
        ("place", place),
        ("wait_seconds", place),
        ("retry_after", 0),
    ] {
        put_bulk(out, name.as_bytes());
        out.extend_from_slice(format!(":{number}\r\n").as_bytes());
    }
}

/// Nights by number: the second half of a date of January.
fn night(date: &str) -> u32 {
    let day = date.strip_prefix("2027-01-").unwrap();
    day.parse().unwrap()
}

fn date(night: u32) -> String {
    format!("2027-01-{night:02}")
}

impl State {
    /// Carries out a command and appends its answer; whether to close instead.
    fn answer(&mut self, words: &[&str], out: &mut Vec<u8>) -> bool {
        let [command @ .., "KEY", key] = words else {
            return self.decide(words, out);
        };
        match self.line.as_mut().and_then(|line| line.place(key)) {
            Some(place) => {
                put_place(place, out);
                false
            }
            None => self.decide(command, out),
        }
    }

    /// The same without a key, or when its turn has come.
    fn decide(&mut self, words: &[&str], out: &mut Vec<u8>) -> bool {
        let now = self.position;
        let often = now.is_multiple_of(30) && self.booked > 20;
        // What is asked when the load is over has an answer: there, nobody asks again.
        let may_close = often && matches!(words, ["ROOMS.BOOK" | "ROOMS.CANCEL", ..]);
        match *words {
            ["HELLO", "3"] => put_map(out, &[("proto", "3")], None, None),
            ["INFO"] => put_bulk(out, self.info().as_bytes()),
            ["ROOMS.EXPLAIN", _, room, arrival, departure] => {
                let shown =
                    if self.wrong == Wrong::ReadsStale && departure == date(night(arrival) + 1) {
                        &self.shown
                    } else {
                        &self.bookings
                    };
                let nights = (night(arrival), night(departure));
                explain(shown, &self.open_holds(), room, nights, out);
            }
            _ if may_close && self.wrong == Wrong::Forgets => {
                self.position += 1;
                return true;
            }
            ["ROOMS.ADD-PROPERTY", _] => put_map(out, &[("outcome", "done")], None, None),
            ["ROOMS.ADD-ROOM", _, room, _] => {
                self.rooms.push(room.to_owned());
                put_map(out, &[("outcome", "done")], None, None);
            }
            ["ROOMS.BOOK", _, wish, arrival, departure, _, id] => {
                let position = self.take_position(often);
                let room = self.meant(wish, night(arrival)..night(departure));
                self.book(often, [&room, arrival, departure, id], position, out);
            }
            ["ROOMS.CANCEL", reference, id] => {
                let position = self.take_position(often);
                self.cancel(often, reference, id, position, out);
            }
            [
                "ROOMS.HOLD",
                _,
                room,
                arrival,
                departure,
                "TTL_SECONDS",
                seconds,
            ] => {
                let position = self.take_position(false);
                self.hold([room, arrival, departure, seconds], position, out);
            }
            ["ROOMS.EXTEND", reference, seconds] => {
                let position = self.take_position(false);
                self.extend(reference, seconds, position, out);
            }
            ["ROOMS.CONFIRM", reference, _, id] => {
                let position = self.take_position(false);
                self.confirm(reference, id, position, out);
            }
            ["ROOMS.RELEASE", reference] => {
                let position = self.take_position(false);
                self.release(reference, position, out);
            }
            _ => out.extend_from_slice(b"-ERR unknown command\r\n"),
        }
        if self.position.is_multiple_of(30) {
            self.shown = self.bookings.clone();
        }
        may_close && self.wrong == Wrong::Closes
    }

    fn take_position(&mut self, often: bool) -> u64 {
        self.position += 1;
        match self.wrong {
            Wrong::Reorders if often => {
                self.kept = self.position;
                self.position += 1;
            }
            Wrong::Reorders if self.position == self.kept + 10 => return self.kept,
            Wrong::PositionTwice if often => return self.position - 1,
            _ => {}
        }
        self.position
    }

    fn book(&mut self, often: bool, words: [&str; 4], position: u64, out: &mut Vec<u8>) {
        let [room, arrival, departure, id] = words;
        let nights = night(arrival)..night(departure);
        let mut taken = self.taken(room, nights.clone());
        let looks = !(often && self.wrong == Wrong::SellsTwice);
        if looks && !taken.is_empty() {
            if self.wrong == Wrong::NamesAllNights {
                taken = nights.collect();
            }
            let taken: Vec<String> = taken.into_iter().map(date).collect();
            let position = (self.wrong != Wrong::NoPosition).then_some(position);
            let reason = [("outcome", "refused"), ("reason", "sold_out")];
            return put_map(out, &reason, Some(&taken), position);
        }
        let again = often && self.wrong == Wrong::ReferenceTwice;
        let reference = if again {
            self.last.clone()
        } else {
            format!("R{position}")
        };
        let words = [
            ("outcome", "done"),
            ("reference", &reference),
            ("room", room),
        ];
        put_map(out, &words, None, Some(position));
        if often && self.wrong == Wrong::LosesUpdate {
            return;
        }
        self.booked += 1;
        self.last.clone_from(&reference);
        let booking = Booking {
            room: room.to_owned(),
            arrival: nights.start,
            departure: nights.end,
            id: id.to_owned(),
        };
        self.bookings.insert(reference, booking);
    }

    /// The room of a wish: by name, or the first of all that is free.
    fn meant(&self, wish: &str, nights: Range<u32>) -> String {
        if wish != "any" && !wish.starts_with("type:") {
            return wish.to_owned();
        }
        let is_free = |room: &&String| self.taken(room, nights.clone()).is_empty();
        let free = self.rooms.iter().find(is_free);
        free.unwrap_or(&self.rooms[0]).clone()
    }

    /// The nights of a room that somebody has.
    fn taken(&self, room: &str, nights: Range<u32>) -> Vec<u32> {
        let holds = self.open_holds();
        let held = holds.values().map(|hold| &hold.booking);
        let all: Vec<&Booking> = self.bookings.values().chain(held).collect();
        let has = |one: &&Booking, night: u32| {
            one.room == room && (one.arrival..one.departure).contains(&night)
        };
        nights
            .filter(|night| all.iter().any(|one| has(one, *night)))
            .collect()
    }

    /// What time it is, in milliseconds of a day.
    const fn now(&self) -> u64 {
        5 * self.position
    }

    fn is_over(&self, hold: &Hold) -> bool {
        match self.wrong {
            Wrong::EndsEarly => hold.until <= self.now() + 500,
            _ => hold.until <= self.now(),
        }
    }

    fn open_holds(&self) -> BTreeMap<String, Hold> {
        let stands = |hold: &Hold| self.wrong == Wrong::NeverEnds || !self.is_over(hold);
        let mut open = self.holds.clone();
        open.retain(|_, hold| stands(hold));
        open
    }

    fn hold(&mut self, words: [&str; 4], position: u64, out: &mut Vec<u8>) {
        let [room, arrival, departure, seconds] = words;
        let nights = night(arrival)..night(departure);
        let taken: Vec<String> = self
            .taken(room, nights.clone())
            .into_iter()
            .map(date)
            .collect();
        if !taken.is_empty() {
            let reason = [("outcome", "refused"), ("reason", "sold_out")];
            return put_map(out, &reason, Some(&taken), Some(position));
        }
        let until = self.now() + 1_000 * seconds.parse::<u64>().unwrap();
        let reference = format!("R{position}");
        let words = [
            ("outcome", "done"),
            ("reference", &reference),
            ("room", room),
            ("until", &instant(until)),
        ];
        put_map(out, &words, None, Some(position));
        let booking = Booking {
            room: room.to_owned(),
            arrival: nights.start,
            departure: nights.end,
            id: String::new(),
        };
        self.holds.insert(reference, Hold { booking, until });
    }

    /// Why there is no open hold.
    fn no_hold(&self, reference: &str) -> Option<&'static str> {
        match self.holds.get(reference) {
            Some(hold) if self.is_over(hold) => Some("hold_expired"),
            Some(_) => None,
            None if self.bookings.contains_key(reference) => Some("already_confirmed"),
            None => Some("ended"),
        }
    }

    fn extend(&mut self, reference: &str, seconds: &str, position: u64, out: &mut Vec<u8>) {
        if let Some(reason) = self.no_hold(reference) {
            let words = [("outcome", "refused"), ("reason", reason)];
            return put_map(out, &words, None, Some(position));
        }
        let until = self.now() + 1_000 * seconds.parse::<u64>().unwrap();
        let words = [("outcome", "done"), ("until", &instant(until))];
        put_map(out, &words, None, Some(position));
        if self.wrong != Wrong::ExtendsNothing {
            self.holds.get_mut(reference).unwrap().until = until;
        }
    }

    fn confirm(&mut self, reference: &str, id: &str, position: u64, out: &mut Vec<u8>) {
        let mut reason = self.no_hold(reference);
        let late = reason == Some("hold_expired");
        if late {
            let booking = &self.holds[reference].booking;
            let nights = booking.arrival..booking.departure;
            let free = self.taken(&booking.room, nights).is_empty();
            if free || self.wrong == Wrong::ConfirmsBlindly {
                reason = None;
            }
        }
        if let Some(reason) = reason {
            let words = [("outcome", "refused"), ("reason", reason)];
            return put_map(out, &words, None, Some(position));
        }
        let mut booking = self.holds.remove(reference).unwrap().booking;
        put_count(out, b'%', 5);
        for word in [
            "outcome",
            "done",
            "reference",
            reference,
            "room",
            &booking.room,
            "late",
        ] {
            put_bulk(out, word.as_bytes());
        }
        out.extend_from_slice(if late { b"#t\r\n" } else { b"#f\r\n" });
        put_bulk(out, b"position");
        out.extend_from_slice(format!(":{position}\r\n").as_bytes());
        id.clone_into(&mut booking.id);
        self.booked += 1;
        if self.wrong != Wrong::ConfirmsNothing {
            self.bookings.insert(reference.to_owned(), booking);
        }
    }

    fn release(&mut self, reference: &str, position: u64, out: &mut Vec<u8>) {
        if let Some(reason) = self.no_hold(reference) {
            let words = [("outcome", "refused"), ("reason", reason)];
            return put_map(out, &words, None, Some(position));
        }
        put_map(out, &[("outcome", "done")], None, Some(position));
        if self.wrong != Wrong::ReleasesNothing {
            self.holds.remove(reference);
        }
    }

    fn cancel(&mut self, often: bool, reference: &str, id: &str, position: u64, out: &mut Vec<u8>) {
        let told = (self.wrong != Wrong::NoPosition).then_some(position);
        let refused = |reason| [("outcome", "refused"), ("reason", reason)];
        let Some(booking) = self.bookings.get(reference).cloned() else {
            return put_map(out, &refused("ended"), None, told);
        };
        if booking.id != id && self.wrong != Wrong::CancelsForAll {
            return put_map(out, &refused("wrong_guest"), None, told);
        }
        let words = [
            ("outcome", "done"),
            ("room", &booking.room),
            ("arrival", &date(booking.arrival)),
            ("departure", &date(booking.departure)),
        ];
        put_map(out, &words, None, Some(position));
        if !(often && self.wrong == Wrong::CancelIgnored) {
            self.bookings.remove(reference);
            self.cancelled += 1;
        }
    }

    fn info(&self) -> String {
        let ahead = u64::from(self.wrong == Wrong::CountsOneMore && self.booked > 5);
        format!(
            "# Server\r\nwaiting_room_rate:{}\r\nturnstile_version:0.1.0\r\ndurability:memory\r\nrooms_backend:embedded\r\nposition:{}\r\n\
             rooms_booked_total:{}\r\nrooms_cancelled_total:{}\r\nrooms_bookings:{}\r\n",
            self.line.as_ref().map_or(0, Line::rate),
            self.position,
            self.booked + ahead,
            self.cancelled,
            self.bookings.len()
        )
    }
}

/// An instant of the inn's one day.
fn instant(ms: u64) -> String {
    let (seconds, rest) = (ms / 1_000, ms % 1_000);
    let (hours, minutes) = (seconds / 3_600, seconds / 60 % 60);
    format!(
        "2027-01-01T{hours:02}:{minutes:02}:{:02}.{rest:03}Z",
        seconds % 60
    )
}

fn explain(
    bookings: &Bookings,
    holds: &BTreeMap<String, Hold>,
    room: &str,
    (from, to): (u32, u32),
    out: &mut Vec<u8>,
) {
    let of_room = |booking: &Booking| {
        booking.room == room && booking.arrival < to && from < booking.departure
    };
    let bookings = bookings.iter().map(|(name, one)| (name, one, None));
    let holds = holds.iter();
    let holds = holds.map(|(name, one)| (name, &one.booking, Some(instant(one.until))));
    let blocks = bookings.chain(holds).filter(|(_, one, _)| of_room(one));
    let blocks: Vec<_> = blocks.collect();
    put_count(out, b'%', 1);
    put_bulk(out, b"blocks");
    put_count(out, b'*', blocks.len());
    for (reference, booking, until) in blocks {
        let (arrival, departure) = (date(booking.arrival), date(booking.departure));
        let mut words = vec![
            ("kind", if until.is_some() { "hold" } else { "booking" }),
            ("room", room),
            ("reference", reference),
            ("arrival", &arrival),
            ("departure", &departure),
        ];
        words.extend(until.as_deref().map(|until| ("until", until)));
        put_map(out, &words, None, None);
    }
}

/// A map of words, perhaps nights, and perhaps the position.
fn put_map(
    out: &mut Vec<u8>,
    words: &[(&str, &str)],
    nights: Option<&[String]>,
    position: Option<u64>,
) {
    let more = usize::from(nights.is_some()) + usize::from(position.is_some());
    put_count(out, b'%', words.len() + more);
    for (name, word) in words {
        put_bulk(out, name.as_bytes());
        put_bulk(out, word.as_bytes());
    }
    if let Some(nights) = nights {
        put_bulk(out, b"nights");
        put_count(out, b'*', nights.len());
        for night in nights {
            put_bulk(out, night.as_bytes());
        }
    }
    if let Some(position) = position {
        put_bulk(out, b"position");
        out.extend_from_slice(format!(":{position}\r\n").as_bytes());
    }
}
