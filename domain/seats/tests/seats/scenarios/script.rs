//! The words of a script, and how answers are written.

use std::fmt::Write as _;

use turnstile_seats::{
    Answer, BookingNumber, Command, Cursor, Done, Entry, Event, Outcome, Query, Refusal,
    SeatEntryState, Seats,
};
use turnstile_trial::{Stage, Words, ms};
use turnstile_types::Timestamp;

use crate::scenery::{choice, name, up_to};

pub(crate) const WORDS: Words<Seats> = Words { apply, ask, event };

fn reference(text: &str) -> BookingNumber {
    BookingNumber::parse(text.as_bytes()).unwrap()
}

fn digits(text: &str) -> u16 {
    text.parse().unwrap()
}

fn apply(stage: &mut Stage<Seats>, words: &[&str]) -> String {
    let command = match *words {
        ["show", show, begins] => Command::AddShow {
            show: name(show),
            begins: Timestamp::parse(begins.as_bytes()).unwrap(),
        },
        ["section", show, section, rows, row_seats] => Command::AddSection {
            show: name(show),
            section: name(section),
            rows: up_to(digits(rows)),
            row_seats: up_to(digits(row_seats)),
        },
        [verb @ ("close" | "open"), show] => Command::CloseSale {
            show: name(show),
            closed: verb == "close",
        },
        ["book", show, section, seats, buyer] => Command::Book {
            show: name(show),
            section: name(section),
            seats: choice(seats),
            buyer: name(buyer),
        },
        ["hold", show, section, seats, time] => Command::Hold {
            show: name(show),
            section: name(section),
            seats: choice(seats),
            ttl_seconds: up_to(u16::try_from(ms(time) / 1_000).unwrap()),
        },
        ["confirm", hold, buyer] => Command::Confirm {
            hold: reference(hold),
            buyer: name(buyer),
        },
        ["release", hold] => Command::Release {
            hold: reference(hold),
        },
        ["cancel", booking, buyer] => Command::Cancel {
            booking: reference(booking),
            buyer: name(buyer),
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
        Some(event.show.to_string()),
        event.section.map(|section| section.to_string()),
        event.reference.map(|reference| reference.to_string()),
        event.seats.map(|seats| seats.to_string()),
    ];
    let words: Vec<String> = words.into_iter().flatten().collect();
    format!("{}\n", words.join(" "))
}

fn ask(stage: &Stage<Seats>, verb: &str, words: &[&str]) -> String {
    let cursor = |text: &str| (text != "-").then(|| Cursor(text.parse().unwrap()));
    let query = match (verb, words) {
        ("look", [entry]) => Query::LookUp {
            reference: reference(entry),
        },
        ("list", [show, from, limit]) => Query::List {
            show: name(show),
            cursor: cursor(from),
            limit: digits(limit),
        },
        ("free", [show, section]) => Query::Availability {
            show: name(show),
            section: (*section != "*").then(|| name(section)),
        },
        ("map", [show, section]) => Query::Map {
            show: name(show),
            section: name(section),
        },
        ("shows", [from, limit]) => Query::Shows {
            cursor: cursor(from),
            limit: digits(limit),
        },
        ("totals", []) => Query::Totals,
        _ => panic!("no such question: {verb} {words:?}"),
    };
    answer_lines(&stage.query(&query))
}

fn done_line(done: &Done) -> String {
    match done {
        Done::ShowAdded => "show added\n".into(),
        Done::SectionAdded => "section added\n".into(),
        Done::SaleClosed => "sale closed\n".into(),
        Done::SaleOpened => "sale opened\n".into(),
        Done::Booked { reference, seats } => format!("booked {reference} seats {seats}\n"),
        Done::Held {
            reference,
            seats,
            until,
        } => format!("held {reference} seats {seats} until {until}\n"),
        Done::Confirmed { reference, seats } => format!("confirmed {reference} seats {seats}\n"),
        Done::Released => "released\n".into(),
        Done::Cancelled { seats } => format!("cancelled seats {seats}\n"),
    }
}

fn refusal_line(refusal: &Refusal) -> String {
    let data = match refusal {
        Refusal::UnknownSeat { seat } => format!(" {seat}"),
        Refusal::Taken { seats } => format!(" {seats}"),
        Refusal::NotAdjacent { free } => format!(" {free} free"),
        Refusal::Begun { begins } => format!(" {begins}"),
        _ => String::new(),
    };
    format!("refused {}{data}\n", refusal.code())
}

fn answer_lines(answer: &Answer) -> String {
    let mut lines = String::new();
    match answer {
        Answer::Entry(entry) => lines.push_str(&entry_line(entry)),
        Answer::Page { entries, next } => {
            entries
                .iter()
                .for_each(|entry| lines.push_str(&entry_line(entry)));
            lines.push_str(&next_line(*next));
        }
        Answer::Availability(sections) => {
            for one in sections {
                let (section, rows, row_seats) = (one.section, one.rows, one.row_seats);
                let (free, adjacent) = (one.free, one.adjacent);
                writeln!(
                    lines,
                    "{section}: {rows} rows of {row_seats}, {free} free, {adjacent} adjacent"
                )
                .unwrap();
            }
        }
        Answer::Map(rows) => {
            for row in rows {
                writeln!(lines, "{} {} {} free", row.row, row.seats, row.free).unwrap();
            }
        }
        Answer::Shows { shows, next } => {
            for one in shows {
                let closed = if one.closed { " closed" } else { "" };
                writeln!(
                    lines,
                    "{}{closed} {} sections {} seats {} free",
                    one.show, one.sections, one.seats, one.free
                )
                .unwrap();
            }
            lines.push_str(&next_line(*next));
        }
        Answer::Totals(totals) => writeln!(lines, "{totals:?}").unwrap(),
        Answer::Refused(refusal) => lines.push_str(&refusal_line(refusal)),
    }
    lines
}

fn next_line(next: Option<Cursor>) -> String {
    next.map_or_else(|| "end\n".into(), |Cursor(next)| format!("next {next}\n"))
}

fn entry_line(entry: &Entry) -> String {
    let state = match entry.state {
        SeatEntryState::Booked { buyer } => format!("booked for {buyer}"),
        SeatEntryState::Held { until } => format!("held until {until}"),
    };
    format!(
        "{} {} {} {} {state} by {} since {} at {}\n",
        entry.reference,
        entry.show,
        entry.section,
        entry.seats,
        entry.principal,
        entry.since,
        entry.position
    )
}
