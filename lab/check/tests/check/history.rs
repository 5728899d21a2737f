//! Histories of a few users and a tiny table of rooms: honest, or with one answer that is not.

use std::collections::BTreeMap;

use turnstile_check::{
    Checker, Findings, Seen, Witness,
    rooms::{Booked, Cancelled, Operation, Place, Reference, Table},
    witnesses,
};
use turnstile_seed::Random;

const NIGHTS: u16 = 3;
/// The position before the history.
pub(crate) const BEGINNING: u64 = 10;
const ADA: u64 = 200_000_000_000;

/// One operation as its user saw it.
#[derive(Clone, Debug)]
pub(crate) struct Told {
    pub(crate) operation: Operation,
    pub(crate) seen: Seen,
    /// Steps of the history.
    pub(crate) asked: u64,
    pub(crate) done: u64,
}

#[derive(Debug)]
pub(crate) struct History {
    pub(crate) operations: Vec<Told>,
    pub(crate) findings: Findings,
}

/// What stands, and the names of places.
pub(crate) type Bookings = BTreeMap<Reference, Place>;

/// A user who waits for an answer.
#[derive(Clone, Debug)]
struct Waiting {
    asked: u64,
    operation: Operation,
    /// What the server has made of it.
    decided: Option<Seen>,
}

struct World {
    bookings: Bookings,
    ended: Vec<Reference>,
    position: u64,
    made: u32,
}

pub(crate) fn who_has(bookings: &Bookings, night: u16) -> Option<(Reference, Place)> {
    let found = bookings
        .iter()
        .find(|(_, place)| place.each().any(|one| one == night));
    found.map(|(reference, place)| (*reference, *place))
}

impl World {
    /// Carries out an operation and fills in its answer.
    fn decide(&mut self, operation: &mut Operation) -> Seen {
        match operation {
            Operation::Book { place, answer, .. } => {
                let taken = |night: &u16| who_has(&self.bookings, *night).is_some();
                let bits = (0..).zip(place.each()).filter(|(_, night)| taken(night));
                let bits = bits.fold(0, |bits, (bit, _)| bits | 1_u64 << bit);
                *answer = if bits == 0 {
                    self.made += 1;
                    let text = format!("R{}", self.made);
                    let reference = Reference::parse(text.as_bytes()).unwrap();
                    self.bookings.insert(reference, *place);
                    Booked::Done(reference)
                } else {
                    Booked::SoldOut(bits)
                };
            }
            Operation::Cancel {
                reference, answer, ..
            } => {
                let place = self.bookings.remove(reference);
                *answer = place.map_or(Cancelled::Gone, Cancelled::Done);
                self.ended.push(*reference);
            }
            Operation::Look { place, found } => {
                *found = who_has(&self.bookings, place.night);
                return Seen::Reading;
            }
        }
        self.position += 1 + u64::from(self.made % 3 == 0);
        Seen::At(self.position)
    }
}

