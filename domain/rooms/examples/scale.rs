//! What a booking costs when many stand: `scale open|hotels BOOKINGS [plain]`.
//!
//! Fills a machine, then cancels and books again at random places, sixteen commands in a pipeline
//! as a server has them, and prints nanoseconds of CPU for each. `open` has one room for each
//! booking in one open property; `hotels` has properties of 100 rooms with ten bookings each.
//! `plain` leaves the prefetching out.

use std::hint::black_box;

use turnstile_rooms::{Command, Done, GuestId, GuestName, Outcome, Query, Reference, Rooms, Wish};
use turnstile_types::{Context, Machine, Name, Night, Position, Principal, Stay, Timestamp};

/// Commands that a server finds waiting at once.
const PIPELINE: usize = 16;

/// Commands that are made before the clock runs.
const BATCH: usize = 1_024;

const ROUNDS: usize = 400;

/// The place of one booking.
#[derive(Clone, Copy)]
struct StandingBooking {
    property: Name,
    room: Name,
    stay: Stay,
    id: GuestId,
}

type Layout = fn(u64) -> StandingBooking;

fn name(text: &str) -> Name {
    Name::parse(text.as_bytes()).expect("the names here are names")
}

fn stay(arrival: u64, nights: u16) -> Stay {
    let arrival = Night::from_days(u16::try_from(arrival).expect("a day within the calendar"));
    let departure = arrival.checked_add(nights).expect("within the calendar");
    Stay::new(arrival, departure).expect("a stay of a few nights")
}

fn id(number: u64) -> GuestId {
    GuestId {
        seal: scrambled(number),
        last_four: 1_234,
    }
}

fn open(number: u64) -> StandingBooking {
    StandingBooking {
        property: name("bench"),
        room: name(&format!(
            "room:{:012}",
            number * 618_033_988_751 % 1_000_000_000_000
        )),
        stay: stay(20_820, 1),
        id: id(number),
    }
}

fn hotels(number: u64) -> StandingBooking {
    let (property, place) = (number / 1_000, number % 1_000);
    StandingBooking {
        property: name(&format!("hotel-{property}")),
        room: name(&(place / 10 + 101).to_string()),
        stay: stay(20_820 + place % 10 * 40, 3),
        id: id(number),
    }
}

/// A bijection of 64 bits that looks random (`splitmix64`, G. Steele and others, 2014).
const fn scrambled(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Nanoseconds that this thread has run.
fn cpu_ns() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    let (seconds, ns) = (u64::try_from(time.tv_sec), u64::try_from(time.tv_nsec));
    seconds.expect("not negative") * 1_000_000_000 + ns.expect("not negative")
}

fn resident_mib() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").expect("Linux counts memory");
    let pages = text
        .split(' ')
        .nth(1)
        .expect("the second number is resident pages");
    pages.parse::<u64>().expect("a number") * 4 / 1_024
}

struct Bench {
    rooms: Rooms,
    position: u64,
    principal: Principal,
    prefetch: bool,
}

impl Bench {
    fn apply(&mut self, command: &Command<'_>) -> Outcome {
        self.position += 1;
        let context = Context {
            position: Position(self.position),
            now: Timestamp(1_000),
            principal: &self.principal,
        };
        self.rooms.apply(&context, command)
    }

    /// Applies commands in pipelines, and returns the outcomes and the CPU time.
    fn run(&mut self, commands: &[Command<'_>]) -> (Vec<Outcome>, u64) {
        let mut outcomes = Vec::with_capacity(commands.len());
        let start = cpu_ns();
        for pipeline in commands.chunks(PIPELINE) {
            if self.prefetch {
                for command in pipeline {
                    self.rooms.prefetch(command);
                }
            }
            for command in pipeline {
                outcomes.push(self.apply(command));
            }
            self.rooms.drain_events(&mut |event| {
                black_box(event);
            });
        }
        (outcomes, cpu_ns() - start)
    }
}

fn book(spot: StandingBooking) -> Command<'static> {
    Command::Book {
        property: spot.property,
        wish: Wish::Room(spot.room),
        stay: spot.stay,
        guest: GuestName::parse(b"Ada Lovelace").expect("a name"),
        id: spot.id,
    }
}

fn reference_in(outcome: &Outcome) -> Reference {
    match outcome {
        Outcome::Done(Done::Booked { reference, .. }) => *reference,
        other => panic!("a free room was not booked: {other:?}"),
    }
}

fn fill(bench: &mut Bench, bookings: u64, layout: Layout) -> (Vec<Reference>, u64) {
    let mut references = Vec::new();
    let mut total = 0;
    let mut next = 0;
    while next < bookings {
        let end = (next + BATCH as u64).min(bookings);
        let commands: Vec<_> = (next..end).map(|number| book(layout(number))).collect();
        let (outcomes, ns) = bench.run(&commands);
        references.extend(outcomes.iter().map(reference_in));
        total += ns;
        next = end;
    }
    (references, total / bookings)
}

