//! Rooms under a crash test: the hotel's guests and its books.

use rand::rngs::StdRng;
use turnstile_client::Connection;

use super::answer::Answer;
use super::books::Books;
use super::listing::{Entry, everything};
use super::request::{self, DOUBLES, Known, Request};
use super::witness::Witness;

#[derive(Clone, Debug, Default)]
pub(crate) struct Hotel {
    witness: Witness,
    known: Known,
}

impl Books for Hotel {
    type Request = Request;

    const KEYS: &str = "guest";

    fn opening() -> Vec<Vec<String>> {
        let mut commands = vec![
            vec!["ROOMS.ADD-PROPERTY", "bench", "OPEN"],
            vec!["ROOMS.ADD-PROPERTY", "hotel"],
        ];
        commands.extend(DOUBLES.map(|room| vec!["ROOMS.ADD-ROOM", "hotel", room, "double"]));
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
        self.known.learn(request, answer);
    }

    fn enter(&mut self, request: &Request, answer: &Answer) -> Result<(), String> {
        self.witness.enter(request, answer)
    }

    fn compare(&mut self, connection: &mut Connection) -> Result<(), String> {
        self.compare_listed(&everything(connection)?)
    }
}

impl Hotel {
    /// Compares the books with these entries, all that there are.
    pub(crate) fn compare_listed(&mut self, entries: &[Entry]) -> Result<(), String> {
        self.witness.compare(entries)
    }
}
