//! The seats workload and its proof, against the real machine with one fault.

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use turnstile_load::{
    LoadReport,
    pace::Pace,
    seats::{self, Proof},
};
use turnstile_resp::{Arguments, Encoder, Request, Spoken as _, catalogue::Action};
use turnstile_rooms::{Door, IdKey};
use turnstile_services::seats::{
    Answer, BookingNumber, Choice, Command, Done, Entry, Outcome, Query, SeatEntryState,
    SeatNumber, SeatNumbers, Seats, UpTo,
};
use turnstile_types::{Context, Machine as _, Name, Position, Principal, Timestamp};

use crate::loopback::{Clerk, listen, serve_resp};

/// What is wrong with a box office.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    None,
    /// Every tenth booking is acknowledged and undone.
    BookingLost,
    /// Every tenth cancellation is acknowledged and not done.
    CancelIgnored,
    /// Every tenth booking is acknowledged with the seats of the one before.
    SoldTwice,
    /// Every tenth booking is acknowledged with the reference of the one before.
    ReferenceTwice,
    /// The listing shows the seats of the first booking for the second, too.
    ListedTwice,
    /// A free seat too many is counted in the first section.
    CountsOneMore,
    /// Every fiftieth command is carried out, but the connection is closed instead of an answer.
    Closes,
    /// Every tenth command of those without a key is carried out, and answered that nobody knows that.
    Unknown,
    /// As `Closes`, and what was done under a key is done again.
    ForgetsKeys,
    /// Every tenth cancellation is done for whoever asks for it.
    CancelsForAll,
    /// Every tenth hold is acknowledged and given back at once.
    EndsEarly,
    /// Holds stand a hundred times as long as they are said to.
    NeverEnds,
    /// Every tenth confirmation is acknowledged and not done.
    ConfirmsNothing,
    /// Every tenth release is acknowledged and not done.
    ReleasesNothing,
    /// As `ReleasesNothing`, and every time.
    NeverReleases,
    /// The sale goes on when it is closed.
    SellsWhenClosed,
    /// The best seats are the last that are free.
    BestIsLast,
    /// Every tenth answer has a position before those of the last twenty.
    Reorders,
    /// Maps show what was there some looks ago.
    ReadsStale,
    /// A booking too many is counted.
    BooksOneMore,
}

/// The clock of a box office runs so many times as fast, that holds end while a test runs.
const HASTE: u64 = 20;

pub(crate) struct BoxOffice {
    fault: Fault,
    machine: Seats,
    commands: u64,
    begun: Instant,
    /// The last booking that was acknowledged as it is.
    last: Option<Done>,
    /// What was first answered under each key.
    keys: BTreeMap<String, (Outcome, Position)>,
    looks: u64,
    shown: BTreeMap<Name, Answer>,
}

impl BoxOffice {
    pub(crate) fn open(fault: Fault) -> SocketAddr {
        let office = Self {
            fault,
            machine: Seats::empty(),
            commands: 0,
            begun: Instant::now(),
            last: None,
            keys: BTreeMap::new(),
            looks: 0,
            shown: BTreeMap::new(),
        };
        listen(&Arc::new(Mutex::new(office)), serve_resp)
    }

    fn now(&self) -> Timestamp {
        let since = u64::try_from(self.begun.elapsed().as_millis()).unwrap();
        Timestamp(since * HASTE)
    }

    fn apply(&mut self, command: &Command) -> Outcome {
        self.commands += 1;
        let context = Context {
            position: self.position(),
            now: self.now(),
            principal: &Principal::local(),
        };
        let outcome = self.machine.apply(&context, command);
        self.machine.drain_events(&mut drop);
        outcome
    }

    /// Those of commands are ten apart.
    const fn position(&self) -> Position {
        Position(self.commands * 10)
    }

    fn query(&self, query: &Query) -> Answer {
        let principal = Principal::local();
        self.machine.query(Timestamp(0), &principal, query)
    }

    /// What stands under this reference.
    fn entry(&self, reference: BookingNumber) -> Option<Entry> {
        match self.query(&Query::LookUp { reference }) {
            Answer::Entry(entry) => Some(*entry),
            _ => None,
        }
    }

