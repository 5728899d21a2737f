//! The words of a script, and how answers are written.

use std::fmt::Write as _;

use turnstile_rooms::{
    Answer, Block, Command, Cursor, Done, Entry, EntryState, Event, FormerPlace, Nights, Outcome,
    Page, Query, Reference, Refusal, RoomInSale, Rooms, StoppedRoom, Wish,
};
use turnstile_trial::{Stage, Words, ms};
use turnstile_types::{Night, Stay};

use crate::scenery::{guest, id, name, reason};

pub(crate) const WORDS: Words<Rooms> = Words { apply, ask, event };

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

fn ttl(text: &str) -> u32 {
    ms(text).try_into().unwrap()
}

fn digits(text: &str) -> u16 {
    text.parse().unwrap()
}

fn apply(stage: &mut Stage<Rooms>, words: &[&str]) -> String {
    let last_words = words.last().map(|word| word.replace('_', " "));
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
            guest: guest(last_words.as_ref().unwrap()),
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
            guest: guest(last_words.as_ref().unwrap()),
            id: id(digits(number)),
        },
        ["release", hold] => Command::Release {
            hold: reference(hold),
        },
        ["cancel", booking, number] => Command::Cancel {
            booking: reference(booking),
            id: id(digits(number)),
        },
        ["cancel_for_guest", booking, _] => Command::CancelForGuest {
            booking: reference(booking),
            reason: reason(last_words.as_ref().unwrap()),
        },
        ["move", booking, wanted, nights, number] => Command::Move {
            booking: reference(booking),
            wish: wish(wanted),
            stay: stay(nights),
            id: id(digits(number)),
        },
        _ => panic!("no such command: {words:?}"),
    };
    match stage.apply(&command) {
        Outcome::Done(done) => done_line(&done),
        Outcome::Refused(refusal) => refusal_line(&refusal),
    }
}

fn event(event: &Event) -> String {
    let words = [
        Some(format!("{}.{}", event.position, event.ordinal)),
        Some(event.kind.code().into()),
        Some(event.property.to_string()),
        event.room.map(|room| room.to_string()),
        event.reference.map(|reference| reference.to_string()),
        event.stay.map(|stay| stay.to_string()),
        event.reason.as_ref().map(|reason| format!("({reason})")),
        event
            .from
            .map(|FormerPlace { room, stay }| format!("from room {room} {stay}")),
    ];
    let words: Vec<String> = words.into_iter().flatten().collect();
    format!("{}\n", words.join(" "))
}

fn ask(stage: &Stage<Rooms>, verb: &str, words: &[&str]) -> String {
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
        ("rooms", [property, from, limit]) => Query::ListRooms {
            property: name(property),
            cursor: cursor(from),
            limit: digits(limit),
        },
        ("stops", [property, nights, from, limit]) => Query::ListStopSells {
            property: name(property),
            stay: stay(nights),
            cursor: cursor(from),
            limit: digits(limit),
        },
        _ => panic!("no such question: {verb} {words:?}"),
    };
    answer_lines(&stage.query(&query))
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
        Done::Moved { room, from } => {
            format!(
                "moved to room {room} from room {} {}\n",
                from.room, from.stay
            )
        }
    }
}

fn refusal_line(refusal: &Refusal) -> String {
    let data = match refusal {
        Refusal::SoldOut { nights } | Refusal::StopSell { nights } => dates(*nights),
        Refusal::RoomInUse { night } => format!(" {night}"),
        Refusal::TooManyRooms { limit }
        | Refusal::TooManyHolds { limit }
        | Refusal::Full { limit } => format!(" {limit}"),
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
        Answer::Rooms { rooms, next } => {
            for RoomInSale { room, room_type } in rooms {
                writeln!(lines, "{room}: {room_type}").unwrap();
            }
            lines.push_str(&next_line(*next));
        }
        Answer::StopSells { stop_sells, next } => {
            stop_sells
                .iter()
                .for_each(|stopped| lines.push_str(&stopped_line(stopped)));
            lines.push_str(&next_line(*next));
        }
        Answer::Refused(refusal) => lines.push_str(&refusal_line(refusal)),
    }
    lines
}

fn stopped_line(StoppedRoom { room, nights }: &StoppedRoom) -> String {
    let nights: Vec<String> = nights.iter().map(|night| night.to_string()).collect();
    format!("{room}: stopped {}\n", nights.join(" "))
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
