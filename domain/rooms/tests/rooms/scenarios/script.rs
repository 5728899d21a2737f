//! The words of a script, and how answers are written.

use std::fmt::Write as _;

use turnstile_rooms::{
    Answer, Block, Command, Cursor, Done, Entry, EntryState, EventKind, Nights, Outcome, Page,
    Query, Reference, Refusal, Rooms, Wish,
};
use turnstile_types::{Machine, Night, Principal, Stay, Timestamp};

use crate::scenery::{context, guest, id, name};

/// A machine and the time on it.
pub(crate) struct Stage {
    rooms: Rooms,
    position: u64,
    now: u64,
    principal: Principal,
}

fn date(text: &str) -> Night {
    Night::parse(text.as_bytes()).unwrap()
}

/// `2027-05-01..2027-05-03`
fn stay(text: &str) -> Stay {
    let (arrival, departure) = text.split_once("..").unwrap();
    Stay::new(date(arrival), date(departure)).unwrap()
}

fn reference(text: &str) -> Reference {
    Reference::parse(text.as_bytes()).unwrap()
}

/// `any`, `type:NAME`, or a room.
fn wish(text: &str) -> Wish {
    match text.strip_prefix("type:") {
        Some(room_type) => Wish::Type(name(room_type)),
        None if text == "any" => Wish::Any,
        None => Wish::Room(name(text)),
    }
}

/// `5ms`, `5s`, `5m`, `5h`
fn ms(text: &str) -> u64 {
    let end = text.find(|letter: char| !letter.is_ascii_digit()).unwrap();
    let (number, unit) = text.split_at(end);
    let unit = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        other => panic!("no unit of time: {other}"),
    };
    number.parse::<u64>().unwrap() * unit
}

fn ttl(text: &str) -> u32 {
    ms(text).try_into().unwrap()
}

fn digits(text: &str) -> u16 {
    text.parse().unwrap()
}

impl Stage {
    pub(crate) fn new() -> Self {
        Self {
            rooms: Rooms::empty(),
            position: 0,
            // 2027-01-01T00:00:00Z
            now: 1_798_761_600_000,
            principal: Principal::local(),
        }
    }

    /// Plays one line and returns the lines of the answer.
    pub(crate) fn play(&mut self, line: &str) -> String {
        let words: Vec<&str> = line.split_whitespace().collect();
        let answer = match words.as_slice() {
            ["as", caller] => {
                self.principal = Principal(name(caller));
                String::new()
            }
            ["after", time] => {
                self.now += ms(time);
                String::new()
            }
            ["tick"] => {
                self.position += 1;
                let context = context(self.position, self.now, &self.principal);
                self.rooms.tick(&context);
                String::new()
            }
            ["deadline"] => match self.rooms.next_deadline() {
                None => "none\n".into(),
                Some(deadline) => format!("{deadline}\n"),
            },
            ["events"] => self.events(),
            [verb, "?", rest @ ..] => self.ask(verb, rest),
            words => self.apply(words),
        };
        assert_eq!(self.rooms.check(), Ok(()), "after {line}");
        answer
    }