    /// Decides a command, as it is, or as the fault says; every tenth is a `turn` for that.
    fn decide(&mut self, command: &Command) -> Outcome {
        let turn = self.commands % 10 == 9;
        let pretends = turn || self.fault == Fault::NeverReleases;
        if pretends && let Some(done) = self.pretend(command) {
            // It takes a position.
            self.commands += 1;
            return Outcome::Done(done);
        }
        match (self.fault, *command) {
            (Fault::CancelsForAll, Command::Cancel { booking, .. }) if turn => {
                let entry = self.entry(booking);
                let own = entry.and_then(|entry| match entry.state {
                    SeatEntryState::Booked { buyer } => Some(Command::Cancel { booking, buyer }),
                    SeatEntryState::Held { .. } => None,
                });
                self.apply(&own.unwrap_or(*command))
            }
            (Fault::NeverEnds, Command::Hold { ttl_seconds, .. }) => {
                self.hold_for_long(command, u64::from(ttl_seconds.get()))
            }
            (Fault::SellsWhenClosed, Command::CloseSale { show, .. }) => {
                self.apply(&Command::CloseSale {
                    show,
                    closed: false,
                });
                Outcome::Done(Done::SaleClosed)
            }
            (
                Fault::BestIsLast,
                Command::Book {
                    show,
                    section,
                    seats: Choice::Best(count),
                    buyer,
                },
            ) => {
                let last = self.last_free(show, section, count.get());
                let seats = last.map_or(Choice::Best(count), Choice::Named);
                self.apply(&Command::Book {
                    show,
                    section,
                    seats,
                    buyer,
                })
            }
            (_, command) => {
                let before = self.last;
                let outcome = self.apply(&command);
                if let Outcome::Done(done @ Done::Booked { .. }) = outcome {
                    self.last = Some(done);
                    if turn {
                        return Outcome::Done(self.spoil(&command, done, before));
                    }
                }
                outcome
            }
        }
    }

    /// What is acknowledged and not done.
    fn pretend(&self, command: &Command) -> Option<Done> {
        match (self.fault, *command) {
            (Fault::CancelIgnored, Command::Cancel { booking, buyer }) => {
                let entry = self.entry(booking)?;
                let is_own = entry.state == SeatEntryState::Booked { buyer };
                is_own.then_some(Done::Cancelled { seats: entry.seats })
            }
            (Fault::ConfirmsNothing, Command::Confirm { hold, .. }) => {
                let entry = self.entry(hold)?;
                let is_held = matches!(entry.state, SeatEntryState::Held { .. });
                is_held.then_some(Done::Confirmed {
                    reference: hold,
                    seats: entry.seats,
                })
            }
            (Fault::ReleasesNothing | Fault::NeverReleases, Command::Release { hold }) => {
                let entry = self.entry(hold)?;
                let is_held = matches!(entry.state, SeatEntryState::Held { .. });
                is_held.then_some(Done::Released)
            }
            _ => None,
        }
    }

    /// Does what the fault says to a booking that was made, and answers so.
    fn spoil(&mut self, command: &Command, done: Done, before: Option<Done>) -> Done {
        let (Command::Book { buyer, .. }, Done::Booked { reference, seats }) = (*command, done)
        else {
            panic!("a booking is answered to");
        };
        let (earlier, earlier_seats) = match before {
            Some(Done::Booked { reference, seats }) => (reference, seats),
            _ => (reference, seats),
        };
        match self.fault {
            Fault::BookingLost => {
                let booking = reference;
                self.apply(&Command::Cancel { booking, buyer });
                done
            }
            Fault::SoldTwice => Done::Booked {
                reference,
                seats: earlier_seats,
            },
            Fault::ReferenceTwice => Done::Booked {
                reference: earlier,
                seats,
            },
            _ => done,
        }
    }

