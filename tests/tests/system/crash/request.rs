//! What guests ask for, made from a seed.

use rand::rngs::StdRng;
use rand::{RngExt as _, seq::IndexedRandom as _};

use super::answer::Answer;

/// Few enough rooms for one month that many guests come too late.
const ROOMS: u16 = 300;

/// The rooms of the hotel, the lowest number first.
pub(crate) const DOUBLES: [&str; 4] = ["104", "202", "203", "204"];

const GUESTS: u8 = 100;

/// The last day on which a stay begins, so that all stays lie in one month.
const LAST_ARRIVAL: u8 = 27;

/// Some nights of March 2027.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stay {
    /// The day of the month.
    pub(crate) arrival: u8,
    pub(crate) nights: u8,
}

impl Stay {
    pub(crate) fn days(self) -> impl Iterator<Item = u8> {
        self.arrival..self.arrival + self.nights
    }

    pub(crate) fn departure(self) -> u8 {
        self.arrival + self.nights
    }
}

/// The date of a day, as the doors write it.
pub(crate) fn date(day: u8) -> String {
    format!("2027-03-{day:02}")
}

/// Which room a guest wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wish {
    /// One of the open property.
    Room(u16),
    /// Any double of the hotel.
    Double,
}

impl Wish {
    pub(crate) const fn property(self) -> &'static str {
        match self {
            Self::Room(_) => "bench",
            Self::Double => "hotel",
        }
    }

    fn word(self) -> String {
        match self {
            Self::Room(number) => format!("r{number}"),
            Self::Double => "type:double".to_owned(),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Guest(u8);

impl Guest {
    pub(crate) fn name(self) -> String {
        format!("guest{}", self.0)
    }

    /// The guest with this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        name.strip_prefix("guest")?.parse().ok().map(Self)
    }

    pub(crate) fn number(self) -> u64 {
        u64::from(self.0)
    }

    fn id(self) -> String {
        format!("2341234{:05}", self.0)
    }
}

/// One request that may change something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Request {
    Book {
        wish: Wish,
        stay: Stay,
        guest: Guest,
    },
    Hold {
        wish: Wish,
        stay: Stay,
    },
    Confirm {
        hold: String,
        guest: Guest,
    },
    Release {
        hold: String,
    },
    Cancel {
        booking: String,
        guest: Guest,
    },
}

impl Request {
    /// As long as it may be: no hold shall end while a test runs.
    pub(crate) const TTL_MS: u64 = 900_000;

    /// The command's words, with its idempotency key.
    pub(crate) fn words(&self, key: &str) -> Vec<String> {
        let mut words = match self {
            Self::Book { wish, stay, guest } => {
                let mut words = sale("ROOMS.BOOK", *wish, *stay);
                words.extend([guest.name(), guest.id()]);
                words
            }
            Self::Hold { wish, stay } => {
                let mut words = sale("ROOMS.HOLD", *wish, *stay);
                words.extend(["TTL_SECONDS".to_owned(), (Self::TTL_MS / 1_000).to_string()]);
                words
            }
            Self::Confirm { hold, guest } => {
                vec![
                    "ROOMS.CONFIRM".to_owned(),
                    hold.clone(),
                    guest.name(),
                    guest.id(),
                ]
            }
            Self::Release { hold } => vec!["ROOMS.RELEASE".to_owned(), hold.clone()],
            Self::Cancel { booking, guest } => {
                vec!["ROOMS.CANCEL".to_owned(), booking.clone(), guest.id()]
            }
        };
        words.extend(["KEY", key].map(str::to_owned));
        words
    }
}

fn sale(command: &str, wish: Wish, stay: Stay) -> Vec<String> {
    vec![
        command.to_owned(),
        wish.property().to_owned(),
        wish.word(),
        date(stay.arrival),
        date(stay.departure()),
    ]
}

/// What was acknowledged and can be asked about again.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known {
    pub(crate) bookings: Vec<(String, Guest)>,
    pub(crate) holds: Vec<String>,
}

impl Known {
    /// Learns what can be asked about from now on.
    pub(crate) fn learn(&mut self, request: &Request, answer: &Answer) {
        if let Some(reference) = answer.fields.get("reference") {
            match request {
                Request::Book { guest, .. } | Request::Confirm { guest, .. } => {
                    self.bookings.push((reference.clone(), *guest));
                }
                _ => self.holds.push(reference.clone()),
            }
        }
    }
}

/// The next request: mostly bookings, and so many cancellations that rooms come free again.
pub(crate) fn next(rng: &mut StdRng, known: &mut Known) -> Request {
    match rng.random_range(0..100) {
        0..28 => cancellation(rng, known).unwrap_or_else(|| booking(rng)),
        28..40 => Request::Hold {
            wish: wish(rng),
            stay: stay(rng),
        },
        40..48 => decision(rng, known).unwrap_or_else(|| booking(rng)),
        _ => booking(rng),
    }
}

pub(crate) fn booking(rng: &mut StdRng) -> Request {
    Request::Book {
        wish: wish(rng),
        stay: stay(rng),
        guest: guest(rng),
    }
}

fn cancellation(rng: &mut StdRng, known: &mut Known) -> Option<Request> {
    let (booking, guest) = one_of(rng, &mut known.bookings)?;
    Some(Request::Cancel { booking, guest })
}

/// A hold is confirmed or released.
fn decision(rng: &mut StdRng, known: &mut Known) -> Option<Request> {
    let hold = one_of(rng, &mut known.holds)?;
    Some(if rng.random_bool(0.6) {
        let guest = guest(rng);
        Request::Confirm { hold, guest }
    } else {
        Request::Release { hold }
    })
}

/// One of them; mostly it is not asked about again.
fn one_of<T: Clone>(rng: &mut StdRng, known: &mut Vec<T>) -> Option<T> {
    if known.is_empty() {
        return None;
    }
    if rng.random_bool(0.1) {
        return known.choose(rng).cloned();
    }
    let index = rng.random_range(0..known.len());
    Some(known.swap_remove(index))
}

fn wish(rng: &mut StdRng) -> Wish {
    if rng.random_bool(0.1) {
        Wish::Double
    } else {
        Wish::Room(rng.random_range(1..=ROOMS))
    }
}

fn stay(rng: &mut StdRng) -> Stay {
    Stay {
        arrival: rng.random_range(1..=LAST_ARRIVAL),
        nights: rng.random_range(1..=4),
    }
}

fn guest(rng: &mut StdRng) -> Guest {
    Guest(rng.random_range(0..GUESTS))
}