/// Opens the properties, with their rooms.
fn furnish(bench: &mut Bench, layout: &str, bookings: u64) -> Layout {
    if layout == "open" {
        let property = name("bench");
        bench.apply(&Command::AddProperty {
            property,
            open: true,
        });
        return open;
    }
    for hotel in 0..bookings.div_ceil(1_000) {
        let property = hotels(hotel * 1_000).property;
        bench.apply(&Command::AddProperty {
            property,
            open: false,
        });
        for room in 101..=200 {
            bench.apply(&Command::AddRoom {
                property,
                room: name(&room.to_string()),
                room_type: name("double"),
            });
        }
        bench.rooms.drain_events(&mut |event| {
            black_box(event);
        });
    }
    hotels
}

/// Cancels and books again at random places, and returns the CPU time of a booking and of a
/// cancellation.
fn churn(bench: &mut Bench, references: &mut [Reference], layout_of: Layout) -> (u64, u64) {
    let bookings = references.len() as u64;
    let (mut book_ns, mut cancel_ns) = (0, 0);
    for round in 0..ROUNDS as u64 {
        let mut chosen: Vec<u64> = (0..BATCH as u64)
            .map(|turn| scrambled(round << 32 | turn) % bookings)
            .collect();
        chosen.sort_unstable();
        chosen.dedup();
        chosen.sort_unstable_by_key(|&number| scrambled(number ^ round));
        let place = |number: u64| usize::try_from(number).expect("an index");
        let cancels: Vec<_> = chosen
            .iter()
            .map(|&number| Command::Cancel {
                booking: references[place(number)],
                id: layout_of(number).id,
            })
            .collect();
        let books: Vec<_> = chosen
            .iter()
            .map(|&number| book(layout_of(number)))
            .collect();
        cancel_ns += bench.run(&cancels).1 / chosen.len() as u64;
        let (outcomes, ns) = bench.run(&books);
        book_ns += ns / chosen.len() as u64;
        for (&number, outcome) in chosen.iter().zip(&outcomes) {
            references[place(number)] = reference_in(outcome);
        }
    }
    (book_ns / ROUNDS as u64, cancel_ns / ROUNDS as u64)
}

#[expect(clippy::print_stdout, reason = "an example prints its result")]
fn main() {
    let words: Vec<String> = std::env::args().collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let (layout, bookings, prefetch) = match words.as_slice() {
        [_, layout, bookings, rest @ ..] => (*layout, *bookings, rest.is_empty()),
        _ => panic!("scale open|hotels BOOKINGS [plain]"),
    };
    let bookings: u64 = bookings.parse().expect("a number of bookings");
    let mut bench = Bench {
        rooms: Rooms::empty(),
        position: 0,
        principal: Principal::local(),
        prefetch,
    };
    let before = resident_mib();
    let layout_of = furnish(&mut bench, layout, bookings);
    let (mut references, first_ns) = fill(&mut bench, bookings, layout_of);
    let references_mib = bookings * 8 / 1_048_576;
    let resident = resident_mib() - before - references_mib;

    let (book_ns, cancel_ns) = churn(&mut bench, &mut references, layout_of);
    println!(
        "{layout} {bookings} prefetch {prefetch}: first booking {first_ns} ns, book {} ns, cancel \
         {} ns, resident {resident} MiB = {} bytes a booking",
        book_ns,
        cancel_ns,
        resident * 1_048_576 / bookings,
    );
    aside(&mut bench, layout_of(0));
}

/// What else grows with size: any room, a page of a listing, availability, the snapshot.
#[expect(clippy::print_stdout, reason = "an example prints its result")]
fn aside(bench: &mut Bench, spot: StandingBooking) {
    let any = Command::Book {
        property: spot.property,
        wish: Wish::Any,
        stay: spot.stay,
        guest: GuestName::parse(b"Ada").expect("a name"),
        id: spot.id,
    };
    let start = cpu_ns();
    let outcome = bench.apply(&any);
    let any_ns = cpu_ns() - start;
    black_box(outcome);
    let start = cpu_ns();
    black_box(bench.rooms.query(
        Timestamp(1_000),
        &bench.principal,
        &Query::List {
            property: spot.property,
            room: None,
            from: Night::from_days(0),
            to: Night::from_days(u16::MAX),
            cursor: None,
            limit: 100,
        },
    ));
    let list_ns = cpu_ns() - start;
    let start = cpu_ns();
    black_box(bench.rooms.query(
        Timestamp(1_000),
        &bench.principal,
        &Query::Availability {
            property: spot.property,
            room_type: None,
            stay: spot.stay,
        },
    ));
    let free_us = (cpu_ns() - start) / 1_000;
    let start = cpu_ns();
    let mut bytes = Vec::new();
    bench.rooms.snapshot(&mut bytes);
    let snapshot_ms = (cpu_ns() - start) / 1_000_000;
    let start = cpu_ns();
    let restored = Rooms::restore(&bytes);
    let restore_ms = (cpu_ns() - start) / 1_000_000;
    println!(
        "  any room {any_ns} ns, a page of 100 {list_ns} ns, availability {free_us} us, snapshot {snapshot_ms} ms and {} \
         MiB, restore {restore_ms} ms ({})",
        bytes.len() / 1_048_576,
        if restored.is_ok() { "sound" } else { "refused" },
    );
}
