//! Seats under a crash test: the buyers of one show and its books.

use std::collections::{BTreeMap, BTreeSet};

use rand::{RngExt as _, rngs::StdRng, seq::IndexedRandom as _};
use turnstile_client::{Connection, resp::Value};

use super::answer::{Answer, fields};
use super::books::Books;
use super::listing::ask;

/// Few enough seats that the show is sold out during a test.
const ROWS: u16 = 12;
const ROW_SEATS: u16 = 20;

const BUYERS: u8 = 20;

/// Row and number.
type Seat = (u16, u16);

#[derive(Clone, Debug)]
pub(crate) enum Request {
    /// Seats by name.
    Named {
        seats: BTreeSet<Seat>,
        buyer: u8,
    },
    /// So many adjacent seats.
    Best {
        count: u16,
        buyer: u8,
    },
    Cancel {
        reference: String,
        buyer: u8,
    },
}

#[derive(Clone, Debug, Default)]
pub(crate) struct BoxOffice {
    /// What can be cancelled, perhaps for the second time.
    known: Vec<(String, u8)>,
    /// Bookings that stand, by their reference.
    standing: BTreeMap<String, (u8, BTreeSet<Seat>)>,
    /// References of bookings that were cancelled.
    ended: BTreeSet<String>,
}

impl Books for BoxOffice {
    type Request = Request;

    const KEYS: &str = "buyer";

    fn opening() -> Vec<Vec<String>> {
        let (rows, seats) = (ROWS.to_string(), ROW_SEATS.to_string());
        let commands = [
            vec!["SEATS.ADD-SHOW", "gala", "2090-01-01T00:00:00Z"],
            vec!["SEATS.ADD-SECTION", "gala", "stalls", &rows, &seats],
        ];
        let owned = |words: Vec<&str>| words.into_iter().map(str::to_owned).collect();
        commands.into_iter().map(owned).collect()
    }

    fn next(&mut self, rng: &mut StdRng) -> Request {
        if rng.random_bool(0.4)
            && let Some((reference, buyer)) = self.known.choose(rng).cloned()
        {
            return Request::Cancel { reference, buyer };
        }
        let buyer = rng.random_range(0..BUYERS);
        let count = rng.random_range(1..=4);
        if rng.random_bool(0.5) {
            return Request::Best { count, buyer };
        }
        let row = rng.random_range(1..=ROWS);
        let first = rng.random_range(1..=ROW_SEATS - count + 1);
        let seats = (first..first + count).map(|number| (row, number)).collect();
        Request::Named { seats, buyer }
    }

    fn words(request: &Request, key: &str) -> Vec<String> {
        let book = |seats: String, buyer: &u8| {
            let show = ["SEATS.BOOK", "gala", "stalls"].map(str::to_owned);
            [show.to_vec(), vec![seats, name(*buyer)]].concat()
        };
        let mut words = match request {
            Request::Named { seats, buyer } => book(text(seats), buyer),
            Request::Best { count, buyer } => book(format!("best:{count}"), buyer),
            Request::Cancel { reference, buyer } => {
                vec!["SEATS.CANCEL".to_owned(), reference.clone(), name(*buyer)]
            }
        };
        words.extend(["KEY".to_owned(), key.to_owned()]);
        words
    }

    fn learn(&mut self, request: &Request, answer: &Answer) {
        if let Request::Named { buyer, .. } | Request::Best { buyer, .. } = request
            && let Some(reference) = answer.text("reference")
        {
            self.known.push((reference.to_owned(), *buyer));
        }
    }

    fn enter(&mut self, request: &Request, answer: &Answer) -> Result<(), String> {
        let entered = match request {
            Request::Named { seats, buyer } => self.book(Ok(seats), *buyer, answer),
            Request::Best { count, buyer } => self.book(Err(*count), *buyer, answer),
            Request::Cancel { reference, .. } => self.cancel(reference, answer),
        };
        entered.ok_or_else(|| format!("{request:?} was answered {answer:?}: {self:?}"))
    }

