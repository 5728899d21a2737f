//! Rooms under a crash test: the hotel's guests and its books.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use rand::rngs::StdRng;
use turnstile_client::Connection;

use super::answer::Answer;
use super::books::Books;
use super::ledger::{Ledger, sold_twice};
use super::listing::{by_reference, everything};
use super::request::{self, DOUBLES, Known, Request};

#[derive(Clone, Debug, Default)]
pub(crate) struct Hotel {
    ledger: Ledger,
    known: Known,
}

impl Books for Hotel {
    type Request = Request;

    const KEYS: &str = "guest";

    fn opening() -> Vec<Vec<String>> {
        let mut commands = vec![
            vec!["ROOMS.PROPERTY", "bench", "OPEN"],
            vec!["ROOMS.PROPERTY", "hotel"],
        ];
        commands.extend(DOUBLES.map(|room| vec!["ROOMS.ROOM", "ADD", "hotel", room, "double"]));
        let owned = |words: Vec<&str>| words.into_iter().map(str::to_owned).collect();
        commands.into_iter().map(owned).collect()
    }

    fn next(&mut self, rng: &mut StdRng) -> Request {
        request::next(rng, &mut self.known)
    }

    fn words(request: &Request, key: &str) -> Vec<String> {
        request.words(key)
    }

    fn learn(&mut self, request: &Request, answer: &Answer) {
        if let Some(reference) = answer.fields.get("reference") {
            match request {
                Request::Book { guest, .. } | Request::Confirm { guest, .. } => {
                    self.known.bookings.push((reference.clone(), *guest));
                }
                _ => self.known.holds.push(reference.clone()),
            }
        }
    }

    fn enter(&mut self, request: &Request, answer: &Answer) -> Result<(), String> {
        self.ledger.enter(request, answer)
    }

    /// The listing is what the ledger demands, and sells no night twice.
    fn compare(&mut self, connection: &mut Connection) -> Result<(), String> {
        let listing = everything(connection)?;
        let twice = sold_twice(&listing);
        if !twice.is_empty() {
            return Err(format!("sold twice: {twice:#?}"));
        }
        let (listed, standing) = (by_reference(&listing), self.ledger.standing());
        if listed == standing {
            return Ok(());
        }
        let mut report = "what is listed is not what was acknowledged".to_owned();
        for (title, left, right) in [
            ("lost or changed", &standing, &listed),
            ("not acknowledged so", &listed, &standing),
        ] {
            for (reference, line) in only_in(left, right) {
                write!(report, "\n{title}: {reference} {line}").expect("a string takes everything");
            }
        }
        Err(report)
    }
}

fn only_in<'a>(
    left: &'a BTreeMap<String, String>,
    right: &'a BTreeMap<String, String>,
) -> impl Iterator<Item = (&'a String, &'a String)> {
    left.iter()
        .filter(|(reference, line)| right.get(*reference) != Some(line))
}