    fn apply(&mut self, words: &[&str]) -> String {
        let guests_name = words.last().map(|word| word.replace('_', " "));
        let command = match *words {
            ["property", property] => Command::AddProperty {
                property: name(property),
                open: false,
            },
            ["property", property, "open"] => Command::AddProperty {
                property: name(property),
                open: true,
            },
            ["room", property, room, room_type] => Command::AddRoom {
                property: name(property),
                room: name(room),
                room_type: name(room_type),
            },
            ["withdraw", property, room] => Command::WithdrawRoom {
                property: name(property),
                room: name(room),
            },
            [verb @ ("stop" | "resume"), property, room, nights] => Command::StopSell {
                property: name(property),
                room: name(room),
                stay: stay(nights),
                stopped: verb == "stop",
            },
            ["book", property, wanted, nights, number, _] => Command::Book {
                property: name(property),
                wish: wish(wanted),
                stay: stay(nights),
                guest: guest(guests_name.as_ref().unwrap()),
                id: id(digits(number)),
            },
            ["hold", property, wanted, nights, time] => Command::Hold {
                property: name(property),
                wish: wish(wanted),
                stay: stay(nights),
                ttl_ms: ttl(time),
            },
            ["extend", hold, time] => Command::Extend {
                hold: reference(hold),
                ttl_ms: ttl(time),
            },
            ["confirm", hold, number, _] => Command::Confirm {
                hold: reference(hold),
                guest: guest(guests_name.as_ref().unwrap()),
                id: id(digits(number)),
            },
            ["release", hold] => Command::Release {
                hold: reference(hold),
            },
            ["cancel", booking, number] => Command::Cancel {
                booking: reference(booking),
                id: id(digits(number)),
            },
            _ => panic!("no such command: {words:?}"),
        };
        self.position += 1;
        let context = context(self.position, self.now, &self.principal);
        match self.rooms.apply(&context, &command) {
            Outcome::Done(done) => done_line(&done),
            Outcome::Refused(refusal) => refusal_line(&refusal),
        }
    }

    fn events(&mut self) -> String {
        let mut lines = String::new();
        self.rooms.drain_events(&mut |event| {
            let kind: EventKind = event.kind;
            let words = [
                Some(format!("{}.{}", event.position, event.ordinal)),
                Some(kind.code().into()),
                Some(event.property.to_string()),
                event.room.map(|room| room.to_string()),
                event.reference.map(|reference| reference.to_string()),
                event.stay.map(|stay| stay.to_string()),
            ];
            let words: Vec<String> = words.into_iter().flatten().collect();
            writeln!(lines, "{}", words.join(" ")).unwrap();
        });
        lines
    }

    fn ask(&self, verb: &str, words: &[&str]) -> String {
        let cursor = |text: &str| (text != "-").then(|| Cursor(text.parse().unwrap()));
        let query = match (verb, words) {
            ("look", [entry]) => Query::LookUp {
                reference: reference(entry),
            },
            ("list", [property, room, nights, from, limit]) => {
                let (first, end) = nights.split_once("..").unwrap();
                Query::List {
                    property: name(property),
                    room: (*room != "*").then(|| name(room)),
                    from: date(first),
                    to: date(end),
                    cursor: cursor(from),
                    limit: digits(limit),
                }
            }
            ("guest", [number, from, limit]) => Query::Guest {
                id: id(digits(number)),
                cursor: cursor(from),
                limit: digits(limit),
            },
            ("holds", [from, limit]) => Query::Holds {
                cursor: cursor(from),
                limit: digits(limit),
            },
            ("free", [property, room_type, nights]) => Query::Availability {
                property: name(property),
                room_type: (*room_type != "*").then(|| name(room_type)),
                stay: stay(nights),
            },
            ("explain", [property, wanted, nights]) => Query::Explain {
                property: name(property),
                wish: wish(wanted),
                stay: stay(nights),
            },
            ("properties", [from, limit]) => Query::Properties {
                cursor: cursor(from),
                limit: digits(limit),
            },
            ("totals", []) => Query::Totals,
            _ => panic!("no such question: {verb} {words:?}"),
        };
        answer_lines(
            &self
                .rooms
                .query(Timestamp(self.now), &self.principal, &query),
        )
    }
}

fn done_line(done: &Done) -> String {
    match done {
        Done::PropertyAdded => "property added\n".into(),
        Done::RoomAdded => "room added\n".into(),
        Done::RoomWithdrawn => "room withdrawn\n".into(),
        Done::SaleStopped => "sale stopped\n".into(),
        Done::SaleResumed => "sale resumed\n".into(),
        Done::Booked { reference, room } => format!("booked {reference} room {room}\n"),
        Done::Held {
            reference,
            room,
            until,
        } => format!("held {reference} room {room} until {until}\n"),
        Done::Extended { until } => format!("extended until {until}\n"),
        Done::Confirmed {
            reference,
            room,
            late,
        } => {
            let late = if *late { " late" } else { "" };
            format!("confirmed {reference} room {room}{late}\n")
        }
        Done::Released => "released\n".into(),
        Done::Cancelled { room, stay } => format!("cancelled room {room} {stay}\n"),
    }
}