    /// Holds seats, and says that it is for these seconds.
    fn hold_for_long(&mut self, command: &Command, seconds: u64) -> Outcome {
        let Command::Hold {
            show,
            section,
            seats,
            ..
        } = *command
        else {
            panic!("a hold was asked for");
        };
        let ttl_seconds = UpTo::new(u16::try_from(100 * seconds).unwrap()).unwrap();
        let mut outcome = self.apply(&Command::Hold {
            show,
            section,
            seats,
            ttl_seconds,
        });
        if let Outcome::Done(Done::Held { until, .. }) = &mut outcome {
            until.0 -= 99_000 * seconds;
        }
        outcome
    }

    /// The last seats of a section that are adjacent and free.
    fn last_free(&self, show: Name, section: Name, count: u16) -> Option<SeatNumbers> {
        let Answer::Map(rows) = self.query(&Query::Map { show, section }) else {
            return None;
        };
        let free = ".".repeat(usize::from(count));
        rows.iter().rev().find_map(|row| {
            let first = row.seats.rfind(&free)?;
            let first = u16::try_from(first + 1).unwrap();
            let numbers = first..first + count;
            let seats = numbers.map(|number| SeatNumber {
                row: row.row,
                number,
            });
            SeatNumbers::new(seats).ok()
        })
    }

    /// What was shown of a section before.
    fn stale(&mut self, query: &Query) -> Option<Answer> {
        let Query::Map { section, .. } = *query else {
            return None;
        };
        self.looks += 1;
        if self.looks.is_multiple_of(20) {
            let now = self.query(query);
            self.shown.insert(section, now);
        }
        let shown = self.shown.get(&section).cloned();
        shown.filter(|_shown| self.fault == Fault::ReadsStale)
    }

    fn falsify(&self, answer: &mut Answer) {
        match (self.fault, answer) {
            (Fault::ListedTwice, Answer::Page { entries, .. }) => {
                if let [first, second, ..] = &mut entries[..] {
                    (second.section, second.seats) = (first.section, first.seats);
                }
            }
            (Fault::CountsOneMore, Answer::Availability(sections)) => sections[0].free += 1,
            _ => {}
        }
    }

    /// Carries out a command with its key; none: the connection is closed instead of an answer.
    fn answer_command(
        &mut self,
        command: &Command,
        key: Option<String>,
        reply: &mut Encoder<'_>,
    ) -> Option<()> {
        let first = key.as_ref().and_then(|key| self.keys.get(key)).copied();
        if let Some((outcome, position)) = first.filter(|_| self.fault != Fault::ForgetsKeys) {
            Seats::put_outcome(reply, &outcome, position, true);
            return Some(());
        }
        let outcome = self.decide(command);
        let often = self.commands.is_multiple_of(10) && self.commands > 200;
        let position = if often && self.fault == Fault::Reorders {
            Position((self.commands - 20) * 10 + 5)
        } else {
            self.position()
        };
        // The holds by which a check asks for the time have no key.
        let is_of_load =
            key.is_some() || matches!(command, Command::Book { .. } | Command::Cancel { .. });
        if let Some(key) = key {
            self.keys.insert(key, (outcome, position));
        }
        if self.fault == Fault::EndsEarly
            && let Outcome::Done(Done::Held { reference, .. }) = outcome
            && self.commands.is_multiple_of(10)
        {
            self.apply(&Command::Release { hold: reference });
        }
        let closes = matches!(self.fault, Fault::Closes | Fault::ForgetsKeys);
        if closes && is_of_load && self.commands.is_multiple_of(50) {
            return None;
        }
        if self.fault == Fault::Unknown && is_of_load && self.commands.is_multiple_of(10) {
            reply.error(format_args!("UNKNOWN it was done or not"));
            return Some(());
        }
        Seats::put_outcome(reply, &outcome, position, false);
        Some(())
    }
}

impl Clerk for BoxOffice {
    fn info(&self) -> String {
        let totals = self.machine.totals();
        let ahead = u64::from(self.fault == Fault::BooksOneMore && totals.booked_total > 0);
        format!(
            "# Server\r\nturnstile_version:0.1.0\r\ndurability:memory\r\nseats_backend:embedded\r\n\
             seats_booked_total:{}\r\nseats_cancelled_total:{}\r\nseats_bookings:{}\r\nposition:{}\r\n",
            totals.booked_total + ahead,
            totals.cancelled_total,
            totals.bookings,
            self.position().0
        )
    }