/// Plays a history of so many operations at least. `lost`: how often an answer does not come.
/// `tampers`: whether one answer may be changed.
pub(crate) fn play(
    random: &mut Random,
    users: usize,
    length: usize,
    lost: f64,
    tampers: bool,
) -> History {
    let (mut lines, horizon, records) = witnesses(users, 1, BEGINNING);
    let mut checker = Checker::new(Table::new(1, NIGHTS), horizon, records);
    let mut world = World {
        bookings: Bookings::new(),
        ended: Vec::new(),
        position: BEGINNING,
        made: 0,
    };
    let mut waiting: Vec<Option<Waiting>> = vec![None; users];
    let mut lingering: Vec<Operation> = Vec::new();
    let mut operations: Vec<Told> = Vec::new();
    let mut references: Vec<Reference> = Vec::new();
    let tampered = random.below(u64::try_from(length).unwrap());
    let tampers = tampers && random.one_in(2);
    for step in 0.. {
        if random.one_in(4) {
            checker.advance();
        }
        let user = usize::try_from(random.below(u64::try_from(users).unwrap())).unwrap();
        let Some(one) = &mut waiting[user] else {
            if operations.len() >= length && waiting.iter().all(Option::is_none) {
                break;
            }
            if operations.len() < length {
                lines[user].asks();
                waiting[user] = Some(Waiting {
                    asked: step,
                    operation: choose(random, &references),
                    decided: None,
                });
            }
            continue;
        };
        if !lingering.is_empty() && random.one_in(3) {
            world.decide(&mut lingering.remove(0));
            continue;
        }
        let gives_up = random.below(1_000) < to_thousandths(lost);
        if one.decided.is_none() && !gives_up {
            one.decided = Some(world.decide(&mut one.operation));
            continue;
        }
        let mut one = waiting[user].take().unwrap();
        let mut seen = one.decided.unwrap_or(Seen::Unknown);
        if gives_up && !matches!(one.operation, Operation::Look { .. }) {
            if one.decided.is_none() && random.one_in(2) {
                lingering.push(one.operation);
            }
            unanswer(&mut one.operation);
            seen = Seen::Unknown;
        } else if gives_up && one.decided.is_none() {
            seen = world.decide(&mut one.operation);
        }
        if tampers && u64::try_from(operations.len()).unwrap() == tampered {
            tamper(random, &mut one.operation, &mut seen);
        }
        if let Operation::Book {
            answer: Booked::Done(reference),
            ..
        } = one.operation
        {
            references.push(reference);
        }
        tell(&mut lines[user], seen, one.operation);
        operations.push(Told {
            operation: one.operation,
            seen,
            asked: one.asked,
            done: step,
        });
    }
    let (_, findings) = checker.finish();
    History {
        operations,
        findings,
    }
}

fn to_thousandths(share: f64) -> u64 {
    format!("{:.0}", share * 1_000.0).parse().unwrap()
}

fn tell(line: &mut Witness<Operation>, seen: Seen, operation: Operation) {
    line.hears(seen, operation);
}

fn choose(random: &mut Random, references: &[Reference]) -> Operation {
    let nights = 1 + u16::try_from(random.below(2)).unwrap();
    let night = u16::try_from(random.below(u64::from(NIGHTS - nights + 1))).unwrap();
    let place = |nights| Place {
        room: 0,
        night,
        nights,
    };
    match random.below(5) {
        0 | 1 => Operation::Book {
            place: place(nights),
            id: ADA,
            answer: Booked::Unknown,
        },
        2 | 3 if !references.is_empty() => {
            let which = random.below(u64::try_from(references.len()).unwrap());
            Operation::Cancel {
                reference: references[usize::try_from(which).unwrap()],
                id: ADA,
                answer: Cancelled::Unknown,
            }
        }
        _ => Operation::Look {
            place: place(1),
            found: None,
        },
    }
}

/// Nobody knows its answer.
const fn unanswer(operation: &mut Operation) {
    match operation {
        Operation::Book { answer, .. } => *answer = Booked::Unknown,
        Operation::Cancel { answer, .. } => *answer = Cancelled::Unknown,
        Operation::Look { .. } => {}
    }
}

/// Changes an answer, or its position.
fn tamper(random: &mut Random, operation: &mut Operation, seen: &mut Seen) {
    if let Seen::At(position) = seen
        && random.one_in(3)
    {
        // Behind everything else, or before the beginning: nobody else has it.
        let late = *position + 100;
        *position = if random.one_in(2) { late } else { BEGINNING };
        return;
    }
    let foreign = Reference::parse(b"R999").unwrap();
    match operation {
        Operation::Book { place, answer, .. } => {
            *answer = match *answer {
                Booked::Done(_) => Booked::SoldOut(1),
                Booked::SoldOut(_) if place.nights == 2 && random.one_in(2) => {
                    Booked::SoldOut(1 + random.below(3))
                }
                Booked::SoldOut(_) => Booked::Done(foreign),
                other => other,
            }
        }
        Operation::Cancel { answer, .. } => {
            *answer = match *answer {
                Cancelled::Done(_) => Cancelled::Gone,
                Cancelled::Gone => Cancelled::Done(Place {
                    room: 0,
                    night: 0,
                    nights: 1,
                }),
                other => other,
            }
        }
        Operation::Look { place, found } => {
            *found = match found {
                Some(_) => None,
                None => Some((foreign, *place)),
            }
        }
    }
}
