//! Histories of a few users and a tiny table of rooms: honest, or with one answer that is not.

use std::{collections::BTreeMap, path::Path, time::Instant};

use turnstile_check::{
    Checker, Chronicle, Findings, Seen, Spool, Witness,
    rooms::{Booked, Cancelled, InlineReference, Operation, Place, Table},
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
pub(crate) type Bookings = BTreeMap<InlineReference, Place>;

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
    ended: Vec<InlineReference>,
    position: u64,
    made: u32,
}

pub(crate) fn who_has(bookings: &Bookings, night: u16) -> Option<(InlineReference, Place)> {
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
                    let reference = InlineReference::parse(text.as_bytes()).unwrap();
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
            _ => unreachable!("nobody holds anything here"),
        }
        self.position += 1 + u64::from(self.made.is_multiple_of(3));
        Seen::At(self.position)
    }
}

/// A history while it is made.
struct Game<'a> {
    random: &'a mut Random,
    world: World,
    lines: Vec<Witness<Operation>>,
    waiting: Vec<Option<Waiting>>,
    /// Given up by their users, and carried out later.
    lingering: Vec<Operation>,
    /// How many answers of a thousand do not come.
    lost: u64,
    /// Which answer is changed, if any.
    tampered: Option<usize>,
    told: Vec<Told>,
}

/// What a history is like.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kind {
    pub(crate) users: usize,
    /// So many operations.
    pub(crate) length: usize,
    /// How many answers of a thousand do not come.
    pub(crate) lost: u64,
    /// Whether one answer may be changed.
    pub(crate) tampers: bool,
}

/// Who listens.
#[derive(Debug)]
enum Listener {
    Checker(Box<Checker<Table>>),
    Spool(Box<Spool<Operation>>),
}

impl Listener {
    fn advance(&mut self) {
        match self {
            Self::Checker(checker) => checker.advance(),
            Self::Spool(spool) => spool.keep().unwrap(),
        }
    }

    fn finish(self) -> Findings {
        let table = Table::new(1, NIGHTS);
        let (_, findings) = match self {
            Self::Checker(checker) => checker.finish(),
            Self::Spool(spool) => spool.finish().unwrap().check(table).unwrap(),
        };
        findings
    }
}

/// Plays a history that is checked meanwhile.
pub(crate) fn play(random: &mut Random, kind: Kind) -> History {
    play_before(random, kind, |chronicle| {
        Listener::Checker(Box::new(Checker::new(Table::new(1, NIGHTS), chronicle)))
    })
}

/// Plays a history that is kept in a file in this folder, and checked afterwards.
pub(crate) fn play_and_keep(random: &mut Random, kind: Kind, folder: &Path) -> History {
    play_before(random, kind, |chronicle| {
        Listener::Spool(Box::new(
            Spool::new(chronicle, &folder.join("told")).unwrap(),
        ))
    })
}

fn play_before(
    random: &mut Random,
    kind: Kind,
    listener: impl FnOnce(Chronicle<Operation>) -> Listener,
) -> History {
    let Kind {
        users,
        length,
        lost,
        tampers,
    } = kind;
    let (lines, chronicle) = witnesses(users, 1, BEGINNING);
    let mut listener = listener(chronicle);
    let tampered = below(random, length);
    let mut game = Game {
        tampered: (tampers && random.one_in(2)).then_some(tampered),
        random,
        world: World {
            bookings: Bookings::new(),
            ended: Vec::new(),
            position: BEGINNING,
            made: 0,
        },
        lines,
        waiting: vec![None; users],
        lingering: Vec::new(),
        lost,
        told: Vec::new(),
    };
    for step in 0.. {
        if game.random.one_in(4) {
            listener.advance();
        }
        let user = below(game.random, users);
        let enough = game.told.len() >= length;
        if game.waiting[user].is_some() {
            game.go_on(user, step);
        } else if !enough {
            game.ask(user, step);
        } else if game.waiting.iter().all(Option::is_none) {
            break;
        }
    }
    History {
        operations: game.told,
        findings: listener.finish(),
    }
}

fn below(random: &mut Random, bound: usize) -> usize {
    usize::try_from(random.below(u64::try_from(bound).unwrap())).unwrap()
}

impl Game<'_> {
    fn ask(&mut self, user: usize, step: u64) {
        let made = self.told.iter().filter_map(|told| match told.operation {
            Operation::Book {
                answer: Booked::Done(reference),
                ..
            } => Some(reference),
            _ => None,
        });
        let references: Vec<InlineReference> = made.collect();
        self.lines[user].at(Instant::now());
        self.lines[user].asks();
        self.waiting[user] = Some(Waiting {
            asked: step,
            operation: choose(self.random, &references),
            decided: None,
        });
    }

    /// What a user waits for is decided, answered, or given up; or something else is decided.
    fn go_on(&mut self, user: usize, step: u64) {
        if !self.lingering.is_empty() && self.random.one_in(3) {
            self.world.decide(&mut self.lingering.remove(0));
            return;
        }
        let gives_up = self.random.below(1_000) < self.lost;
        let mut one = self.waiting[user].take().unwrap();
        if one.decided.is_none() && !gives_up {
            one.decided = Some(self.world.decide(&mut one.operation));
            self.waiting[user] = Some(one);
            return;
        }
        let mut seen = one.decided.unwrap_or(Seen::Unknown);
        if gives_up && !matches!(one.operation, Operation::Look { .. }) {
            if one.decided.is_none() && self.random.one_in(2) {
                self.lingering.push(one.operation);
            }
            unanswer(&mut one.operation);
            seen = Seen::Unknown;
        } else if one.decided.is_none() {
            seen = self.world.decide(&mut one.operation);
        }
        if self.tampered == Some(self.told.len()) {
            tamper(self.random, &mut one.operation, &mut seen);
        }
        self.lines[user].at(Instant::now());
        self.lines[user].hears(seen, one.operation);
        self.told.push(Told {
            operation: one.operation,
            seen,
            asked: one.asked,
            done: step,
        });
    }
}

fn choose(random: &mut Random, references: &[InlineReference]) -> Operation {
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
                id: Some(ADA),
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
        _ => {}
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
    let foreign = InlineReference::parse(b"R999").unwrap();
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
        _ => unreachable!("nobody holds anything here"),
    }
}