    fn answer(
        &mut self,
        action: Action,
        arguments: Arguments<'_, '_>,
        reply: &mut Encoder<'_>,
    ) -> Option<()> {
        let Action::Seats(verb) = action else {
            panic!("only words of seats are said here");
        };
        let door = Door {
            id_key: &IdKey::new([0; 16]),
            verhoeff: false,
        };
        match Seats::parse(verb, arguments, door).unwrap() {
            Request::Command { command, key } => {
                let key = key.map(|key| format!("{key:?}"));
                self.answer_command(&command, key, reply)?;
            }
            Request::Query(query) => {
                let stale = self.stale(&query);
                let mut answer = stale.unwrap_or_else(|| self.query(&query));
                self.falsify(&mut answer);
                Seats::put_answer(reply, &answer);
            }
        }
        Some(())
    }
}

/// How often something is run until a fault has shown itself.
const RUNS_MAX: usize = 5;

fn run(address: SocketAddr) -> LoadReport<Proof> {
    let pace = Pace {
        threads: 2,
        pipeline: 3,
        ..Pace::closed(
            address,
            Duration::from_millis(30),
            Duration::from_millis(150),
        )
    };
    seats::run(&pace, 5, &mut |_progress| {}).unwrap()
}

#[test]
fn an_honest_box_office_is_proven() {
    let address = BoxOffice::open(Fault::None);
    // Each run has a show of its own.
    for _run in 0..2 {
        let report = run(address);
        let proof = &report.proof;
        assert_eq!(proof.violations, Vec::<String>::new());
        assert!(proof.seats >= proof.listed && proof.listed > 0, "{report}");
        assert_eq!((proof.acknowledged, proof.unknown), (proof.listed, 0));
        let [book, cancel] = &report.point.operations[..] else {
            panic!("two operations");
        };
        assert_eq!(book.done - cancel.done, proof.listed);
        assert!(report.to_string().contains("proof: "), "{report}");
    }
}

#[test]
fn every_broken_promise_is_found() {
    let rows = [
        (Fault::BookingLost, "but is not listed"),
        (Fault::CancelIgnored, "but was cancelled"),
        (Fault::SoldTwice, "but is listed with"),
        (Fault::ReferenceTwice, "two bookings were acknowledged as"),
        (Fault::ListedTwice, "share a seat of"),
        (Fault::CountsOneMore, "section s0 has"),
    ];
    for (fault, sentence) in rows {
        let names = |report: &LoadReport<Proof>| {
            report
                .proof
                .violations
                .iter()
                .any(|one| one.contains(sentence))
        };
        // On a busy machine a run may end with less than two bookings, or sooner than the fault comes.
        let report = (0..RUNS_MAX)
            .map(|_| run(BoxOffice::open(fault)))
            .find(names);
        let report = report.unwrap_or_else(|| panic!("{fault:?}: {sentence}"));
        assert!(report.to_string().contains("VIOLATED"), "{report}");
    }
}

#[test]
fn requests_without_an_answer_are_unknown_and_break_no_promise() {
    let report = run(BoxOffice::open(Fault::Closes));
    assert_eq!(report.proof.violations, Vec::<String>::new());
    assert!(report.proof.unknown > 0, "{report}");
}

/// An unknown cancellation left its booking among those that must be listed, and an unknown booking was
/// listed without anybody who had asked for it.
#[test]
fn answers_that_say_unknown_break_no_promise() {
    let report = run(BoxOffice::open(Fault::Unknown));
    assert_eq!(report.proof.violations, Vec::<String>::new());
    assert_eq!(report.point.connections_lost, 0);
    let operations = &report.point.operations;
    let unknown: u64 = operations.iter().map(|row| row.unknown).sum();
    assert!(operations.iter().all(|row| row.errors.is_empty()));
    assert!(unknown > 0, "{report}");
    assert_eq!(report.proof.unknown, unknown);
}
