//! The seats workload and its proof, against the real machine with one fault.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::Duration,
};

use turnstile_load::{
    LoadReport,
    pace::Pace,
    seats::{self, Proof},
};
use turnstile_resp::{Arguments, Encoder, Request, Spoken as _, catalogue::Action};
use turnstile_rooms::{Door, IdKey};
use turnstile_services::seats::{Answer, Command, Done, Outcome, Query, Seats};
use turnstile_types::{Machine as _, Position, Principal, Timestamp};

use crate::loopback::{Clerk, decide, listen, serve_resp};

/// What is wrong with a box office.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
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
}

struct BoxOffice {
    fault: Fault,
    machine: Seats,
    commands: u64,
    /// The last booking that was acknowledged as it is.
    last: Option<Done>,
}

impl BoxOffice {
    fn open(fault: Fault) -> SocketAddr {
        let office = Self {
            fault,
            machine: Seats::empty(),
            commands: 0,
            last: None,
        };
        listen(&Arc::new(Mutex::new(office)), serve_resp)
    }

    fn apply(&mut self, command: &Command) -> Outcome {
        self.commands += 1;
        decide(&mut self.machine, self.commands, command)
    }

    fn query(&self, query: &Query) -> Answer {
        let principal = Principal::local();
        self.machine.query(Timestamp(0), &principal, query)
    }

    /// Carries out every tenth command as the fault says.
    fn spoil(&mut self, command: &Command) -> Outcome {
        if let (Fault::CancelIgnored, Command::Cancel { booking, .. }) = (self.fault, command) {
            let reference = *booking;
            let Answer::Entry(entry) = self.query(&Query::LookUp { reference }) else {
                panic!("{booking} stands");
            };
            return Outcome::Done(Done::Cancelled { seats: entry.seats });
        }
        let last = self.last;
        let outcome = self.apply(command);
        let (Outcome::Done(done), Command::Book { buyer, .. }) = (outcome, command) else {
            return outcome;
        };
        let Done::Booked { reference, seats } = done else {
            panic!("a booking is answered to");
        };
        let (earlier, earlier_seats) = match last {
            Some(Done::Booked { reference, seats }) => (reference, seats),
            _ => (reference, seats),
        };
        Outcome::Done(match self.fault {
            Fault::BookingLost => {
                let (booking, buyer) = (reference, *buyer);
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
        })
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
}

impl Clerk for BoxOffice {
    fn info(&self) -> String {
        format!(
            "# Server\r\nturnstile_version:0.1.0\r\ndurability:memory\r\nseats_backend:embedded\r\n\
             position:{}\r\n",
            self.commands
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
            Request::Command { command, .. } => {
                let outcome = if self.commands % 10 == 9 {
                    self.spoil(&command)
                } else {
                    let outcome = self.apply(&command);
                    if let Outcome::Done(done @ Done::Booked { .. }) = outcome {
                        self.last = Some(done);
                    }
                    outcome
                };
                if self.fault == Fault::Closes && self.commands.is_multiple_of(50) {
                    return None;
                }
                Seats::put_outcome(reply, &outcome, Position(self.commands), false);
            }
            Request::Query(query) => {
                let mut answer = self.query(&query);
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
