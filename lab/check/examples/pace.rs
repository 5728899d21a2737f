//! What checking costs: users who tell what they ask and hear, and the checker that replays it.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use turnstile_check::{
    Checker, Seen,
    rooms::{Booked, Cancelled, Operation, Place, Reference, Table},
    witnesses,
};
use turnstile_seed::Random;

const USERS: usize = 50;
const NIGHTS: u16 = 30;
const OPERATIONS: u64 = 5_000_000;

/// How many operations are told between two looks of the checker.
const BATCH: usize = 1_000;

/// An honest server of rooms, as plain as the model, that makes the history.
struct Server {
    random: Random,
    taken: Vec<bool>,
    standing: VecDeque<(Reference, Place)>,
    position: u64,
}

impl Server {
    fn next(&mut self) -> (Seen, Operation) {
        self.position += 1;
        let seen = Seen::At(self.position);
        if self.random.one_in(3)
            && let Some((reference, place)) = self.standing.pop_front()
        {
            self.fill(place, false);
            let answer = Cancelled::Done(place);
            return (
                seen,
                Operation::Cancel {
                    reference,
                    id: 2,
                    answer,
                },
            );
        }
        let nights = 1 + self.below(3);
        let place = Place {
            room: self.below(50),
            night: self.below(NIGHTS - nights + 1),
            nights,
        };
        let bits = (0..).zip(place.each());
        let bits = bits.filter(|(_, night)| self.taken[Self::cell(place.room, *night)]);
        let bits = bits.fold(0, |bits, (bit, _)| bits | 1_u64 << bit);
        let answer = if bits == 0 {
            self.fill(place, true);
            let text = format!("R{}", self.position);
            let reference = Reference::parse(text.as_bytes()).expect("it is short");
            self.standing.push_back((reference, place));
            Booked::Done(reference)
        } else {
            Booked::SoldOut(bits)
        };
        let id = 2;
        (seen, Operation::Book { place, id, answer })
    }

    fn below(&mut self, bound: u16) -> u16 {
        u16::try_from(self.random.below(u64::from(bound))).expect("bounds are small")
    }

    fn cell(room: u16, night: u16) -> usize {
        usize::from(room) * usize::from(NIGHTS) + usize::from(night)
    }

    fn fill(&mut self, place: Place, taken: bool) {
        for night in place.each() {
            self.taken[Self::cell(place.room, night)] = taken;
        }
    }
}

#[expect(clippy::print_stdout, reason = "an example prints its result")]
fn main() {
    let (mut lines, horizon, records) = witnesses(USERS, 1, 0);
    let mut checker = Checker::new(Table::new(50, NIGHTS), horizon, records);
    let mut server = Server {
        random: Random::new(1),
        taken: vec![false; 50 * usize::from(NIGHTS)],
        standing: VecDeque::new(),
        position: 0,
    };
    let (mut telling, mut checking) = (Duration::ZERO, Duration::ZERO);
    let mut told = 0;
    while told < OPERATIONS {
        let history: Vec<_> = (0..BATCH).map(|_| server.next()).collect();
        let began = Instant::now();
        for (number, (seen, operation)) in history.into_iter().enumerate() {
            let line = &mut lines[number % USERS];
            line.asks();
            line.hears(seen, operation);
            told += 1;
        }
        telling += began.elapsed();
        let began = Instant::now();
        checker.advance();
        checking += began.elapsed();
    }
    let (_, findings) = checker.finish();
    assert_eq!(findings.replayed, OPERATIONS, "{findings:?}");
    assert!(findings.answers.is_empty(), "{findings:?}");
    let each = |time: Duration| time.as_nanos() / u128::from(OPERATIONS);
    println!(
        "{findings}: telling {} ns, checking {} ns an operation",
        each(telling),
        each(checking)
    );
}