    fn compare(&mut self, connection: &mut Connection) -> Result<(), String> {
        let page = ask(
            connection,
            &["SEATS.LIST-BOOKINGS", "gala", "LIMIT", "1000"],
        )?;
        let listed = page.at("entries").and_then(Value::as_array);
        let listed = listed.ok_or_else(|| format!("no page: {page}"))?;
        let mut found = BTreeSet::new();
        for entry in listed {
            let entry = fields(entry).ok_or_else(|| format!("no entry: {entry}"))?;
            let row = ["reference", "buyer", "seats"].map(|name| entry.get(name).cloned());
            found.insert(row);
        }
        let standing = self.standing.iter();
        let expected: BTreeSet<_> = standing
            .map(|(reference, (buyer, seats))| {
                [reference.clone(), name(*buyer), text(seats)].map(Some)
            })
            .collect();
        if found != expected || listed.len() != expected.len() {
            return Err(format!("listed are {found:?}, expected {expected:?}"));
        }
        let free = usize::from(ROWS * ROW_SEATS) - self.taken().len();
        let free = i64::try_from(free).expect("a small show");
        let counts = ask(connection, &["SEATS.GET-AVAILABILITY", "gala"])?;
        let sections = counts.at("sections").and_then(Value::as_array);
        match sections.and_then(|sections| sections.first()?.at("free")) {
            Some(Value::Integer(count)) if *count == free => Ok(()),
            _ => Err(format!("{free} seats are free, not as in {counts}")),
        }
    }
}

impl BoxOffice {
    fn taken(&self) -> BTreeSet<Seat> {
        let standing = self.standing.values();
        standing
            .flat_map(|(_, seats)| seats.iter().copied())
            .collect()
    }

    /// Enters a booking of named seats, or of so many adjacent ones; nothing when the answer is wrong.
    fn book(
        &mut self,
        wish: Result<&BTreeSet<Seat>, u16>,
        buyer: u8,
        answer: &Answer,
    ) -> Option<()> {
        let taken = self.taken();
        match (answer.text("outcome")?, answer.text("reason")) {
            ("done", None) => {
                let seats = parse(answer.text("seats")?)?;
                let is_asked = match wish {
                    Ok(named) => seats == *named,
                    Err(count) => blocks(count).any(|block| block == seats),
                };
                let reference = answer.text("reference")?.to_owned();
                let is_new =
                    !self.ended.contains(&reference) && !self.standing.contains_key(&reference);
                let is_right = is_asked && is_new && seats.is_disjoint(&taken);
                self.standing.insert(reference, (buyer, seats));
                is_right.then_some(())
            }
            ("refused", Some("taken")) => {
                let found: BTreeSet<Seat> = wish.ok()?.intersection(&taken).copied().collect();
                (!found.is_empty() && parse(answer.text("seats")?)? == found).then_some(())
            }
            ("refused", Some("not_adjacent")) => {
                let mut blocks = blocks(wish.err()?);
                (!blocks.any(|block| block.is_disjoint(&taken))).then_some(())
            }
            _ => None,
        }
    }

    fn cancel(&mut self, reference: &str, answer: &Answer) -> Option<()> {
        match (answer.text("outcome")?, answer.text("reason")) {
            ("done", None) => {
                let (_, seats) = self.standing.remove(reference)?;
                self.ended.insert(reference.to_owned());
                (parse(answer.text("seats")?)? == seats).then_some(())
            }
            ("refused", Some("ended")) => self.ended.contains(reference).then_some(()),
            _ => None,
        }
    }
}

/// All blocks of so many adjacent seats.
fn blocks(count: u16) -> impl Iterator<Item = BTreeSet<Seat>> {
    let firsts = (1..=ROWS).flat_map(move |row| (1..=ROW_SEATS - count + 1).map(move |n| (row, n)));
    firsts.map(move |(row, first)| (first..first + count).map(|number| (row, number)).collect())
}

fn name(buyer: u8) -> String {
    format!("b{buyer}")
}

fn text(seats: &BTreeSet<Seat>) -> String {
    let texts: Vec<String> = seats
        .iter()
        .map(|(row, number)| format!("{row}-{number}"))
        .collect();
    texts.join(",")
}

fn parse(text: &str) -> Option<BTreeSet<Seat>> {
    let seat = |text: &str| {
        let (row, number) = text.split_once('-')?;
        Some((row.parse().ok()?, number.parse().ok()?))
    };
    text.split(',').map(seat).collect()
}