fn refusal_line(refusal: &Refusal) -> String {
    let data = match refusal {
        Refusal::SoldOut { nights } | Refusal::StopSell { nights } => dates(*nights),
        Refusal::RoomInUse { night } => format!(" {night}"),
        Refusal::TooManyRooms { limit } | Refusal::TooManyHolds { limit } => format!(" {limit}"),
        Refusal::HoldTooLong { ttl_ms_max } => format!(" {ttl_ms_max} ms"),
        Refusal::HoldCeiling { until_max } => format!(" {until_max}"),
        _ => String::new(),
    };
    format!("refused {}{data}\n", refusal.code())
}

fn dates(nights: Nights) -> String {
    nights.iter().fold(String::new(), |mut text, night| {
        write!(text, " {night}").unwrap();
        text
    })
}

fn answer_lines(answer: &Answer) -> String {
    let mut lines = String::new();
    match answer {
        Answer::Entry(entry) => lines.push_str(&entry_line(entry)),
        Answer::Page(Page { entries, next }) => {
            entries
                .iter()
                .for_each(|entry| lines.push_str(&entry_line(entry)));
            lines.push_str(&next_line(*next));
        }
        Answer::Availability(types) => {
            for free in types {
                let (kind, rooms) = (free.room_type, free.rooms);
                let (nights, all) = (&free.free, free.free_throughout);
                writeln!(
                    lines,
                    "{kind}: {rooms} rooms, free {nights:?}, throughout {all}"
                )
                .unwrap();
            }
        }
        Answer::Explanation(explanation) => {
            match explanation.would_get {
                Some(room) => writeln!(lines, "would get room {room}").unwrap(),
                None => lines.push_str("would get no room\n"),
            }
            explanation
                .blocks
                .iter()
                .for_each(|block| lines.push_str(&block_line(block)));
        }
        Answer::Properties { properties, next } => {
            for summary in properties {
                let open = if summary.open { " open" } else { "" };
                writeln!(lines, "{}{open} {} rooms", summary.property, summary.rooms).unwrap();
            }
            lines.push_str(&next_line(*next));
        }
        Answer::Totals(totals) => {
            writeln!(
                lines,
                "bookings {} holds {} properties {} rooms {}",
                totals.bookings, totals.holds, totals.properties, totals.rooms
            )
            .unwrap();
            writeln!(
                lines,
                "ever: booked {} cancelled {} held {} expired {}",
                totals.booked_total,
                totals.cancelled_total,
                totals.held_total,
                totals.expired_total
            )
            .unwrap();
        }
        Answer::Refused(refusal) => lines.push_str(&refusal_line(refusal)),
    }
    lines
}

fn next_line(next: Option<Cursor>) -> String {
    next.map_or_else(|| "end\n".into(), |Cursor(next)| format!("next {next}\n"))
}

fn entry_line(entry: &Entry) -> String {
    let state = match entry.state {
        EntryState::Booked => "booked".into(),
        EntryState::Held { until } => format!("held until {until}"),
        EntryState::Expired { at } => format!("expired at {at}"),
    };
    let guest = match (&entry.guest, &entry.id) {
        (Some(guest), Some(id)) => format!(" for {guest} {}", id.masked()),
        (None, None) => String::new(),
        other => panic!("half a guest: {other:?}"),
    };
    format!(
        "{} {} {} {} {state}{guest} by {} since {} at {}\n",
        entry.reference,
        entry.property,
        entry.room,
        entry.stay,
        entry.principal,
        entry.since,
        entry.position
    )
}

fn block_line(block: &Block) -> String {
    match block {
        Block::Booking {
            room,
            reference,
            stay,
        } => format!("room {room} booked {reference} {stay}\n"),
        Block::Hold {
            room,
            reference,
            stay,
            until,
        } => format!("room {room} held {reference} {stay} until {until}\n"),
        Block::StopSell { room, nights } => format!("room {room} stopped{}\n", dates(*nights)),
    }
}
